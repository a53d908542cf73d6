/* grouped_launch.c: how the depthwise and merged families cut a problem into units, and what that costs. */
#include "families/cpu/grouped/grouped.h"

#include "base/math.h"
#include "cpu/grouped/args.h"
#include "families/cpu/grouped/grouped_emit.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <math.h>

/* Bytes of an indirection buffer, of the copies of the weight gradient. */
enum { INDIRECTION_BYTES = 16384, STAGED_BYTES = 16384 };

/* Of a unit of the weight gradient, the bytes of its sums, and vectors that it has even where these are more: memory is read best by whole
 * pixels. All its vectors go over the tiles of an indirection buffer, so the pixels of these are to stay in the second-level cache, but a
 * few tiles there must be for the sums that each vector loads and stores. */
enum { SUMS_BYTES = 49152, VECTORS_LEAST = 8, GRADIENT_BYTES = 131072, TILES_LEAST = 8 };

/* Beyond the second level the tiles of an indirection buffer lie in so few pages that the core asks ahead in all of them. */
enum { PAGE = 4096, PAGES = 48 };

/* Groups of any width: the multiply-adds' time that a permutation takes, of those that hold pixels of one side for a vector of the other's
 * channels (two in three cycles beside multiply-adds on a Zen 4). */
#define MIX_SHARE 0.5

/* Of so many windows of an axis, of all residues, used ones are counted. */
enum { MANY_WINDOWS = 4096 };

/* One axis of a problem under a window; kernels/cpu/grouped/grouped_indirection.h's kw_axis in sizes. */
typedef struct axis_cut {
    int64_t parts, tiles; /* tiles of the first part, which has most */
    int64_t windows;      /* most of a tile; 1 where no tap reaches any pixel, so that what is divided by it stays whole */
    int64_t tile_windows; /* (tile, window) pairs of all parts */
    int64_t used;         /* of these, those that have a source pixel inside the image; the others are left out */
} axis_cut;

/* How many of `tiles` tiles have a source pixel inside: the first tile's first lies at `first`, each has `sources` pixels `step` apart, and the
 * next tile's lie `tile` further. */
static int64_t used_tiles(int64_t tiles, int64_t first, int64_t sources, int64_t step, int64_t tile, int64_t extent) {
    int64_t before = -(first + (sources - 1) * step), behind = extent - first;
    int64_t low = before > 0 ? kw_ceil_div(before, tile) : 0, high = behind > 0 ? kw_ceil_div(behind, tile) : 0;
    return kw_max(0, kw_min(tiles, high) - low);
}

/* kw_indirection_init_tile()'s windows of an axis on which a window has one tap. */
static int64_t used_by_walk(const kw_walk *walk, int64_t tile, int64_t extent) {
    int64_t used = 0;
    for (int64_t tap = 0; tap < walk->taps; tap++) {
        used += used_tiles(kw_ceil_div(walk->pixels, tile), walk->src_start + tap * walk->tap_src_step, tile, walk->src_step,
                           tile * walk->src_step, extent);
    }
    return used;
}

/* The same of windows of several taps, all residues of the dilation. */
static int64_t used_by_windows(const kw_grouped *g, const kw_problem *problem, int axis, const axis_cut *cut, int64_t tile, int64_t taps) {
    const kw_conv_dims *d = &problem->conv;
    bool backward = problem->op == KW_CONV_BWD_DATA;
    int64_t out[3], used = 0, apart = g->stride > 1 ? 1 : d->dilation[axis];
    kw_problem_output(out, problem);
    int64_t first = backward ? d->pad[axis] - (d->filter[axis] - 1) * apart : -d->pad[axis], sources = (tile - 1) * g->stride + taps;
    int64_t extent = backward ? out[axis] : d->in[axis], results = backward ? d->in[axis] : out[axis];
    for (int64_t part = 0; part < cut->parts; part++) {
        int64_t tiles = kw_ceil_div(kw_ceil_div(results - part, apart), tile);
        for (int64_t window = 0; window < cut->windows; window++) {
            int64_t shift = kw_min(window * taps, d->filter[axis] - taps) * apart;
            used += used_tiles(tiles, part + first + shift, sources, apart, tile * g->stride * apart, extent);
        }
    }
    return used;
}

