/* planes_taps.h: the panels of planes.h for filters of several taps over few channels (family conv.direct_1st). A panel's depth is channels by taps, as the
 * filters lie. What a row of results reads is copied beside the panels first: for each channel and each of a tap's planes and rows a row of the
 * source with its padding, every stride-th pixel in a run of its own, so that a panel is filled by whole vectors without a test. */

/* Bytes of a run, of a row of the source; where the rows are that a row of results reads. */
typedef struct tap_rows {
    kw_i64 run, row;
    char *memory;
    kw_i64 *place; /* of each element of the depth, from a pixel's first one */
    kw_i64 *edge;  /* of each run the first place that is no padding, and the first behind it that is */
} tap_rows;

static tap_rows tap_rows_of(const kw_kernel_args *a, char *memory) {
    tap_rows t = {.place = (kw_i64 *)memory};
    kw_i64 taps = a->filter[0] * a->filter[1] * a->filter[2], stride = a->stride[2], pad = a->pad[2];
    t.edge = (kw_i64 *)(memory + KW_PLANE_PLACES(a->c * taps));
    t.memory = (char *)t.edge + KW_PLANE_PLACES(2 * stride);
    t.run = KW_PLANE_RUN_OF(a->out[2], (a->filter[2] - 1) * a->dilation[2] / a->stride[2], KW_BYTES);
    t.row = t.run * a->stride[2];
    for (kw_i64 e = 0; e < a->c * taps; e++) {
        kw_i64 column = e % a->filter[2] * a->dilation[2];
        t.place[e] = e / a->filter[2] * t.row + column % a->stride[2] * t.run + column / a->stride[2] * KW_BYTES;
    }
    for (kw_i64 phase = 0, places = t.run / KW_BYTES; phase < stride; phase++) {
        kw_i64 low = kw_min(places, pad > phase ? (pad - phase + stride - 1) / stride : 0);
        t.edge[2 * phase] = low;
        t.edge[2 * phase + 1] = kw_min(places, kw_max(low, (a->in[2] + pad - phase + stride - 1) / stride));
    }
    return t;
}

#if KW_LANES == 16
#define KW_EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#else
#define KW_EVENS(a, b) __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14)
#endif

#if KW_BYTES == 2 && KW_LANES == 16
typedef kw_u16 tap_halves __attribute__((vector_size(64)));
typedef kw_u16 tap_halves_u __attribute__((vector_size(64), aligned(1), may_alias));
KW_INLINE tap_halves take_halves(const char *p) { return *(const tap_halves_u *)p; }
#define KW_EVEN_HALVES(a, b)                                                                                                               \
    __builtin_shufflevector(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32, 34, 36, 38, 40, 42, 44, 46, 48, 50, 52,   \
                            54, 56, 58, 60, 62)
#endif

/* Every stride-th of so many pixels. Vectors may end behind the last, in both, but read nothing from end on. Gives how many it took. */
KW_INLINE kw_i64 take_each(char *to, const char *from, kw_i64 count, kw_i64 stride, const char *end) {
    kw_i64 j = 0;
#if KW_STORAGE == 0
    for (; j < count && from + (j + KW_LANES) * stride * 4 <= end; j += KW_LANES) {
        const char *p = from + j * stride * 4;
        kw_vf v = kw_load(p);
        if (stride > 1) v = KW_EVENS(v, kw_load(p + KW_VECTOR));
        if (stride > 2) {
            kw_vf next = KW_EVENS(kw_load(p + 2 * KW_VECTOR), kw_load(p + 3 * KW_VECTOR));
            v = KW_EVENS(v, next);
        }
        kw_put(to + j * 4, v);
    }
#elif KW_BYTES == 2
#if KW_LANES == 16
    for (; j < count && from + (j + 32) * stride * 2 <= end; j += 32) {
        const char *p = from + j * stride * 2;
        tap_halves v = take_halves(p);
        if (stride > 1) v = KW_EVEN_HALVES(v, take_halves(p + 64));
        if (stride > 2) {
            tap_halves next = KW_EVEN_HALVES(take_halves(p + 128), take_halves(p + 192));
            v = KW_EVEN_HALVES(v, next);
        }
        kw_put(to + j * 2, (kw_vf)v);
    }
#endif
    for (; j < count && from + (j + KW_LANES) * stride * 2 <= end; j += KW_LANES) {
        const char *p = from + j * stride * 2;
        kw_vu v = (kw_vu)kw_load(p);
        if (stride == 1) {
            *(kw_vh_u *)(to + j * 2) = *(const kw_vh_u *)p;
            continue;
        }
        if (stride > 2) v = KW_EVENS(v, (kw_vu)kw_load(p + KW_VECTOR));
        *(kw_vh_u *)(to + j * 2) = __builtin_convertvector(v & 0xffffu, kw_vh);
    }
#endif
    (void)to, (void)from, (void)count, (void)stride, (void)end;
    return j;
}

