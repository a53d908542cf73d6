/* conv_direct.c: dense convolution, forward and backward data, any filter, stride, dilation and padding, in 1, 2 and 3 dimensions. The
 * accumulators of a tile stay in registers over all taps and channels, so the output is written once. kernels/cpu/direct/direct.c is the
 * kernel; here is how it is cut into units so that a unit's copy stays in the second-level cache, and what that costs. Groups are right
 * for any number of channels; below about 8 a group the merged and depthwise families are faster. */
#include "families/cpu/direct/direct.h"
#include "families/cpu/reorder.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/direct/args.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <assert.h>

enum { TILE_H = KW_ISA_AXIS_COUNT, TILE_W, VECS, BAND, EDGE, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_h", NULL, 1, 5, "output rows of a tile"},
    {"tile_w", NULL, 1, 64, "output columns of a tile"},
    {"vecs", NULL, 1, 7, "vectors of output channels of a tile"},
    {"band", NULL, 0, 256, "output rows of a unit; 0: as many as fit half of the second-level cache"},
    {"edge", "pad skip", 0, 1, "columns outside the image: pad multiplies zeros, skip leaves out what it can"},
};

static kw_direct conv_direct_direct(const kw_config *config) {
    return (kw_direct){
        .tile = {.rows = config->axis[TILE_H], .cols = config->axis[TILE_W], .vecs = config->axis[VECS], .skip = config->axis[EDGE] == 1},
        .band = config->axis[BAND],
    };
}

static void conv_direct_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_direct *)decoded = conv_direct_direct(config);
}

/* One spatial axis, the worst of its walks. */
typedef struct span {
    int64_t walks, pixels; /* pixels of the longest walk */
    int64_t step, reach;   /* source positions from pixel to pixel, from the first to the last that a pixel's taps read in any walk */
    int64_t taps;          /* most taps of a walk */
    int64_t all_taps;      /* of all walks */
    int64_t products;      /* in-bounds (pixel, tap) pairs */
    int64_t tiled;         /* pairs that are summed: padding included, rounded up to whole tiles, unless that is left out (edge=skip) */
    int64_t visits;        /* (tile, tap) pairs, for which weights are loaded */
    int64_t source;        /* source extent */
} span;

/* What edge=skip leaves out. */
typedef enum skip {
    SKIP_NOTHING,
    SKIP_TILES, /* taps by which all pixels of a tile read padding */
    SKIP_PIXELS /* of other taps groups of such pixels as well */
} skip;

typedef struct edge {
    skip skip;
    int64_t group; /* pixels that are left out together */
    int64_t least; /* pixels of a tile that a tap takes as long as, though they be fewer: sums wait for those of the tap before */
} edge;

static edge edge_of(const kw_tile_work *work, const kw_tile *tile) {
    skip how = !tile->skip ? SKIP_NOTHING : work->head ? SKIP_TILES : SKIP_PIXELS;
    return (edge){how, kw_tile_group(tile, work->block), kw_ceil_div(KW_LANES_UNDER_WAY, work->block * tile->rows)};
}

/* Pixels of a tile that a tap takes, of which so many read no padding. */
static int64_t taken(const edge *how, int64_t tile, int64_t pixels) {
    return kw_max(pixels + 1 < tile ? kw_round_up(pixels, how->group) : pixels, how->least);
}

/* Tiles of a walk with edge=skip: those of the pixels that read anything, which are shared out evenly, for each tap that one of its pixels
 * reads inside the image by. */
