/* direct_edges.h: merged columns in place. Where a filter row's columns and channels are one run, tiles that read no padding find it in the tensor
 * as it lies; only what the tiles at both ends of a row read is copied, with its padding. A copy of all rows took 13 to 21 % of the time of first
 * layers. What lies in the copy: of a row the columns of the left tiles, then those of the right ones (kw_direct_edges).
 *
 * Rows of results that read no padding above or below need no copy: of these the columns that read padding stand, so many rows of a column
 * being a tile, whose filter rows are without what is padding. Of c3 k16 79x79 the copy took 4 of 39 us. */

/* Of an axis the pixels, from the first to behind the last, that read no padding; or of rows those that nothing copied is read of. */
typedef struct inner {
    kw_i64 first, last;
} inner;

#if KW_COPIES_EDGES
static int has_edges(const kw_kernel_args *a) { return a->params.flow == KW_DIRECT_EDGES; }

static kw_i64 reach_of(const side *x) { return kw_max(x->walk.taps - 1, 0) * x->walk.tap_src_step; }

static kw_direct_edges edges_of(const kw_kernel_args *a, const side *x) {
    return kw_direct_edges_of(x->count, KW_TILE_COLS, x->walk.src_start, x->walk.src_step, reach_of(x), SRC_SIZE(a)[2]);
}

static inner inner_of(const kw_walk *w, kw_i64 size) {
    kw_i64 room = size - 1 - w->src_start - kw_max(w->taps - 1, 0) * w->tap_src_step;
    kw_i64 last = room < 0 ? 0 : kw_min(room / w->src_step + 1, w->pixels);
    return (inner){kw_min(ceil_div(kw_max(-w->src_start, 0), w->src_step), last), last};
}

/* What a block's rows and columns of tiles are where columns stand: rows of the image, and columns by tiles of a row. Both are empty where ends of
 * rows are copied: tiles have no room in what reads no padding, or columns that stand take more products than the copies are worth, as where whole
 * tiles would fill a row. */
typedef struct standing {
    inner rows, columns;
} standing;

static standing standing_of(const kw_kernel_args *a, const side *y, const side *x) {
    enum { A_COPY = 60, WAY = 4096, WAYS = 8 }; /* cycles for a row of the source */
    inner rows = inner_of(&y->walk, SRC_SIZE(a)[1]), columns = inner_of(&x->walk, SRC_SIZE(a)[2]);
    kw_i64 high = rows.last - rows.first, wide = columns.last - columns.first, beside = x->walk.pixels - wide;
    if (kw_min(high, wide) < KW_TILE_COLS) return (standing){0};
    kw_i64 column = ceil_div(high, KW_TILE_COLS), row = wide / KW_TILE_COLS, rest = wide % KW_TILE_COLS; /* tiles */
    kw_i64 below = SRC_LINE(a, 0, 0, 1, SRC_SIZE(a)), here = SRC_LINE(a, 0, 0, 0, SRC_SIZE(a)), none = 0;
    kw_i64 apart = (SRC_AT(a, below, none, SRC_CHANNELS(a)) - SRC_AT(a, here, none, SRC_CHANNELS(a))) * y->walk.src_step;
    apart = kw_min(apart & -apart, WAY);
    /* Rows of the tensor that lie in few sets of the first-level cache have no columns but those that must. */
    if (rest && 4 * rest * column <= 3 * high && KW_TILE_COLS * apart <= WAYS * WAY / 2) {
        columns.last -= rest;
        beside += rest;
    } else {
        row += rest > 0;
    }
    kw_i64 more = row * high + beside * column - ceil_div(x->walk.pixels, KW_TILE_COLS) * high;
    kw_i64 products = more * KW_TILE_COLS * KW_TILE_VECS * taps_of(a) * SRC_CHANNELS(a);
    return products <= 2 * A_COPY * high * y->walk.src_step ? (standing){rows, columns} : (standing){0};
}

