/* direct_intervals.h: tiles of which a tap sums those pixels alone that read the image by it, an interval, for any number of them (direct_some.h). A
 * tile of kw_tile() tests each pixel in each step of a tap by which a part of its pixels reads padding, and few that are left wait for each other's
 * sums; here an interval is cut evenly into what registers hold. Sums lie in memory, behind the table of runs, so that a tile may have more pixels
 * than registers: of an image that is smaller than its filter and padding together it is a whole line, else as wide as a usual tile, so that inner
 * tiles have one job.
 *
 * A line is a row of results, whose intervals are one for each tap of the width, by all taps of the height and depth. Or it is a column (params.flow:
 * KW_DIRECT_STANDS): all of its pixels read the image by the same taps of a filter row, which are one run, and intervals are by taps of
 * the height. Where weights find no room in the second-level cache, a tap meets params.lines lines before the next one does. */
#include "cpu/direct/direct_some.h"
#if KW_TILE_INTERVALS
/* The axis along a line, and what is in common to all jobs of a unit and a block of channels. */
typedef struct line_walk {
    const kw_kernel_args *a;
    const block *b;
    const side *along, *across;
    kw_i64 size; /* of the source along the line */
    int stands;
    const kw_run *runs;
    kw_i64 of_height, row_runs, steps; /* runs of a tap of the height; those of a filter row that are one; steps of a run */
    kw_i64 width;                      /* of the source */
} line_walk;

/* The pixels first..last-1 of a tile, of so many pixels from one on, that read the image by a tap along the line. */
typedef struct interval {
    int first, last;
} interval;

static interval pixels_inside(const line_walk *l, kw_i64 pixel, kw_i64 pixels, kw_i64 tap) {
    const kw_walk *w = &l->along->walk;
    kw_i64 number = l->stands ? tap : tap_in_turn(tap, w->taps);
    int at = (int)(w->src_start + pixel * w->src_step + number * w->tap_src_step), step = (int)w->src_step, left = (int)l->size - at;
    int first = at < 0 ? (step - 1 - at) / step : 0, last = left > 0 ? (left + step - 1) / step : 0;
    return (interval){first, (int)kw_min(last, pixels)};
}

/* The pixels of an interval by the runs of a job, whose sums and source are those of pixel 0. */
static void sum_interval(const kw_tile_job *of, interval pixels) {
    kw_tile_job job = *of;
    job.src += pixels.first * job.src_pixel;
    job.spill += pixels.first * KW_STEP_BYTES;
    for (int left = pixels.last - pixels.first; left > 0; left -= (int)job.cols) {
        int pieces = (left + KW_TILE_COLS - 1) / KW_TILE_COLS;
        job.cols = (left + pieces - 1) / pieces;
        if (job.cols <= KW_FEW)
            kw_tile_few(&job);
        else
            kw_tile_some(&job);
        job.src += job.cols * job.src_pixel;
        job.spill += job.cols * KW_STEP_BYTES;
    }
}

/* The same of a line by the taps tap..next-1 along it, by which the interval is the same. */
static void sum_taps(const line_walk *l, kw_tile_job *job, kw_i64 line, interval pixels, kw_i64 tap, kw_i64 next) {
    job->run_step = l->row_runs;
    if (l->stands) {
        kw_i64 column = l->runs[0].at + line * l->across->walk.src_step, first = kw_max(-column, 0);
        kw_i64 taps = kw_min(l->row_runs, l->width - column) - first;
        job->runs = l->runs + tap * l->of_height + first;
        job->run_count = (next - tap) * l->of_height - first;
        job->steps = taps * l->steps;
        if (taps > 0) sum_interval(job, pixels);
        return;
    }
    kw_i64 columns = l->along->walk.taps, together = l->row_runs == columns ? next - tap : 1;
    clip_runs(job, l->a, &l->across->walk, line, line, l->runs, l->of_height);
    const kw_run *runs = job->runs;
    kw_i64 count = job->run_count;
    job->run_step = columns;
    job->steps = together * l->steps;
    for (; count && tap < next; tap += together) {
        job->runs = runs + tap;
        job->run_count = count - tap;
        sum_interval(job, pixels);
    }
}

