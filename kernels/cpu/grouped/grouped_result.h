/* grouped_result.h: how kw_tile() of grouped.c writes its results. With an epilogue (prelude/epilogue_cpu.h) a pixel outside the image has
 * no place, and is left out; and the last vector of channels, which overlaps its neighbour, writes its own channels only: a step's tensor
 * may be the result itself, and a channel that is written twice would go through the steps twice. */
#ifdef KW_ROW_PAIRS
#define KW_PARTS_OF_SUM 2 /* vectors */
/* A loop over sums in memory takes a twentieth of a layer's time more here, as products are so few. */
#define KW_RESULTS_IN_LINE (!KW_EPILOGUE_LONG || KW_PIXELS <= 8)
#else
#define KW_PARTS_OF_SUM 1
#define KW_RESULTS_IN_LINE !KW_EPILOGUE_LONG
#endif

#if KW_EPILOGUE
#define KW_AND_CHANNELS(at) , at /* an argument more */
#if KW_APART
#define KW_RESULT_ELEMENTS(a, to, total) kw_apart_span(KW_BACKWARD ? (a)->x_step : (a)->y_step, (a)->n, to, total)
#else
#define KW_RESULT_ELEMENTS(a, to, total) (a)->n *to[0] * to[1] * to[2] * total
#endif

/* Which channels the vectors of a sum hold, and which of them it writes. */
typedef struct kw_channels {
    kw_place place;
    kw_i64 first, end;   /* lanes of those written, of KW_CHANNELS */
    kw_i64 bytes, total; /* of the result: its size, its channels */
    int inside;          /* whether all pixels of the tile exist */
} kw_channels;

/* Of no vector yet. */
KW_INLINE kw_channels kw_channels_of(const kw_kernel_args *a) {
    const kw_i64 *to = KW_BACKWARD ? a->in : a->out;
    kw_i64 total = a->groups * kw_dst_group(a);
    return (kw_channels){
        .place = kw_place_at(a, kw_result(a), 0, 0), .bytes = KW_RESULT_ELEMENTS(a, to, total) * KW_OUT_BYTES, .total = total};
}

KW_INLINE const kw_channels *kw_channels_set(kw_channels *at, kw_i64 vector, kw_i64 channel) {
    at->place.channel = channel;
    at->first = vector * KW_CHANNELS - channel;
    at->end = kw_min(KW_CHANNELS, at->total - channel);
    return at;
}

/* A sum as the vectors of its channels in order. Those of pairs of filter rows lie in quarters of 128 bits, of low and high in turn. */
#ifdef KW_ROW_PAIRS
KW_INLINE kw_vf kw_in_order(kw_vf low, kw_vf high, int part) {
    return part ? KW_QUARTERS_IN_TURN((kw_quarters)low, (kw_quarters)high, 4) : KW_QUARTERS_IN_TURN((kw_quarters)low, (kw_quarters)high, 0);
}
#define KW_SPILL_SUM(a, i) sums[2 * (i)] = a##l, sums[2 * (i) + 1] = a##h;
#define KW_SPILLED(sums, i, part) kw_in_order((sums)[2 * (i)], (sums)[2 * (i) + 1], part)
#define KW_RESULT_SUM(a, i) kw_result_pairs(&tables, held, dst + to[i], a##l, a##h, at);
#define KW_RESULT_SPILLED(i, p) kw_result_pairs(&tables, held, p, sums[2 * (i)], sums[2 * (i) + 1], at)
#else
#define KW_SPILL_SUM(a, i) sums[i] = a;
#define KW_SPILLED(sums, i, part) (sums)[i]
#define KW_RESULT_SUM(a, i) kw_result_held(&tables, held, dst + to[i], a, kw_place_of_part(at, dst + to[i], 0));
#define KW_RESULT_SPILLED(i, p) kw_result_held(&tables, held, p, sums[i], kw_place_of_part(at, p, 0))
#endif

