/* bwd_weight_copy.h: the box of a tensor that conv.direct_bwd_weight works on, where it lies or copied in the order in which tiles read it.
 * Groups that are worked on together are copied pixel by pixel, for they share lines of memory. What is done for a pixel of a group is a few
 * instructions: with more, and not with the lines that are moved, the copies of narrow groups took twice as long. */

/* One tensor as tiles read it: element (block, n, d, h, w) is at at + block * this + sum of (position - low) * step. */
typedef struct side {
    const char *at;
    kw_i64 block, low[4], count[4], step[4];
} side;

static void set_steps(side *s, kw_i64 pixel) {
    s->step[KW_BOX_W] = pixel;
    for (int axis = KW_BOX_H; axis >= KW_BOX_N; axis--)
        s->step[axis] = s->step[axis + 1] * s->count[axis + 1];
}

static void view_tensor(side *s, const char *tensor, const kw_i64 count[4], kw_i64 channels, kw_i64 first) {
    *s = (side){.at = tensor + first * KW_BYTES};
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++)
        s->count[axis] = count[axis];
    set_steps(s, channels * KW_BYTES);
}

#if KW_APART
static void lie_apart(side *s, const kw_i64 step[5]) {
    for (int axis = KW_BOX_N; axis <= KW_BOX_W; axis++)
        s->step[axis] = step[axis] * KW_BYTES;
}
#else
#define lie_apart(s, step) ((void)0)
#endif

#define KW_COPIES (KW_COPY || KW_EDGES)
#if KW_COPIES
#define KW_MERGES_COPY (KW_MERGE && !KW_OWN)

/* Apart, because it is rare and long. */
static __attribute__((noinline)) kw_vf load_end(const char *p, kw_i64 count) { return kw_load_tail(p, count); }

/* The lanes from p on; those beyond count have no meaning. Nothing is read at or beyond end. */
KW_INLINE kw_vf load_part(const char *p, const char *end, kw_i64 count) {
    return p + KW_LANES * KW_BYTES <= end ? kw_load_x(p) : load_end(p, count);
}

/* How a box of a tensor is copied: of each group the channels of blocks block0 .. block1 - 1, each width wide. Copied pixel j of a row is column
 * low + j * step; its partner of a pair is zip columns on. A group's copy is apart bytes behind the one before. */
typedef struct copy {
    side tensor;
    const char *end;
    kw_i64 channels, width, block0, block1, step, zip, groups, apart;
#if KW_APART
    char *together; /* room for a row of x whose pixels are narrow, side by side */
#endif
} copy;

KW_INLINE kw_vf load_pixel(const copy *c, const char *row, kw_i64 col, kw_i64 channel, kw_i64 count) {
    const char *p = row + col * c->tensor.step[KW_BOX_W] + channel * KW_BYTES;
    return col >= 0 && col < c->tensor.count[KW_BOX_W] ? load_part(p, c->end, count) : (kw_vf){0};
}

/* A group's pixel at the edge of the image or of the tensor's memory. */
static __attribute__((noinline)) void copy_edge(const side *to, char *pixel, const char *row, kw_i64 col, const copy *c) {
    for (kw_i64 i = c->block0; i < c->block1; i++) {
        char *q = pixel + i * to->block;
        kw_i64 last = kw_min((i + 1) * c->width, c->channels);
        for (kw_i64 channel = i * c->width; channel < last; channel += KW_LANES, q += KW_VECTOR) {
            kw_vf v = load_pixel(c, row, col, channel, last - channel);
            if (KW_PAIRS) v = kw_zip(v, load_pixel(c, row, col + c->zip, channel, last - channel));
            kw_put(q, v);
        }
    }
}

/* So many elements, whole vectors of them. pair: bytes to the partners. */
KW_INLINE void copy_pixel(char *to, const char *from, kw_i64 pair, kw_i64 count) {
    do {
        kw_vf v = kw_load_x(from);
        if (KW_PAIRS) v = kw_zip(v, kw_load_x(from + pair));
        kw_put(to, v);
        from += KW_LANES * KW_BYTES;
        to += KW_VECTOR;
        count -= KW_LANES;
    } while (count > 0);
}

