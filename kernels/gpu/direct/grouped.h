/* grouped.h: impl=grouped of direct.c. A block computes KW_TILE_H x KW_TILE_W pixels of KW_SRC_CHANNELS channels, whose source is in
 * shared memory as a whole. Groups stand side by side: a slab of KW_SLAB channels is a product of its own, coords x (taps, slab) by (taps,
 * slab) x slab, whose weights are zero between two groups; each phase of the result has its own taps.
 *
 * An instruction's depth may end inside a tap or reach over several: element k of a product's depth is channel k % KW_SLAB of tap k /
 * KW_SLAB. Behind the last tap weights are zero, and the source is read from that tap, so that nothing is multiplied that is no number. */
#ifndef KW_DIRECT_GROUPED_H
#define KW_DIRECT_GROUPED_H

#define KW_COORDS (KW_COORDS_H * KW_COORDS_W)
#define KW_PHASES (KW_SIDE * KW_SIDE)
#define KW_REPEAT_M KW_CEIL(KW_COORDS, KW_WAVES_Q *KW_INST_M) /* instructions of a wave along the coords */

#define KW_SLABS (KW_COLS / KW_SLAB) /* of a wave, one after another */
#define KW_REPEAT_N (KW_SLAB / KW_INST_N)

/* --- phases: taps along an axis, and of the i-th of them the row (column) of the filter and of a coord's source --- */

KW_DEVICE int kw_phase_taps(int phase) { return (KW_EXTENT - phase + KW_SIDE - 1) / KW_SIDE; }
KW_DEVICE int kw_phase_filter(int phase, int i) { return KW_DATA ? phase + KW_SIDE * (kw_phase_taps(phase) - 1 - i) : i; }
KW_DEVICE int kw_phase_source(int phase, int i) { return KW_REACH - kw_phase_taps(phase) + i; }

KW_DEVICE int kw_taps_of(int phase) { return kw_phase_taps(phase / KW_SIDE) * kw_phase_taps(phase % KW_SIDE); }
KW_DEVICE int kw_steps_of(int phase) { return KW_CEIL(kw_taps_of(phase) * KW_SLAB, KW_INST_K); }

#if KW_BRINGS
#include "gpu/direct/brought.h"
#else
#define KW_READS_PAIRS 0
/* --- weights, packed: slab, phase, step, instruction of the slab, lane, words --- */

KW_DEVICE kw_u32 kw_slab_weight(const kw_gpu_args *a, kw_i64 slab, kw_i64 to, int phase, int k) {
    int tap = k / KW_SLAB, across = kw_phase_taps(phase % KW_SIDE);
    kw_i64 from = slab + k % KW_SLAB;
    if (tap >= kw_taps_of(phase) || from / KW_CHANNELS != to / KW_CHANNELS) return 0;
    return kw_weight(a, to / KW_CHANNELS, from % KW_CHANNELS, to % KW_CHANNELS, kw_phase_filter(phase / KW_SIDE, tap / across),
                     kw_phase_filter(phase % KW_SIDE, tap % across));
}

KW_KERNEL(kw_stage0, KW_PACK_THREADS) {
    kw_i64 at = kw_block() * KW_PACK_THREADS + kw_thread();
    kw_begin();
    if (at >= args.params.packed) return;
    int lane = (int)(at % KW_WAVE), n = (int)(at / KW_WAVE % KW_REPEAT_N), step = (int)(at / (KW_WAVE * KW_REPEAT_N) % KW_STEPS), phase = 0;
    kw_i64 slab = at / (KW_WAVE * KW_REPEAT_N * KW_STEPS) * KW_SLAB;
    kw_u32 *words = (kw_u32 *)args.packed + at * KW_B_WORDS;
    while (step >= kw_steps_of(phase))
        step -= kw_steps_of(phase++);
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        kw_i64 to = slab + n * KW_INST_N + kw_frag_row_b(lane, i);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++) {
            int k = step * KW_INST_K + kw_frag_group(lane) * KW_KPL + j * KW_EPW;
            kw_u32 low = kw_slab_weight(&args, slab, to, phase, k), high = kw_slab_weight(&args, slab, to, phase, k + 1);
            words[kw_frag_word(KW_B_ROWS, i, j)] = high << 16 | low;
        }
    }
}

/* Of a lane and a phase. */
typedef const kw_u32 *kw_slab_weights;

KW_DEVICE void kw_read_weights(kw_frag_b *frag, kw_slab_weights packed, int n, int phase, int step) {
    kw_read_b(frag, packed + (step * KW_REPEAT_N + n) * (KW_WAVE * KW_B_WORDS));
}
#endif

