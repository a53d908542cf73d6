/* direct.c: convolution by tiles straight over a zero-padded copy of the rows that a unit needs; forward and backward data alike, by way
 * of walks (prelude/cpu.h). Families conv.direct and conv.first (KW_MERGE: the columns of a filter row and the channels are one run).
 *
 * A unit is one image, group, walk of each axis, depth, block of output rows and columns, and part of the output channels. Its copy is
 * dense in memory at the type the tile reads, so the tile needs no test for edges: columns are padded with zeros, rows outside the image
 * are left out of the run table (with tiles of one row) or are rows of zeros. The copy costs little because every output channel
 * reads it. */
#include "kw_config.h"

/* Places in args->value; src/codegen/cpu/conv_direct.c fills them. */
enum { BLOCK_ROWS, BLOCK_COLS, PARTS, PIXEL, ROW, SLICE, COPY_AT };

/* The side that is read, the side that is written. Distances of w in elements. */
typedef struct sides {
    const char *src;
    char *dst;
    kw_i64 src_channels, dst_channels, w_src, w_dst;
    const kw_i64 *src_size, *dst_size;
} sides;

static sides sides_of(const kw_cpu_args *a) {
    kw_i64 taps = a->filter[0] * a->filter[1] * a->filter[2];
#if KW_BACKWARD
    return (sides){a->y, a->x, a->k, a->c, taps * a->c, 1, a->out, a->in};
#else
    return (sides){a->x, a->y, a->c, a->k, 1, taps * a->c, a->in, a->out};
#endif
}

static kw_i64 walks_of(const kw_cpu_args *a, int axis) { return KW_BACKWARD ? kw_walks_backward(a, axis) : 1; }

static kw_walk walk_of(const kw_cpu_args *a, int axis, kw_i64 phase) {
    return KW_BACKWARD ? kw_walk_backward(a, axis, phase) : kw_walk_forward(a, axis);
}

/* Pixels of the longest walk of an axis. */
static kw_i64 longest_of(const kw_cpu_args *a, int axis) {
    return KW_BACKWARD ? (a->in[axis] + a->stride[axis] - 1) / a->stride[axis] : a->out[axis];
}

/* Taps of the walks before this one. */
static kw_i64 taps_before(const kw_cpu_args *a, int axis, kw_i64 phase) {
    kw_i64 taps = 0;
    for (kw_i64 p = 0; p < phase; p++) taps += walk_of(a, axis, p).taps;
    return taps;
}

static kw_i64 run_elements(const kw_cpu_args *a, const sides *s) { return s->src_channels * (KW_MERGE ? a->filter[2] : 1); }
static kw_i64 run_bytes(const kw_cpu_args *a, const sides *s) {
    return (run_elements(a, s) + KW_PAIR - 1) / KW_PAIR * KW_STEP_BYTES;
}

/* Packed order: group, block of output channels, walks by depth, height, width, then their taps by height, depth, width, steps. */
void KW_EXPORT kw_stage0(const kw_cpu_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    sides s = sides_of(a);
    kw_i64 blocks = (s.dst_channels + KW_BLOCK - 1) / KW_BLOCK, columns = KW_MERGE ? 1 : a->filter[2];
    kw_i64 run = run_bytes(a, &s), block_bytes = a->filter[0] * a->filter[1] * columns * run;
    (void)thread_memory;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 first = unit % blocks * KW_BLOCK;
        const char *w = a->w + (unit / blocks * a->k * a->filter[0] * a->filter[1] * a->filter[2] * a->c + first * s.w_dst) * KW_BYTES;
        char *to = a->packed + unit * block_bytes;
        for (kw_i64 pz = 0; pz < walks_of(a, 0); pz++)
            for (kw_i64 py = 0; py < walks_of(a, 1); py++)
                for (kw_i64 px = 0; px < walks_of(a, 2); px++) {
                    kw_walk z = walk_of(a, 0, pz), y = walk_of(a, 1, py), x = walk_of(a, 2, px);
                    for (kw_i64 ty = 0; ty < y.taps; ty++)
                        for (kw_i64 tz = 0; tz < z.taps; tz++)
                            for (kw_i64 tx = 0; tx < (KW_MERGE ? 1 : x.taps); tx++, to += run) {
                                kw_i64 tap = ((z.tap_start + tz * z.tap_step) * a->filter[1] + y.tap_start + ty * y.tap_step) * a->filter[2] +
                                             x.tap_start + tx * x.tap_step;
                                kw_pack_run(to, w + tap * a->c * KW_BYTES, run_elements(a, &s), s.w_src, s.dst_channels - first, s.w_dst);
                            }
                }
    }
}