static void copy_tap_row(char *to, const kw_kernel_args *a, const tap_rows *t, const char *from, const char *end) {
    kw_i64 stride = a->stride[2], pad = a->pad[2], places = t->run / KW_BYTES;
    if (!from) {
        kw_zero(to, stride * t->run);
        return;
    }
    for (kw_i64 phase = 0; phase < stride; phase++, to += t->run) {
        kw_i64 low = t->edge[2 * phase], high = t->edge[2 * phase + 1], j = 0;
        const char *p = from + (low * stride + phase - pad) * KW_BYTES;
        kw_zero(to, low * KW_BYTES);
        char *at = to + low * KW_BYTES;
        if (stride == 1) j = take_each(at, p, high - low, 1, end);
        if (stride == 2) j = take_each(at, p, high - low, 2, end);
        if (stride == 4) j = take_each(at, p, high - low, 4, end);
        for (; j < high - low; j++)
            __builtin_memcpy(at + j * KW_BYTES, p + j * stride * KW_BYTES, KW_BYTES);
        kw_zero(to + high * KW_BYTES, (places - high) * KW_BYTES);
    }
}

/* Row number of all images' results: what it reads. */
static void copy_tap_rows(const kw_kernel_args *a, const plane_product *p, const plane_chunk *chunk, const tap_rows *t, kw_i64 number) {
    char *to = t->memory;
    kw_i64 h = number % a->out[1] * a->stride[1] - a->pad[1], rest = number / a->out[1];
    kw_i64 d = rest % a->out[0] * a->stride[0] - a->pad[0];
    const char *image = chunk->from + rest / a->out[0] * chunk->image;
    for (kw_i64 c = 0; c < a->c; c++, image += p->from_plane * KW_BYTES) {
        for (kw_i64 z = 0; z < a->filter[0]; z++) {
            for (kw_i64 r = 0; r < a->filter[1]; r++, to += t->row) {
                kw_i64 plane = d + z * a->dilation[0], row = h + r * a->dilation[1];
                int inside = plane >= 0 && plane < a->in[0] && row >= 0 && row < a->in[1];
                copy_tap_row(to, a, t, inside ? image + (plane * a->in[1] + row) * a->in[2] * KW_BYTES : 0, p->end);
            }
        }
    }
}

/* What is left of a panel's words to the end of a row; behind it is the next row's place, or the next step's. */
KW_INLINE void put_some(char *to, kw_vf v, kw_i64 count) {
    if (count >= KW_LANES) {
        kw_put(to, v);
        return;
    }
#if KW_MASKS
    kw_put_lanes(to, v, kw_first_lanes(count));
#else
    __builtin_memcpy(to, &v, (unsigned)count * 4);
#endif
}

/* Pixels of an element of the depth, of two, to their place in a panel. */
KW_INLINE void put_pixels(char *to, const char *low, const char *high, kw_i64 count) {
    kw_i64 j = 0;
#if KW_DP && KW_LANES == 16
    for (; j + 16 < count; j += 32) {
        kw_pixel_halves l = *(const kw_pixel_halves_u *)(low + j * 2), h = {0};
        if (high) h = *(const kw_pixel_halves_u *)(high + j * 2);
        kw_put(to + j * 4, KW_ZIPPED(l, h, 0));
        put_some(to + j * 4 + 64, KW_ZIPPED(l, h, 16), count - j - 16);
    }
#endif
    for (; j < count; j += KW_LANES) {
#if KW_DP
        kw_vf v = high ? kw_zip_pixels(low + j * 2, high + j * 2) : (kw_vf)kw_words_of_halves(*(const kw_vh_u *)(low + j * 2));
#else
        kw_vf v = kw_load_x(low + j * KW_BYTES);
        (void)high;
#endif
        put_some(to + j * 4, v, count - j);
    }
}

static void open_taps(const kw_kernel_args *a, const plane_product *p, const plane_chunk *chunk, kw_i64 block, char *copies,
                      const tap_rows *t) {
    kw_i64 column = block * KW_BLOCK, end = kw_min(column + chunk->panels * KW_BLOCK, p->columns), held = -1;
    for (kw_i64 count; column < end; column += count) {
        kw_i64 row = column / a->out[2], at = column % a->out[2], in_panel = column % KW_BLOCK;
        count = kw_min(kw_min(end - column, a->out[2] - at), KW_BLOCK - in_panel);
        if (row != held) copy_tap_rows(a, p, chunk, t, row);
        held = row;
        const char *from = t->memory + at * KW_BYTES;
        char *to = copies + (column / KW_BLOCK - block) * KW_PLANE_PANEL_BYTES(p->steps, KW_BLOCK) + in_panel * 4;
        for (kw_i64 e = 0; e < p->depth; e += KW_PAIR, to += KW_STEP_BYTES)
            put_pixels(to, from + t->place[e], KW_DP && e + 1 < p->depth ? from + t->place[e + 1] : 0, count);
    }
}
