/* grouped_result.h: how kw_tile() of grouped.c writes its results. With an epilogue (prelude/epilogue_cpu.h) a pixel outside the image has
 * no place, and is left out; and the last vector of channels, which overlaps its neighbour, writes its own channels only: a step's tensor
 * may be the result itself, and a channel that is written twice would go through the steps twice. */
#ifdef KW_ROW_PAIRS
#define KW_PARTS_OF_SUM 2 /* vectors */
#else
#define KW_PARTS_OF_SUM 1
#endif

#if KW_EPILOGUE
#define KW_AND_CHANNELS(at) , at /* an argument more */

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
        .place = kw_place_at(a, kw_result(a), 0, 0), .bytes = a->n * to[0] * to[1] * to[2] * total * KW_OUT_BYTES, .total = total};
}

KW_INLINE const kw_channels *kw_channels_set(kw_channels *at, kw_i64 vector, kw_i64 channel) {
    at->place.channel = channel;
    at->first = vector * KW_CHANNELS - channel;
    at->end = kw_min(KW_CHANNELS, at->total - channel);
    return at;
}

/* A sum as the vectors of its channels in order. Those of pairs of filter rows lie in quarters of 128 bits, of low and high in turn. */
#ifdef KW_ROW_PAIRS
typedef kw_i64 kw_quarters __attribute__((vector_size(4 * KW_LANES)));
#define KW_PART_OF_SUM(a, part)                                                                                                            \
    ((part) ? (kw_vf)__builtin_shufflevector((kw_quarters)a##l, (kw_quarters)a##h, 4, 5, 12, 13, 6, 7, 14, 15)                             \
            : (kw_vf)__builtin_shufflevector((kw_quarters)a##l, (kw_quarters)a##h, 0, 1, 8, 9, 2, 3, 10, 11))
#else
#define KW_PART_OF_SUM(a, part) a
#endif
#define KW_SPILL_SUM(a, i)                                                                                                                 \
    for (int part = 0; part < KW_PARTS_OF_SUM; part++)                                                                                     \
        sums[KW_PARTS_OF_SUM * (i) + part] = KW_PART_OF_SUM(a, part);
/* Of a vector that is whole and a tile whose pixels all exist. */
#define KW_RESULT_SUM(a, i)                                                                                                                \
    for (int part = 0; part < KW_PARTS_OF_SUM; part++) {                                                                                   \
        char *p = dst + to[i] + part * KW_LANES * KW_OUT_BYTES;                                                                            \
        kw_result_held(&tables, &held[part], p, KW_PART_OF_SUM(a, part), kw_place_of_part(at, p, part));                                   \
    }

/* Where a vector of a pixel's is written. A pixel's number is made only where a step asks for it. */
KW_INLINE kw_place kw_place_of_part(const kw_channels *at, const char *p, kw_i64 part) {
    kw_place place = kw_place_lanes(at->place, at->first - part * KW_LANES, at->end - part * KW_LANES);
    place.channel += part * KW_LANES;
    place.row = kw_place_element(place, p) / at->total;
    return place;
}

#if KW_PARTS_OF_SUM == 2
#define KW_HOLD_PARTS                                                                                                                      \
    { kw_held_of(at->place), kw_held_of(kw_place_moved(at->place, KW_LANES, 0, 0)) }
#else
#define KW_HOLD_PARTS                                                                                                                      \
    { kw_held_of(at->place) }
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
            kw_result_held_lanes(&tables, &held, p + part * KW_LANES * KW_OUT_BYTES, sums[KW_PARTS_OF_SUM * i + part],
                                 kw_place_of_part(at, p, part));
        }
    }
}

/* All pixels of a tile. */
KW_INLINE void kw_write_sums(const kw_vf *sums, char *dst, const kw_i64 *to, const kw_channels *at) {
    if (kw_writes_all(at)) {
        kw_tables tables = kw_tables_of();
        kw_held held[] = KW_HOLD_PARTS;
        for (kw_i64 i = 0; i < KW_PIXELS; i++) {
            char *p = dst + to[i];
            if (!at->inside && !kw_pixel_exists(at, p)) continue;
            for (int part = 0; part < KW_PARTS_OF_SUM; part++, p += KW_LANES * KW_OUT_BYTES)
                kw_result_held(&tables, &held[part], p, sums[KW_PARTS_OF_SUM * i + part], kw_place_of_part(at, p, part));
        }
        return;
    }
    kw_write_some_sums(sums, dst, to, at);
}

#else

#define KW_AND_CHANNELS(at)

#endif