static axis_cut axis_cut_of(const kw_config *config, const kw_grouped *g, const kw_problem *problem, int axis, int64_t tile, int64_t taps) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    int64_t extent = problem->op == KW_CONV_BWD_DATA ? d->in[axis] : out[axis];
    axis_cut r = {.parts = 1, .windows = 1};
    if (taps == 1) {
        r.parts = kw_problem_walks(problem, axis);
        for (int64_t part = 0; part < r.parts; part++) {
            kw_walk walk = kw_problem_walk(problem, axis, part);
            int64_t tiles = kw_ceil_div(walk.pixels, tile);
            r.tiles = kw_max(r.tiles, tiles);
            r.windows = kw_max(r.windows, walk.taps);
            r.tile_windows += tiles * walk.taps;
            r.used += used_by_walk(&walk, tile, problem->op == KW_CONV_BWD_DATA ? out[axis] : d->in[axis]);
        }
        if (tile == 1) {
            r.tile_windows = r.used = kw_problem_axis_products(problem, axis);
        }
        return r;
    }
    if (kw_grouped_scatters(config, g)) {
        r.tiles = kw_ceil_div(extent + d->pad[axis] % g->stride, tile);
        r.windows = 1;
    } else {
        int64_t dilation = g->stride > 1 ? 1 : d->dilation[axis];
        r.parts = kw_min(dilation, extent);
        r.tiles = kw_ceil_div(kw_ceil_div(extent, dilation), tile);
        r.windows = kw_ceil_div(d->filter[axis], taps);
    }
    r.tile_windows = r.parts * r.tiles * r.windows;
    bool counts = !kw_grouped_scatters(config, g) && r.parts * r.windows <= MANY_WINDOWS;
    r.used = counts ? used_by_windows(g, problem, axis, &r, tile, taps) : r.tile_windows;
    return r;
}

typedef struct cut {
    axis_cut depth, height, width;
    int64_t words; /* of a tile in the indirection buffer */
} cut;

static cut cut_of(const kw_config *config, const kw_grouped *g, const kw_problem *problem) {
    cut c = {
        .depth = axis_cut_of(config, g, problem, 0, 1, 1),
        .height = axis_cut_of(config, g, problem, 1, g->tile_h, g->taps_h),
        .width = axis_cut_of(config, g, problem, 2, g->tile_w, g->taps_w),
    };
    bool good = true;
    int64_t words =
        KW_GROUPED_ENTRY(kw_grouped_sources(config, g, g->tile_h, g->taps_h) * kw_grouped_sources(config, g, g->tile_w, g->taps_w));
    int64_t windows = kw_grouped_gradient(config) ? 1 : kw_mul(kw_mul(c.depth.windows, c.height.windows, &good), c.width.windows, &good);
    c.words = kw_mul(windows, words, &good);
    if (!good) {
        c.words = INT64_MAX / 64;
    }
    return c;
}

int64_t kw_grouped_tile_words(const kw_config *config, const kw_grouped *g, const kw_problem *problem) {
    return cut_of(config, g, problem).words;
}

/* Multiply-adds and loads of one window of one tile for one vector. */
static void count_tile(const kw_config *config, const kw_grouped *g, double *multiply_adds, double *loads) {
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP, rows = kw_grouped_pairs_rows(config, g);
    double taps = (double)g->taps_h * g->taps_w, steps = dp && !rows ? g->src / 2.0 : g->src;
    if (kw_grouped_whole(config)) {
        steps = KW_GROUPED_WORDS(g->src, dp ? 4 : 2);
    }
    double sources = kw_grouped_sources(config, g, g->tile_h, g->taps_h) * kw_grouped_sources(config, g, g->tile_w, g->taps_w);
    if (kw_grouped_pairs_columns(config, g)) {
        taps = (double)kw_grouped_window_vectors(config, g);
    } else if (rows) {
        taps = 2 * ((g->taps_h + 1) / 2) * g->taps_w;
        sources = g->tile_h * g->taps_h * kw_grouped_sources(config, g, g->tile_w, g->taps_w);
    }
    double served = kw_grouped_scatters(config, g) ? (g->taps_h > 1 ? g->stride : 1) * (g->taps_w > 1 ? g->stride : 1) : 1;
    double mixes = sources * (kw_widening_products(config) + (g->reach ? MIX_SHARE : 0));
    *multiply_adds = steps * (taps * g->tile_h * g->tile_w / served + mixes);
    *loads = steps * (sources * fmax(1, g->reach) + taps);
}