static void copy_row(const side *to, char *pixel, const char *row, const copy *c) {
    kw_i64 partner = KW_PAIRS ? c->zip : 0, block_bytes = c->width * KW_BYTES, bytes = (c->block1 - c->block0) * block_bytes;
    kw_i64 columns = c->tensor.count[KW_BOX_W] - partner, pair = partner * c->tensor.step[KW_BOX_W], next = c->channels * KW_BYTES;
    for (kw_i64 j = 0; j < to->count[KW_BOX_W]; j++, pixel += to->step[KW_BOX_W]) {
        kw_i64 col = to->low[KW_BOX_W] + j * c->step;
        const char *from = row + col * c->tensor.step[KW_BOX_W] + c->block0 * block_bytes;
        if (col < 0 || col >= columns || from + (c->groups - 1) * next + pair + bytes + KW_VECTOR > c->end) {
            for (kw_i64 g = 0; g < c->groups; g++)
                copy_edge(to, pixel + g * c->apart, row + g * next, col, c);
            continue;
        }
        char *group = pixel + c->block0 * to->block;
        for (kw_i64 g = 0; g < c->groups; g++, from += next, group += c->apart) {
            char *q = group;
            for (const char *p = from; p < from + bytes; p += block_bytes, q += to->block)
                copy_pixel(q, p, pair, c->width);
        }
    }
}

#if KW_MERGES_COPY
/* Lanes at a position of a row of so many elements; zero outside. Apart, because it is rare: element by element each row's ends took as long as
 * the rest of a row of 300. */
static __attribute__((noinline, unused)) kw_vf load_run(const char *row, kw_i64 position, kw_i64 length) {
    kw_i64 first = kw_max(-position, 0), last = kw_min(length - position, KW_LANES);
    const char *p = row + position * KW_BYTES;
    if (last <= first) return (kw_vf){0};
#if KW_MASKS && KW_STORAGE <= 2
    kw_lanes_mask lanes = kw_first_lanes(last) & ~kw_first_lanes(first);
#if KW_STORAGE == 0
    return kw_get_lanes(p, lanes);
#else
    return kw_widen(kw_get_halves(p, lanes));
#endif
#else
    char run[KW_LANES * KW_BYTES] __attribute__((aligned(KW_LANES * KW_BYTES))) = {0};
    for (kw_i64 i = first * KW_BYTES; i < last * KW_BYTES; i++)
        run[i] = p[i];
    return kw_load_x(run);
#endif
}

typedef char half_vector __attribute__((vector_size(32), aligned(1), may_alias));

/* The same of groups' channels among others: pixel by pixel, whole vectors, of which the next pixel covers what is too much. */
static __attribute__((noinline, unused)) void copy_group_runs(const side *to, char *pixel, const char *row, const copy *c) {
    kw_i64 step = c->tensor.step[KW_BOX_W], columns = c->tensor.count[KW_BOX_W], partner = KW_PAIRS ? c->zip : 0;
    kw_i64 next = c->channels * KW_BYTES, pair = partner * step, reach = pair + c->groups * next + KW_VECTOR;
    for (kw_i64 j = 0; j < to->count[KW_BOX_W]; j++, pixel += c->channels * 4) {
        kw_i64 col = to->low[KW_BOX_W] + j;
        const char *p = row + col * step;
        char *q = pixel;
        if (col >= 0 && col + partner < columns && p + reach <= c->end) {
#if KW_LANES == 16 && KW_STORAGE == 0 && !KW_PAIRS
            if (c->channels <= 8) { /* half a vector: a whole one's store crosses a line in each group */
                for (kw_i64 g = 0; g < c->groups; g++, p += next, q += c->apart)
                    *(half_vector *)q = *(const half_vector *)p;
                continue;
            }
#endif
            for (kw_i64 g = 0; g < c->groups; g++, p += next, q += c->apart)
                copy_pixel(q, p, pair, c->channels);
            continue;
        }
        for (kw_i64 g = 0; g < c->groups; g++, q += c->apart) {
            for (kw_i64 i = 0; i < c->channels; i += KW_LANES) {
                kw_vf v = load_pixel(c, row + g * next, col, i, c->channels - i);
                if (KW_PAIRS) v = kw_zip(v, load_pixel(c, row + g * next, col + partner, i, c->channels - i));
                kw_put(q + i * 4, v);
            }
        }
    }
}

