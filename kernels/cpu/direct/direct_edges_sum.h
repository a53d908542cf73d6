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

/* What the tiles of a block have in common. all: of the block's first pixel, src of the copy; tensor: the same pixel's place there. */
typedef struct edged {
    const kw_kernel_args *a;
    const block *b;
    kw_tile_job all;
    kw_direct_edges edges;
    const kw_run *of_copy, *in_place;
    kw_i64 of_height, tensor_row;
    const char *tensor, *copied[2];
    standing in_tensor;
} edged;

static void take_block(const edged *e, kw_tile_job *job, kw_i64 k) {
    job->channels = results_from(e->a, e->b->share) - k * KW_RESULTS;
    job->w = e->a->packed + (e->b->share * blocks_of(e->a) + k) * block_bytes(e->a);
}

/* So many tiles, which follow each other from a pixel of row r on. again: pixels in front that were summed before; row: what the row reads. */
static void sum_tiles(const edged *e, kw_tile_job *job, kw_i64 k, kw_i64 r, kw_i64 at, kw_i64 tiles, kw_i64 again, const char *row) {
    job->lead = KW_EPILOGUE ? again : 0;
    job->tiles = tiles;
    job->src = row + at * e->all.src_pixel;
    job->far = kw_far_of_tile(e->a->params.far, r == e->b->axis[1].at && at == 0);
    job->out = e->all.out + r * e->all.out_row + at * e->all.out_pixel + k * KW_RESULTS * KW_OUT_BYTES;
    job->at = kw_place_moved(e->all.at, k * KW_RESULTS, at, r);
    kw_tile(job);
}

/* A row of which some taps may read padding above or below: its ends by the copy. */
static void sum_by_copy(const edged *e, kw_tile_job *job, kw_i64 met, kw_i64 last, kw_i64 r) {
    kw_i64 columns = e->b->axis[2].count, left = e->edges.left, right = e->edges.right;
    clip_runs(job, e->a, &e->b->axis[1].walk, r, r, e->of_copy, e->of_height);
    const kw_run *near = job->runs, *there = e->in_place + (near - e->of_copy);
    for (kw_i64 k = met; k < last; k++) {
        take_block(e, job, k);
        for (kw_i64 c = 0, tiles; c < columns; c += tiles * KW_TILE_COLS) {
            kw_i64 at = kw_min(c, columns - KW_TILE_COLS);
            int behind = c >= right, copy = c < left || (behind && e->edges.from < columns);
            tiles = copy || behind ? 1 : (right - c) / KW_TILE_COLS;
            job->runs = copy ? near : there;
            sum_tiles(e, job, k, r, at, tiles, c - at, copy ? e->copied[behind] + r * e->all.src_row : e->tensor + r * e->tensor_row);
        }
    }
}

/* The columns of a row that read no padding. The last tile is moved back to end with them. */
static void sum_in_place(const edged *e, kw_tile_job *job, kw_i64 k, kw_i64 r) {
    const char *row = e->tensor + r * e->tensor_row;
    kw_i64 tiles = (e->in_tensor.columns.last - e->in_tensor.columns.first) / KW_TILE_COLS,
           behind = e->in_tensor.columns.first + tiles * KW_TILE_COLS;
    kw_i64 back = e->in_tensor.columns.last - KW_TILE_COLS;
    sum_tiles(e, job, k, r, e->in_tensor.columns.first, tiles, 0, row);
    if (behind < e->in_tensor.columns.last) sum_tiles(e, job, k, r, back, 1, behind - back, row);
}

/* The rows of a column from r to end, no more than a tile has pixels: they are one. What its filter rows read as padding is left out. The tile is
 * moved back from rows that do read some; what others write of it is left to them. */