/* Of the source rows that a row of tiles goes over, those that the one before went over, too; for all rows of tiles. */
static double rows_again(const kw_config *config, const kw_grouped *g, const kw_problem *problem, const axis_cut *height) {
    const kw_conv_dims *d = &problem->conv;
    bool backward = problem->op == KW_CONV_BWD_DATA;
    double step = backward ? 1.0 / (kw_grouped_scatters(config, g) && g->taps_h > 1 ? g->stride : 1) : (double)d->stride[1];
    double halo = (double)((d->filter[1] - 1) * d->dilation[1]) / (double)(backward ? d->stride[1] : 1);
    int64_t out[3];
    kw_problem_output(out, problem);
    double rows = (double)height->tile_windows / (double)height->windows * ((g->tile_h - 1) * step + halo + 1);
    return fmax(0, rows / (double)(backward ? out[1] : d->in[1]) - 1);
}

/* The share of a tile's source pixels that evict each other from the first level: more of them in a set than it has ways. */
static double evicted(const kw_config *config, const kw_grouped *g, const kw_problem *problem, const kw_target *target) {
    enum { WAY = 4096, SETS = WAY / KW_LINE };
    const kw_conv_dims *d = &problem->conv;
    bool backward = problem->op == KW_CONV_BWD_DATA;
    int64_t in_set[SETS] = {0}, element = (int64_t)kw_dtype_size(problem->dtype), apart[KW_STEP_COUNT], all = 0, over = 0;
    kw_problem_steps(apart, problem, backward ? KW_Y : KW_X);
    int64_t pixel = apart[KW_STEP_COLUMN] % WAY * element, row = apart[KW_STEP_ROW] % WAY * element;
    int64_t down = row * (g->taps_h > 1 || backward ? 1 : d->stride[1]), across = pixel * (g->taps_w > 1 || backward ? 1 : d->stride[2]);
    int rows = kw_grouped_sources(config, g, g->tile_h, g->taps_h), cols = kw_grouped_sources(config, g, g->tile_w, g->taps_w);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            in_set[(r * down + c * across) % WAY / KW_LINE]++;
        }
    }
    for (int set = 0; set < SETS; set++) {
        all += in_set[set];
        over += in_set[set] > target->l1 / WAY ? in_set[set] : 0;
    }
    return (double)over / (double)all;
}

static int64_t columns_of(const cut *c) {
    int64_t cols = kw_min(c->width.tiles, kw_max(1, INDIRECTION_BYTES / 8 / c->words));
    return kw_ceil_div(c->width.tiles, kw_ceil_div(c->width.tiles, cols));
}

/* So many parts of a row have their tiles in the indirection buffers together, as many as these have room for: lines that parts share come once.
 * Not more than the first level holds the rows of, which the next row of tiles meets again, unless it does not hold those of one. */
static int64_t near_parts(const kw_config *config, const kw_grouped *g, const kw_problem *problem, const kw_target *target, const cut *c,
                          int64_t cols) {
    const kw_conv_dims *d = &problem->conv;
    int64_t most = kw_min(kw_min(c->width.parts, KW_GROUPED_NEAR_PARTS), kw_max(1, INDIRECTION_BYTES / 8 / (c->words * cols)));
    double pixels = (double)cols * g->tile_w + g->taps_w - 1;
    double bytes = kw_grouped_sources(config, g, g->tile_h, g->taps_h) * pixels * (double)kw_dtype_size(problem->dtype) *
                   (double)(problem->op == KW_CONV_BWD_DATA ? d->k : d->c);
    double held = (double)target->l1 / bytes;
    most = held >= 1 && held < (double)most ? (int64_t)held : most;
    return kw_ceil_div(c->width.parts, kw_ceil_div(c->width.parts, most));
}

/* As the problem has it, where the config does not say. */
static kw_grouped with_channels(const kw_grouped *grouped, const kw_problem *problem) {
    kw_grouped g = *grouped;
    if (g.reach) {
        int32_t c = (int32_t)(problem->conv.c / problem->conv.g), k = (int32_t)(problem->conv.k / problem->conv.g);
        g.src = problem->op == KW_CONV_BWD_DATA ? k : c;
        g.dst = problem->op == KW_CONV_BWD_DATA ? c : k;
    }
    return g;
}

