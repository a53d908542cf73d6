/* epilogue.h: from the sums in the waves' registers to memory. Waves that divided the depth add first. Then either the sums pass through
 * shared memory, a stripe of the tile at a time, so that each thread stores KW_VEC_C elements of a row (cshuffle), or each lane stores its
 * own elements where they belong (default).
 *
 * The text that includes this says where results lie: kw_result_row(view, row, &ok), kw_result_col(view, col, &ok) and kw_result_join(view,
 * row_spot, col_spot, &ok), which gives the offset in the tensor; kw_slice_at(view, row, col), which gives it in a slice. With KW_EPILOGUE
 * also view.args, and kw_result_place(view, row, col, at) of such an offset. It may define KW_ROWS_IN_ORDER(view), which a launch knows: that
 * kw_result_row needs no divisions, which take longer than what is stored. */
#ifndef KW_EPILOGUE_H
#define KW_EPILOGUE_H

/* Where a block's sums go: converted into the result; unconverted into a slice of the workspace that has the result's order; or all of the
 * tile into a slot of the workspace, row by row. */
#define KW_TO_RESULT 0
#define KW_TO_SLICE 1
#define KW_TO_SLOT 2

typedef struct kw_dst {
    int kind;
    char *to;
} kw_dst;

/* --- shared memory of the epilogue --- */

enum { KW_STRIPE_ROWS = KW_WAVE_COORDS_M * KW_INST_M };
#define KW_SPREAD (KW_NVIDIA ? 8 : 0) /* words between rows, where neighbouring lanes write neighbouring rows */
#define KW_STRIPE_WORDS(repeats) (KW_STRIPE_ROWS * ((repeats)*KW_WAVE_N * KW_INST_N + KW_SPREAD))
/* Repeats of a stripe: all columns of the tile where they fit the shared memory of the steps, or half of 64 KiB. */
enum { KW_STEPS_BYTES = KW_STAGES * (KW_STAGE_BYTES + KW_STAGE_BARRIER_BYTES) };
enum { KW_STRIPE_REPEATS = 4 * KW_STRIPE_WORDS(KW_REPEAT_N) <= (KW_STEPS_BYTES > 32768 ? KW_STEPS_BYTES : 32768) ? KW_REPEAT_N : 1 };
enum { KW_STRIPE_COLS = KW_STRIPE_REPEATS * KW_WAVE_N * KW_INST_N };
enum { KW_STRIPE_BYTES = KW_EPI == KW_EPI_CSHUFFLE ? 4 * KW_STRIPE_WORDS(KW_STRIPE_REPEATS) : 0 };

enum { KW_SHARES = KW_WAVE_K * KW_WAVE_GROUPS }; /* waves that have a part of the same sums */
enum { KW_SHARE_BYTES = KW_SHARES > 1 ? KW_WAVE_M *KW_WAVE_N *KW_WAVE *KW_ACC_N * 4 : 0 };
enum { KW_EPILOGUE_BYTES = KW_STRIPE_BYTES > KW_SHARE_BYTES ? KW_STRIPE_BYTES : KW_SHARE_BYTES };
enum { KW_LDS_BYTES = KW_STEPS_BYTES > KW_EPILOGUE_BYTES ? KW_STEPS_BYTES : KW_EPILOGUE_BYTES };

/* --- storing --- */

#define KW_STORE_MAX (16 / KW_OUT_BYTES)
enum { KW_STORE_RUN = KW_VEC_C < KW_STORE_MAX ? KW_VEC_C : KW_STORE_MAX }; /* elements that a thread stores together */

KW_DEVICE kw_sum kw_sum_of_bits(kw_u32 bits) {
#if KW_IN == KW_INT8
    return (int)bits;
#else
    return kw_from_bits(bits);
#endif
}

KW_DEVICE void kw_store_sums(char *to, const kw_sum *sums, int count) {
    KW_UNROLL
    for (int i = 0; i < count; i++)
        ((kw_sum *)to)[i] = sums[i];
}

/* Elements of one row of the result that follow each other: all of them are there or none. row and col are the first one's in the tile. */
KW_DEVICE void kw_store_row(const kw_view *view, kw_dst dst, int row, int col, const kw_sum *sums, int count) {
    if (dst.kind == KW_TO_SLOT) {
        kw_store_sums(dst.to + (row * KW_TILE_N + col) * 4, sums, count);
        return;
    }
    int ok = 1;
    kw_coord row_spot = kw_result_row(view, view->row + row, &ok), col_spot = kw_result_col(view, view->col + col, &ok);
    kw_i64 at = kw_result_join(view, row_spot, col_spot, &ok);
    if (!ok) return;
    if (dst.kind == KW_TO_SLICE)
#if KW_PITCHED
        kw_store_sums(dst.to + kw_slice_at(view, view->row + row, view->col + col) * 4, sums, count);
#else
        kw_store_sums(dst.to + at * 4, sums, count);
#endif
    else
#if KW_EPILOGUE
        kw_finish_run(dst.to + at * KW_OUT_BYTES, view->args, kw_result_place(view, view->row + row, view->col + col, at), sums, count);
#else
        kw_store_result(dst.to + at * KW_OUT_BYTES, sums, count);
#endif
}

/* --- adding what waves that divided the depth have; all sums are then those of share 0 --- */

