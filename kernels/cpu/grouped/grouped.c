/* grouped.c: convolutions with few channels a group: depthwise and merged groups, and those of any width (grouped_any.h), forward and
 * backward data. Channels last, one vector of result channels at a time.
 *
 * A filter is covered by windows of KW_TAPS_H x KW_TAPS_W taps. kw_tile() sums any number of windows for KW_PIXELS result pixels. It
 * finds its source and result pixels through indirection buffers: offsets of pixels, worked out once for a row of tiles and used for
 * every vector of channels and, inside the image, for every row. A source pixel outside the image is that of a vector of zeros and a
 * result pixel outside one of scratch memory, so there is one copy of the code and no test in it; padding, dilation and the residues of
 * backward data exist only in the buffers.
 *
 * Backward data with a stride: on an axis where a window has one tap, by walks (kw_walk). Where it has the whole filter, a tile starts at
 * a multiple of the stride, and the emitted code pairs each result pixel with the taps that serve it. */
#include "cpu/grouped/args.h"
#define KW_KERNEL_PARAMS kw_grouped_params
#include "kw_config.h"

#define KW_TO_BYTES KW_OUT_BYTES
#include "cpu/grouped/grouped.h"
#include "cpu/grouped/grouped_indirection.h"
#include "cpu/grouped/grouped_result.h"

#ifdef KW_ROW_PAIRS
#define KW_DECLARE_SUM(a, i) kw_vf a##l = {0}, a##h = {0};
#define KW_STORE_SUM(a, i) kw_store_pairs(dst + to[i], a##l, a##h);
#else
#define KW_DECLARE_SUM(a, i) kw_vf a = {0};
#define KW_STORE_SUM(a, i) kw_store_x(dst + to[i], a);
#endif

#define KW_CORRECT_SUM(a, i) a = (kw_vf)((kw_vi)a + head);
#if KW_CORRECTS && !KW_X_ZERO
#undef KW_AND_ZERO
#define KW_AND_ZERO(at) , at
#endif

#if KW_REACH
#define KW_AND_LANES(at) , at /* an argument more */
#define KW_AND_STEPS(at) , at
#define STEPS steps
#define PICK(step) kw_group_lanes_step(lanes, step)
#else
#define KW_AND_LANES(at)
#define KW_AND_STEPS(at)
#define STEPS KW_STEPS
#define PICK(step) kw_lane_source_at(step)
#endif

/* Sums windows windows of a tile's entries of the indirection buffer into its result pixels. */
static void kw_tile(const kw_i64 *from, kw_i64 windows, const kw_i64 *to, const char *src, const char *weights,
                    char *dst KW_AND_LANES(const kw_group_lanes *lanes) KW_AND_STEPS(kw_i64 steps) KW_AND_ZERO(kw_vf zero)
                        KW_AND_W_ZEROS(kw_vf w_zeros) KW_AND_CHANNELS(const kw_channels *at)) {
#if KW_REACH == 2 && !KW_WHOLE
    kw_i64 far = lanes->far * KW_BYTES;
#endif
#if KW_WIDENS_AHEAD
    kw_widened widened[KW_SOURCES];
#endif
    KW_EACH_SUM(KW_DECLARE_SUM)
#if KW_CORRECTS
    kw_vi head = {0};
#endif
    for (; windows; windows--, from += KW_ENTRY) {
        const char *w = weights + from[0] + KW_HEAD_BYTES;
#if KW_CORRECTS
        head += *(const kw_vi *)(weights + from[0]);
#endif
#if KW_WIDENS_AHEAD
        for (kw_i64 i = 0; i < KW_SOURCES; i++)
            kw_widen_ahead(widened[i], src + from[1 + i]);
#endif
#if KW_MIXES
        for (kw_i64 step = 0; step < STEPS; step++, w += KW_STEP_VECTORS * KW_VECTOR) {
            kw_lane_source_index pick = PICK(step);
            KW_MULTIPLY
        }
#else
        KW_MULTIPLY
#endif
    }
#if KW_CORRECTS
    head *= (kw_vi)zero;
    KW_EACH_SUM(KW_CORRECT_SUM)
#endif
#if KW_EPILOGUE
    if (KW_RESULTS_IN_LINE && at->inside && kw_writes_all(at)) {
        kw_tables tables = kw_tables_of();
        KW_HOLD_PARTS(held)
        KW_EACH_SUM(KW_RESULT_SUM)
        return;
    }
    kw_vf sums[KW_PIXELS * KW_PARTS_OF_SUM];
    KW_EACH_SUM(KW_SPILL_SUM)
    kw_write_sums(sums, dst, to, at);
#else
    KW_EACH_SUM(KW_STORE_SUM)
#endif
}

