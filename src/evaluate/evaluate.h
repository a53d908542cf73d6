/* evaluate.h: what stands behind a kw_evaluation, for those who print and compare. */
#ifndef KW_EVALUATE_EVALUATE_H
#define KW_EVALUATE_EVALUATE_H

#include "evaluate/metrics.h"
#include "learn/data/trained_on.h"

/* What problem groups are sliced by. */
typedef enum kw_slicing {
    KW_SLICE_OP = 0,
    KW_SLICE_DTYPE,
    KW_SLICE_LAYOUT,
    KW_SLICE_TIMING, /* hot or cold, weights packed or fresh */
    KW_SLICE_ARCH,
    KW_SLICE_SIZE,    /* of the problem, by its operations */
    KW_SLICE_WINNER,  /* family of the fastest kernel */
    KW_SLICE_TRAINED, /* whether the problem's family was trained on, where the model says so */
    KW_SLICE_FAMILY,  /* bucket of the problem */
    KW_SLICINGS
} kw_slicing;

typedef struct kw_slice {
    kw_slicing slicing;
    char key[64];
    kw_evaluation_metrics metrics;
} kw_slice;

struct kw_evaluation {
    kw_dataset dataset;
    kw_group_oracle *oracles;
    kw_scores scores;
    kw_trained_on trained;
    kw_group_evaluation *group_evaluations;
    size_t count;
    kw_evaluation_metrics all;
    kw_rate_errors rates[KW_RATES];
    kw_slice *slices; /* by slicing, then key */
    size_t slice_count, slice_capacity;
    size_t unpredicted, in_sample, outside_holdout,
        unsolved;   /* problem groups left out: nothing is predicted, trained on, in no holdout list, nothing good */
    size_t untried; /* candidates that the catalog added */
    char by[256];
};

const char *kw_slicing_name(kw_slicing slicing);
/* "hot", "cold", with " fresh weights" behind it. */
const char *kw_problem_group_timing(const kw_problem_group *problem_group);

#endif