static void add_visits(span *s, const kw_walk *walk, int64_t tile, const edge *how) {
    int64_t reach = (walk->taps - 1) * walk->tap_src_step, low = walk->src_start + kw_max(reach, 0),
            high = walk->src_start + kw_min(reach, 0);
    int64_t first = kw_ceil_div(kw_max(-low, 0), walk->src_step), last = kw_ceil_div(kw_max(s->source - high, 0), walk->src_step);
    last = kw_min(last, walk->pixels);
    int64_t cols = last > first ? kw_ceil_div(last - first, kw_ceil_div(last - first, tile)) : 1;
    for (int64_t t = 0; t < walk->taps; t++) {
        int64_t at = walk->src_start + t * walk->tap_src_step;
        int64_t begin = kw_ceil_div(kw_max(-at, 0), walk->src_step);
        int64_t end = kw_min(kw_ceil_div(kw_max(s->source - at, 0), walk->src_step), walk->pixels);
        if (end <= begin) {
            continue;
        }
        int64_t tiles = (end - 1 - first) / cols - (begin - first) / cols + 1;
        s->visits += tiles;
        if (how->skip == SKIP_TILES) {
            s->tiled += tiles * cols;
        } else if (tiles == 1) {
            s->tiled += taken(how, tile, end - begin);
        } else {
            int64_t front = cols - (begin - first) % cols, back = (end - 1 - first) % cols + 1;
            s->tiled += taken(how, tile, front) + taken(how, tile, back) + (tiles - 2) * cols;
        }
    }
}

static span source_span(const kw_problem *problem, int axis, int64_t tile, const edge *how) {
    int64_t out[3];
    kw_problem_output(out, problem);
    span s = {.walks = kw_problem_walks(problem, axis), .step = 1, .products = kw_problem_axis_products(problem, axis)};
    s.source = problem->op == KW_CONV_FWD ? problem->conv.in[axis] : out[axis];
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (int64_t i = 0; i < s.walks; i++) {
        kw_walk walk = kw_problem_walk(problem, axis, i);
        s.pixels = kw_max(s.pixels, walk.pixels);
        s.taps = kw_max(s.taps, walk.taps);
        s.all_taps += walk.taps;
        if (how->skip) {
            add_visits(&s, &walk, tile, how);
        } else {
            s.tiled += kw_round_up(walk.pixels, tile) * walk.taps;
            s.visits += kw_ceil_div(walk.pixels, tile) * walk.taps;
        }
        if (walk.taps) {
            int64_t last = walk.src_start + (walk.taps - 1) * walk.tap_src_step;
            s.step = kw_max(s.step, walk.src_step);
            low = kw_min(low, kw_min(walk.src_start, last));
            high = kw_max(high, kw_max(walk.src_start, last));
            s.reach = high - low;
        }
    }
    return s;
}

/* How a problem is cut. */
typedef struct cut {
    span depth, height, width;
    int64_t rows, cols; /* of a block, whole tiles where these end with rows */
    int64_t pixel;      /* bytes of a copied pixel */
    int64_t spare;      /* bytes behind a copied row */
    bool flow;          /* tiles go on in the next row */
    bool in_place;      /* nothing is copied */
} cut;

/* Where tiles go on in the next row, a strided convolution's copy has a plane for each place modulo the strides. */
static int64_t planes_of(const cut *c) {
    return c->flow ? c->height.step * c->width.step : 1;
}

static int64_t row_pixels(const cut *c) {
    return c->flow ? c->cols + c->width.reach / c->width.step : (c->cols - 1) * c->width.step + c->width.reach + 1;
}

static int64_t row_bytes(const cut *c) {
    return c->flow ? row_pixels(c) * c->pixel : kw_round_up(row_pixels(c) * c->pixel + c->spare, KW_LINE);
}

static int64_t plane_bytes(const cut *c) {
    return row_bytes(c) * (c->rows + c->height.reach / c->height.step);
}

static int64_t slice_bytes(const cut *c, const kw_tile *tile) {
    if (c->flow) {
        return planes_of(c) * plane_bytes(c);
    }
    int64_t rows = (c->rows - 1) * c->height.step + c->height.reach + 1;
    return row_bytes(c) * (tile->rows == 1 ? kw_min(rows, c->height.source) : rows);
}

/* The last tile of a flow, and that of a row whose groups of pixels edge=skip leaves out, read behind the copy what they leave out of their
 * results. */
