/* bwd_weight_store.h: a tile's sums of bwd_weight.c into dw. Rows of tiles with lanes=c are rows of dw, those with lanes=k its columns. */

/* Of the share's group: groups that it is, in turn, and the first k of one of them, counted over all groups. */
KW_INLINE kw_i64 ways_of(const share *s) { return KW_WAYS ? kw_min(KW_WAYS, s->args->groups - s->group * KW_WAYS) : 1; }
KW_INLINE kw_i64 first_k(const share *s, kw_i64 way) { return KW_OWN ? s->group * KW_LANES : (s->group * KW_IN_TURN + way) * s->k; }

#if KW_EPILOGUE
/* The sums of one k and count of c from c on, or of a vector of them. */
static void store_vector(const share *s, char *to, const char *sums, kw_i64 k, kw_i64 c, kw_i64 count) {
    float run[KW_LANES] __attribute__((aligned(KW_VECTOR))) = {0};
    count = kw_min(count, KW_LANES);
    for (kw_i64 i = 0; i < count; i++)
        run[i] = *(const kw_f32_u *)(sums + (KW_LANES_C ? k * KW_TILE_ROW + (c + i) * 4 : (c + i) * KW_TILE_ROW + k * 4));
    kw_result_lanes(to, kw_load(run), kw_place_lanes(kw_place_at(s->args, s->args->w, 0, 0), 0, count));
}
#endif

#if !KW_LANES_C && !KW_EPILOGUE && !KW_WAYS
/* What a tile has of dw: its rows are c, and those of dw k. */
typedef struct turned {
    const char *sums;          /* from the first c on */
    char *to;                  /* of lane 0, the first c */
    kw_i64 row;                /* bytes from k to k */
    kw_i64 first, last, count; /* lanes; c */
} turned;

/* Of fp32: from the register, where each would be loaded again behind a vector's store. */
#define KW_PUTS_FOURS (KW_STORAGE == 0 && KW_OUT_BYTES == 4)
#if KW_LANES == 16
#define KW_PUT_FOUR(to, v, i) __asm__("vextractf32x4 $" #i ", %1, %0" : "=m"(*(four *)(to)) : "v"(v));
#else
#define KW_PUT_FOUR(to, v, i) __asm__("vextractf128 $" #i ", %1, %0" : "=m"(*(four *)(to)) : "x"(v));
#endif

/* Vectors of four c of each fourth lane, from one on. */
KW_INLINE void store_fours(const turned *t, kw_vf v, kw_i64 lane, kw_i64 c) {
    typedef char four __attribute__((vector_size(4 * KW_OUT_BYTES), aligned(1), may_alias));
#if KW_PUTS_FOURS
    if (lane >= t->first && lane + KW_LANES - 4 < t->last && t->count >= 4) {
        char *to = t->to + lane * t->row + c * KW_OUT_BYTES;
        KW_PUT_FOUR(to, v, 0)
        KW_PUT_FOUR(to + 4 * t->row, v, 1)
#if KW_LANES == 16
        KW_PUT_FOUR(to + 8 * t->row, v, 2)
        KW_PUT_FOUR(to + 12 * t->row, v, 3)
#endif
        return;
    }
#endif
    char values[KW_LANES * KW_OUT_BYTES] __attribute__((aligned(KW_VECTOR)));
    kw_store_x(values, v);
    for (kw_i64 i = 0; i < KW_LANES; i += 4, lane += 4) {
        char *to = t->to + lane * t->row + c * KW_OUT_BYTES;
        if (lane < t->first || lane >= t->last) continue;
        if (t->count >= 4)
            *(four *)to = *(const four *)(values + i * KW_OUT_BYTES);
        else
            for (kw_i64 j = 0; j < t->count; j++)
                __builtin_memcpy(to + j * KW_OUT_BYTES, values + (i + j) * KW_OUT_BYTES, KW_OUT_BYTES);
    }
}

/* Four rows at a time: one by one the sums took as long as the products of 45 pixels. The last four are some of those before again where rows
 * are no multiple of four. */
