/* direct_edges.h: merged columns in place. Where a filter row's columns and channels are one run, tiles that read no padding find it in the tensor
 * as it lies; only what the tiles at both ends of a row read is copied, with its padding. A copy of all rows took 13 to 21 % of the time of first
 * layers. What lies in the copy: of a row the columns of the left tiles, then those of the right ones (kw_direct_edges). */
#define KW_COPIES_EDGES (KW_MERGE && KW_IN_PLACE && KW_MATH == 0 && !KW_HEADED && KW_WORD == KW_BYTES)

#if KW_COPIES_EDGES
static int has_edges(const kw_kernel_args *a) { return a->params.flow == KW_DIRECT_EDGES; }

static kw_i64 reach_of(const side *x) { return kw_max(x->walk.taps - 1, 0) * x->walk.tap_src_step; }

static kw_direct_edges edges_of(const kw_kernel_args *a, const side *x) {
    return kw_direct_edges_of(x->count, KW_TILE_COLS, x->walk.src_start, x->walk.src_step, reach_of(x), SRC_SIZE(a)[2]);
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
static row_ends row_ends_of(const kw_kernel_args *a, const side *x) { return (void)a, (void)x, (row_ends){0}; }
static void copy_edges(const row_ends *ends, const char *from, char *to) { (void)ends, (void)from, (void)to; }
#endif
