/* grouped.h: what kw_tile() of the depthwise and merged families is made of: how source channels become a vector in which every lane
 * holds what its result channel needs. kw_config.h defines
 *   KW_TILE_H, KW_TILE_W        result pixels of a tile
 *   KW_TAPS_H, KW_TAPS_W        filter taps of a window: what kw_tile() handles at once
 *   KW_STRIDE                   the stride that a window is made for, on axes where it has more than one tap
 *   KW_ROWS, KW_COLS            source pixels of a tile
 *   KW_SRC_GROUP, KW_DST_GROUP  source and result channels of a group; where KW_REACH is not 0, the problem's (grouped_any.h)
 *   KW_STEPS, KW_STEP_VECTORS   source channels (with KW_DP pairs) of a group; vectors of weights of a window for each of them
 *   kw_row_pairs[KW_ROW_PAIRS]  with KW_DP, in gradients of int8 as well, and one source channel a group: the filter rows of a window,
 *                               where it has one row its columns, that are multiplied together
 *   KW_STAGED                   1: source pixels are read from a copy in fp32
 *   KW_MIXES                    1: there is more than one channel a group, so a vector is made of the source channels of several lanes
 *   KW_EACH_SUM(DO)             DO(a0_0, 0) DO(a0_1, 1) ...: the sums of a tile, which are variables, and their numbers
 *   KW_MULTIPLY                 the products of a window and a tile, unrolled
 * and where a vector holds several groups
 *   KW_PARTS                    source channels (with KW_DP pairs) of a vector
 *   KW_WIDEN(v)                 a vector of KW_PARTS elements as one of KW_LANES; the others are undefined
 *   kw_lane_source[]            for each lane, where its group starts among the KW_PARTS */
#define KW_VECTOR (4 * KW_LANES)
#if KW_X_ZERO                /* is subtracted from what is loaded; pixels outside the image have it too */
#define KW_AND_ZERO(at) , at /* an argument more */
#define KW_LESS_ZERO -zero
KW_INLINE int kw_zero_of_x(const kw_kernel_args *a) { return KW_X_ZERO_OF(a); }
#else
#define KW_AND_ZERO(at)
#define KW_LESS_ZERO
KW_INLINE int kw_zero_of_x(const kw_kernel_args *a) { return (void)a, 0; }
#endif
#if KW_W_ZERO_LOADED /* w's zero points are taken off weights as they are loaded; one a lane */
#define KW_AND_W_ZEROS(at) , at
#define KW_LESS_W_ZEROS -w_zeros
#else
#define KW_AND_W_ZEROS(at)
#define KW_LESS_W_ZEROS
#endif
/* Channels of a group on either side, and of the side whose channels fill the lanes. */
#if KW_REACH
KW_INLINE kw_i64 kw_src_group(const kw_kernel_args *a) { return KW_BACKWARD ? a->k : a->c; }
KW_INLINE kw_i64 kw_dst_group(const kw_kernel_args *a) { return KW_BACKWARD ? a->c : a->k; }
#else
KW_INLINE kw_i64 kw_src_group(const kw_kernel_args *a) { return (void)a, KW_SRC_GROUP; }
KW_INLINE kw_i64 kw_dst_group(const kw_kernel_args *a) { return (void)a, KW_DST_GROUP; }
#endif
KW_INLINE kw_i64 kw_lane_group(const kw_kernel_args *a) { return KW_LANES_C ? kw_src_group(a) : kw_dst_group(a); }
KW_INLINE __attribute__((unused)) kw_i64 kw_other_group(const kw_kernel_args *a) { return KW_LANES_C ? kw_dst_group(a) : kw_src_group(a); }

#define KW_PIXELS (KW_TILE_H * KW_TILE_W)
#define KW_SOURCES (KW_ROWS * KW_COLS)
#define KW_ENTRY KW_GROUPED_ENTRY(KW_SOURCES)
/* int8 by math=dp and wide: sums are int32, in lanes that are named floats. In front of a window's weights stand their sums of each lane, by
 * which a tile's sums are corrected where pixels are raised (KW_RAISED) or have a zero point. */
#define KW_WHOLE (KW_STORAGE == 3 && KW_MATH != 0)
#define KW_CORRECTS (KW_WHOLE && (KW_RAISED || KW_X_ZERO))
#define KW_HEAD_BYTES (KW_WHOLE ? KW_VECTOR : 0)
KW_INLINE kw_i64 kw_steps(const kw_kernel_args *a) {
    if (KW_WHOLE) return KW_GROUPED_WORDS(kw_src_group(a), KW_PAIR);
    return KW_REACH ? kw_src_group(a) : KW_STEPS;
}
KW_INLINE kw_i64 kw_window_bytes(const kw_kernel_args *a) { return KW_HEAD_BYTES + kw_steps(a) * KW_STEP_VECTORS * KW_VECTOR; }

