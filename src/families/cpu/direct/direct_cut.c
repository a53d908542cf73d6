/* direct_cut.c: how conv.direct cuts a problem: what each axis of it is, whether tiles end with rows or go on in the next, whether anything is
 * copied, and blocks that leave each thread some and the cache room. */
#include "families/cpu/direct/direct_cut.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/direct/args.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <assert.h>

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
static void add_visits(kw_direct_span *s, const kw_walk *walk, int64_t tile, const edge *how) {
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
        s->parts += kw_min(tiles, ((begin - first) % cols != 0) + ((end - first) % cols != 0 && end < last));
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

static kw_direct_span source_span(const kw_problem *problem, int axis, int64_t tile, const edge *how) {
    int64_t out[3];
    kw_problem_output(out, problem);
    kw_direct_span s = {.walks = kw_problem_walks(problem, axis), .step = 1, .products = kw_problem_axis_products(problem, axis)};
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
    if (s.walks == 1 && s.step == 1 && s.taps) {
        s.shared = kw_max(kw_min(kw_min(-low, high + s.pixels - s.source), s.reach), 0); /* a row's results have places of their own */
    }
    return s;
}

/* Where tiles go on in the next row, a strided convolution's copy has a plane for each place modulo the strides. */
static int64_t planes_of(const kw_direct_cut *c) {
    return c->flow ? c->height.step * c->width.step : 1;
}

int64_t kw_direct_row_pixels(const kw_direct_cut *c) {
    if (c->edges) {
        return c->edge_pixels;
    }
    int64_t shared = c->cols == c->width.pixels ? c->width.shared : 0;
    return c->flow ? c->cols + c->width.reach / c->width.step - shared : (c->cols - 1) * c->width.step + c->width.reach + 1;
}

static int64_t row_bytes(const kw_direct_cut *c) {
    return c->flow ? kw_direct_row_pixels(c) * c->pixel : kw_round_up(kw_direct_row_pixels(c) * c->pixel + c->spare, KW_LINE);
}

static int64_t plane_bytes(const kw_direct_cut *c) {
    return row_bytes(c) * (c->rows + c->height.reach / c->height.step);
}

static int64_t slice_bytes(const kw_direct_cut *c, const kw_tile *tile) {
    if (c->flow) {
        return planes_of(c) * plane_bytes(c);
    }
    int64_t rows = (c->rows - 1) * c->height.step + c->height.reach + 1;
    return row_bytes(c) * (tile->rows == 1 ? kw_min(rows, c->height.source) : rows);
}

/* The last tile of a flow, and that of a row whose groups of pixels edge=skip leaves out, read behind the copy what they leave out of their
 * results; a flow's last row has its padding there. */
static int64_t copy_bytes(const kw_direct_cut *c, const kw_tile *tile) {
    int64_t behind = c->flow ? tile->cols + c->width.shared : tile->skip ? tile->cols * c->width.step : 0;
    return slice_bytes(c, tile) * kw_max(kw_min(c->depth.taps, c->depth.source), 1) + behind * c->pixel;
}

/* Pixels that are summed where tiles go on in the next row, for a tap of each axis. */
static int64_t flow_pixels(const kw_direct_cut *c, int64_t tile) {
    int64_t last = (c->height.pixels - 1) % c->rows + 1, blocks = kw_ceil_div(c->width.pixels, c->cols);
    int64_t whole = kw_round_up((c->rows - 1) * kw_direct_row_pixels(c) + c->cols, tile);
    return blocks * ((c->height.pixels - last) / c->rows * whole + kw_round_up((last - 1) * kw_direct_row_pixels(c) + c->cols, tile));
}

/* What a block reads of a slice and its neighbours: the copy, or of the tensor as it lies no padding. */
static int64_t read_bytes(const kw_direct_cut *c, const kw_tile *tile) {
    if (!c->in_place) {
        return copy_bytes(c, tile);
    }
    int64_t rows = kw_min((c->rows - 1) * c->height.step + c->height.reach + 1, c->height.source);
    return rows * kw_min(kw_direct_row_pixels(c), c->width.source) * c->pixel * kw_max(kw_min(c->depth.taps, c->depth.source), 1);
}

/* Narrows the block, rows first, until what it reads fits the budget or the block is a tile. */
static void narrow(kw_direct_cut *c, const kw_tile *tile, int64_t budget) {
    while (read_bytes(c, tile) > budget && c->rows > tile->rows) {
        c->rows = kw_round_up(c->rows / 2, tile->rows);
    }
    while (read_bytes(c, tile) > budget && c->cols > tile->cols) {
        c->cols = kw_round_up(c->cols / 2, tile->cols);
    }
}

int64_t kw_direct_cells(const kw_direct_cut *c, const kw_problem *problem, int64_t shares) {
    return problem->conv.n * shares * c->depth.walks * c->depth.pixels * c->height.walks * c->width.walks *
           kw_ceil_div(c->width.pixels, c->cols);
}

/* Of a block rows, or columns, no fewer than leave most of a copy to its own block, where there is one. */
static int64_t least_of_a_team(const kw_direct_cut *c, const kw_direct_span *axis) {
    enum { SPAN = 3 };
    return c->in_place ? 1 : SPAN * (axis->reach / axis->step) + 1;
}

/* Cuts rows, and of rows that cannot be cut further columns, so that each thread has KW_TEAM_UNITS blocks, of which others can take some over.
 * Tiles that go on in the next row keep their rows; what is copied of both ends of a row alone is of whole rows. */
static void cut_for_a_team(kw_direct_cut *c, const kw_tile *tile, const kw_problem *problem, const kw_target *target,
                           const kw_direct_facts *facts) {
    int64_t wanted = KW_TEAM_UNITS * target->units, cells = kw_direct_cells(c, problem, facts->shares) * facts->blocks;
    if (target->units == 1) {
        return;
    }
    if (!c->flow) {
        int64_t rows = kw_max(c->height.pixels / kw_ceil_div(wanted, cells), least_of_a_team(c, &c->height));
        c->rows = kw_min(c->rows, kw_round_up(rows, tile->rows));
    }
    int64_t bands = cells * kw_ceil_div(c->height.pixels, c->rows);
    if (bands < wanted && !c->edges && (!c->flow || c->rows == 1)) {
        int64_t cols = kw_max(c->width.pixels / kw_ceil_div(wanted, bands), least_of_a_team(c, &c->width));
        c->cols = kw_min(c->cols, kw_round_up(cols, tile->cols));
    }
}

/* Columns of a block where tiles go on in the next row. Where a filter row's columns are channels, blocks have no source columns in common and
 * each filter row reads a line or so of each pixel: what all of them read of a block's row stays in the first-level cache until the next row has
 * read it. */
static int64_t columns_of_flow(const kw_direct_cut *c, const kw_direct *direct, const kw_target *target) {
    enum { LEAST = 16 };
    if (!direct->columns) {
        return c->width.pixels;
    }
    int64_t near = target->l1 / 3 / kw_max(1, c->pixel * c->height.taps);
    return kw_ceil_div(c->width.pixels, kw_ceil_div(c->width.pixels, kw_max(near, LEAST)));
}

/* The rows of a block where the sources and results of all groups are clearly more than the second-level cache holds: it holds those of a block, so
 * that the next group has from there what one leaves of a line; no fewer than leave most of a copy to its own block. Weights, which come again for
 * each block, have to stay in that cache as well. */
static int64_t rows_of_all_groups(const kw_direct_cut *c, const kw_tile *tile, const kw_problem *problem, const kw_target *target) {
    enum { SPAN = 3 };
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD;
    int64_t source = c->height.step * c->width.source * (forward ? d->c : d->k), result = c->width.pixels * (forward ? d->k : d->c);
    int64_t row = (source + c->height.walks * c->width.walks * result) * (int64_t)kw_dtype_size(problem->dtype);
    int64_t least = SPAN * (c->height.reach / c->height.step) + 1, most = kw_max(target->l2 / 2 / row, least);
    int64_t weights = d->c / d->g * d->k * d->filter[0] * d->filter[1] * d->filter[2] * (int64_t)kw_dtype_size(problem->dtype);
    bool many = 8 * c->height.pixels * row > 9 * target->l2 && c->rows > most && weights <= target->l2 / 2;
    return many ? kw_min(c->rows, kw_round_up(kw_ceil_div(c->height.pixels, kw_ceil_div(c->height.pixels, most)), tile->rows)) : c->rows;
}

/* As many rows as fit half of the second-level cache, and fewer where threads had no block. Where weights are far, the source may be as well. */
static void cut_blocks(kw_direct_cut *c, const kw_direct *direct, const kw_problem *problem, const kw_target *target,
                       const kw_direct_facts *facts) {
    const kw_tile *tile = &direct->tile;
    c->rows = kw_round_up(direct->band ? kw_min(direct->band, c->height.pixels) : c->height.pixels, tile->rows);
    if (facts->most_rows) {
        c->rows = kw_min(c->rows, kw_round_up(facts->most_rows, tile->rows));
    }
    c->cols = c->flow ? columns_of_flow(c, direct, target) : kw_round_up(c->width.pixels, tile->cols);
    narrow(c, tile, c->streams ? 16 * target->l2 : target->l2 / 2);
    if (facts->shares > 1 && !c->in_place) {
        c->rows = rows_of_all_groups(c, tile, problem, target);
    }
    while (kw_direct_cells(c, problem, facts->shares) * kw_ceil_div(c->height.pixels, c->rows) * facts->blocks < target->units &&
           c->rows > tile->rows) {
        c->rows = kw_round_up(c->rows / 2, tile->rows);
    }
    cut_for_a_team(c, tile, problem, target, facts);
    assert(c->rows % tile->rows == 0 && (c->flow || c->cols % tile->cols == 0));
}

/* Of tile registers, 16 pixels of a tile of 32 can be had alone. */
static int64_t least_tile(const kw_tile_work *work, const kw_tile *tile) {
    return work->amx && tile->cols == 2 * KW_AMX_ROWS ? KW_AMX_ROWS : tile->cols;
}

double kw_direct_summed_pairs(const kw_direct_cut *c, const kw_tile_work *work, const kw_tile *tile) {
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

/* Bytes of a pixel that is a row of a tile register: a part of a line, so that it crosses none, where that takes at most twice the room. */
static int64_t line_part(int64_t bytes) {
    int64_t part = 4;
    while (part < bytes) {
        part *= 2;
    }
    return part;
}

/* Whether no tap reads outside the width. */
static bool reads_inside(const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    bool forward = problem->op == KW_CONV_FWD, point = d->filter[2] == 1 && d->stride[2] == 1;
    bool inside = forward ? (out[2] - 1) * d->stride[2] + (d->filter[2] - 1) * d->dilation[2] < d->in[2] : point && d->in[2] <= out[2];
    return d->pad[2] == 0 && inside;
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
static bool lies_well(const kw_direct *direct, const kw_problem *problem, const kw_direct_cut *c) {
    int64_t pixel = apart_of(problem).pixel;
    return direct->merge ? pixel == c->pixel : kw_tile_pitch(pixel, c->width.step, direct->tile.cols) == pixel;
}

/* Whether tiles read the tensor where it lies: elements are what the tile reads, the last steps of runs are whole, behind which the tensor may
 * end, and nothing outside the image is read: edge=skip leaves it out, or it is none but whole rows. The tensor is read so wherever its pixels lie
 * as the copy's would: what a copy costs is more than what tiles wait for. Nor does it matter that the pixels of a group lie farther apart, as long as
 * those of a tile are in all sets of the first-level cache (1.01 to 1.44 times as fast on 19 drawn layers of groups, most under a stride). Others are
 * where each is read once at most. Columns that are merged are neighbours. */
static bool reads_in_place(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const kw_direct_cut *c,
                           int64_t elements) {
    const kw_conv_dims *d = &problem->conv;
    if (work->amx || direct->tile.own || direct->tile.ways || (size_t)work->word != kw_dtype_size(problem->dtype) ||
        elements % work->pair != 0) {
        return false;
    }
    bool once = problem->op == KW_CONV_FWD && d->filter[1] * d->filter[2] <= d->stride[1] * d->stride[2];
    bool well = lies_well(direct, problem, c), near = d->g == 1 ? c->pixel == elements * work->word : !direct->merge && well;
    bool as_copied = near && !work->converts;
    if (!kw_problem_is_dense(problem) && !well) {
        return false;
    }
    if (direct->tile.skip && !work->head && kw_tile_group(&direct->tile, work->block) == 1) {
        return once || as_copied;
    }
    bool whole = direct->tile.rows == 1 && c->width.pixels >= direct->tile.cols && (d->g == 1 || !direct->merge);
    return (once || as_copied) && whole && reads_inside(problem);
}

/* Whether tiles find merged columns in the tensor but for those at both ends of a row, and how much of a row these read. A block has all columns. */
static bool copies_edges(kw_direct_cut *c, const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    bool lies = kw_problem_is_dense(problem) || lies_well(direct, problem, c);
    if (!direct->merge || work->amx || work->head || work->pair > 1 || (size_t)work->word != kw_dtype_size(problem->dtype) || d->g > 1 ||
        !lies || c->in_place) {
        return false;
    }
    int64_t reach = (d->filter[2] - 1) * d->dilation[2], columns = c->width.pixels;
    kw_direct_edges e = kw_direct_edges_of(columns, direct->tile.cols, -d->pad[2], d->stride[2], reach, d->in[2]);
    c->edge_pixels = kw_direct_edge_columns(e.left, d->stride[2], reach) + kw_direct_edge_columns(columns - e.from, d->stride[2], reach);
    return e.right > e.left;
}

/* Bytes from one copied pixel to the next, of which a tile's next one is step further. Those of ways lie without gaps, as runs that are joined
 * must. Where a slice has a part of each pixel, an odd number of lines, so that pixels' parts lie in all sets of a cache. */
static int64_t pixel_pitch(const kw_tile *tile, const kw_tile_work *work, const kw_direct_facts *facts, int64_t step) {
    int64_t bytes = 4 * facts->steps;
    bool row = work->amx && facts->steps <= KW_AMX_ROWS;
    int64_t pitch = kw_tile_pitch(row ? line_part(bytes) : facts->shares > 1 && !tile->ways ? whole_lines(bytes) : bytes, step, tile->cols);
    return facts->sliced && pitch % (2 * KW_LINE) == 0 ? pitch + KW_LINE : pitch;
}

/* Says of a problem that is cut how rows and slices lie. */
static void place_rows(kw_direct_cut *c, const kw_tile *tile, const kw_problem *problem) {
    c->row = c->in_place ? apart_of(problem).row : row_bytes(c);
    c->slice = c->in_place ? apart_of(problem).slice : slice_bytes(c, tile);
    c->copied = c->in_place ? 0 : copy_bytes(c, tile);
}

/* Jobs of a line by each tap along it, where tiles have so many pixels. */
typedef struct intervals {
    double products; /* pixels that the jobs take as long as */
    double pieces;   /* for which weights are loaded */
    double jobs;     /* those by several taps are one */
} intervals;

/* count intervals of so many pixels, each cut into pieces that fit a tile; few pixels have two sums each. */
static void add_intervals(intervals *all, int64_t count, int64_t pixels, int64_t tile, double taps, const edge *how) {
    if (count > 0 && pixels > 0) {
        int64_t pieces = kw_ceil_div(pixels, tile);
        all->products += (double)(count * kw_max(pixels, pieces * kw_ceil_div(how->least, 2)));
        all->pieces += (double)(count * pieces);
        all->jobs += (double)(count * pieces) / taps;
    }
}

static intervals intervals_of(const kw_problem *problem, int axis, int64_t size, int64_t tile, int64_t tall, const edge *how) {
    kw_walk walk = kw_problem_walk(problem, axis, 0);
    intervals all = {0};
    for (int64_t t = 0; t < walk.taps; t++) {
        int64_t at = walk.src_start + t * walk.tap_src_step, begin = kw_ceil_div(kw_max(-at, 0), walk.src_step);
        int64_t end = kw_min(kw_ceil_div(kw_max(size - at, 0), walk.src_step), walk.pixels);
        if (begin >= end) {
            continue;
        }
        int64_t first = begin / tall, last = (end - 1) / tall;
        add_intervals(&all, 1, kw_min(end, (first + 1) * tall) - begin, tile, 1, how);
        add_intervals(&all, last > first, end - last * tall, tile, 1, how);
        add_intervals(&all, last - first - 1, tall, tile, (double)walk.taps, how);
    }
    return all;
}

/* One way to sum intervals, and what it takes of each slice and channel block, in products of a vector. */
typedef struct line_cut {
    int64_t tall;
    double cost;
} line_cut;

/* The best of tiles along an axis: as wide as a usual one, or as the line, whose pixels are block of a block. */
static line_cut cut_line(const kw_problem *problem, const kw_direct_cut *c, const kw_tile *tile, int64_t steps, int axis, const edge *how) {
    enum { A_JOB = 80, MOST = 64 };
    const kw_direct_span *along = axis == 1 ? &c->height : &c->width, *across = axis == 1 ? &c->width : &c->height;
    int64_t pixels = kw_min(axis == 1 ? c->rows : c->cols, along->pixels), usual = kw_ceil_div(pixels, kw_ceil_div(pixels, tile->cols));
    line_cut best = {0};
    for (int64_t tall = usual; tall <= kw_max(pixels, usual); tall = tall < pixels ? pixels : pixels + 1) {
        intervals all = intervals_of(problem, axis, along->source, tile->cols, tall, how);
        double products = (double)(across->products * steps * tile->vecs) * (all.products + all.pieces);
        line_cut cut = {tall, products + A_JOB * all.jobs * (double)across->pixels};
        if (tall == usual || (tall <= MOST && cut.cost < best.cost)) {
            best = cut;
        }
    }
    return best;
}

/* Whether a block's weights find no room in half of the second-level cache. */
static bool weights_are_far(const kw_tile_work *work, const kw_problem *problem, const kw_target *target, int64_t steps) {
    const kw_conv_dims *d = &problem->conv;
    return d->filter[0] * d->filter[1] * d->filter[2] * steps * KW_TILE_STEP_BYTES(work->block) > target->l2 / 2;
}

/* Lines that have their sums in a quarter of the second-level cache at once, where a block's weights are far. */
static int64_t lines_at_once(const kw_tile_work *work, const kw_problem *problem, const kw_target *target, int64_t steps, int64_t tall,
                             int64_t lines) {
    int64_t most = target->l2 / 4 / (tall * KW_TILE_STEP_BYTES(work->block));
    return weights_are_far(work, problem, target, steps) ? kw_max(1, kw_min(kw_min(lines, INT16_MAX), most)) : 1;
}

/* Whether tiles sum intervals (kernels/cpu/direct/direct_intervals.h; what launch counts stays that of tiles that test, by whose times models were
 * trained), and along which axis: where products, loads of weights and jobs take a twentieth less; or up to a twentieth more where weights are far,
 * which lines then read together. Columns are for taps of a filter row that are one run; where their pixels lie by few sets of a cache, they have no
 * room in it.
 * alone: the cut of one thread. In what order a pixel's products are added goes by where its line is cut, so nothing here may depend on threads, nor
 * on how many groups a turn of them has (families/cpu/reorder.h). */
static void cut_intervals(kw_direct_cut *alone, const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem,
                          const kw_target *target, const kw_direct_facts *facts, const edge *how) {
    enum { A_VISIT = 32, WAY = 4096, WAYS = 8 };
    const double a_test = 0.5;
    const kw_tile *tile = &direct->tile;
    const kw_conv_dims *d = &problem->conv;
    bool joins = d->filter[2] > 1 && d->dilation[2] == 1 && alone->pixel == 4 * facts->steps;
    bool stands = joins && alone->rows >= kw_min(alone->height.pixels, 2 * tile->cols) &&
                  tile->cols * kw_gcd(WAY, alone->row * alone->height.step) <= WAYS * WAY / 2;
    double run = (double)(facts->steps * tile->vecs), height = (double)alone->height.products;
    line_cut row = cut_line(problem, alone, tile, facts->steps, 2, how), column = cut_line(problem, alone, tile, facts->steps, 1, how);
    const line_cut *best = stands && column.cost < row.cost ? &column : &row;
    double test = tile->vecs > 2 ? 0 : tile->vecs > 1 ? a_test / 2 : a_test; /* of a pixel in each step, beside its products */
    double a_part = A_VISIT + test * (double)(tile->cols * facts->steps);
    double usual = height * ((double)(alone->width.tiled + alone->width.visits) * run + a_part * (double)alone->width.parts);
    if (20 * best->cost <= (alone->streams ? 21 : 19) * usual) {
        alone->line = best == &column ? KW_DIRECT_STANDS : KW_DIRECT_LIES;
        alone->tall = best->tall;
        alone->lines = lines_at_once(work, problem, target, facts->steps, alone->tall, best == &column ? alone->width.pixels : alone->rows);
    }
}

/* The columns of a block of which each thread has KW_TEAM_UNITS, where lines of intervals are columns, which keep all their rows. */
static int64_t columns_of_a_team(const kw_direct_cut *c, const kw_problem *problem, const kw_target *target, const kw_direct_facts *facts) {
    int64_t units = kw_direct_cells(c, problem, facts->shares) * kw_ceil_div(c->height.pixels, c->rows) * facts->blocks;
    int64_t shared = kw_min(c->cols, c->width.pixels) / kw_ceil_div(KW_TEAM_UNITS * target->units, units);
    return target->units == 1 ? c->cols : kw_min(c->cols, kw_max(shared, least_of_a_team(c, &c->width)));
}

/* The columns of a block that a team has cut, where lines of intervals are rows: tiles are those of one thread. */
static int64_t columns_of_tiles(const kw_direct_cut *c, const kw_direct_cut *alone) {
    bool one_row = alone->cols >= c->width.pixels || alone->cols % alone->tall == 0;
    return one_row ? kw_min(kw_round_up(c->cols, alone->tall), alone->cols) : alone->cols;
}

/* Cuts the problem for one thread and asks whether tiles sum intervals. Where these are of rows, threads may cut the height as they like, and the
 * width between tiles. */
static void cut_lines(kw_direct_cut *c, const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem,
                      const kw_target *target, const kw_direct_facts *facts, const edge *how) {
    kw_target one = *target;
    kw_direct_facts all_rows = *facts;
    kw_direct_cut alone = *c;
    one.units = 1;
    all_rows.most_rows = 0;
    alone.streams = weights_are_far(work, problem, target, facts->steps);
    cut_blocks(&alone, direct, problem, &one, &all_rows);
    place_rows(&alone, &direct->tile, problem);
    cut_intervals(&alone, direct, work, problem, target, facts, how);
    if (alone.line == KW_DIRECT_STANDS) {
        alone.cols = columns_of_a_team(&alone, problem, target, facts);
        *c = alone;
    } else if (alone.line) {
        if (alone.streams) {
            c->streams = true;
            cut_blocks(c, direct, problem, target, facts);
        }
        c->line = alone.line, c->tall = alone.tall, c->lines = kw_min(alone.lines, c->rows);
        c->cols = columns_of_tiles(c, &alone);
    }
    place_rows(c, &direct->tile, problem);
}

/* The height where the rows of one way stand for those of all: the copy has rows outside the image as well. */
static void share_height(kw_direct_span *height, int64_t way_rows) {
    height->pixels = way_rows;
    height->products = way_rows * height->all_taps;
    height->source = INT64_MAX;
}

/* Tiles that go on in the next row are taken where they save a twentieth: their results are stored by way of spill. */
kw_direct_cut kw_direct_cut_of(const kw_direct *direct, const kw_tile_work *work, const kw_problem *problem, const kw_target *target,
                               const kw_direct_facts *facts) {
    const kw_tile *tile = &direct->tile;
    const edge none = {SKIP_NOTHING, 1, 1}, cols = edge_of(work, tile);
    /* Of a tall tile that has one row of its columns inside, sums wait as well. */
    const edge rows = {cols.skip == SKIP_PIXELS ? SKIP_PIXELS : SKIP_NOTHING, 1, kw_ceil_div(KW_LANES_UNDER_WAY, work->block * tile->cols)};
    kw_direct_cut c = {.depth = source_span(problem, 0, 1, &none),
                       .height = source_span(problem, 1, tile->rows, tile->rows > 1 ? &rows : &none),
                       .width = source_span(problem, 2, least_tile(work, tile), &cols)};
    if (facts->way_rows) {
        share_height(&c.height, facts->way_rows);
    }
    if (tile->own) {
        c.pixel = facts->steps * KW_TILE_STEP_BYTES(work->block);
    } else if (direct->merge) {
        c.pixel = facts->src * work->word;
        c.spare = 4; /* the last step of a row's last pixel may end behind it */
    } else {
        c.pixel = pixel_pitch(tile, work, facts, c.width.step);
    }
    kw_direct_cut flow = c;
    flow.flow = true;
    c.in_place = reads_in_place(direct, work, problem, &c, facts->elements);
    c.edges = copies_edges(&c, direct, work, problem);
    cut_blocks(&c, direct, problem, target, facts);
    if (c.edges && c.cols < c.width.pixels) {
        c.edges = false;
        cut_blocks(&c, direct, problem, target, facts);
    }
    if (c.in_place) {
        c.pixel = apart_of(problem).pixel; /* the block has as many rows as if the unit's groups were copied */
    }
    bool strided = c.height.step > 1 || c.width.step > 1;
    if (work->amx && (!strided || problem->op == KW_CONV_FWD)) {
        flow.pixel = strided ? pixel_pitch(tile, work, facts, 1) : c.pixel;
        cut_blocks(&flow, direct, problem, target, facts);
        if (20 * kw_direct_summed_pairs(&flow, work, tile) <= 19 * kw_direct_summed_pairs(&c, work, tile)) {
            place_rows(&flow, tile, problem);
            return flow;
        }
    }
    place_rows(&c, tile, problem);
    if (facts->padded && cols.skip == SKIP_PIXELS) {
        cut_lines(&c, direct, work, problem, target, facts, &cols);
    }
    return c;
}
