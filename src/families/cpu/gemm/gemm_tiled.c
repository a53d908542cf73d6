/* gemm_tiled.c: matrix products by register tiles, any sizes, batches and the four layouts. B is packed from either order; A is read
 * where it is when its rows are contiguous (or B's columns are few), have the element type that the tile reads and do not evict each other from the cache, else
 * a chunk of rows is copied (and transposed) first. The whole depth is summed in registers. */
#include "families/cpu/gemm/gemm.h"
#include "families/cpu/tailor.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/gemm/args.h"
#include "prelude/row_groups.h"
#include "problem/tensors/pitch.h"

enum { TILE_M = KW_ISA_AXIS_COUNT, VECS, BAND, AHEAD };

/* SOON_TILES: of a block of weights at most, that more of them would wait for hardly longer. */
enum { GROUP_SPREAD = 4, SOON_TILES = 64 };

extern const kw_family kw_family_gemm_tiled;

static const kw_axis axes[KW_GEMM_AXIS_COUNT] = {KW_ISA_AXES, KW_GEMM_AXES};

kw_tile kw_gemm_tile(const kw_config *config) {
    return (kw_tile){.rows = 1, .cols = config->axis[TILE_M], .vecs = config->axis[VECS], .ahead = config->axis[AHEAD]};
}

void kw_gemm_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_tile *)decoded = kw_gemm_tile(config);
}

/* Copied rows that one block of weights reads, once, need not leave the first-level cache. Not where they are turned, which goes by vectors of
 * rows, nor of tile registers, whose slices of weights should meet many tiles. */
static bool copies_pass_once(const kw_product *p, const kw_tile_work *work, int64_t blocks) {
    return p->copies && blocks == 1 && !p->a_columns && !p->groups && !work->amx;
}

/* Rows of A of a unit, whole tiles: as many as the config says, but no more than are there, than leave work for all threads, and, where
 * they are copied or the config leaves it open, than half of a cache holds: the second-level one, for every block of weights reads them
 * again. */
static int64_t chunk_rows(const kw_product *p, const kw_config *config, const kw_target *target, int64_t pitch, int64_t blocks,
                          int64_t cache) {
    /* A group may have some times the mean; one chunk of it reads its weights once. */
    int64_t wanted = p->groups ? kw_min(p->all_rows, GROUP_SPREAD * p->rows) : p->rows;
    int64_t tile = config->axis[TILE_M], tiles = kw_ceil_div(wanted, tile), band = config->axis[BAND];
    int64_t most = band ? kw_min(band, tiles) : tiles;
    if (!band || p->copies) {
        most = kw_min(most, kw_max(cache / 2 / (pitch * tile), 1));
    }
    int64_t units = target->units > 1 ? KW_TEAM_UNITS * target->units : 1;
    int64_t chunks = kw_max(kw_ceil_div(tiles, most), kw_min(tiles, kw_ceil_div(units, p->batches * blocks)));
    return kw_ceil_div(tiles, chunks) * tile;
}

/* Steps of a slice: a block's weights take three quarters of the first-level cache, through which rows only pass. */
static int64_t slice_steps(const kw_tile_work *work, int64_t steps, const kw_target *target) {
    if (!work->amx) {
        return steps;
    }
    int64_t chunk = KW_AMX_CHUNK(steps), chunks = KW_AMX_CHUNKS(steps);
    int64_t most = kw_max(target->l1 * 3 / 4 / (chunk * KW_TILE_STEP_BYTES(work->block)), 1), slices = kw_ceil_div(chunks, most);
    return kw_ceil_div(chunks, slices) * chunk;
}

/* Blocks of columns that a tile of rows meets while it is in the first-level cache: as many as their weights, which all tiles meet, and lines of
 * results leave room for. So rows come once for all of these from the second level, and a row's results are written side by side. */
static int64_t blocks_together(const kw_tile_work *work, const kw_tile *tile, int64_t steps, int64_t slice, int64_t blocks,
                               const kw_target *target) {
    enum { MOST = 16 };
    int64_t rows = tile->cols * 4 * steps,
            block = steps * KW_TILE_STEP_BYTES(work->block) + tile->cols * kw_round_up(2 * work->block, KW_LINE);
    return work->amx && slice >= steps ? kw_max(kw_min((target->l1 * 7 / 8 - rows) / block, kw_min(blocks, MOST)), 1) : 1;
}

/* How a product's rows and depth are cut: steps of a copied part of the depth, bytes from copied row to row, rows of a unit. */
typedef struct cut {
    int64_t deep, pitch, rows;
} cut;

