/* gemm.c: matrix products by tiles; family gemm.tiled, and with KW_POINTWISE the convolutions whose filter is 1 and which pad nothing:
 * there a pixel is a row of A, a group is a batch. Rows of A are read where they are if the tile can (element type, pairs, distance);
 * else, and for the last rows of a chunk that do not fill a tile, they are copied first. Columns of fp32 are read where they lie if few columns of B meet
 * them.
 *
 * Rows are shared out evenly where that makes tiles of one row less than a tile has, and no other: those cost what they have. 49 rows are 13,
 * 12, 12 and 12.
 *
 * A unit is one batch, a chunk of tiles along the rows, and part of the columns. Within a unit, a block of packed weights meets all of
 * the chunk's tiles before the next one; of AMX params.together blocks do, whose weights stay in the first-level cache with a tile of rows.
 * Tiles of AMX read both factors so fast that a block deeper than the first-level cache is met in
 * slices of its depth; their sums wait in thread memory. Where rows of the whole depth are so long that few of them fit the second-level
 * cache, and packed weights would come again for each few, a chunk is of more rows and of a part of the depth at a time (params.deep): then the
 * sums of all its blocks wait.
 *
 * KW_ROW_GROUPS: batches are groups of rows, found by their ends (prelude/row_groups.h). There are units for more chunks than most launches
 * have; which of them have one is spread evenly. The units of a part of the columns follow each other, so that threads with parts of their
 * own have as much to do as each other however unequal the groups are. */
#include "cpu/gemm/args.h"
#define KW_KERNEL_PARAMS kw_gemm_params
/* planes.h is the text, with stages of its own. */
#define KW_LANES_ARE_PIXELS (KW_CHANNELS_FIRST && KW_STORAGE != 3 && KW_MATH != 3)
#include "kw_config.h"

#define KW_TILE_TWICE KW_DP
#define KW_TILE_PASSES 1
#define KW_TILE_BACK 1
#define KW_TILE_FAR 1
#define KW_TILE_FEWER (KW_TILE_COLS > 1 && KW_MATH != 3)
#define KW_SLICES KW_GEMM_SLICES(KW_MATH == 3, KW_STORAGE == 0)
#define KW_TILE_RESUMES (KW_SLICES && KW_MATH != 3 && !KW_LANES_ARE_PIXELS)
#define KW_TILE_SOON (KW_TILE_RESUMES && KW_LANES == 8)
#define KW_TILE_REPEATS (KW_MATH != 3 && !KW_LANES_ARE_PIXELS)
#define KW_TILE_STRIDES (KW_STORAGE == 0 && KW_MATH == 0 && !KW_POINTWISE && !KW_LANES_ARE_PIXELS)
#define KW_TILE_APART (KW_LANES_ARE_PIXELS && KW_PLANES_MAY_LIE(KW_STORAGE == 0, KW_DP, KW_LANES))
#include "cpu/lib/zip.h"
#include "cpu/lib/tile.h"
#include "cpu/ahead/call.h"

/* The product C[rows, columns] = A[rows, depth] B[depth, columns]. Distances in bytes; those of B in elements. */
typedef struct product {
    const char *a, *b;
    char *c;
    kw_i64 batches, rows, columns, depth;
    kw_i64 a_batch, a_row, a_deep, b_batch, b_column, b_deep, c_batch, c_row;
} product;

