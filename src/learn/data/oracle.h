/* oracle.h: how good picks are. The mark is kw_contest_oracle, worked out once for a data set; a pick is scored by the mean of its halves,
 * so that neither profits from the noise it was chosen for. */
#ifndef KW_LEARN_DATA_ORACLE_H
#define KW_LEARN_DATA_ORACLE_H

#include "learn/data/dataset.h"

#include <kernelwright_tune.h>

/* Of each contest; oracle_ns 0 where nothing is good, and such a contest is not judged. */
typedef struct kw_mark {
    size_t best; /* the pair that wins on all samples */
    double oracle_ns, slowest_ns;
} kw_mark;

kw_status kw_marks_make(kw_mark **marks, const kw_dataset *dataset, kw_error *err);

typedef struct kw_pick {
    size_t pair;
    double efficiency, ns; /* ns: the pick's time, the slowest good one where it failed */
    bool failed;
} kw_pick;

/* The pair with the least of ns (one a pair of the data set; the first of equals, NaN last); false when the contest is not judged. */
bool kw_pick_make(kw_pick *pick, const kw_dataset *dataset, size_t contest, const kw_mark *mark, const double *ns);
/* Of all contests whose fold is the given one; fold NULL: of all. */
kw_status kw_figures_make(kw_train_figures *figures, const kw_dataset *dataset, const kw_mark *marks, const double *ns, const int32_t *fold,
                          int32_t which, kw_error *err);

#endif
