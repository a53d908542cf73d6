/* work.h: which tiles a block computes, and the kernels. A unit of work is a tile of the result, or a part of its depth:
 *
 *   one part             a block stores the result itself
 *   several parts        each stores its sums into its slice of the workspace, and a second kernel adds the slices in order
 *   stream-K             the steps of all tiles, one after the other, are dealt out evenly; a block stores the tiles that it has all steps
 *                        of, and parts of others into its two slots of the workspace; the second kernel adds the parts of each such tile
 *
 * So every sum has one order, whatever the machine does. The text that includes this gives
 *   kw_view_start(view, args, batch, tile_row, tile_col)   what a tile of the result needs: row, col (of its first element), depth, at[2],
 *                                                          out (offset in elements of what kw_result_join counts from)
 * and with KW_ROW_GROUPS
 *   kw_view_find(view, args, number, tile_col)             the same of a tile of rows by its number over all groups; 0: there is none
 * src/families/gpu/mma/mma_launch.c fills args.params (work_params.h). */
#ifndef KW_WORK_H
#define KW_WORK_H

#include "gpu/lib/slices.h"

/* Tile number `tile` of all batches: bands of KW_BAND rows of tiles, column by column in a band, so that blocks that run at the same time
 * share few rows and few columns, which the second-level cache then holds. The last band of a batch may have fewer rows. */
#define KW_BAND 8
#if KW_PITCHED
#define KW_SLICE_OUT slice /* slices have no gaps */
#else
#define KW_SLICE_OUT out
#endif
#if !KW_ROW_GROUPS
KW_DEVICE void kw_tile_start(kw_view *view, const kw_gpu_args *a, int tile) {
    int cols = (int)a->params.tile_cols, rows = (int)a->params.tile_rows, all = rows * cols, batch = tile < all ? 0 : tile / all;
    int at = tile - batch * all, first = kw_over(at / KW_BAND, cols) * KW_BAND, high = kw_min(KW_BAND, rows - first);
    at -= first * cols;
    int col = high == KW_BAND ? at / KW_BAND : at / high;
    kw_view_start(view, a, batch, first + at - col * high, col);
}
#endif

/* The sums of steps first .. first + count - 1 of a tile, to their dst. */
KW_DEVICE void kw_tile_run(const kw_view *view, kw_dst dst, int first, int count, char *lds) {
    kw_sums sums;
    kw_steps steps;
    steps.view = view;
    steps.wave_coord = kw_wave_coord_of(kw_wave());
    steps.first = first * KW_TILE_K;
    steps.count = count;
    steps.lds = lds;
    /* The first step that a thread loads is the first of all, or with two groups of waves its group's. */
    kw_loader_start(&steps.loader, view, KW_EXTRA_WAVES ? kw_thread() - KW_MATH_THREADS : kw_thread() % KW_MATH_THREADS,
                    steps.first + (KW_WAVE_GROUPS == 1 ? 0 : kw_wave() / KW_MATH_WAVES * KW_TILE_K));
    kw_sums_clear(&sums);
#if KW_X_ZERO
    kw_zero_start(&sums, view->zero);
#endif
#if KW_W_ZERO
    kw_x_sums_start(&sums);
#endif
    kw_steps_run(&sums, &steps);
#if KW_X_ZERO
    kw_zero_take(&sums);
#endif
#if KW_W_ZERO
    kw_x_sums_take(&sums, view, steps.wave_coord, first == 0 && kw_wave() < KW_WAVE_M * KW_WAVE_N);
#endif
    kw_sums_store(view, dst, lds, &sums);
}

#if KW_STREAMK == KW_STREAMK_OFF || KW_PAIR > 1

KW_DEVICE void kw_unit_run(const kw_gpu_args *a, int unit, char *lds) {
    kw_view view;
    kw_dst dst;
    int splits = KW_SPLIT_K == 1 || KW_ROW_GROUPS ? 1 : (int)a->params.splits, tiles = kw_over((int)a->params.units, splits);
    int part = unit < tiles ? 0 : unit / tiles;
#if KW_ROW_GROUPS
    int cols = (int)a->params.tile_cols;
    if (!kw_view_find(&view, a, unit / cols, unit % cols)) return;
#else
    kw_tile_start(&view, a, unit - part * tiles);
#endif
    int steps = KW_CEIL(view.depth, KW_TILE_K), each = KW_CEIL(steps, splits), first = kw_min(part * each, steps);
    dst.kind = kw_to_workspace(a) ? KW_TO_SLICE : KW_TO_RESULT;
    dst.to = kw_to_workspace(a) ? a->shared + ((kw_i64)part * a->params.elements + view.KW_SLICE_OUT) * 4
                                : kw_result(a) + view.out * KW_OUT_BYTES;
    kw_tile_run(&view, dst, first, kw_min(each, steps - first), lds);
}

