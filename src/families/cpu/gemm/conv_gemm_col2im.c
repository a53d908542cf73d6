/* conv_gemm_col2im.c: backward data into few channels a group, as into a network's first layer. Families that sum over taps have a
 * destination's few channels in a vector and leave its other lanes idle; here the taps and channels of a filter slice are the columns of
 * one product, and its sums are added up in memory. That costs some vector additions a source pixel, and one product of all its channels
 * pays for them. kernels/cpu/col2im/col2im.c is the kernel; here is how it is cut into bands of rows whose sums stay in the second-level
 * cache. */
#include "families/cpu/cpu_rules.h"
#include "families/cpu/emit/tile.h"
#include "families/cpu/reorder.h"

#include "base/math.h"
#include "cpu/col2im/args.h"
#include "problem/view.h"

#include <math.h>

enum { TILE_W = KW_ISA_AXIS_COUNT, VECS, BAND, AXIS_COUNT };

static const kw_axis axes[AXIS_COUNT] = {
    KW_ISA_AXES,
    {"tile_w", NULL, 1, 30, "source pixels of a tile"},
    {"vecs", NULL, 1, 6, "vectors of a tile, of filter rows, columns and channels"},
    {"band", NULL, 0, 256, "rows of a unit; 0: as many as fit half of the second-level cache"},
};

static kw_tile conv_gemm_col2im_tile(const kw_config *config) {
    return (kw_tile){.rows = 1, .cols = config->axis[TILE_W], .vecs = config->axis[VECS], .ahead = true, .sums = true};
}

static void conv_gemm_col2im_decode(const kw_config *config, const kw_target *target, void *decoded) {
    (void)target;
    *(kw_tile *)decoded = conv_gemm_col2im_tile(config);
}

/* Source rows that the bands of a slice multiply, all together; of very many bands some stand for all. */
static double rows_read(const kw_conv_dims *d, int64_t out, int64_t rows) {
    enum { BANDS_MAX = 4096 };
    int64_t count = 0, bands = kw_ceil_div(d->in[1], rows), each = kw_ceil_div(bands, BANDS_MAX);
    for (int64_t first = 0; first < d->in[1]; first += each * rows) {
        int64_t end = kw_min(first + rows, d->in[1]), low = first + d->pad[1] - (d->filter[1] - 1) * d->dilation[1];
        int64_t begin = low > 0 ? kw_ceil_div(low, d->stride[1]) : 0;
        count += kw_max(kw_min((end - 1 + d->pad[1]) / d->stride[1], out - 1) - begin + 1, 0);
    }
    return (double)(count * each);
}

/* Blocks of a source row that a band meets: those of the filter rows that reach it, of which it has so large a share. */
static double blocks_met(const kw_conv_dims *d, const kw_tile_work *work, double share, int64_t blocks) {
    double columns = share * (double)(d->filter[1] * d->filter[2] * (d->c / d->g));
    return fmin((double)blocks, columns / (double)work->block + 1);
}

