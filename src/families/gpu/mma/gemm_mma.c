/* gemm_mma.c: matrix products by tiles in shared memory and matrix instructions, in the four layouts. The kernel text is
 * kernels/gpu/gemm/gemm.c. */
#include "base/math.h"
#include "families/gpu/defines.h"
#include "families/gpu/mma/rules.h"
#include "families/gpu/mma/tailor.h"
#include "gpu/gemm/args.h"
#include "gpu/lib/resources.h"
#include "problem/tensors/pitch.h"
#include "prelude/row_groups.h"

#define ROW(name, words, low, high, meaning) {#name, words, low, high, meaning},
static const kw_axis gemm_mma_axes[] = {KW_GEMM_AXES(ROW)};
#undef ROW

extern const kw_family kw_family_gemm_mma;

static kw_mma_grid gemm_grid(const kw_mma *mma, const kw_problem *problem) {
    const kw_gemm_dims *d = &problem->gemm;
    bool turned = mma->epi == KW_EPI_TURNED;
    int64_t rows = mma->tile[turned], cols = mma->tile[1 - turned];
    int64_t along = d->groups ? KW_GROUP_CHUNKS_MOST(d->m, d->groups, rows) : kw_ceil_div(d->m, rows), across = kw_ceil_div(d->n, cols);
    return (kw_mma_grid){.tile_rows = turned ? across : along,
                         .tile_cols = turned ? along : across,
                         .batches = d->batch,
                         .steps = kw_ceil_div(d->k, mma->tile[2]),
                         .elements = kw_problem_values(problem, KW_Y),
                         .row = d->batch == 1 ? d->n : 0};
}

/* --- which problems a config serves --- */

static bool gemm_layout(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    return c->problem->layout == (kw_layout)mma->layout;
}

static bool gemm_sizes_counted(const kw_rule_case *c) {
    const kw_gemm_dims *d = &c->problem->gemm;
    return kw_max(d->m, kw_max(d->n, d->k)) <= INT32_MAX / 4;
}

static bool whole_tiles(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    const int64_t size[3] = {c->problem->gemm.m, c->problem->gemm.n, c->problem->gemm.k};
    bool whole = true;
    for (int i = 0; i < 3; i++) {
        whole &= mma->pad[i] || size[i] % mma->tile[i] == 0;
    }
    return whole;
}

/* What runs along which size: A and B by their layouts, C by columns. All lines begin at a vector. */
static bool gemm_vectors_divide(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    const kw_gemm_dims *d = &c->problem->gemm;
    const int64_t runs[3] = {mma->layout == KW_RCR || mma->layout == KW_RRR ? d->k : d->m,
                             mma->layout == KW_RRR || mma->layout == KW_CRR ? d->n : d->k, d->n};
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        kw_matrix matrix = kw_problem_matrix(c->problem, (kw_tensor)i);
        if (runs[i] % mma->vec[i] || matrix.line_step % mma->vec[i] || matrix.batch_step % mma->vec[i]) {
            return false;
        }
    }
    return true;
}

static bool gemm_index_reaches(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    int64_t largest = 0;
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        kw_matrix matrix = kw_problem_matrix(c->problem, (kw_tensor)i);
        largest = kw_max(largest, (matrix.lines - 1) * matrix.line_step + matrix.length);
    }
    return mma->index == 64 || (largest <= KW_OFFSET_MAX && largest * mma->bytes <= INT32_MAX);
}

/* Of the operands' copies in the workspace too, whose lines are as long as they are: far below. */
static bool gemm_bulk_reaches(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    for (int i = 0; i < KW_TENSOR_COUNT && (mma->pipe == KW_PIPE_TMA || kw_mma_overlaps(mma)); i++) {
        kw_matrix matrix = kw_problem_matrix(c->problem, (kw_tensor)i);
        int64_t most = KW_BULK_STEP_MAX / (int64_t)kw_dtype_size(kw_problem_dtype(c->problem, (kw_tensor)i));
        if (matrix.line_step >= most || matrix.batch_step >= most) {
            return false;
        }
    }
    return true;
}