static product product_of(const kw_kernel_args *a) {
    product p;
#if KW_POINTWISE
    kw_i64 images = a->n * a->out[0] * a->out[1] * a->out[2];
#if KW_BACKWARD
    p = (product){.a = a->y, .c = a->x, .columns = a->c, .depth = a->k, .b_column = 1, .b_deep = a->c};
#else
    p = (product){.a = a->x, .c = a->y, .columns = a->k, .depth = a->c, .b_column = a->c, .b_deep = 1};
#endif
    p.b = a->w, p.batches = a->groups, p.rows = images;
    p.a_batch = p.depth * KW_BYTES, p.a_row = a->groups * p.a_batch, p.a_deep = KW_BYTES;
    p.c_batch = p.columns * KW_OUT_BYTES, p.c_row = a->groups * p.c_batch;
    p.b_batch = a->k * a->c;
#if KW_APART
    p.a_row = (KW_BACKWARD ? a->y_step : a->x_step)[3] * KW_BYTES, p.c_row = (KW_BACKWARD ? a->x_step : a->y_step)[3] * KW_OUT_BYTES;
#endif
#else
    p = (product){.a = a->x, .b = a->w, .c = a->y, .batches = a->batch, .rows = a->gm, .columns = a->gn, .depth = a->gk};
    p.a_row = (a->params.a_columns ? 1 : a->line_step[0]) * KW_BYTES, p.a_deep = (a->params.a_columns ? a->line_step[0] : 1) * KW_BYTES;
    p.b_column = a->params.b_columns ? a->line_step[1] : 1, p.b_deep = a->params.b_columns ? 1 : a->line_step[1];
    p.a_batch = a->batch_step[0] * KW_BYTES, p.b_batch = a->batch_step[1];
    p.c_batch = a->batch_step[2] * KW_OUT_BYTES, p.c_row = a->line_step[2] * KW_OUT_BYTES;
#if KW_ROW_GROUPS
    p.batches = a->groups, p.a_batch = p.c_batch = 0; /* rows are counted over all groups */
#endif
#endif
    return p;
}

static int meets_twice(const product *p) { return KW_GEMM_MEETS_TWICE(KW_TILE_TWICE, p->depth); }

/* Steps of the depth. Copied rows of several chunks end with a line, so that no row of a tile register crosses lines. */
static kw_i64 depth_steps(const kw_kernel_args *a, kw_i64 depth) {
    kw_i64 steps = kw_run_steps(depth);
    return KW_MATH == 3 && a->params.copy ? KW_AMX_LINES(steps) : steps;
}

/* Rows that end in the midst of a tile register are read where they lie all the same: their last chunk begins so many steps earlier, of
 * which the weights are zero. What it meets twice is a term of the same sums, so an infinity makes NaN of no other result. */
static kw_i64 steps_back(const kw_kernel_args *a, const product *p) {
    kw_i64 steps = depth_steps(a, p->depth);
    return KW_MATH == 3 && !a->params.copy && a->params.deep >= steps ? steps - (p->depth + KW_PAIR - 1) / KW_PAIR : 0;
}

/* The last chunk's weights, behind which so many steps are zero, moved behind these. */
static void move_back(char *end, kw_i64 chunk, kw_i64 back) {
    for (kw_i64 bytes = chunk * KW_STEP_BYTES, moved = back * KW_STEP_BYTES, at = bytes - KW_VECTOR; moved && at >= 0; at -= KW_VECTOR)
        kw_put(end - bytes + at, at >= moved ? kw_load(end - bytes + at - moved) : (kw_vf){0});
}

/* Packed order: batch, block of columns, depth. */
static void pack_columns(const kw_kernel_args *a, kw_i64 begin, kw_i64 end) {
    product p = product_of(a);
    kw_i64 blocks = (p.columns + KW_BLOCK - 1) / KW_BLOCK, bytes = KW_HEAD_BYTES + depth_steps(a, p.depth) * KW_STEP_BYTES;
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 first = unit % blocks * KW_BLOCK;
        const char *from = p.b + (unit / blocks * p.b_batch + first * p.b_column) * KW_BYTES;
        char *to = a->packed + unit * bytes;
        kw_pack_run(a, to, from, p.depth, p.b_deep, p.columns - first, p.b_column);
        kw_i64 packed = KW_HEAD_BYTES + kw_run_steps(p.depth) * KW_STEP_BYTES;
        if (KW_MATH == 3) kw_zero(to + packed, bytes - packed);
        if (KW_MATH == 3) move_back(to + bytes, KW_AMX_CHUNK(depth_steps(a, p.depth)), steps_back(a, &p));
        if (!meets_twice(&p)) continue;
        char *last = to + bytes - KW_STEP_BYTES;
        for (kw_i64 i = 0; i < KW_STEP_BYTES; i += KW_VECTOR)
            kw_put(last + i, (kw_vf)((kw_vu)kw_load(last + i) << 16));
    }
}