static int64_t copy_bytes(const cut *c, const kw_tile *tile) {
    int64_t behind = c->flow ? tile->cols : tile->skip ? tile->cols * c->width.step : 0;
    return slice_bytes(c, tile) * kw_max(kw_min(c->depth.taps, c->depth.source), 1) + behind * c->pixel;
}

/* Pixels that are summed where tiles go on in the next row, for a tap of each axis. */
static int64_t flow_pixels(const cut *c, int64_t tile) {
    int64_t last = (c->height.pixels - 1) % c->rows + 1, blocks = kw_ceil_div(c->width.pixels, c->cols);
    int64_t whole = kw_round_up((c->rows - 1) * row_pixels(c) + c->cols, tile);
    return blocks * ((c->height.pixels - last) / c->rows * whole + kw_round_up((last - 1) * row_pixels(c) + c->cols, tile));
}

/* Narrows the block, rows first, until its copy fits the budget or the block is a tile. */
static void narrow(cut *c, const kw_tile *tile, int64_t budget) {
    while (copy_bytes(c, tile) > budget && c->rows > tile->rows) {
        c->rows = kw_round_up(c->rows / 2, tile->rows);
    }
    while (copy_bytes(c, tile) > budget && c->cols > tile->cols) {
        c->cols = kw_round_up(c->cols / 2, tile->cols);
    }
}

/* What the cut of a problem depends on, besides its axes. */
typedef struct cut_facts {
    int64_t src, elements, steps, shares, blocks;
    int64_t most_rows; /* of a block; 0: any */
    bool sliced;       /* runs are cut */
} cut_facts;

/* Blocks without their rows. */
static int64_t cells_of(const cut *c, const kw_problem *problem, int64_t shares) {
    return problem->conv.n * shares * c->depth.walks * c->depth.pixels * c->height.walks * c->width.walks *
           kw_ceil_div(c->width.pixels, c->cols);
}

/* The rows of a block with which each thread has KW_TEAM_UNITS of them, of which others can take some over; no fewer than leave most of a
 * copy to its own block, where there is one. */
static int64_t rows_of_a_team(const cut *c, const kw_tile *tile, const kw_problem *problem, const kw_target *target,
                              const cut_facts *facts) {
    enum { SPAN = 3 };
    int64_t cells = cells_of(c, problem, facts->shares) * facts->blocks;
    int64_t least = c->in_place ? 1 : SPAN * (c->height.reach / c->height.step) + 1,
            bands = kw_ceil_div(KW_TEAM_UNITS * target->units, cells);
    int64_t rows = kw_round_up(kw_max(kw_max(c->height.pixels / bands, least), 1), tile->rows);
    return target->units == 1 || c->flow ? c->rows : kw_min(c->rows, rows);
}

/* As many rows as fit half of the second-level cache, and fewer where threads had no block. */
static void cut_blocks(cut *c, const kw_direct *direct, const kw_problem *problem, const kw_target *target, const cut_facts *facts) {
    const kw_tile *tile = &direct->tile;
    c->rows = kw_round_up(direct->band ? kw_min(direct->band, c->height.pixels) : c->height.pixels, tile->rows);
    if (facts->most_rows) {
        c->rows = kw_min(c->rows, kw_round_up(facts->most_rows, tile->rows));
    }
    c->cols = c->flow ? c->width.pixels : kw_round_up(c->width.pixels, tile->cols);
    narrow(c, tile, target->l2 / 2);
    while (cells_of(c, problem, facts->shares) * kw_ceil_div(c->height.pixels, c->rows) * facts->blocks < target->units &&
           c->rows > tile->rows) {
        c->rows = kw_round_up(c->rows / 2, tile->rows);
    }
    c->rows = rows_of_a_team(c, tile, problem, target, facts);
    assert(c->rows % tile->rows == 0 && (c->flow || c->cols % tile->cols == 0));
}

/* Of tile registers, 16 pixels of a tile of 32 can be had alone. */
static int64_t least_tile(const kw_tile_work *work, const kw_tile *tile) {
    return work->amx && tile->cols == 2 * KW_AMX_ROWS ? KW_AMX_ROWS : tile->cols;
}

