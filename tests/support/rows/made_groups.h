/* made_groups.h: problem groups written down kernel by kernel, so that every figure can be worked out by hand. */
#ifndef KW_TEST_MADE_CONTESTS_H
#define KW_TEST_MADE_CONTESTS_H

#include "learn/data/dataset.h"

enum { MADE_KERNELS = 6 };

/* Kernels of different families or axes that serve conv_fwd fp32, in the order of their texts. */
extern const char *const made_kernels[MADE_KERNELS];

/* What is known of a kernel in a problem group; a list ends with outcome KW_OUTCOME_COUNT. */
typedef struct made_pair {
    int kernel; /* of made_kernels */
    kw_outcome outcome;
    double time, halves[2], spread; /* halves of 0: both are the time */
} made_pair;

typedef struct made_group {
    const char *problem;
    const made_pair *pairs;
} made_group;

/* Problem groups on one target, timed hot with packed weights, 25 samples. The estimate of a pair is 1000 times its kernel's number plus 1.
 * Ends the program when a text is wrong. */
void made_groups_make(kw_dataset *dataset, const made_group *problem_groups, size_t count);

#endif