static void sum_standing(const edged *e, const kw_tile_job *of, kw_i64 k, kw_i64 c, kw_i64 r, kw_i64 end) {
    const side *x = &e->b->axis[2], *y = &e->b->axis[1];
    kw_i64 first = x->walk.src_start + c * x->walk.src_step, before = kw_max(-first, 0), channels = SRC_CHANNELS(e->a);
    kw_i64 taps = kw_min(reach_of(x) + 1, SRC_SIZE(e->a)[2] - first) - before, top = kw_min(r, e->in_tensor.rows.last - KW_TILE_COLS);
    kw_tile_job job = *of;
    job.steps = taps * channels;
    if (taps <= 0) job.run_count = 0;
    job.w += before * channels * KW_STEP_BYTES;
    job.src = e->tensor + top * e->tensor_row + c * e->all.src_pixel + before * e->a->params.pixel;
    job.src_pixel = e->tensor_row;
    job.cols = end - top;
    job.lead = KW_EPILOGUE || top < y->at ? r - top : 0;
    job.tiles = 1, job.far = 0;
    job.out = e->all.out + top * e->all.out_row + c * e->all.out_pixel + k * KW_RESULTS * KW_OUT_BYTES;
    job.out_pixel = e->all.out_row;
    job.at = kw_place_steps(kw_place_moved(e->all.at, k * KW_RESULTS, c, top), y->walk.out_step * DST_SIZE(e->a)[2], 0);
    kw_tile(&job);
}

/* Rows that read no padding above or below, no more than a tile has pixels: first tiles of rows, then of columns, while what both read is near. */
static void sum_rows_in_place(const edged *e, kw_tile_job *job, kw_i64 met, kw_i64 last, kw_i64 r, kw_i64 end) {
    job->runs = e->in_place;
    job->run_count = e->b->axis[1].walk.taps * e->of_height;
    for (kw_i64 row = r; row < end; row++) {
        for (kw_i64 k = met; k < last; k++) {
            take_block(e, job, k);
            sum_in_place(e, job, k, row);
        }
    }
    for (kw_i64 k = met; k < last; k++) {
        take_block(e, job, k);
        for (kw_i64 c = 0; c < e->in_tensor.columns.first; c++)
            sum_standing(e, job, k, c, r, end);
        for (kw_i64 c = e->in_tensor.columns.last; c < e->b->axis[2].count; c++)
            sum_standing(e, job, k, c, r, end);
    }
}

/* job: of the block's first pixel, src of the copy. */
static void sum_edges(const kw_kernel_args *a, const block *b, kw_tile_job *job, const kw_run *of_copy, kw_i64 of_height) {
    const side *y = &b->axis[1], *x = &b->axis[2];
    const kw_direct_params *p = &a->params;
    const kw_i64 *size = SRC_SIZE(a);
    kw_i64 blocks = blocks_of(a), channels = SRC_CHANNELS(a), line = SRC_LINE(a, b->n, 0, 0, size), below = SRC_LINE(a, b->n, 0, 1, size),
           behind = SRC_LINE(a, b->n, 1, 0, size), none = 0;
    kw_i64 image = SRC_AT(a, line, none, channels), row_bytes = SRC_AT(a, below, none, channels) - image,
           plane = SRC_AT(a, behind, none, channels) - image;
    kw_run *in_place = (kw_run *)of_copy + y->walk.taps * b->axis[0].walk.taps;
    list_runs_in_place(a, b, in_place, of_copy, row_bytes, plane);
    edged e = {.a = a, .b = b, .all = *job, .edges = edges_of(a, x), .of_copy = of_copy, .in_place = in_place, .of_height = of_height};
    e.tensor = SRC(a) + image + y->walk.src_start * row_bytes + x->walk.src_start * p->pixel;
    e.copied[0] = job->src, e.copied[1] = job->src + left_bytes(a, x, &e.edges) - e.edges.from * job->src_pixel;
    e.tensor_row = y->walk.src_step * row_bytes;
    e.in_tensor = standing_of(a, y, x);
    job->rows = 1, job->cols = KW_TILE_COLS;
    for (kw_i64 met = b->part * blocks / p->parts, last = (b->part + 1) * blocks / p->parts; met < last; met += p->meet) {
        kw_i64 until = kw_min(met + p->meet, last);
        for (kw_i64 r = y->at, end = y->at + y->count, next; r < end; r = next) {
            int inside = r >= e.in_tensor.rows.first && r < e.in_tensor.rows.last;
            next = inside ? kw_min(r + KW_TILE_COLS, kw_min(end, e.in_tensor.rows.last)) : r + 1;
            if (inside) {
                sum_rows_in_place(&e, job, met, until, r, next);
            } else {
                sum_by_copy(&e, job, met, until, r);
            }
        }
    }
}