/* Elements first .. of a row of so many; partner: bytes to those of a pair. */
typedef struct run {
    const char *row;
    kw_i64 first, length, partner;
} run;

/* A vector of them at an end of the row. */
static __attribute__((unused)) void copy_run_end(char *to, const run *run, kw_i64 i) {
    kw_vf v = load_run(run->row, run->first + i, run->length);
    if (KW_PAIRS) v = kw_zip(v, load_run(run->row, run->first + i + run->partner / KW_BYTES, run->length));
    kw_put(to, v);
}

/* A row of x whose taps and channels are one run. */
static __attribute__((unused)) void copy_run(const side *to, char *row, const char *from, const copy *c) {
    int together = c->channels * KW_BYTES == c->tensor.step[KW_BOX_W];
#if KW_APART
    if (!together && c->groups == 1 && c->channels * KW_BYTES <= 16) {
        kw_bring_together(c->together, from, c->tensor.step[KW_BOX_W], c->channels * KW_BYTES, c->tensor.count[KW_BOX_W], 0);
        from = c->together, together = 1;
    }
#endif
    if (!together) {
        copy_group_runs(to, row, from, c);
        return;
    }
    kw_i64 partner = KW_PAIRS ? c->zip * c->channels * KW_BYTES : 0;
    run ends = {from, to->low[KW_BOX_W] * c->channels, c->tensor.count[KW_BOX_W] * c->channels, partner};
    kw_i64 count = to->count[KW_BOX_W] * c->channels, inside = ends.length - partner / KW_BYTES - KW_LANES - ends.first, i = 0;
    for (; i < count && ends.first + i < 0; i += KW_LANES)
        copy_run_end(row + i * 4, &ends, i);
    /* With tests in it a vector took ten cycles. */
    const char *p = from + (ends.first + i) * KW_BYTES;
    for (inside = kw_min(inside, count - 1); i <= inside; i += KW_LANES, p += KW_LANES * KW_BYTES) {
        kw_vf v = kw_load_x(p);
        if (KW_PAIRS) v = kw_zip(v, kw_load_x(p + partner));
        kw_put(row + i * 4, v);
    }
    for (; i < count; i += KW_LANES)
        copy_run_end(row + i * 4, &ends, i);
}
#endif

static void copy_box(side *to, char *at, const copy *c, int merged) {
    const side *t = &c->tensor;
    set_steps(to, (KW_MERGES_COPY && merged ? c->channels : c->width) * 4);
    to->at = at;
    to->block = KW_MERGES_COPY && merged ? c->width * 4 : to->count[KW_BOX_N] * to->step[KW_BOX_N] + KW_VECTOR;
    for (kw_i64 n = 0; n < to->count[KW_BOX_N]; n++) {
        for (kw_i64 d = 0; d < to->count[KW_BOX_D]; d++) {
            for (kw_i64 h = 0; h < to->count[KW_BOX_H]; h++) {
                char *row = at + n * to->step[KW_BOX_N] + d * to->step[KW_BOX_D] + h * to->step[KW_BOX_H];
                const char *from = t->at + (to->low[KW_BOX_N] + n) * t->step[KW_BOX_N] + (to->low[KW_BOX_D] + d) * t->step[KW_BOX_D] +
                                   (to->low[KW_BOX_H] + h) * t->step[KW_BOX_H];
                kw_i64 position __attribute__((unused)) = to->low[KW_BOX_H] + h;
#if KW_MERGES_COPY
                if (KW_PADDED_ROWS && merged && (position < 0 || position >= t->count[KW_BOX_H])) {
                    for (kw_i64 g = 0; g < c->groups; g++)
                        __builtin_memset(row + g * c->apart, 0, to->step[KW_BOX_H]);
                    continue;
                }
                if (merged) {
                    copy_run(to, row, from, c);
                    continue;
                }
#endif
                copy_row(to, row, from, c);
            }
        }
    }
}
#endif