static cut cut_of(const kw_product *p, const kw_config *config, const kw_target *target, int64_t deep, int64_t blocks, int64_t cache) {
    cut c = {.deep = deep, .pitch = kw_tile_pitch(4 * deep, 1, config->axis[TILE_M])};
    c.rows = chunk_rows(p, config, target, c.pitch, blocks, cache);
    return c;
}

/* Whether the depth may be met in parts. With 16 lanes, whose sums are more to put down and take up again, it gained nothing where the last
 * level of cache is near. */
static bool may_cut(const kw_config *config, const kw_target *target, const kw_tile_work *work, const kw_product *p) {
    bool pays = work->amx || kw_config_isa(config)->lanes == 8 || kw_tile_far(target);
    return !p->groups && KW_GEMM_SLICES(work->amx, config->dtype == KW_FP32) && pays;
}

/* Packed weights, which come again for each chunk from beyond the second-level cache, are what is waited for where rows are long and
 * chunks of few of them. With parts of the depth chunks have more rows, and their sums come and go instead. */
static cut cut_depth(const kw_product *p, const kw_config *config, const kw_target *target, const kw_tile_work *work, int64_t steps,
                     int64_t blocks, int64_t cache) {
    enum { STEPS_LEAST = 256, SUM = 4 };
    cut whole = cut_of(p, config, target, steps, blocks, cache), best = whole;
    int64_t packed = blocks * steps * KW_TILE_STEP_BYTES(work->block), sums = p->rows * blocks * work->block * SUM;
    int64_t least = kw_ceil_div(p->rows, whole.rows) * packed * 7 / 8, chunk = work->amx ? KW_AMX_CHUNK(steps) : 1;
    int64_t chunks = kw_ceil_div(steps, chunk), parts_most = work->amx ? 8 : 64;
    if (!may_cut(config, target, work, p) || packed <= target->l2 / 2) {
        return whole;
    }
    for (int64_t parts = 2; parts <= parts_most && steps / parts >= STEPS_LEAST; parts++) {
        cut c = cut_of(p, config, target, kw_ceil_div(chunks, parts) * chunk, blocks, cache);
        int64_t bytes = kw_ceil_div(p->rows, c.rows) * packed + (2 * parts - 1) * sums;
        if (bytes < least) {
            least = bytes;
            best = c;
        }
    }
    return best;
}

/* Steps of a part of the depth whose lines of columns stay in the first-level cache, for the tiles of a line's rows and for all blocks. */
enum { COLUMN_STEPS = 200 };

/* Whether A that lies by columns is read where it lies (KW_TILE_STRIDES). To turn an element takes about as long as to multiply it with 16 columns,
 * so it pays where columns are few. Not where lines of a part's steps evict each other. */
static bool reads_columns(const kw_config *config, const kw_target *target, const kw_tile_work *work, const kw_product *p, int64_t steps) {
    enum { FEW_COLUMNS = 32, SOME_COLUMNS = 64, WAY = 4096, WAYS = 8 };
    bool shallow = steps <= COLUMN_STEPS, held = WAYS * (WAY / kw_gcd(WAY, p->a_row)) >= kw_min(steps, COLUMN_STEPS);
    return p->a_columns && !p->groups && config->dtype == KW_FP32 && held && (shallow || may_cut(config, target, work, p)) &&
           p->columns <= (shallow || kw_tile_far(target) ? SOME_COLUMNS : FEW_COLUMNS);
}

static cut cut_columns(const kw_product *p, const kw_config *config, const kw_target *target, int64_t steps, int64_t blocks) {
    return cut_of(p, config, target, kw_ceil_div(steps, kw_ceil_div(steps, COLUMN_STEPS)), blocks, target->l2);
}

/* Whether rows that end with half a bf16 pair are read where they are all the same. */
static bool meets_twice(const kw_config *config, const kw_product *p) {
    return KW_GEMM_MEETS_TWICE(config->axis[KW_AXIS_MATH] == KW_MATH_DP && config->dtype == KW_BF16, p->depth);
}

/* Whether rows that end in the midst of a tile register are read where they are (steps_back of the kernel). */
static bool begins_earlier(const kw_tile_work *work, const kw_product *p) {
    return work->amx && p->depth % work->pair == 0;
}

/* Whether rows of tile registers cross lines where they lie, and come from the second-level cache so often, for blocks of columns that do not meet
 * them together, that it takes longer than a copy. In the first-level cache such rows are waited for hardly longer than others. */
static bool crosses_lines(const kw_product *p, const kw_tile *tile, const kw_tile_work *work, int64_t steps, int64_t blocks,
                          const kw_target *target) {
    enum { LINE = 64, PASSES_LEAST = 3 };
    int64_t batch = p->batches > 1 ? p->depth * work->word : 0, slice = slice_steps(work, steps, target);
    bool whole = KW_AMX_CHUNK(steps) == KW_AMX_ROWS && p->a_row % LINE == 0 && batch % LINE == 0;
    int64_t together = blocks_together(work, tile, steps, slice, blocks, target);
    return work->amx && !whole && kw_ceil_div(blocks, together) >= PASSES_LEAST;
}

