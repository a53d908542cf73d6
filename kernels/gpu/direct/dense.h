/* dense.h: impl=dense of direct.c, one group. The source channels are divided among KW_WAVES_C waves, each of which has KW_SLICES
 * slices of 32 and keeps their filters, all nine taps by KW_COLS result channels, in registers from beginning to end. A block walks down
 * KW_TILE_H rows of the result: a source row comes to shared memory while the one before is multiplied, and a pixel that a wave reads there
 * serves all the rows of the filter at once, because the sums of as many result rows are open. A step of the walk
 *
 *   loads the next source rows (KW_STEP of them) to registers      multiplies those in shared memory
 *   puts the row that is complete, in parts of waves, to shared memory, and the loaded rows into the other half     one barrier
 *   adds the parts, always in the order of the waves, and stores them
 *
 * and the next step writes to the other halves, so one barrier is enough. Along a row KW_WAVES_Q waves share the coords. */
#ifndef KW_DIRECT_DENSE_H
#define KW_DIRECT_DENSE_H

#define KW_WAVE_COORDS (KW_COORDS_W / KW_WAVES_Q)
#define KW_REPEAT_M (KW_WAVE_COORDS / KW_INST_M)
#define KW_REPEAT_N (KW_COLS / KW_INST_N)
#define KW_PHASES (KW_SIDE * KW_SIDE)

/* --- weights, packed: columns of a block, wave, slice, tap, depth, instruction, lane, words --- */

KW_KERNEL(kw_stage0, KW_PACK_THREADS) {
    kw_i64 at = kw_block() * KW_PACK_THREADS + kw_thread(), rest = at / KW_WAVE;
    kw_begin();
    if (at >= args.params.packed) return;
    int lane = (int)(at % KW_WAVE), n = (int)(rest % KW_REPEAT_N), depth = (int)(rest / KW_REPEAT_N % KW_DEPTHS);
    rest /= KW_REPEAT_N * KW_DEPTHS;
    int tap = (int)(rest % KW_TAPS), slice = (int)(rest / KW_TAPS % (KW_SLICES * KW_WAVES_C));
    kw_i64 cols = rest / (KW_TAPS * KW_SLICES * KW_WAVES_C) * KW_COLS;
    kw_u32 *words = (kw_u32 *)args.packed + at * KW_B_WORDS;
    KW_UNROLL
    for (int i = 0; i < KW_B_ROWS; i++) {
        kw_i64 to = cols + n * KW_INST_N + kw_frag_row_b(lane, i);
        KW_UNROLL
        for (int j = 0; j < KW_ROW_WORDS; j++) {
            kw_i64 from = slice * KW_CHANNELS + depth * KW_INST_K + kw_frag_group(lane) * KW_KPL + j * KW_EPW;
            kw_u32 low = kw_weight(&args, 0, from, to, tap / KW_EXTENT, tap % KW_EXTENT);
            kw_u32 high = kw_weight(&args, 0, from + 1, to, tap / KW_EXTENT, tap % KW_EXTENT);
            words[kw_frag_word(KW_B_ROWS, i, j)] = high << 16 | low;
        }
    }
}

typedef struct kw_filter {
    kw_frag_b at[KW_SLICES][KW_TAPS][KW_DEPTHS][KW_REPEAT_N];
} kw_filter;

/* packed: the lane's words of the wave's first instruction. */
KW_DEVICE void kw_filter_read(kw_filter *filter, const kw_u32 *packed) {
    KW_UNROLL
    for (int i = 0; i < KW_DENSE_SHARES; i++)
        kw_read_b(&filter->at[i / KW_REPEAT_N / KW_DEPTHS / KW_TAPS][i / KW_REPEAT_N / KW_DEPTHS % KW_TAPS][i / KW_REPEAT_N % KW_DEPTHS]
                             [i % KW_REPEAT_N],
                  packed + i * (KW_WAVE * KW_B_WORDS));
}

