/* conv_direct.c: dense convolution, forward and backward data, any filter, stride, dilation and padding, in 1, 2 and 3 dimensions. The
 * accumulators of a tile stay in registers over all taps and channels, so the output is written once. kernels/cpu/direct/direct.c is the
 * kernel; here is how work is shared out to units, and what that costs (direct_cut.c cuts problems into blocks). Groups are right
 * for any number of channels; below about 8 a group the merged and depthwise families are faster. */
#include "families/cpu/direct/direct_cut.h"
#include "families/cpu/reorder.h"
#include "families/cpu/tailor.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/direct/args.h"
#include "problem/view.h"

enum { TILE_H = KW_ISA_AXIS_COUNT, TILE_W, VECS, BAND, EDGE, AXIS_COUNT };

extern const kw_family kw_family_conv_direct;

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

/* How many narrow groups may have one copy: lines of memory that several groups share are read and written once. A group's run reads none of the
 * next one's channels. */
static int64_t narrow_groups(const kw_direct *direct, const kw_tile_work *work, int64_t groups, int64_t src) {
    enum { BYTES = 512 };
    int64_t count = kw_min(groups, BYTES / (src * work->word));
    bool runs = kw_tile_steps(work, src) * work->pair == src;
    return !runs || count < 2 || direct->tile.own || direct->tile.ways || direct->merge || direct->columns ? 1 : count;
}

/* How many of at most so many have one, so that each thread has units enough. */
static int64_t groups_together(int64_t most, int64_t groups, int64_t n, const kw_target *target) {
    int64_t count = most;
    while (count > 1 && target->units > 1 && n * kw_ceil_div(groups, count) < KW_TEAM_UNITS * target->units) {
        count--;
    }
    return kw_ceil_div(groups, kw_ceil_div(groups, count));
}

/* Steps of a run. Of tile registers, that of a group with a copy of its own ends with a line of it, so that no row of a register crosses lines,
 * where a chunk loads as many registers of pixels as of weights: it takes as long however few of its steps there are. Groups that one thread gives a
 * copy together have no such lines on any: chunks make slices, and slices the order of sums. */