void kw_grouped_launch(const kw_config *config, const kw_grouped *grouped, const kw_problem *problem, const kw_target *target,
                       kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    const kw_grouped whole = with_channels(grouped, problem), *g = &whole;
    int64_t out[3], lanes = kw_config_isa(config)->lanes, channels = kw_grouped_channels(config, g),
                    element = (int64_t)kw_dtype_size(problem->dtype);
    kw_problem_output(out, problem);
    int64_t vectors = kw_ceil_div(d->g * g->dst, channels), planes = problem->op == KW_CONV_BWD_DATA ? d->in[0] : out[0];
    cut c = cut_of(config, g, problem);
    int64_t block = g->block ? kw_min(g->block, vectors) : vectors, blocks = kw_ceil_div(vectors, block);
    int64_t rows = c.height.tiles, cols = columns_of(&c);
    /* Units enough for the threads: fewer rows of tiles a unit, then fewer columns. */
    int64_t cells = blocks * d->n * planes * c.height.parts, wanted = target->units > 1 ? 4 * target->units : 1;
    while (rows > 1 && cells * kw_ceil_div(c.height.tiles, rows) * kw_ceil_div(c.width.tiles, cols) < wanted) {
        rows = kw_ceil_div(rows, 2);
    }
    while (cols > 1 && cells * kw_ceil_div(c.height.tiles, rows) * kw_ceil_div(c.width.tiles, cols) < wanted) {
        cols = kw_ceil_div(cols, 2);
    }
    int64_t units = cells * kw_ceil_div(c.height.tiles, rows) * kw_ceil_div(c.width.tiles, cols);
    int64_t windows = d->filter[0] * kw_ceil_div(d->filter[1], g->taps_h) * kw_ceil_div(d->filter[2], g->taps_w);
    int64_t widest = kw_max(kw_max(g->src, g->dst), channels);
    if (g->reach) {
        widest = kw_max(widest, kw_ceil_div(kw_max(d->c, d->k) + lanes, block));
    }

    launch->stages = 2;
    launch->stage[0] = (kw_stage){.units = vectors, .packs = true};
    launch->stage[1] = (kw_stage){.units = units};
    launch->packed_bytes = vectors * windows * kw_grouped_window_vectors(config, g) * lanes * 4;
    /* Pixels that are read, and pixels that are written. */
    int64_t larger = kw_max(element, (int64_t)kw_dtype_size(kw_dtype_output(problem->dtype)));
    int64_t scratch = kw_round_up((block + 1) * widest * kw_ceil_div(g->src, g->dst) * larger, KW_LINE);
    int64_t near = near_parts(config, g, problem, target, &c, cols), words = cols * near * c.words, results = g->tile_h * g->tile_w;
    *kw_launch_params(launch, kw_grouped_params) = (kw_grouped_params){
        .block_vectors = block,
        .row_tiles = rows,
        .col_tiles = cols,
        .near_parts = (int)near,
        .scratch_bytes = scratch,
        .indirection_words = words,
        .indirection_tiles = cols * near,
    };
    int64_t narrow = g->reach                   ? KW_GROUPED_LANES_BYTES(block, lanes)
                     : d->g * g->dst < channels ? KW_GROUPED_NARROW_BYTES(c.words + results, lanes)
                                                : 0;
    launch->thread_bytes = 2 * scratch + KW_GROUPED_INDIRECTION_BYTES(words, cols * near * results, cols * near) + narrow + KW_LINE;

    double multiply_adds, loads;
    count_tile(config, g, &multiply_adds, &loads);
    double tiles = (double)d->n * (double)kw_problem_axis_products(problem, 0) * (double)c.height.used * (double)c.width.used;
    launch->multiply_adds = tiles * (double)vectors * multiply_adds;
    launch->loads = tiles * (double)vectors * loads;
    launch->rereads[0] = (kw_cache_reuse){
        .bytes = (double)kw_problem_values(problem, problem->op == KW_CONV_BWD_DATA ? KW_Y : KW_X) * (double)element *
                 rows_again(config, g, problem, &c.height),
        .between = kw_problem_bytes(problem),
    };
    if (g->src > 1) { /* every source channel goes over all pixels of the tile */
        launch->rereads[1] = (kw_cache_reuse){
            .bytes = launch->loads * evicted(config, g, problem, target) * KW_LINE,
            .between = target->l2,
        };
    }
    /* A unit fills its indirection buffers about three times: for the first, the inner and the last rows. */
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes + 8.0 * 3.0 * (double)(units * c.width.parts) * (double)(cols * c.words);
}

/* In how many pages so many pixels of a row lie, each `bytes` from the one before. */
static double pages_of(int64_t pixels, double bytes) {
    return fmin((double)pixels, 1 + (double)pixels * bytes / PAGE);
}