/* The first byte of a row of A: of a strided convolution, the pixel that output pixel number row reads. */
static const char *row_of(const kw_kernel_args *a, const product *p, kw_i64 row) {
#if KW_POINTWISE && (!KW_BACKWARD || KW_APART)
    kw_i64 w = row % a->out[2], h = row / a->out[2] % a->out[1], rest = row / (a->out[2] * a->out[1]);
    kw_i64 d = rest % a->out[0], n = rest / a->out[0];
#if KW_APART
    const kw_i64 *step = KW_BACKWARD ? a->y_step : a->x_step, *stride = a->stride; /* backward: 1 */
    return p->a + (n * step[0] + d * stride[0] * step[1] + h * stride[1] * step[2] + w * stride[2] * step[3]) * KW_BYTES;
#endif
    row = ((n * a->in[0] + d * a->stride[0]) * a->in[1] + h * a->stride[1]) * a->in[2] + w * a->stride[2];
#endif
    (void)a;
    return p->a + row * p->a_row;
}

/* How many rows from this one on, count at most, lie equally far apart, and how far: of a strided convolution those of an image's row. */
static kw_i64 rows_apart(const kw_kernel_args *a, const product *p, kw_i64 row, kw_i64 count, kw_i64 *apart) {
    *apart = p->a_row;
#if KW_POINTWISE && (!KW_BACKWARD || KW_APART)
    if (row_of(a, p, row + count - 1) - row_of(a, p, row) == (count - 1) * p->a_row) return count;
    *apart *= KW_BACKWARD ? 1 : a->stride[2];
    return kw_min(count, a->out[2] - row % a->out[2]);
#endif
    (void)a, (void)row;
    return count;
}

/* Copies rows first..last-1 of A as the tile reads them; what is missing to a whole tile becomes zero. */
static void copy_rows(const kw_kernel_args *a, const product *p, const char *batch, kw_i64 first, kw_i64 last, char *to) {
    kw_i64 pitch = a->params.pitch, offset = batch - p->a;
    if (p->a_deep == KW_BYTES) {
        for (kw_i64 row = first, count, apart; row < last; row += count) {
            count = rows_apart(a, p, row, last - row, &apart);
            const char *from = row_of(a, p, row) + offset;
            char *at = to + (row - first) * pitch;
            if (KW_MATH != 3 && apart == p->depth * KW_BYTES && pitch == p->depth * KW_WORD) { /* all rows in one go */
                kw_copy(at, from, count * p->depth, count * pitch);
                continue;
            }
            for (kw_i64 i = kw_copy_narrow(at, pitch, from, apart, p->depth, count); i < count; i++)
                kw_copy(at + i * pitch, from + i * apart, p->depth, pitch);
        }
    } else {
        const char *from = batch + first * p->a_row;
        if (KW_CONVERTS)
            kw_transpose_widened(a, to, pitch, from, p->a_deep, p->depth, last - first);
        else
            kw_transpose(a, to, pitch, from, p->a_deep, p->depth, last - first);
        for (kw_i64 row = first; row < last; row++)
            kw_fill_run(to + (row - first) * pitch, p->depth, pitch);
    }
    for (kw_i64 row = last; (row - first) % KW_TILE_COLS; row++)
        kw_zero(to + (row - first) * pitch, pitch);
}

/* Into how many tiles of KW_TILE_COLS rows, or of one less, so many can be cut; 0: they cannot. */
KW_INLINE kw_i64 even_tiles(kw_i64 rows) {
    kw_i64 tiles = (rows + KW_TILE_COLS - 1) / KW_TILE_COLS;
    return KW_TILE_FEWER && KW_TILES_ARE_EVEN(rows, tiles, KW_TILE_COLS) ? tiles : 0;
}

/* Rows of the next tile, where so many are left, for so many tiles that are even, or none. */
KW_INLINE kw_i64 rows_of_tile(kw_i64 left, kw_i64 tiles) { return tiles > 0 ? (left + tiles - 1) / tiles : kw_min(KW_TILE_COLS, left); }