#if KW_APART
/* The number of a pixel in its tensor of so many pixels: distances grow from columns to images (rule nested). */
KW_INLINE kw_i64 kw_pixel_number(const kw_kernel_args *a, kw_i64 element) {
    const kw_i64 *to = KW_BACKWARD ? a->in : a->out, *step = KW_BACKWARD ? a->x_step : a->y_step;
    kw_i64 extent[4] = {a->n, to[0], to[1], to[2]}, number = 0;
    for (int axis = KW_TO_IMAGE; axis <= KW_TO_COLUMN; axis++) {
        kw_i64 at = extent[axis] > 1 ? element / step[axis] : 0;
        element -= at * step[axis];
        number = number * extent[axis] + at;
    }
    return number;
}
#endif

/* Where a vector of a pixel's is written. A pixel's number is made only where a step asks for it. */
KW_INLINE kw_place kw_place_of_part(const kw_channels *at, const char *p, kw_i64 part) {
    kw_place place = kw_place_lanes(at->place, at->first - part * KW_LANES, at->end - part * KW_LANES);
    place.channel += part * KW_LANES;
#if KW_APART
    place.row = kw_pixel_number(place.args, kw_place_element(place, p));
#else
    place.row = kw_place_element(place, p) / at->total;
#endif
    return place;
}

#if KW_PARTS_OF_SUM == 2
/* Steps ask for no order of lanes, so low and high go through them as they are, and what they read comes in their order: what is held once a
 * tile, of tensors like the result bf16 by the unpack that makes pairs. So the order is made by what stores them as two vectors side by side. */
KW_INLINE kw_vf kw_in_quarters(kw_vf first, kw_vf second, int part) {
    return part ? KW_QUARTERS_APART((kw_quarters)first, (kw_quarters)second, 2)
                : KW_QUARTERS_APART((kw_quarters)first, (kw_quarters)second, 0);
}
#define KW_ALL_LANES ((kw_lanes){0, KW_LANES})
#define KW_QUARTERS_OF(type)                                                                                                               \
    KW_INLINE kw_vf kw_quarters_##type(const char *p, int part) {                                                                          \
        return kw_in_quarters(kw_lanes_##type(p, 0, KW_ALL_LANES), kw_lanes_##type(p, KW_LANES, KW_ALL_LANES), part);                      \
    }
KW_QUARTERS_OF(fp32)
KW_QUARTERS_OF(int32)
KW_QUARTERS_OF(fp16)
KW_QUARTERS_OF(int8)
KW_QUARTERS_OF(uint8)
KW_INLINE kw_vf kw_quarters_bf16(const char *p, int part) {
    kw_vf pairs = kw_load(p);
    return part ? kw_pair_high((kw_vf){0}, pairs) : kw_pair_low((kw_vf){0}, pairs);
}

#define KW_QUARTERS_ELEMENTS(type, number)                                                                                                 \
    kw_quarters_##type(KW_BYTES_OF_##type == KW_OUT_BYTES ? p + held->from_result[number]                                                  \
                                                          : held->tensor[number] + KW_BYTES_OF_##type * kw_place_element(at, p),           \
                       part)