typedef struct block {
    kw_i64 n, group, part, depth, row, rows, col, cols; /* of the walks' pixels */
    kw_walk z, y, x;
    kw_i64 phase_run; /* runs of the walks before these */
} block;

/* false when the block is beyond its walk's end. */
static int block_of(block *b, const kw_cpu_args *a, kw_i64 unit) {
    kw_i64 row_blocks = (longest_of(a, 1) + a->value[BLOCK_ROWS] - 1) / a->value[BLOCK_ROWS];
    kw_i64 col_blocks = (longest_of(a, 2) + a->value[BLOCK_COLS] - 1) / a->value[BLOCK_COLS];
    b->part = unit % a->value[PARTS], unit /= a->value[PARTS];
    b->col = unit % col_blocks * a->value[BLOCK_COLS], unit /= col_blocks;
    kw_i64 px = unit % walks_of(a, 2);
    unit /= walks_of(a, 2);
    b->row = unit % row_blocks * a->value[BLOCK_ROWS], unit /= row_blocks;
    kw_i64 py = unit % walks_of(a, 1);
    unit /= walks_of(a, 1);
    b->depth = unit % longest_of(a, 0), unit /= longest_of(a, 0);
    kw_i64 pz = unit % walks_of(a, 0);
    unit /= walks_of(a, 0);
    b->group = unit % a->groups, b->n = unit / a->groups;
    b->z = walk_of(a, 0, pz), b->y = walk_of(a, 1, py), b->x = walk_of(a, 2, px);
    kw_i64 y_before = taps_before(a, 1, py), x_before = taps_before(a, 2, px);
    kw_i64 y_taps = taps_before(a, 1, walks_of(a, 1)), x_taps = taps_before(a, 2, walks_of(a, 2));
    b->phase_run = KW_MERGE ? 0 : taps_before(a, 0, pz) * y_taps * x_taps + b->z.taps * (y_before * x_taps + b->y.taps * x_before);
    b->rows = kw_min(a->value[BLOCK_ROWS], b->y.pixels - b->row);
    b->cols = kw_min(a->value[BLOCK_COLS], b->x.pixels - b->col);
    return b->depth < b->z.pixels && b->rows > 0 && b->cols > 0;
}

/* The source rows and columns that a block's copy holds; of rows, only those inside the image when tiles are one row high. */
typedef struct extent {
    kw_i64 low, high; /* high is not included */
} extent;

static extent extent_of(const kw_walk *w, kw_i64 first, kw_i64 pixels) {
    kw_i64 reach = (w->taps - 1) * w->tap_src_step;
    kw_i64 low = w->src_start + first * w->src_step;
    return (extent){low + kw_min(reach, 0), low + (pixels - 1) * w->src_step + kw_max(reach, 0) + 1};
}

static kw_i64 round_to(kw_i64 count, kw_i64 step) { return (count + step - 1) / step * step; }

static extent rows_of(const block *b, const sides *s) {
    extent e = extent_of(&b->y, b->row, round_to(b->rows, KW_TILE_ROWS));
    if (KW_TILE_ROWS == 1) e = (extent){kw_max(e.low, 0), kw_max(kw_min(e.high, s->src_size[1]), kw_max(e.low, 0))};
    return e;
}

