/* pipeline.h: the loop over a tile's steps. A step brings KW_TILE_K of both operands into shared memory and multiplies them. The pipelines
 * differ in how far ahead of its multiplication a step is loaded, where it waits, and which waves do what:
 *
 *   pipe            tiles in registers  in LDS   roles of waves
 *   basic_v1                 1            1      all the same; loads the next step while it multiplies this one
 *   mem                    2..8         1, 2     all the same; as many steps under way as hide the memory's latency
 *   compv3                   2          1, 2     all the same; fragments of a step are read while the one before is multiplied
 *   compv4                   2            2      all the same; stores one tile while it multiplies the other, one barrier a step
 *   compv5                   1          1, 2     two groups of waves take steps in turn: one loads and reads while the other multiplies
 *   compv6                   3          1, 2     all the same; inside a step the next fragments are read before the last are multiplied
 *   comp_async               -            2      all the same; copies into one tile while it multiplies the other
 *   basic_async_v1           -            1      all the same; copies the next step while it multiplies from registers
 *   wavelet                  1            1      four more waves only load and store tiles; the others only multiply
 *
 * (A second tile in LDS by the axis stages saves the barrier before a store.) Every thread of a block passes the same barriers.
 *
 * Loops begin before step 0, with steps that only load, so that what a load, a store and a product are made of stands in a kernel once:
 * their text, unrolled, is most of what a compiler has to do, and as much again before a loop and after it costs registers too. */
#ifndef KW_PIPELINE_H
#define KW_PIPELINE_H

#if KW_PTX
#include "gpu/matrix/mma_ptx.h"
#elif KW_AMD
#include "gpu/matrix/mma_amd.h"
#else
#include "gpu/matrix/mma_emu.h"
#endif

/* --- sums and fragments of a wave --- */

enum { KW_REPEAT_M = KW_WAVE_REPEATS_M };
enum { KW_REPEAT_N = KW_WAVE_REPEATS_N };
enum { KW_REPEAT_K = KW_WAVE_REPEATS_K };

typedef struct kw_sums {
    kw_acc at[KW_REPEAT_M][KW_REPEAT_N];
#if KW_X_ZERO
    kw_acc of_zero[KW_REPEAT_N]; /* of rows that have the zero point everywhere: what is taken off every row at the end */
    kw_u32 zero;                 /* it, in each byte */
#endif
#if KW_W_ZERO
    kw_acc of_x[KW_REPEAT_M]; /* of each row of the first operand, in every column: by these w's zero points are multiplied at the end */
    int depth;                /* elements in such a sum */
#endif
} kw_sums;

/* Of one instruction's depth. */
typedef struct kw_frags {
    kw_frag_a a[KW_REPEAT_M];
    kw_frag_b b[KW_REPEAT_N];
} kw_frags;

/* Place of a wave among those that multiply the same tile. Repeats of the waves' pattern follow each other, so that the first repeat of all
 * waves is the tile's upper left corner. */
typedef struct kw_wave_coord {
    int m, n, k;
} kw_wave_coord;

KW_DEVICE kw_wave_coord kw_wave_coord_of(int wave) {
    kw_wave_coord wave_coord;
    wave_coord.n = wave % KW_WAVE_N;
    wave_coord.m = wave / KW_WAVE_N % KW_WAVE_M;
    wave_coord.k = wave / (KW_WAVE_N * KW_WAVE_M) % KW_WAVE_K;
    return wave_coord;
}

KW_DEVICE int kw_row_of(kw_wave_coord wave_coord, int repeat) { return (repeat * KW_WAVE_M + wave_coord.m) * KW_INST_M; }
KW_DEVICE int kw_col_of(kw_wave_coord wave_coord, int repeat) { return (repeat * KW_WAVE_N + wave_coord.n) * KW_INST_N; }

/* Fragments of instruction number kk of a step. */
KW_DEVICE void kw_frags_read(kw_frags *f, const char *stage, kw_wave_coord wave_coord, int kk) {
    int k = (wave_coord.k * KW_REPEAT_K + kk) * KW_INST_K;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_read_a(&f->a[i], stage, kw_row_of(wave_coord, i), k);
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j += KW_B_TOGETHER)
        kw_read_b(&f->b[j], stage, kw_col_of(wave_coord, j), k);