static void launch_last(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    const kw_conv_dims *d = &problem->conv;
    kw_tile tile = conv_gemm_col2im_tile(config);
    kw_tile_work work = kw_tile_work_of(config, &tile);
    int64_t out[3], c = d->c / d->g, k = d->k / d->g, lanes = work.block / tile.vecs;
    kw_problem_output(out, problem);
    int64_t columns = d->filter[1] * d->filter[2] * c, blocks = kw_ceil_div(columns, work.block), steps = kw_ceil_div(k, work.pair);
    int64_t cols = kw_round_up(out[2], tile.cols), pixel = kw_tile_pitch(kw_round_up(k, work.pair) * work.word, 1, tile.cols);
    int64_t left = d->pad[2] * c, reached = (cols - 1) * d->stride[2] + d->filter[2];
    int64_t row = kw_round_up(left + kw_max(d->in[2] * c, reached * c - left) + lanes, KW_LINE / 4);
    int64_t rows = config->axis[BAND] ? kw_min(config->axis[BAND], d->in[1]) : kw_min(kw_max(target->l2 / 2 / (4 * row), 1), d->in[1]);
    int64_t least = kw_min(d->filter[1], kw_ceil_div(work.block, d->filter[2] * c));
    while (d->n * d->g * d->in[0] * kw_ceil_div(d->in[1], rows) < target->units && rows > least) {
        rows = kw_ceil_div(rows, 2);
    }
    int64_t bands = kw_ceil_div(d->in[1], rows);

    result->stages = 2;
    result->stage[0] = (kw_stage){.units = d->g * d->filter[0] * blocks, .packs = true};
    result->stage[1] = (kw_stage){.units = d->n * d->g * d->in[0] * bands};
    result->packed_bytes = d->g * d->filter[0] * blocks * steps * KW_TILE_STEP_BYTES(work.block);
    int64_t shares = KW_COL2IM_SHARES(tile.cols, d->filter[2] * c, lanes), patterns = KW_COL2IM_PATTERNS(blocks);
    int64_t patterns_at = KW_COL2IM_PIECES_AT(KW_TILE_SPILL_BYTES(tile.cols, work.block), lanes) + d->filter[1] * KW_COL2IM_PIECE_BYTES;
    int64_t pattern_bytes = KW_COL2IM_PATTERN_BYTES + shares * (KW_COL2IM_TARGET_BYTES + KW_COL2IM_SHARE_BYTES(lanes));
    patterns_at = kw_round_up(patterns_at, KW_LINE);
    int64_t copy_at = kw_round_up(patterns_at + patterns * pattern_bytes, KW_LINE);
    int64_t sums_at = kw_round_up(copy_at + cols * pixel + KW_LINE, KW_LINE);
    *kw_launch_params(result, kw_col2im_params) = (kw_col2im_params){
        .rows = rows,
        .bands = bands,
        .pixel = pixel,
        .left = left,
        .row = row,
        .patterns_at = patterns_at,
        .copy_at = copy_at,
        .sums_at = sums_at,
    };
    result->thread_bytes = sums_at + 4 * rows * row + KW_LINE;

    double images = (double)(d->n * d->g * kw_problem_axis_products(problem, 0)), read = rows_read(d, out[1], rows),
           share = (double)out[1] / fmax(read, 1);
    double source_rows = images * read, pixels = tile.cols;
    double tiles = source_rows * blocks_met(d, &work, share, blocks) * (double)(cols / tile.cols);
    double added = source_rows * share * (double)(cols * d->filter[1]) * ((double)(d->filter[2] * c) / (double)lanes + 1);
    result->multiply_adds = tiles * pixels * tile.vecs * (double)steps;
    result->loads = result->multiply_adds * (pixels + tile.vecs) / (pixels * tile.vecs) + tiles * pixels * tile.vecs + 2 * added;
    result->copied_bytes = 2.0 * (double)result->packed_bytes + 2.0 * source_rows * (double)(cols * pixel) +
                           2.0 * (double)result->stage[1].units * (double)(4 * rows * row);
}

static void conv_gemm_col2im_launch(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *result) {
    kw_reorder_launch(launch_last, config, problem, target, result);
}

static void conv_gemm_col2im_emit(const kw_config *config, kw_text *text) {
    kw_tile tile = conv_gemm_col2im_tile(config);
    kw_tile_emit(text, &tile, config);
}

const kw_family kw_family_conv_gemm_col2im = {
    .name = "conv.gemm_col2im",
    .summary = "backward data into few channels a group: a product with all taps of a filter slice, its sums added up in memory",
    .kind = KW_KIND_CPU,
    .fuses = true,
    .first_text = true,
    .pitched = true,
    .pitched_text = true,
    .ops = 1u << KW_CONV_BWD_DATA,
    .dtypes = 1u << KW_FP32 | 1u << KW_BF16 | 1u << KW_FP16,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_VALID] = {kw_isa_valid_rules, kw_tile_valid_rules},
              [KW_RUNS] = {kw_isa_runs_rules},
              [KW_TAKES] = {kw_cpu_conv_rules, kw_run_takes_rules}},
    .decode = conv_gemm_col2im_decode,
    .launch = conv_gemm_col2im_launch,
    .emit = conv_gemm_col2im_emit,
    .kernel = "cpu/col2im/col2im.c",
};
