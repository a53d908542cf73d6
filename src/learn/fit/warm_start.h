/* warm_start.h: a model whose trees come first in a new one. Features, families and words of axes are matched by name, so that a model goes
 * on when some were added or changed places: what is new is in none of its trees, a family or word that is no more in no set of theirs. A
 * feature that they ask about and that is no more, other units, quantity or targets are refused by name. */
#ifndef KW_LEARN_FIT_WARM_START_H
#define KW_LEARN_FIT_WARM_START_H

#include "base/text.h"
#include "predict/forest/forest.h"
#include "predict/model_spec.h"
#include "learn/data/dataset.h"

/* Zeroed: none. */
typedef struct kw_warm_start_model {
    kw_model_spec spec; /* as it was */
    kw_text text;       /* of the forest in this library's numbers; read strictly before LightGBM sees it */
    kw_forest *forest;
    int64_t trees;
    double *start; /* its raw scores */
} kw_warm_start_model;

kw_status kw_warm_start_open(kw_warm_start_model *warm, const char *folder, const kw_dataset *dataset, const kw_feature_table *features,
                             kw_model_quantity quantity, kw_error *err);
kw_status kw_warm_start_score(kw_warm_start_model *warm, const double *rows, size_t count, kw_error *err);
void kw_warm_start_close(kw_warm_start_model *warm);

#endif
