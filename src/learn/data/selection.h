/* selection.h: how good selections are. They are held against kw_problem_group_oracle, worked out once for a data set; a selection is
 * scored by the mean of its halves, so that neither profits from the noise it was chosen for. */
#ifndef KW_LEARN_DATA_SELECTION_H
#define KW_LEARN_DATA_SELECTION_H

#include "learn/data/dataset.h"

#include <kernelwright_tune.h>

/* Of each problem group; oracle_ns 0 where nothing is good, and such a problem group is not evaluated. */
typedef struct kw_group_oracle {
    size_t best; /* the pair that wins on all samples */
    double oracle_ns, slowest_ns;
} kw_group_oracle;

kw_status kw_group_oracles_create(kw_group_oracle **oracles, const kw_dataset *dataset, kw_error *err);

typedef struct kw_selection {
    size_t pair;
    double efficiency, ns; /* ns: the selection's time, the slowest good one where it failed */
    bool failed;
} kw_selection;

/* The pair with the least of ns (one a pair of the data set; the first of equals, NaN last); false when the problem group is not
 * evaluated. */
bool kw_selection_make(kw_selection *selection, const kw_dataset *dataset, size_t problem_group, const kw_group_oracle *oracle,
                       const double *ns);
/* Of all problem groups whose fold is the given one; fold NULL: of all. */
kw_status kw_metrics_compute(kw_train_metrics *metrics, const kw_dataset *dataset, const kw_group_oracle *oracles, const double *ns,
                             const int32_t *fold, int32_t which, kw_error *err);

#endif
