/* direct_sum.h: the tiles of a unit of direct.c. */

/* The columns of a walk, from the first to behind the last, of which some tap reads inside the image. */
static void columns_inside(kw_i64 columns[2], const kw_walk *x, kw_i64 size) {
    kw_i64 reach = (x->taps - 1) * x->tap_src_step, low = x->src_start + kw_max(reach, 0), high = x->src_start + kw_min(reach, 0);
    columns[0] = ceil_div(kw_max(-low, 0), x->src_step);
    columns[1] = ceil_div(kw_max(size - high, 0), x->src_step);
}

/* The first column behind c where columns that read the image begin or end. */
KW_INLINE kw_i64 next_border(kw_i64 c, kw_i64 end, const kw_i64 inside[2]) {
    return c < inside[0] ? kw_min(end, inside[0]) : c < inside[1] ? kw_min(end, inside[1]) : end;
}

/* How many columns the tile from column c on has. */
KW_INLINE kw_i64 tile_columns(kw_i64 c, kw_i64 end, const kw_i64 inside[2]) {
    kw_i64 until = next_border(c, end, inside);
    return KW_TILE_SKIP ? ceil_div(until - c, ceil_div(until - c, KW_TILE_COLS)) : kw_min(KW_TILE_COLS, end - c);
}

/* Results of padding alone are zeros, unless steps or heads of runs make something of them. */
#define KW_ZERO_RESULTS (KW_TILE_SKIP && !KW_HEADED && !KW_EPILOGUE && !KW_WAYS)
static __attribute__((unused)) void store_zeros(const kw_tile_job *job, char *out, kw_i64 pixels) {
    kw_i64 bytes = kw_min(job->channels, KW_BLOCK) * KW_OUT_BYTES;
    for (kw_i64 row = 0; row < job->rows; row++) {
        for (kw_i64 col = 0; col < pixels; col++)
            kw_fill(out + row * job->out_row + col * job->out_pixel, bytes, 0);
    }
}

#include "cpu/direct/direct_sweep.h"

#if KW_TILE_JOINS
/* Runs of a filter row that are one: where pixels have no gaps between them and the walk steps from each to the next. */
static kw_i64 runs_of_a_row(const kw_kernel_args *a, const kw_walk *x, kw_i64 steps) {
    kw_i64 gapless = !KW_HEADED && a->params.pixel == KW_SPREAD_BYTES * steps && (x->tap_src_step == 1 || x->tap_src_step == -1);
    return gapless && x->taps ? x->taps : 1;
}

/* Takes these as one of a tile that reads no padding by any of them. */
KW_INLINE void join_runs(kw_tile_job *job, kw_i64 runs, kw_i64 steps) {
#if KW_TILE_SKIP
    kw_i64 first = job->runs[0].at + job->col, last = job->runs[runs - 1].at + job->col + (job->cols - 1) * job->col_step;
    if (first < 0 || last >= job->width) runs = 1;
#endif
    job->run_step = runs;
    job->steps = runs * steps;
}
#endif

#include "cpu/direct/direct_intervals.h"

#if KW_COPIES_EDGES
#include "cpu/direct/direct_edges_sum.h"
#endif

