/* generic.h: what the compiled-in generic kernels share. They serve every legal problem in plain C, so that there is always an answer, with
 * or without a compiler. All types are widened to fp32 block by block, so that there is one multiply for all; integer blocks are so short
 * that fp32 holds their sums exactly, and are then added as integers modulo 2^32.
 */
#ifndef KW_GENERIC_H
#define KW_GENERIC_H

#include <kernelwright.h>

#include "cpu_abi.h"

/* args->value of the generic kernels: kw_dtype of the tensors that are read and of the one that is written; whether the layout is channels
 * last, or the kw_layout of a GEMM; whether groups of one channel in and out are worked on side by side. */
enum { KW_GENERIC_FROM = 0, KW_GENERIC_TO, KW_GENERIC_LAYOUT, KW_GENERIC_DEPTHWISE };

/* Rows and columns of a block of results, and products summed before they are added to it. 512 products of int8 stay below 2^24. */
enum { KW_GENERIC_ROWS = 64, KW_GENERIC_COLS = 64, KW_GENERIC_DEPTH = 128 };

/* What a unit works on, 80 KiB: the two factors and the sums of a block. Row r of the sums is sum[r * KW_GENERIC_COLS]. */
typedef struct kw_generic_block {
    float a[KW_GENERIC_ROWS * KW_GENERIC_DEPTH];
    float b[KW_GENERIC_DEPTH * KW_GENERIC_COLS];
    union {
        float real[KW_GENERIC_ROWS * KW_GENERIC_COLS];
        unsigned int whole[KW_GENERIC_ROWS * KW_GENERIC_COLS];
    } sum;
} kw_generic_block;

/* A strided run of elements in memory: element i sits at index first + i * step of a tensor of this type. */
typedef struct kw_generic_run {
    kw_dtype dtype;
    const char *tensor;
    kw_i64 first, step, count;
} kw_generic_run;

void kw_generic_load(float *to, const kw_generic_run *run);
/* Element i becomes sum number from + i * step of the block. */
void kw_generic_store(const kw_generic_run *run, const kw_generic_block *block, kw_i64 from, kw_i64 step);
/* Factor b: element (q, j) at index first + q * depth_step + j * run->step, run->count columns, zeros up to a multiple of 8. */
void kw_generic_load_b(kw_generic_block *block, const kw_generic_run *run, kw_i64 depth_step, kw_i64 depth);

void kw_generic_clear(kw_generic_block *block);
/* sum[r][j] += sum over q < depth of a[r * row_step + q * depth_step] * b[q * KW_GENERIC_COLS + j]. Rows up to a multiple of 4 and
 * columns up to a multiple of 8 are read and worked on too. */
typedef struct kw_generic_extent {
    kw_i64 rows, cols, depth, row_step, depth_step;
    bool whole; /* integers */
} kw_generic_extent;
void kw_generic_multiply(kw_generic_block *block, const kw_generic_extent *extent);
/* sum[r][j] += a[r * KW_GENERIC_COLS + j] * b[j]. */
void kw_generic_multiply_rows(kw_generic_block *block, kw_i64 rows, kw_i64 cols, bool whole);

/* The stages; generic.c of src/families/cpu counts their units by the same rules. */
kw_cpu_stage kw_generic_gemm, kw_generic_conv_fwd, kw_generic_conv_bwd_data, kw_generic_conv_bwd_weight;

#endif
