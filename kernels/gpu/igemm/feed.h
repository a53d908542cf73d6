/* feed.h: what gpu/lib/overlap.h asks of a convolution: pixels by bulk copies that walk over an image (im2col), filters by others.
 *
 *   direction    first operand, a step of 64 depths               second operand                      result, by its map
 *   forward      64 channels of x under a tap, pixel by pixel     (channel, tap, k), depth contiguous       (k, pixel, -)
 *   bwd_data     64 channels of y under a tap, pixel by pixel     (channel, tap, k), columns contiguous     (channel, pixel, -)
 *   bwd_weight   64 pixels of y, k contiguous: (k, pixel, -)      64 pixels of x under the tile's tap       (channel, tap, k)
 *
 * So a depth's last step of each tap may have fewer channels, which come as zeros, and forward and bwd_data have that many more steps. A
 * tile of bwd_weight has pieces of 64 columns, each 64 channels of one tap, tap after tap. Strides of bwd_data are 1, and groups one; axes that a problem has not are absent. */
#ifndef KW_IGEMM_FEED_H
#define KW_IGEMM_FEED_H

typedef struct kw_feed {
    int row, col, tap, block; /* the tile's; the step's tap and block of channels */
    int pixel[4];             /* source position of the first pixel: along the axes, the image */
    int offset[3];            /* of the tap */
#if KW_WEIGHT
    int number;                   /* of the step's first pixel */
    kw_u32 piece[KW_TILE_N / 64]; /* its block of channels, and in 16 bits the offset of its tap, KW_OFFSET_BITS an axis */
#endif
} kw_feed;

#define KW_OFFSET_BITS (16 / KW_NDIM)

KW_DEVICE int kw_feed_taps(const kw_gpu_args *a) { return (int)(a->filter[0] * a->filter[1] * a->filter[2]); }
KW_DEVICE int kw_feed_blocks(const kw_gpu_args *a) { return (int)KW_CEIL(KW_DATA ? a->k : a->c, KW_SLAB_ELEMENTS); }

/* Pixels that are counted through: of y, or of x for bwd_data. */
KW_DEVICE int kw_feed_extent(const kw_gpu_args *a, int axis) { return (int)(KW_DATA ? a->in[axis] : a->out[axis]); }

KW_DEVICE int kw_feed_pixels(const kw_gpu_args *a) {
    return (int)a->n * kw_feed_extent(a, 0) * kw_feed_extent(a, 1) * kw_feed_extent(a, 2);
}

KW_DEVICE int kw_feed_steps(const kw_gpu_args *a) {
    return KW_WEIGHT ? KW_CEIL(kw_feed_pixels(a), KW_TILE_K) : kw_feed_taps(a) * kw_feed_blocks(a);
}

KW_DEVICE void kw_feed_pixel(kw_feed *f, const kw_gpu_args *a, int number) {
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = kw_feed_extent(a, axis), rest = number / extent, at = number - rest * extent;
        int pad = (int)a->pad[axis], reach = (int)((a->filter[axis] - 1) * a->dilation[axis]);
        f->pixel[axis] = KW_DATA ? at + pad - reach : at * (int)a->stride[axis] - pad;
        number = rest;
    }
    f->pixel[3] = number;
}

/* bwd_data meets the taps of an axis from the last on. */
KW_DEVICE void kw_feed_tap(kw_feed *f, const kw_gpu_args *a) {
    int rest = f->tap;
    KW_UNROLL
    for (int axis = 2; axis >= KW_FIRST_AXIS; axis--) {
        int extent = (int)a->filter[axis], tap = rest % extent;
        f->offset[axis] = (KW_DATA ? extent - 1 - tap : tap) * (int)a->dilation[axis];
        rest /= extent;
    }
}

#if KW_WEIGHT
/* The tap and the block of channels of the piece at a column of the tile, a constant: divided once a tile. */
KW_DEVICE int kw_feed_piece(const kw_gpu_args *a, const kw_work *work, int col, int *tap) {
    int blocks = kw_feed_blocks(a), number = work->col / KW_SLAB_ELEMENTS, block = number % blocks + col / KW_SLAB_ELEMENTS;
    *tap = number / blocks;
    KW_UNROLL
    for (int i = 0; i < col / KW_SLAB_ELEMENTS; i++) {
        int over = block >= blocks;
        *tap += over;
        block -= over ? blocks : 0;
    }
    return block;
}

