/* active.h: which problems and kernels to measure next.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_ACTIVE_H
#define KERNELWRIGHT_TUNE_ACTIVE_H

#include "sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Problems are sorted into families (operation, axes, filter, stride, dilation, groups, extent and channels in classes;
 * docs/selection/active-data.md). The regret of a family is 1 less the mean efficiency of its selections, by predictions that saw no row of the
 * shape. */
typedef enum kw_family_state {
    KW_FAMILY_ABOVE = 0, /* its regret is above the target */
    KW_FAMILY_UNKNOWN,   /* too few shapes to tell */
    KW_FAMILY_WITHIN
} kw_family_state;

typedef struct kw_proposal_family {
    char key[64];
    kw_family_state state;
    int64_t shapes, problem_groups; /* evaluated */
    int64_t untrained;              /* shapes that have rows of which nothing is predicted: a new training will know them */
    double regret;                  /* NAN where nothing is evaluated */
    int64_t proposed;               /* problems */
    bool exhausted;                 /* more would be wanted, but no new problem of it was found */
} kw_proposal_family;

/* A zeroed member asks for its default. What is pointed to must outlive the proposal. */
typedef struct kw_proposal_options {
    size_t size;               /* sizeof(kw_proposal_options) */
    const char *const *stores; /* stores, or exports of them, with what was measured */
    size_t store_count;
    /* Whose errors count: "estimate" (the analytic one), a file of held-out predictions (oof.csv.gz), or a model's folder, whose held-out
     * predictions evaluate the shapes that it was trained on, and which evaluates the others itself. NULL: "estimate". */
    const char *by;
    const char *folds;        /* of held-out predictions: "shape" or "family"; NULL: "shape" */
    const char *target;       /* only rows of this one count, by its canonical text; NULL: this machine with so many threads */
    int32_t threads;          /* 0: 1 */
    bool cold, fresh_weights; /* only rows timed so count, and what is proposed is timed so; default hot, weights packed beforehand */
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    double regret;              /* that every family must stay within; 0: 0.01 */
    int32_t least;              /* shapes that a family must have to be known; 0: 5 */
    const kw_problem *problems; /* drawn from before others are made up; their families must be known as well */
    size_t problem_count;
    const char *const *configs; /* the kernels to choose from, as texts */
    size_t config_count;
    int32_t best;               /* kernels of a problem that predict the least time, by the model and as many by the estimate; 0: 4 */
    int32_t explore;            /* others at random; 0: 4, negative: none */
    size_t limit;               /* problems in a proposal; 0: 16 */
    double max_gflop, max_mb;   /* as in kw_sample_options; 0: no limit */
    const char *const *holdout; /* problem lists, by name or file, that are never proposed or counted, in any type */
    size_t holdout_count;
    uint64_t seed;
    void (*log)(void *user, const char *line); /* remarks; may be NULL */
    void *user;
} kw_proposal_options;

typedef struct kw_proposal_facts {
    const kw_proposal_family *families; /* what is over, unknown, met; in each the greatest regret first. Owned by the proposal */
    size_t family_count;
    int64_t count[KW_FAMILY_WITHIN + 1]; /* of families by state */
    bool met;                            /* every family is */
    int64_t problem_groups;              /* evaluated */
    double regret;                       /* of all of them together; NAN: there are none */
    int64_t problems, drawn, pairs;      /* proposed; drawn: problems that are from the lists */
} kw_proposal_facts;

/* The same rows, lists and seed give the same proposal. */
typedef struct kw_proposal kw_proposal;
KW_API kw_status kw_proposal_open(kw_proposal **proposal, const kw_proposal_options *options, kw_error *err);
KW_API void kw_proposal_close(kw_proposal **proposal);
/* Changes with kw_proposal_measure. */
KW_API const kw_proposal_facts *kw_proposal_describe(const kw_proposal *proposal);
/* A manifest for kw_sweep_options.pairs. KW_FAILED when nothing is proposed. */
KW_API kw_status kw_proposal_write(const kw_proposal *proposal, const char *path, kw_error *err);

typedef struct kw_proposal_report {
    int64_t rounds, problems, pairs;   /* measured, as far as it came */
    int64_t outcome[KW_OUTCOME_COUNT]; /* of the rows written */
    double wall_s;
    bool stopped, spent; /* by sweep->stop; by its budget */
} kw_proposal_report;

/* Measures what is proposed into sweep->out, looks again with the new rows and goes on with a new proposal until the target is met,
 * nothing more is found to propose, or sweep->budget_s is spent; without a budget, once. Nothing is measured where the target is met
 * already. Of sweep count neither the kernels and problems nor threads, cold, fresh_weights and shards. */
KW_API kw_status kw_proposal_measure(kw_proposal *proposal, const kw_sweep_options *sweep, kw_proposal_report *report, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