KW_INLINE kw_vf kw_fma(kw_vf a, kw_vf x, kw_vf b) { return a + x * b; }
#if KW_WHOLE
KW_INLINE kw_vf kw_dot(kw_vf a, kw_vf x, kw_vf w) {
#if KW_QUADS
    return (kw_vf)kw_dot_quads((kw_vi)a, x, w);
#else
    return (kw_vf)kw_dot_wide((kw_vi)a, x, w);
#endif
}
#undef KW_LESS_ZERO
#define KW_LESS_ZERO
KW_INLINE kw_vf kw_zeros_of_x(const kw_kernel_args *a) { return (kw_vf)(-(kw_zero_of_x(a) + (KW_RAISED ? 128 : 0)) + (kw_vi){0}); }
#else
KW_INLINE kw_vf kw_zeros_of_x(const kw_kernel_args *a) { return (float)kw_zero_of_x(a) - (kw_vf){0}; }
#endif

#if KW_W_ZERO_LOADED
KW_INLINE float kw_w_zero_int32(const char *zeros, kw_i64 i) { return (float)*(const kw_i32_u *)(zeros + 4 * i); }
KW_INLINE float kw_w_zero_int8(const char *zeros, kw_i64 i) { return (float)*(const kw_i8 *)(zeros + i); }
KW_INLINE float kw_w_zero_uint8(const char *zeros, kw_i64 i) { return (float)*(const unsigned char *)(zeros + i); }
KW_INLINE kw_vf kw_w_zeros_int32(const char *zeros, kw_i64 i) { return __builtin_convertvector((kw_vi)kw_load(zeros + 4 * i), kw_vf); }
KW_INLINE kw_vf kw_w_zeros_int8(const char *zeros, kw_i64 i) {
    return __builtin_convertvector(__builtin_convertvector(*(const kw_vb_u *)(zeros + i), kw_vi), kw_vf);
}
KW_INLINE kw_vf kw_w_zeros_uint8(const char *zeros, kw_i64 i) {
    return __builtin_convertvector(__builtin_convertvector(*(const kw_vc_u *)(zeros + i), kw_vi), kw_vf);
}
/* Of the result channels from this one on, in a vector; those that there are not have any. */
KW_INLINE kw_vf kw_zeros_of_w(const kw_kernel_args *a, kw_i64 channel) {
    const char *zeros = a->extra[KW_W_ZERO_AT];
    if (KW_W_ZERO_ONE) return KW_W_ZERO_WORD(kw_w_zero_)(zeros, 0) - (kw_vf){0};
    kw_i64 total = a->groups * kw_dst_group(a);
    if (channel + KW_LANES <= total) return KW_W_ZERO_WORD(kw_w_zeros_)(zeros, channel);
    float some[KW_LANES] = {0};
    for (kw_i64 lane = 0; channel + lane < total; lane++)
        some[lane] = KW_W_ZERO_WORD(kw_w_zero_)(zeros, channel + lane);
    return kw_load((const char *)some);
}
#endif