#define KW_UNPACK(both, op, a, b) __asm__(op " %2, %1, %0" : "=v"(both) : "v"(a), "v"(b));
static __attribute__((noinline)) void store_turned(const turned *t) {
    for (kw_i64 next = 0; next < t->count; next += 4) {
        kw_i64 c = kw_max(kw_min(next, t->count - 4), 0);
        const char *last = t->sums + (t->count - 1) * KW_TILE_ROW, *row0 = t->sums + c * KW_TILE_ROW;
        const char *row1 = row0 < last ? row0 + KW_TILE_ROW : last, *row2 = row1 < last ? row1 + KW_TILE_ROW : last;
        const char *row3 = row2 < last ? row2 + KW_TILE_ROW : last;
        for (kw_i64 lane = 0; lane < KW_WIDTH; lane += KW_LANES) {
            kw_vf a = kw_load(row0 + lane * 4), b = kw_load(row1 + lane * 4), e = kw_load(row2 + lane * 4), d = kw_load(row3 + lane * 4);
            kw_vf low, high, next_low, next_high;
            KW_UNPACK(low, "vunpcklps", a, b)
            KW_UNPACK(high, "vunpckhps", a, b)
            KW_UNPACK(next_low, "vunpcklps", e, d)
            KW_UNPACK(next_high, "vunpckhps", e, d)
            KW_UNPACK(a, "vunpcklpd", low, next_low)
            KW_UNPACK(b, "vunpckhpd", low, next_low)
            KW_UNPACK(e, "vunpcklpd", high, next_high)
            KW_UNPACK(d, "vunpckhpd", high, next_high)
            store_fours(t, a, lane, c);
            store_fours(t, b, lane + 1, c);
            store_fours(t, e, lane + 2, c);
            store_fours(t, d, lane + 3, c);
        }
    }
}
#endif

#if KW_WAYS
static void store_sums(const share *s, const place *at, const char *sums) {
    kw_i64 v0 = at->v_block * KW_WIDTH, b0 = spread_from(s, at->b_block), b1 = spread_from(s, at->b_block + 1);
    kw_i64 c0 = KW_LANES_C ? v0 : b0, k0 = KW_LANES_C ? b0 : v0, c1 = kw_min(b1, s->c) - b0;
    kw_i64 k1 = kw_min(KW_LANES_C ? b1 : v0 + KW_WIDTH, s->k);
    for (kw_i64 way = 0; way < ways_of(s); way++)
        for (kw_i64 k = k0; k < k1; k++) {
            char *to = s->args->w + (((first_k(s, way) + k) * s->taps + at->tap) * s->c + c0) * 4;
            const char *row = sums + (KW_LANES_C ? (k - k0) * KW_TILE_ROW : ((k - k0) * KW_WAYS + way) * 4);
            if (KW_LANES_C) store_way(to, row, way, s->c - c0);
            for (kw_i64 c = 0; !KW_LANES_C && c < c1; c++)
                *(kw_f32_u *)(to + 4 * c) = *(const kw_f32_u *)(row + c * KW_TILE_ROW);
        }
}
#else
/* Sums of a filter row, in row order, into dw; only what is this block's own. */
static void store_row(const share *s, const place *at, kw_i64 tap, const char *sums) {
    kw_i64 taps = s->taps * KW_FILTER_ROWS;
    kw_i64 v0 = at->v_block * KW_WIDTH, v1 = v0 + KW_WIDTH, b0 = spread_from(s, at->b_block), b1 = spread_from(s, at->b_block + 1);
    kw_i64 c0 = KW_LANES_C ? v0 : b0, c1 = kw_min(KW_LANES_C ? v1 : b1, s->c), c_first = first_x(s, at);
    kw_i64 k0 = KW_LANES_C ? b0 : v0, k1 = kw_min(KW_LANES_C ? b1 : v1, s->k), k_first = first_y(s, at);
#if !KW_LANES_C && !KW_EPILOGUE
    turned t = {
        .sums = sums + (c0 - c_first) * KW_TILE_ROW, .row = taps * s->c * KW_OUT_BYTES, .first = k0 - k_first, .last = k1 - k_first};
    t.to = s->args->w + (((first_k(s, 0) + k_first) * taps + tap) * s->c + c0) * KW_OUT_BYTES;
    t.count = c1 - c0;
    store_turned(&t);
#else
    for (kw_i64 k = k0; k < k1; k++) {
        char *to = s->args->w + ((first_k(s, 0) + k) * taps + tap) * s->c * KW_OUT_BYTES;
#if KW_EPILOGUE
        for (kw_i64 c = c0; c < c1; c += KW_LANES)
            store_vector(s, to + c * KW_OUT_BYTES, sums, k - k_first, c - c_first, c1 - c);
#else
        for (kw_i64 c = c0; c < c1; c += KW_LANES) {
            kw_store_tail(to + c * KW_OUT_BYTES, kw_load(sums + (k - k_first) * KW_TILE_ROW + (c - c_first) * 4), c1 - c);
        }
#endif
    }
#endif
}