/* (pixel, tap) pairs of an output slice, rows of tiles and padding between rows included. */
static double summed_pairs(const cut *c, const kw_tile_work *work, const kw_tile *tile) {
    if (c->flow) {
        return (double)flow_pixels(c, least_tile(work, tile)) * (double)c->height.all_taps * (double)c->width.all_taps;
    }
    return (double)(tile->rows == 1 ? c->height.products : c->height.tiled) * (double)c->width.tiled;
}

/* Bytes of a pixel that is copied by itself: whole lines where that takes at most a third more, so that its stores cross none. */
static int64_t whole_lines(int64_t bytes) {
    int64_t lines = kw_round_up(bytes, KW_LINE);
    return 3 * lines <= 4 * bytes ? lines : bytes;
}

/* Whether no tap reads outside the width. */
static bool reads_inside(const kw_problem *problem, const cut *c) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD && (c->width.pixels - 1) * d->stride[2] + (d->filter[2] - 1) * d->dilation[2] < d->in[2];
    return d->pad[2] == 0 && (forward || (d->filter[2] == 1 && d->stride[2] == 1));
}

/* Bytes from a pixel of the tensor that is read to the next one of its row, to the next row, to the next plane. */
typedef struct apart {
    int64_t pixel, row, slice;
} apart;

static apart apart_of(const kw_problem *problem) {
    int64_t step[KW_STEP_COUNT], bytes = (int64_t)kw_dtype_size(problem->dtype);
    kw_problem_steps(step, problem, problem->op == KW_CONV_FWD ? KW_X : KW_Y);
    return (apart){step[KW_STEP_COLUMN] * bytes, step[KW_STEP_ROW] * bytes, step[KW_STEP_PLANE] * bytes};
}

/* Of a tensor with pitches, whether its pixels lie as well as a copy's: merged columns side by side, those of a tile in all sets of the
 * first-level cache. */
static bool lies_well(const kw_direct *direct, const kw_problem *problem, const cut *c) {
    int64_t pixel = apart_of(problem).pixel;
    return direct->merge ? pixel == c->pixel : kw_tile_pitch(pixel, c->width.step, direct->tile.cols) == pixel;
}

/* Whether tiles read the tensor where it lies: elements are what the tile reads, the last steps of runs are whole, behind which the tensor may
 * end, and nothing outside the image is read: edge=skip leaves it out, or it is none but whole rows. The tensor is read so wherever its pixels lie
 * as the copy's would: what a copy costs is more than what tiles wait for. Others are where each is read once at most. Columns that are merged
 * are neighbours. */
static bool reads_in_place(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const cut *c, int64_t elements) {
    const kw_conv_dims *d = &problem->conv;
    if (work->amx || direct->tile.own || (size_t)work->word != kw_dtype_size(problem->dtype) || elements % work->pair != 0) {
        return false;
    }
    bool once = problem->op == KW_CONV_FWD && d->filter[1] * d->filter[2] <= d->stride[1] * d->stride[2];
    bool as_copied = d->g == 1 && c->pixel == elements * work->word && !work->converts;
    if (!kw_problem_is_dense(problem) && !lies_well(direct, problem, c)) {
        return false;
    }
    if (direct->tile.skip && !work->head && kw_tile_group(&direct->tile, work->block) == 1) {
        return once || as_copied;
    }
    bool whole = direct->tile.rows == 1 && c->width.pixels >= direct->tile.cols && (d->g == 1 || !direct->merge);
    return (once || as_copied) && whole && reads_inside(problem, c);
}

/* Bytes from one copied pixel to the next, of which a tile's next one is step further. Where a slice has a part of each pixel, an odd number of
 * lines, so that pixels' parts lie in all sets of a cache. */
static int64_t pixel_pitch(const kw_tile *tile, const cut_facts *facts, int64_t step) {
    int64_t bytes = 4 * facts->steps;
    int64_t pitch = kw_tile_pitch(facts->shares > 1 ? whole_lines(bytes) : bytes, step, tile->cols);
    return facts->sliced && pitch % (2 * KW_LINE) == 0 ? pitch + KW_LINE : pitch;
}