#if !KW_REACH
/* Fewer result channels than a vector: result pixels pass through thread memory, a vector each, and at the end of the tensor source pixels,
 * too. The other lanes have a next pixel's. */
static void narrow_tile(const kw_job *j, kw_i64 tile, const kw_i64 *from, const char *src, const char *weights, char *dst) {
    kw_i64 sources = j->a->groups * KW_SRC_GROUP * KW_BYTES, results = j->a->groups * KW_DST_GROUP;
    const kw_i64 windows = j->windows[tile], *to = j->to + tile * KW_PIXELS;
    const char *end = kw_src_tensor(j->a) + KW_FROM_SPAN(j->a, j);
    (void)results;
    kw_vf zero __attribute__((unused)) = kw_zeros_of_x(j->a);
    kw_i64 *from_here = j->narrow, *to_here = from_here + windows * KW_ENTRY;
    char *pixels = (char *)(((kw_u64)(to_here + KW_PIXELS) + KW_VECTOR - 1) / KW_VECTOR * KW_VECTOR), *at = pixels;
    int copies = 0;
    for (kw_i64 w = 0; j->at_end && w < windows; w++)
        copies |= kw_reaches(from + w * KW_ENTRY + 1, KW_SOURCES, src, end);
    for (kw_i64 i = 0; copies && i < windows * KW_ENTRY; i++) {
        from_here[i] = from[i];
        if (i % KW_ENTRY == 0) continue;
        kw_put(at, kw_get_bytes(src + from[i], sources));
        from_here[i] = at - pixels;
        at += KW_VECTOR;
    }
    if (copies) from = from_here, src = pixels;
#if KW_EPILOGUE /* the pixels that exist, by lanes */
    kw_channels channels = kw_channels_of(j->a);
    kw_tile(from, windows, to, src, weights, dst KW_AND_ZERO(zero) KW_AND_W_ZEROS(kw_zeros_of_w(j->a, 0)),
            kw_channels_set(&channels, 0, 0));
#else
    for (kw_i64 i = 0; i < KW_PIXELS; i++)
        to_here[i] = i * KW_VECTOR;
    kw_tile(from, windows, to_here, src, weights, at KW_AND_ZERO(zero) KW_AND_W_ZEROS(kw_zeros_of_w(j->a, 0)));
    KW_STATIC_ASSERT(KW_CHANNELS * KW_OUT_BYTES <= KW_VECTOR, "a result pixel passes as one vector");
    for (kw_i64 i = 0; i < KW_PIXELS; i++)
        kw_put_bytes(dst + to[i], kw_load(at + to_here[i]), results * KW_OUT_BYTES);
#endif
}

#endif

/* One row of tiles, all vectors of the block. */
static void run_row(const kw_job *j, const kw_block *b, kw_i64 tiles, const char *src, char *dst) {
    kw_i64 vector_bytes = kw_windows(j->a) * kw_window_bytes(j->a);
    const char *weights = j->a->packed + b->begin * vector_bytes;
    const kw_i64 *from = j->from;
#if !KW_REACH
    if (j->a->groups * KW_DST_GROUP < KW_CHANNELS) {
        for (kw_i64 t = 0; t < tiles; from += j->windows[t] * KW_ENTRY, t++)
            narrow_tile(j, t, from, src, weights, dst);
        return;
    }
#endif
#if KW_EPILOGUE
    kw_channels channels = kw_channels_of(j->a);
    kw_i64 whole = j->to_padding_count ? j->to_padding[0] / KW_PIXELS : tiles; /* tiles before the first that reaches beyond the image */
#endif
    kw_vf zero __attribute__((unused)) = kw_zeros_of_x(j->a);
    for (kw_i64 t = 0; t < tiles; from += j->windows[t] * KW_ENTRY, t++) {
#if KW_EPILOGUE
        channels.inside = t < whole;
#endif
        const kw_i64 *to = j->to + t * KW_PIXELS;
        for (kw_i64 v = b->begin; v < b->end; v++) {
#if KW_REACH
            const kw_group_lanes *lanes = &j->lanes[v - b->begin];
            kw_i64 channel = lanes->dst, source = lanes->src;
#else
            kw_i64 channel = kw_first_channel(j->a, v), source = channel / KW_DST_GROUP * KW_SRC_GROUP;
#endif
            kw_tile(from, j->windows[t], to, src + (source - b->src) * KW_BYTES, weights + (v - b->begin) * vector_bytes,
                    dst + (channel - b->dst) * KW_OUT_BYTES KW_AND_LANES(lanes) KW_AND_STEPS(kw_steps(j->a)) KW_AND_ZERO(zero)
                                                   KW_AND_W_ZEROS(kw_zeros_of_w(j->a, channel))
                                                       KW_AND_CHANNELS(kw_channels_set(&channels, v, channel)));
        }
    }
}

