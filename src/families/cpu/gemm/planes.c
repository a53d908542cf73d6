/* planes.c: channels first: the filters are packed as rows, pixels are columns and are copied by panels (kernels/cpu/gemm/planes.h). A unit's panels,
 * with what planes_taps.h copies for them, take a quarter of the second-level cache; more than 8 save nothing (docs/results/2026-11-23/layouts.md). */
#include "families/cpu/gemm/planes.h"

#include "base/math.h"
#include "config/launch/team.h"
#include "cpu/gemm/args.h"

enum { PANELS_MIN = 2, PANELS_MAX = 8 };

/* Tiles of rows that meet a panel where it lies, not as a copy, which for so few takes longer than it saves. */
enum { LYING_TILES = 4 };

/* Of planes_taps.h: bytes of the source's rows that a row of results reads, and of where each element of the depth is there. 0: one tap. */
static int64_t tap_row_bytes(const kw_problem *problem, const int64_t out[3]) {
    const kw_conv_dims *d = &problem->conv;
    int64_t bytes = (int64_t)kw_dtype_size(problem->dtype), more = (d->filter[2] - 1) * d->dilation[2] / d->stride[2];
    return d->c / d->g * d->filter[0] * d->filter[1] * d->stride[2] * KW_PLANE_RUN_OF(out[2], more, bytes);
}

/* Whether a panel's pixels can be: whole pairs of elements, each pixel read. */
static bool are_read_where_they_lie(const kw_tile_work *work, const kw_config *config, const kw_problem *problem, const int64_t out[3]) {
    const kw_conv_dims *d = &problem->conv;
    bool forward = problem->op == KW_CONV_FWD, all = out[0] * out[1] * out[2] == d->in[0] * d->in[1] * d->in[2];
    bool pairs = config->axis[KW_AXIS_MATH] == KW_MATH_DP && config->dtype == KW_BF16;
    int64_t depth = (forward ? d->c : d->k) / d->g;
    return all && depth % work->pair == 0 && KW_PLANES_MAY_LIE(config->dtype == KW_FP32, pairs, kw_config_isa(config)->lanes);
}

void kw_planes_launch(const kw_tile *tile, bool by_taps, const kw_config *config, const kw_problem *problem, const kw_target *target,
                      kw_launch *result) {
    const kw_conv_dims *d = &problem->conv;
    kw_tile_work work = kw_tile_work_of(config, tile);
    bool forward = problem->op == KW_CONV_FWD;
    int64_t out[3], taps = d->filter[0] * d->filter[1] * d->filter[2];
    int64_t depth = (forward ? d->c : d->k) / d->g * taps, rows = (forward ? d->k : d->c) / d->g;
    kw_problem_output(out, problem);
    int64_t tap_rows = by_taps ? tap_row_bytes(problem, out) : 0;
    int64_t steps = kw_ceil_div(depth, work.pair), tiles = kw_ceil_div(rows, tile->cols), pixels = out[0] * out[1] * out[2];
    int64_t blocks = kw_ceil_div(d->n * pixels, work.block);
    int64_t pitch = kw_tile_pitch(kw_round_up(depth, work.pair) * work.word, 1, tile->cols),
            panel = KW_PLANE_PANEL_BYTES(steps, work.block);
    int64_t panels = kw_min(blocks, kw_min(PANELS_MAX, kw_max((target->l2 / 4 - tap_rows) / panel, PANELS_MIN)));
    int64_t chunks = kw_max(kw_ceil_div(blocks, panels), kw_min(blocks, kw_ceil_div(target->units, d->g)));
    panels = kw_ceil_div(blocks, chunks);
    chunks = kw_ceil_div(blocks, panels);
    int64_t units = d->g * chunks, parts = kw_tile_parts(units, tiles, target->units, KW_TEAM_UNITS);

    *result = (kw_launch){.stages = 2, .stage = {{.units = d->g * tiles, .packs = true}, {.units = units * parts}}};
    result->packed_bytes = d->g * tiles * tile->cols * pitch;
    int64_t runs = panels * KW_PLANE_RUNS(work.block, pixels) * KW_PLANE_RUN_BYTES + 8 * (panels + 1);
    int64_t copies_at = kw_round_up(2 * KW_TILE_SPILL_BYTES(tile->cols, work.block) + runs, KW_LINE);
    int64_t panels_end = copies_at + panels * panel + 2 * KW_LINE, rows_at = tap_rows ? kw_round_up(panels_end, KW_LINE) : 0;
    result->thread_bytes =
        tap_rows ? rows_at + KW_PLANE_PLACES(depth) + KW_PLANE_PLACES(2 * d->stride[2]) + tap_rows + 2 * KW_LINE : panels_end;
    bool lies = !by_taps && tiles <= LYING_TILES && are_read_where_they_lie(&work, config, problem, out);
    *kw_launch_params(result, kw_gemm_params) = (kw_gemm_params){
        .parts = parts,
        .copy = !lies,
        .far = (short)kw_tile_far(target),
        .pitch = pitch,
        .chunk_rows = panels,
        .copy_at = copies_at,
        .rows_at = rows_at,
    };

    double met = (double)(d->g * blocks * tiles), sharers = (double)kw_tile_sharers(units, parts, target->units);
    double copies = (double)(d->g * blocks) * sharers, result_rows = (double)(d->g * d->n * out[0] * out[1]) * sharers;
    result->multiply_adds = met * (double)(tile->cols * tile->vecs * steps * work.instructions);
    result->loads = met * (double)((tile->cols + tile->vecs) * steps);
    result->copied_bytes =
        2.0 * (double)result->packed_bytes + 2.0 * copies * (lies ? 0 : (double)panel) + 2.0 * result_rows * (double)tap_rows;
    result->rereads[0] = (kw_cache_reuse){
        .bytes = (double)(chunks - 1) * (double)result->packed_bytes,
        .between = result->packed_bytes / d->g,
    };
}