#if KW_TF32
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_round_tf32(f->a[i].w, KW_A_WORDS);
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j++)
        kw_round_tf32(f->b[j].w, KW_B_WORDS);
#endif
}

#if KW_X_ZERO
KW_DEVICE void kw_zero_multiply(kw_sums *sums, const kw_frags *f) {
    kw_frag_a rows;
    KW_UNROLL
    for (int w = 0; w < KW_A_WORDS; w++)
        rows.w[w] = sums->zero;
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j++)
        kw_mma(&sums->of_zero[j], &rows, &f->b[j]);
}

KW_DEVICE void kw_zero_start(kw_sums *sums, kw_u32 zero) {
    sums->zero = zero;
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sums->of_zero[j].e[e] = 0;
    }
}

/* Of each wave's own share of the depth, before shares are added. */
KW_DEVICE void kw_zero_take(kw_sums *sums) {
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++) {
            KW_UNROLL
            for (int e = 0; e < KW_ACC_N; e++)
                sums->at[i][j].e[e] -= sums->of_zero[j].e[e];
        }
    }
}
#endif

#if KW_W_ZERO
/* The sum of (x - zx) (w - zw) is that of (x - zx) w less zw times that of x - zx, of which padding has none: there x is zx, or where copies that pass
 * no registers bring a product's operands, 0, and is not counted. */
KW_DEVICE void kw_x_sums_multiply(kw_sums *sums, const kw_frags *f) {
    kw_frag_b ones;
    KW_UNROLL
    for (int w = 0; w < KW_B_WORDS; w++)
        ones.w[w] = 0x01010101u;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++)
        kw_mma(&sums->of_x[i], &f->a[i], &ones);
    sums->depth += KW_INST_K;
}

KW_DEVICE void kw_x_sums_start(kw_sums *sums) {
    sums->depth = 0;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sums->of_x[i].e[e] = 0;
    }
}

/* begins: of those who have a part of the depth each, the first. */
KW_DEVICE void kw_x_sums_take(kw_sums *sums, const kw_view *view, kw_wave_coord wave_coord, int begins) {
#if KW_X_ZERO && KW_ASYNC
    int of_zero = begins ? KW_X_ZERO_OF(view->args) * view->depth : 0;
#elif KW_X_ZERO
    int of_zero = KW_X_ZERO_OF(view->args) * sums->depth;
#else
    const int of_zero = 0;
#endif
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++) {
            int col = view->col + kw_col_of(wave_coord, j) + kw_acc_col(kw_acc_lane(), e), ok = 1;
            kw_result_col(view, col, &ok);
            int zero = ok ? kw_w_zero(view->args, kw_result_channel(view, col)) : 0;
            KW_UNROLL
            for (int i = 0; i < KW_REPEAT_M; i++)
                sums->at[i][j].e[e] -= zero * (sums->of_x[i].e[e] - of_zero);
        }
    }
}
#endif

KW_DEVICE void kw_frags_multiply(kw_sums *sums, const kw_frags *f) {
#if KW_X_ZERO
    kw_zero_multiply(sums, f);
#endif
#if KW_W_ZERO
    kw_x_sums_multiply(sums, f);
#endif
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++)
            kw_mma(&sums->at[i][j], &f->a[i], &f->b[j]);
    }
}

/* --- the steps of a block --- */

#include "gpu/pipeline/steps.h"

KW_DEVICE char *kw_stage_at(const kw_steps *s, int step) { return s->lds + (KW_STAGES == 2 ? step % 2 * KW_STAGE_BYTES : 0); }

/* Each step once, in their order. Steps beyond the last are not loaded. */
KW_DEVICE void kw_step_load(kw_raw *raw, kw_steps *s, int step) {
    if (step < s->count) kw_load(raw, s->view, &s->loader, s->first + step * KW_TILE_K);
}

/* Makes a tile readable for all. With one stage the one before must have been read by all; with two, that was a barrier ago. */
KW_DEVICE void kw_step_put(const kw_steps *s, const kw_raw *raw, int step) {
    if (KW_STAGES == 1) kw_barrier();
    kw_put(kw_stage_at(s, step), &s->loader, raw);
    kw_barrier();
}

enum { KW_CLUSTERS = KW_STEP_CLUSTERS(KW_REPEAT_K) };
enum { KW_CLUSTER = KW_REPEAT_K / KW_CLUSTERS };