/* Rows with those of tiles that are not whole: where rows can be shared out to tiles that lack one at most, none are summed for nothing. */
static int64_t summed_rows(const kw_tile_work *work, const kw_tile *tile, int64_t rows) {
    int64_t tiles = kw_ceil_div(rows, tile->cols);
    return !work->amx && KW_TILES_ARE_EVEN(rows, tiles, tile->cols) ? rows : tiles * tile->cols;
}

/* With which blocks tiles ask for the next tile's rows. Where the last level is far (kw_tile_far) cores read rows ahead by themselves, from
 * the second level in time, so that asking for them again costs slots alone; what is more than a sixteenth of that level would go before it
 * is met. */
static int asks_ahead(const kw_target *target, int64_t tile_bytes) {
    enum { SHARE = 16 };
    return !kw_tile_far(target) ? KW_GEMM_AHEAD_EACH : tile_bytes <= target->l2 / SHARE ? KW_GEMM_AHEAD_FIRST : KW_GEMM_AHEAD_NEVER;
}

void kw_gemm_launch(const kw_product *product, const kw_config *config, const kw_target *target, kw_launch *launch) {
    kw_product p = *product;
    kw_tile tile = kw_gemm_tile(config);
    kw_tile_work work = kw_tile_work_of(config, &tile);
    int64_t steps = kw_tile_steps(&work, p.depth), blocks = kw_ceil_div(p.columns, work.block);
    bool reads_beyond = KW_GEMM_READS_BEYOND(work.amx, config->dtype == KW_INT8, work.converts);
    bool ends_within = p.depth != steps * work.pair;
    p.copies = p.copies || work.converts || crosses_lines(&p, &tile, &work, steps, blocks, target) ||
               kw_tile_pitch(p.a_row, 1, tile.cols) != p.a_row ||
               (ends_within && !reads_beyond && !meets_twice(config, &p) && !begins_earlier(&work, &p));
    int64_t cache = copies_pass_once(&p, &work, blocks) ? target->l1 : target->l2;
    p.copies = p.copies && !reads_columns(config, target, &work, &p, steps);
    steps = work.amx && p.copies ? KW_AMX_LINES(steps) : steps;
    cut c = p.a_columns && !p.copies ? cut_columns(&p, config, target, steps, blocks)
                                     : cut_depth(&p, config, target, &work, steps, blocks, cache);
    /* Where the depth is cut, each part of the columns copies the rows for itself. */
    if (c.deep < steps && ends_within && !p.copies) {
        p.copies = true;
        steps = work.amx ? KW_AMX_LINES(steps) : steps;
        c = work.amx ? cut_depth(&p, config, target, &work, steps, blocks, cache) : c;
    }
    bool copies_again = c.deep < steps;
    int64_t rows = c.rows, pitch = c.pitch, chunks = kw_ceil_div(p.rows, rows);
    int64_t units = p.batches * chunks, parts = kw_tile_parts(units, blocks, target->units, copies_again ? 1 : KW_TEAM_UNITS);
    if (p.groups) {
        units = KW_GROUP_CHUNKS_MOST(p.all_rows, p.groups, rows);
        parts = kw_max(parts, kw_min(blocks, target->units)); /* groups are unequal, parts of the columns are not */
    }

    int64_t slice = slice_steps(&work, c.deep, target), together = blocks_together(&work, &tile, steps, slice, blocks, target);
    int64_t spill = KW_TILE_SPILL_BYTES(tile.cols, work.block);
    spill *= slice < steps ? rows / tile.cols : 1;
    spill *= c.deep < steps ? kw_ceil_div(blocks, parts) : 1;

    launch->stages = 2;
    launch->stage[0] = (kw_stage){.units = p.batches * blocks, .packs = true};
    launch->stage[1] = (kw_stage){.units = units * parts};
    launch->packed_bytes = p.batches * blocks * (work.head + steps * KW_TILE_STEP_BYTES(work.block));
    /* By how many steps the last chunk's weights are moved back (steps_back of the kernel). */
    launch->packed_order = work.amx && !p.copies && c.deep >= steps ? steps - kw_ceil_div(p.depth, work.pair) : 0;
    launch->thread_bytes = spill + (p.copies ? rows : tile.cols) * pitch + KW_LINE;
    *kw_launch_params(launch, kw_gemm_params) = (kw_gemm_params){
        .chunk_rows = rows,
        .parts = parts,
        .copy = p.copies,
        .ahead = (short)asks_ahead(target, 4 * c.deep * tile.cols),
        .soon = may_cut(config, target, &work, &p) && launch->packed_bytes > target->l2 / 2 && rows <= SOON_TILES * tile.cols,
        .far = (short)kw_tile_far_of_block(target, c.deep * KW_TILE_STEP_BYTES(work.block)),
        .together = (short)together,
        .pitch = pitch,
        .a_columns = p.a_columns,
        .b_columns = p.b_columns,
        .copy_at = spill,
        .slice = slice,
        .deep = c.deep,
    };

    double tiles = (double)(p.batches * kw_ceil_div(p.rows, tile.cols));
    int64_t lacking = blocks * tile.vecs - kw_tile_vectors(&work, &tile, p.columns);
    launch->multiply_adds =
        (double)(p.batches * summed_rows(&work, &tile, p.rows) * steps * work.instructions) * kw_tile_products(&work, &tile, p.columns);
    launch->loads = tiles * (kw_tile_step_loads(&work, &tile) * (double)blocks - (double)lacking) * (double)steps;
    launch->copied_bytes = 2.0 * (double)launch->packed_bytes;
    if (p.copies) {
        int64_t copies = copies_again ? kw_min(parts, target->units) : kw_tile_sharers(units, parts, target->units);
        launch->copied_bytes += 2.0 * (double)(p.batches * p.rows * pitch * copies);
    }
    /* Every tile of rows goes through all packed weights, a block at a time. */
    double passes = (double)(kw_ceil_div(p.rows, tile.cols) - 1);
    launch->rereads[0] = (kw_cache_reuse){
        .bytes = passes * (double)launch->packed_bytes,
        .between = together * slice * KW_TILE_STEP_BYTES(work.block) + tile.cols * pitch,
    };
}

