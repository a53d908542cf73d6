/* scorer.h: selectors as scores: a model, held-out predictions, the analytic estimate, the single best kernel or chance. Each gives one
 * number a pair, the less the better, so that all of them are evaluated by the same code. */
#ifndef KW_EVALUATE_SCORER_H
#define KW_EVALUATE_SCORER_H

#include "learn/data/selection.h"

typedef enum kw_scorer_kind {
    KW_SCORES_MODEL = 0, /* a model, or predictions of one */
    KW_SCORES_ESTIMATE,
    KW_SCORES_UNTIMED /* random or single: no times */
} kw_scorer_kind;

typedef struct kw_scores {
    kw_scorer_kind kind;
    double *ns;   /* of each pair of the data set; NAN: nothing is said of it */
    bool *served; /* of each problem group: whether anything is said of it */
} kw_scores;

typedef struct kw_scorer {
    const char *by, *folds; /* as in kw_evaluation_options */
    uint64_t seed;
} kw_scorer;

/* marks: of the data set. */
kw_status kw_scores_make(kw_scores *scores, const kw_dataset *dataset, const kw_group_oracle *oracles, const kw_scorer *scorer,
                         kw_error *err);
void kw_scores_drop(kw_scores *scores);
/* Whether by names a folder. */
bool kw_scorer_is_model(const char *by);

#endif
