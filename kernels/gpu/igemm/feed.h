/* feed.h: what gpu/pipeline/overlap.h asks of a convolution: pixels by bulk copies that walk over an image (im2col), filters by others. With a 1x1
 * filter, stride 1 and no padding pixels are rows of a matrix (kw_feed_rows), which copies bring at twice the rate.
 *
 *   direction    first operand, a step of KW_TILE_K depths        second operand                      result, by its map
 *   forward      channels of x under a tap, pixel by pixel        (channel, tap, k), depth contiguous       (k, pixel, -)
 *   bwd_data     64 channels of y at a position, pixel by pixel   (channel, tap, k), columns contiguous     (channel, pixel, -)
 *                of tf32 turned: (k, channel, tap)
 *   bwd_weight   64 pixels of y, k contiguous: (k, pixel, -)      64 pixels of x under the tile's tap       (channel, tap, k)
 *
 * So a depth's last step of each tap may have fewer channels, which come as zeros, and forward and bwd_data have that many more steps. A
 * tile of bwd_weight has pieces of 64 columns, each 64 channels of one tap, tap after tap (KW_ONE_TAP: channels). gpu/igemm/backward.h says which rows, columns and
 * positions bwd_data has. Groups are products of their own (kw_work.batch), of whole blocks of 64 channels where there are several; axes that
 * a problem has not are absent.
 *
 * With KW_PICKS the operands have changed places: the first has 32 pixels under the tile's taps, pieces of 32 channels of its rows; the second is y as a
 * copy, (pixel, k, -), pixels contiguous; results are stored by lanes.
 *
 * KW_MERGE groups of KW_EACH channels in and out are one product of 64 channels whose filters are block-diagonal. The map of filters knows
 * the channels of one group alone and has zeros beside them: a box of 64 channels that begins so many groups before the first has a group's
 * filters at its own place, and zeros at the others'. What bwd_weight has between two groups is not stored (KW_SUMS_JOIN). */
#ifndef KW_IGEMM_FEED_H
#define KW_IGEMM_FEED_H

#if KW_DATA
#include "gpu/igemm/backward.h"
#else
#define KW_PHASES 0
#endif

/* Channels of a pixel that lie together in shared memory; and of bwd_weight the tile's side that has pieces of so many. */
#define KW_SLAB_CHANNELS (KW_SLAB_ROW_BYTES / KW_BYTES)
#define KW_IMAGE_SIDE (KW_PICKS ? KW_TILE_M : KW_TILE_N)
/* Of bwd_weight, tiles whose columns are no whole pieces have one tap: columns are channels, and a piece begins at any of them. */
#define KW_ONE_TAP (KW_WEIGHT && !KW_PICKS && KW_TILE_N % KW_SLAB_CHANNELS != 0)

typedef struct kw_feed {
    int row, col, tap, block; /* the tile's; the step's tap (KW_SPOTS: position) and block of channels */
    int number;               /* of the step's first pixel */
    int pixel[4];             /* source position of the first pixel: along the axes, the image */
    int offset[3];            /* of the tap */
#if KW_DATA
    int meets[3]; /* number of the position, of those that the tile's pixels meet */
#endif
#if KW_WEIGHT
    int at[3], step[3], images; /* its place along the axes; how far a step goes along them, and in images */
    /* Its block of channels, and in 16 bits the offset of its tap, KW_OFFSET_BITS an axis. */
    kw_u32 piece[KW_CEIL(KW_IMAGE_SIDE, KW_SLAB_CHANNELS)];
#endif
} kw_feed;

#define KW_OFFSET_BITS (16 / KW_NDIM)

#define KW_EACH (KW_SLAB_ELEMENTS / KW_MERGE)
#if KW_MERGE > 1 && KW_WEIGHT
#define KW_SUMS_JOIN(row, col) ((row) / KW_EACH == (col) / KW_EACH) /* they are of the same group */
#endif

/* Channels of a product. */
KW_DEVICE int kw_feed_c(const kw_gpu_args *a) { return KW_MERGE > 1 ? KW_SLAB_ELEMENTS : (int)a->c; }
KW_DEVICE int kw_feed_k(const kw_gpu_args *a) { return KW_MERGE > 1 ? KW_SLAB_ELEMENTS : (int)a->k; }

KW_DEVICE int kw_feed_taps(const kw_gpu_args *a) { return (int)(a->filter[0] * a->filter[1] * a->filter[2]); }
/* Of channels: what a step has, or for weights a piece of the tile's columns. */
KW_DEVICE int kw_feed_blocks(const kw_gpu_args *a) {
    return KW_CEIL(KW_DATA ? kw_feed_k(a) : kw_feed_c(a), KW_WEIGHT ? KW_SLAB_CHANNELS : KW_TILE_K);
}

