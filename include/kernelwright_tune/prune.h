/* prune.h: the fewest kernels that keep a share of the best.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_PRUNE_H
#define KERNELWRIGHT_TUNE_PRUNE_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { KW_PRUNE_CURVE = 12, KW_PRUNE_GROUPS = 32 };

/* Of one operation and type. share: mean over problem groups of the oracle's time over that of the best kernel kept, chosen by one half
 * of the samples and timed by the other; worst: of the worst problem group. Compiled-in kernels are always there and are not counted. */
typedef struct kw_prune_group {
    kw_op op;
    kw_dtype dtype;
    int64_t problem_groups, kernels, chosen; /* kernels: measured good in some problem group */
    double share, worst;
    double held_out,
        held_out_worst;           /* on problems that did not choose: five folds over shapes, each chosen for by the others; NAN: too few */
    double curve[KW_PRUNE_CURVE]; /* share by the first 1, 2, 4, ... kernels, the most useful ones first; NAN beyond those chosen */
} kw_prune_group;

/* A zeroed member asks for its default. */
typedef struct kw_prune_options {
    size_t size;               /* sizeof(kw_prune_options) */
    const char *const *stores; /* stores, or exports of them */
    size_t store_count;
    bool by_op, by_dtype;
    kw_op op;
    kw_dtype dtype;
    double keep;         /* mean share to keep, in each group; 0: 0.99 */
    double worst;        /* share to keep in each problem group; 0: 0.9, negative: none */
    const char *out;     /* a catalog; a rule set when it ends in .lua (docs/kernels/rules.md); NULL: nothing is written */
    const char *command; /* for the file's comment; may be NULL */
    uint64_t seed;       /* of the folds */
} kw_prune_options;

typedef struct kw_prune_report {
    kw_prune_group all; /* op and dtype mean nothing; curve: each group's first 1, 2, 4, ... kernels */
    kw_prune_group group[KW_PRUNE_GROUPS];
    int32_t groups;
} kw_prune_report;

KW_API kw_status kw_prune(const kw_prune_options *options, kw_prune_report *report, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