/* All fragments of a cluster first, then all its products. Interwave: those who multiply go before those who still read, and the barrier
 * keeps the waves of a block a cluster apart at most, so that on each multiprocessor some read while others multiply. */
KW_DEVICE void kw_step_multiply_clusters(kw_sums *sums, const char *stage, kw_wave_coord wave_coord) {
    kw_frags f[KW_CLUSTER];
    KW_UNROLL
    for (int c = 0; c < KW_CLUSTERS; c++) {
        KW_UNROLL
        for (int kk = 0; kk < KW_CLUSTER; kk++)
            kw_frags_read(&f[kk], stage, wave_coord, c * KW_CLUSTER + kk);
        kw_sched_fence();
        if (c > 0) kw_barrier();
        kw_priority(1);
        KW_UNROLL
        for (int kk = 0; kk < KW_CLUSTER; kk++)
            kw_frags_multiply(sums, &f[kk]);
        kw_priority(0);
        kw_sched_fence();
    }
}

/* One instruction's fragments after the other; the compiler mixes reads and products. */
KW_DEVICE void kw_step_multiply_plain(kw_sums *sums, const char *stage, kw_wave_coord wave_coord) {
    kw_frags f;
    KW_UNROLL
    for (int kk = 0; kk < KW_REPEAT_K; kk++) {
        kw_frags_read(&f, stage, wave_coord, kk);
        kw_frags_multiply(sums, &f);
    }
}

KW_DEVICE void kw_step_multiply(kw_sums *sums, const kw_steps *s, int step) {
#if KW_SCHED == KW_SCHED_INTERWAVE
    kw_step_multiply_clusters(sums, kw_stage_at(s, step), s->wave_coord);
#else
    kw_step_multiply_plain(sums, kw_stage_at(s, step), s->wave_coord);
#endif
}

#if KW_PRESHUFFLE /* basic_v1 with one tile of the first operand in shared memory, compv4 with two */

/* A lane's fragments of the second operand for a step: they follow each other in memory, lane by lane, step by step, columns by columns. */
enum { KW_SHUFFLED_WORDS = KW_REPEAT_K * KW_B_WORDS };
typedef struct kw_shuffled {
    kw_u32 w[KW_REPEAT_N][KW_SHUFFLED_WORDS];
} kw_shuffled;

KW_DEVICE void kw_shuffled_load(kw_shuffled *b, const kw_steps *s, int step) {
    int all = KW_CEIL(s->view->depth, KW_TILE_K), at = s->first / KW_TILE_K + step;
    if (step >= s->count) return;
    KW_UNROLL
    for (int j = 0; j < KW_REPEAT_N; j++) {
        kw_i64 cols = (s->view->col + kw_col_of(s->wave_coord, j)) / KW_INST_N;
        const char *from = s->view->shuffled + ((cols * all + at) * KW_WAVE + kw_lane()) * (KW_SHUFFLED_WORDS * 4);
        KW_UNROLL
        for (int word = 0; word < KW_SHUFFLED_WORDS; word += 4)
            kw_load_run(&b->w[j][word], from + word * 4, 16);
    }
}

KW_DEVICE void kw_step_multiply_shuffled(kw_sums *sums, const kw_steps *s, int step, const kw_shuffled *b) {
    kw_frags f;
    KW_UNROLL
    for (int kk = 0; kk < KW_REPEAT_K; kk++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++)
            kw_read_a(&f.a[i], kw_stage_at(s, step), kw_row_of(s->wave_coord, i), kk * KW_INST_K);
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++) {
            KW_UNROLL
            for (int word = 0; word < KW_B_WORDS; word++)
                f.b[j].w[word] = b->w[j][kk * KW_B_WORDS + word];
        }
        kw_frags_multiply(sums, &f);
    }
}

KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw;
    kw_shuffled now, next;
    kw_step_load(&raw, s, 0);
    kw_shuffled_load(&next, s, 0);
    for (int step = 0; step < s->count; step++) {
        kw_step_put(s, &raw, step);
        now = next;
        kw_step_load(&raw, s, step + 1);
        kw_shuffled_load(&next, s, step + 1);
        kw_step_multiply_shuffled(sums, s, step, &now);
    }
}

