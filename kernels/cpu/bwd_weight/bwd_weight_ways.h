/* bwd_weight_ways.h: bwd_weight.c where what is said of a group is done for KW_WAYS groups that lie side by side, in turn. A copied element has
 * their values side by side, so that one load spreads those of one tensor over a vector, whose lane i is of way i % KW_WAYS. Groups of few channels fill
 * vectors so that they would leave half idle: 20 channels are 62 % of two vectors, by four ways all of five; and of 11, where one vector has a
 * load for each product, three have one for two. */

/* Values of ways that do not exist. */
static const char no_values[4 * KW_BWD_WEIGHT_WAY_CHANNELS];

/* Of a pixel, a share of which not all ways exist. Apart, because it is rare. */
static __attribute__((noinline)) void copy_some_ways(char *to, const char *from, kw_i64 channels, kw_i64 ways) {
    const char *way_from[KW_WAYS];
    for (kw_i64 way = 0; way < KW_WAYS; way++)
        way_from[way] = way < ways ? from + way * channels * 4 : no_values;
    interleave(to, way_from, channels);
}

/* The pixels of a row of the box, of all shares one after the other. ways: that exist of all. */
static void copy_row_of_ways(const side *to, char *pixel, const char *row, const copy *c, kw_i64 ways) {
    kw_i64 step = to->step[KW_BOX_W], pitch = c->tensor.step[KW_BOX_W], low = to->low[KW_BOX_W], end = low + to->count[KW_BOX_W];
    kw_i64 first = kw_min(kw_max(low, 0), end), last = kw_max(kw_min(end, c->tensor.count[KW_BOX_W]), first);
    kw_i64 channels = c->channels, whole = kw_min(c->groups, ways / KW_WAYS);
    for (kw_i64 g = 0; g < c->groups; g++) {
        if (low < first) __builtin_memset(pixel + g * c->apart, 0, (first - low) * step);
        if (last < end) __builtin_memset(pixel + g * c->apart + (last - low) * step, 0, (end - last) * step);
    }
    pixel += (first - low) * step, row += first * pitch;
#if KW_MASKS
    int is_narrow = KW_WAYS * channels <= 2 * KW_LANES;
    narrow n = narrow_of(channels);
#endif
    for (; first < last; first++, pixel += step, row += pitch) {
        char *q = pixel;
        const char *p = row;
        for (kw_i64 g = 0; g < whole; g++, q += c->apart, p += KW_WAYS * channels * 4) {
#if KW_MASKS
            if (is_narrow) {
                interleave_narrow(q, p, &n);
                continue;
            }
#endif
            interleave_apart(q, p, channels * 4, channels);
        }
        if (whole < c->groups) copy_some_ways(q, p, channels, ways - whole * KW_WAYS);
    }
}

/* The box of a tensor. ways: that exist of the shares that are copied; width: elements of a copied pixel. */
static void copy_ways(side *to, char *at, const copy *c, kw_i64 ways, kw_i64 width) {
    const side *t = &c->tensor;
    set_steps(to, width * KW_ELEMENT);
    to->at = at;
    to->block = c->width * KW_ELEMENT;
    for (kw_i64 n = 0; n < to->count[KW_BOX_N]; n++) {
        for (kw_i64 d = 0; d < to->count[KW_BOX_D]; d++) {
            for (kw_i64 h = 0; h < to->count[KW_BOX_H]; h++, at += to->step[KW_BOX_H])
                copy_row_of_ways(to, at,
                                 t->at + (to->low[KW_BOX_N] + n) * t->step[KW_BOX_N] + (to->low[KW_BOX_D] + d) * t->step[KW_BOX_D] +
                                     (to->low[KW_BOX_H] + h) * t->step[KW_BOX_H],
                                 c, ways);
        }
    }
}

/* Of a row of a tile's sums, those of one way, so many at most. */
static __attribute__((unused)) void store_way(char *to, const char *sums, kw_i64 way, kw_i64 channels) {
    kw_vi lanes = lanes_of_way(way);
    for (kw_i64 v = 0; v < KW_VECS && channels > 0; v += 2, channels -= 2 * WAY_LANES)
        kw_store_tail(to + 4 * v * WAY_LANES, values_of_way(sums, v, KW_VECS, lanes),
                      kw_min(channels, (v + 1 < KW_VECS ? 2 : 1) * WAY_LANES));
}
