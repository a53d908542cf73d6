/* planes.h: what gpu/pipeline/overlap.h asks of a convolution with a 1x1 filter, stride 1 and no padding whose tensors have their channels first
 * (KW_PLANES): a product for each image in which x and y lie as they are, a row of pixels a channel.
 *
 *   direction    rows   columns   depth           first operand             second operand               result, by its map
 *   forward      k      pixels    c               w (c, k, -)               x, columns contiguous        y (pixel, k, image)
 *   bwd_data     c      pixels    k               w, rows contiguous        y, columns contiguous        x (pixel, c, image)
 *   bwd_weight   k      c         image, pixels   y (pixel, k, image)       x (pixel, c, image)          w (c, -, k)
 *
 * Bulk copies want channels that begin at multiples of 16 bytes, and bulk stores write whole 16 bytes: images are of whole 8 pixels, and so are
 * pitches (KW_PITCHED). Groups are products of their own, as in gpu/igemm/feed.h; kw_work.batch counts images, then groups. */
#ifndef KW_IGEMM_PLANES_H
#define KW_IGEMM_PLANES_H

#define KW_PHASES 0

typedef struct kw_feed {
    int row, col, k; /* of the tile; of the step, in channels, for bwd_weight in pixels */
    int image, group;
    int pixels;
} kw_feed;

KW_DEVICE int kw_plane_pixels(const kw_gpu_args *a) { return (int)(a->out[0] * a->out[1] * a->out[2]); }
KW_DEVICE int kw_plane_channels(const kw_gpu_args *a) { return (int)(KW_DATA ? a->c : a->k); } /* of a group, of the result; rows */
KW_DEVICE int kw_plane_image(const kw_gpu_args *a, const kw_work *work) {
    return a->groups == 1 ? work->batch : work->batch / (int)a->groups;
}
KW_DEVICE int kw_plane_group(const kw_gpu_args *a, const kw_work *work) {
    return a->groups == 1 ? 0 : KW_WEIGHT ? work->batch : work->batch % (int)a->groups;
}

KW_DEVICE int kw_feed_steps(const kw_gpu_args *a, const kw_work *work) {
    (void)work;
    return KW_WEIGHT ? (int)a->n * KW_CEIL(kw_plane_pixels(a), KW_TILE_K) : (int)KW_CEIL(KW_DATA ? a->k : a->c, KW_TILE_K);
}

KW_DEVICE void kw_feed_start(kw_feed *f, const kw_gpu_args *a, const kw_work *work) {
    f->row = work->row;
    f->col = work->col;
    f->pixels = kw_plane_pixels(a);
    f->group = kw_plane_group(a, work);
    f->k = work->first * KW_TILE_K;
#if KW_WEIGHT
    int steps = KW_CEIL(f->pixels, KW_TILE_K);
    f->image = work->first / steps;
    f->k = (work->first - f->image * steps) * KW_TILE_K;
#else
    f->image = kw_plane_image(a, work);
#endif
}

#if KW_WEIGHT
KW_DEVICE void kw_feed_bring(kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar, int both) {
    (void)work, (void)both;
    kw_tensor_load3(to, &a->map[KW_A], bar, f->k, f->group * (int)a->k + f->row, f->image);
    kw_tensor_load3(to + KW_STAGE_BYTES_A, &a->map[KW_B], bar, f->k, f->group * (int)a->c + f->col, f->image);
    f->k += KW_TILE_K;
    if (f->k >= f->pixels) f->k = 0, f->image++;
}
#else
/* Weights of the step. */
KW_DEVICE void kw_feed_bring_first(const kw_feed *f, const kw_gpu_args *a, int line, char *to, char *bar) {
#if KW_DATA
    KW_UNROLL
    for (int i = 0; i < KW_TILE_M; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + i * 128, &a->map[KW_A], bar, f->row + i, 0, line);
#else
    (void)line;
    kw_tensor_load3(to, &a->map[KW_A], bar, f->k, f->group * (int)a->k + f->row, 0);
#endif
}

/* both: they are not there from the tile before. */
KW_DEVICE void kw_feed_bring(kw_feed *f, const kw_gpu_args *a, const kw_work *work, char *to, char *bar, int both) {
    int line = f->group * (int)(KW_DATA ? a->k : a->c) + f->k;
    (void)work;
    if (both) kw_feed_bring_first(f, a, line, to, bar);
    KW_UNROLL
    for (int i = 0; i < KW_TILE_N; i += KW_SLAB_ELEMENTS)
        kw_tensor_load3(to + KW_STAGE_BYTES_A + i * 128, &a->map[KW_B], bar, f->col + i, line, f->image);
    f->k += KW_TILE_K;
}
#endif

/* What lies behind a group's last channel is another group's. */
KW_DEVICE void kw_result_put(const kw_gpu_args *a, const kw_work *work, const char *piece, int row, int col) {
    int first = kw_plane_group(a, work) * kw_plane_channels(a);
    row += work->row;
    col += work->col;
    if (row >= kw_plane_channels(a)) return;
#if KW_WEIGHT
    kw_tensor_store3(&a->map[2], piece, col, 0, first + row);
#else
    kw_tensor_store3(&a->map[2], piece, col, first + row, kw_plane_image(a, work));
#endif
}

/* A row's channel among those of all groups. */
KW_DEVICE int kw_plane_channel(const kw_gpu_args *a, const kw_work *work, int row) {
    return kw_plane_group(a, work) * kw_plane_channels(a) + work->row + row;
}

KW_DEVICE kw_i64 kw_result_row(const kw_gpu_args *a, const kw_work *work, int row, int *ok) {
    kw_i64 channel = kw_plane_channel(a, work, row);
    *ok &= work->row + row < kw_plane_channels(a);
#if KW_PITCHED && !KW_WEIGHT
    const kw_i64 *step = KW_DATA ? a->x_step : a->y_step;
    return kw_plane_image(a, work) * step[0] + channel * step[4];
#else
    return KW_WEIGHT ? channel * a->c : (kw_plane_image(a, work) * a->groups * kw_plane_channels(a) + channel) * kw_plane_pixels(a);
#endif
}

KW_DEVICE kw_i64 kw_result_col(const kw_gpu_args *a, const kw_work *work, int col, int *cols) {
    *cols = (KW_WEIGHT ? (int)a->c : kw_plane_pixels(a)) - work->col - col;
    return work->col + col;
}

#endif