/* How many tiles from one of so many rows on have as many, where so many rows are left and tiles that are even, or none. */
KW_INLINE kw_i64 like_tiles(kw_i64 left, kw_i64 rows, kw_i64 tiles) {
    if (tiles <= 0) return kw_max(left / KW_TILE_COLS, 1);
    return rows == KW_TILE_COLS ? left - tiles * (KW_TILE_COLS - 1) : tiles;
}

/* The last row has no next one to read beyond it, and is copied. */
#define KW_READS_BEYOND KW_GEMM_READS_BEYOND(KW_MATH == 3, KW_STORAGE == 3, KW_CONVERTS)

/* Rows first..last-1 times column blocks k..k_end-1. Rows below direct are read where they are, the others from the copy. Of the depth, steps
 * step..step_end-1, which are what a copy has. */
typedef struct chunk {
    kw_i64 batch, first, last, direct, k, k_end, step, step_end;
} chunk;

/* Copies those of a chunk's rows that are not read where they are; of part of the depth zeros behind what exists of it. */
static void copy_chunk(const kw_kernel_args *a, const product *p, const chunk *h, char *to) {
    const char *batch = p->a + h->batch * p->a_batch;
    product part = *p;
    kw_i64 first = h->step * KW_PAIR, steps = h->step_end - h->step, missing;
    part.depth = kw_min(p->depth - first, steps * KW_PAIR);
    copy_rows(a, &part, batch + first * p->a_deep, h->direct, h->last, to);
    missing = steps < depth_steps(a, p->depth) ? 4 * steps - part.depth * KW_WORD : 0;
    for (kw_i64 row = h->direct; missing > 0 && row < h->last; row++, to += a->params.pitch)
        kw_zero(to + part.depth * KW_WORD, missing);
}

/* Where the depth is met in slices, each tile asks for its share of the next slice's weights. */
static void expect_weights(const kw_kernel_args *a, const product *p, const chunk *h, kw_i64 k, kw_i64 step, kw_tile_job *job) {
    kw_i64 blocks = (p->columns + KW_BLOCK - 1) / KW_BLOCK, steps = depth_steps(a, p->depth), slice = a->params.slice, next = step + slice;
    if (next >= h->step_end) next = h->step, k++;
    kw_i64 lines = k < h->k_end ? kw_min(slice, h->step_end - next) * KW_STEP_BYTES / KW_LINE : 0;
    kw_i64 tiles = (h->last - h->first + KW_TILE_COLS - 1) / KW_TILE_COLS,
           chunks = tiles * KW_AMX_CHUNKS(kw_min(slice, h->step_end - step));
    job->next = a->packed + (h->batch * blocks + k) * (KW_HEAD_BYTES + steps * KW_STEP_BYTES) + KW_HEAD_BYTES + next * KW_STEP_BYTES;
    job->next_lines = (lines + chunks - 1) / chunks;
}

/* Where the packed weights are beyond the second level, each tile of a block asks for its share of the next block's: a block's first
 * tile would wait for them. tiles: of the block; before: those before this one. With 8 lanes it takes the place of asking for the next rows; with 16
 * it is a pointer of its own (KW_TILE_SOON). */
KW_INLINE void ask_soon(const kw_kernel_args *a, kw_i64 run_bytes, kw_i64 tiles, kw_i64 before, int is_last, kw_tile_job *job) {
    job->soon = job->w, job->soon_step = 0;
    if (!a->params.soon || is_last) return;
    job->soon_step = (KW_STEP_BYTES + tiles - 1) / tiles;
    job->soon += run_bytes + before * job->steps * job->soon_step;
    if (KW_TILE_SOON) return;
    job->ahead = job->soon, job->ahead_step = job->soon_step;
#if KW_TILE_REPEATS
    job->ahead_tile = job->steps * job->soon_step;
#endif
}

/* Whether tiles of a block ask for the next tile's rows. */
KW_INLINE int asks_ahead(const kw_kernel_args *a, int again) {
    return a->params.ahead == KW_GEMM_AHEAD_EACH || (a->params.ahead == KW_GEMM_AHEAD_FIRST && !again);
}