/* Whether a vector of a row of tiles may reach beyond the source: of the last image, and of a plane its last rows. */
static int row_is_at_end(const kw_job *j, kw_i64 image, const char *row_src) {
    const kw_kernel_args *a = j->a;
    kw_i64 rows = (a->filter[1] + KW_TILE_H) * a->dilation[1] + KW_TILE_H * a->stride[1] + a->pad[1] + 1;
    if (!KW_APART && image + 1 < a->n && j->from_image >= KW_VECTOR) return 0;
    return j->from_plane < j->from_image || row_src + rows * j->from_row + KW_VECTOR > kw_src_tensor(a) + KW_FROM_SPAN(a, j);
}

/* A row of tiles whose residue has no taps: zeros, as memory lies, in all residues of columns. */
static void sweep_row(const kw_job *j, kw_i64 row, kw_i64 col, char *dst) {
    kw_i64 pixel = j->a->groups * kw_dst_group(j->a) * KW_OUT_BYTES, left = KW_TAPS_W > 1 && KW_STRIDE > 1 ? j->width.to_first : 0;
    kw_i64 first = kw_max(left + col * j->width.to_tile, 0);
    kw_i64 bytes = (kw_min(left + (col + j->a->params.col_tiles) * j->width.to_tile, j->width.to_extent) - first) * pixel;
    for (kw_i64 line = 0; line < KW_TILE_H; line++) {
        kw_i64 at = j->height.to_first + row * j->height.to_tile + line * j->height.to_step, i = 0;
        char *to = dst + at * j->to_row + first * pixel;
        if (at < 0 || at >= j->height.to_extent) continue;
        for (; i + KW_VECTOR <= bytes; i += KW_VECTOR)
            kw_put(to + i, (kw_vf){0});
        if (i < bytes) kw_put_bytes(to + i, (kw_vf){0}, bytes - i);
    }
}

/* A unit: a block of channels, an image, a plane of the result, a residue of rows, some rows and columns of tiles. */
static void run_unit(kw_job *j, const kw_block *b, kw_i64 image, kw_i64 plane, kw_i64 part, kw_i64 row, kw_i64 col) {
    const kw_kernel_args *a = j->a;
    kw_i64 depth_walks = KW_BACKWARD ? kw_walks_backward(a, 0) : 1;
    j->depth = kw_axis_of(a, 0, plane % depth_walks, 1, 1);
    j->plane = plane / depth_walks;
    j->height = kw_axis_of(a, 1, part, KW_TILE_H, KW_TAPS_H);
    const char *src = kw_src_tensor(a) + image * j->from_image + b->src * KW_BYTES;
    char *dst = kw_result(a) + image * j->to_image + plane * j->to_plane + b->dst * KW_OUT_BYTES;
    kw_i64 row_end = kw_min(row + a->params.row_tiles, j->height.tiles);
    kw_i64 all = b->begin == 0 && b->end == kw_ceil(a->groups * kw_lane_group(a), KW_CHANNELS);
    int sweeps = KW_BACKWARD && !KW_EPILOGUE && !KW_APART && all && !j->height.windows;
    kw_i64 parts = kw_parts(a, 2, KW_TAPS_W);
    j->width = kw_axis_of(a, 2, 0, KW_TILE_W, KW_TAPS_W);
    for (kw_i64 r = row; sweeps && r < row_end; r++)
        sweep_row(j, r, col, dst);
    for (kw_i64 p = 0; p < parts && !sweeps; p += a->params.near_parts) {
        kw_i64 tiles = 0, filled = 0;
        j->parts = kw_min(a->params.near_parts, parts - p);
        for (kw_i64 i = 0; i < j->parts; i++)
            j->widths[i] = kw_axis_of(a, 2, p + i, KW_TILE_W, KW_TAPS_W);
        for (kw_i64 r = row; r < row_end; r++) {
            if (!filled || !kw_inside(&j->height, r)) {
                tiles = kw_indirection_init_src(j, r, 1, col, a->params.col_tiles);
                kw_indirection_init_dst(j, r, 1, col, a->params.col_tiles);
                filled = kw_inside(&j->height, r);
            }
            const char *row_src = src + r * j->height.from_tile * j->from_row;
            char *row_dst = dst + r * j->height.to_tile * j->to_row;
            kw_fill_padding(j->from, j->from_padding, j->from_padding_count, j->zeros, row_src);
            kw_fill_padding(j->to, j->to_padding, j->to_padding_count, j->scratch, row_dst);
            j->at_end = row_is_at_end(j, image, row_src);
            run_row(j, b, tiles, row_src, row_dst);
        }
    }
}