/* The same of all rows of so many tiles side by side. */
static double gradient_pages(const kw_config *config, const kw_grouped *g, const kw_problem *problem, int64_t tiles) {
    const kw_conv_dims *d = &problem->conv;
    int64_t results = tiles * g->tile_w, stride = g->taps_w > 1 ? g->stride : 1;
    double element = (double)kw_dtype_size(problem->dtype), apart = g->taps_w > 1 ? (double)d->dilation[2] : 1;
    double step = g->taps_w > 1 ? apart : (double)d->stride[2], rows = kw_grouped_sources(config, g, g->tile_h, g->taps_h);
    return rows * pages_of(results * stride + g->taps_w - 1, (double)d->c * element * step) +
           g->tile_h * pages_of(results, (double)d->k * element * apart);
}

static bool streams(const kw_problem *problem, const kw_target *target) {
    return kw_problem_bytes(problem) > target->l2;
}

/* Columns of tiles of an indirection buffer of a weight gradient's unit. */
static int64_t gradient_columns(const kw_config *config, const kw_grouped *g, const kw_problem *problem, const kw_target *target,
                                const cut *c) {
    int64_t cols = columns_of(c);
    while (cols > 1 && streams(problem, target) && gradient_pages(config, g, problem, cols) > PAGES) {
        cols--;
    }
    return kw_ceil_div(c->width.tiles, kw_ceil_div(c->width.tiles, cols));
}

/* Rows of tiles of it. */
static int64_t gradient_rows(const kw_config *config, const kw_grouped *g, const kw_problem *problem, const kw_target *target, const cut *c,
                             int64_t cols, int64_t channels) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], element = (int64_t)kw_dtype_size(problem->dtype), most = kw_max(1, INDIRECTION_BYTES / 8 / (c->words * cols));
    kw_problem_output(out, problem);
    if (streams(problem, target)) {
        most = kw_min(most, kw_max(1, (int64_t)(PAGES / gradient_pages(config, g, problem, cols))));
    }
    int64_t sources = kw_min(d->c, kw_ceil_div(channels, g->dst) * g->src) * d->in[2] * d->stride[1],
            results = kw_min(d->k, channels) * out[2];
    int64_t bytes = kw_max(1, g->tile_h * (sources + results) * element), few = kw_ceil_div(TILES_LEAST, cols);
    return kw_min(c->height.tiles, kw_min(most, kw_max(few, GRADIENT_BYTES / bytes)));
}

/* Into how many shares the rows are cut of a gradient with few units, so that many threads have some; the sums of all take an eighth of what is
 * read at most. The problem alone says so, and so it does the bits of results. */
static int64_t gradient_shares(const kw_grouped *g, const kw_problem *problem, int64_t rows, int64_t units, int64_t sums) {
    enum { UNITS_ENOUGH = 64, SHARES_MOST = 16, ROWS_LEAST = 4 };
    int64_t most = kw_problem_bytes(problem) / (8 * sums), wanted = kw_min(kw_ceil_div(UNITS_ENOUGH, units), SHARES_MOST);
    return g->shared && units < UNITS_ENOUGH ? kw_max(kw_min(wanted, kw_min(most, rows / ROWS_LEAST)), 1) : 1;
}

