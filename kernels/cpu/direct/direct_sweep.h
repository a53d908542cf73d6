/* direct_sweep.h: zeros of direct.c's strided backward data. It leaves whole rows and columns without a tap, whose pixels walks of their own would
 * write one by one. Where at most one walk of columns sums anything, and a unit has all channels, that one first writes zeros to its rows, as memory
 * lies, and the others have nothing left to do. */
#define KW_SWEEPS (KW_BACKWARD && !KW_APART && !KW_HEADED && !KW_EPILOGUE && !KW_WAYS)

/* What a walk of columns does about them. */
typedef enum sweep { SWEEP_NOTHING, SWEEP_FIRST, SWEEP_ALONE, SWEPT } sweep;

static sweep sweep_of(const kw_kernel_args *a, const block *b, walks *kept) {
    const side *x = &b->axis[2];
    kw_i64 summing = 0, count = walks_of(a, 2);
    if (!KW_SWEEPS || count == 1 || a->params.parts > 1 || shares_of(a) > 1) return SWEEP_NOTHING;
    if (!b->axis[0].walk.taps || !b->axis[1].walk.taps) return x->walk.out_start ? SWEPT : SWEEP_ALONE;
    for (kw_i64 p = 0; p < count; p++) {
        united room;
        const side *other = &united_of(kept, a, 2, p, x->at / block_size(a, 2), &room)->side;
        summing += other->walk.taps && other->count > 0;
    }
    if (summing > 1) return SWEEP_NOTHING;
    if (summing) return x->walk.taps ? SWEEP_FIRST : SWEPT;
    return x->walk.out_start ? SWEPT : SWEEP_ALONE;
}

/* Zeros in so many rows of the walk, between the first and the last column that a walk has in the block. */
static void sweep_rows(const kw_kernel_args *a, const side *x, const kw_tile_job *job, char *dst, kw_i64 row, kw_i64 rows) {
    kw_i64 step = x->walk.out_step, first = x->at * step, last = kw_min(first + block_size(a, 2) * step, DST_SIZE(a)[2]);
    for (kw_i64 r = row; KW_SWEEPS && r < row + rows; r++)
        kw_fill(dst + r * job->out_row + (first - x->walk.out_start) * DST_PIXEL(a), (last - first) * DST_PIXEL(a), 0);
}
