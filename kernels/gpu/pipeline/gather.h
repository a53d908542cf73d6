/* gather.h: the pipeline `gather`: pipeline.h of kernels whose tiles are copied to shared memory without registers, piece by piece from
 * wherever each lies, and multiplied where they lie by the matrix instruction of four waves.
 *
 * Shared memory holds KW_STAGES tiles. All waves are the same: while the products of a step are under way, a thread asks for its copies of
 * the step KW_AHEAD steps later, into the tile of the step before last, whose products all waves have waited for before they met in this
 * step. tile.h copies; its layouts with KW_WGMMA are those of wgmma.h, one slab of 64 depths or slabs of 64 rows. */
#ifndef KW_GATHER_H
#define KW_GATHER_H

#include "gpu/matrix/groups.h"

enum { KW_AHEAD = KW_STAGES - 2 };

#include "gpu/pipeline/steps.h"

KW_DEVICE char *kw_stage_at(const kw_steps *s, int step) { return s->lds + step % KW_STAGES * KW_STAGE_BYTES; }

/* The operand from row on, of instruction number kk of a step. */
KW_DEVICE kw_u64 kw_step_operand(const char *tile, int by_rows, int row, int kk) {
    return by_rows ? kw_wgmma_slabs(tile + row / KW_SLAB_ELEMENTS * (KW_TILE_K * 128) + kk * KW_INST_K * 128, KW_TILE_K * 128)
                   : kw_wgmma_tile(tile + row * 128 + kk * KW_INST_K * 2);
}

/* Asks for the products of a step. */
KW_DEVICE void kw_step_multiply(kw_sums *sums, const kw_steps *s, int step) {
    const char *a = kw_stage_at(s, step), *b = a + KW_TILE_BYTES_A;
    KW_UNROLL
    for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++) {
            KW_UNROLL
            for (int j = 0; j < KW_REPEAT_N; j++)
                kw_wgmma(&sums->at[i][j], kw_step_operand(a, KW_A_BY_ROWS, kw_row_of(s->wave_coord, i), kk),
                         kw_step_operand(b, KW_B_BY_ROWS, kw_col_of(s->wave_coord, j), kk));
        }
    }
    kw_wgmma_commit();
}

/* A group of copies for each step, also for those beyond the last, which have none. */
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    for (int step = -KW_AHEAD; step < s->count; step++) {
        if (step >= 0) {
            kw_async_wait(KW_AHEAD - 1, KW_TILE_COPIES);
            kw_proxy_fence();
            kw_barrier();
            kw_sums_hold(sums);
            kw_wgmma_fence();
            kw_step_multiply(sums, s, step);
            kw_wgmma_wait(1);
        }
        if (step + KW_AHEAD < s->count)
            kw_copy(kw_stage_at(s, step + KW_AHEAD), s->view, &s->loader, s->first + (step + KW_AHEAD) * KW_TILE_K);
        kw_async_commit();
    }
    kw_wgmma_wait(0);
    kw_async_wait(0, KW_TILE_COPIES);
    kw_sums_hold(sums);
}

#endif