/* --- a slab of a wave --- */

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
} kw_sums;

KW_DEVICE void kw_sums_clear(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++)
        sums->at[i / KW_ACC_N / KW_REPEAT_N][i / KW_ACC_N % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
}

/* The lane's first operand of a step: coords from `coord` on, channels of the slab that begins at channel col of the block. */
#if KW_BRINGS && KW_HAS_MMA
KW_DEVICE void kw_read_step(kw_frag_a *frag, const char *lds, int coord, int col, int phase, int step) {
    int k = step * KW_INST_K + kw_lane() / 16 * 8 % KW_INST_K, tap = kw_min(k / KW_SLAB, kw_taps_of(phase) - 1);
    int across = kw_phase_taps(phase % KW_SIDE), at = kw_min(coord + kw_lane() % 16, KW_COORDS - 1);
    int row = at / KW_COORDS_W * KW_STEP + kw_phase_source(phase / KW_SIDE, tap / across);
    int pixel = row * KW_SRC_W + at % KW_COORDS_W * KW_STEP + kw_phase_source(phase % KW_SIDE, tap % across);
    kw_matrix_read(frag->w, lds + kw_lds_at(pixel, col + k % KW_SLAB), KW_A_WORDS, 0);
}
#else
KW_DEVICE void kw_read_step(kw_frag_a *frag, const char *lds, int coord, int col, int phase, int step) {
    int k = step * KW_INST_K + kw_frag_group(kw_lane()) * KW_KPL, tap = kw_min(k / KW_SLAB, kw_taps_of(phase) - 1);
    int across = kw_phase_taps(phase % KW_SIDE);
    KW_UNROLL
    for (int i = 0; i < KW_A_ROWS; i++) {
        int at = KW_COORDS % (KW_WAVES_Q * KW_INST_M) ? kw_min(coord + kw_frag_row_a(kw_lane(), i), KW_COORDS - 1)
                                                      : coord + kw_frag_row_a(kw_lane(), i);
        int row = at / KW_COORDS_W * KW_STEP + kw_phase_source(phase / KW_SIDE, tap / across);
        int pixel = row * KW_SRC_W + at % KW_COORDS_W * KW_STEP + kw_phase_source(phase % KW_SIDE, tap % across);
        kw_read_a(frag, i, lds, pixel, col + k % KW_SLAB);
    }
}
#endif

/* A wave's weights, where it keeps them from tile to tile: steps of all phases, one phase behind the other. */
typedef struct kw_kept {
    kw_frag_b at[KW_KEEPS ? KW_SLABS * KW_STEPS : 1][KW_REPEAT_N];
} kw_kept;

/* coord: the wave's first; col: the slab's first channel in the block; weights: the slab's, or those kept from a number on. */
KW_DEVICE void kw_slab_run(kw_sums *sums, const char *lds, int coord, int col, int phase, kw_slab_weights weights, const kw_kept *kept,
                           const int from) {
    KW_UNROLL
    for (int step = 0; step < kw_steps_of(phase); step++) {
        kw_frag_b b[KW_REPEAT_N];
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++) {
#if KW_KEEPS
            b[n] = kept->at[from + step][n];
#elif KW_READS_PAIRS
            if (n % 2 == 0) kw_read_weights_pair(b + n, weights, n, phase, step);
#else
            kw_read_weights(&b[n], weights, n, phase, step);
#endif
        }
        KW_UNROLL
        for (int m = 0; m < KW_REPEAT_M; m++) {
            kw_frag_a a;
            kw_read_step(&a, lds, coord + m * KW_INST_M, col, phase, step);
            KW_UNROLL
            for (int n = 0; n < KW_REPEAT_N; n++)
                kw_mma(&sums->at[m][n], &a, &b[n]);
        }
    }
}

/* Sums that a lane stores together: an instruction of NVIDIA's leaves it pairs of channels. */
#define KW_STORES (KW_BRINGS && KW_HAS_MMA && KW_STORE == KW_STORE_LDS && !KW_EPILOGUE ? 2 : 1)