/* Of a piece that no tap has, the channels lie behind the last. */
KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    int blocks = kw_feed_blocks(a), taps = kw_feed_taps(a);
    f->row = work->row;
    f->col = work->col;
    f->number = work->first * KW_TILE_K;
    kw_feed_pixel(f, a, f->number);
    KW_UNROLL
    for (int i = 0; i < KW_TILE_N / KW_SLAB_ELEMENTS; i++) {
        int tap, block = kw_feed_piece(a, work, i * KW_SLAB_ELEMENTS, &tap), offsets = 0;
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
    kw_feed_pixel(f, a, work->row);
    kw_feed_tap(f, a);
}
#endif

/* A run of pixels, 64 of their channels. */
KW_DEVICE void kw_feed_image(const kw_feed *f, const kw_tensor_map *map, char *to, char *bar, int channel) {
    const int *p = f->pixel, *o = f->offset;
#if KW_NDIM == 1
    kw_tensor_pixels3(to, map, bar, channel, p[2], p[3], o[2]);
#elif KW_NDIM == 2
    kw_tensor_pixels4(to, map, bar, channel, p[2], p[1], p[3], o[2], o[1]);
#else
    kw_tensor_pixels5(to, map, bar, channel, p[2], p[1], p[0], p[3], o[2], o[1], o[0]);
#endif
}

KW_DEVICE void kw_feed_bring(kw_feed *f, const kw_gpu_args *a, char *to, char *bar) {
    char *second = to + KW_STAGE_BYTES_A;
#if KW_WEIGHT
    KW_UNROLL
    for (int i = 0; i < KW_TILE_M; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + i * 128, &a->map[KW_A], bar, f->row + i, f->number, 0);
    KW_UNROLL
    for (int i = 0; i < KW_TILE_N / KW_SLAB_ELEMENTS; i++) {
        KW_UNROLL
        for (int axis = KW_FIRST_AXIS; axis < 3; axis++)
            f->offset[axis] = f->piece[i] >> (2 - axis) * KW_OFFSET_BITS & (1 << KW_OFFSET_BITS) - 1;
        kw_feed_image(f, &a->map[KW_B], second + i * KW_SLAB_ELEMENTS * 128, bar, (int)(f->piece[i] >> 16) * KW_SLAB_ELEMENTS);
    }
    f->number += KW_TILE_K;
    kw_feed_pixel(f, a, f->number);
#else
    kw_feed_image(f, &a->map[KW_A], to, bar, f->block * KW_SLAB_ELEMENTS);
#if KW_DATA
    KW_UNROLL
    for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(second + i * 128, &a->map[KW_B], bar, f->col + i, f->tap, f->block * KW_SLAB_ELEMENTS);
#else
    kw_tensor_load3(second, &a->map[KW_B], bar, f->block * KW_SLAB_ELEMENTS, f->tap, f->col);
#endif
    if (++f->block == kw_feed_blocks(a)) {
        f->block = 0;
        f->tap++;
        kw_feed_tap(f, a);
    }
#endif
}

KW_DEVICE const char *kw_operand(const kw_gpu_args *a, int which) {
    return which == KW_A ? (KW_FORWARD ? a->x : a->y) : (KW_WEIGHT ? a->x : a->w);
}

/* Rows are pixels, or the channels of a tap of an output channel. */
KW_DEVICE kw_i64 kw_operand_rows(const kw_gpu_args *a, int which, int *row) {
    int of_y = which == KW_A && !KW_FORWARD;
    *row = (int)(of_y ? a->k : a->c);
    if (which == KW_B && !KW_WEIGHT) return a->k * kw_feed_taps(a);
    return a->n * (of_y ? a->out[0] * a->out[1] * a->out[2] : a->in[0] * a->in[1] * a->in[2]);
}

KW_DEVICE void kw_result_put(const kw_gpu_args *a, const kw_work *work, const char *piece, int row, int col) {
#if KW_WEIGHT
    int tap, block = kw_feed_piece(a, work, col, &tap);
    kw_tensor_store3(&a->map[2], piece, block * KW_SLAB_ELEMENTS, tap, work->row + row);
#else
    kw_tensor_store3(&a->map[2], piece, work->col + col, work->row + row, 0);
#endif
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    row += work->row;
    *ok &= row < (KW_WEIGHT ? (int)a->k : kw_feed_pixels(a));
    return row * (KW_WEIGHT ? kw_feed_taps(a) * a->c : KW_DATA ? a->c : a->k);
}

KW_DEVICE kw_i64 kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
#if KW_WEIGHT
    int tap, first = kw_feed_piece(a, work, col, &tap) * KW_SLAB_ELEMENTS;
    *cols = tap < kw_feed_taps(a) ? (int)a->c - first : 0;
    return tap * a->c + first;
#else
    *cols = (int)(KW_DATA ? a->c : a->k) - work->col - col;
    return work->col + col;
#endif
}

#endif
