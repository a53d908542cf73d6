/* group_evaluation.h: what a scorer's order of the kernels of one problem group is worth. */
#ifndef KW_EVALUATE_GROUP_EVALUATION_H
#define KW_EVALUATE_GROUP_EVALUATION_H

#include "measure/timing/noise.h"
#include "evaluate/scorer.h"

enum { KW_SHORTLISTS = 3, KW_NDCG_DEPTH = 10, KW_SHORTLIST_MAX = 12 };
/* Lengths of the shortlists: 3, 5, 8. */
extern const size_t kw_shortlist_lengths[KW_SHORTLISTS];

typedef struct kw_group_evaluation {
    size_t problem_group, selection, best; /* selection, best: pairs; best is the one that wins on all samples */
    uint64_t shape;                        /* kw_fold_group */
    double oracle_ns, selected_ns;         /* selected_ns: of the slowest good kernel where the selection failed */
    double efficiency, efficiency_untied;  /* with ties as 1, and as measured */
    bool tied, failed;
    size_t candidates, good;         /* candidates; those with a time that counts */
    size_t best_rank, selected_rank; /* from 1: of the fastest kernel in the predicted order, of the selection in the measured one */
    double ndcg, spearman;           /* NAN where there are fewer than two kernels to tell apart */
    double shortlist[KW_SHORTLISTS];
    double best_of[KW_SHORTLIST_MAX]; /* the efficiency of the best of a shortlist of 1, 2, ...; of 1: efficiency */
} kw_group_evaluation;

/* The time that counts for a pair: of its halves, or the rough one of what was dropped for being slow; 0: it failed or was not measured. */
double kw_pair_time(const kw_pair *pair);

/* Whether b, timed on the same problem, is as fast as a within the noise; false where either has no time. */
bool kw_pair_tied(const kw_pair *a, const kw_pair *b, const kw_noise_band *band);

/* Evaluates the problem groups that are served and have a good kernel; keep (NULL: all) says which others are left out. The caller frees
 * *made. */
kw_status kw_group_evaluations_create(kw_group_evaluation **made, size_t *count, const kw_dataset *dataset, const kw_group_oracle *oracles,
                                      const kw_scores *scores, const bool *keep, kw_error *err);

#endif
