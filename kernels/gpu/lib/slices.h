/* slices.h: what adds the parts of a divided depth: each part has a slice of the workspace, in the result's order without its gaps, and a second kernel
 * adds them in order. src/families/gpu/mma/mma_launch.c fills args.params (work_params.h). */
#ifndef KW_SLICES_H
#define KW_SLICES_H

/* Packing or aligning is the first stage where there is any. */
#if KW_PRESHUFFLE || KW_ALIGNS
#define KW_STAGE_RUN kw_stage1
#define KW_STAGE_ADD kw_stage2
#else
#define KW_STAGE_RUN kw_stage0
#define KW_STAGE_ADD kw_stage1
#endif

#define KW_NAMED_KERNEL(name, threads) KW_KERNEL(name, threads) /* of a name that is a macro */

KW_DEVICE char *kw_result(const kw_gpu_args *a) {
    return KW_OP == KW_OP_CONV_BWD_DATA ? a->x : KW_OP == KW_OP_CONV_BWD_WEIGHT ? a->w : a->y;
}

#if KW_STREAMK == KW_STREAMK_CLUSTER
KW_DEVICE int kw_to_workspace(const kw_gpu_args *a) {
    (void)a;
    return 0;
}
#elif KW_STREAMK == KW_STREAMK_OFF || KW_PAIR > 1 || KW_STATIONARY

/* Whether sums may go to the workspace, and whether they always do, is known here but for split_k=0. */
KW_DEVICE int kw_to_workspace(const kw_gpu_args *a) {
#if KW_TWO_STAGE || KW_SPLIT_K > 1
    return 1;
#elif KW_SPLIT_K == 1 || KW_ROW_GROUPS
    return 0;
#else
    return (int)a->params.to_workspace;
#endif
}

/* Before the tail: rows of tiles, and elements of the result. */
#if KW_TAILS
KW_DEVICE int kw_tail_row(const kw_gpu_args *a) {
    int units = (int)a->params.to_workspace - 1;
    return units ? units / (int)a->params.tile_cols : 0;
}

KW_DEVICE kw_i64 kw_tail_element(const kw_gpu_args *a) {
#if KW_OP == KW_OP_GEMM
    kw_i64 row = a->gn;
#else
    kw_i64 row = a->groups * (KW_OP == KW_OP_CONV_FWD ? a->k : a->c);
#endif
    return kw_tail_row(a) * KW_TILE_M * row;
}
#else
#define kw_tail_element(a) 0
#endif

#if KW_TWO_STAGE || KW_SPLIT_K != 1
#define KW_ADD_AHEAD 8 /* loads under way at a time */

/* Adds the slices in order. */
KW_NAMED_KERNEL(KW_STAGE_ADD, KW_ADD_THREADS) {
    kw_i64 at = kw_block() * KW_ADD_THREADS + kw_thread(), elements = args.params.elements;
    const kw_sum *from = (const kw_sum *)args.shared + at;
    kw_begin();
    if (at < elements) {
        int part = 1, splits = (int)args.params.splits;
        kw_sum sum = *from;
        for (; part + KW_ADD_AHEAD <= splits; part += KW_ADD_AHEAD) {
            kw_sum some[KW_ADD_AHEAD];
            KW_UNROLL
            for (int i = 0; i < KW_ADD_AHEAD; i++)
                some[i] = from[(part + i) * elements];
            KW_UNROLL
            for (int i = 0; i < KW_ADD_AHEAD; i++)
                sum += some[i];
        }
        for (; part < splits; part++)
            sum += from[part * elements];
        at += kw_tail_element(&args);
#if KW_SPOTS
        int cols = kw_spots_cols(&args), row = (int)(at / cols);
        at = kw_spots_place(&args, row, (int)(at - (kw_i64)row * cols));
        if (at < 0) return;
        if (sum != sum) sum = kw_spot_sum(&args, at);
#endif
#if KW_EPILOGUE
        kw_finish_element(kw_result(&args), &args, at, sum);
#else
#if KW_PITCHED && KW_OP == KW_OP_GEMM
        at = kw_pitched_place(&args, at);
#endif
        kw_store(kw_result(&args), at, sum);
#endif
    }
}
#endif

#endif
#endif