/* --- sums: of the phases, row by row and column by column, for each open row; row 0 is complete after this step --- */

typedef struct kw_row_sums {
    kw_acc at[KW_SIDE][KW_SIDE][KW_REPEAT_M][KW_REPEAT_N];
} kw_row_sums;

typedef struct kw_sums {
    kw_row_sums open[KW_OPEN];
} kw_sums;

KW_DEVICE void kw_row_clear(kw_row_sums *row) {
    KW_UNROLL
    for (int i = 0; i < KW_PHASES * KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++) {
        int share = i / KW_ACC_N, m = share / KW_REPEAT_N, phase = m / KW_REPEAT_M;
        row->at[phase / KW_SIDE][phase % KW_SIDE][m % KW_REPEAT_M][share % KW_REPEAT_N].e[i % KW_ACC_N] = 0;
    }
}

/* One by one, since an array that is copied as a whole stays in memory. */
KW_DEVICE void kw_row_move(kw_row_sums *to, const kw_row_sums *from) {
    KW_UNROLL
    for (int i = 0; i < KW_PHASES * KW_REPEAT_M * KW_REPEAT_N * KW_ACC_N; i++) {
        int e = i % KW_ACC_N, n = i / KW_ACC_N % KW_REPEAT_N, m = i / KW_ACC_N / KW_REPEAT_N % KW_REPEAT_M;
        int phase = i / KW_ACC_N / KW_REPEAT_N / KW_REPEAT_M;
        to->at[phase / KW_SIDE][phase % KW_SIDE][m][n].e[e] = from->at[phase / KW_SIDE][phase % KW_SIDE][m][n].e[e];
    }
}

/* The row of the filter by which row `source` of a step's source rows (0 .. KW_STEP - 1) meets an open row's phase; beyond 2: none does. */
KW_DEVICE int kw_filter_row(int open, int phase, int source) {
    return KW_DATA ? phase + KW_SIDE * open : source + KW_STEP * (KW_OPEN - 1 - open);
}

/* And the column by which source column q of a coord's meets a phase. */
KW_DEVICE int kw_filter_col(int phase, int q) { return KW_DATA ? phase + KW_SIDE * (KW_REACH - 1 - q) : q; }

/* All that a fragment of the source meets: a row of the step, column q of the coords, a depth of a slice, coords of instruction m. */
KW_DEVICE void kw_meet(kw_sums *sums, const kw_filter *filter, const kw_frag_a *a, int source, int q, int slice, int depth, int m) {
    KW_UNROLL
    for (int i = 0; i < KW_OPEN * KW_PHASES; i++) {
        int open = i / KW_PHASES, down = i % KW_PHASES / KW_SIDE, across = i % KW_SIDE;
        int row = kw_filter_row(open, down, source), col = kw_filter_col(across, q);
        if (row >= KW_EXTENT || col >= KW_EXTENT) continue;
        KW_UNROLL
        for (int n = 0; n < KW_REPEAT_N; n++)
            kw_mma(&sums->open[open].at[down][across][m][n], a, &filter->at[slice][row * KW_EXTENT + col][depth][n]);
    }
}

/* lds: the step's source rows; coord: the wave's first in the row; channel: its first source channel. */
KW_DEVICE void kw_step_run(kw_sums *sums, const kw_filter *filter, const char *lds, int coord, int channel) {
    KW_UNROLL
    for (int i = 0; i < KW_STEP * KW_REACH; i++) {
        int source = i / KW_REACH, q = i % KW_REACH;
        KW_UNROLL
        for (int d = 0; d < KW_SLICES * KW_DEPTHS; d++) {
            KW_UNROLL
            for (int m = 0; m < KW_REPEAT_M; m++) {
                kw_frag_a a;
                KW_UNROLL
                for (int r = 0; r < KW_A_ROWS; r++) {
                    int at = (coord + m * KW_INST_M + kw_frag_row_a(kw_lane(), r)) * KW_STEP + q;
                    kw_read_a(&a, r, lds, source * KW_SRC_W + at, channel + d * KW_INST_K + kw_frag_group(kw_lane()) * KW_KPL);
                }
                kw_meet(sums, filter, &a, source, q, d / KW_DEPTHS, d % KW_DEPTHS, m);
            }
        }
    }
}