/* Pixels that are counted through: of y, or rows for bwd_data. */
KW_DEVICE int kw_feed_pixels(const kw_gpu_args *a, const kw_work *work) {
#if KW_DATA
    return kw_facts_of(work)->pixels;
#else
    return (int)(a->n * a->out[0] * a->out[1] * a->out[2]);
#endif
}

/* Whether pixels are rows of a matrix: the map is one. */
KW_DEVICE int kw_feed_rows(const kw_gpu_args *a) { return !KW_SPOTS && a->params.pixels == 1; }

/* Of a tile. */
KW_DEVICE int kw_feed_steps(const kw_gpu_args *a, const kw_work *work) {
#if KW_WEIGHT
    return KW_CEIL(kw_feed_pixels(a, work), KW_TILE_K);
#elif KW_DATA
    return kw_facts_of(work)->phase[work->phase].steps;
#else
    return kw_feed_taps(a) * kw_feed_blocks(a);
#endif
}

KW_DEVICE void kw_feed_pixel(kw_feed *f, const kw_gpu_args *a, const kw_work *work, int number) {
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
#if KW_DATA
        int extent = kw_facts_of(work)->extent[axis], rest = number / extent, at = number - rest * extent;
        f->pixel[axis] = (KW_SPOTS ? at * (kw_feed_each(a, axis) / (int)a->stride[axis]) : at) + kw_feed_low(a, axis);
#else
        int extent = (int)a->out[axis], rest = number / extent, at = number - rest * extent;
        f->pixel[axis] = at * (int)a->stride[axis] - (int)a->pad[axis];
#endif
        number = rest;
    }
    f->pixel[3] = number;
}

#if KW_DATA
/* Where the position's pixels lie, and its tap. */
KW_DEVICE void kw_feed_position(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    const kw_facts *facts = kw_facts_of(work);
    const kw_phase *phase = &facts->phase[work->phase];
    int tap = 0;
    KW_UNROLL
    for (int axis = KW_FIRST_AXIS; axis < 3; axis++) {
        f->offset[axis] = f->meets[axis] * facts->unit[axis] + phase->first[axis];
        tap = tap * (int)a->filter[axis] + phase->last_tap[axis] - f->meets[axis] * facts->step[axis];
    }
    if (KW_PHASES) f->tap = tap;
}

KW_DEVICE void kw_feed_next(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    int carry = 1;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int over = carry && f->meets[axis] + 1 == kw_facts_of(work)->phase[work->phase].count[axis];
        f->meets[axis] = over ? 0 : f->meets[axis] + carry;
        carry = over;
    }
    f->tap++;
    kw_feed_position(f, a, work);
}
#else
KW_DEVICE void kw_feed_tap(kw_feed *f, const kw_gpu_args *a) {
    int rest = f->tap;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = (int)a->filter[axis], tap = rest % extent;
        f->offset[axis] = tap * (int)a->dilation[axis];
        rest /= extent;
    }
}

KW_DEVICE void kw_feed_next(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    (void)work;
    f->tap++;
    kw_feed_tap(f, a);
}
#endif

#if KW_WEIGHT
/* The tap and the block of channels of the piece at a column (KW_PICKS: row) of the tile, a constant: divided once a tile. */
KW_DEVICE int kw_feed_piece(const kw_gpu_args *a, const kw_work *work, int col, int *tap) {
    int blocks = kw_feed_blocks(a), number = (KW_PICKS ? work->row : work->col) / KW_SLAB_CHANNELS,
        block = number % blocks + col / KW_SLAB_CHANNELS;
    *tap = number / blocks;
    KW_UNROLL
    for (int i = 0; i < col / KW_SLAB_CHANNELS; i++) {
        int over = block >= blocks;
        *tap += over;
        block -= over ? blocks : 0;
    }
    return block;
}

/* A step on: digits are added with carries. */
KW_DEVICE void kw_feed_step(kw_feed *f, const kw_gpu_args *a) {
    int carry = 0;
    f->number += KW_TILE_K;
    if (kw_feed_rows(a)) return;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = (int)a->out[axis], at = f->at[axis] + f->step[axis] + carry;
        carry = at >= extent;
        f->at[axis] = carry ? at - extent : at;
        f->pixel[axis] = f->at[axis] * (int)a->stride[axis] - (int)a->pad[axis];
    }
    f->pixel[3] += f->images + carry;
}

