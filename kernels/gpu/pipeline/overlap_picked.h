/* overlap_picked.h: for gpu/pipeline/overlap.h, a first operand of fp32 whose rows are contiguous in memory (KW_PICKS), which wgmma cannot read as it lies in
 * shared memory: lanes pick its fragments into registers, from where the instruction takes a first operand too. Each element is read once. The second
 * operand is a copy that lies as the instruction wants it.
 *
 * A stage has slabs of 32 rows: a line of 128 bytes for each depth, swizzled as bulk copies do it. A lane has depths t and t + 4 (t = lane % 4) of
 * two rows 8 apart of the instruction's. Which rows of a slab these are is free, as long as results are stored accordingly: chosen so that the
 * lanes of a wave meet all banks (kw_picked_row). While the products of a step are under way the next step is picked, into registers of its own.
 *
 *   kw_tile_multiply(...)    as overlap.h has it
 *   kw_part_put(...)         as overlap_store.h has it, by kw_picked_line(args, &work, row, &ok) of the text that includes overlap.h: where in the
 *                            result a row of the tile is at its first column, and kw_picked_step(args), from column to column */
#ifndef KW_OVERLAP_PICKED_H
#define KW_OVERLAP_PICKED_H

enum { KW_PICKED_SLAB = KW_TILE_K * KW_SLAB_ROW_BYTES }; /* 32 rows */

/* What a lane picks of a step. */
typedef struct kw_picked {
    kw_u32 w[KW_REPEAT_M][KW_TILE_K / KW_INST_K][4];
} kw_picked;

/* The row of an instruction's 64, in slabs of 32, that is its lane's `half`: 16-byte piece 2 (wave % 2) + half, or with the later lanes the piece four
 * further on. */
KW_DEVICE int kw_picked_row(int half) {
    int lane = kw_lane();
    return kw_wave() % 4 * 16 / 32 * 32 + kw_wave() % 2 * 8 + half * 4 + lane / 16 * 16 + lane / 4 % 4;
}

KW_DEVICE void kw_step_pick(kw_picked *picked, const char *lds, int in_stage, int first_row) {
    int row = kw_picked_row(0), t = kw_lane() % 4;
    int at = row / 32 * KW_PICKED_SLAB + t * KW_SLAB_ROW_BYTES + ((row % 32 / 4 ^ t) << 4) + row % 4 * 4;
    const char *stage = lds + in_stage * KW_STAGE_BYTES + first_row / 32 * KW_PICKED_SLAB;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
            const char *from = stage + i * 2 * KW_PICKED_SLAB + kk * KW_INST_K * KW_SLAB_ROW_BYTES;
            KW_UNROLL
            for (int e = 0; e < 4; e++) /* the other half is the next piece, four depths on the piece four further on */
                kw_load_run(&picked->w[i][kk][e], from + (at ^ e % 2 << 4 ^ e / 2 << 6) + e / 2 * 4 * KW_SLAB_ROW_BYTES, 4);
        }
    }
}

/* kw_step_multiply() with what was picked. */
KW_DEVICE void kw_picked_multiply(kw_sums *sums, const kw_picked *picked, const char *lds, int in_stage, int add) {
    kw_u64 b = kw_wgmma_tile(lds + in_stage * KW_STAGE_BYTES + KW_STAGE_BYTES_A);
    kw_wgmma_fence();
    KW_UNROLL
    for (int kk = 0; kk < KW_TILE_K / KW_INST_K; kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++)
            kw_wgmma_picked(&sums->at[i], i, picked->w[i][kk], kw_step_operand_at(b, 0, 0, kk), add);
        add = 1;
    }
    kw_wgmma_commit();
}

/* One step beside the products of the one before. */
KW_DEVICE void kw_picked_step_multiply(kw_sums *sums, kw_picked *picked, char *lds, kw_ring *at, int first_row, int *before) {
    kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
    kw_step_pick(picked, lds, at->stage, first_row);
    kw_picked_multiply(sums, picked, lds, at->stage, 1);
    kw_wgmma_wait(1);
    kw_stage_give(lds, *before);
    *before = at->stage;
    kw_ring_step(at);
}

KW_DEVICE void kw_tile_multiply(kw_sums *sums, char *lds, kw_ring *at, int first_row, int count, int group, int more, const kw_gpu_args *a,
                                const kw_work *work) {
    kw_picked even, odd;
    int before = at->stage;
    (void)a, (void)work;
    kw_mbar_wait(kw_full_at(lds, at->stage), at->parity);
    kw_step_pick(&even, lds, at->stage, first_row);
    kw_picked_multiply(sums, &even, lds, at->stage, 0);
    kw_ring_step(at);
    for (int step = 1; step < count; step += 2) {
        kw_picked_step_multiply(sums, &odd, lds, at, first_row, &before);
        if (step + 1 == count) break;
        kw_picked_step_multiply(sums, &even, lds, at, first_row, &before);
    }
    if (KW_PINGPONG && more) kw_waves_arrive(KW_TURN_BARRIER(group ^ 1), 2 * KW_GROUP_THREADS);
    kw_wgmma_wait(0);
    kw_stage_give(lds, before);
    kw_sums_take(sums);
}

/* Each lane its own, element by element. */
KW_DEVICE void kw_part_put(const kw_gpu_args *a, const kw_work *work, const kw_sums *sums, int first_row, char *slice) {
    kw_i64 step = kw_picked_step(a) * 4;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int half = 0; half < 2; half++) {
            int first = kw_acc_col(kw_acc_lane(), 0), ok = 1, cols = (int)a->k - work->col - first;
            kw_i64 line = kw_picked_line(a, work, first_row + i * KW_INST_M + kw_picked_row(half), &ok);
            char *to = slice + line * 4 + (work->col + first) * step;
            cols = ok ? cols : 0;
            KW_UNROLL
            for (int col = 0; col < KW_TILE_N; col += 8) {
                kw_u32 w[2] = {kw_bits(sums->at[i].e[col / 2 + 2 * half]), kw_bits(sums->at[i].e[col / 2 + 2 * half + 1])};
                kw_store_below(col, cols, to, w, 4);
                kw_store_below(col + 1, cols, to + step, w + 1, 4);
                to = (char *)kw_pointer_keep(to + 8 * step); /* else the compiler works out a tile's worth of places ahead */
            }
        }
    }
}

#endif