/* The first bytes of a vector, and zeros behind those that are got; nothing is touched there. */
#if KW_LANES == 16
KW_INLINE kw_vf kw_get_bytes(const char *p, kw_i64 bytes) {
    kw_vf v;
    __asm__("vmovdqu8 %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const kw_vf_u *)p), "Yk"(~0ull >> (KW_VECTOR - bytes)));
    return v;
}
KW_INLINE void kw_put_bytes(char *p, kw_vf v, kw_i64 bytes) {
    __asm__("vmovdqu8 %1, %0%{%2%}" : "+m"(*(kw_vf_u *)p) : "v"(v), "Yk"(~0ull >> (KW_VECTOR - bytes)));
}
#else
KW_INLINE kw_vf kw_get_bytes(const char *p, kw_i64 bytes) {
    char whole[KW_VECTOR] = {0};
    for (kw_i64 b = 0; b < bytes; b++)
        whole[b] = p[b];
    return kw_load(whole);
}
KW_INLINE void kw_put_bytes(char *p, kw_vf v, kw_i64 bytes) { /* an even number */
    char whole[KW_VECTOR];
    kw_put(whole, v);
    for (kw_i64 b = 0; b < bytes; b += 2)
        *(kw_u16_u *)(p + b) = *(const kw_u16_u *)(whole + b);
}
#endif

/* Channels that all taps and lanes of a tile share are widened once for a window, not each time that one is spread. */
#ifdef KW_PARTS
#define KW_MIXED KW_PARTS /* channels of a source pixel that a vector of results is made of */
#else
#define KW_MIXED KW_SRC_GROUP
#endif
#ifndef KW_WIDENS_AHEAD
#define KW_WIDENS_AHEAD (KW_MIXES && KW_STORAGE != 0 && !KW_DP && !KW_REACH)
#endif
#define KW_MIXES_FLOATS (KW_STAGED || KW_WIDENS_AHEAD)
#if KW_WIDENS_AHEAD
typedef float kw_widened[(KW_MIXED + KW_LANES - 1) / KW_LANES * KW_LANES];
#define KW_SOURCE(n) (const char *)widened[(n)-1]
/* Reads no more than the groups' channels. */
KW_INLINE void kw_widen_ahead(float *to, const char *p) {
    kw_i64 i = 0;
    for (; i + KW_LANES <= KW_MIXED; i += KW_LANES)
        kw_put(to + i, kw_load_x(p + i * KW_BYTES));
    for (; i < KW_MIXED; i++)
#if KW_STORAGE == 3
        to[i] = (float)*(const kw_x8 *)(p + i);
#else
        to[i] = kw_load_1(p + i * KW_BYTES);
#endif
}
#else
#define KW_SOURCE(n) (src + from[n])
#endif

#if KW_REACH
#include "cpu/grouped/grouped_any.h"
#elif defined KW_PARTS
typedef kw_vi kw_lane_source_index; /* which channel each lane takes */

KW_INLINE kw_lane_source_index kw_lane_source_at(kw_i64 step) { return *(const kw_vi *)kw_lane_source + (int)step; }

#include "cpu/lib/permute.h"

#if KW_DP
typedef int kw_part __attribute__((vector_size(4 * KW_PARTS), aligned(1), may_alias));
#elif KW_STORAGE == 0 || KW_MIXES_FLOATS
typedef float kw_part __attribute__((vector_size(4 * KW_PARTS), aligned(1), may_alias));
#elif KW_STORAGE == 3
typedef struct kw_part {
    char bytes[KW_PARTS];
} kw_part;
#else
typedef kw_u16 kw_part __attribute__((vector_size(2 * KW_PARTS), aligned(1), may_alias));
#endif

/* Reads no more than the groups' channels: what follows may lie beyond the tensor. */
KW_INLINE kw_vf kw_mix(const char *p, kw_lane_source_index pick) {
    kw_part part = *(const kw_part *)p;
#if KW_DP || KW_STORAGE == 0 || KW_MIXES_FLOATS
    return kw_permute((kw_vf)KW_WIDEN(part), pick);
#elif KW_STORAGE == 3
    char whole[KW_LANES] = {0};
    __builtin_memcpy(whole, &part, sizeof part);
    return kw_permute(kw_load_x(whole), pick);
#else
    return kw_permute(kw_widen((kw_vh)KW_WIDEN(part)), pick);
#endif
}
#else
typedef kw_i64 kw_lane_source_index; /* the distance of the channel that all lanes take */

KW_INLINE kw_lane_source_index kw_lane_source_at(kw_i64 step) { return step * (KW_DP || KW_MIXES_FLOATS ? 4 : KW_BYTES); }

KW_INLINE kw_vf kw_mix(const char *p, kw_lane_source_index pick) {
#if KW_DP
    return kw_spread_word(p + pick);
#elif KW_MIXES_FLOATS
    return kw_spread(p + pick);
#elif KW_STORAGE == 3
    return (float)*(const kw_x8 *)(p + pick) - (kw_vf){0};
#else
    return kw_load_1(p + pick) - (kw_vf){0};
#endif
}
#endif

/* Result channels of a vector. Pairs of filter rows are made of two vectors of bf16, so those take twice as many; their sums stand in two
 * vectors, each of the channels that an unpack of 128-bit quarters brings together. */
#ifdef KW_ROW_PAIRS
#define KW_CHANNELS (2 * KW_LANES)
#define KW_HALVES 2
#if KW_STORAGE == 3
/* Bytes of two rows are brought side by side and widened then: a 128-bit quarter has 16 channels. */
#define KW_LANE_CHANNEL(half, lane) ((lane) / 8 * 16 + (half)*8 + (lane) % 8)
#define KW_LOAD_ROW(p) (*(const kw_row *)(p))
typedef char kw_row __attribute__((vector_size(2 * KW_LANES), aligned(1), may_alias));
KW_INLINE kw_vf kw_widen_row(kw_row bytes) { /* gcc 12 would widen them by halves */
    kw_vf words;
    __asm__("vpmovsxbw %1, %0" : "=v"(words) : "v"(bytes));
    return words;
}
#if KW_LANES == 16
#define KW_UNPACK(a, b, i)                                                                                                                 \
    __builtin_shufflevector(a, b, i, 32 + i, i + 1, 33 + i, i + 2, 34 + i, i + 3, 35 + i, i + 4, 36 + i, i + 5, 37 + i, i + 6, 38 + i,     \
                            i + 7, 39 + i, i + 16, 48 + i, i + 17, 49 + i, i + 18, 50 + i, i + 19, 51 + i, i + 20, 52 + i, i + 21, 53 + i, \
                            i + 22, 54 + i, i + 23, 55 + i)
#else
#define KW_UNPACK(a, b, i)                                                                                                                 \
    __builtin_shufflevector(a, b, i, 16 + i, i + 1, 17 + i, i + 2, 18 + i, i + 3, 19 + i, i + 4, 20 + i, i + 5, 21 + i, i + 6, 22 + i,     \
                            i + 7, 23 + i)
#endif
KW_INLINE kw_vf kw_pair_low(kw_row first, kw_row second) { return kw_widen_row(KW_UNPACK(first, second, 0)); }
KW_INLINE kw_vf kw_pair_high(kw_row first, kw_row second) { return kw_widen_row(KW_UNPACK(first, second, 8)); }
KW_INLINE kw_vf kw_dot_rows(kw_vf a, kw_vf x, kw_vf y) { return (kw_vf)kw_dot_pairs((kw_vi)a, x, y); }
#else
#define KW_LANE_CHANNEL(half, lane) ((lane) / 4 * 8 + (half)*4 + (lane) % 4)
#define KW_LOAD_ROW(p) kw_load(p)
typedef kw_vf kw_row;

typedef kw_u16 kw_vw __attribute__((vector_size(4 * KW_LANES)));
typedef kw_i64 kw_quarters __attribute__((vector_size(4 * KW_LANES)));
/* Pairs, quarters of 128 bits of two vectors in turn, and 64 bits of them in turn. */
#if KW_LANES == 16
#define KW_UNPACK(a, b, i)                                                                                                                 \
    (kw_vf) __builtin_shufflevector((kw_vw)(a), (kw_vw)(b), i, 32 + i, i + 1, 33 + i, i + 2, 34 + i, i + 3, 35 + i, i + 8, 40 + i, i + 9,  \
                                    41 + i, i + 10, 42 + i, i + 11, 43 + i, i + 16, 48 + i, i + 17, 49 + i, i + 18, 50 + i, i + 19,        \
                                    51 + i, i + 24, 56 + i, i + 25, 57 + i, i + 26, 58 + i, i + 27, 59 + i)
#define KW_QUARTERS_IN_TURN(a, b, i) (kw_vf) __builtin_shufflevector(a, b, i, i + 1, i + 8, i + 9, i + 2, i + 3, i + 10, i + 11)
#define KW_QUARTERS_APART(a, b, i) (kw_vf) __builtin_shufflevector(a, b, i, i + 1, i + 4, i + 5, i + 8, i + 9, i + 12, i + 13)
#define KW_HALVES_IN_TURN(a) (kw_vf) __builtin_shufflevector(a, a, 0, 4, 1, 5, 2, 6, 3, 7)
#else
#define KW_UNPACK(a, b, i)                                                                                                                 \
    (kw_vf) __builtin_shufflevector((kw_vw)(a), (kw_vw)(b), i, 16 + i, i + 1, 17 + i, i + 2, 18 + i, i + 3, 19 + i, i + 8, 24 + i, i + 9,  \
                                    25 + i, i + 10, 26 + i, i + 11, 27 + i)
#define KW_QUARTERS_IN_TURN(a, b, i) (kw_vf) __builtin_shufflevector(a, b, i / 2, i / 2 + 1, i / 2 + 4, i / 2 + 5)
#define KW_QUARTERS_APART(a, b, i) (kw_vf) __builtin_shufflevector(a, b, i, i + 1, i + 4, i + 5)
#define KW_HALVES_IN_TURN(a) (kw_vf) __builtin_shufflevector(a, a, 0, 2, 1, 3)
#endif
KW_INLINE kw_vf kw_pair_low(kw_vf first, kw_vf second) { return KW_UNPACK(first, second, 0); }
KW_INLINE kw_vf kw_pair_high(kw_vf first, kw_vf second) { return KW_UNPACK(first, second, 4); }

KW_INLINE void kw_store_pairs(char *p, kw_vf low, kw_vf high) {
    kw_quarters both;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(low), "v"(high));
    kw_put(p, KW_HALVES_IN_TURN(both));
}
#endif
#else
#define KW_CHANNELS KW_LANES
#define KW_HALVES 1
#define KW_LANE_CHANNEL(half, lane) (lane)
#endif
