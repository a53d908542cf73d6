/* grouped_weight.c: weight gradient of convolutions with few channels a group: depthwise and merged groups, and those of any width
 * (grouped_any.h). Channels last, one vector of output channels at a time; a vector's lanes are output channels, as in grouped.c, and so are
 * indirection buffers and windows. With KW_LANES_C lanes are input channels, and what is said of input channels here holds for the output's.
 *
 * bf16 by dp, and int8, whose sums are int32: two result rows are multiplied together, with the source rows that a filter row joins to them; a
 * vector has twice as many channels, whose sums are two vectors (grouped.h).
 *
 * The sums of a window's taps stay in registers over the tiles that an indirection buffer holds, as many rows as its size allows. A unit
 * (some vectors and a window) goes over all pixels of all images, so no two threads add to one weight; where these are few, over a share of the
 * rows of tiles (params.shares), and stage 1 adds what the shares have. A pixel outside the image is one of zeros on either side. */
#include "cpu/grouped/args.h"
#define KW_KERNEL_PARAMS kw_grouped_params
#include "kw_config.h"

#define KW_TO_BYTES KW_BYTES
#define KW_WIDENS_AHEAD 0
#include "cpu/grouped/grouped.h"
#include "cpu/grouped/grouped_indirection.h"
#if !KW_REACH
#define KW_AND_FAR(at)
#endif