static void sum_block(const kw_kernel_args *a, const block *b, sweep zeros, char *memory) {
    const side *z = &b->axis[0], *y = &b->axis[1], *x = &b->axis[2];
    const kw_direct_params *p = &a->params;
    const kw_i64 *size = DST_SIZE(a);
    kw_i64 channels = results_from(a, b->share), blocks = blocks_of(a), pitch = DST_PIXEL(a);
    kw_run *runs = (kw_run *)(memory + KW_SPILL_BYTES);
    kw_i64 of_height = list_runs(a, b, runs), steps = elements_of(a), groups = groups_of_unit(a, b);
    kw_tile_job job = {
        .src_pixel = x->walk.src_step * p->pixel, .src_row = y->walk.src_step * p->row, .spill = memory, .far = kw_far_of_tile(p->far, 1)};
    job.steps = KW_TILE_ODD ? steps / KW_PAIR : steps_of(a);
    job.odd = KW_TILE_ODD && steps % KW_PAIR;
#if KW_TILE_JOINS
    kw_i64 row_runs = runs_of_a_row(a, &x->walk, job.steps), run_steps = job.steps;
#endif
#if KW_X_ZERO
    job.times = kw_head_times(a);
#endif
    job.unraised = in_place(a);
    if (in_planes(a)) job.src_pixel = p->pixel;
#if KW_TILE_SKIP
    job.col_step = x->walk.src_step, job.width = SRC_SIZE(a)[2];
    job.row_step = y->walk.src_step, job.height = SRC_SIZE(a)[1];
#endif
    job.out_pixel = x->walk.out_step * pitch;
    job.out_row = y->walk.out_step * DST_ROW(a, size, pitch);
    const char *src = memory + p->copy_at + (y->walk.src_start - y->low) * p->row + (x->walk.src_start - x->low) * p->pixel;
    const char *limit = 0; /* from there on a tile would read behind the tensor; 0: it reads nothing beyond the image */
    if (in_place(a) && of_height) {
        const kw_i64 *in = SRC_SIZE(a);
        const char *end = SRC(a) + SRC_END(a, in);
        src = SRC(a) + b->n * SRC_IMAGE(a, in) + b->share * together(a) * SRC_CHANNELS(a) * KW_BYTES + y->walk.src_start * p->row +
              x->walk.src_start * p->pixel;
        if (KW_READS_PADDING) limit = end - (KW_TILE_COLS - 1) * job.src_pixel - 4 * job.steps;
    }
    kw_i64 farthest = 0; /* of runs that go back through the tensor */
    for (kw_i64 i = 0; KW_BACKWARD && limit && i < y->walk.taps * of_height; i++)
        farthest = kw_max(farthest, runs[i].src);
    kw_i64 inside[2];
    columns_inside(inside, &x->walk, SRC_SIZE(a)[2]);
    kw_i64 first =
        ((b->n * size[0] + z->walk.out_start + z->at * z->walk.out_step) * size[1] + y->walk.out_start) * size[2] + x->walk.out_start;
    char *dst = DST(a) + DST_FIRST(a, first, pitch, b->n, z, y, x) + first_result(a, b->share) * KW_OUT_BYTES;
    for (kw_i64 i = 0; i < images_of_unit(a, b) && (zeros == SWEEP_ALONE || (zeros == SWEEP_FIRST && KW_MATH == 3)); i++)
        sweep_rows(a, x, &job, dst + i * DST_IMAGE(a, size, pitch), y->at, y->count);
    if (zeros == SWEEP_ALONE) return;
#if KW_COPIES_EDGES
    if (p->flow == KW_DIRECT_EDGES) {
        job.src = src, job.out = dst;
        job.at = kw_place_steps(kw_place_at(a, DST(a), first_result(a, b->share), first), x->walk.out_step, y->walk.out_step * size[2]);
        sum_edges(a, b, &job, runs, of_height);
        return;
    }
#endif
#if KW_TILE_INTERVALS
    if (p->flow == KW_DIRECT_STANDS || p->flow == KW_DIRECT_LIES) {
        job.src = src, job.out = dst;
        job.at = kw_place_steps(kw_place_at(a, DST(a), first_result(a, b->share), first), x->walk.out_step, y->walk.out_step * size[2]);
        sum_lines(a, b, &job, runs, of_height, row_runs);
        return;
    }
#endif
#if KW_MATH == 3
    job.src = in_planes(a) ? memory + p->copy_at : src + y->at * job.src_row + x->at * job.src_pixel;
    job.out = dst + y->at * job.out_row + x->at * job.out_pixel;
    job.w = a->packed + b->share * together(a) * blocks * block_bytes(a);
    job.at = kw_place_moved(
        kw_place_steps(kw_place_at(a, DST(a), first_result(a, b->share), first), x->walk.out_step, y->walk.out_step * size[2]), 0, x->at,
        y->at);
    job.channels = channels;
    if (p->slice_runs || p->slice_chunks) job.spill = memory + KW_DIRECT_BAND_AT(KW_SPILL_BYTES, block_bytes(a) / run_bytes(a));
    meet_blocks(a, b, &job, groups, runs, of_height);
    return;
#endif
    for (kw_i64 met = b->part * blocks / p->parts, last = (b->part + 1) * blocks / p->parts; met < last; met += p->meet) {
        for (kw_i64 r = y->at, meet = kw_min(p->meet, last - met); r < y->at + y->count; r += KW_TILE_ROWS) {
            clip_runs(&job, a, &y->walk, r, r, runs, of_height);
            job.rows = kw_min(KW_TILE_ROWS, y->at + y->count - r);
            if (zeros == SWEEP_FIRST && met == 0) sweep_rows(a, x, &job, dst, r, job.rows);
            for (kw_i64 i = 0; i < groups * meet; i++) {
                kw_i64 g = i / meet, k = met + i % meet, result = g * DST_CHANNELS(a) + k * KW_RESULTS;
                job.channels = channels - k * KW_RESULTS;
                char *row = dst + r * job.out_row + result * KW_OUT_BYTES;
                job.w = a->packed + ((b->share * together(a) + g) * blocks + k) * block_bytes(a);
                for (kw_i64 c = x->at, end = x->at + x->count; c < end; c += job.cols) {
#if KW_ZERO_RESULTS
                    if (!job.run_count || c < inside[0] || c >= inside[1]) {
                        job.cols = (job.run_count ? next_border(c, end, inside) : end) - c;
                        store_zeros(&job, row + c * job.out_pixel, job.cols);
                        continue;
                    }
#endif
                    kw_i64 count = tile_columns(c, end, inside);
                    job.cols = count, job.lead = 0;
                    job.src = src + g * SRC_CHANNELS(a) * KW_WORD + r * job.src_row + c * job.src_pixel;
                    if (limit && job.run_count && job.src + (KW_BACKWARD ? farthest : job.runs[job.run_count - 1].src) > limit) {
                        job.cols = KW_TILE_COLS, job.lead = KW_TILE_COLS - count;
                        job.src -= job.lead * job.src_pixel;
                    }
                    c -= job.lead;
#if KW_TILE_SKIP
                    job.col = c * x->walk.src_step;
                    job.row = r * y->walk.src_step;
#endif
                    job.far = kw_far_of_tile(p->far, r == y->at && c == x->at);
                    job.out = row + c * job.out_pixel;
                    job.at = kw_place_moved(kw_place_steps(kw_place_at(a, DST(a), first_result(a, b->share), first), x->walk.out_step,
                                                           y->walk.out_step * size[2]),
                                            result, c, r);
#if KW_TILE_JOINS
                    if (job.run_count) join_runs(&job, row_runs, run_steps);
#endif
                    kw_tile(&job);
#if KW_WAYS
                    store_ways(a, &job, b, r);
#endif
                }
            }
        }
    }
}
