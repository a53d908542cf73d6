/* grouped_weight.c: weight gradient of convolutions with few channels a group: depthwise and merged groups. Channels last, one vector of output
 * channels at a time; a vector's lanes are output channels, as in grouped.c, and so are routes and windows.
 *
 * The sums of a window's taps stay in registers over a row of tiles, and a unit (a vector, a window, an input channel of the groups) goes over all
 * pixels of all images, so no two threads add to one weight. A pixel outside the image is routed to zeros on either side. */
#include "prelude/cpu.h"
#include "grouped.h"
#include "grouped_route.h"

/* What a unit sums. */
typedef struct unit {
    kw_i64 vector, window[3], step;
} unit;

/* The axis seen by one window alone. */
static kw_axis axis_of_window(const kw_cpu_args *a, int i, kw_i64 part, kw_i64 tile, kw_i64 taps, kw_i64 window) {
    kw_axis x = kw_axis_of(a, i, part, tile, taps);
    x.from_first += kw_shift(&x, window);
    x.windows = 1;
    x.shift_step = x.last_shift = 0;
    return x;
}

/* Fewer channels than a vector: pixels pass through thread memory, a vector each. */
static void narrow_tile(const kw_job *j, kw_i64 tile, const char *src, const char *dst, kw_i64 step, char *sums) {
    kw_i64 sources = j->a->groups * KW_SRC_GROUP * KW_BYTES, results = j->a->groups * KW_DST_GROUP * KW_BYTES;
    kw_i64 *from = j->narrow, *to = from + KW_ENTRY;
    char *pixels = (char *)(to + KW_PIXELS);
    for (kw_i64 i = 0; i < KW_SOURCES + KW_PIXELS; i++) {
        kw_i64 is_source = i < KW_SOURCES, count = is_source ? sources : results;
        const char *pixel = is_source ? src + j->from[tile * KW_ENTRY + 1 + i] : dst + j->to[tile * KW_PIXELS + i - KW_SOURCES];
        for (kw_i64 b = 0; b < KW_VECTOR; b += 2)
            *(kw_u16_u *)(pixels + i * KW_VECTOR + b) = b < count ? *(const kw_u16_u *)(pixel + b) : 0;
        *(is_source ? &from[1 + i] : &to[i - KW_SOURCES]) = i * KW_VECTOR;
    }
    kw_tile(from, to, 1, pixels, pixels, step, sums);
}

/* All planes of all images, for one residue of rows and columns and some columns of tiles. The route holds for every plane. */
static void sum_rows(kw_job *j, const unit *u, kw_i64 col, kw_i64 tiles, char *sums) {
    const kw_cpu_args *a = j->a;
    kw_i64 channel = kw_first_channel(a, u->vector), routed = 0, narrow = a->groups * KW_DST_GROUP < KW_CHANNELS;
    kw_axis depth = axis_of_window(a, 0, 0, 1, 1, u->window[0]);
    for (kw_i64 i = 0; i < a->n * depth.tiles; i++) {
        kw_i64 image = i / depth.tiles, result = i % depth.tiles, plane = depth.from_first + result * depth.from_tile;
        if (plane < 0 || plane >= depth.from_extent) continue;
        const char *src = a->x + image * j->from_image + plane * j->from_plane + channel / KW_DST_GROUP * KW_SRC_GROUP * KW_BYTES;
        const char *dst = a->y + image * j->to_image + result * j->to_plane + channel * KW_BYTES;
        for (kw_i64 r = 0; r < j->height.tiles; r++) {
            if (!kw_row_used(&j->height, r, 0)) continue;
            if (!routed || !kw_inside(&j->height, r)) {
                kw_route_sources(j, r, col, tiles);
                kw_route_results(j, r, col, tiles);
                routed = kw_inside(&j->height, r);
            }
            const char *row_src = src + r * j->height.from_tile * j->from_row, *row_dst = dst + r * j->height.to_tile * j->to_row;
            kw_fill_holes(j->from, j->from_holes, j->from_hole_count, j->zeros, row_src);
            kw_fill_holes(j->to, j->to_holes, j->to_hole_count, j->zeros, row_dst);
            if (!narrow) kw_tile(j->from, j->to, tiles, row_src, row_dst, u->step, sums);
            for (kw_i64 t = 0; narrow && t < tiles; t++)
                narrow_tile(j, t, row_src, row_dst, u->step, sums);
        }
    }
}

/* The sums of a window into w. Taps that the window before has as well are left to it. */
static void store(const kw_cpu_args *a, const unit *u, const char *sums) {
    kw_i64 first = kw_first_channel(a, u->vector), count = kw_min(KW_CHANNELS, a->groups * KW_DST_GROUP - first);
    for (kw_i64 t = 0; t < KW_TAPS_H * KW_TAPS_W; t++) {
        kw_i64 y = kw_filter_index(a, 1, KW_TAPS_H, u->window[1], t / KW_TAPS_W),
               x = kw_filter_index(a, 2, KW_TAPS_W, u->window[2], t % KW_TAPS_W);
        if (y < 0 || x < 0) continue;
        for (kw_i64 i = 0; i < count; i++) {
            kw_store_1(a->w + kw_weight_at(a, first + i, u->window[0], y, x, u->step) * KW_BYTES,
                       *(const kw_f32_u *)(sums + t * KW_VECTOR + 4 * i));
        }
    }
}

KW_EXPORT void kw_stage0(const kw_cpu_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    kw_job job = kw_job_of(a, thread_memory);
    char *sums = job.idle;
    kw_i64 down = kw_ceil(a->filter[1], KW_TAPS_H), across = kw_ceil(a->filter[2], KW_TAPS_W);
    job.depth = (kw_axis){.tiles = 1, .windows = 1, .from_extent = 1};
    job.plane = 0;
    for (kw_i64 i = begin; i < end; i++) {
        unit u = {.step = i % KW_SRC_GROUP};
        kw_i64 rest = i / KW_SRC_GROUP;
        u.window[2] = rest % across;
        rest /= across;
        u.window[1] = rest % down;
        rest /= down;
        u.window[0] = rest % a->filter[0];
        u.vector = rest / a->filter[0];
        for (kw_i64 t = 0; t < KW_TAPS_H * KW_TAPS_W; t++)
            kw_put(sums + t * KW_VECTOR, (kw_vf){0});
        for (kw_i64 part = 0; part < kw_parts(a, 1, KW_TAPS_H) * kw_parts(a, 2, KW_TAPS_W); part++) {
            job.height = axis_of_window(a, 1, part % kw_parts(a, 1, KW_TAPS_H), KW_TILE_H, KW_TAPS_H, u.window[1]);
            job.width = axis_of_window(a, 2, part / kw_parts(a, 1, KW_TAPS_H), KW_TILE_W, KW_TAPS_W, u.window[2]);
            for (kw_i64 col = 0; col < job.width.tiles; col += a->value[KW_COL_TILES]) {
                sum_rows(&job, &u, col, kw_min(a->value[KW_COL_TILES], job.width.tiles - col), sums);
            }
        }
        store(a, &u, sums);
    }
}
