/* own_lanes.h: vectors of result channels that go on from group to group, whatever the groups' sizes. Every lane needs the source channels
 * of its own group, so the copies of these kernels hold a whole vector for each step of a pixel: lane by lane what the lane's group has
 * there. It costs a copy of as many vectors as a group has channels, which all taps and tiles then read. */
#include "cpu/lib/permute.h"

/* The groups of one vector of result channels, first to first + count - 1. Lanes behind the last channel repeat its group. Of lane i's group:
 * pick: how many elements it stands behind the first; mask[g] has its bits where the lane is of the group number g. */
typedef struct kw_own {
    kw_i64 first, count, channels; /* channels: of the source, in each group */
    kw_i64 span;                   /* elements from the first group's to the last one's */
    kw_vi pick;
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
    return o;
}

/* What is copied of each group: elements as fp32, or the KW_PAIR elements of a step as the tile reads them, bf16 and bytes as they are, the
 * bytes of math=wide as int16. */
enum { KW_OWN_VALUES, KW_OWN_WORDS };
/* How: NEAR: one load holds it for all lanes; a number: that of the groups; ANY: any number. */
enum { KW_OWN_NEAR = 0, KW_OWN_ANY = -1 };

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
KW_INLINE kw_vu kw_own_value(const char *p, int what) { return (void)what, kw_own_word(p) + (kw_vu){0}; }
KW_INLINE kw_vf kw_own_values(const char *p, int what) { return (void)what, kw_own_words(p); }
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

/* bf16 pairs of two vectors that were widened. */
KW_INLINE kw_vf kw_own_zip(kw_vf first, kw_vf second) { return (kw_vf)((kw_vu)first >> 16 | (kw_vu)second); }

KW_INLINE void kw_own_steps(char *to, const kw_own *o, const char *p, const char *partner, kw_i64 count, int what, int how) {
    kw_i64 step = what == KW_OWN_WORDS ? KW_PAIR * KW_BYTES : KW_BYTES;
#if KW_RAISED
    const kw_vi raise = (kw_vi){0} + (int)0x80808080u;
#else
    const kw_vi raise = {0};
#endif
    for (kw_i64 i = 0; i < count; i++, to += 4 * KW_LANES, p += step) {
        kw_vf v = kw_own_load(o, p, what, how);
        if (KW_STORAGE == 1 && KW_MATH != 0 && what == KW_OWN_VALUES) {
            v = kw_own_zip(v, partner ? kw_own_load(o, partner + i * step, what, how) : (kw_vf){0});
        }
        kw_put(to, (kw_vf)((kw_vi)v ^ raise));
    }
}

/* Copies count steps, of which p is the first group's first. With bf16 pairs and KW_OWN_VALUES partner has the second of each pair; NULL:
 * zeros. Nothing at or beyond end is read. */
static void kw_own_copy(char *to, const kw_own *o, const char *p, const char *partner, kw_i64 count, int what, const char *end) {
    const char *last = (partner > p ? partner : p) + count * 4 + 4 * KW_LANES;
    if ((what == KW_OWN_WORDS ? o->channels % KW_PAIR == 0 && o->span < KW_PAIR * KW_LANES : o->span < KW_LANES) && last <= end)
        kw_own_steps(to, o, p, partner, count, what, KW_OWN_NEAR);
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