/* --- results --- */

/* Where they pass shared memory: because waves share a sum, or for wider stores. Parts of the waves, each in lanes' order (store=registers:
 * phase, instruction, lane, sum) or in that of the result (store=lds: phase, coord, channel). */
#define KW_WAVE_SHARE (KW_PHASES * KW_REPEAT_M * KW_REPEAT_N) /* instructions of a wave's part of a row */

/* A sum of a wave's part: which instruction, and of that which sum of which lane; where it belongs in the tile's rows of the step. */
typedef struct kw_coord {
    int row, col, channel;
} kw_coord;

KW_DEVICE kw_coord kw_coord_of(int share, int wave_q, int lane, int e) {
    int n = share % KW_REPEAT_N, m = share / KW_REPEAT_N % KW_REPEAT_M, phase = share / KW_REPEAT_N / KW_REPEAT_M;
    kw_coord s;
    s.row = phase / KW_SIDE;
    s.col = (wave_q * KW_WAVE_COORDS + m * KW_INST_M + kw_acc_row(lane, e)) * KW_SIDE + phase % KW_SIDE;
    s.channel = n * KW_INST_N + kw_acc_col(lane, e);
    return s;
}

KW_DEVICE void kw_coord_store(const kw_image *v, kw_position at, int row, kw_coord s, kw_sum sum) {
    int element;
    if (kw_result_at(v, at, row + s.row, s.col, s.channel, &element)) kw_image_store(v, element, at.channel + s.channel, sum);
}

/* row: the first of the tile's rows that are complete. */
KW_DEVICE void kw_row_put(const kw_image *v, kw_position at, const kw_row_sums *sums, float *parts, int row) {
    int wave_c = kw_wave() / KW_WAVES_Q, wave_q = kw_wave() % KW_WAVES_Q;
    KW_UNROLL
    for (int share = 0; share < KW_WAVE_SHARE; share++) {
        int n = share % KW_REPEAT_N, m = share / KW_REPEAT_N % KW_REPEAT_M, phase = share / KW_REPEAT_N / KW_REPEAT_M;
        const kw_acc *acc = &sums->at[phase / KW_SIDE][phase % KW_SIDE][m][n];
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++) {
#if KW_STORE == KW_STORE_LDS
            kw_coord s = kw_coord_of(share, wave_q, kw_lane(), e);
            parts[wave_c * KW_ROW_SUMS + (s.row * KW_TILE_W + s.col) * KW_COLS + s.channel] = acc->e[e];
#elif KW_SHARED
            parts[wave_c * KW_ROW_SUMS + ((wave_q * KW_WAVE_SHARE + share) * KW_WAVE + kw_lane()) * KW_ACC_N + e] = acc->e[e];
#else
            kw_coord_store(v, at, row, kw_coord_of(share, wave_q, kw_lane(), e), acc->e[e]);
#endif
        }
    }
}

#if KW_SHARED
KW_DEVICE float kw_parts_sum(const float *parts, int i) {
    float sum = parts[i];
    KW_UNROLL
    for (int wave = 1; wave < KW_WAVES_C; wave++)
        sum += parts[wave * KW_ROW_SUMS + i];
    return sum;
}