/* To the result, or to shared memory behind the source. */
KW_DEVICE void kw_slab_store(const kw_image *v, kw_position at, const kw_sums *sums, char *lds, int coord, int col, int phase) {
    KW_UNROLL
    for (int m = 0; m < KW_REPEAT_M; m++) {
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++) {
            KW_UNROLL
            for (int e = 0; e < KW_ACC_N; e += KW_STORES) {
                int i = coord + m * KW_INST_M + kw_acc_row(kw_lane(), e), channel = col + n * KW_INST_N + kw_acc_col(kw_lane(), e);
                int row = i / KW_COORDS_W * KW_SIDE + phase / KW_SIDE, across = i % KW_COORDS_W * KW_SIDE + phase % KW_SIDE;
                if (KW_COORDS % (KW_WAVES_Q * KW_INST_M) && i >= KW_COORDS) continue;
#if KW_STORE == KW_STORE_LDS && KW_EPILOGUE
                int element;
                if (kw_result_at(v, at, row, across, channel, &element))
                    kw_finish_run(lds + KW_OUT_AT + kw_lds_at(row * KW_TILE_W + across, channel), v->args,
                                  kw_image_place(v, element, at.channel + channel), &sums->at[m][n].e[e], 1);
#elif KW_STORE == KW_STORE_LDS
                kw_store_result(lds + KW_OUT_AT + kw_lds_at(row * KW_TILE_W + across, channel), &sums->at[m][n].e[e], KW_STORES);
#else
                int element;
                if (kw_result_at(v, at, row, across, channel, &element))
                    kw_image_store(v, element, at.channel + channel, sums->at[m][n].e[e]);
#endif
            }
        }
    }
}

#if KW_STORE == KW_STORE_LDS
KW_DEVICE void kw_result_store(const kw_image *v, kw_position at, const char *lds) {
    for (int run = kw_thread(); run < KW_TILE_H * KW_TILE_W * KW_PIXEL_RUNS; run += KW_THREADS) {
        int pixel = run / KW_PIXEL_RUNS, channel = run % KW_PIXEL_RUNS * KW_VEC, element;
        kw_u32 words[KW_RUN_WORDS];
        if (!kw_result_at(v, at, pixel / KW_TILE_W, pixel % KW_TILE_W, channel, &element)) continue;
        kw_load_run(words, lds + KW_OUT_AT + kw_lds_at(pixel, channel), KW_VEC * KW_BYTES);
        kw_store_run(v->result + element * KW_BYTES, words, KW_VEC * KW_BYTES);
    }
}
#endif

#if KW_STAYS
#include "gpu/direct/staying.h"
#else
#if KW_BRINGS
KW_KERNEL(kw_stage0, KW_THREADS) {
#else
KW_KERNEL(kw_stage1, KW_THREADS) {
#endif
    KW_LDS(KW_GROUPED_LDS_BYTES);
#if !KW_BRINGS
    kw_begin();
#endif
    kw_position at = kw_position_of(&args, kw_block(), KW_SRC_CHANNELS);
    kw_image image = kw_image_of(&args, at);
    int wave_col = kw_wave() % KW_WAVES_C * KW_COLS, coord = kw_wave() / KW_WAVES_C * (KW_REPEAT_M * KW_INST_M);
#if KW_BRINGS
    kw_begin(); /* where the block's tile lies needs nothing of the launch before */
    kw_tile_load(kw_lds, &args, &image, at);
#else
    kw_source_load(kw_lds, &image, image.top, at.channel, kw_thread());
#endif
    kw_barrier();
    for (int slab = 0; slab < KW_SLABS; slab++) {
        int col = wave_col + slab * KW_SLAB;
        if (at.channel + col >= image.result_c) break;
#if KW_BRINGS
        kw_slab_weights weights = kw_lds + KW_BROUGHT_AT + col * (KW_BROUGHT_ROW * KW_BYTES);
#else
        kw_slab_weights weights = (const kw_u32 *)args.packed +
                                  ((kw_i64)((at.channel + col) / KW_SLAB) * (KW_STEPS * KW_REPEAT_N * KW_WAVE) + kw_lane()) * KW_B_WORDS;
#endif
        KW_UNROLL
        for (int phase = 0; phase < KW_PHASES; phase++) {
            kw_sums sums;
            kw_sums_clear(&sums);
            kw_slab_run(&sums, kw_lds, coord, col, phase, weights, 0, 0);
            kw_slab_store(&image, at, &sums, kw_lds, coord, col, phase);
#if !KW_BRINGS
            weights += kw_steps_of(phase) * (KW_REPEAT_N * KW_WAVE * KW_B_WORDS);
#endif
        }
    }
#if KW_STORE == KW_STORE_LDS
    kw_barrier();
    kw_result_store(&image, at, kw_lds);
#endif
}
#endif

#endif