/* Whether any tap of any pixel of a block reads the row. */
static int row_is_read(const block *b, kw_i64 row) {
    for (kw_i64 t = 0; t < b->y.taps; t++) {
        kw_i64 distance = row - b->y.src_start - t * b->y.tap_src_step;
        kw_i64 pixel = distance / b->y.src_step;
        if (distance >= 0 && distance % b->y.src_step == 0 && pixel >= b->row && pixel < b->row + round_to(b->rows, KW_TILE_ROWS)) return 1;
    }
    return 0;
}

static void copy_row(const kw_cpu_args *a, const sides *s, extent x, const char *from, char *to) {
    kw_i64 pitch = s->src_channels * a->groups * KW_BYTES, pixel = a->value[PIXEL];
    kw_i64 low = kw_min(kw_max(x.low, 0), x.high), high = kw_max(kw_min(x.high, s->src_size[2]), low);
    kw_zero(to, (low - x.low) * pixel);
    to += (low - x.low) * pixel, from += low * pitch;
    if (a->groups == 1 && pixel == s->src_channels * KW_WORD) {
        kw_copy(to, from, (high - low) * s->src_channels);
        to += (high - low) * pixel;
    } else {
        for (kw_i64 i = low; i < high; i++, to += pixel, from += pitch) kw_copy_pixel(to, from, s->src_channels);
    }
    kw_zero(to, (x.high - high) * pixel);
}

/* Fills the copy; slices of depth that fall into the padding have none. */
static void copy_block(const kw_cpu_args *a, const sides *s, const block *b, char *to) {
    extent y = rows_of(b, s), x = extent_of(&b->x, b->col, round_to(b->cols, KW_TILE_COLS));
    kw_i64 pitch = s->src_channels * a->groups * KW_BYTES;
    for (kw_i64 tz = 0; tz < b->z.taps; tz++) {
        kw_i64 z = b->z.src_start + b->depth * b->z.src_step + tz * b->z.tap_src_step;
        if (z < 0 || z >= s->src_size[0]) continue;
        for (kw_i64 row = y.low; row < y.high; row++) {
            char *at = to + (row - y.low) * a->value[ROW];
            if (row < 0 || row >= s->src_size[1]) {
                kw_zero(at, (x.high - x.low) * a->value[PIXEL]);
            } else if (row_is_read(b, row)) {
                kw_i64 line = ((b->n * s->src_size[0] + z) * s->src_size[1] + row) * s->src_size[2];
                copy_row(a, s, x, s->src + line * pitch + b->group * s->src_channels * KW_BYTES, at);
            }
        }
        to += a->value[SLICE];
    }
}

/* The runs of all taps whose depth is inside the image, by height, depth, width; gives the runs of one height. */
static kw_i64 list_runs(const kw_cpu_args *a, const sides *s, const block *b, kw_run *run) {
    kw_i64 columns = KW_MERGE ? (b->x.taps > 0) : b->x.taps, bytes = run_bytes(a, s), of_height = 0;
    for (kw_i64 ty = 0; ty < b->y.taps; ty++) {
        kw_i64 slice = 0;
        for (kw_i64 tz = 0; tz < b->z.taps; tz++) {
            kw_i64 z = b->z.src_start + b->depth * b->z.src_step + tz * b->z.tap_src_step;
            if (z < 0 || z >= s->src_size[0]) continue;
            for (kw_i64 tx = 0; tx < columns; tx++, run++) {
                run->src = slice * a->value[SLICE] + ty * b->y.tap_src_step * a->value[ROW] + tx * b->x.tap_src_step * a->value[PIXEL];
                run->w = (b->phase_run + (ty * b->z.taps + tz) * columns + tx) * bytes;
            }
            slice++;
        }
        of_height = slice * columns;
    }
    return of_height;
}