void kw_gemm_emit(const kw_config *config, bool pointwise, kw_text *text) {
    kw_tile tile = kw_gemm_tile(config);
    kw_text_addf(text, "#define KW_POINTWISE %d\n", pointwise);
    kw_tile_emit(text, &tile, config);
}

static void gemm_tiled_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_gemm_dims *d = &problem->gemm;
    bool a_columns = problem->layout == KW_CRR || problem->layout == KW_CCR;
    kw_product product = {
        .batches = d->groups ? d->groups : d->batch,
        .rows = d->groups ? kw_ceil_div(d->m, d->groups) : d->m,
        .groups = d->groups,
        .all_rows = d->m,
        .columns = d->n,
        .depth = d->k,
        .a_row = kw_problem_matrix(problem, KW_X).line_step * (int64_t)kw_dtype_size(problem->dtype),
        .copies = a_columns,
        .a_columns = a_columns,
        .b_columns = problem->layout == KW_RCR || problem->layout == KW_CCR,
    };
    kw_gemm_launch(&product, config, target, result);
}

static void gemm_tiled_emit(const kw_config *config, kw_text *text) {
    kw_gemm_emit(config, false, text);
}

size_t kw_gemm_tailor(const kw_family *family, const kw_problem *problem, int64_t rows, int64_t columns, const kw_target *target,
                      kw_config configs[KW_TAILORED_MAX]) {
    const kw_tailor_rows wanted = {
        .base = {.family = family, .op = problem->op, .dtype = problem->dtype, .axis = {[AHEAD] = 1}},
        .cols_axis = TILE_M,
        .vecs_axis = VECS,
        .pixels = rows,
        .results = columns,
    };
    return kw_tailor_tiles(&wanted, target, configs);
}

static size_t tailor_tiled(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_gemm_dims *d = &problem->gemm;
    int64_t rows = d->groups ? kw_ceil_div(d->m, d->groups) : d->m;
    return kw_gemm_tailor(&kw_family_gemm_tiled, problem, rows, d->n, target, configs);
}

const kw_family kw_family_gemm_tiled = {
    .name = "gemm.tiled",
    .summary = "matrix product by register tiles over packed B; any sizes, batches and layouts",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .tiles = true,
    .pitched = true,
    .row_groups = true,
    .ops = 1u << KW_GEMM,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16 | 1u << KW_INT8 | 1u << KW_FP8 | 1u << KW_BF8,
    .axes = axes,
    .axis_count = KW_GEMM_AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules}, [KW_RUNS] = {kw_isa_runs_rules}, [KW_TAKES] = {kw_cpu_gemm_rules}},
    .decode = kw_gemm_decode,
    .launch = gemm_tiled_launch,
    .tailor = tailor_tiled,
    .emit = gemm_tiled_emit,
    .kernel = "cpu/gemm/gemm.c",
};
