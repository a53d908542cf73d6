/* evaluate.h: how good the selections of a model, or of another selector, are.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_EVALUATE_H
#define KERNELWRIGHT_TUNE_EVALUATE_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A value with its 95 % interval: 1,000 resamples of the problems, each with all its problem groups, from a fixed seed. NAN: nothing to
 * tell. */
typedef struct kw_metric {
    double value, low, high;
} kw_metric;

/* One list for the struct, tables and JSON: name, meaning. A problem group is a problem on a target, packed or not, cold or not, with
 * every kernel that was measured there. All but regret are shares, 1 at best; regret is 0 at best. docs/selection/evaluation.md has the
 * definitions in full. */
#define KW_EVALUATION_METRICS(X)                                                                                                           \
    X(mean, "mean efficiency: the oracle's time over the selection's; a tie counts as 1, a selection that failed as 0")                    \
    X(median, "median efficiency")                                                                                                         \
    X(p10, "efficiency that a tenth of the problem groups stays below (quantile 0.1, linear between neighbours)")                          \
    X(p1, "the same of one in a hundred")                                                                                                  \
    X(worst, "least efficiency")                                                                                                           \
    X(mean_efficiency_untied, "mean efficiency where ties count as what was measured")                                                     \
    X(regret, "time of all selections over that of all oracles, less 1; a selection that failed takes as long as the slowest good kernel") \
    X(tied, "problem groups whose selection is as fast as the fastest kernel, within the noise and 2 %")                                   \
    X(best_in_1, "problem groups whose fastest kernel is the selection")                                                                   \
    X(best_in_3, "problem groups whose fastest kernel is among the first 3 of the predicted order")                                        \
    X(best_in_5, "problem groups whose fastest kernel is among the first 5 of the predicted order")                                        \
    X(best_in_10, "problem groups whose fastest kernel is among the first 10 of the predicted order")                                      \
    X(selected_in_3, "problem groups whose selection is among the 3 fastest kernels")                                                      \
    X(selected_in_5, "problem groups whose selection is among the 5 fastest kernels")                                                      \
    X(selected_in_10, "problem groups whose selection is among the 10 fastest kernels")                                                    \
    X(ndcg, "mean NDCG of the first 10; the gain of a kernel is the best time over its own, 0 when it failed")                             \
    X(spearman, "mean rank correlation of predicted and measured times within a problem group")                                            \
    X(coverage, "problem groups whose selection was measured and did not fail")                                                            \
    X(shortlist_3, "mean efficiency of the best of a shortlist of 3, as dispatch draws it")                                                \
    X(shortlist_5, "mean efficiency of the best of a shortlist of 5")                                                                      \
    X(shortlist_8, "mean efficiency of the best of a shortlist of 8")                                                                      \
    X(shortlist_8_p10, "quantile 0.1 of the efficiency of the best of a shortlist of 8")

typedef struct kw_evaluation_metrics {
    int64_t problem_groups, problems, failed;          /* failed: selections that failed or have no row */
    double candidates, candidates_min, candidates_max; /* of a problem group: mean, least, most */
#define KW_EVALUATION_METRIC(name, meaning) kw_metric name;
    KW_EVALUATION_METRICS(KW_EVALUATION_METRIC)
#undef KW_EVALUATION_METRIC
} kw_evaluation_metrics;

/* How near predicted rates are to measured ones over all good rows, as heuristics are often told; it says little of how good a choice is. r2: 1
 * less the squared errors over the squared differences from the mean. NAN: no rows. */
typedef enum kw_rate {
    KW_RATE_TFLOPS = 0,
    KW_RATE_LATENCY,   /* milliseconds */
    KW_RATE_BANDWIDTH, /* GB/s of the problem's tensors */
    KW_RATES
} kw_rate;
typedef struct kw_rate_errors {
    int64_t rows;
    double r2, rmse, mae;
} kw_rate_errors;

