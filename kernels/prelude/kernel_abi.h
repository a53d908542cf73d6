/* kernel_abi.h: what the library hands to a kernel. Included by the library and put in front of every generated source, so that the two
 * cannot disagree; KW_KERNEL_ABI is part of every cache key. No system headers: they would cost more than the kernel's compile.
 *
 * A kernel exports kw_stage0, kw_stage1, ... Each works on units begin..end-1 of its stage; what a unit is, the kernel and its family's
 * launch() in src/families/ agree on. Stages are separated by barriers; thread_memory belongs to the calling thread during a stage. */
#ifndef KW_KERNEL_ABI_H
#define KW_KERNEL_ABI_H

#include "prelude/kernel_params.h"

#define KW_KERNEL_ABI 5

#ifndef KW_KERNEL_PARAMS
#define KW_KERNEL_PARAMS kw_kernel_params /* the library, which serves all kernels */
#endif

/* Sizes are the problem's; c and k are per group, groups is g. Spatial triples are depth, height, width; unused axes are 1 (pad 0).
 * All memory but x, w, y is 64-byte aligned. */
typedef struct kw_kernel_args {
    char *x, *w, *y;
    char *packed;                       /* weights in the kernel's own order */
    char *shared;                       /* launch.shared_bytes for all threads together */
    const char *extra[KW_EXTRAS];       /* of the epilogue's steps, in their order */
    const int *ends;                    /* of a grouped product: prelude/row_groups.h */
    const struct kw_ahead *ahead;       /* of a CPU: cpu/ahead/ahead.h */
    const struct kw_epilogue *epilogue; /* for compiled-in kernels, NULL: none; the others have it in their text */
    kw_i64 n, groups, c, k;             /* groups: of rows too, of a grouped product */
    kw_i64 in[3], out[3], filter[3], stride[3], pad[3], dilation[3];
    kw_i64 batch, gm, gn, gk;           /* of a GEMM */
    kw_i64 line_step[3], batch_step[3]; /* of its A, B, C: elements from a line to the next, from a matrix to the next */
    kw_i64 x_step[5], y_step[5];        /* of a convolution: elements from an image to the next, a plane, row, column, channel */
    kw_reorder reorder;                 /* launch.reorder */
    KW_KERNEL_PARAMS params;            /* launch.params */
    kw_i64 rest[KW_PARAMS_WORDS + 1 - sizeof(KW_KERNEL_PARAMS) / sizeof(kw_i64)]; /* the size is the same for all kernels */
} kw_kernel_args;

typedef void kw_kernel_stage(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory);

#endif