static void store_sums(const share *s, const place *at, const char *sums) {
    for (kw_i64 row = 0; row < KW_FILTER_ROWS; row++)
        store_row(s, at, at->tap * KW_FILTER_ROWS + row, sums + row * KW_TILE * KW_TILE_ROW);
}
#endif

/* The first result of the group's by a tap, from which rows of dw are so far apart. */
KW_INLINE kw_i64 row_bytes(const share *s) { return s->taps * s->c * KW_OUT_BYTES; }
KW_INLINE char *result_of_tap(const share *s, kw_i64 tap) {
    return s->args->w + s->group * s->k * row_bytes(s) + tap * s->c * KW_OUT_BYTES;
}

/* Whether the tile can write its sums into dw itself, and where. */
KW_INLINE int is_stored(const share *s, const place *at, char *of_tap, kw_weight_job *job) {
#if KW_LANES_C && KW_MATH != 3 && !KW_WAYS
    job->part = job->lanes[1] - job->lanes[0] < KW_WIDTH || job->rows[1] - job->rows[0] < KW_TILE - job->fewer;
    if (job->part && !KW_PUTS_PARTS) return 0;
    job->to_step = row_bytes(s);
    job->to = of_tap + at->b_first * job->to_step + at->v_first * KW_OUT_BYTES;
    job->narrow = KW_NARROWS;
    job->at = kw_place_at(s->args, s->args->w, 0, 0);
    return 1;
#else
    (void)s, (void)at, (void)of_tap, (void)job;
    return 0;
#endif
}

#if !KW_EPILOGUE
/* Of a tap by which all pixels read padding: zeros for so many tiles from this place on, rows of dw without tiles in between. */
static void store_zeros(const share *s, const place *at, kw_i64 tiles) {
    kw_i64 along = s->args->params.along, v1 = at->v_block + (along ? tiles : 1), b1 = at->b_block + (along ? 1 : tiles);
    kw_i64 v0 = at->v_block * KW_WIDTH, b0 = spread_from(s, at->b_block);
    v1 *= KW_WIDTH, b1 = spread_from(s, b1);
    kw_i64 c0 = KW_LANES_C ? v0 : b0, c1 = kw_min(KW_LANES_C ? v1 : b1, s->c);
    kw_i64 k0 = KW_LANES_C ? b0 : v0, k1 = kw_min(KW_LANES_C ? b1 : v1, s->k);
    for (kw_i64 way = 0; way < ways_of(s); way++) {
        for (kw_i64 k = k0; k < k1; k++) {
            for (kw_i64 row = 0; row < KW_FILTER_ROWS; row++) {
                kw_i64 tap = ((first_k(s, way) + k) * s->taps + at->tap) * KW_FILTER_ROWS + row;
                __builtin_memset(s->args->w + (tap * s->c + c0) * KW_OUT_BYTES, 0, (c1 - c0) * KW_OUT_BYTES);
            }
        }
    }
}

/* The same of so many taps, whole rows of dw: of small images under large filters most of dw is that. */
static void store_zero_taps(const share *s, kw_i64 tap, kw_i64 taps) {
    kw_i64 bytes = KW_FILTER_ROWS * s->c * KW_OUT_BYTES;
    for (kw_i64 k = 0; k < ways_of(s) * s->k; k++) {
        kw_i64 row = (first_k(s, 0) + k) * s->taps + tap;
        __builtin_memset(s->args->w + row * bytes, 0, taps * bytes);
    }
}
#endif