static bool gemm_tiles_counted(const kw_rule_case *c) {
    kw_mma_grid grid = gemm_grid(c->decoded, c->problem);
    return kw_mma_grid_is_counted(&grid);
}

/* The instruction alone sums where no sums of each step are kept beside it. */
static bool permits_fast_accum(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    bool fast = kw_mma_overlaps(mma) && mma->bytes == 1 && kw_mma_sum_sets(mma) == 1;
    return !fast || c->problem->fpmath == KW_FPMATH_FAST_ACCUM;
}

static bool second_stays(const kw_rule_case *c) {
    const kw_mma *mma = c->decoded;
    kw_mma_grid grid = gemm_grid(mma, c->problem);
    return !kw_mma_is_stationary(mma) || (grid.batches == 1 && grid.tile_cols == 1 && grid.steps <= kw_mma_stationary_steps(mma));
}

static const kw_rule gemm_mma_takes_rules[] = {
    {"sizes_counted", "rows, columns and depth are counted in 31 bits", gemm_sizes_counted},
    {0},
};

static const kw_rule gemm_mma_fits_rules[] = {
    KW_MMA_PERMITS_RULE,
    {"permits_fast_accum",
     "a tile of 256x128 or 128x256 leaves sums of fp8 and bf8 to the instruction; the problem must permit it by fpmath=fast_accum",
     permits_fast_accum},
    {"layout", "the config is for another layout than the problem's", gemm_layout},
    {"whole_tiles", "m, n or k is no multiple of tile_m, tile_n or tile_k; pad_m=1, pad_n=1, pad_k=1 serve any", whole_tiles},
    {"vectors_divide", "vec_a, vec_b and vec_c must divide the contiguous size of their matrix, and with pitches its steps; 1 serves any",
     gemm_vectors_divide},
    {"index_reaches", "index=32 reaches matrices of 2 GiB and 2^30 elements, index=64 any", gemm_index_reaches},
    {"bulk_reaches", "bulk copies and stores take steps below 2^40 bytes from line to line and from matrix to matrix", gemm_bulk_reaches},
    {"second_stays",
     "with streamk=stationary a tile has all columns of the one product (with epi=turned all its rows), and shared memory their whole "
     "depth",
     second_stays},
    {"tiles_counted", KW_TILES_COUNTED_WHY, gemm_tiles_counted},
    {0},
};

/* --- launch --- */

/* The second operand is packed first: whole tiles of it, a thread for each lane's share of a step. */
static void pack_first(const kw_mma *mma, const kw_mma_grid *grid, int64_t lanes, kw_launch *launch) {
    for (int i = launch->stages++; i > 0; i--) {
        launch->stage[i] = launch->stage[i - 1];
    }
    int64_t shares = grid->batches * grid->tile_cols * (mma->tile[1] / mma->inst[1]) * grid->steps * lanes;
    launch->stage[0] = (kw_stage){kw_ceil_div(shares, KW_PACK_THREADS), true, KW_PACK_THREADS};
    launch->packed_bytes = grid->batches * grid->tile_cols * mma->tile[1] * grid->steps * mma->tile[2] * mma->bytes;
    launch->copied_bytes += 2 * (double)launch->packed_bytes;
}

/* Of an operand that all of the batch share there is one, whatever its step says: a map has no step of 0. */
static int64_t map_batches(const kw_matrix *matrix) {
    return matrix->batch_step ? matrix->batch : 1;
}

static int64_t map_batch_step(const kw_matrix *matrix) {
    return matrix->batch_step ? matrix->batch_step : matrix->lines * matrix->line_step;
}

/* Boxes of so many lines of an operand. Where its lines lie badly for bulk copies, or along what they should lie across, it is copied to lines that
 * do not. */
