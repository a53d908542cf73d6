/* direct_amx.h: part of direct.c for math=amx: a block's pixels and one block of result channels, tile by tile.
 *
 * Tiles end with rows, or go on in the next one (params.flow). Where the weights of all runs are more than the first-level cache keeps, tiles
 * would have them from the second-level one each time, which is slower than registers multiply. Then a slice of them meets a band of tiles
 * before the next one does, and the band's sums wait in thread memory: params.slice_chunks chunks of every run, so that a tile has the
 * pixels that its taps have in common from the first-level cache, or params.slice_runs runs.
 *
 * A band of tiles meets params.meet blocks of result channels before the next band does: lines of results that lie side by side are then written
 * while they are in the second-level cache, whether they are one group's or those of several narrow ones. */

/* Where a tile's pixels begin: by row and column, or counted by copied pixels. */
static void place_tile(kw_tile_job *job, const kw_kernel_args *a, const kw_tile_job *block, const side *cols, kw_i64 pixels,
                       kw_i64 number) {
    kw_i64 across = ceil_div(cols->count, KW_TILE_COLS), row = number / across, col = number % across * KW_TILE_COLS;
    if (flows(a)) {
        job->cols = kw_min(KW_TILE_COLS, pixels - number * KW_TILE_COLS);
        job->src = block->src + number * KW_TILE_COLS * job->src_pixel;
        return;
    }
    job->cols = kw_min(KW_TILE_COLS, cols->count - col);
    job->src = block->src + row * job->src_row + col * job->src_pixel;
    job->out = block->out + row * job->out_row + col * job->out_pixel;
    job->at = kw_place_moved(block->at, 0, col, row);
}

/* Results of a tile that went on in the next row, from where its sums wait; first: its first pixel. The pixels between two rows are left out. */
static void store_flow(const kw_tile_job *job, const kw_tile_job *block, const side *cols, kw_i64 pitch, kw_i64 first) {
    kw_tile_job part = *block;
    part.rows = 1;
    for (kw_i64 at = first, end = first + job->cols; at < end; at = (at / pitch + 1) * pitch) {
        kw_i64 row = at / pitch, col = at % pitch;
        part.cols = kw_min(end - at, cols->count - col);
        part.spill = job->spill + (at - first) * KW_STEP_BYTES;
        part.out = block->out + row * job->out_row + col * job->out_pixel;
        part.at = kw_place_moved(block->at, 0, col, row);
        if (part.cols > 0) kw_tile_part(&part);
    }
}

/* What is the same of a unit's tiles, image by image: so many of each, and the bytes and pixels from one to the next. */
typedef struct images {
    kw_i64 count, src, out, pixels, right, down; /* right, down: pixels to the tile's next column and row */
} images;

static images images_of(const kw_kernel_args *a, const block *b) {
    const kw_i64 *size = DST_SIZE(a), pitch = DST_PIXEL(a);
    return (images){.count = images_of_unit(a, b),
                    .src = copied_image(a),
                    .out = DST_IMAGE(a, size, pitch),
                    .pixels = size[0] * size[1] * size[2],
                    .right = b->axis[2].walk.out_step,
                    .down = b->axis[1].walk.out_step * size[2]};
}

/* The same job of a later image. */
static kw_tile_job job_of_image(const kw_tile_job *first, const images *all, kw_i64 image) {
    kw_tile_job job = *first;
    job.src += image * all->src;
    job.out += image * all->out;
    job.at = kw_place_steps(kw_place_moved(kw_place_steps(job.at, all->pixels, 0), 0, image, 0), all->right, all->down);
    return job;
}

/* A unit's blocks of result channels, one group's after another. */
typedef struct blocks {
    kw_i64 first, count; /* of each group */
} blocks;

/* The job of block number i of them; unit: of the unit's first group. */
static kw_tile_job job_of_block(const kw_kernel_args *a, const kw_tile_job *unit, const blocks *all, kw_i64 i) {
    kw_i64 group = i / all->count, k = all->first + i % all->count, result = group * DST_CHANNELS(a) + k * KW_BLOCK;
    kw_tile_job job = *unit;
    job.rows = 1;
    job.src += group * SRC_CHANNELS(a) * KW_WORD;
    job.w += (group * blocks_of(a) + k) * block_bytes(a);
    job.out += result * KW_OUT_BYTES;
    job.at = kw_place_moved(job.at, result, 0, 0);
    job.channels -= k * KW_BLOCK;
    return job;
}