static int64_t run_steps(const kw_direct *direct, const kw_tile_work *work, int64_t elements, int64_t narrow) {
    int64_t steps = kw_tile_steps(work, elements), chunks = KW_AMX_CHUNKS(steps);
    bool lines = work->amx && narrow == 1 && chunks > 1 && direct->tile.cols >= KW_AMX_ROWS * direct->tile.vecs;
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
    int64_t stride = problem->op == KW_CONV_FWD ? d->stride[2] : 1, planes = kw_min(stride, d->filter[2]);
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
 * weights, which come again for each band, and the band's results stay in the second-level cache. Of others, how many blocks a row of tiles meets
 * before the next row: as many as have weights in half of the first-level cache, so that lines of results which blocks share, or which lie side by
 * side, are written at about the same time (four images of 202 x 202 with 96 channels of results, of one: 1.3 times as fast). */
static int64_t blocks_met(const kw_tile_work *work, const kw_tile *tile, int64_t block_bytes, int64_t blocks, int64_t together,
                          const kw_target *target) {
    int64_t results = KW_DIRECT_BAND * tile->cols * work->block * 2, room = target->l2 / 4;
    if (!work->amx) {
        return kw_max(kw_min(blocks, target->l1 / 2 / block_bytes), 1);
    }
    return together > 1 ? kw_max(kw_min(blocks * together, kw_min(room / block_bytes, room / results)), 1) : 1;
}

/* How many small images have a unit together. Where the weights of a block are cut into slices, each slice meets the tiles of all of them before the
 * next one comes, and of one small image these are few: as many as a band has where weights come from beyond the second-level cache. Others come so
 * fast that it pays in tiles of 16 pixels alone, which multiply a register of weights once, and of no more of these than leave a third of the
 * first-level cache to their sums, which come and go. Each thread has units enough. */
static int64_t images_together(const kw_direct_cut *c, const kw_tile *tile, const kw_problem *problem, const kw_target *target,
                               int64_t cells, bool far, int64_t spill) {
    const kw_conv_dims *d = &problem->conv;
    int64_t tiles = c->flow ? kw_ceil_div((c->rows - 1) * kw_direct_row_pixels(c) + c->cols, tile->cols) : c->rows * (c->cols / tile->cols);
    int64_t most = far ? KW_DIRECT_BAND : tile->cols == KW_AMX_ROWS ? target->l1 / 3 / spill : 1;
    int64_t count = kw_min(kw_min(d->n, kw_ceil_div(most, tiles)), kw_max(target->l2 / 2 / c->copied, 1));
    while (count > 1 && target->units > 1 && cells / d->n * kw_ceil_div(d->n, count) < KW_TEAM_UNITS * target->units) {
        count--;
    }
    return kw_ceil_div(d->n, kw_ceil_div(d->n, count));
}

/* Rows from way to way where ways are parts of a group's rows, 0 where they are groups: whichever leaves fewer of them idle. */
static int64_t rows_of_a_way(const kw_tile *tile, const kw_problem *problem) {
    int64_t out[3], groups = problem->conv.g, ways = tile->ways;
    if (!ways) {
        return 0;
    }
    kw_problem_output(out, problem);
    int64_t pixels = kw_ceil_div(problem->op == KW_CONV_FWD ? out[1] : problem->conv.in[1], kw_problem_walks(problem, 1));
    int64_t idle_groups = kw_round_up(groups, ways) - groups, idle_rows = kw_round_up(pixels, ways) - pixels;
    return idle_groups * pixels <= idle_rows * groups ? 0 : kw_ceil_div(pixels, ways);
}

/* Instructions for a vector of a copy that holds each lane's own bytes (kw_own_copy() of kernels/cpu/lib/own_lanes.h): one permutation where all
 * lanes' groups lie within a load, shuffles of a few pieces, permutations of a few pairs of vectors, or a value spread and masked for each group,
 * by a loop where these are many. */
static double own_copy_instructions(const kw_tile_work *work, int64_t groups, int64_t src) {
    enum { PERMUTED = 2, A_PIECE = 2, A_PAIR = 3, A_GROUP = 2, A_TURN = 4, LISTED_MOST = 4, PIECES_MOST = 4, PIECE = 16, PAIRS_MOST = 4 };
    int64_t pair = work->pair, reach = (groups - 1) * src, pieces = kw_ceil_div(reach + pair, PIECE);
    if (src % pair == 0 && reach < pair * work->block) {
        return PERMUTED;
    }
    if (pair > 1 && pieces <= kw_min(PIECES_MOST, groups)) {
        return A_PIECE * (double)pieces;
    }
    int64_t pairs = kw_ceil_div(reach / pair + src / pair, 2 * work->block);
    if (src % pair == 0 && pairs <= PAIRS_MOST && 2 * pairs < groups) {
        return A_PAIR * (double)pairs;
    }
    return (groups <= LISTED_MOST ? A_GROUP : A_TURN) * (double)groups;
}

/* What the work of a problem that is cut is counted by. */
typedef struct counted {
    kw_tile_work work;
    kw_direct_cut cut;
    int64_t groups, blocks, runs, steps;
    int64_t src, dst; /* channels of what is worked on as a group */
    int64_t results;  /* of a group of the problem's */
    double copies;
} counted;

/* Tiles of bytes have few products, for four elements are one step: what else a tile and its copy take counts. tap_pixels: (pixel, tap) pairs of
 * an output channel of an image. */
static void count_besides(const counted *n, const kw_tile *tile, const kw_conv_dims *d, double tap_pixels, kw_launch *launch) {
    enum { A_RUN = 4, A_RESULT = 5 }; /* instructions for a run of taps, for a vector of results */
    double pixels = tile->rows * tile->cols, taps = (double)(d->filter[0] * d->filter[1] * d->filter[2]);
    double tiles = (double)(d->n * n->groups * n->blocks) * tap_pixels / pixels;
    launch->multiply_adds += tiles * (A_RUN * (double)n->runs + A_RESULT * pixels * tile->vecs) / taps;
    int64_t of_a_vector = kw_min(d->g, kw_ceil_div(n->work.block - 1, n->results) + 1);
    double own = tile->own ? own_copy_instructions(&n->work, of_a_vector, n->src) : 0;
    launch->multiply_adds += own * n->copies * (double)n->cut.copied / (double)KW_TILE_STEP_BYTES(n->work.block);
}

static void count_work(const counted *n, const kw_direct *direct, const kw_problem *problem, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    const kw_tile *tile = &direct->tile;
    const kw_tile_work *work = &n->work;
    const kw_direct_cut *c = &n->cut;
    double pairs = kw_direct_summed_pairs(c, work, tile),
           tap_pixels = (double)c->depth.products * pairs / (double)(direct->merge ? d->filter[2] : 1);
    double runs_of_all = (double)(d->n * n->groups * n->steps), pixels = tile->rows * tile->cols, blocks = (double)n->blocks;
    double lacking = (double)(n->blocks * tile->vecs - kw_tile_vectors(work, tile, n->dst));
    /* A tile register takes as long however few of its steps there are. */
    double filled = work->amx ? (double)(KW_AMX_CHUNKS(n->steps) * KW_AMX_ROWS) / (double)n->steps : 1;
    launch->multiply_adds = runs_of_all * tap_pixels * kw_tile_products(work, tile, n->dst) * filled * (double)work->instructions;
    launch->loads = runs_of_all * tap_pixels / pixels * (blocks * kw_tile_step_loads(work, tile) - lacking);
    if (tile->skip) {
        double visits = (double)(tile->rows == 1 ? c->height.products : c->height.visits) * (double)c->width.visits;
        launch->loads = runs_of_all * (double)c->depth.products * (blocks * (pairs + visits * (double)tile->vecs) - visits * lacking);
    }
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes + 2.0 * n->copies * (double)c->copied;
    if (problem->dtype == KW_INT8 && !work->amx) {
        count_besides(n, tile, d, tap_pixels, launch);
    }
}

/* The convolution that is left where the columns of a filter row are channels. */
static kw_problem with_columns(const kw_problem *problem) {
    kw_problem columns = *problem;
    kw_conv_dims *d = &columns.conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    d->c *= d->filter[2];
    d->in[2] = out[2];
    d->filter[2] = d->stride[2] = d->dilation[2] = 1;
    d->pad[2] = d->pad_back[2] = 0;
    return columns;
}

/* given: with its columns, where these are channels. */
static void launch_problem(const kw_direct *direct, const kw_config *config, const kw_problem *given, const kw_problem *problem,
                           const kw_target *target, kw_launch *launch) {
    const kw_conv_dims *d = &problem->conv;
    const kw_tile *tile = &direct->tile;
    kw_tile_work work = kw_tile_work_of(config, tile);
    bool forward = problem->op == KW_CONV_FWD;
    int64_t src = (forward ? d->c : d->k) / d->g, dst = (forward ? d->k : d->c) / d->g, shares = d->g, results = dst;
    if (tile->own) {
        shares = kw_ceil_div(d->g * dst, work.block);
        dst = work.block;
    }
    int64_t ways = kw_max(tile->ways, 1), way_rows = rows_of_a_way(tile, problem);
    if (tile->ways) {
        shares = kw_ceil_div(d->g, way_rows ? 1 : ways);
        dst *= ways; /* lanes in turn */
    }
    int64_t join = direct->merge || direct->columns ? 1 : joined_groups(&work, d->g, src, dst);
    src *= join, dst *= join, shares /= join;
    int64_t groups = shares, narrow = narrow_groups(direct, &work, groups, src), together = groups_together(narrow, groups, d->n, target);
    shares = kw_ceil_div(shares, together);
    int64_t elements = src * (direct->merge ? d->filter[2] : 1), steps = run_steps(direct, &work, elements, narrow),
            blocks = kw_ceil_div(dst, work.block);
    int64_t runs = d->filter[0] * d->filter[1] * (direct->merge ? 1 : d->filter[2]);
    weight_slice part = slice_weights(&work, direct, problem, runs, steps, target);
    bool sliced = part.chunks < KW_AMX_CHUNKS(steps);
    int64_t most_rows = launch->reorder.band_rows;
    const kw_direct_facts facts = {src,       elements, together * steps * ways, shares,  blocks, together,
                                   most_rows, sliced,   config->wants.padded,    way_rows};
    kw_direct_cut c = kw_direct_cut_of(direct, &work, problem, target, &facts);
    int64_t block_bytes = runs * (work.head + steps * KW_TILE_STEP_BYTES(work.block));
    int64_t spill = KW_TILE_SPILL_BYTES(tile->rows * tile->cols, work.block);
    int64_t cells = kw_direct_cells(&c, problem, shares), images = 1;
    if (part.count > 1 && c.rows >= c.height.pixels && !most_rows &&
        !direct->columns) { /* what lies in front of their copy is not a later image's */
        bool far = groups * blocks * block_bytes > target->l2 * 3 / 4;
        images = images_together(&c, tile, problem, target, cells, far, spill);
        cells = cells / d->n * kw_ceil_div(d->n, images);
        c.copied += (images - 1) * c.slice * kw_min(d->filter[0], c.depth.source);
    }
    int64_t units = cells * kw_ceil_div(c.height.pixels, c.rows), parts = kw_tile_parts(units, blocks, target->units, KW_TEAM_UNITS);
    int64_t meet = blocks_met(&work, tile, block_bytes, kw_ceil_div(blocks, parts), together, target);

    launch->stages = 2;
    launch->stage[0] = (kw_stage){.units = groups * blocks, .packs = true};
    launch->stage[1] = (kw_stage){.units = units * parts};
    launch->packed_bytes = groups * blocks * block_bytes;
    if (most_rows && shares == 1) {
        launch->reorder.band_rows = c.rows;
        launch->reorder.band_units = kw_ceil_div(c.width.pixels, c.cols) * parts;
    }
    int64_t copy_at = KW_DIRECT_BAND_AT(spill, runs * (c.edges ? 2 : 1)) + (part.count > 1 ? KW_DIRECT_BAND * spill : 0) +
                      c.tall * c.lines * KW_TILE_STEP_BYTES(work.block);
    if (direct->columns) {
        const kw_conv_dims *of = &given->conv;
        copy_at += KW_DIRECT_COLUMNS_BYTES(c.cols, of->stride[2], of->filter[2], of->c / of->g * work.word);
    }
    launch->thread_bytes = copy_at + c.copied + KW_LINE;
    *kw_launch_params(launch, kw_direct_params) = (kw_direct_params){
        .block = {(int)c.rows, (int)c.cols},
        .parts = (int)parts,
        .slice_chunks = (short)(sliced ? part.chunks : 0),
        .pixel = c.pixel,
        .row = c.row,
        .slice = c.slice,
        .copy_at = c.in_place ? 0 : copy_at,
        .flow = c.flow    ? (int)kw_direct_row_pixels(&c)
                : c.edges ? KW_DIRECT_EDGES
                          : c.line,
        .join = (short)join,
        .slice_runs = (short)(part.runs < runs ? part.runs : 0),
        .steps = (int)steps,
        .meet = (short)meet,
        .together = (short)together,
    };
    kw_direct_params *params = kw_launch_params(launch, kw_direct_params);
    if (tile->ways) {
        params->way_rows = (int)way_rows;
    }
    if (work.amx) {
        params->images = (short)images;
    } else {
        params->far = (short)kw_tile_far_of_block(target, block_bytes);
    }
    if (c.line) {
        params->tall = (short)c.tall;
        params->lines = (short)c.lines;
    }

    const counted n = {
        .work = work,
        .cut = c,
        .groups = groups,
        .blocks = blocks,
        .runs = runs,
        .steps = steps,
        .src = src,
        .dst = dst,
        .results = results,
        .copies = (double)(units / (c.height.walks * c.width.walks) * kw_tile_sharers(units, parts, target->units)),
    };
    count_work(&n, direct, problem, launch);
}

void kw_direct_launch(const kw_direct *direct, const kw_config *config, const kw_problem *problem, const kw_target *target,
                      kw_launch *launch) {
    kw_problem columns = direct->columns ? with_columns(problem) : *problem;
    launch_problem(direct, config, problem, &columns, target, launch);
}

void kw_direct_emit(const kw_direct *direct, const kw_config *config, kw_text *text) {
    kw_text_addf(text, "#define KW_MERGE %d\n%s", direct->merge, direct->columns ? "#define KW_COLUMNS 1\n" : "");
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

/* Whether tiles that sum intervals are worth a text of their own: tiles of one row that test each pixel. */
static bool has_intervals(const kw_config *config) {
    kw_direct direct = conv_direct_direct(config);
    return direct.tile.rows == 1 && direct.tile.skip && config->axis[KW_AXIS_MATH] != KW_MATH_AMX;
}

static size_t tailor_direct(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_conv_dims *d = &problem->conv;
    const kw_tailor_rows rows = {
        .base = {.family = &kw_family_conv_direct, .op = problem->op, .dtype = problem->dtype, .axis = {[TILE_H] = 1, [EDGE] = 1}},
        .cols_axis = TILE_W,
        .vecs_axis = VECS,
        .pixels = kw_tailor_row(problem),
        .results = (problem->op == KW_CONV_FWD ? d->k : d->c) / d->g,
    };
    return kw_tailor_tiles(&rows, target, configs);
}

const kw_family kw_family_conv_direct = {
    .name = "conv.direct",
    .summary = "dense convolution over zero-padded copies of rows; forward and backward data",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .pitched = true,
    .pitched_text = true,
    .padded_text = has_intervals,
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
    .tailor = tailor_direct,
    .emit = conv_direct_emit,
    .kernel = "cpu/direct/direct.c",
};
