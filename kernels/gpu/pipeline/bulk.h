/* bulk.h: the pipeline `tma`: tile.h and pipeline.h of kernels whose tiles are brought by bulk copies and multiplied where they lie.
 *
 * The last four waves bring tiles; one thread of them asks for all copies. The others, in groups of four, multiply. Shared memory holds
 * KW_STAGES tiles, each with two barriers: `full` is over when a tile's bytes are there, `empty` when all waves that multiply are done
 * with it. Round r of a stage waits for phase r of `full`, and to fill it again for phase r - 1 of `empty`; phases tell themselves apart
 * by their parity.
 *
 * A tile is cut along the depth into slabs of 128 bytes; a slab has the rows of the first operand, then those of the second. Rows and depths beyond the product come as zeros. The text that includes this gives
 *   kw_view           map[2], batch, row, col   of the operands' tensor maps: depth, row, batch (with KW_ROW_GROUPS the first has one) */
#ifndef KW_BULK_H
#define KW_BULK_H

#include "gpu/matrix/groups.h"

/* --- threads and their roles --- */

#define KW_MATH_THREADS (KW_MATH_WAVES * KW_WAVE)
#define KW_THREADS (KW_BLOCK_WAVES * KW_WAVE)

/* --- shared memory --- */

#define KW_SLAB_DEPTHS (KW_SLAB_ROW_BYTES / KW_BYTES)
#define KW_SLABS (KW_TILE_K / KW_SLAB_DEPTHS)
#define KW_SLAB_BYTES_A (KW_TILE_M * KW_SLAB_ROW_BYTES)
#define KW_SLAB_BYTES_B (KW_TILE_N * KW_SLAB_ROW_BYTES)
#define KW_SLAB_BYTES (KW_SLAB_BYTES_A + KW_SLAB_BYTES_B)
#define KW_STAGE_BYTES (KW_SLABS * KW_SLAB_BYTES)
#define KW_BARRIERS_AT (KW_STAGES * KW_STAGE_BYTES)

/* --- the steps of a block --- */

/* There is nothing to know of a thread's loads. */
typedef struct kw_loader {
    int thread;
} kw_loader;

KW_DEVICE void kw_loader_start(kw_loader *l, const kw_view *view, int thread, int k0) { l->thread = thread; }

#include "gpu/pipeline/steps.h"

KW_DEVICE char *kw_stage_at(const kw_steps *s, int step) { return s->lds + step % KW_STAGES * KW_STAGE_BYTES; }
KW_DEVICE char *kw_full_at(const kw_steps *s, int step) { return s->lds + KW_BARRIERS_AT + step % KW_STAGES * KW_STAGE_BARRIER_BYTES; }
KW_DEVICE char *kw_empty_at(const kw_steps *s, int step) { return kw_full_at(s, step) + 8; }

#if KW_PITCHED
#define KW_OPERAND_BATCH(v, which) v->batch_of[which]
#else
#define KW_OPERAND_BATCH(v, which) (KW_ROW_GROUPS && (which) == KW_A ? 0 : v->batch)
#endif

/* By one thread. */
KW_DEVICE void kw_steps_fetch(const kw_steps *s) {
    const kw_view *v = s->view;
    for (int step = 0; step < s->count; step++) {
        int round = step / KW_STAGES;
        char *full = kw_full_at(s, step);
        if (round > 0) kw_mbar_wait(kw_empty_at(s, step), (round - 1) % 2);
        kw_mbar_expect(full, KW_STAGE_BYTES);
        KW_UNROLL
        for (int slab = 0; slab < KW_SLABS; slab++) {
            char *to = kw_stage_at(s, step) + slab * KW_SLAB_BYTES;
            int k = s->first + step * KW_TILE_K + slab * KW_SLAB_DEPTHS;
            kw_tensor_load3(to, v->map[KW_A], full, k, v->row, KW_OPERAND_BATCH(v, KW_A));
            kw_tensor_load3(to + KW_SLAB_BYTES_A, v->map[KW_B], full, k, v->col, KW_OPERAND_BATCH(v, KW_B));
        }
    }
}

/* Asks for the products of a step. */
KW_DEVICE void kw_step_multiply(kw_sums *sums, const kw_steps *s, int step) {
    KW_UNROLL
    for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
        const char *a = kw_stage_at(s, step) + kk * KW_INST_K / KW_SLAB_DEPTHS * KW_SLAB_BYTES + kk * KW_INST_K % KW_SLAB_DEPTHS * KW_BYTES;
        const char *b = a + KW_SLAB_BYTES_A;
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++) {
            KW_UNROLL
            for (int j = 0; j < KW_REPEAT_N; j++)
                kw_wgmma(&sums->at[i][j], kw_wgmma_tile(a + kw_row_of(s->wave_coord, i) * 128),
                         kw_wgmma_tile(b + kw_col_of(s->wave_coord, j) * 128));
        }
    }
    kw_wgmma_commit();
}

/* The products of a step are under way while the next one is waited for; then its tile is given back. */
KW_DEVICE void kw_steps_multiply(kw_sums *sums, const kw_steps *s) {
    for (int step = 0; step < s->count; step++) {
        kw_mbar_wait(kw_full_at(s, step), step / KW_STAGES % 2);
        kw_sums_hold(sums);
        kw_wgmma_fence();
        kw_step_multiply(sums, s, step);
        kw_wgmma_wait(1);
        if (step > 0 && kw_lane() == 0) kw_mbar_arrive(kw_empty_at(s, step - 1));
    }
    kw_wgmma_wait(0);
    kw_sums_hold(sums);
}

/* Barriers are made anew for each tile of the result, so that phases begin at 0. */
KW_DEVICE void kw_steps_run(kw_sums *sums, const kw_steps *s) {
    kw_proxy_fence(); /* what the tile before stored in shared memory */
    kw_barrier();
    if (kw_thread() == 0) {
        for (int i = 0; i < KW_STAGES; i++) {
            kw_mbar_init(kw_full_at(s, i), 1);
            kw_mbar_init(kw_empty_at(s, i), KW_MATH_WAVES);
        }
        kw_mbar_fence();
    }
    kw_barrier();
    if (kw_wave() < KW_MATH_WAVES) {
        kw_steps_multiply(sums, s);
    } else {
        if (kw_thread() == KW_MATH_THREADS) kw_steps_fetch(s);
        kw_wave_barrier();
    }
    kw_barrier();
    if (kw_thread() == 0) {
        for (int i = 0; i < KW_STAGES; i++) {
            kw_mbar_end(kw_full_at(s, i));
            kw_mbar_end(kw_empty_at(s, i));
        }
    }
}

#endif