/* Tiles that go on in the next row are taken where they save a twentieth: their results are stored by way of spill. Merged columns of a
 * strided convolution lie in no one plane. */
static cut cut_problem(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const kw_target *target,
                       const cut_facts *facts) {
    const kw_tile *tile = &direct->tile;
    const edge none = {SKIP_NOTHING, 1, 1}, cols = edge_of(work, tile);
    /* Of a tall tile that has one row of its columns inside, sums wait as well. */
    const edge rows = {cols.skip == SKIP_PIXELS ? SKIP_PIXELS : SKIP_NOTHING, 1, kw_ceil_div(KW_LANES_UNDER_WAY, work->block * tile->cols)};
    cut c = {.depth = source_span(problem, 0, 1, &none),
             .height = source_span(problem, 1, tile->rows, tile->rows > 1 ? &rows : &none),
             .width = source_span(problem, 2, least_tile(work, tile), &cols)};
    if (tile->own) {
        c.pixel = facts->steps * KW_TILE_STEP_BYTES(work->block);
    } else if (direct->merge) {
        c.pixel = facts->src * work->word;
        c.spare = 4; /* the last step of a row's last pixel may end behind it */
    } else {
        c.pixel = pixel_pitch(tile, facts, c.width.step);
    }
    cut flow = c;
    flow.flow = true;
    c.in_place = reads_in_place(direct, work, problem, &c, facts->elements);
    if (c.in_place) {
        c.pixel = apart_of(problem).pixel;
    }
    cut_blocks(&c, direct, problem, target, facts);
    bool strided = c.height.step > 1 || c.width.step > 1;
    if (work->amx && (!strided || (problem->op == KW_CONV_FWD && !direct->merge))) {
        flow.pixel = strided ? pixel_pitch(tile, facts, 1) : c.pixel;
        cut_blocks(&flow, direct, problem, target, facts);
        if (20 * summed_pairs(&flow, work, tile) <= 19 * summed_pairs(&c, work, tile)) {
            return flow;
        }
    }
    return c;
}

/* Of tile registers, how many groups are worked on as one, with zeros for the weights between them: so many as get done with the fewest
 * products of registers a group. Their number divides that of all. */
static int64_t joined_groups(const kw_tile_work *work, int64_t groups, int64_t src, int64_t dst) {
    int64_t best = 1, least = INT64_MAX;
    for (int64_t join = 1; work->amx && join <= groups && (join == 1 || join * dst <= work->block); join++) {
        int64_t products = kw_ceil_div(join * dst, work->block) * KW_AMX_CHUNKS(kw_ceil_div(join * src, work->pair)) * (groups / join);
        if (groups % join == 0 && products < least) {
            least = products;
            best = join;
        }
    }
    return best;
}

/* How many narrow groups have one copy: lines of memory that several groups share are read and written once. A group's run reads none of the
 * next one's channels. Each thread has units enough. */
static int64_t groups_together(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const kw_target *target,
                               int64_t groups, int64_t src) {
    enum { BYTES = 512 };
    int64_t count = kw_min(groups, BYTES / (src * work->word));
    if (direct->tile.own || direct->merge || kw_tile_steps(work, src) * work->pair != src) {
        return 1;
    }
    while (count > 1 && target->units > 1 && problem->conv.n * kw_ceil_div(groups, count) < KW_TEAM_UNITS * target->units) {
        count--;
    }
    return count > 1 ? kw_ceil_div(groups, kw_ceil_div(groups, count)) : 1;
}

/* Steps of a run. Of tile registers, that of a group with a copy of its own ends with a line of it, so that no row of a register crosses lines,
 * where a chunk loads as many registers of pixels as of weights: it takes as long however few of its steps there are. */