/* Blocks begin..end-1 of a unit, whose spill has KW_DIRECT_BAND tiles where runs are cut. The first pixel's row and column of the walk are rows->at
 * and cols->at. */
static void sum_tiles(const kw_kernel_args *a, const kw_tile_job *unit, const images *all_images, const blocks *met, kw_i64 begin,
                      kw_i64 end, const side *rows, const side *cols, const kw_run *runs, kw_i64 of_height) {
    kw_i64 pitch = flows(a) ? a->params.flow : cols->count, pixels = (rows->count - 1) * pitch + cols->count;
    kw_i64 across = ceil_div(cols->count, KW_TILE_COLS), of_image = flows(a) ? ceil_div(pixels, KW_TILE_COLS) : rows->count * across;
    kw_i64 tiles = of_image * all_images->count;
    kw_i64 all = kw_max(rows->walk.taps * of_height, 1), slice = a->params.slice_runs ? a->params.slice_runs : all;
    kw_i64 steps = a->params.slice_chunks ? a->params.slice_chunks * KW_AMX_CHUNK(unit->steps) : unit->steps;
    kw_i64 of_runs = ceil_div(all, slice), slices = of_runs * ceil_div(unit->steps, steps),
           band = slices > 1 || end - begin > 1 ? KW_DIRECT_BAND : kw_max(tiles, 1);
    for (kw_i64 first = 0; first < tiles; first += band) {
        kw_i64 first_image = first / of_image;
        for (kw_i64 i = begin; i < end; i++) {
            const kw_tile_job block = job_of_block(a, unit, met, i);
            kw_i64 image = first_image;
            kw_tile_job of = job_of_image(&block, all_images, image), job = of;
            for (kw_i64 s = 0; s < slices; s++) {
                kw_i64 from = s % of_runs * slice, step = s / of_runs * steps, t = first - first_image * of_image;
                int last = s == slices - 1;
                if (image > first_image) of = job_of_image(&block, all_images, image = first_image);
                job.more = s > 0, job.rest = flows(a) || !last;
                job.steps = kw_min(steps, block.steps - step), job.w = block.w + step * KW_STEP_BYTES;
                for (kw_i64 left = kw_min(band, tiles - first), waits = 0; left > 0; left--, waits += KW_SPILL_BYTES, t++) {
                    if (t == of_image) t = 0, of = job_of_image(&block, all_images, ++image);
                    place_tile(&job, a, &of, cols, pixels, t);
                    job.src += 4 * step;
                    kw_i64 row = flows(a) ? t * KW_TILE_COLS / pitch : t / across;
                    kw_i64 row_last = flows(a) ? (t * KW_TILE_COLS + job.cols - 1) / pitch : row;
                    clip_runs(&job, a, &rows->walk, rows->at + row, rows->at + row_last, runs, of_height);
                    const kw_run *of_slice = runs + from, *behind = job.runs + job.run_count;
                    job.runs = job.runs < of_slice ? of_slice : job.runs;
                    behind = behind < of_slice + slice ? behind : of_slice + slice;
                    job.run_count = behind > job.runs ? behind - job.runs : 0;
                    job.spill = block.spill + (slices > 1 ? waits : 0);
                    kw_tile(&job);
                    if (flows(a) && last) store_flow(&job, &of, cols, pitch, t * KW_TILE_COLS);
                }
            }
        }
    }
}

/* All of a unit's blocks, params.meet at a time. */
static void meet_blocks(const kw_kernel_args *a, const block *b, const kw_tile_job *unit, kw_i64 groups, const kw_run *runs,
                        kw_i64 of_height) {
    kw_i64 all = blocks_of(a), first = b->part * all / a->params.parts, meet = a->params.meet;
    const blocks met = {first, (b->part + 1) * all / a->params.parts - first};
    const images of = images_of(a, b);
    for (kw_i64 i = 0; i < groups * met.count; i += meet)
        sum_tiles(a, unit, &of, &met, i, kw_min(i + meet, groups * met.count), &b->axis[1], &b->axis[2], runs, of_height);
}