/* A tile of so many lines from one on. src: of the tile's first pixel. */
static void sum_tile(const line_walk *l, kw_tile_job *job, kw_i64 line, kw_i64 lines, kw_i64 pixel, kw_i64 pixels, const char *src,
                     kw_i64 src_line) {
    char *sums = job->spill;
    kw_i64 taps = l->of_height ? l->along->walk.taps : 0;
    kw_fill(sums, lines * pixels * KW_STEP_BYTES, 0);
    for (kw_i64 tap = 0, next; tap < taps; tap = next) {
        interval inside = pixels_inside(l, pixel, pixels, tap);
        for (next = tap + 1; next < taps; next++) {
            interval other = pixels_inside(l, pixel, pixels, next);
            if (other.first != inside.first || other.last != inside.last) break;
        }
        for (kw_i64 i = 0; i < lines; i++) {
            job->src = src + i * src_line;
            job->spill = sums + i * pixels * KW_STEP_BYTES;
            sum_taps(l, job, line + i, inside, tap, next);
        }
    }
    job->spill = sums;
}

static void sum_lines(const kw_kernel_args *a, const block *b, const kw_tile_job *of, const kw_run *runs, kw_i64 of_height,
                      kw_i64 row_runs) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    int stands = a->params.flow == KW_DIRECT_STANDS;
    const side *along = stands ? y : x, *across = stands ? x : y;
    const line_walk l = {a, b, along, across, SRC_SIZE(a)[stands ? 1 : 2], stands, runs, of_height, row_runs, of->steps, SRC_SIZE(a)[2]};
    kw_tile_job job = *of;
    kw_i64 blocks = blocks_of(a), src_line = stands ? of->src_pixel : of->src_row, out_line = stands ? of->out_pixel : of->out_row;
    kw_i64 right = x->walk.out_step, down = y->walk.out_step * DST_SIZE(a)[2];
    job.spill += KW_DIRECT_BAND_AT(KW_SPILL_BYTES, block_bytes(a) / run_bytes(a));
    job.src_pixel = stands ? of->src_row : of->src_pixel, job.out_pixel = stands ? of->out_row : of->out_pixel;
    job.rows = 1;
    for (kw_i64 k = b->part * blocks / a->params.parts; k < (b->part + 1) * blocks / a->params.parts; k++) {
        char *out = of->out + k * KW_BLOCK * KW_OUT_BYTES, *sums = job.spill;
        job.channels = results_from(a, b->share) - k * KW_BLOCK;
        job.w = a->packed + (b->share * blocks + k) * block_bytes(a);
        for (kw_i64 line = across->at, end = across->at + across->count, lines; line < end; line += lines) {
            lines = kw_min(a->params.lines, end - line);
            for (kw_i64 p = along->at, last = along->at + along->count; p < last; p += a->params.tall) {
                kw_i64 pixels = kw_min(a->params.tall, last - p);
                sum_tile(&l, &job, line, lines, p, pixels, of->src + line * src_line + p * job.src_pixel, src_line);
                job.cols = pixels;
                for (kw_i64 i = 0; i < lines; i++, job.spill += pixels * KW_STEP_BYTES) {
                    kw_i64 column = stands ? line + i : p, row = stands ? p : line + i;
                    job.out = out + (line + i) * out_line + p * job.out_pixel;
                    job.at =
                        kw_place_steps(kw_place_moved(of->at, k * KW_BLOCK, column, row), stands ? down : right, stands ? right : down);
                    kw_tile_part(&job);
                }
                job.spill = sums;
            }
        }
    }
}
#endif