/* A unit is some vectors and a window; it goes over all pixels, or a share of them. */
void kw_gradient_launch(const kw_config *config, const kw_grouped *grouped, const kw_problem *problem, const kw_target *target,
                        kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    const kw_grouped whole = with_channels(grouped, problem), *g = &whole;
    int64_t lanes = kw_config_isa(config)->lanes, pixels = g->tile_h * g->tile_w, taps = g->taps_h * g->taps_w;
    int64_t steps = g->lanes_c ? g->dst : g->src;                                /* channels of the side that does not fill the lanes */
    int64_t channels = kw_grouped_channels(config, g), parts = channels / lanes; /* of a vector of channels, and of its sums */
    int64_t element = (int64_t)kw_dtype_size(problem->dtype), vectors = kw_ceil_div(d->g * (g->lanes_c ? g->src : g->dst), channels);
    cut c = cut_of(config, g, problem);
    int64_t windows = d->filter[0] * kw_ceil_div(d->filter[1], g->taps_h) * kw_ceil_div(d->filter[2], g->taps_w);
    int64_t block = kw_min(vectors, kw_max(VECTORS_LEAST, SUMS_BYTES / (steps * taps * channels * 4)));
    int64_t wanted = target->units > 1 ? 2 * target->units : 1;
    while (block > 1 && kw_ceil_div(vectors, block) * windows < wanted) {
        block = kw_ceil_div(block, 2);
    }
    int64_t cols = gradient_columns(config, g, problem, target, &c);
    int64_t rows = gradient_rows(config, g, problem, target, &c, cols, block * channels), tiles = rows * cols;
    int64_t widest = kw_max(kw_max(g->src, g->dst), channels) * kw_ceil_div(g->src, g->dst) * element;
    if (g->reach) { /* a pixel may be shorter than the vectors that are loaded of it */
        widest = kw_ceil_div(kw_max(d->c, d->k) + (g->reach + 1) * lanes, block + 1) * element;
    }

    int64_t out[3], units = kw_ceil_div(vectors, block) * windows, unit_sums = block * steps * taps * channels * 4;
    kw_problem_output(out, problem);
    int64_t shares = gradient_shares(g, problem, d->n * out[0] * c.height.tiles, vectors * windows, vectors * windows * unit_sums / block);
    launch->stages = 1;
    launch->stage[0] = (kw_stage){.units = shares * units};
    if (shares > 1) {
        launch->stage[launch->stages++] = (kw_stage){.units = units};
        launch->shared_bytes = shares * units * unit_sums;
    }
    /* The scratch memory holds a unit's sums, too. */
    int64_t scratch = kw_round_up(kw_max((block + 1) * widest, block * steps * taps * channels * 4), KW_LINE), words = tiles * c.words;
    int64_t sources = kw_grouped_sources(config, g, g->tile_h, g->taps_h) * kw_grouped_sources(config, g, g->tile_w, g->taps_w);
    int64_t copies = KW_GROUPED_STAGED_BYTES(sources, KW_GROUPED_SOURCE_BYTES(g->src, g->dst, lanes), pixels, lanes);
    int64_t staged =
        kw_grouped_staged(config, g) ? kw_min(tiles, kw_max(1, STAGED_BYTES / copies)) : d->g * (g->reach ? steps : g->dst) < channels;
    int64_t near = g->reach ? kw_max(TILES_LEAST, target->l1 / ((sources + pixels) * KW_LINE)) : tiles;
    *kw_launch_params(launch, kw_grouped_params) = (kw_grouped_params){
        .block_vectors = block,
        .row_tiles = rows,
        .col_tiles = cols,
        .scratch_bytes = scratch,
        .indirection_words = words,
        .indirection_tiles = tiles,
        .staged_tiles = (int)staged,
        .shares = (int)shares,
        .near_tiles = (int)near,
    };
    launch->thread_bytes = 2 * scratch + KW_GROUPED_INDIRECTION_BYTES(words, tiles * pixels, tiles) +
                           staged * ((KW_GROUPED_ENTRY(sources) + pixels) * 8 + copies) + KW_LINE;

    double summed = (double)d->n * (double)kw_problem_axis_products(problem, 0) * (double)c.height.used * (double)c.width.used;
    double products = (double)(pixels * taps);
    if (parts > 1) { /* a product is of two rows, and of half the channels; making pairs of them takes as long as products */
        products *= config->axis[KW_AXIS_MATH] == KW_MATH_WIDE ? 2 : 1; /* and an addition */
        sources = g->tile_h * g->taps_h * kw_grouped_sources(config, g, g->tile_w, g->taps_w);
        products += (double)(pixels + sources);
    }
    if (!kw_grouped_staged(config, g)) {
        products += (double)(pixels + sources) * kw_widening_products(config);
    }
    double loads = (double)(sources + pixels), mixed = (double)(g->lanes_c ? pixels : sources);
    if (g->reach) {
        products += MIX_SHARE * mixed;
        loads += (g->reach - 1) * mixed;
    }
    launch->multiply_adds = summed * (double)(vectors * steps) * products;
    /* Sums wait for nothing where pixels come from beyond the second level. */
    int64_t held = kw_grouped_staged(config, g) ? staged : kw_min(near, streams(problem, target) ? kw_max(tiles, TILES_LEAST) : tiles);
    launch->loads = summed * (double)(vectors * steps) * (loads + 2.0 * (double)(taps * parts) / (double)held);
    launch->copied_bytes = 8.0 * 3.0 * (double)launch->stage[0].units * (double)words;
    if (kw_grouped_staged(config, g)) {
        launch->copied_bytes += summed * (double)(vectors * (sources + pixels)) * 2.0 * 4.0 * (double)lanes;
    }
}