/* Of a piece that no tap has, the channels lie behind the last. */
KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    int blocks = kw_feed_blocks(a), taps = kw_feed_taps(a);
    f->row = work->row;
    f->col = work->col;
    f->number = work->first * KW_TILE_K;
    kw_feed_pixel(f, a, work, f->number);
    int number = KW_TILE_K;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = (int)a->out[axis], rest = number / extent;
        f->at[axis] = (f->pixel[axis] + (int)a->pad[axis]) / (int)a->stride[axis];
        f->step[axis] = number - rest * extent;
        number = rest;
    }
    f->images = number;
    KW_UNROLL
    for (int i = 0; i < KW_IMAGE_SIDE / KW_SLAB_CHANNELS && !KW_ONE_TAP; i++) {
        int tap, block = kw_feed_piece(a, work, i * KW_SLAB_CHANNELS, &tap), offsets = 0;
        f->tap = kw_min(tap, taps - 1);
        kw_feed_tap(f, a);
        KW_UNROLL
        for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
            offsets = offsets << KW_OFFSET_BITS | f->offset[axis];
        f->piece[i] = (kw_u32)(tap < taps ? block : blocks) << 16 | (kw_u32)offsets;
    }
}
#else
KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    int blocks = kw_feed_blocks(a);
    f->row = work->row;
    f->col = work->col;
    f->tap = work->first / blocks;
    f->block = work->first - f->tap * blocks;
    f->number = work->row;
    if (kw_feed_rows(a)) return;
    kw_feed_pixel(f, a, work, work->row);
#if KW_DATA
    int number = f->tap;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int count = kw_max(kw_facts_of(work)->phase[work->phase].count[axis], 1), rest = number / count;
        f->meets[axis] = number - rest * count;
        number = rest;
    }
    kw_feed_position(f, a, work);
#else
    kw_feed_tap(f, a);
#endif
}
#endif

/* A run of pixels, 64 of their channels. rows: as kw_feed_rows() says. */
KW_DEVICE void kw_feed_image(const kw_feed *f, int rows, const kw_tensor_map *map, char *to, char *bar, int channel) {
    const int *p = f->pixel, *o = f->offset;
    if (rows) {
        kw_tensor_load3(to, map, bar, channel, f->number, 0);
        return;
    }
#if KW_NDIM == 1
    kw_tensor_pixels3(to, map, bar, channel, p[2], p[3], o[2]);
#elif KW_NDIM == 2
    kw_tensor_pixels4(to, map, bar, channel, p[2], p[1], p[3], o[2], o[1]);
#else
    kw_tensor_pixels5(to, map, bar, channel, p[2], p[1], p[0], p[3], o[2], o[1], o[0]);
#endif
}