static int64_t run_steps(const kw_direct *direct, const kw_tile_work *work, int64_t elements, int64_t together) {
    int64_t steps = kw_tile_steps(work, elements), chunks = KW_AMX_CHUNKS(steps);
    bool lines = work->amx && !direct->merge && together == 1 && chunks > 1 && direct->tile.cols >= KW_AMX_ROWS * direct->tile.vecs;
    return lines ? chunks * KW_AMX_ROWS : steps;
}

/* Of tile registers, the part of a block's weights that a band of tiles meets before the next one: chunks of a run, of so many runs. */
typedef struct weight_slice {
    int64_t chunks, runs, count;
} weight_slice;

/* What a tile reads of the copy for so many chunks of all runs: pixels that taps of a filter row have in common are read once, of a strided
 * convolution those of each plane. */
static int64_t pixels_of_slice(const kw_direct *direct, const kw_problem *problem, int64_t chunks) {
    const kw_conv_dims *d = &problem->conv;
    int64_t stride = problem->op == KW_CONV_FWD ? d->stride[2] : 1, planes = direct->merge ? 1 : kw_min(stride, d->filter[2]);
    return d->filter[0] * d->filter[1] * planes * (direct->tile.cols + (d->filter[2] - 1) / stride) * chunks * KW_LINE;
}

/* A slice's weights take three quarters of the first-level cache; the fewer slices the better, for sums come and go between two. Parts of all
 * runs leave a tile the pixels that its taps have in common, if these find room. But a part must be as long as a way of that cache, for runs
 * may be any multiple of it apart. Else whole runs, two and more: one would gain less than its sums cost. No slices where sums begin by
 * what all runs' weights say. */
static weight_slice slice_weights(const kw_tile_work *work, const kw_direct *direct, const kw_problem *problem, int64_t runs, int64_t steps,
                                  const kw_target *target) {
    enum { WAY = 4096 };
    int64_t chunks = KW_AMX_CHUNKS(steps), chunk_bytes = KW_AMX_CHUNK(steps) * KW_TILE_STEP_BYTES(work->block);
    int64_t room = target->l1 * 3 / 4, whole = room / (chunks * chunk_bytes), part = room / (runs * chunk_bytes);
    weight_slice all = {chunks, runs, 1}, of_runs = all, of_chunks = all;
    if (!work->amx || work->head || whole >= runs || runs > INT16_MAX || chunks > INT16_MAX) {
        return all;
    }
    if (whole > 1) {
        of_runs.count = kw_ceil_div(runs, whole);
        of_runs.runs = kw_ceil_div(runs, of_runs.count);
    }
    if (part * chunk_bytes < WAY) {
        return of_runs;
    }
    of_chunks.count = kw_ceil_div(chunks, part);
    of_chunks.chunks = kw_ceil_div(chunks, of_chunks.count);
    bool fits = of_chunks.chunks * runs * chunk_bytes + pixels_of_slice(direct, problem, of_chunks.chunks) <= target->l1 * 17 / 16;
    return whole <= 1 || (fits && of_chunks.count <= of_runs.count) ? of_chunks : of_runs;
}

/* Of tile registers, how many of the blocks of result channels of groups that have one copy a band of tiles meets before the next band: their
 * weights, which come again for each band, and the band's results stay in the second-level cache. */
static int64_t blocks_met(const kw_tile_work *work, const kw_tile *tile, int64_t block_bytes, int64_t blocks, int64_t together,
                          const kw_target *target) {
    int64_t results = KW_DIRECT_BAND * tile->cols * work->block * 2, room = target->l2 / 4;
    bool many = work->amx && together > 1;
    return many ? kw_max(kw_min(blocks * together, kw_min(room / block_bytes, room / results)), 1) : 1;
}

/* Instructions for a vector of a copy that holds each lane's own bytes (kw_own_copy() of kernels/cpu/lib/own_lanes.h): one permutation where all
 * lanes' groups lie within a load, shuffles of a few pieces, or a value spread and masked for each group, by a loop where these are many. */
