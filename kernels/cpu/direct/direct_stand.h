/* direct_stand.h: tiles that stand: the pixels of direct.c's tile of one row are rows of one column. All of them read the image by the same taps of a
 * filter row, which are one run, and padding above and below by whole rows of taps. A tile that lies along a row of a small image has taps by
 * which a part of its pixels reads padding, a few steps each: what the core foresees of tests ends with each (38 cycles were lost). */
#if KW_TILE_STANDS
static void stand(const kw_kernel_args *a, const block *b, kw_tile_job *job, const kw_run *runs, kw_i64 of_height, kw_i64 row_runs) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    const kw_tile_job all = *job;
    kw_i64 blocks = blocks_of(a), inside[2];
    columns_inside(inside, &y->walk, SRC_SIZE(a)[1]);
    job->src_pixel = all.src_row, job->out_pixel = all.out_row;
    job->rows = 1, job->stands = 1, job->run_step = row_runs;
    for (kw_i64 k = b->part * blocks / a->params.parts; k < (b->part + 1) * blocks / a->params.parts; k++) {
        job->channels = results_from(a, b->share) - k * KW_BLOCK;
        job->w = a->packed + (b->share * blocks + k) * block_bytes(a);
        for (kw_i64 c = x->at; c < x->at + x->count; c++) {
            kw_i64 column = of_height ? runs[0].at + c * x->walk.src_step : 0, tap = kw_max(-column, 0);
            kw_i64 taps = of_height ? kw_max(kw_min(row_runs, all.width - column) - tap, 0) : 0;
            const char *src = all.src + c * all.src_pixel;
            char *out = all.out + c * all.out_pixel + k * KW_BLOCK * KW_OUT_BYTES;
            job->steps = taps * all.steps;
            for (kw_i64 r = y->at, end = y->at + y->count; r < end; r += job->cols) {
                job->cols = tile_columns(r, end, inside);
                job->row = r * y->walk.src_step;
                clip_runs(job, a, &y->walk, r, r + job->cols - 1, runs, of_height);
                job->runs += tap;
                job->run_count = taps ? job->run_count - tap : 0;
                job->src = src + r * all.src_row;
                job->out = out + r * all.out_row;
                job->at = kw_place_steps(kw_place_moved(all.at, k * KW_BLOCK, c, r), y->walk.out_step * DST_SIZE(a)[2], x->walk.out_step);
                kw_tile(job);
            }
        }
    }
}
#endif
