/* grouped_indirection.h: indirection buffers and packed weights of the depthwise and merged families; grouped.c and grouped_weight.c say
 * what they are for, and KW_TO_BYTES, of an element of the result side. The source of forward and of the weight gradient is x and their "result" side y; backward data has them the other
 * way round. */

#if KW_APART
#include "cpu/lib/apart.h"
#define KW_FROM_SPAN(a, j) (j)->from_span /* bytes from a tensor's first element to behind its last */
#define KW_TO_SPAN(a, j) (j)->to_span
#else
#define KW_FROM_SPAN(a, j) (a)->n *(j)->from_image
#define KW_TO_SPAN(a, j) (a)->n *(j)->to_image
#endif

typedef unsigned long long kw_u64;

KW_INLINE kw_i64 kw_ceil(kw_i64 a, kw_i64 b) { return (a + b - 1) / b; }
KW_INLINE const char *kw_src_tensor(const kw_kernel_args *a) { return KW_BACKWARD ? a->y : a->x; }
KW_INLINE char *kw_result(const kw_kernel_args *a) { return KW_BACKWARD ? a->x : a->y; }

/* The last vector of channels ends with the last channel, so it overlaps its neighbour where the count is no multiple; both compute the
 * same values for the channels they share. */
KW_INLINE kw_i64 kw_first_channel(const kw_kernel_args *a, kw_i64 vector) {
    return kw_max(0, kw_min(vector * KW_CHANNELS, a->groups * kw_lane_group(a) - KW_CHANNELS));
}

typedef struct kw_block {
    kw_i64 begin, end; /* vectors */
    kw_i64 src, dst;   /* first channels */
} kw_block;

static kw_block __attribute__((unused)) kw_block_of(const kw_kernel_args *a, kw_i64 index) {
    kw_i64 vectors = kw_ceil(a->groups * kw_lane_group(a), KW_CHANNELS);
    kw_block b = {.begin = index * a->params.block_vectors};
    b.end = kw_min(b.begin + a->params.block_vectors, vectors);
#if KW_REACH
    kw_group_lanes first = kw_group_lanes_at(a, kw_first_channel(a, b.begin));
    b.dst = first.dst;
    b.src = first.src;
#else
    b.dst = kw_first_channel(a, b.begin);
    b.src = b.dst / KW_DST_GROUP * KW_SRC_GROUP;
#endif
    return b;
}

/* --- one axis of the image --- */

/* Result pixel number i of a part sits at to_first + i to_step, which may lie outside. Source pixel number i of tile t sits at from_first +
 * t from_tile + i from_step, and window number w adds its shift. Window w of the axis is number first_window + w window_step of the packed
 * ones. */
typedef struct kw_axis {
    kw_i64 tiles;
    kw_i64 to_first, to_step, to_tile, to_extent;
    kw_i64 from_first, from_step, from_tile, from_extent;
    kw_i64 windows, shift_step, last_shift, first_window, window_step;
    kw_i64 tile, sources; /* result pixels and source pixels of a tile */
} kw_axis;

/* Parts of an axis that are walked one after the other: residues of the stride (backward data) or of the dilation. */
static kw_i64 kw_parts(const kw_kernel_args *a, int i, kw_i64 taps) {
    if (taps == 1) return KW_BACKWARD ? kw_walks_backward(a, i) : 1;
    return KW_STRIDE > 1 ? 1 : kw_min(a->dilation[i], KW_BACKWARD ? a->in[i] : a->out[i]);
}