#elif KW_PIPE == KW_PIPE_BASIC_V1
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw;
    for (int step = -1; step < s->count; step++) {
        if (step >= 0) kw_step_put(s, &raw, step);
        kw_step_load(&raw, s, step + 1);
        if (step >= 0) kw_step_multiply(sums, s, step);
    }
}

#elif KW_PIPE == KW_PIPE_MEM
enum { KW_MEM_FILL = KW_CEIL(KW_MEM_BYTES / KW_MEM_SHARERS(KW_THREADS), KW_STAGE_BYTES) };
enum { KW_MEM_HOLD = KW_MEM_WORDS / (KW_RAW_WORDS_A + KW_RAW_WORDS_B) };
enum { KW_MEM_WANTED = KW_MEM_FILL < KW_MEM_HOLD ? KW_MEM_FILL : KW_MEM_HOLD };
enum { KW_MEM_STEPS = KW_MEM_STEPS_OF(KW_MEM_WANTED) };

KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw[KW_MEM_STEPS];
    for (int first = -KW_MEM_STEPS; first < s->count; first += KW_MEM_STEPS) {
        KW_UNROLL
        for (int i = 0; i < KW_MEM_STEPS; i++) {
            int step = first + i, there = first >= 0 && step < s->count;
            if (there) kw_step_put(s, &raw[i], step);
            kw_step_load(&raw[i], s, step + KW_MEM_STEPS);
            if (there) kw_step_multiply(sums, s, step);
        }
    }
}

#elif KW_PIPE == KW_PIPE_COMPV3
/* The order that the scheduler is asked for: after each few products one read of fragments, one store of the next tile, one load. */
KW_DEVICE void kw_steps_hint(void) {
    KW_UNROLL
    for (int i = 0; i < KW_CHUNKS_A + KW_CHUNKS_B; i++) {
        kw_sched(KW_SCHED_LDS_WRITE, 1);
        kw_sched(KW_SCHED_MMA, 1);
        kw_sched(KW_SCHED_LOAD, 1);
        kw_sched(KW_SCHED_MMA, 1);
    }
}

KW_DEVICE void kw_frags_read_all(kw_frags f[KW_REPEAT_K], const char *stage, kw_wave_coord wave_coord) {
    KW_UNROLL
    for (int kk = 0; kk < KW_REPEAT_K; kk++)
        kw_frags_read(&f[kk], stage, wave_coord, kk);
}

KW_DEVICE void kw_frags_multiply_all(kw_sums *sums, const kw_frags f[KW_REPEAT_K]) {
    KW_UNROLL
    for (int kk = 0; kk < KW_REPEAT_K; kk++)
        kw_frags_multiply(sums, &f[kk]);
}

/* Products are of fragments that were read in the step before, shared memory holds the next step and registers the one after it. */
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw;
    kw_frags f[KW_REPEAT_K];
    for (int step = -1; step <= s->count; step++) {
        int there = step >= 0 && step < s->count;
        if (there) {
            if (KW_STAGES == 1 && step > 0) kw_barrier();
            kw_put(kw_stage_at(s, step), &s->loader, &raw);
        }
        kw_step_load(&raw, s, step + 1);
        if (step > 0) {
            kw_frags_multiply_all(sums, f);
            kw_steps_hint();
        }
        if (there) {
            kw_barrier();
            kw_frags_read_all(f, kw_stage_at(s, step), s->wave_coord);
        }
    }
}

#elif KW_PIPE == KW_PIPE_COMPV4
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw;
    for (int step = -2; step < s->count; step++) {
        if (step + 1 >= 0 && step + 1 < s->count) kw_put(kw_stage_at(s, step + 1), &s->loader, &raw);
        kw_step_load(&raw, s, step + 2);
        if (step >= 0) kw_step_multiply(sums, s, step);
        kw_barrier();
    }
}

