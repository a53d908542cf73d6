/* direct_amx.h: part of direct.c for math=amx: a block's pixels and one block of result channels, tile by tile.
 *
 * Tiles end with rows, or go on in the next one (params.flow). Where the weights of all runs are more than the first-level cache keeps, tiles
 * would have them from the second-level one each time, which is slower than registers multiply. Then a slice of them meets a band of tiles
 * before the next one does, and the band's sums wait in thread memory: params.slice_chunks chunks of every run, so that a tile has the
 * pixels that its taps have in common from the first-level cache, or params.slice_runs runs. */

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

/* block: of the first pixel, whose row and column of the walk are rows->at and cols->at; its spill has KW_DIRECT_BAND tiles where runs are
 * cut. */
static void sum_tiles(const kw_kernel_args *a, const kw_tile_job *block, const side *rows, const side *cols, const kw_run *runs,
                      kw_i64 of_height) {
    kw_i64 pitch = flows(a) ? a->params.flow : cols->count, pixels = (rows->count - 1) * pitch + cols->count;
    kw_i64 across = ceil_div(cols->count, KW_TILE_COLS), tiles = flows(a) ? ceil_div(pixels, KW_TILE_COLS) : rows->count * across;
    kw_i64 all = kw_max(rows->walk.taps * of_height, 1), slice = a->params.slice_runs ? a->params.slice_runs : all;
    kw_i64 steps = a->params.slice_chunks ? a->params.slice_chunks * KW_AMX_CHUNK(block->steps) : block->steps;
    kw_i64 of_runs = ceil_div(all, slice), slices = of_runs * ceil_div(block->steps, steps), band = slices > 1 ? KW_DIRECT_BAND : 1;
    kw_tile_job job = *block;
    job.rows = 1;
    for (kw_i64 first = 0; first < tiles; first += band) {
        for (kw_i64 s = 0; s < slices; s++) {
            kw_i64 from = s % of_runs * slice, step = s / of_runs * steps;
            int last = s == slices - 1;
            job.more = s > 0, job.rest = flows(a) || !last;
            job.steps = kw_min(steps, block->steps - step), job.w = block->w + step * KW_STEP_BYTES;
            for (kw_i64 t = first; t < kw_min(first + band, tiles); t++) {
                place_tile(&job, a, block, cols, pixels, t);
                job.src += 4 * step;
                kw_i64 row = flows(a) ? t * KW_TILE_COLS / pitch : t / across;
                kw_i64 row_last = flows(a) ? (t * KW_TILE_COLS + job.cols - 1) / pitch : row;
                clip_runs(&job, a, &rows->walk, rows->at + row, rows->at + row_last, runs, of_height);
                const kw_run *begin = runs + from, *end = job.runs + job.run_count;
                job.runs = job.runs < begin ? begin : job.runs;
                end = end < begin + slice ? end : begin + slice;
                job.run_count = end > job.runs ? end - job.runs : 0;
                job.spill = block->spill + (t - first) * KW_SPILL_BYTES;
                kw_tile(&job);
                if (flows(a) && last) store_flow(&job, block, cols, pitch, t * KW_TILE_COLS);
            }
        }
    }
}