#if !KW_WHOLE
/* A tap of a window as a pointer into w; NULL for what counts as zero. */
static const char *tap_of(const kw_kernel_args *a, kw_i64 channel, kw_i64 z, const kw_i64 window[2], kw_i64 row, kw_i64 col,
                          kw_i64 source) {
    kw_i64 y = row < 0 ? -1 : kw_filter_index(a, 1, KW_TAPS_H, window[0], row),
           x = col < 0 ? -1 : kw_filter_index(a, 2, KW_TAPS_W, window[1], col);
    if (y < 0 || x < 0 || channel >= a->groups * kw_dst_group(a)) return 0;
    return a->w + kw_weight_at(a, channel, z, y, x, source) * KW_BYTES;
}

/* One lane's weight of a step: the tap (with KW_DP the pair) number tap of a window. */
static float weight_of(const kw_kernel_args *a, kw_i64 channel, kw_i64 z, const kw_i64 window[2], kw_i64 step, kw_i64 tap) {
    kw_i64 row = tap / KW_TAPS_W, col = tap % KW_TAPS_W;
#if KW_DP
#if defined KW_ROW_PAIRS && KW_TAPS_H == 1
    const char *low = tap_of(a, channel, z, window, 0, kw_row_pairs[tap][0], step);
    const char *high = tap_of(a, channel, z, window, 0, kw_row_pairs[tap][1], step);
#elif defined KW_ROW_PAIRS
    const char *low = tap_of(a, channel, z, window, kw_row_pairs[row][0], col, step);
    const char *high = tap_of(a, channel, z, window, kw_row_pairs[row][1], col, step);
#else
    const char *low = tap_of(a, channel, z, window, row, col, 2 * step);
    const char *high = tap_of(a, channel, z, window, row, col, 2 * step + 1);
#endif
    union {
        kw_u32 u;
        float f;
    } both = {(low ? *(const kw_u16_u *)low : 0) | (high ? (kw_u32) * (const kw_u16_u *)high : 0) << 16};
    return both.f;
#else
    const char *at = tap_of(a, channel, z, window, row, col, step);
    return at ? kw_load_1(at) : 0.0f;
#endif
}
#endif

#if KW_WHOLE
/* A lane's word of a step: the weights of KW_PAIR elements of a pixel's, zero where these are not its group's. */
static kw_u32 word_of(const kw_i8 *w, kw_i64 first, kw_i64 count, kw_i64 apart) {
    kw_u32 word = 0;
    for (kw_i64 i = 0; i < KW_PAIR; i++) {
        kw_u32 weight = first + i >= 0 && first + i < count ? (kw_u32)w[(first + i) * apart] : 0;
        word |= KW_PAIR == 4 ? (weight & 0xff) << 8 * i : (weight & 0xffff) << 16 * i;
    }
    return word;
}