static kw_axis kw_axis_of(const kw_kernel_args *a, int i, kw_i64 part, kw_i64 tile, kw_i64 taps) {
    kw_i64 f = a->filter[i], d = a->dilation[i], p = a->pad[i];
    kw_axis x = {.to_extent = KW_BACKWARD ? a->in[i] : a->out[i], .from_extent = KW_BACKWARD ? a->out[i] : a->in[i], .tile = tile};
    if (taps == 1) { /* one tap: any walk */
        kw_walk w = KW_BACKWARD ? kw_walk_backward(a, i, part) : kw_walk_forward(a, i);
        x.to_first = w.out_start;
        x.to_step = w.out_step;
        x.from_first = w.src_start;
        x.from_step = w.src_step;
        x.from_tile = tile * w.src_step;
        x.sources = tile;
        x.windows = w.taps;
        x.shift_step = w.tap_src_step;
        x.last_shift = (w.taps - 1) * w.tap_src_step;
        x.first_window = w.tap_start;
        x.window_step = w.tap_step;
    } else if (KW_BACKWARD && KW_STRIDE > 1) { /* the whole filter; tiles start at multiples of the stride */
        x.to_first = p / KW_STRIDE * KW_STRIDE - p;
        x.to_step = 1;
        x.from_first = p / KW_STRIDE - (f - 1) / KW_STRIDE;
        x.from_step = 1;
        x.from_tile = tile / KW_STRIDE;
        x.sources = (tile - 1) / KW_STRIDE + (taps - 1) / KW_STRIDE + 1;
        x.windows = x.window_step = 1;
    } else { /* windows of taps; a dilation is walked by residues, and then all steps are multiples of it */
        x.to_first = part;
        x.to_step = KW_STRIDE > 1 ? 1 : d;
        x.from_first = part - (KW_BACKWARD ? (f - 1) * d - p : p);
        x.from_step = d;
        x.from_tile = tile * KW_STRIDE * d;
        x.sources = (tile - 1) * KW_STRIDE + taps;
        x.windows = kw_ceil(f, taps);
        x.shift_step = taps * d;
        x.last_shift = (f - taps) * d; /* the last window overlaps its neighbour where taps do not divide f */
        x.window_step = 1;
    }
    x.to_tile = tile * x.to_step;
    x.tiles = x.to_first < x.to_extent ? kw_ceil(kw_ceil(x.to_extent - x.to_first, x.to_step), tile) : 0;
    return x;
}

KW_INLINE kw_i64 kw_shift(const kw_axis *x, kw_i64 window) { return window == x->windows - 1 ? x->last_shift : window * x->shift_step; }

/* Whether tile number t has all its pixels inside the image. */
static int kw_inside(const kw_axis *x, kw_i64 t) {
    kw_i64 low = x->from_first + t * x->from_tile + kw_min(0, x->last_shift);
    kw_i64 high = x->from_first + t * x->from_tile + kw_max(0, x->last_shift) + (x->sources - 1) * x->from_step;
    kw_i64 first = x->to_first + t * x->to_tile, last = first + (x->tile - 1) * x->to_step;
    return low >= 0 && high < x->from_extent && first >= 0 && last < x->to_extent;
}

/* --- indirection buffers --- */

typedef struct kw_job {
    const kw_kernel_args *a;
    kw_axis depth, height, width;
    kw_axis widths[KW_GROUPED_NEAR_PARTS]; /* of parts of a row whose tiles are gone over in turn; of the weight gradient one */
    kw_i64 parts;                          /* so many */
    kw_i64 plane;                          /* number of the result plane on the depth axis */
    kw_i64 from_pixel, from_row, from_plane, from_image, to_pixel, to_row, to_plane, to_image;
#if KW_APART
    kw_i64 from_span, to_span;
#endif
    kw_i64 *windows; /* of each tile */
    char *zeros, *scratch;
    kw_i64 *from, *to, *from_padding, *to_padding, *narrow;
    kw_i64 from_padding_count, to_padding_count;
#if KW_REACH
    kw_group_lanes *lanes; /* of forward and backward data: of each vector of the block */
#endif
    int at_end; /* a vector of the tiles' pixels may reach beyond a tensor */
} kw_job;

static kw_job kw_job_of(const kw_kernel_args *a, char *memory) {
    kw_job j = {.a = a};
    const kw_i64 *from = KW_BACKWARD ? a->out : a->in, *to = KW_BACKWARD ? a->in : a->out;
#if KW_APART
    const kw_i64 *from_step = KW_BACKWARD ? a->y_step : a->x_step, *to_step = KW_BACKWARD ? a->x_step : a->y_step;
    j.from_pixel = from_step[KW_TO_COLUMN] * KW_BYTES, j.to_pixel = to_step[KW_TO_COLUMN] * KW_TO_BYTES;
    j.from_row = from_step[KW_TO_ROW] * KW_BYTES, j.to_row = to_step[KW_TO_ROW] * KW_TO_BYTES;
    j.from_plane = from_step[KW_TO_PLANE] * KW_BYTES, j.to_plane = to_step[KW_TO_PLANE] * KW_TO_BYTES;
    j.from_image = from_step[KW_TO_IMAGE] * KW_BYTES, j.to_image = to_step[KW_TO_IMAGE] * KW_TO_BYTES;
    j.from_span = kw_apart_span(from_step, a->n, from, a->groups * kw_src_group(a)) * KW_BYTES;
    j.to_span = kw_apart_span(to_step, a->n, to, a->groups * kw_dst_group(a)) * KW_TO_BYTES;
#else
    j.from_pixel = a->groups * kw_src_group(a) * KW_BYTES;
    j.from_row = from[2] * j.from_pixel;
    j.from_plane = from[1] * j.from_row;
    j.from_image = from[0] * j.from_plane;
    j.to_pixel = a->groups * kw_dst_group(a) * KW_TO_BYTES;
    j.to_row = to[2] * j.to_pixel;
    j.to_plane = to[1] * j.to_row;
    j.to_image = to[0] * j.to_plane;
#endif
    kw_i64 words = a->params.indirection_words, results = a->params.indirection_tiles * KW_PIXELS;
    j.zeros = memory;
    j.scratch = j.zeros + a->params.scratch_bytes;
    j.from = (kw_i64 *)(j.scratch + a->params.scratch_bytes);
    j.from_padding = j.from + words;
    j.to = j.from_padding + words + 1;
    j.to_padding = j.to + results;
    j.windows = j.to_padding + results + 1;
    j.narrow = j.windows + a->params.indirection_tiles;
#if KW_REACH
    j.lanes = (kw_group_lanes *)(((kw_u64)j.narrow + KW_VECTOR - 1) / KW_VECTOR * KW_VECTOR);
#endif
    const kw_u32 zero = ((kw_u32)kw_zero_of_x(a) & 0xffu) * 0x01010101u;
    for (kw_i64 i = 0; i < a->params.scratch_bytes; i += KW_VECTOR)
        kw_put(j.zeros + i, kw_spread_word(&zero));
    return j;
}

