/* reference.h: what the compiled-in reference kernels share. They serve every legal problem in plain C, so that there is always an answer,
 * with or without a compiler. All types are widened to fp32 block by block, so that there is one multiply for all; integer blocks are so
 * short that fp32 holds their sums exactly, and are then added as integers modulo 2^32. */
#ifndef KW_REFERENCE_KERNELS_H
#define KW_REFERENCE_KERNELS_H

#include <kernelwright.h>

#include "cpu/reference/args.h"
#include "prelude/kernel_abi.h"

/* The params of the library's view of the arguments. */
static inline const kw_reference_params *kw_reference_params_of(const kw_kernel_args *args) {
    return (const kw_reference_params *)(const void *)args->params.word;
}

/* Groups of one channel in and out are worked on side by side. */
static inline bool kw_reference_is_depthwise(const kw_kernel_args *args) { return args->c == 1 && args->k == 1; }

/* Rows and columns of a block of results, and products summed before they are added to it. 512 products of int8 and uint8 stay below 2^24. */
enum { KW_REFERENCE_ROWS = 64, KW_REFERENCE_COLS = 64, KW_REFERENCE_DEPTH = 128 };

/* What a unit works on, 80 KiB: the two factors and the sums of a block. Row r of the sums is sum[r * KW_REFERENCE_COLS]. */
typedef struct kw_reference_kernel_block {
    float a[KW_REFERENCE_ROWS * KW_REFERENCE_DEPTH];
    float b[KW_REFERENCE_DEPTH * KW_REFERENCE_COLS];
    union {
        float real[KW_REFERENCE_ROWS * KW_REFERENCE_COLS];
        unsigned int whole[KW_REFERENCE_ROWS * KW_REFERENCE_COLS];
    } sum;
} kw_reference_kernel_block;

/* A strided run of elements in memory: element i sits at index first + i * step of a tensor of this type. */
typedef struct kw_reference_kernel_run {
    kw_dtype dtype;
    const char *tensor;
    kw_i64 first, step, count;
} kw_reference_kernel_run;

/* The zero point of x, 0 where it has none. */
float kw_reference_kernel_zero(const kw_kernel_args *args);
/* Takes the zero points of w off so many rows of factor b, whose columns are channels from first on, counted over all groups. */
void kw_reference_kernel_less_zero_w(kw_reference_kernel_block *block, const kw_kernel_args *args, kw_i64 first, kw_i64 cols, kw_i64 depth);

void kw_reference_kernel_load(float *to, const kw_reference_kernel_run *run);
/* The same less a zero point. */
void kw_reference_kernel_load_less(float *to, const kw_reference_kernel_run *run, float zero);
/* Element i becomes sum number from + i * step of the block. */
void kw_reference_kernel_store(const kw_reference_kernel_run *run, const kw_reference_kernel_block *block, kw_i64 from, kw_i64 step);
/* One value, rounded: floats to nearest even, integers too and to the ends of their range, NaN to 0. */
void kw_reference_kernel_round(kw_dtype dtype, char *tensor, kw_i64 at, float value);
/* Factor b: element (q, j) at index first + q * depth_step + j * run->step, run->count columns, zeros up to a multiple of 8. */
void kw_reference_kernel_load_b(kw_reference_kernel_block *block, const kw_reference_kernel_run *run, kw_i64 depth_step, kw_i64 depth);

void kw_reference_kernel_clear(kw_reference_kernel_block *block);
/* sum[r][j] += sum over q < depth of a[r * row_step + q * depth_step] * b[q * KW_REFERENCE_COLS + j]. Rows up to a multiple of 4 and
 * columns up to a multiple of 8 are read and worked on too. */
typedef struct kw_reference_kernel_extent {
    kw_i64 rows, cols, depth, row_step, depth_step;
    bool whole; /* integers */
} kw_reference_kernel_extent;
void kw_reference_kernel_multiply(kw_reference_kernel_block *block, const kw_reference_kernel_extent *extent);
/* sum[r][j] += a[r * KW_REFERENCE_COLS + j] * b[j]. */
void kw_reference_kernel_multiply_rows(kw_reference_kernel_block *block, kw_i64 rows, kw_i64 cols, bool whole);

/* Where the sums go. */
static inline char *kw_reference_kernel_result(const kw_kernel_args *args, char *tensor) {
    return kw_reference_params_of(args)->elements ? args->shared : tensor;
}

/* Elements of a unit of the epilogue's stage. */
enum { KW_REFERENCE_CHUNK = 4096 };

/* The stages; reference.c of src/families/cpu counts their units by the same rules. */
kw_kernel_stage kw_reference_kernel_epilogue, kw_reference_kernel_gemm, kw_reference_kernel_conv_fwd, kw_reference_kernel_conv_bwd_data,
    kw_reference_kernel_conv_bwd_weight;

#endif