/* The windows of a vector of result channels: of each the sums of its lanes' weights, then these, taps of a step side by side. */
static void pack_vector(const kw_kernel_args *a, kw_i64 vector, char *to) {
    kw_i64 first = kw_first_channel(a, vector), own = kw_lane_group(a), other = kw_other_group(a), steps = kw_steps(a);
    kw_i64 down = kw_ceil(a->filter[1], KW_TAPS_H), across = kw_ceil(a->filter[2], KW_TAPS_W), taps = KW_STEP_VECTORS;
    kw_i64 apart = KW_BACKWARD ? kw_weight_at(a, 0, 0, 0, 0, 1) : 1, base = kw_group_lanes_at(a, first).other;
    for (kw_i64 window = 0; window < a->filter[0] * down * across; window++) {
        char *head = to;
        kw_vf sums = {0};
        to += KW_VECTOR;
        for (kw_i64 i = 0; i < steps * taps; i++, to += KW_VECTOR) {
            kw_i64 row = i % taps / KW_TAPS_W, col = i % KW_TAPS_W, z = window / across / down;
            kw_i64 y = kw_filter_index(a, 1, KW_TAPS_H, window / across % down, row),
                   x = kw_filter_index(a, 2, KW_TAPS_W, window % across, col);
            kw_u32 words[KW_LANES] = {0};
            for (kw_i64 lane = 0; lane < KW_LANES && y >= 0 && x >= 0; lane++) {
                kw_i64 channel = first + lane, group = channel / own;
                if (group >= a->groups) break;
                words[lane] = word_of((const kw_i8 *)a->w + kw_weight_at(a, channel, z, y, x, 0),
                                      i / taps * KW_PAIR - (group * other - base) % KW_PAIR, other, apart);
            }
            kw_vf vector_of_words = kw_load(words);
            kw_put(to, vector_of_words);
            sums = kw_dot(sums, (kw_vf)((KW_PAIR == 4 ? 0x01010101 : 0x00010001) + (kw_vi){0}), vector_of_words);
        }
        kw_put(head, sums);
    }
}
#endif

static void own_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    (void)thread_memory;
#if KW_WHOLE
    for (kw_i64 v = begin; v < end; v++)
        pack_vector(a, v, a->packed + v * kw_windows(a) * kw_window_bytes(a));
#else
    kw_i64 down = kw_ceil(a->filter[1], KW_TAPS_H), across = kw_ceil(a->filter[2], KW_TAPS_W), windows = a->filter[0] * down * across;
    kw_f32_u *to = (kw_f32_u *)(a->packed + begin * windows * kw_window_bytes(a));
    for (kw_i64 i = begin * windows; i < end * windows; i++) {
        kw_i64 window[2] = {i / across % down, i % across}, first = kw_first_channel(a, i / windows);
        for (kw_i64 step = 0; step < kw_steps(a); step++) {
            for (kw_i64 tap = 0; tap < KW_STEP_VECTORS; tap++, to += KW_LANES) {
                for (kw_i64 lane = 0; lane < KW_LANES; lane++) {
                    to[lane] = weight_of(a, first + KW_LANE_CHANNEL(tap % KW_HALVES, lane), i / (down * across) % a->filter[0], window,
                                         step, tap / KW_HALVES);
                }
            }
        }
    }
#endif
}

static void own_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_job job = kw_job_of(a, thread_memory);
    kw_i64 height = kw_axis_of(a, 1, 0, KW_TILE_H, KW_TAPS_H).tiles, width = kw_axis_of(a, 2, 0, KW_TILE_W, KW_TAPS_W).tiles;
    kw_i64 bands = kw_ceil(height, a->params.row_tiles), spans = kw_ceil(width, a->params.col_tiles);
    kw_i64 parts = kw_parts(a, 1, KW_TAPS_H), planes = KW_BACKWARD ? a->in[0] : a->out[0];
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 rest = unit;
        kw_i64 span = rest % spans;
        rest /= spans;
        kw_i64 band = rest % bands;
        rest /= bands;
        kw_i64 part = rest % parts;
        rest /= parts;
        kw_i64 plane = rest % planes;
        rest /= planes;
        kw_block block = kw_block_of(a, rest / a->n);
#if KW_REACH
        for (kw_i64 v = block.begin; v < block.end; v++)
            job.lanes[v - block.begin] = kw_group_lanes_at(a, kw_first_channel(a, v));
#endif
        run_unit(&job, &block, rest % a->n, plane, part, band * a->params.row_tiles, span * a->params.col_tiles);
    }
}

#include "cpu/lib/reorder.h"