/* Words are offsets from the first channel of the block in the source row (result row) where the row of tiles starts, so that
 * they hold for all rows of tiles inside the image. Padding is a list of the words of pixels outside the image. */
KW_INLINE void kw_fill_padding(kw_i64 *words, const kw_i64 *padding, kw_i64 count, const char *filling, const char *base) {
    for (kw_i64 i = 0; i < count; i++)
        words[padding[i]] = (kw_i64)filling - (kw_i64)base;
}

/* Whether a vector from one of these pixels on would reach beyond the end of their tensor. Words of padding lead elsewhere. */
KW_INLINE int kw_reaches(const kw_i64 *words, kw_i64 count, const char *base, const char *end) {
    int found = 0;
    for (kw_i64 i = 0; i < count; i++)
        found |= (kw_u64)base + (kw_u64)words[i] - (kw_u64)(end - KW_VECTOR + 1) < KW_VECTOR - 1;
    return found;
}

/* One window of one tile. base is the offset of the row of tiles' column 0 in the window's first row, which is source row top. */
static void kw_indirection_init_window(kw_job *j, kw_i64 at, kw_i64 base, kw_i64 top, kw_i64 left) {
    kw_i64 *word = j->from + at, *padding = j->from_padding + j->from_padding_count;
    kw_i64 rows = j->height.from_extent, row_step = j->height.from_step, row_bytes = row_step * j->from_row;
    kw_i64 cols = j->width.from_extent, col_step = j->width.from_step, col_bytes = col_step * j->from_pixel;
    base += left * j->from_pixel;
    for (kw_i64 y = 0; y < KW_ROWS; y++, top += row_step, base += row_bytes) {
        kw_i64 x = (kw_u64)top < (kw_u64)rows ? left : -col_step * KW_COLS, offset = base;
        for (kw_i64 i = 0; i < KW_COLS; i++, x += col_step, offset += col_bytes) {
            *word++ = offset;
            *padding = at++;
            padding += (kw_u64)x >= (kw_u64)cols;
        }
    }
    j->from_padding_count = padding - j->from_padding;
}

/* Some source pixel of tile number tile of an axis is inside in this window. */
static int kw_is_used(const kw_axis *x, kw_i64 tile, kw_i64 window) {
    kw_i64 at = x->from_first + tile * x->from_tile + kw_shift(x, window);
    for (kw_i64 i = 0; i < x->sources; i++, at += x->from_step) {
        if (at >= 0 && at < x->from_extent) return 1;
    }
    return 0;
}

/* The windows of one tile; those of which no row or no column is inside are left out. Returns where the next tile's words begin. */
static kw_i64 kw_indirection_init_tile(kw_job *j, kw_i64 *windows, kw_i64 at, kw_i64 row, kw_i64 base, kw_i64 tile) {
    const kw_axis *d = &j->depth, *h = &j->height, *w = &j->width;
    kw_i64 across = kw_ceil(j->a->filter[2], KW_TAPS_W), down = kw_ceil(j->a->filter[1], KW_TAPS_H);
    *windows = 0;
    for (kw_i64 z = 0; z < d->windows; z++) {
        kw_i64 plane = d->from_first + j->plane * d->from_tile + kw_shift(d, z);
        if (plane < 0 || plane >= d->from_extent) continue;
        for (kw_i64 r = 0; r < h->windows; r++) {
            if (!kw_is_used(h, row, r)) continue;
            kw_i64 top = h->from_first + kw_shift(h, r);
            kw_i64 line = (d->first_window + z * d->window_step) * down + h->first_window + r * h->window_step;
            for (kw_i64 s = 0; s < w->windows; s++) {
                if (!kw_is_used(w, tile, s)) continue;
                j->from[at] = (line * across + w->first_window + s * w->window_step) * kw_window_bytes(j->a);
                kw_indirection_init_window(j, at + 1, base + plane * j->from_plane + top * j->from_row, row * h->from_tile + top,
                                           w->from_first + tile * w->from_tile + kw_shift(w, s));
                at += KW_ENTRY;
                ++*windows;
            }
        }
    }
    return at;
}

