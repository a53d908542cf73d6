/* direct_edges_sum.h: the tiles of direct_edges.h. */

/* The runs of the copy as they lie in the tensor. */
static void list_runs_in_place(const kw_kernel_args *a, const block *b, kw_run *run, const kw_run *of_copy, kw_i64 row, kw_i64 plane) {
    const kw_walk *z = &b->axis[0].walk, *y = &b->axis[1].walk;
    kw_i64 slice;
    for (kw_i64 ty = 0; ty < y->taps; ty++) {
        for (kw_i64 tz = 0; tz < z->taps; tz++) {
            if (!slice_of(a, b, tz, &slice)) continue;
            *run = *of_copy++;
            run++->src = slice * plane + ty * y->tap_src_step * row;
        }
    }
}

/* job: of the block's first pixel, src of the copy. */
static void sum_edges(const kw_kernel_args *a, const block *b, kw_tile_job *job, const kw_run *of_copy, kw_i64 of_height) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    const kw_direct_params *p = &a->params;
    const kw_i64 *size = SRC_SIZE(a);
    const kw_tile_job all = *job;
    kw_i64 blocks = blocks_of(a), channels = SRC_CHANNELS(a), line = SRC_LINE(a, b->n, 0, 0, size), below = SRC_LINE(a, b->n, 0, 1, size),
           behind = SRC_LINE(a, b->n, 1, 0, size), none = 0;
    kw_i64 image = SRC_AT(a, line, none, channels), row_bytes = SRC_AT(a, below, none, channels) - image,
           plane = SRC_AT(a, behind, none, channels) - image;
    kw_run *in_place = (kw_run *)of_copy + y->walk.taps * b->axis[0].walk.taps;
    list_runs_in_place(a, b, in_place, of_copy, row_bytes, plane);
    kw_direct_edges e = edges_of(a, x);
    const char *tensor = SRC(a) + image + y->walk.src_start * row_bytes + x->walk.src_start * p->pixel;
    const char *copied[2] = {all.src, all.src + left_bytes(a, x, &e) - e.from * all.src_pixel};
    kw_i64 tensor_row = y->walk.src_step * row_bytes, last = (b->part + 1) * blocks / p->parts;
    job->rows = 1, job->lead = 0;
    for (kw_i64 met = b->part * blocks / p->parts; met < last; met += p->meet) {
        for (kw_i64 r = y->at; r < y->at + y->count; r++) {
            clip_runs(job, a, &y->walk, r, r, of_copy, of_height);
            const kw_run *near = job->runs, *there = in_place + (near - of_copy);
            for (kw_i64 k = met; k < kw_min(met + p->meet, last); k++) {
                job->channels = results_from(a, b->share) - k * KW_RESULTS;
                job->w = a->packed + (b->share * blocks + k) * block_bytes(a);
                for (kw_i64 c = 0; c < x->count; c += KW_TILE_COLS) {
                    kw_i64 at = kw_min(c, x->count - KW_TILE_COLS);
                    int right = c >= e.right, copy = c < e.left || (right && e.from < x->count);
                    job->lead = KW_EPILOGUE ? c - at : 0;
                    job->cols = KW_TILE_COLS;
                    job->runs = copy ? near : there;
                    job->src = (copy ? copied[right] + r * all.src_row : tensor + r * tensor_row) + at * all.src_pixel;
                    job->far = kw_far_of_tile(p->far, r == y->at && c == 0);
                    job->out = all.out + r * all.out_row + at * all.out_pixel + k * KW_RESULTS * KW_OUT_BYTES;
                    job->at = kw_place_moved(all.at, k * KW_RESULTS, at, r);
                    kw_tile(job);
                }
            }
        }
    }
}