static kw_map operand_map(const kw_mma *mma, const kw_problem *problem, kw_tensor tensor, int32_t lines, bool turned) {
    kw_matrix matrix = kw_problem_matrix(problem, tensor);
    const int64_t extent[3] = {turned ? matrix.lines : matrix.length, turned ? matrix.length : matrix.lines, map_batches(&matrix)};
    int64_t row = matrix.line_step * mma->bytes, batch = map_batch_step(&matrix) * mma->bytes;
    bool copied = turned || row % KW_ACCESS_BYTES || batch % KW_ACCESS_BYTES;
    if (copied) {
        row = kw_mma_row_bytes(mma, extent[0]);
        batch = extent[1] * row;
    }
    kw_map map = kw_mma_bulk_map(tensor, problem->dtype, extent, row, batch, lines);
    map.copied = copied;
    return map;
}

/* The layout is rcr: the depth is contiguous in both operands. */
static void describe_gemm_operands(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    launch->map[0] = operand_map(mma, problem, KW_X, mma->tile[0], false);
    launch->map[1] = operand_map(mma, problem, KW_W, mma->tile[1], false);
}

/* Lines of an operand of the text that a copy brings: rows, or the depths of a step; of the second, a block's part. */
static int32_t box_lines(const kw_mma *mma, int which, bool by_rows) {
    int32_t lines = by_rows ? mma->tile[2] : KW_COPY_ROWS(mma->tile[which]);
    return which == 1 ? lines / kw_mma_pair(mma) : lines;
}

/* An operand whose rows are contiguous is copied in slabs of 64 rows and a step's depths. */
static void describe_overlapped(const kw_mma *mma, const kw_problem *problem, kw_launch *launch) {
    kw_matrix y = kw_problem_matrix(problem, KW_Y);
    int64_t bytes = (int64_t)kw_dtype_size(mma->output);
    const int64_t extent[3] = {y.length, y.lines, y.batch}, stride[2] = {y.line_step * bytes, map_batch_step(&y) * bytes};
    int turned = mma->epi == KW_EPI_TURNED;
    const int32_t box[3] = {KW_SLAB_ELEMENTS, turned ? KW_TURNED_BOX(mma->tile[1]) : KW_SLAB_ELEMENTS,
                            1}; /* KW_PIECE of overlap_layout.h */
    bool a_by_rows = KW_GEMM_A_BY_ROWS(mma->layout), b_by_rows = KW_GEMM_B_BY_ROWS(mma->layout), turns = kw_mma_copies_turn(mma);
    launch->map[turned] = operand_map(mma, problem, KW_X, box_lines(mma, turned, a_by_rows && !turns), a_by_rows && turns);
    launch->map[1 - turned] = operand_map(mma, problem, KW_W, box_lines(mma, 1 - turned, b_by_rows && !turns), b_by_rows && turns);
    if (kw_mma_aligns(mma)) {
        kw_mma_align_operands(mma, launch->map[0].extent[2] * launch->map[0].extent[1], launch->map[1].extent[2] * launch->map[1].extent[1],
                              launch);
    }
    if (kw_mma_stores_boxes(mma)) {
        launch->map[2] = kw_mma_box_map(KW_Y, mma->output, extent, stride, box);
    }
}

/* Blocks that begin before the launch before has ended begin where there is room, in another order each time. Of a thin product the second-level
 * cache's half that is near a multiprocessor has much of what it reads in the next launch too, if it reads the same then: that is worth more than a
 * beginning is, of some microsecond, where the operands are large (docs/results/2026-11-27/nvidia-products.md). */
static bool begins_early(const kw_mma *mma, const kw_problem *problem) {
    enum { LARGE = 40000000 };
    bool thin = kw_mma_pair(mma) > 1 || kw_mma_is_stationary(mma);
    return !thin || kw_problem_bytes(problem) < LARGE;
}

static void launch_gemm_mma(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_mma mma = kw_mma_read(config, target);
    kw_mma_grid grid = gemm_grid(&mma, problem);
    kw_mma_launch(&mma, &grid, target, launch);
    launch->joined = config->wants.joined;
    launch->early[0] = launch->early[0] && begins_early(&mma, problem);
    if (mma.preshuffle) {
        pack_first(&mma, &grid, kw_max(1, target->lanes), launch);
    }
    if (mma.pipe == KW_PIPE_TMA) {
        describe_gemm_operands(&mma, problem, launch);
    }
    if (kw_mma_overlaps(&mma)) {
        describe_overlapped(&mma, problem, launch);
    }
}