KW_DEVICE void kw_feed_bring(kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar, int second) {
    char *other = to + KW_STAGE_BYTES_A;
    int c = work->batch * kw_feed_c(a), k = work->batch * kw_feed_k(a); /* the product's first channels */
#if KW_WEIGHT
    (void)second;
#if KW_PICKS
    const int image = KW_A;
    kw_tensor_load3(other, &a->map[KW_B], bar, f->number, k + f->col, 0);
    other = to;
#else
    const int image = KW_B;
    KW_UNROLL
    for (int i = 0; i < KW_TILE_M; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + i * 128, &a->map[KW_A], bar, k + f->row + i, f->number, 0);
#endif
    KW_UNROLL
    for (int i = 0; i < KW_CEIL(KW_IMAGE_SIDE, KW_SLAB_CHANNELS); i++) {
        int channel = KW_ONE_TAP ? f->col + i * KW_SLAB_CHANNELS : (int)(f->piece[i] >> 16) * KW_SLAB_CHANNELS;
        KW_UNROLL
        for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
            f->offset[axis] = KW_ONE_TAP ? 0 : f->piece[i] >> (2 - axis) * KW_OFFSET_BITS & (1 << KW_OFFSET_BITS) - 1;
        kw_feed_image(f, kw_feed_rows(a), &a->map[image], other + i * KW_TILE_K * 128, bar, c + channel);
    }
    kw_feed_step(f, a);
#else
    kw_feed_image(f, kw_feed_rows(a), &a->map[KW_A], to, bar, (KW_DATA ? k : c) + f->block * KW_TILE_K);
#if KW_MERGE > 1
    KW_UNROLL
    for (int i = 0; second && i < KW_SLAB_ELEMENTS; i += KW_EACH)
        kw_tensor_load3(other + i * 128, &a->map[KW_B], bar, -i, f->tap, k + i);
#elif KW_COPIES_TURN && KW_DATA
    if (second) kw_tensor_load3(other, &a->map[KW_B], bar, k + f->block * KW_TILE_K, f->col, f->tap);
#elif KW_PHASES
    KW_UNROLL
    for (int i = 0; second && i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(other + i * 128, &a->map[KW_B], bar, f->col + i, f->tap, k + f->block * KW_TILE_K);
#else
    if (second) kw_tensor_load3(other, &a->map[KW_B], bar, f->block * KW_TILE_K, f->tap, k + f->col);
#endif
    if (++f->block == kw_feed_blocks(a)) {
        f->block = 0;
        if (!kw_feed_rows(a)) kw_feed_next(f, a, work); /* else the tile is done */
    }
#endif
}

#include "gpu/igemm/operands.h"

/* What lies behind a group's last channel is another group's. */
KW_DEVICE void kw_result_put(const kw_gpu_args *a, const kw_work *work, const char *piece, int row, int col) {
    int channels = KW_DATA ? kw_feed_c(a) : kw_feed_k(a), first = work->batch * channels;
#if KW_ONE_TAP
    if (work->row + row < channels) kw_tensor_store3(&a->map[2], piece, work->col + col, 0, first + work->row + row);
#elif KW_WEIGHT
    int tap, block = kw_feed_piece(a, work, col, &tap);
    if (work->row + row < channels) kw_tensor_store3(&a->map[2], piece, block * KW_SLAB_ELEMENTS, tap, first + work->row + row);
#else
    if (work->col + col < channels) kw_tensor_store3(&a->map[2], piece, first + work->col + col, work->row + row, 0);
#endif
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    row += work->row;
#if KW_WEIGHT
    *ok &= row < kw_feed_k(a);
    return (work->batch * (kw_i64)kw_feed_k(a) + row) * kw_feed_taps(a) * a->c - (KW_MERGE > 1 ? row / KW_EACH * KW_EACH : 0);
#else
    *ok &= row < kw_feed_pixels(a, work);
#if KW_PHASES
    if (kw_feed_strides(a) > 1) {
        kw_apart_row r = kw_apart_row_of(a, work, row);
        kw_i64 at = kw_apart_row_at(a, work, &r);
        *ok &= at >= 0;
        return at;
    }
#endif
#if KW_SPOTS
    return (kw_i64)row * kw_spots_cols(a);
#elif KW_PITCHED
    return row * (KW_DATA ? a->x_step[3] : a->y_step[3]); /* pixels lie one distance apart */
#else
    return row * a->groups * (KW_DATA ? a->c : a->k);
#endif
#endif
}

KW_DEVICE kw_i64 kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
#if KW_ONE_TAP
    *cols = kw_feed_c(a) - work->col - col;
    return work->col + col;
#elif KW_WEIGHT
    int tap, first = kw_feed_piece(a, work, col, &tap) * KW_SLAB_ELEMENTS;
    *cols = tap < kw_feed_taps(a) ? kw_feed_c(a) - first : 0;
    return tap * a->c + first;
#else
#if KW_SPOTS
    *cols = kw_spots_cols(a) - work->col - col;
#else
    *cols = (KW_DATA ? kw_feed_c(a) : kw_feed_k(a)) - work->col - col;
#endif
    return (kw_i64)work->batch * (KW_DATA ? kw_feed_c(a) : kw_feed_k(a)) + work->col + col;
#endif
}

#if KW_PICKS
/* Of the result, at the first output channel: a row of the tile; and from one output channel to the next. */
KW_DEVICE kw_i64 kw_picked_step(const kw_gpu_args *a) { return kw_feed_taps(a) * a->c; }

KW_DEVICE kw_i64 kw_picked_line(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    int blocks = kw_feed_blocks(a), number = (work->row + row) / KW_SLAB_CHANNELS, tap = number / blocks;
    int channel = (number - tap * blocks) * KW_SLAB_CHANNELS + row % KW_SLAB_CHANNELS;
    *ok &= tap < kw_feed_taps(a) && channel < (int)a->c;
    return work->batch * a->k * kw_picked_step(a) + tap * a->c + channel;
}
#endif

#if KW_TEAM > 1
KW_DEVICE int kw_direct_pairs(const kw_gpu_args *a) { return (KW_FORWARD ? a->k : a->c) % 2 == 0; }

/* A share's columns are in one run of 64 channels. */
KW_DEVICE void kw_share_start(const kw_gpu_args *a, kw_work *work, int col) {
    int in_run = col % KW_SLAB_ELEMENTS;
    work->col += col - in_run;
    work->share_at = kw_result_col(a, work, 0, &work->share_cols) + in_run;
    work->share_cols -= in_run;
}

KW_DEVICE kw_i64 kw_direct_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) { return kw_result_row(a, work, row, ok); }

KW_DEVICE kw_i64 kw_direct_col(const kw_gpu_args *a, const kw_work *work, int col, int *ok) {
    (void)a;
    *ok &= col < work->share_cols;
    return work->share_at + col;
}
#endif

#endif