#define KW_LDS_RUN (KW_VEC * KW_OUT_BYTES > 16 ? 16 / KW_OUT_BYTES : KW_VEC) /* sums that a thread stores together */
KW_DEVICE void kw_row_store(const kw_image *v, kw_position at, const float *parts, int row) {
    const int run = KW_STORE == KW_STORE_LDS ? KW_LDS_RUN : KW_ACC_N;
    for (int first = kw_thread() * run; first < KW_ROW_SUMS; first += KW_THREADS * run) {
        kw_sum sums[KW_STORE == KW_STORE_LDS ? KW_LDS_RUN : KW_ACC_N];
        KW_UNROLL
        for (int e = 0; e < run; e++)
            sums[e] = kw_parts_sum(parts, first + e);
#if KW_STORE == KW_STORE_LDS
        int pixel = first / KW_COLS, element;
        if (kw_result_at(v, at, row + pixel / KW_TILE_W, pixel % KW_TILE_W, first % KW_COLS, &element))
#if KW_EPILOGUE
            kw_finish_run(v->result + (kw_i64)element * KW_OUT_BYTES, v->args, kw_image_place(v, element, at.channel + first % KW_COLS),
                          sums, run);
#else
            kw_store_result(v->result + element * KW_BYTES, sums, run);
#endif
#else
        int lane = first / KW_ACC_N % KW_WAVE, share = first / (KW_ACC_N * KW_WAVE);
        KW_UNROLL
        for (int e = 0; e < run; e++)
            kw_coord_store(v, at, row, kw_coord_of(share % KW_WAVE_SHARE, share / KW_WAVE_SHARE, lane, e), sums[e]);
#endif
    }
}
#endif

/* --- the walk --- */

KW_KERNEL(kw_stage1, KW_THREADS) {
    KW_LDS(KW_DENSE_LDS_BYTES);
    kw_begin();
    kw_position at = kw_position_of(&args, kw_block(), KW_COLS);
    kw_image image = kw_image_of(&args, at);
    int wave = kw_wave(), rows = KW_CEIL(kw_min(image.result_h - at.row, KW_TILE_H), KW_SIDE); /* of coords, at least 1 */
    int channel = wave / KW_WAVES_Q * (KW_SLICES * KW_CHANNELS), coord = wave % KW_WAVES_Q * KW_WAVE_COORDS;
    kw_filter filter;
    kw_sums sums;
    kw_filter_read(&filter,
                   (const kw_u32 *)args.packed +
                       ((kw_i64)(at.channel / KW_COLS * KW_WAVES_C + wave / KW_WAVES_Q) * (KW_DENSE_SHARES * KW_WAVE) + kw_lane()) *
                           KW_B_WORDS);
    KW_UNROLL
    for (int open = 0; open < KW_OPEN; open++)
        kw_row_clear(&sums.open[open]);
    kw_source_load(kw_lds, &image, image.top, 0, kw_thread());
    kw_barrier();
    KW_ROLLED
    for (int step = 0; step < rows + KW_OPEN - 1; step++) {
        int more = step < rows + KW_OPEN - 2, top = image.top + (step + 1) * KW_STEP, row = (step - (KW_OPEN - 1)) * KW_SIDE;
        char *next = kw_lds + (step + 1) % 2 * KW_SRC_BYTES;
        float *parts = (float *)(kw_lds + 2 * KW_SRC_BYTES + step % 2 * KW_PART_BYTES);
        kw_prefetch prefetch;
        if (more) kw_prefetch_load(&prefetch, &image, top, 0, kw_thread());
        kw_step_run(&sums, &filter, kw_lds + step % 2 * KW_SRC_BYTES, coord, channel);
        if (row >= 0) kw_row_put(&image, at, &sums.open[0], parts, row);
        KW_UNROLL
        for (int open = 0; open + 1 < KW_OPEN; open++)
            kw_row_move(&sums.open[open], &sums.open[open + 1]);
        kw_row_clear(&sums.open[KW_OPEN - 1]);
        if (more) {
            kw_prefetch_store(next, &prefetch, kw_thread());
            kw_source_load(next, &image, top, 0, kw_thread() + KW_PREFETCH_LOADS * KW_THREADS);
        }
        kw_barrier();
#if KW_SHARED
        if (row >= 0) kw_row_store(&image, at, parts, row);
#endif
    }
}

#endif