static void multiply_chunk(const kw_kernel_args *a, const product *p, const chunk *h, char *memory) {
    static const kw_run whole_depth = {0, 0};
    kw_i64 blocks = (p->columns + KW_BLOCK - 1) / KW_BLOCK, steps = depth_steps(a, p->depth);
    const char *rows = p->a + h->batch * p->a_batch, *copy = memory + a->params.copy_at;
    kw_i64 slice = KW_SLICES ? a->params.slice : steps, spill = slice < steps ? KW_SPILL_BYTES : 0;
    kw_i64 block_spill = h->step_end - h->step < steps ? (h->last - h->first + KW_TILE_COLS - 1) / KW_TILE_COLS * spill : 0;
    kw_tile_job job = {.runs = &whole_depth, .run_count = 1, .out_pixel = p->c_row, .rows = 1};
#if KW_X_ZERO
    job.times = kw_head_times(a);
#endif
    kw_i64 together = KW_MATH == 3 ? a->params.together : 1;
    job.keep = together > 1;
    for (kw_i64 k = h->k; k < h->k_end; k += together) {
        for (kw_i64 step = h->step; step < h->step_end; step += slice) {
            job.more = step > 0, job.rest = kw_min(step + slice, h->step_end) < steps;
            job.back = job.rest ? 0 : 4 * steps_back(a, p);
            job.spill = memory + (k - h->k) * block_spill;
            if (KW_MATH == 3 && slice < steps) expect_weights(a, p, h, k, step, &job);
            kw_i64 tiles = h->direct == h->first || h->direct == h->last ? even_tiles(h->last - h->first) : 0;
            for (kw_i64 row = h->first, like; row < h->last; row += job.cols * like, job.spill += spill, tiles -= like) {
                int direct = row < h->direct;
                job.odd = meets_twice(p);
                job.steps = kw_min(slice, h->step_end - step) - job.odd;
                job.src_pixel = direct ? p->a_row : a->params.pitch;
                job.src_step = KW_TILE_STRIDES && direct ? p->a_deep : 4;
                job.src = direct ? rows + row * p->a_row + step * job.src_step
                                 : copy + (row - h->direct) * a->params.pitch + 4 * (step - h->step);
                int strided = KW_TILE_STRIDES && direct && p->a_deep != 4;
                job.ahead = job.src + (strided ? KW_LINE : KW_TILE_COLS * job.src_pixel);
                job.ahead_step = strided ? p->a_deep : KW_TILE_PIXELS * 4;
                if (!asks_ahead(a, k > h->k)) job.ahead_step = 0;
                job.far = kw_far_of_tile(a->params.far, row == h->first);
                job.cols = rows_of_tile(h->last - row, tiles);
                like = KW_TILE_REPEATS && !job.rest && !job.more ? like_tiles((direct ? h->direct : h->last) - row, job.cols, tiles) : 1;
#if KW_TILE_REPEATS
                job.tiles = like, job.ahead_tile = job.cols * job.src_pixel, job.far_again = kw_far_of_tile(a->params.far, 0);
#endif
                for (kw_i64 b = k; b < kw_min(k + together, h->k_end); b++) {
                    job.w = a->packed + (h->batch * blocks + b) * (KW_HEAD_BYTES + steps * KW_STEP_BYTES) + step * KW_STEP_BYTES;
                    job.channels = p->columns - b * KW_BLOCK;
                    if (KW_TILE_RESUMES)
                        ask_soon(a, KW_HEAD_BYTES + steps * KW_STEP_BYTES, (h->last - h->first + KW_TILE_COLS - 1) / KW_TILE_COLS,
                                 (row - h->first) / KW_TILE_COLS, b + 1 == h->k_end, &job);
                    job.out = p->c + h->batch * p->c_batch + row * p->c_row + b * KW_BLOCK * KW_OUT_BYTES;
                    job.at = kw_place_at(a, p->c, (KW_POINTWISE || KW_ROW_GROUPS ? h->batch * p->columns : 0) + b * KW_BLOCK,
                                         (KW_POINTWISE || KW_ROW_GROUPS ? 0 : h->batch * p->rows) + row);
                    job.at = kw_place_steps(job.at, 1, 0);
                    kw_tile(&job);
                }
                job.next += job.next_lines * KW_AMX_CHUNKS(job.steps) * KW_LINE;
            }
        }
    }
}

