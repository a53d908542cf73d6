/* shortlist.h: which kernels are worth measuring, given what is expected of them. The same choice is made in dispatch, which measures
 * them, and in evaluation, which says what a model's shortlists are worth. */
#ifndef KW_PREDICT_SHORTLIST_H
#define KW_PREDICT_SHORTLIST_H

#include "config/config.h"

/* A kernel that serves a problem, and the time it is expected to take. */
typedef struct kw_candidate {
    const kw_config *config;
    double expected_ns;      /* the model's time (INFINITY: it has none), or the estimate where no model answers */
    double estimate_ns;      /* kw_predict_ns */
    const kw_launch *launch; /* on the problem; NULL where nobody will run it */
    int64_t workspace;       /* bytes */
    bool tailored;           /* made for the problem: no list has it */
} kw_candidate;

/* Least expected time first; equal ones by estimate, then by place of their configs in memory, which is the order of their list. */
void kw_candidates_sort(kw_candidate list[], size_t count);

/* Brings the wanted candidates of a sorted list to the front and returns how many they are. By a model: its best, in a quarter of the list
 * (one place at least) the estimate's best, in up to another the best of families that the model never saw and whose estimate is within
 * reach of the best one, the best of each family whose best time is within reach of the best of all, then the model's next ones, in that
 * order: a list ranked by one model alone repeats that model's mistake, and tiles that came after its training are known to the estimate
 * alone. By the estimate: the best of each family before any second one, least estimate first, because estimates of different families are
 * hard to compare. */
size_t kw_shortlist_take(kw_candidate list[], size_t count, size_t wanted, bool by_model);

#endif