/* Keeps the taps by height that read a row of the image from a tile at this row. */
static void clip_runs(kw_tile_job *job, const block *b, const sides *s, kw_i64 row, const kw_run *runs, kw_i64 of_height) {
    kw_i64 first = 0, last = b->y.taps;
    if (KW_TILE_ROWS == 1) {
        kw_i64 at = b->y.src_start + row * b->y.src_step, step = b->y.tap_src_step;
        while (first < last && (at + first * step < 0 || at + first * step >= s->src_size[1])) first++;
        while (first < last && (at + (last - 1) * step < 0 || at + (last - 1) * step >= s->src_size[1])) last--;
    }
    job->runs = runs + first * of_height;
    job->run_count = (last - first) * of_height;
}

static void sum_block(const kw_cpu_args *a, const sides *s, const block *b, char *memory) {
    kw_i64 blocks = (s->dst_channels + KW_BLOCK - 1) / KW_BLOCK, columns = KW_MERGE ? 1 : a->filter[2];
    kw_i64 block_bytes = a->filter[0] * a->filter[1] * columns * run_bytes(a, s), pitch = s->dst_channels * a->groups * KW_BYTES;
    kw_run *runs = (kw_run *)(memory + KW_SPILL_BYTES);
    kw_i64 of_height = list_runs(a, s, b, runs);
    extent y = rows_of(b, s), x = extent_of(&b->x, b->col, round_to(b->cols, KW_TILE_COLS));
    kw_i64 line = ((b->n * s->dst_size[0] + b->z.out_start + b->depth * b->z.out_step) * s->dst_size[1] + b->y.out_start) * s->dst_size[2];
    kw_tile_job job = {.steps = run_elements(a, s) / KW_PAIR,
                       .odd = KW_TILE_ODD && run_elements(a, s) % KW_PAIR,
                       .src_pixel = b->x.src_step * a->value[PIXEL],
                       .src_row = b->y.src_step * a->value[ROW],
                       .out_pixel = b->x.out_step * pitch,
                       .out_row = b->y.out_step * s->dst_size[2] * pitch,
                       .spill = memory};
    if (!KW_TILE_ODD) job.steps = (run_elements(a, s) + KW_PAIR - 1) / KW_PAIR;
    for (kw_i64 k = b->part * blocks / a->value[PARTS]; k < (b->part + 1) * blocks / a->value[PARTS]; k++) {
        job.w = a->packed + (b->group * blocks + k) * block_bytes;
        job.channels = s->dst_channels - k * KW_BLOCK;
        char *out = s->dst + (line + b->x.out_start) * pitch + (b->group * s->dst_channels + k * KW_BLOCK) * KW_BYTES;
        for (kw_i64 r = 0; r < b->rows; r += KW_TILE_ROWS) {
            clip_runs(&job, b, s, b->row + r, runs, of_height);
            job.rows = kw_min(KW_TILE_ROWS, b->rows - r);
            const char *src = memory + a->value[COPY_AT] + (b->y.src_start + (b->row + r) * b->y.src_step - y.low) * a->value[ROW] +
                              (b->x.src_start - x.low) * a->value[PIXEL];
            for (kw_i64 c = 0; c < b->cols; c += KW_TILE_COLS) {
                job.cols = kw_min(KW_TILE_COLS, b->cols - c);
                job.whole = job.channels >= KW_BLOCK && job.rows == KW_TILE_ROWS && job.cols == KW_TILE_COLS;
                job.src = src + (b->col + c) * job.src_pixel;
                job.out = out + (b->row + r) * job.out_row + (b->col + c) * job.out_pixel;
                kw_tile(&job);
            }
        }
    }
}

void KW_EXPORT kw_stage1(const kw_cpu_args *a, kw_i64 begin, kw_i64 end, void *thread_memory) {
    char *memory = thread_memory;
    sides s = sides_of(a);
    kw_i64 held = -1; /* the unit, parts aside, whose copy the memory holds */
    for (kw_i64 unit = begin; unit < end; unit++) {
        block b;
        if (!block_of(&b, a, unit)) continue;
        if (held != unit / a->value[PARTS] && b.z.taps * b.y.taps * b.x.taps) copy_block(a, &s, &b, memory + a->value[COPY_AT]);
        held = unit / a->value[PARTS];
        sum_block(a, &s, &b, memory);
    }
}