KW_DEVICE void kw_add_shares(kw_sums *sums, char *lds) {
    int share = kw_wave() / (KW_WAVE_M * KW_WAVE_N), place = kw_wave() % (KW_WAVE_M * KW_WAVE_N);
    kw_sum *own = (kw_sum *)lds + place * KW_ACC_N * KW_WAVE + kw_lane();
    for (int from = 1; from < KW_SHARES; from++) {
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M; i++) {
            KW_UNROLL
            for (int j = 0; j < KW_REPEAT_N; j++) {
                kw_barrier();
                KW_UNROLL
                for (int e = 0; e < KW_ACC_N; e++)
                    if (share == from) own[e * KW_WAVE] = sums->at[i][j].e[e];
                kw_barrier();
                KW_UNROLL
                for (int e = 0; e < KW_ACC_N; e++)
                    if (share == 0) sums->at[i][j].e[e] += own[e * KW_WAVE];
            }
        }
    }
}

#if KW_EPI == KW_EPI_CSHUFFLE

/* The waves' sums of one repeat along the rows and KW_STRIPE_REPEATS along the columns, from `first` on. */
KW_DEVICE void kw_stripe_put(char *lds, const kw_sums *sums, int i, int first) {
    kw_wave_coord wave_coord = kw_wave_coord_of(kw_wave());
    KW_UNROLL
    for (int j = 0; j < KW_STRIPE_REPEATS; j++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++) {
            int row = kw_row_of(wave_coord, 0) + kw_acc_row(kw_acc_lane(), e),
                col = kw_col_of(wave_coord, j) + kw_acc_col(kw_acc_lane(), e);
            ((kw_sum *)lds)[row * (KW_STRIPE_COLS + KW_SPREAD) + col] = sums->at[i][first + j].e[e];
        }
    }
}

KW_DEVICE void kw_stripe_store_all(const kw_view *view, kw_dst dst, const char *lds, int i, int first) {
    const int runs = KW_STRIPE_COLS / KW_STORE_RUN;
    for (int at = kw_thread(); at < KW_STRIPE_ROWS * runs; at += KW_THREADS) {
        int row = at / runs, col = at % runs * KW_STORE_RUN;
        kw_u32 words[KW_STORE_RUN];
        kw_sum run[KW_STORE_RUN];
        const char *from = lds + (row * (KW_STRIPE_COLS + KW_SPREAD) + col) * 4;
        KW_UNROLL
        for (int e = 0; e < KW_STORE_RUN; e += 4)
            kw_load_run(words + e, from + e * 4, (KW_STORE_RUN < 4 ? KW_STORE_RUN : 4) * 4);
        KW_UNROLL
        for (int e = 0; e < KW_STORE_RUN; e++)
            run[e] = kw_sum_of_bits(words[e]);
        kw_store_row(view, dst, i * KW_STRIPE_ROWS + row, first * KW_WAVE_N * KW_INST_N + col, run, KW_STORE_RUN);
    }
}

/* The loop stands twice, so that the compiler knows in each whether rows are in order: with the question inside, divisions of several rows would no
 * longer run side by side. */
KW_DEVICE void kw_stripe_store(const kw_view *view, kw_dst dst, const char *lds, int i, int first) {
#ifdef KW_ROWS_IN_ORDER
    if (KW_ROWS_IN_ORDER(view)) {
        kw_stripe_store_all(view, dst, lds, i, first);
        return;
    }
#endif
    kw_stripe_store_all(view, dst, lds, i, first);
}

/* One loop over the stripes: which sums a stripe has, every thread finds by comparing, because registers have no index. */
KW_DEVICE void kw_sums_store(const kw_view *view, kw_dst dst, char *lds, kw_sums *sums) {
    const int across = KW_REPEAT_N / KW_STRIPE_REPEATS;
    if (KW_SHARES > 1) kw_add_shares(sums, lds);
    KW_ROLLED
    for (int stripe = 0; stripe < KW_REPEAT_M * across; stripe++) {
        kw_barrier();
        KW_UNROLL
        for (int i = 0; i < KW_REPEAT_M * across; i++)
            if (i == stripe && kw_wave() < KW_WAVE_M * KW_WAVE_N) kw_stripe_put(lds, sums, i / across, i % across * KW_STRIPE_REPEATS);
        kw_barrier();
        kw_stripe_store(view, dst, lds, stripe / across, stripe % across * KW_STRIPE_REPEATS);
    }
}

#else

KW_DEVICE void kw_sums_store(const kw_view *view, kw_dst dst, char *lds, kw_sums *sums) {
    kw_wave_coord wave_coord = kw_wave_coord_of(kw_wave());
    if (KW_SHARES > 1) kw_add_shares(sums, lds);
    if (kw_wave() >= KW_WAVE_M * KW_WAVE_N) return;
    KW_UNROLL
    for (int i = 0; i < KW_REPEAT_M; i++) {
        KW_UNROLL
        for (int j = 0; j < KW_REPEAT_N; j++) {
            KW_UNROLL
            for (int e = 0; e < KW_ACC_N; e++) {
                int row = kw_row_of(wave_coord, i) + kw_acc_row(kw_acc_lane(), e),
                    col = kw_col_of(wave_coord, j) + kw_acc_col(kw_acc_lane(), e);
                kw_store_row(view, dst, row, col, &sums->at[i][j].e[e], 1);
            }
        }
    }
}
#endif

#endif
