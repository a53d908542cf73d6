/* interleave.h: values of KW_WAYS ways, which lie apart and become the lanes of vectors in turn, lane i of way i % KW_WAYS, and back. */
#include "cpu/lib/permute.h"

enum { WAY_LANES = KW_LANES / KW_WAYS }; /* lanes of a way in a vector */

typedef float kw_quarter_f __attribute__((vector_size(16)));
typedef float kw_quarter_f_u __attribute__((vector_size(16), aligned(1), may_alias));
KW_INLINE kw_quarter_f quarter(const char *p) { return *(const kw_quarter_f_u *)p; }
KW_INLINE void put_quarter(char *p, kw_quarter_f v) { *(kw_quarter_f_u *)p = v; }

#if KW_LANES == 16
static const kw_vi lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#else
static const kw_vi lane_numbers = {0, 1, 2, 3, 4, 5, 6, 7};
#endif
/* The ways' values over and over. */
KW_INLINE kw_vf kw_spread_ways(const char *p) {
    kw_vf v;
#if KW_WAYS == 2
    __asm__("vbroadcastsd %1, %0" : "=v"(v) : "m"(*(const char(*)[8])p));
#elif KW_LANES == 16
    __asm__("vbroadcastf32x4 %1, %0" : "=v"(v) : "m"(*(const char(*)[16])p));
#else
    __asm__("vbroadcastf128 %1, %0" : "=x"(v) : "m"(*(const char(*)[16])p));
#endif
    return v;
}

/* Of each lane of values in turn: where its value is, of ways that are so far apart. */
KW_INLINE kw_vi in_turn(kw_vi lane, kw_i64 apart) { return (lane & (KW_WAYS - 1)) * (int)apart + (lane >> KW_WAYS / 2); }

/* Four values of each way from byte i on, in turn. */
KW_INLINE void interleave_four(char *to, const char *const *from, kw_i64 i) {
    kw_quarter_f a = quarter(from[0] + i), b = quarter(from[1] + i);
#if KW_WAYS == 2
    put_quarter(to, __builtin_shufflevector(a, b, 0, 4, 1, 5));
    put_quarter(to + 16, __builtin_shufflevector(a, b, 2, 6, 3, 7));
#else
    kw_quarter_f c = quarter(from[2] + i), d = quarter(from[3] + i);
    kw_quarter_f ac = __builtin_shufflevector(a, c, 0, 4, 1, 5), bd = __builtin_shufflevector(b, d, 0, 4, 1, 5);
    put_quarter(to, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
    put_quarter(to + 16, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
    ac = __builtin_shufflevector(a, c, 2, 6, 3, 7), bd = __builtin_shufflevector(b, d, 2, 6, 3, 7);
    put_quarter(to + 32, __builtin_shufflevector(ac, bd, 0, 4, 1, 5));
    put_quarter(to + 48, __builtin_shufflevector(ac, bd, 2, 6, 3, 7));
#endif
}

/* WAY_LANES values of each way from byte i on, in turn: one vector. */
KW_INLINE void interleave_vector(char *to, const char *const *from, kw_i64 i, kw_vi turn) {
    kw_vf v;
#if KW_LANES == 16 && KW_WAYS == 2
    __asm__("vmovups %1, %t0\n\tvinsertf64x4 $1, %2, %0, %0"
            : "=&v"(v)
            : "m"(*(const char(*)[32])(from[0] + i)), "m"(*(const char(*)[32])(from[1] + i)));
#elif KW_LANES == 16
    __asm__("vmovups %1, %x0\n\tvinsertf32x4 $1, %2, %0, %0\n\tvinsertf32x4 $2, %3, %0, %0\n\tvinsertf32x4 $3, %4, %0, %0"
            : "=&v"(v)
            : "m"(*(const char(*)[16])(from[0] + i)), "m"(*(const char(*)[16])(from[1] + i)), "m"(*(const char(*)[16])(from[2] + i)),
              "m"(*(const char(*)[16])(from[3] + i)));
#endif
    kw_put(to, kw_permute(v, turn));
}

/* Writes count values of each way in turn. Nothing behind the last is read or written. */
KW_INLINE void interleave(char *to, const char *const *from, kw_i64 count) {
    kw_i64 i = 0;
#if KW_LANES == 16
    const kw_vi turn = in_turn(lane_numbers, WAY_LANES);
    for (; i + WAY_LANES <= count; i += WAY_LANES)
        interleave_vector(to + 4 * KW_WAYS * i, from, 4 * i, turn);
    if (i < count && count >= WAY_LANES) { /* a vector with some that are there already */
        interleave_vector(to + 4 * KW_WAYS * (count - WAY_LANES), from, 4 * (count - WAY_LANES), turn);
        return;
    }
#endif
    for (; i + 4 <= count; i += 4)
        interleave_four(to + 4 * KW_WAYS * i, from, 4 * i);
    if (i < count && count >= 4) { /* four with some that are there already */
        interleave_four(to + 4 * KW_WAYS * (count - 4), from, 4 * (count - 4));
        return;
    }
    for (; i < count; i++) {
        for (kw_i64 way = 0; way < KW_WAYS; way++)
            *(kw_f32_u *)(to + 4 * (KW_WAYS * i + way)) = *(const kw_f32_u *)(from[way] + 4 * i);
    }
}

/* interleave() of ways that are so many bytes apart. */
KW_INLINE void interleave_apart(char *to, const char *from, kw_i64 apart, kw_i64 count) {
    const char *const ways[KW_WAYS] = {
        from,
        from + apart,
#if KW_WAYS == 4
        from + 2 * apart,
        from + 3 * apart
#endif
    };
    interleave(to, ways, count);
}

#if KW_MASKS
/* Where all ways' values of a pixel lie side by side and are two vectors at most: which of these becomes which lane, and those that exist. */
typedef struct narrow {
    kw_vi turn[2];
    kw_lanes_mask mask[2];
} narrow;
static narrow narrow_of(kw_i64 channels) {
    narrow n;
    for (int i = 0; i < 2; i++)
        n.turn[i] = in_turn(lane_numbers + i * KW_LANES, channels);
    n.mask[0] = kw_first_lanes(KW_WAYS * channels), n.mask[1] = kw_first_lanes(kw_max(KW_WAYS * channels - KW_LANES, 0));
    return n;
}
KW_INLINE void interleave_narrow(char *to, const char *from, const narrow *n) {
    kw_vf low = kw_get_lanes(from, n->mask[0]);
    if (!n->mask[1]) {
        kw_put_lanes(to, kw_permute(low, n->turn[0]), n->mask[0]);
        return;
    }
    kw_vf high = kw_get_lanes(from + KW_VECTOR, n->mask[1]);
    kw_put(to, kw_permute_two(low, high, n->turn[0]));
    kw_put_lanes(to + KW_VECTOR, kw_permute_two(low, high, n->turn[1]), n->mask[1]);
}
#endif

/* Of each two vectors those of one way: 2 * WAY_LANES values. v: the first one's place among so many. */
KW_INLINE kw_vi lanes_of_way(kw_i64 way) { return (lane_numbers * KW_WAYS + (int)way) & (2 * KW_LANES - 1); }
KW_INLINE kw_vf values_of_way(const char *vectors, int v, int count, kw_vi lanes) {
    kw_vf low = kw_load(vectors + v * KW_VECTOR);
    return kw_permute_two(low, v + 1 < count ? kw_load(vectors + (v + 1) * KW_VECTOR) : low, lanes);
}
