/* feed.h: what gpu/lib/overlap.h asks of a convolution: pixels by bulk copies that walk over an image (im2col), filters by others.
 *
 *   direction    first operand, a step of 64 depths               second operand                      result, by its map
 *   forward      64 channels of x under a tap, pixel by pixel     (channel, tap, k), depth contiguous       (k, pixel, -)
 *   bwd_data     64 channels of y under a tap, pixel by pixel     (channel, tap, k), columns contiguous     (channel, pixel, -)
 *   bwd_weight   64 pixels of y, k contiguous: (k, pixel, -)      64 pixels of x under the tile's tap       (channel, tap, k)
 *
 * So a depth's last step of each tap may have fewer channels, which come as zeros, and forward and bwd_data have that many more steps. A
 * tile of bwd_weight has columns of one tap. Strides of bwd_data are 1, and groups one; axes that a problem has not are absent. */
#ifndef KW_IGEMM_FEED_H
#define KW_IGEMM_FEED_H

typedef struct kw_feed {
    int row, col, tap, block; /* the tile's; the step's tap and block of channels, or of bwd_weight the tile's tap and first channel */
    int pixel[4];             /* source position of the first pixel: along the axes, the image */
    int number;               /* of the step's first pixel (bwd_weight) */
    int offset[3];            /* of the tap */
} kw_feed;

KW_DEVICE int kw_feed_taps(const kw_gpu_args *a) { return (int)(a->filter[0] * a->filter[1] * a->filter[2]); }
KW_DEVICE int kw_feed_blocks(const kw_gpu_args *a) { return (int)KW_CEIL(KW_DATA ? a->k : a->c, KW_WEIGHT ? KW_TILE_N : KW_SLAB_ELEMENTS); }

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

KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    int blocks = kw_feed_blocks(a), unit = KW_WEIGHT ? work->col / KW_TILE_N : work->first;
    f->row = work->row;
    f->col = work->col;
    f->tap = unit / blocks;
    f->block = unit - f->tap * blocks;
    f->number = KW_WEIGHT ? work->first * KW_TILE_K : work->row;
    kw_feed_pixel(f, a, f->number);
    kw_feed_tap(f, a);
}

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
    for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
        kw_feed_image(f, &a->map[KW_B], second + i * 128, bar, f->block * KW_TILE_N + i);
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

KW_DEVICE void kw_result_put(const kw_gpu_args *a, const kw_work *work, const char *piece, int row, int col) {
#if KW_WEIGHT
    int blocks = kw_feed_blocks(a), tile = work->col / KW_TILE_N, tap = tile / blocks;
    kw_tensor_store3(&a->map[2], piece, (tile - tap * blocks) * KW_TILE_N + col, tap, work->row + row);
#else
    kw_tensor_store3(&a->map[2], piece, work->col + col, work->row + row, 0);
#endif
}

KW_DEVICE kw_i64 kw_result_at(const kw_gpu_args *a, const kw_work *work, int row, int col, int *ok) {
#if KW_WEIGHT
    int blocks = kw_feed_blocks(a), tile = work->col / KW_TILE_N, tap = tile / blocks;
    col += (tile - tap * blocks) * KW_TILE_N;
    row += work->row;
    *ok &= row < a->k && col < a->c;
    return ((kw_i64)row * kw_feed_taps(a) + tap) * a->c + col;
#else
    int cols = (int)(KW_DATA ? a->c : a->k);
    row += work->row;
    col += work->col;
    *ok &= row < kw_feed_pixels(a) && col < cols;
    return (kw_i64)row * cols + col;
#endif
}

#endif
