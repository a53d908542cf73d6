/* warm_start.h: a model whose trees come first in a new one. Both must have the same features in the same order, codes of families,
 * quantity and targets; else the difference is named. */
#ifndef KW_LEARN_FIT_WARM_START_H
#define KW_LEARN_FIT_WARM_START_H

#include "base/text.h"
#include "predict/forest/forest.h"
#include "predict/model.h"
#include "learn/data/dataset.h"

/* Zeroed: none. */
typedef struct kw_warm_start_model {
    kw_text text; /* of the forest; read strictly before LightGBM sees it */
    kw_forest *forest;
    int64_t trees;
    double *start; /* its raw scores */
} kw_warm_start_model;

kw_status kw_warm_start_open(kw_warm_start_model *warm, const char *folder, const kw_dataset *dataset, const kw_feature_table *features,
                             kw_model_quantity quantity, kw_error *err);
kw_status kw_warm_start_score(kw_warm_start_model *warm, const double *rows, size_t count, kw_error *err);
void kw_warm_start_close(kw_warm_start_model *warm);

#endif
