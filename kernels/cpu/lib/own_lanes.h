/* own_lanes.h: vectors of result channels that go on from group to group, whatever the groups' sizes. Every lane needs the source channels
 * of its own group, so the copies of these kernels hold a whole vector for each step of a pixel: lane by lane what the lane's group has
 * there. It costs a copy of as many vectors as a group has channels, which all taps and tiles then read. */
#include "cpu/lib/permute.h"

#define KW_OWN_PIECES 4
#define KW_OWN_PAIRS 4

/* Of the functions that copy: KW_BY_REGIONS, in a text whose copy is faster so. */
#ifndef KW_COPY_OPTIONS
#define KW_COPY_OPTIONS
#endif

/* The groups of one vector of result channels, first to first + count - 1. Lanes behind the last channel repeat its group. Of lane i's group:
 * pick: how many elements it stands behind the first; mask[g] has its bits where the lane is of the group number g. */
typedef struct kw_own {
    kw_i64 first, count, channels; /* channels: of the source, in each group */
    kw_i64 span;                   /* elements from the first group's to the last one's */
    kw_vi pick;
#if KW_STORAGE == 3
    kw_i64 pieces;                /* of 16 bytes that hold a step of all lanes; 0: more than KW_OWN_PIECES */
    kw_vi shuffle[KW_OWN_PIECES]; /* vpshufb's: which byte of a piece comes where */
#endif
    kw_vu mask[KW_LANES];
} kw_own;

static kw_own kw_own_of(const kw_kernel_args *a, kw_i64 vector, kw_i64 results, kw_i64 channels) {
    kw_own o = {.first = vector * KW_LANES / results, .channels = channels};
    for (int lane = 0; lane < KW_LANES; lane++) {
        kw_i64 number = kw_min((vector * KW_LANES + lane) / results, a->groups - 1) - o.first;
        o.count = number + 1;
        o.pick[lane] = (int)(number * channels);
        o.mask[number][lane] = ~0u;
    }
    o.span = (o.count - 1) * channels;
#if KW_STORAGE == 3
    o.pieces = (o.span + KW_PAIR + 15) / 16;
    if (o.pieces > KW_OWN_PIECES) o.pieces = 0;
    for (kw_i64 piece = 0; piece < o.pieces; piece++) {
        unsigned char *to = (unsigned char *)&o.shuffle[piece];
        for (int byte = 0; byte < KW_VECTOR; byte++) {
            kw_i64 element = KW_PAIR == 4 ? byte % 4 : byte % 4 / 2, from = o.pick[byte / 4] + element - 16 * piece;
            int wanted = (KW_PAIR == 4 || byte % 2) && from >= 0 && from < 16; /* math=wide: the upper half of an int16 */
            to[byte] = (unsigned char)(wanted ? from : 0x80);
        }
    }
#endif
    return o;
}

/* What is copied of each group: elements as fp32, or the KW_PAIR elements of a step as the tile reads them, bf16 and bytes as they are, the
 * bytes of math=wide as int16. */
enum { KW_OWN_VALUES, KW_OWN_WORDS };
/* How: NEAR: one load holds it for all lanes; a number: that of the groups; ANY: any number; SHUFFLED + n: bytes of n pieces. */
enum { KW_OWN_NEAR = 0, KW_OWN_ANY = -1, KW_OWN_SHUFFLED = 100 };

