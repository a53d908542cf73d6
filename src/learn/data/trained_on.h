/* trained_on.h: which problems a model was trained on, so that nobody evaluates it on them by mistake. trained_on.txt.gz in the model's
 * folder, one line each:
 *
 *     kernelwright-trained-on 1
 *     shape 9f3c...                      (kw_fold_group by shape: a problem in any direction, type and layout; sorted)
 *     family conv_fwd 2 f3 s0 ...        (buckets; sorted)
 *
 * Hashes do for shapes: the file says whether a problem was there, not which ones there are. */
#ifndef KW_LEARN_DATA_TRAINED_ON_H
#define KW_LEARN_DATA_TRAINED_ON_H

#include "learn/data/split/folds.h"

typedef struct kw_trained_on {
    uint64_t *shapes, *families; /* sorted */
    size_t shape_count, family_count;
    bool known; /* false: the folder does not say */
} kw_trained_on;

/* The file's text, to be compressed, with what the model in the folder before was trained on; NULL: there was none. A model before that does
 * not say makes one that does not: the text stays empty. */
kw_status kw_trained_on_print(kw_text *text, const kw_dataset *dataset, const char *before, kw_error *err);
/* A folder without the file is no error: then known is false. */
kw_status kw_trained_on_read(kw_trained_on *trained, const char *folder, kw_error *err);
void kw_trained_on_drop(kw_trained_on *trained);
/* Whether the group's group was there. */
bool kw_trained_on_has(const kw_trained_on *trained, const kw_problem_group *problem_group, kw_grouping grouping);

#endif