static double own_copy_instructions(const kw_tile_work *work, int64_t groups, int64_t src) {
    enum { PERMUTED = 2, A_PIECE = 2, A_GROUP = 2, A_TURN = 4, LISTED_MOST = 4, PIECES_MOST = 4, PIECE = 16 };
    int64_t pair = work->pair, reach = (groups - 1) * src, pieces = kw_ceil_div(reach + pair, PIECE);
    if (src % pair == 0 && reach < pair * work->block) {
        return PERMUTED;
    }
    if (pair > 1 && pieces <= kw_min(PIECES_MOST, groups)) {
        return A_PIECE * (double)pieces;
    }
    return (groups <= LISTED_MOST ? A_GROUP : A_TURN) * (double)groups;
}

void kw_direct_launch(const kw_direct *direct, const kw_config *config, const kw_problem *problem, const kw_target *target,
                      kw_launch *launch) {
    enum { A_RUN = 4, A_RESULT = 5 }; /* instructions of a tile of bytes besides its products: for a run of taps, for a vector of results */
    const kw_conv_dims *d = &problem->conv;
    const kw_tile *tile = &direct->tile;
    kw_tile_work work = kw_tile_work_of(config, tile);
    bool forward = problem->op == KW_CONV_FWD;
    int64_t src = (forward ? d->c : d->k) / d->g, dst = (forward ? d->k : d->c) / d->g, shares = d->g, results = dst;
    if (tile->own) {
        shares = kw_ceil_div(d->g * dst, work.block);
        dst = work.block;
    }
    int64_t join = direct->merge ? 1 : joined_groups(&work, d->g, src, dst);
    src *= join, dst *= join, shares /= join;
    int64_t groups = shares, together = groups_together(direct, &work, problem, target, groups, src);
    shares = kw_ceil_div(shares, together);
    if (direct->merge && work.amx) {
        src = kw_tile_wider(&work, src, d->filter[2]);
    }
    int64_t elements = src * (direct->merge ? d->filter[2] : 1), steps = run_steps(direct, &work, elements, together),
            blocks = kw_ceil_div(dst, work.block);
    int64_t runs = d->filter[0] * d->filter[1] * (direct->merge ? 1 : d->filter[2]);
    weight_slice part = slice_weights(&work, direct, problem, runs, steps, target);
    bool sliced = part.chunks < KW_AMX_CHUNKS(steps);
    int64_t most_rows = launch->reorder.band_rows;
    cut c = cut_problem(direct, &work, problem, target, &(cut_facts){src, elements, together * steps, shares, blocks, most_rows, sliced});
    int64_t cells = cells_of(&c, problem, shares);
    int64_t units = cells * kw_ceil_div(c.height.pixels, c.rows), parts = kw_tile_parts(units, blocks, target->units, KW_TEAM_UNITS);
    int64_t block_bytes = runs * (work.head + steps * KW_TILE_STEP_BYTES(work.block));
    int64_t meet = blocks_met(&work, tile, block_bytes, kw_ceil_div(blocks, parts), together, target);

    launch->stages = 2;
    launch->stage[0] = (kw_stage){.units = groups * blocks, .packs = true};
    launch->stage[1] = (kw_stage){.units = units * parts};
    launch->packed_bytes = groups * blocks * block_bytes;
    if (most_rows && shares == 1) {
        launch->reorder.band_rows = c.rows;
        launch->reorder.band_units = kw_ceil_div(c.width.pixels, c.cols) * parts;
    }
    int64_t spill = KW_TILE_SPILL_BYTES(tile->rows * tile->cols, work.block);
    int64_t copy_at = KW_DIRECT_BAND_AT(spill, runs) + (part.count > 1 ? KW_DIRECT_BAND * spill : 0);
    launch->thread_bytes = copy_at + (c.in_place ? 0 : copy_bytes(&c, tile)) + KW_LINE;
    *kw_launch_params(launch, kw_direct_params) = (kw_direct_params){
        .block = {(int)c.rows, (int)c.cols},
        .parts = (int)parts,
        .far = (short)kw_tile_far(target),
        .slice_chunks = (short)(sliced ? part.chunks : 0),
        .pixel = c.pixel,
        .row = c.in_place ? apart_of(problem).row : row_bytes(&c),
        .slice = c.in_place ? apart_of(problem).slice : slice_bytes(&c, tile),
        .copy_at = c.in_place ? 0 : copy_at,
        .flow = c.flow ? (int)row_pixels(&c) : 0,
        .join = (short)join,
        .slice_runs = (short)(part.runs < runs ? part.runs : 0),
        .steps = (int)steps,
        .meet = (short)meet,
        .together = (short)together,
    };

    double tap_pixels = (double)c.depth.products * summed_pairs(&c, &work, tile) / (double)(direct->merge ? d->filter[2] : 1);
    double runs_of_all = (double)(d->n * groups * steps), pixels = tile->rows * tile->cols;
    double lacking = (double)(blocks * tile->vecs - kw_tile_vectors(&work, tile, dst));
    /* A tile register takes as long however few of its steps there are. */
    double filled = work.amx ? (double)(KW_AMX_CHUNKS(steps) * KW_AMX_ROWS) / (double)steps : 1;
    launch->multiply_adds = runs_of_all * tap_pixels * kw_tile_products(&work, tile, dst) * filled * (double)work.instructions;
    launch->loads = runs_of_all * tap_pixels / pixels * ((double)blocks * kw_tile_step_loads(&work, tile) - lacking);
    if (tile->skip) {
        double visits = (double)(tile->rows == 1 ? c.height.products : c.height.visits) * (double)c.width.visits;
        launch->loads = runs_of_all * (double)c.depth.products *
                        ((double)blocks * (summed_pairs(&c, &work, tile) + visits * (double)tile->vecs) - visits * lacking);
    }
    double copies = (double)(units / (c.height.walks * c.width.walks) * kw_tile_sharers(units, parts, target->units));
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes + (c.in_place ? 0 : 2.0 * copies * (double)copy_bytes(&c, tile));
    if (problem->dtype == KW_INT8 &&
        !work.amx) { /* four elements are one step, so that products are few beside what else a tile and its copy take */
        double tiles = (double)(d->n * groups * blocks) * tap_pixels / pixels, taps = (double)(d->filter[0] * d->filter[1] * d->filter[2]);
        launch->multiply_adds += tiles * (A_RUN * (double)runs + A_RESULT * pixels * tile->vecs) / taps;
        double own = tile->own ? own_copy_instructions(&work, kw_min(d->g, kw_ceil_div(work.block - 1, results) + 1), src) : 0;
        launch->multiply_adds += own * copies * (double)copy_bytes(&c, tile) / (double)KW_TILE_STEP_BYTES(work.block);
    }
}

void kw_direct_emit(const kw_direct *direct, const kw_config *config, kw_text *text) {
    kw_text_addf(text, "#define KW_MERGE %d\n", direct->merge);
    kw_tile_emit(text, &direct->tile, config);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_direct direct = conv_direct_direct(config);
    kw_direct_launch(&direct, config, problem, target, launch);
}

static void launch_direct(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_reorder_launch(launch_last, config, problem, target, launch);
}

static void conv_direct_emit(const kw_config *config, kw_text *text) {
    kw_direct direct = conv_direct_direct(config);
    kw_direct_emit(&direct, config, text);
}

const kw_family kw_family_conv_direct = {
    .name = "conv.direct",
    .summary = "dense convolution over zero-padded copies of rows; forward and backward data",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .pitched = true,
    .pitched_text = true,
    .quantized = true,
    .zero_w = true,
    .tiles = true,
    .ops = 1u << KW_CONV_FWD | 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules}, [KW_RUNS] = {kw_isa_runs_rules}, [KW_TAKES] = {kw_cpu_conv_rules}},
    .decode = conv_direct_decode,
    .launch = launch_direct,
    .emit = conv_direct_emit,
    .kernel = "cpu/direct/direct.c",
};