static size_t tailor_gemm(const kw_problem *problem, const kw_target *target, kw_config configs[KW_TAILORED_MAX]) {
    const kw_gemm_dims *d = &problem->gemm;
    int64_t bytes = (int64_t)kw_dtype_size(problem->dtype);
    bool tf32 = bytes == 4 && problem->fpmath == KW_FPMATH_TF32, any_size = tf32 && problem->layout != KW_RCR;
    for (int i = 0; i < KW_TENSOR_COUNT; i++) {
        kw_matrix matrix = kw_problem_matrix(problem, (kw_tensor)i);
        int64_t run = tf32 ? 4 : bytes == 1 && i != KW_Y ? 16 : 8;
        any_size |= matrix.length % run || matrix.line_step % run || matrix.batch_step % run;
    }
    const kw_tailor_problem of = {.problem = problem,
                                  .target = target,
                                  .grid = gemm_grid,
                                  .cols = {d->n, d->m},
                                  .turns = bytes == 2 && !any_size && !d->groups,
                                  .any_size = any_size};
    bool served = (bytes <= 2 || tf32) && problem->dtype != KW_INT8;
    return served ? kw_mma_tailor(&kw_family_gemm_mma, &of, configs) : 0;
}

/* With epi=turned the text's rows are the result's columns. */
static void emit_gemm(const kw_config *config, kw_text *text) {
    kw_mma mma = kw_mma_read(config, NULL);
    if (mma.fast) {
        kw_text_addf(text, "#define KW_FAST_ACCUM 1\n");
    }
    if (mma.epi == KW_EPI_TURNED) {
        kw_text_addf(text, "#undef KW_TILE_M\n#undef KW_TILE_N\n#define KW_TILE_M %d\n#define KW_TILE_N %d\n", (int)mma.tile[0],
                     (int)mma.tile[1]);
    }
}

/* Tensor cores cut 32 products of bytes of floating point, and the sum so far, some 13 bits below the largest of them before they add (seen
 * on an H200); the largest is about four times the mean. Each step of 128 depths has sums of its own, or with fpmath=fast_accum none has: then
 * products are cut by the sum so far. Of n products of either sign that sum is some sqrt(n) of their mean, and of n cuts by 2^-13 of it,
 * as often up as down, 16 sqrt(n) count (measure/data/expected.c has the source): 2^-9 of all magnitudes. */
static double gemm_sum_error(const kw_config *config) {
    kw_mma mma = kw_mma_read(config, NULL);
    bool cut = kw_mma_overlaps(&mma) && mma.bytes == 1;
    return cut ? (kw_mma_sum_sets(&mma) == 1 ? 0x1p-9 : 0x1p-11) : kw_mma_sum_error(config);
}

const kw_family kw_family_gemm_mma = {
    .name = "gemm.mma",
    .summary = "a GPU block for each tile of the product, by matrix instructions",
    .kind = KW_KIND_GPU,
    .fuses = true,
    .quantized = true,
    .zero_w = true,
    .rounds = true,
    .fast_sums = true,
    .pitched = true,
    .pitched_text = true,
    .row_groups = true,
    .joins = true,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8 | 1 << KW_INT8,
    .axes = gemm_mma_axes,
    .axis_count = sizeof gemm_mma_axes / sizeof *gemm_mma_axes,
    .rules = {[KW_VALID] = {kw_mma_valid_rules, kw_gemm_mma_valid_rules},
              [KW_RUNS] = {kw_mma_runs_rules, kw_gemm_mma_runs_rules},
              [KW_TAKES] = {gemm_mma_takes_rules},
              [KW_FITS] = {gemm_mma_fits_rules}},
    .decode = kw_mma_decode,
    .launch = launch_gemm_mma,
    .estimate_resources = kw_mma_estimate_resources,
    .tailor = tailor_gemm,
    .sum_error = gemm_sum_error,
    .emit = emit_gemm,
    .kernel = "gpu/gemm/gemm.c",
};