#elif KW_PIPE == KW_PIPE_COMPV5
/* Steps of one group have the numbers group, group + 2, ...; in phase p the group p % 2 fills shared memory and reads its fragments while
 * the other multiplies those that it read a phase before. Each group has its own sums of half the depth, which are added at the end. */
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    int group = kw_wave() / KW_MATH_WAVES;
    kw_raw raw;
    kw_frags f[KW_REPEAT_K];
    kw_step_load(&raw, s, group);
    for (int phase = 0; phase < s->count + 1; phase++) {
        int mine = phase % 2 == group;
        if (mine && phase < s->count) kw_put(kw_stage_at(s, phase), &s->loader, &raw);
        kw_barrier();
        if (mine && phase < s->count) {
            kw_step_load(&raw, s, phase + 2);
            KW_UNROLL
            for (int kk = 0; kk < KW_REPEAT_K; kk++)
                kw_frags_read(&f[kk], kw_stage_at(s, phase), s->wave_coord, kk);
        } else if (!mine && phase > 0) {
            kw_priority(1);
            KW_UNROLL
            for (int kk = 0; kk < KW_REPEAT_K; kk++)
                kw_frags_multiply(sums, &f[kk]);
            kw_priority(0);
        }
        if (KW_STAGES == 1) kw_barrier();
    }
}

#elif KW_PIPE == KW_PIPE_COMPV6

/* Two sets of fragments: one is read while the other is multiplied. */
KW_DEVICE void kw_step_multiply_ahead(kw_sums *sums, const char *stage, kw_wave_coord wave_coord) {
    kw_frags f[2];
    kw_frags_read(&f[0], stage, wave_coord, 0);
    KW_UNROLL
    for (int kk = 0; kk < KW_REPEAT_K; kk++) {
        if (kk + 1 < KW_REPEAT_K) kw_frags_read(&f[(kk + 1) % 2], stage, wave_coord, kk + 1);
        kw_frags_multiply(sums, &f[kk % 2]);
    }
}

KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_raw raw[KW_V6_STEPS];
    for (int first = -KW_V6_STEPS; first < s->count; first += KW_V6_STEPS) {
        KW_UNROLL
        for (int i = 0; i < KW_V6_STEPS; i++) {
            int step = first + i, there = first >= 0 && step < s->count;
            if (there) kw_step_put(s, &raw[i], step);
            kw_step_load(&raw[i], s, step + KW_V6_STEPS);
            if (there) kw_step_multiply_ahead(sums, kw_stage_at(s, step), s->wave_coord);
        }
    }
}

#elif KW_PIPE == KW_PIPE_COMP_ASYNC
KW_DEVICE void kw_step_copy(kw_steps *s, int step) {
    kw_copy(kw_stage_at(s, step), s->view, &s->loader, s->first + step * KW_TILE_K);
    kw_async_commit();
}

KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    for (int step = -1; step < s->count; step++) {
        if (step + 1 < s->count) kw_step_copy(s, step + 1);
        if (step >= 0) {
            if (step + 1 < s->count)
                kw_async_wait(1, KW_TILE_COPIES);
            else
                kw_async_wait(0, KW_TILE_COPIES);
            kw_barrier(); /* what every thread waited for is there for all */
            kw_step_multiply(sums, s, step);
            kw_barrier(); /* and may be overwritten */
        }
    }
}

#elif KW_PIPE == KW_PIPE_BASIC_ASYNC_V1
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    kw_frags f[KW_REPEAT_K];
    for (int step = -1; step < s->count; step++) {
        if (step >= 0) {
            kw_async_wait(0, KW_TILE_COPIES);
            kw_barrier();
            KW_UNROLL
            for (int kk = 0; kk < KW_REPEAT_K; kk++)
                kw_frags_read(&f[kk], s->lds, s->wave_coord, kk);
            kw_barrier();
        }
        if (step + 1 < s->count) {
            kw_copy(s->lds, s->view, &s->loader, s->first + (step + 1) * KW_TILE_K);
            kw_async_commit();
        }
        if (step >= 0) {
            KW_UNROLL
            for (int kk = 0; kk < KW_REPEAT_K; kk++)
                kw_frags_multiply(sums, &f[kk]);
        }
    }
}

#else /* wavelet */
KW_DEVICE void kw_steps_run(kw_sums *sums, kw_steps *s) {
    if (kw_wave() >= KW_MATH_WAVES) {
        kw_raw raw;
        for (int step = -1; step < s->count; step++) {
            if (step >= 0) kw_step_put(s, &raw, step);
            kw_step_load(&raw, s, step + 1);
        }
    } else {
        for (int step = 0; step < s->count; step++) {
            kw_barrier(); /* the two of kw_step_put */
            kw_barrier();
            kw_step_multiply(sums, s, step);
        }
    }
}
#endif

#endif