KW_INLINE kw_vf kw_result_of_part(const kw_tables *tables, const kw_held *held, const char *p, kw_vf v, int part, kw_place at) {
    (void)tables, (void)held, (void)p, (void)part;
    KW_TILE_STEPS(v, KW_STEP_FUNCTION, KW_HELD_VECTOR, KW_CHANNEL_AND_ROW(KW_HELD_VECTOR, KW_HELD_ROW), KW_QUARTERS_ELEMENTS)
    return v;
}
/* Two whole vectors of a pixel that exists. */
KW_INLINE void kw_result_pairs(const kw_tables *tables, const kw_held *held, char *p, kw_vf low, kw_vf high, const kw_channels *at) {
    kw_place place = kw_place_of_part(at, p, 0);
    low = kw_result_of_part(tables, &held[0], p, low, 0, place);
    high = kw_result_of_part(tables, &held[1], p, high, 1, place);
#if KW_OUT == 1
    kw_store_pairs(p, low, high);
#elif KW_OUT == 5 && KW_LANES == 16
    kw_vi halves, l = kw_whole_out(low), h = kw_whole_out(high);
    __asm__("vpackssdw %2, %1, %0" : "=v"(halves) : "v"(l), "v"(h));
    __asm__("vpmovswb %1, %0" : "=m"(*(kw_vh_u *)p) : "v"(halves));
#else
    kw_put_rounded(p, kw_round_out(kw_in_order(low, high, 0)), KW_ALL_LANES);
    kw_put_rounded(p + KW_LANES * KW_OUT_BYTES, kw_round_out(kw_in_order(low, high, 1)), KW_ALL_LANES);
#endif
}
KW_INLINE float kw_quarter_held(kw_held held[2], int i) {
    kw_vf first = held[0].vector[i], second = held[1].vector[i];
    held[0].vector[i] = kw_in_quarters(first, second, 0), held[1].vector[i] = kw_in_quarters(first, second, 1);
    return 0;
}
#define KW_QUARTER_CHANNELS(type, number) kw_quarter_held(held, number)
KW_INLINE void kw_quarter_channels(kw_held held[2]) {
    float v = 0;
    KW_TILE_STEPS(v, KW_AHEAD_FUNCTION, KW_AHEAD_NOTHING, KW_CHANNEL_AND_ROW(KW_QUARTER_CHANNELS, KW_AHEAD_NOTHING), KW_AHEAD_NOTHING)
    (void)v;
}
#define KW_HOLD_PARTS(held)                                                                                                                \
    kw_held held[] = {kw_held_of(at->place), kw_held_of(kw_place_moved(at->place, KW_LANES, 0, 0))};                                       \
    kw_quarter_channels(held);
#else
#define KW_HOLD_PARTS(held) kw_held held[] = {kw_held_of(at->place)};
#endif

KW_INLINE int kw_pixel_exists(const kw_channels *at, const char *p) { return (kw_u64)(p - at->place.result) < (kw_u64)at->bytes; }

KW_INLINE int kw_writes_all(const kw_channels *at) { return at->first == 0 && at->end == KW_CHANNELS; }

/* The channels of a tile that fill no vector. A function of its own, so that the loop over whole vectors has all registers. */
static __attribute__((noinline, unused)) void kw_write_some_sums(const kw_vf *sums, char *dst, const kw_i64 *to, const kw_channels *at) {
    for (kw_i64 part = 0; part < KW_PARTS_OF_SUM; part++) {
        kw_place place = kw_place_of_part(at, dst, part);
        if (place.lanes.first >= place.lanes.end) continue;
        kw_tables tables = kw_tables_of();
        kw_held held = kw_held_of_lanes(place);
        for (kw_i64 i = 0; i < KW_PIXELS; i++) {
            char *p = dst + to[i];
            if (!kw_pixel_exists(at, p)) continue;
            kw_result_held_lanes(&tables, &held, p + part * KW_LANES * KW_OUT_BYTES, KW_SPILLED(sums, i, part),
                                 kw_place_of_part(at, p, part));
        }
    }
}

/* All pixels of a tile. */
KW_INLINE void kw_write_sums(const kw_vf *sums, char *dst, const kw_i64 *to, const kw_channels *at) {
    if (kw_writes_all(at)) {
        kw_tables tables = kw_tables_of();
        KW_HOLD_PARTS(held)
        for (kw_i64 i = 0; i < KW_PIXELS; i++) {
            char *p = dst + to[i];
            if (at->inside || kw_pixel_exists(at, p)) KW_RESULT_SPILLED(i, p);
        }
        return;
    }
    kw_write_some_sums(sums, dst, to, at);
}

#else

#define KW_AND_CHANNELS(at)

#endif