#if KW_OWN
/* Row by row; a pixel's channels, each a vector, lie side by side, and so do the pixels. */
static void copy_own(side *to, char *at, const copy *c, const kw_own *own) {
    const side *t = &c->tensor;
    kw_i64 columns = t->count[KW_BOX_W], pixel = t->step[KW_BOX_W];
    set_steps(to, c->channels * KW_VECTOR);
    to->at = at;
    to->block = KW_TILE * KW_VECTOR;
    for (kw_i64 i = 0; i < to->count[KW_BOX_N] * to->count[KW_BOX_D] * to->count[KW_BOX_H]; i++) {
        kw_i64 h = i % to->count[KW_BOX_H], d = i / to->count[KW_BOX_H] % to->count[KW_BOX_D];
        kw_i64 n = i / to->count[KW_BOX_H] / to->count[KW_BOX_D];
        const char *row = t->at + (to->low[KW_BOX_N] + n) * t->step[KW_BOX_N] + (to->low[KW_BOX_D] + d) * t->step[KW_BOX_D] +
                          (to->low[KW_BOX_H] + h) * t->step[KW_BOX_H];
        for (kw_i64 j = 0; j < to->count[KW_BOX_W]; j++, at += to->step[KW_BOX_W]) {
            kw_i64 col = to->low[KW_BOX_W] + j * c->step, partner = col + c->zip;
            const char *second = KW_PAIRS && partner >= 0 && partner < columns ? row + partner * pixel : 0;
            if (col >= 0 && col < columns) {
                kw_own_copy(at, own, row + col * pixel, second, c->channels, KW_OWN_VALUES, c->end);
                continue;
            }
            for (kw_i64 b = 0; b < c->channels * KW_VECTOR; b += KW_VECTOR)
                kw_put(at + b, (kw_vf){0});
            if (second) {
                kw_own_copy(at, own, second, 0, c->channels, KW_OWN_VALUES, c->end);
                for (kw_i64 b = 0; b < c->channels * KW_VECTOR; b += KW_VECTOR)
                    kw_put(at + b, (kw_vf)((kw_vu)kw_load(at + b) << 16));
            }
        }
    }
}
#endif

#if KW_MATH == 3
/* y, chunk by chunk of a row: each channel's pixels side by side, the channels so many bytes apart; what is behind the box's is zero. A step is
 * a chunk. */
static void copy_turned(const kw_kernel_args *a, side *to, char *at, const copy *c, kw_i64 pixels) {
    const side *t = &c->tensor;
    kw_i64 pitch = KW_BWD_WEIGHT_PITCH(a->params.chunk), chunk = 2 * a->params.chunk, chunks = to->count[KW_BOX_W];
    set_steps(to, c->width * pitch);
    to->at = at;
    to->block = to->count[KW_BOX_N] * to->step[KW_BOX_N] + KW_VECTOR;
    kw_i64 rows = to->count[KW_BOX_N] * to->count[KW_BOX_D] * to->count[KW_BOX_H];
    for (kw_i64 i = 0; i < rows; i++) {
        kw_i64 h = i % to->count[KW_BOX_H], d = i / to->count[KW_BOX_H] % to->count[KW_BOX_D];
        kw_i64 n = i / to->count[KW_BOX_H] / to->count[KW_BOX_D];
        const char *from = t->at + (to->low[KW_BOX_N] + n) * t->step[KW_BOX_N] + (to->low[KW_BOX_D] + d) * t->step[KW_BOX_D] +
                           (to->low[KW_BOX_H] + h) * t->step[KW_BOX_H] + to->low[KW_BOX_W] * t->step[KW_BOX_W];
        for (kw_i64 block = c->block0; block < c->block1; block++) {
            kw_i64 first = block * c->width, channels = kw_min(c->width, c->channels - first);
            char *line = at + block * to->block + i * to->step[KW_BOX_H];
            for (kw_i64 j = 0; j < chunks; j++, line += to->step[KW_BOX_W]) {
                kw_i64 count = kw_min(chunk, pixels - j * chunk);
                if (count < chunk) __builtin_memset(line, 0, channels * pitch);
                kw_transpose(a, line, pitch, from + first * KW_BYTES + j * chunk * t->step[KW_BOX_W], t->step[KW_BOX_W], count, channels);
            }
        }
    }
}
#endif