/* tiles tiles from column col of tiles on of each part, of rows rows of tiles from row on, relative to the first: all parts' first ones, then their
 * second ones, so that lines that they share are near. Returns how many there are. */
static kw_i64 kw_indirection_init_src(kw_job *j, kw_i64 row, kw_i64 rows, kw_i64 col, kw_i64 tiles) {
    kw_i64 at = 0, count = 0;
    j->from_padding_count = 0;
    for (kw_i64 i = 0; i < rows; i++) {
        for (kw_i64 t = col * j->parts; t < (col + tiles) * j->parts; t++) {
            j->width = j->widths[t % j->parts];
            if (t / j->parts >= j->width.tiles) continue;
            at = kw_indirection_init_tile(j, &j->windows[count++], at, row + i, i * j->height.from_tile * j->from_row, t / j->parts);
        }
    }
    return count;
}

/* Words of the result pixels of one tile, the first row of whose row of tiles is row first_row of the result; returns where the next tile's begin. */
static kw_i64 *kw_indirection_init_results(kw_job *j, kw_i64 *word, kw_i64 line, kw_i64 first_row, kw_i64 tile) {
    const kw_axis *h = &j->height, *w = &j->width;
    kw_i64 *padding = j->to_padding + j->to_padding_count, extent = w->to_extent;
    for (kw_i64 y = 0; y < KW_TILE_H; y++, line += h->to_step) {
        kw_i64 x = w->to_first + tile * w->to_tile, offset = line * j->to_row + x * j->to_pixel, high = line + first_row;
        if (high < 0 || high >= h->to_extent) x = -w->to_step * KW_TILE_W;
        for (kw_i64 p = 0; p < KW_TILE_W; p++, x += w->to_step, offset += w->to_step * j->to_pixel) {
            *padding = word - j->to;
            *word++ = offset;
            padding += (kw_u64)x >= (kw_u64)extent;
        }
    }
    j->to_padding_count = padding - j->to_padding;
    return word;
}

static void kw_indirection_init_dst(kw_job *j, kw_i64 row, kw_i64 rows, kw_i64 col, kw_i64 tiles) {
    const kw_axis *h = &j->height;
    kw_i64 *word = j->to;
    j->to_padding_count = 0;
    for (kw_i64 i = 0; i < rows; i++) {
        for (kw_i64 t = col * j->parts; t < (col + tiles) * j->parts; t++) {
            j->width = j->widths[t % j->parts];
            if (t / j->parts >= j->width.tiles) continue;
            word = kw_indirection_init_results(j, word, h->to_first + i * h->to_tile, row * h->to_tile, t / j->parts);
        }
    }
}

/* --- weights --- */

/* Windows that cover the whole filter: depth slowest. */
static kw_i64 kw_windows(const kw_kernel_args *a) {
    return a->filter[0] * kw_ceil(a->filter[1], KW_TAPS_H) * kw_ceil(a->filter[2], KW_TAPS_W);
}

/* Filter index of tap number tap of a window; -1 where the window before has it already. */
static kw_i64 kw_filter_index(const kw_kernel_args *a, int i, kw_i64 taps, kw_i64 window, kw_i64 tap) {
    kw_i64 f = a->filter[i], at = kw_min(window * taps, f - taps) + tap;
    if (at < window * taps) return -1;
    return KW_BACKWARD && KW_STRIDE == 1 && taps > 1 ? f - 1 - at : at;
}

/* Element of w: channel of the lane side, filter indices, the other side's channel of the group. */
static kw_i64 kw_weight_at(const kw_kernel_args *a, kw_i64 channel, kw_i64 z, kw_i64 y, kw_i64 x, kw_i64 source) {
    kw_i64 group = channel / kw_lane_group(a), inner = channel % kw_lane_group(a);
    kw_i64 k = KW_BACKWARD || KW_LANES_C ? source : inner, c = KW_BACKWARD || KW_LANES_C ? inner : source;
    return (((group * a->k + k) * a->filter[0] + z) * a->filter[1] + y) * a->filter[2] * a->c + x * a->c + c;
}
