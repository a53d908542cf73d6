/* direct_walks.h: how direct.c cuts an axis: its walks, and of each the part that is a block's. */
static kw_i64 walks_of(const kw_kernel_args *a, int axis) { return KW_BACKWARD ? kw_walks_backward(a, axis) : 1; }

/* Whether ways are parts of the rows: the first one's stand for those of all. */
static int rows_apart(const kw_kernel_args *a) { return KW_WAYS && a->params.way_rows; }

/* Not in line: it is long. */
static __attribute__((noinline)) kw_walk walk_of(const kw_kernel_args *a, int axis, kw_i64 phase) {
    kw_walk w = KW_BACKWARD ? kw_walk_backward(a, axis, phase) : kw_walk_forward(a, axis);
    if (axis == 1 && rows_apart(a)) w.pixels = kw_min(w.pixels, a->params.way_rows);
    return w;
}

/* Pixels of the longest walk. */
static kw_i64 pixels_of(const kw_kernel_args *a, int axis) {
    return axis == 1 && rows_apart(a) ? a->params.way_rows : ceil_div(DST_SIZE(a)[axis], walks_of(a, axis));
}

/* A block's part of one axis: pixels at..at+count-1 of the walk, which read some of the source positions low..high-1 (rows only those
 * inside the image, when tiles are one row high). */
typedef struct side {
    kw_walk walk;
    kw_i64 at, count, low, high;
} side;

static void place(side *s, const kw_kernel_args *a, int axis, kw_i64 number) {
    static const kw_i64 tile[3] = {1, KW_TILE_ROWS, KW_TILE_COLS};
    const kw_walk *w = &s->walk;
    kw_i64 whole = flows(a) ? 1 : tile[axis];
    s->at = number * block_size(a, axis);
    s->count = kw_min(block_size(a, axis), w->pixels - s->at);
    kw_i64 reach = (w->taps - 1) * w->tap_src_step, start = w->src_start + s->at * w->src_step;
    s->low = start + kw_min(reach, 0);
    s->high = start + (ceil_div(s->count, whole) * whole - 1) * w->src_step + kw_max(reach, 0) + 1;
    if (KW_TILE_ROWS == 1 && axis == 1 && !flows(a) && !rows_apart(a)) {
        s->low = kw_max(s->low, 0);
        s->high = kw_min(s->high, SRC_SIZE(a)[1]);
    }
}

/* A walk's side of a block, which is told all that any walk of the axis reads, for they share a copy; taps of the walks before it, and
 * of all. */
typedef struct united {
    kw_i64 number, before, taps;
    side side;
} united;

/* The first walks of each axis, reckoned once, and their sides of the last block that was asked for: what they divide by takes as long as a
 * small block. */
enum { WALKS_KEPT = 4 };
typedef struct walks {
    kw_walk of[3][WALKS_KEPT];
    united sides[3][WALKS_KEPT];
} walks;

static void keep_walks(walks *kept, const kw_kernel_args *a) {
    for (int i = 0; i < 3 * WALKS_KEPT; i++) {
        kept->sides[i / WALKS_KEPT][i % WALKS_KEPT].number = -1;
        if (i % WALKS_KEPT < walks_of(a, i / WALKS_KEPT))
            kept->of[i / WALKS_KEPT][i % WALKS_KEPT] = walk_of(a, i / WALKS_KEPT, i % WALKS_KEPT);
    }
}

static kw_walk walk_kept(const walks *kept, const kw_kernel_args *a, int axis, kw_i64 phase) {
    return phase < WALKS_KEPT ? kept->of[axis][phase] : walk_of(a, axis, phase);
}

/* room is for a walk that is not kept. */
static const united *united_of(walks *kept, const kw_kernel_args *a, int axis, kw_i64 phase, kw_i64 number, united *room) {
    united *u = phase < WALKS_KEPT ? &kept->sides[axis][phase] : room;
    if (u != room && u->number == number) return u;
    *u = (united){.number = number, .side.walk = walk_kept(kept, a, axis, phase)};
    place(&u->side, a, axis, number);
#if KW_BACKWARD
    for (kw_i64 p = 0; p < walks_of(a, axis); p++) {
        side other = {.walk = walk_kept(kept, a, axis, p)};
        place(&other, a, axis, number);
        if (other.walk.taps && other.count > 0) {
            u->side.low = kw_min(u->side.low, other.low);
            u->side.high = kw_max(u->side.high, other.high);
        }
        u->before += p < phase ? other.walk.taps : 0;
        u->taps += other.walk.taps;
    }
#endif
    return u;
}

/* Which positions a walk reads, by how far they are behind its first pixel's first tap, modulo the distance of its pixels: bit i for i
 * of them. A stride that is wider than the filter leaves some out, which then are not copied. */
static unsigned long long places_read(const kw_walk *w) {
    unsigned long long places = w->src_step > 64 ? ~0ull : 0;
    for (kw_i64 t = 0; t < w->taps && w->src_step <= 64; t++)
        places |= 1ull << ((t * w->tap_src_step % w->src_step + w->src_step) % w->src_step);
    return places;
}

static kw_i64 place_of(const kw_walk *w, kw_i64 position) { return ((position - w->src_start) % w->src_step + w->src_step) % w->src_step; }
