/* folds.h: which problem groups are left out together. By shape: a problem in every direction, type, layout and kind of timing, on every
 * target, is one group, so that no fold is asked for what training saw in another dress. By family: a whole bucket is one group, so that
 * a fold is asked for what no neighbour of was seen. */
#ifndef KW_LEARN_DATA_SPLIT_FOLDS_H
#define KW_LEARN_DATA_SPLIT_FOLDS_H

#include "learn/data/dataset.h"

typedef enum kw_grouping { KW_BY_SHAPE = 0, KW_BY_FAMILY, KW_GROUPINGS } kw_grouping;

const char *kw_grouping_name(kw_grouping grouping);
/* What a problem group shares with those that must be left out with it. */
uint64_t kw_fold_group(const kw_problem_group *problem_group, kw_grouping grouping);
/* fold[i] of problem group i, 0..folds-1: groups in an order drawn from the seed, each to the fold that has the fewest problem groups.
 * *used is the number of folds that got any: less than folds when there are fewer groups. */
kw_status kw_folds_draw(int32_t *fold, int32_t *used, const kw_dataset *dataset, kw_grouping grouping, int32_t folds, uint64_t seed,
                        kw_error *err);

#endif