KW_NAMED_KERNEL(KW_STAGE_RUN, KW_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    kw_begin();
#if KW_JOINED
    kw_gpu_args one;
    int unit = kw_joined_find(&one, kw_joined_table(), (int)kw_block());
    kw_unit_run(&one, unit, kw_lds);
#elif KW_PERSISTENT
    for (int unit = (int)kw_block(); unit < (int)args.params.units; unit += (int)kw_blocks()) {
        kw_unit_run(&args, unit, kw_lds);
        kw_barrier();
    }
#else
    kw_unit_run(&args, (int)kw_block(), kw_lds);
#endif
}

#else

/* Block b has steps kw_stream_begin(b) .. kw_stream_begin(b + 1) - 1 of all of them; at least one. */
typedef struct kw_stream {
    kw_i64 steps, blocks; /* steps of all tiles */
    int each;             /* steps of a tile */
} kw_stream;

KW_DEVICE kw_i64 kw_stream_begin(kw_stream s, kw_i64 block) { return s.steps * block / s.blocks; }

/* A block's slot number 0 has the part of a tile that it begins with, number 1 one that it ends with. */
KW_DEVICE char *kw_slot(const kw_gpu_args *a, kw_i64 block, int second) {
    return a->shared + (2 * block + second) * (KW_TILE_M * KW_TILE_N * 4);
}

KW_DEVICE kw_stream kw_stream_of(const kw_gpu_args *a, const kw_view *view, kw_i64 blocks) {
    kw_stream s;
    s.each = KW_CEIL(view->depth, KW_TILE_K);
    s.steps = a->params.units * s.each;
    s.blocks = blocks;
    return s;
}

KW_NAMED_KERNEL(KW_STAGE_RUN, KW_THREADS) {
    KW_LDS(KW_LDS_BYTES);
    kw_view view;
    kw_begin();
    kw_tile_start(&view, &args, 0); /* all tiles have the same depth */
    kw_stream stream = kw_stream_of(&args, &view, kw_blocks());
    kw_i64 begin = kw_stream_begin(stream, kw_block()), end = kw_stream_begin(stream, kw_block() + 1);
    for (kw_i64 at = begin; at < end;) {
        int tile = (int)(at / stream.each), first = (int)(at % stream.each), count = (int)kw_min64(stream.each - first, end - at);
        kw_dst dst;
        kw_tile_start(&view, &args, tile);
        if (count == stream.each) {
            dst.kind = KW_TO_RESULT;
            dst.to = kw_result(&args) + view.out * KW_OUT_BYTES;
        } else {
            dst.kind = KW_TO_SLOT;
            dst.to = kw_slot(&args, kw_block(), at != begin);
        }
        kw_tile_run(&view, dst, first, count, kw_lds);
        kw_barrier();
        at += count;
    }
}

/* Element e of a tile's parts: those of blocks first .. first + parts - 1. */
KW_DEVICE kw_sum kw_parts_add(const kw_gpu_args *a, kw_i64 first, int second, int parts, int e) {
#if KW_STREAMK == KW_STREAMK_LINEAR
    kw_sum sum = ((const kw_sum *)kw_slot(a, first, second))[e];
    for (int i = 1; i < parts; i++)
        sum += ((const kw_sum *)kw_slot(a, first + i, 0))[e];
    return sum;
#else
    for (int gap = 1; gap < parts; gap *= 2) /* pairs, pairs of pairs, ...; the slots of this element are this thread's own */
        for (int i = 0; i + gap < parts; i += 2 * gap)
            ((kw_sum *)kw_slot(a, first + i, i == 0 ? second : 0))[e] += ((const kw_sum *)kw_slot(a, first + i + gap, 0))[e];
    return ((const kw_sum *)kw_slot(a, first, second))[e];
#endif
}

/* A block for each tile: nothing to do where one block had all its steps. params.splits: blocks of the stage before. */
KW_NAMED_KERNEL(KW_STAGE_ADD, KW_THREADS) {
    kw_view view;
    kw_dst dst;
    kw_begin();
    kw_tile_start(&view, &args, (int)kw_block());
    kw_stream stream = kw_stream_of(&args, &view, args.params.splits);
    kw_i64 begin = kw_block() * stream.each, end = begin + stream.each, first = begin * stream.blocks / stream.steps;
    while (kw_stream_begin(stream, first + 1) <= begin)
        first++;
    int parts = 1;
    while (kw_stream_begin(stream, first + parts) < end)
        parts++;
    if (parts == 1) return;
    dst.kind = KW_TO_RESULT;
    dst.to = kw_result(&args) + view.out * KW_OUT_BYTES;
    for (int e = kw_thread(); e < KW_TILE_M * KW_TILE_N; e += KW_THREADS) {
        kw_sum sum = kw_parts_add(&args, first, kw_stream_begin(stream, first) < begin, parts, e);
        kw_store_row(&view, dst, e / KW_TILE_N, e % KW_TILE_N, &sum, 1);
    }
}
#endif

#endif
