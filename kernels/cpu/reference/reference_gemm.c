/* reference_gemm.c: GEMM of every type and layout. A unit is one block of the result, 64 x 64; units run over batch, then rows, then
 * columns. Of a grouped product a block has rows of one group, and units behind the last one find nothing to do. */
#include "reference.h"

#include "prelude/row_groups.h"

static kw_i64 least(kw_i64 a, kw_i64 b) { return a < b ? a : b; }

/* Factor a: rows m0.. and depth k0.. of A, zeros up to a multiple of four rows. */
static void load_a(kw_reference_kernel_block *block, const kw_reference_kernel_run *row, kw_i64 row_step, kw_i64 rows, float zero) {
    kw_reference_kernel_run run = *row;
    for (kw_i64 r = 0; r < rows; r++, run.first += row_step) {
        kw_reference_kernel_load_less(block->a + r * KW_REFERENCE_DEPTH, &run, zero);
    }
    for (kw_i64 r = rows; r % 4; r++) {
        for (kw_i64 q = 0; q < run.count; q++) {
            block->a[r * KW_REFERENCE_DEPTH + q] = 0;
        }
    }
}

/* Rows m0 .. m_end - 1 of a result whose rows are counted from matrix `of` on, and the matrix of w. */
typedef struct block_rows {
    kw_i64 of, w, m0, m_end;
} block_rows;

/* Block number `number` along the rows; false: there is none. */
static bool find_rows(block_rows *b, kw_group_place *place, const kw_kernel_args *args, kw_i64 number) {
    kw_i64 m = args->gm, rows = (m + KW_REFERENCE_ROWS - 1) / KW_REFERENCE_ROWS;
    if (args->ends) {
        kw_group_chunk chunk;
        if (!kw_group_find(&chunk, place, args->ends, (int)args->groups, (int)m, KW_REFERENCE_ROWS, (int)number)) {
            return false;
        }
        *b = (block_rows){0, chunk.group, chunk.first, chunk.end};
        return true;
    }
    kw_i64 batch = number / rows, m0 = number % rows * KW_REFERENCE_ROWS;
    *b = (block_rows){batch, batch, m0, least(m0 + KW_REFERENCE_ROWS, m)};
    return true;
}

void kw_reference_kernel_gemm(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_reference_kernel_block memory, *block = &memory; /* on the stack: the reference kernels need no workspace */
    (void)thread_memory;
    kw_dtype x = (kw_dtype)kw_reference_params_of(args)->x, from = (kw_dtype)kw_reference_params_of(args)->from,
             to = (kw_dtype)kw_reference_params_of(args)->to;
    float zero = kw_reference_kernel_zero(args);
    kw_layout layout = (kw_layout)kw_reference_params_of(args)->layout;
    bool a_rows = layout == KW_RCR || layout == KW_RRR, b_rows = layout == KW_RRR || layout == KW_CRR;
    kw_i64 m = args->gm, n = args->gn, k = args->gk;
    kw_i64 cols = (n + KW_REFERENCE_COLS - 1) / KW_REFERENCE_COLS;
    kw_group_place place = {0};
    for (kw_i64 unit = begin; unit < end; unit++) {
        block_rows rows;
        if (!find_rows(&rows, &place, args, unit / cols)) {
            break;
        }
        kw_i64 n0 = unit % cols * KW_REFERENCE_COLS, m0 = rows.m0, batch = rows.of;
        kw_reference_kernel_extent extent = {
            .rows = rows.m_end - m0,
            .cols = least(n - n0, KW_REFERENCE_COLS),
            .row_step = KW_REFERENCE_DEPTH,
            .depth_step = 1,
            .whole = to == KW_INT32,
        };
        kw_reference_kernel_clear(block);
        for (kw_i64 k0 = 0; k0 < k; k0 += KW_REFERENCE_DEPTH) {
            extent.depth = least(k - k0, KW_REFERENCE_DEPTH);
            kw_i64 lda = args->line_step[0], ldb = args->line_step[1];
            kw_i64 a_first = batch * args->batch_step[0] + (a_rows ? m0 * lda + k0 : k0 * lda + m0);
            kw_i64 b_first = rows.w * args->batch_step[1] + (b_rows ? k0 * ldb + n0 : n0 * ldb + k0);
            kw_reference_kernel_run a = {x, args->x, a_first, a_rows ? 1 : lda, extent.depth};
            kw_reference_kernel_run b = {from, args->w, b_first, b_rows ? 1 : ldb, extent.cols};
            load_a(block, &a, a_rows ? lda : 1, extent.rows, zero);
            kw_reference_kernel_load_b(block, &b, b_rows ? ldb : 1, extent.depth);
            kw_reference_kernel_less_zero_w(block, args, (args->ends ? rows.w * n : 0) + n0, extent.cols, extent.depth);
            kw_reference_kernel_multiply(block, &extent);
        }
        /* Sums that an epilogue takes lie densely. */
        bool sums = kw_reference_params_of(args)->elements;
        kw_i64 c_row = sums ? n : args->line_step[2], c_first = batch * (sums ? m * n : args->batch_step[2]) + m0 * c_row + n0;
        for (kw_i64 r = 0; r < extent.rows; r++) {
            kw_reference_kernel_run c = {to, kw_reference_kernel_result(args, args->y), c_first + r * c_row, 1, extent.cols};
            kw_reference_kernel_store(&c, block, r * KW_REFERENCE_COLS, 1);
        }
    }
}
