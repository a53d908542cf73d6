/* bwd_weight_pixels.h: which of a box's pixels the tiles of a tap sum in bwd_weight.c: those whose tap reads the image, as few nested counts. */

/* Axes that follow each other without a gap become one. */
static void join_axes(kw_weight_job *job) {
    int level = KW_BOX_W;
    for (int axis = KW_BOX_H; axis >= KW_BOX_N; axis--) {
        kw_i64 count = job->count[axis], v = job->v_step[axis], b = job->b_step[axis];
        if (count == 1) continue;
        if (job->count[level] != 1 && (v != job->count[level] * job->v_step[level] || b != job->count[level] * job->b_step[level])) {
            job->count[--level] = 1;
        }
        if (job->count[level] == 1) {
            job->v_step[level] = v;
            job->b_step[level] = b;
        }
        job->count[level] *= count;
    }
    while (level > KW_BOX_N)
        job->count[--level] = 1;
}

/* Of an axis, what the tap's position along it reads of the box: from the first pixel on whose tap is inside so many, and where these are. */
typedef struct reads {
    kw_i64 tap, count, x, y; /* tap -1: not known */
} reads;

static void find_reads(const share *s, int axis, kw_i64 tap, reads *r) {
    kw_i64 stride = s->stride[axis], shift = tap * s->dilation[axis] - s->pad[axis]; /* x's position is pixel * stride + shift */
    kw_i64 low = s->low[axis], high = s->high[axis];
    if (!(KW_PADDED && axis == KW_BOX_W) && !(KW_PADDED_ROWS && axis == KW_BOX_H)) {
        if (shift < 0) low = kw_max(low, ceil_div(-shift, stride));
        high = s->in[axis] > shift ? kw_min(high, ceil_div(s->in[axis] - shift, stride)) : low;
    }
    *r = (reads){tap, high - low, (low * stride + shift - s->x.low[axis]) * s->x.step[axis], (low - s->y.low[axis]) * s->y.step[axis]};
}

/* Puts the box's pixels whose tap is inside into the job, for the first block of each side. Taps differ from the one before in an axis or two, and of a
 * few pixels finding all anew took a tenth of the time of their products. */
static void set_pixels(kw_weight_job *job, const share *s, kw_i64 tap_number, reads known[4]) {
    const kw_kernel_args *a = s->args;
    const char *x = s->x.at, *y = s->y.at;
    kw_i64 columns = KW_MERGE ? 1 : a->filter[2], row = tap_number / columns * KW_FILTER_ROWS;
    const kw_i64 tap[4] = {0, row / a->filter[1], row % a->filter[1], tap_number % columns};
    int empty = 0;
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++) {
        reads *r = known + axis;
        if (r->tap != tap[axis]) find_reads(s, axis, tap[axis], r);
        empty |= r->count <= 0;
        x += r->x;
        y += r->y;
        kw_i64 x_step = s->x.step[axis] * s->stride[axis], y_step = s->y.step[axis];
        job->count[axis] = r->count;
        if (KW_PAIRS && axis == KW_BOX_W) {
#if KW_ZIPS_Y
            job->alone = job->count[KW_BOX_W] % 2;
            job->partner = y_step;
            job->count[KW_BOX_W] /= 2;
            y_step *= 2;
#else
            job->count[KW_BOX_W] = KW_MATH == 3 ? s->y.count[KW_BOX_W] : pairs_of(s, job->count[KW_BOX_W]);
#endif
            x_step = KW_PAIRED_X(a) ? s->x.step[KW_BOX_W] : 2 * x_step;
#if KW_MATH == 3
            job->v_row = x_step;
            x_step *= a->params.chunk;
#endif
        }
        job->v_step[axis] = KW_LANES_C ? x_step : y_step;
        job->b_step[axis] = KW_LANES_C ? y_step : x_step;
    }
    job->v = KW_LANES_C ? x : y;
    job->b = KW_LANES_C ? y : x;
    job->b_row = s->x.step[KW_BOX_H] * s->dilation[KW_BOX_H];
    if (!job->alone) join_axes(job);
    if (empty) job->count[0] = 0;
}