#if KW_STORAGE == 3
#if KW_PAIR == 2
KW_INLINE kw_u32 kw_own_word(const char *p) {
    const kw_x8 *x = (const kw_x8 *)p;
    return (kw_u32)(kw_u16)x[0] | (kw_u32)(kw_u16)x[1] << 16;
}
KW_INLINE kw_vf kw_own_words(const char *p) {
    kw_vf v;
#if KW_X_UNSIGNED
    __asm__("vpmovzxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#else
    __asm__("vpmovsxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#endif
    return v;
}
#else
KW_INLINE kw_u32 kw_own_word(const char *p) { return (kw_u32) * (const kw_i32_u *)p; }
KW_INLINE kw_vf kw_own_words(const char *p) { return kw_load(p); }
#endif
/* What a piece of 16 bytes holds of each lane's step. */
KW_INLINE kw_vu kw_own_piece(const kw_own *o, const char *p, int piece) {
    kw_vu v;
#if KW_LANES == 16
    __asm__("vbroadcasti32x4 %1, %0" : "=v"(v) : "m"(*(const char(*)[16])(p + 16 * piece)));
#else
    __asm__("vbroadcasti128 %1, %0" : "=v"(v) : "m"(*(const char(*)[16])(p + 16 * piece)));
#endif
    __asm__("vpshufb %1, %0, %0" : "+v"(v) : "v"(o->shuffle[piece]));
    return v;
}
KW_INLINE kw_vf kw_own_shuffled(const kw_own *o, const char *p, int pieces) {
    kw_vu v = kw_own_piece(o, p, 0);
    if (pieces > 1) v |= kw_own_piece(o, p, 1);
    if (pieces > 2) v |= kw_own_piece(o, p, 2);
    if (pieces > 3) v |= kw_own_piece(o, p, 3);
#if KW_PAIR == 2 && KW_X_UNSIGNED
    __asm__("vpsrlw $8, %0, %0" : "+v"(v));
#elif KW_PAIR == 2
    __asm__("vpsraw $8, %0, %0" : "+v"(v));
#endif
    return (kw_vf)v;
}
KW_INLINE kw_vu kw_own_value(const char *p, int what) {
    return (what == KW_OWN_WORDS ? kw_own_word(p) : (kw_u32) * (const kw_i8 *)p) + (kw_vu){0};
}
KW_INLINE kw_vf kw_own_values(const char *p, int what) { return what == KW_OWN_WORDS ? kw_own_words(p) : kw_load_x(p); }
#else
KW_INLINE kw_vu kw_own_value(const char *p, int what) {
    return what == KW_OWN_WORDS ? (kw_vu)(*(const kw_i32_u *)p + (kw_vi){0}) : (kw_vu)(kw_load_1(p) - (kw_vf){0});
}
KW_INLINE kw_vf kw_own_values(const char *p, int what) { return what == KW_OWN_WORDS ? kw_load(p) : kw_load_x(p); }
#endif

KW_INLINE kw_vu kw_own_one(const kw_own *o, const char *p, kw_i64 group, int what) {
    return kw_own_value(p + group * o->channels * KW_BYTES, what) & o->mask[group];
}

KW_INLINE kw_vf kw_own_load(const kw_own *o, const char *p, int what, int how) {
    if (how == KW_OWN_NEAR) return kw_permute(kw_own_values(p, what), what == KW_OWN_WORDS ? o->pick / KW_PAIR : o->pick);
#if KW_STORAGE == 3
    if (how > KW_OWN_SHUFFLED) return kw_own_shuffled(o, p, how - KW_OWN_SHUFFLED);
#endif
    kw_vu all = kw_own_one(o, p, 0, what);
    if (how == KW_OWN_ANY) {
        for (kw_i64 group = 1; group < o->count; group++)
            all |= kw_own_one(o, p, group, what);
    }
    if (how > 1) all |= kw_own_one(o, p, 1, what);
    if (how > 2) all |= kw_own_one(o, p, 2, what);
    if (how > 3) all |= kw_own_one(o, p, 3, what);
    return (kw_vf)all;
}

KW_INLINE kw_vf kw_own_raised(kw_vf v, int what) { return KW_RAISED && what == KW_OWN_WORDS ? (kw_vf)((kw_vu)v ^ 0x80808080u) : v; }

KW_INLINE void kw_own_steps(char *to, const kw_own *o, const char *p, const char *partner, kw_i64 count, int what, int how) {
    kw_i64 step = what == KW_OWN_WORDS ? KW_PAIR * KW_BYTES : KW_BYTES;
    for (kw_i64 i = 0; i < count; i++, to += 4 * KW_LANES, p += step) {
        kw_vf v = kw_own_load(o, p, what, how);
        if ((KW_STORAGE == 1 || KW_STORAGE == 3) && KW_MATH != 0 && what == KW_OWN_VALUES) {
            v = kw_zip(v, partner ? kw_own_load(o, partner + i * step, what, how) : (kw_vf){0});
        }
        kw_put(to, kw_own_raised(v, what));
    }
}

#if KW_STORAGE == 3
static void kw_own_shuffle_steps(char *to, const kw_own *o, const char *p, kw_i64 count) {
    if (o->pieces == 1)
        kw_own_steps(to, o, p, 0, count, KW_OWN_WORDS, KW_OWN_SHUFFLED + 1);
    else if (o->pieces == 2)
        kw_own_steps(to, o, p, 0, count, KW_OWN_WORDS, KW_OWN_SHUFFLED + 2);
    else if (o->pieces == 3)
        kw_own_steps(to, o, p, 0, count, KW_OWN_WORDS, KW_OWN_SHUFFLED + 3);
    else
        kw_own_steps(to, o, p, 0, count, KW_OWN_WORDS, KW_OWN_SHUFFLED + 4);
}
#endif

/* How many elements of the source are one of a copied vector's. */
KW_INLINE kw_i64 kw_own_unit(int what) { return what == KW_OWN_WORDS ? KW_PAIR : 1; }

/* Pairs of vectors that hold count steps of all lanes; 0: too many, or more work than a load of each group, or a group begins in the midst
 * of a word. */
KW_INLINE kw_i64 kw_own_pairs(const kw_own *o, kw_i64 count, int what) {
    kw_i64 pairs = (o->span / kw_own_unit(what) + count - 1) / (2 * KW_LANES) + 1;
    if (KW_MATH != 0 && what == KW_OWN_VALUES) return 0; /* two pixels' by pairs */
    return o->channels % kw_own_unit(what) || pairs > KW_OWN_PAIRS || 2 * pairs >= o->count ? 0 : pairs;
}

/* v where the lanes' elements stand before this pair, else what they take of it. */
KW_INLINE kw_vf kw_own_or_pair(kw_vf v, kw_vf low, kw_vf high, kw_vi element, kw_vi pair) {
    kw_vi here = element >= pair;
    return (kw_vf)(((kw_vi)v & ~here) | ((kw_vi)kw_permute_two(low, high, element) & here));
}

/* All that the steps of all groups take is loaded once, by whole vectors, and each step is a permutation of these. Those are names of their
 * own, for gcc would keep an array in memory. */
KW_INLINE void kw_own_permute(char *to, const kw_own *o, const char *p, kw_i64 count, int what, int pairs) {
    kw_i64 vector = KW_LANES * kw_own_unit(what) * KW_BYTES, high = pairs > 1, higher = pairs > 2, highest = pairs > 3;
    kw_vf v0 = kw_own_values(p, what), v1 = kw_own_values(p + vector, what);
    kw_vf v2 = kw_own_values(p + 2 * high * vector, what), v3 = kw_own_values(p + 3 * high * vector, what);
    kw_vf v4 = kw_own_values(p + 4 * higher * vector, what), v5 = kw_own_values(p + 5 * higher * vector, what);
    kw_vf v6 = kw_own_values(p + 6 * highest * vector, what), v7 = kw_own_values(p + 7 * highest * vector, what);
    kw_vi element = o->pick / (int)kw_own_unit(what), one = (kw_vi){0} + 1;
    kw_vi second = one * 2 * KW_LANES, third = one * 4 * KW_LANES, fourth = one * 6 * KW_LANES; /* each pair's first element */
    KW_KEEP(one);
    KW_KEEP(second);
    KW_KEEP(third);
    KW_KEEP(fourth);
    for (kw_i64 i = 0; i < count; i++, to += 4 * KW_LANES, element += one) {
        kw_vf v = kw_permute_two(v0, v1, element);
        if (pairs > 1) v = kw_own_or_pair(v, v2, v3, element, second);
        if (pairs > 2) v = kw_own_or_pair(v, v4, v5, element, third);
        if (pairs > 3) v = kw_own_or_pair(v, v6, v7, element, fourth);
        kw_put(to, kw_own_raised(v, what));
    }
}

static void kw_own_permute_steps(char *to, const kw_own *o, const char *p, kw_i64 count, int what, kw_i64 pairs) {
    if (pairs == 1)
        kw_own_permute(to, o, p, count, what, 1);
    else if (pairs == 2)
        kw_own_permute(to, o, p, count, what, 2);
    else if (pairs == 3)
        kw_own_permute(to, o, p, count, what, 3);
    else
        kw_own_permute(to, o, p, count, what, 4);
}

/* Copies count steps, of which p is the first group's first. With pairs and KW_OWN_VALUES partner has the second of each pair; NULL:
 * zeros. Nothing at or beyond end is read. */
static KW_COPY_OPTIONS void kw_own_copy(char *to, const kw_own *o, const char *p, const char *partner, kw_i64 count, int what,
                                        const char *end) {
    const char *last = (partner > p ? partner : p) + count * 4 + 4 * KW_LANES;
    kw_i64 pairs = kw_own_pairs(o, count, what), reach = 2 * pairs * KW_LANES * kw_own_unit(what) * KW_BYTES;
    if ((what == KW_OWN_WORDS ? o->channels % KW_PAIR == 0 && o->span < KW_PAIR * KW_LANES : o->span < KW_LANES) && last <= end)
        kw_own_steps(to, o, p, partner, count, what, KW_OWN_NEAR);
#if KW_STORAGE == 3
    else if (what == KW_OWN_WORDS && o->pieces && o->pieces <= o->count && p + count * KW_PAIR + 16 * KW_OWN_PIECES <= end)
        kw_own_shuffle_steps(to, o, p, count);
#endif
    else if (pairs && p + reach <= end)
        kw_own_permute_steps(to, o, p, count, what, pairs);
    else if (o->count == 1)
        kw_own_steps(to, o, p, partner, count, what, 1);
    else if (o->count == 2)
        kw_own_steps(to, o, p, partner, count, what, 2);
    else if (o->count == 3)
        kw_own_steps(to, o, p, partner, count, what, 3);
    else if (o->count == 4)
        kw_own_steps(to, o, p, partner, count, what, 4);
    else
        kw_own_steps(to, o, p, partner, count, what, KW_OWN_ANY);
}