/* A zeroed member asks for its default. */
typedef struct kw_evaluation_options {
    size_t size;               /* sizeof(kw_evaluation_options) */
    const char *const *stores; /* stores, or exports of them (.jsonl, .csv, .gz) */
    size_t store_count;
    /* The selector: "estimate" (the analytic one), "random", "single" (for each operation and type the kernel that is best over all other
     * problems), a model's folder, or a file of held-out predictions (oof.csv.gz). NULL: "estimate". */
    const char *by;
    const char *folds;      /* of held-out predictions: "shape" or "family"; NULL: "shape" */
    const char *candidates; /* a catalog: its kernels that fit are candidates where they have no row, too; NULL: what was measured */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    const char *const *holdout; /* problem lists, by name or file: only their problems are evaluated, in any type; none: all */
    size_t holdout_count;
    bool in_sample; /* also problem groups of shapes that the model was trained on; else these are left out */
    uint64_t seed;
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_evaluation_options;

/* Immutable. */
typedef struct kw_evaluation kw_evaluation;
/* KW_FAILED when there is nothing to evaluate; the error says what left everything out. */
KW_API kw_status kw_evaluation_open(kw_evaluation **evaluation, const kw_evaluation_options *options, kw_error *err);
KW_API void kw_evaluation_close(kw_evaluation **evaluation);
/* Of all problem groups together. Owned by the evaluation. */
KW_API const kw_evaluation_metrics *kw_evaluation_all(const kw_evaluation *evaluation);
/* KW_RATES of them, of the problem groups that are evaluated; no rows where the selector predicts no times. Owned by the evaluation. */
KW_API const kw_rate_errors *kw_evaluation_rates(const kw_evaluation *evaluation);
/* For people: the figures, slices and the worst selections. The caller frees *text with kw_free. */
KW_API kw_status kw_evaluation_text(char **text, const kw_evaluation *evaluation, kw_error *err);
/* For machines: every figure of every slice. The caller frees *json with kw_free. */
KW_API kw_status kw_evaluation_json(char **json, const kw_evaluation *evaluation, kw_error *err);
/* One line a problem group; "-": standard output; names ending in .gz are compressed. */
KW_API kw_status kw_evaluation_csv(const char *path, const kw_evaluation *evaluation, kw_error *err);

/* Two selectors on the same problem groups. better and worse: by more than the noise of the two selections (and 1 %). */
typedef struct kw_comparison {
    int64_t problem_groups, agreed; /* agreed: the same selection */
    int64_t better, same, worse;
    kw_evaluation_metrics a, b; /* on the problem groups that both evaluate */
    kw_metric mean_delta;       /* of efficiency, b - a, by resamples of both together */
    double worst_loss;          /* the greatest share of efficiency that b loses on one problem group: 1 - b / a; 0: none */
    char worst[KW_PROBLEM_TEXT_MAX];
} kw_comparison;

/* KW_ILLEGAL unless both read the same rows. */
KW_API kw_status kw_evaluations_compare(kw_comparison *comparison, const kw_evaluation *a, const kw_evaluation *b, kw_error *err);
/* For people. The caller frees *text with kw_free. */
KW_API kw_status kw_comparison_text(char **text, const kw_comparison *comparison, const kw_evaluation *a, const kw_evaluation *b,
                                    kw_error *err);

/* What a new model must keep of the base's; zeroed members: the defaults. */
typedef struct kw_acceptance {
    size_t size;              /* sizeof(kw_acceptance) */
    double mean, median, p10; /* how much lower they may be, as a share of the base's; 0: 0.005, 0.005, 0.02 */
    double one;               /* share that no problem group may lose more than; 0: 0.1 */
} kw_acceptance;
/* KW_FAILED and the first criterion that b misses. acceptance may be NULL. */
KW_API kw_status kw_comparison_accept(const kw_comparison *comparison, const kw_acceptance *acceptance, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