/* Chunks by number. */
typedef struct chunks {
#if KW_ROW_GROUPS
    kw_group_place place;
    kw_i64 most, all; /* that there can be, and are */
#else
    kw_i64 all;                                       /* of a batch */
#endif
} chunks;

static chunks chunks_of(const kw_kernel_args *a, const product *p) {
#if KW_ROW_GROUPS
    return (chunks){.most = KW_GROUP_CHUNKS_MOST(p->rows, p->batches, a->params.chunk_rows),
                    .all = kw_group_chunks(a->ends, (int)p->batches, (int)p->rows, (int)a->params.chunk_rows)};
#else
    return (chunks){(p->rows + a->params.chunk_rows - 1) / a->params.chunk_rows};
#endif
}

/* The batch and rows of a chunk; 0: there is none. Numbers ascend. */
static int find_chunk(chunk *h, chunks *c, const kw_kernel_args *a, const product *p, kw_i64 number) {
#if KW_ROW_GROUPS
    kw_group_chunk found;
    kw_i64 first = number * c->all / c->most;
    if (first == (number + 1) * c->all / c->most) return 0;
    kw_group_find(&found, &c->place, a->ends, (int)p->batches, (int)p->rows, (int)a->params.chunk_rows, (int)first);
    h->batch = found.group, h->first = found.first, h->last = found.end;
#else
    h->batch = number / c->all;
    h->first = number % c->all * a->params.chunk_rows;
    h->last = kw_min(h->first + a->params.chunk_rows, p->rows);
#endif
    return 1;
}

static void multiply_rows(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, char *memory) {
    product p = product_of(a);
    kw_i64 blocks = (p.columns + KW_BLOCK - 1) / KW_BLOCK, parts = a->params.parts, held = -1;
    chunks all = chunks_of(a, &p);
    kw_tiles_begin(depth_steps(a, p.depth), KW_ROW_GROUPS ? KW_TILE_COLS : p.rows);
    for (kw_i64 unit = begin; unit < end; unit++) {
#if KW_ROW_GROUPS
        kw_i64 part = unit / all.most, number = unit % all.most;
        if (number == 0) all.place = (kw_group_place){0, 0, 0};
#else
        kw_i64 part = unit % parts, number = unit / parts;
#endif
        chunk h = {.k = part * blocks / parts, .k_end = (part + 1) * blocks / parts};
        if (!find_chunk(&h, &all, a, &p, number)) continue;
        kw_i64 beyond = KW_READS_BEYOND && p.depth % KW_PAIR && h.last == p.rows;
        h.direct = h.first + (h.last - h.first - beyond) / KW_TILE_COLS * KW_TILE_COLS;
        if (even_tiles(h.last - h.first) && !beyond) h.direct = h.last;
        if (a->params.copy) h.direct = h.first;
        kw_i64 steps = depth_steps(a, p.depth), deep = KW_SLICES ? a->params.deep : steps;
        for (; h.step < steps; h.step = h.step_end) {
            h.step_end = kw_min(h.step + deep, steps);
            if ((number != held || deep < steps) && h.direct < h.last) copy_chunk(a, &p, &h, memory + a->params.copy_at);
            multiply_chunk(a, &p, &h, memory);
        }
        held = number;
    }
    kw_tiles_end();
}

#if KW_POINTWISE && (KW_STORAGE == 3 || KW_MATH == 3)
static void own_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    pack_columns(a, begin, end);
}
static void own_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { multiply_rows(a, begin, end, memory); }
#include "cpu/lib/reorder.h"
#elif KW_LANES_ARE_PIXELS
#include "cpu/gemm/planes.h"

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    pack_rows(a, begin, end);
}

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { multiply_planes(a, begin, end, memory); }
#else
void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    pack_columns(a, begin, end);
}

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) { multiply_rows(a, begin, end, memory); }
#endif