#ifdef KW_ROW_PAIRS
#define KW_LOAD_SUM(a, i) kw_vf a##l = kw_load(sums + 2 * (i)*KW_VECTOR), a##h = kw_load(sums + (2 * (i) + 1) * KW_VECTOR);
#define KW_PUT_SUM(a, i)                                                                                                                   \
    kw_put(sums + 2 * (i)*KW_VECTOR, a##l);                                                                                                \
    kw_put(sums + (2 * (i) + 1) * KW_VECTOR, a##h);
#else
#define KW_LOAD_SUM(a, i) kw_vf a = kw_load(sums + (i)*KW_VECTOR);
#define KW_PUT_SUM(a, i) kw_put(sums + (i)*KW_VECTOR, a);
#endif

/* Adds the products of so many tiles of the indirection buffers to the window's sums. */
static void kw_tile(const kw_i64 *from, const kw_i64 *to, kw_i64 tiles, const char *src, const char *dst, kw_lane_source_index pick,
                    char *sums KW_AND_FAR(kw_i64 far)) {
    (void)pick;
    KW_EACH_SUM(KW_LOAD_SUM)
    for (; tiles; tiles--, from += KW_ENTRY, to += KW_PIXELS) {
        KW_MULTIPLY
    }
    KW_EACH_SUM(KW_PUT_SUM)
}

#if KW_EPILOGUE
typedef kw_out element;
#elif KW_BYTES == 4 || KW_STORAGE == 3
typedef kw_i32_u element;
#else
typedef kw_u16_u element;
#endif

enum { TAP_BYTES = KW_HALVES * KW_VECTOR };
enum { SUMS_BYTES = KW_TAPS_H * KW_TAPS_W * TAP_BYTES }; /* of a vector and an input channel of its groups */

/* What a unit sums. */
typedef struct unit {
    kw_block block;
    kw_i64 share; /* of the rows of tiles */
    kw_i64 window[3];
} unit;

/* A vector of channels: its first on either side, and what each lane takes of the other side for its channel number step. */
#if KW_REACH
typedef kw_group_lanes lanes;
KW_INLINE lanes lanes_of(const kw_kernel_args *a, kw_i64 vector) { return kw_group_lanes_at(a, kw_first_channel(a, vector)); }
KW_INLINE kw_lane_source_index pick_of(const lanes *l, kw_i64 step) { return kw_group_lanes_step(l, step); }
#else
typedef struct lanes {
    kw_i64 src, dst;
} lanes;
KW_INLINE lanes lanes_of(const kw_kernel_args *a, kw_i64 vector) {
    kw_i64 first = kw_first_channel(a, vector);
    return (lanes){first / KW_DST_GROUP * KW_SRC_GROUP, first};
}
KW_INLINE kw_lane_source_index pick_of(const lanes *l, kw_i64 step) { return (void)l, kw_lane_source_at(step); }
#endif

/* The axis seen by one window alone. */
static kw_axis axis_of_window(const kw_kernel_args *a, int i, kw_i64 part, kw_i64 tile, kw_i64 taps, kw_i64 window) {
    kw_axis x = kw_axis_of(a, i, part, tile, taps);
    x.from_first += kw_shift(&x, window);
    x.windows = 1;
    x.shift_step = x.last_shift = 0;
    return x;
}

#if KW_STAGED
#ifdef KW_PARTS
enum { SOURCE_CHANNELS = KW_PARTS };
#else
enum { SOURCE_CHANNELS = KW_SRC_GROUP };
#endif
enum { SOURCE_BYTES = KW_GROUPED_SOURCE_BYTES(KW_SRC_GROUP, KW_DST_GROUP, KW_LANES) };
enum { STAGED_BYTES = KW_GROUPED_STAGED_BYTES(KW_SOURCES, SOURCE_BYTES, KW_PIXELS, KW_LANES) }; /* of a tile */

/* The indirection buffers of the staged tiles: they never change. */
static void fill_staged(kw_job *j) {
    kw_i64 *from = j->narrow, *to = from + j->a->params.staged_tiles * KW_ENTRY;
    for (kw_i64 t = 0; t < j->a->params.staged_tiles; t++) {
        for (kw_i64 i = 0; i < KW_SOURCES; i++)
            from[t * KW_ENTRY + 1 + i] = t * STAGED_BYTES + i * SOURCE_BYTES;
        for (kw_i64 i = 0; i < KW_PIXELS; i++)
            to[t * KW_PIXELS + i] = t * STAGED_BYTES + KW_SOURCES * SOURCE_BYTES + i * KW_VECTOR;
    }
}

KW_INLINE void copy_channels(char *to, const char *from, kw_i64 count) {
    for (kw_i64 c = 0; c < count; c += KW_LANES)
        kw_put(to + 4 * c, kw_load_tail(from + c * KW_BYTES, count - c));
}

/* Some tiles at a time are copied, close together and as fp32, and then summed for each input channel. */
static void sum_vector(const kw_job *j, const lanes *l, kw_i64 tiles, const char *src, const char *dst, char *sums) {
    kw_i64 most = j->a->params.staged_tiles, *from = j->narrow, *to = from + most * KW_ENTRY;
    kw_i64 sources = kw_min(SOURCE_CHANNELS, j->a->groups * KW_SRC_GROUP), results = kw_min(KW_LANES, j->a->groups * KW_DST_GROUP);
    char *staged = (char *)(to + most * KW_PIXELS);
    for (kw_i64 first = 0; first < tiles; first += most) {
        kw_i64 count = kw_min(most, tiles - first);
        for (kw_i64 t = 0; t < count; t++) {
            const kw_i64 *words = j->from + (first + t) * KW_ENTRY + 1, *results_at = j->to + (first + t) * KW_PIXELS;
            for (kw_i64 i = 0; i < KW_SOURCES; i++)
                copy_channels(staged + from[t * KW_ENTRY + 1 + i], src + words[i], sources);
            for (kw_i64 i = 0; i < KW_PIXELS; i++)
                copy_channels(staged + to[t * KW_PIXELS + i], dst + results_at[i], results);
        }
        for (kw_i64 step = 0; step < KW_SRC_GROUP; step++)
            kw_tile(from, to, count, staged, staged, pick_of(l, step), sums + step * SUMS_BYTES KW_AND_FAR(l->far * KW_BYTES));
    }
}
#else
static void fill_staged(kw_job *j) { (void)j; }

/* Of fewer channels than a vector has, a tile at the end of a tensor: pixels pass through thread memory, a vector each. */
static void narrow_tile(const kw_job *j, const lanes *l, kw_i64 tile, const char *src, const char *dst, char *sums) {
    kw_i64 sources = kw_min(j->a->groups * kw_src_group(j->a), KW_CHANNELS) * KW_BYTES;
    kw_i64 results = kw_min(j->a->groups * kw_dst_group(j->a), KW_CHANNELS) * KW_BYTES;
    kw_i64 *from = j->narrow, *to = from + KW_ENTRY;
    char *pixels = (char *)(to + KW_PIXELS);
    for (kw_i64 i = 0; i < KW_SOURCES + KW_PIXELS; i++) {
        kw_i64 is_source = i < KW_SOURCES, count = is_source ? sources : results;
        const char *pixel = is_source ? src + j->from[tile * KW_ENTRY + 1 + i] : dst + j->to[tile * KW_PIXELS + i - KW_SOURCES];
        kw_put(pixels + i * KW_VECTOR, kw_get_bytes(pixel, count));
        *(is_source ? &from[1 + i] : &to[i - KW_SOURCES]) = i * KW_VECTOR;
    }
    for (kw_i64 step = 0; step < kw_other_group(j->a); step++)
        kw_tile(from, to, 1, pixels, pixels, pick_of(l, step), sums + step * SUMS_BYTES KW_AND_FAR(l->far * KW_BYTES));
}

static void sum_vector(const kw_job *j, const lanes *l, kw_i64 tiles, const char *src, const char *dst, char *sums) {
    const kw_kernel_args *a = j->a;
    kw_i64 steps = kw_other_group(a);
    const char *src_end = a->x + KW_FROM_SPAN(a, j), *dst_end = a->y + KW_TO_SPAN(a, j);
    for (kw_i64 first = 0, last; first < tiles; first = last) {
        kw_i64 most = kw_min(first + a->params.near_tiles, tiles);
        last = j->at_end ? first : most; /* of fewer channels the other lanes have a next pixel's, and are not stored */
        while (last < most && !kw_reaches(j->from + last * KW_ENTRY + 1, KW_SOURCES, src, src_end) &&
               !kw_reaches(j->to + last * KW_PIXELS, KW_PIXELS, dst, dst_end))
            last++;
        for (kw_i64 step = 0; first < last && step < steps; step++)
            kw_tile(j->from + first * KW_ENTRY, j->to + first * KW_PIXELS, last - first, src, dst, pick_of(l, step),
                    sums + step * SUMS_BYTES KW_AND_FAR(l->far * KW_BYTES));
        if (last < most) narrow_tile(j, l, last++, src, dst, sums);
    }
}
#endif

/* The tiles in the indirection buffers, all vectors of the unit. */
static void sum_tiles(const kw_job *j, const unit *u, kw_i64 tiles, const char *src, const char *dst, char *sums) {
    for (kw_i64 v = u->block.begin; v < u->block.end; v++, sums += kw_other_group(j->a) * SUMS_BYTES) {
        lanes l = lanes_of(j->a, v);
        sum_vector(j, &l, tiles, src + (l.src - u->block.src) * KW_BYTES, dst + (l.dst - u->block.dst) * KW_BYTES, sums);
    }
}

/* A pixel has fewer channels than a vector that is loaded of it. */
KW_INLINE int is_narrow(const kw_kernel_args *a) { return a->groups * (KW_REACH ? kw_other_group(a) : kw_dst_group(a)) < KW_CHANNELS; }

/* Whether rows of tiles up to number row of these planes reach so close to the end of a tensor that a vector may lie beyond it. */
static int ends_at(const kw_job *j, kw_i64 row, const char *src, const char *dst) {
    const kw_axis *h = &j->height;
    kw_i64 last_src = h->from_first + row * h->from_tile + (h->sources - 1) * h->from_step;
    kw_i64 last_dst = h->to_first + row * h->to_tile + (h->tile - 1) * h->to_step;
    last_src = kw_min(last_src, h->from_extent - 1);
    last_dst = kw_min(last_dst, h->to_extent - 1);
    return src + (last_src + 1) * j->from_row + KW_VECTOR > j->a->x + KW_FROM_SPAN(j->a, j) ||
           dst + (last_dst + 1) * j->to_row + KW_VECTOR > j->a->y + KW_TO_SPAN(j->a, j);
}

/* The tiles of an axis of which some source pixel is inside; those between them have some as well. */
static void used_tiles(const kw_axis *x, kw_i64 *first, kw_i64 *last) {
    for (*first = 0; *first < x->tiles && !kw_is_used(x, *first, 0);)
        ++*first;
    for (*last = x->tiles; *first < *last && !kw_is_used(x, *last - 1, 0);)
        --*last;
}

/* The share's rows of all planes of all images, for one residue of rows and columns and some columns of tiles. Buffers filled inside the image hold for every
 * plane. */
static void sum_columns(kw_job *j, const unit *u, kw_i64 col, kw_i64 tiles, char *sums) {
    const kw_kernel_args *a = j->a;
    const kw_axis *h = &j->height;
    kw_i64 filled = 0, first, last;
    used_tiles(h, &first, &last);
    kw_axis depth = axis_of_window(a, 0, 0, 1, 1, u->window[0]);
    kw_i64 used = kw_max(last - first, 0), all = a->n * depth.tiles * used, shares = a->params.shares;
    kw_i64 end = all * (u->share + 1) / shares;
    for (kw_i64 at = all * u->share / shares, rows; at < end; at += rows) {
        kw_i64 i = at / used, image = i / depth.tiles, result = i % depth.tiles, plane = depth.from_first + result * depth.from_tile;
        kw_i64 r = first + at % used;
        rows = kw_min(kw_min(a->params.row_tiles, last - r), end - at);
        if (plane < 0 || plane >= depth.from_extent) continue;
        const char *src = a->x + image * j->from_image + plane * j->from_plane + u->block.src * KW_BYTES;
        const char *dst = a->y + image * j->to_image + result * j->to_plane + u->block.dst * KW_BYTES;
        kw_i64 inside = kw_inside(h, r) && kw_inside(h, r + rows - 1);
        if (!inside || filled != rows) {
            kw_indirection_init_src(j, r, rows, col, tiles);
            kw_indirection_init_dst(j, r, rows, col, tiles);
            filled = inside ? rows : 0;
        }
        const char *row_src = src + r * h->from_tile * j->from_row, *row_dst = dst + r * h->to_tile * j->to_row;
        kw_fill_padding(j->from, j->from_padding, j->from_padding_count, j->zeros, row_src);
        kw_fill_padding(j->to, j->to_padding, j->to_padding_count, j->zeros, row_dst);
        j->at_end = is_narrow(a) && ends_at(j, r + rows - 1, src, dst);
        sum_tiles(j, u, rows * tiles, row_src, row_dst, sums);
    }
}

/* Where a channel's sum stands among a tap's. */
#ifdef KW_ROW_PAIRS
enum { QUARTER = KW_STORAGE == 3 ? 8 : 4 }; /* lanes that lie side by side in half of a sum */
#define SUM_AT(i) ((i) % (2 * QUARTER) / QUARTER * KW_VECTOR + 4 * ((i) / (2 * QUARTER) * QUARTER + (i) % QUARTER))
#else
#define SUM_AT(i) (4 * (i))
#endif

/* The sums of a window into w, where the weights of one output channel are a->filter x a->c apart. Taps that the window before has as
 * well are left to it. */
static void store(const kw_kernel_args *a, const unit *u, kw_i64 vector, kw_i64 source, const char *sums) {
    kw_i64 first = kw_first_channel(a, vector), count = kw_min(KW_CHANNELS, a->groups * kw_lane_group(a) - first);
    kw_i64 filter = a->filter[0] * a->filter[1] * a->filter[2] * a->c, step = KW_LANES_C ? 1 : filter;
    const kw_i64 rest = KW_LANES_C ? a->c - first % a->c : count; /* lanes to the next group; then a group's distance further */
    for (kw_i64 t = 0; t < KW_TAPS_H * KW_TAPS_W; t++) {
        kw_i64 y = kw_filter_index(a, 1, KW_TAPS_H, u->window[1], t / KW_TAPS_W),
               x = kw_filter_index(a, 2, KW_TAPS_W, u->window[2], t % KW_TAPS_W);
        if (y < 0 || x < 0) continue;
        element *to = (element *)a->w + kw_weight_at(a, first, u->window[0], y, x, source);
#if KW_EPILOGUE /* one by one, and each once: the last vector begins with its neighbour's */
        for (kw_i64 i = vector * KW_CHANNELS - first; i < count; i++)
            kw_result_lanes(to + i * step + (i < rest ? 0 : ((i - rest) / a->c + 1) * (a->k * filter - a->c)),
                            kw_spread(sums + t * TAP_BYTES + SUM_AT(i)), kw_place_lanes(kw_place_at(a, a->w, 0, 0), 0, 1));
#else
        element converted[KW_CHANNELS];
#if defined KW_ROW_PAIRS && KW_STORAGE == 3
        for (kw_i64 i = 0; i < KW_CHANNELS; i++)
            converted[i] = *(const element *)(sums + t * TAP_BYTES + SUM_AT(i));
#elif defined KW_ROW_PAIRS
        kw_store_pairs((char *)converted, kw_load(sums + t * TAP_BYTES), kw_load(sums + t * TAP_BYTES + KW_VECTOR));
#else
        kw_store_x(converted, kw_load(sums + t * TAP_BYTES));
#endif
        for (kw_i64 i = 0, end = kw_min(rest, count); i < count; end = kw_min(end + a->c, count), to += a->k * filter - a->c) {
            for (; i < end; i++, to += step)
                *to = converted[i];
        }
#endif
    }
}

static kw_i64 windows_of(const kw_kernel_args *a) {
    return a->filter[0] * kw_ceil(a->filter[1], KW_TAPS_H) * kw_ceil(a->filter[2], KW_TAPS_W);
}
static kw_i64 units_of_share(const kw_kernel_args *a) {
    return kw_ceil(kw_ceil(a->groups * kw_lane_group(a), KW_CHANNELS), a->params.block_vectors) * windows_of(a);
}

/* Unit number i of all shares. */
static unit unit_of(const kw_kernel_args *a, kw_i64 i) {
    kw_i64 down = kw_ceil(a->filter[1], KW_TAPS_H), across = kw_ceil(a->filter[2], KW_TAPS_W), windows = windows_of(a);
    kw_i64 units = units_of_share(a);
    kw_i64 window = i % units % windows, rest = window / across;
    return (unit){.share = i / units, .window = {rest / down, rest % down, window % across}, .block = kw_block_of(a, i % units / windows)};
}

static kw_i64 sums_of_unit(const kw_kernel_args *a, const unit *u) { return (u->block.end - u->block.begin) * kw_other_group(a); }

static void store_all(const kw_kernel_args *a, const unit *u, const char *sums) {
    for (kw_i64 s = 0, steps = kw_other_group(a), count = sums_of_unit(a, u); s < count; s++)
        store(a, u, u->block.begin + s / steps, s % steps, sums + s * SUMS_BYTES);
}

/* Where the sums of a share's unit wait. */
static char *waiting_of(const kw_kernel_args *a, kw_i64 i) {
    return a->shared + i * a->params.block_vectors * kw_other_group(a) * SUMS_BYTES;
}

static void own_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_job job = kw_job_of(a, thread_memory);
    job.depth = (kw_axis){.tiles = 1, .windows = 1, .from_extent = 1};
    job.plane = 0;
    job.parts = 1;
    fill_staged(&job);
    for (kw_i64 i = begin; i < end; i++) {
        unit u = unit_of(a, i);
        char *sums = a->params.shares > 1 ? waiting_of(a, i) : job.scratch;
        kw_i64 count = sums_of_unit(a, &u), parts = kw_parts(a, 1, KW_TAPS_H);
        for (kw_i64 t = 0; t < count * SUMS_BYTES; t += KW_VECTOR)
            kw_put(sums + t, (kw_vf){0});
        for (kw_i64 part = 0; part < parts * kw_parts(a, 2, KW_TAPS_W); part++) {
            job.height = axis_of_window(a, 1, part % parts, KW_TILE_H, KW_TAPS_H, u.window[1]);
            job.width = axis_of_window(a, 2, part / parts, KW_TILE_W, KW_TAPS_W, u.window[2]);
            kw_i64 col, last;
            job.widths[0] = job.width;
            used_tiles(&job.width, &col, &last);
            for (; col < last; col += a->params.col_tiles)
                sum_columns(&job, &u, col, kw_min(a->params.col_tiles, last - col), sums);
        }
        if (a->params.shares == 1) store_all(a, &u, sums);
    }
}

#if !KW_CHANNELS_FIRST && KW_STORAGE != 3
/* Adds what the shares have of each unit. */
static void own_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_job job = kw_job_of(a, thread_memory);
    for (kw_i64 i = begin; i < end; i++) {
        unit u = unit_of(a, i);
        kw_i64 bytes = sums_of_unit(a, &u) * SUMS_BYTES, units = units_of_share(a);
        for (kw_i64 byte = 0; byte < bytes; byte += KW_VECTOR) {
            kw_vf sum = kw_load(waiting_of(a, i) + byte);
            for (kw_i64 share = 1; share < a->params.shares; share++)
                sum += kw_load(waiting_of(a, share * units + i) + byte);
            kw_put(job.scratch + byte, sum);
        }
        store_all(a, &u, job.scratch);
    }
}
#define KW_GRADIENT_SUMS 1
#endif

#define KW_GRADIENT 1
#include "cpu/lib/reorder.h"