/* The first source row and the one behind the last that rows of results with padding above or below do not read. */
static inner rows_not_copied(const kw_kernel_args *a, const side *y, const side *x) {
    const kw_walk *w = &y->walk;
    if (!has_edges(a)) return (inner){0};
    inner rows = standing_of(a, y, x).rows;
    if (rows.last == rows.first) return (inner){0};
    kw_i64 reach = kw_max(w->taps - 1, 0) * w->tap_src_step;
    kw_i64 first = rows.first ? w->src_start + (rows.first - 1) * w->src_step + reach + 1 : 0;
    kw_i64 last = rows.last < w->pixels ? w->src_start + rows.last * w->src_step : SRC_SIZE(a)[1];
    return (inner){first, last};
}

/* Bytes of the copy's left part of a row. */
static kw_i64 left_bytes(const kw_kernel_args *a, const side *x, const kw_direct_edges *e) {
    return kw_direct_edge_columns(e->left, x->walk.src_step, reach_of(x)) * a->params.pixel;
}

/* So many bytes of whole words; the last vector begins where it ends with them. */
static void copy_words(char *to, const char *from, kw_i64 bytes) {
    kw_i64 i = 0;
    for (; i + KW_VECTOR <= bytes; i += KW_VECTOR)
        kw_put(to + i, kw_load(from + i));
    if (i < bytes && i) {
        kw_put(to + bytes - KW_VECTOR, kw_load(from + bytes - KW_VECTOR));
        return;
    }
    for (; i < bytes; i += KW_WORD)
        *(kw_u32 *)(to + i) = *(const kw_u32 *)(from + i);
}

/* What a row of the copy has of a source row, and bytes of padding in front and behind. */
typedef struct row_ends {
    kw_i64 before, left, right_at, right, behind;
} row_ends;

static row_ends row_ends_of(const kw_kernel_args *a, const side *x) {
    if (!has_edges(a)) return (row_ends){0};
    kw_direct_edges e = edges_of(a, x);
    kw_i64 pixel = a->params.pixel, size = SRC_SIZE(a)[2], step = x->walk.src_step, start = x->walk.src_start;
    kw_i64 left = kw_direct_edge_columns(e.left, step, reach_of(x)), right = kw_direct_edge_columns(x->count - e.from, step, reach_of(x));
    /* Of strides larger than the filter a part may be padding alone. */
    kw_i64 right_at = kw_min(start + e.from * step, size), high = start + (x->count - 1) * step + reach_of(x) + 1;
    kw_i64 before = kw_min(left, kw_max(-start, 0)), behind = kw_min(right, kw_max(high - size, 0));
    return (row_ends){before * pixel, (left - before) * pixel, right_at * pixel, (right - behind) * pixel, behind * pixel};
}

/* Of a row inside the image, as all rows of the copy are. Zeros end up to a vector behind the padding, where something is written later, or nothing
 * is. */
static void copy_edges(const row_ends *ends, const char *from, char *to) {
    for (kw_i64 i = 0; i < ends->before; i += KW_VECTOR)
        kw_put(to + i, (kw_vf){0});
    to += ends->before;
    copy_words(to, from, ends->left);
    to += ends->left;
    copy_words(to, from + ends->right_at, ends->right);
    to += ends->right;
    for (kw_i64 i = 0; i < ends->behind; i += KW_VECTOR)
        kw_put(to + i, (kw_vf){0});
}

#else
typedef struct row_ends {
    int none;
} row_ends;
static int has_edges(const kw_kernel_args *a) { return (void)a, 0; }
static inner rows_not_copied(const kw_kernel_args *a, const side *y, const side *x) { return (void)a, (void)y, (void)x, (inner){0}; }
static row_ends row_ends_of(const kw_kernel_args *a, const side *x) { return (void)a, (void)x, (row_ends){0}; }
static void copy_edges(const row_ends *ends, const char *from, char *to) { (void)ends, (void)from, (void)to; }
#endif
