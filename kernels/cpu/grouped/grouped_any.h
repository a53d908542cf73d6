/* grouped_any.h: groups of any width, of which the problem tells: vectors of one side's channels go on from group to group, and each lane
 * takes its own group's channel of the other side by a permutation whose lane numbers are worked out for each vector. The other side's
 * channels of a vector's groups stand in KW_REACH vectors of a pixel. */
#include "cpu/lib/permute.h"

typedef kw_vi kw_lane_source_index; /* which element of the vectors each lane takes */

#if KW_WHOLE
/* A lane takes a word of the pixel, KW_PAIR elements, and meets weights that are zero where these are not its group's; so a group may begin
 * anywhere in its word. */
#define KW_AND_FAR(at)
#define KW_LOADED (2 * KW_LANES * KW_REACH) /* elements */
KW_INLINE kw_vf kw_mix(const char *p, kw_lane_source_index pick) {
    kw_vf v;
#if !KW_QUADS && KW_X_UNSIGNED
    __asm__("vpmovzxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#elif !KW_QUADS
    __asm__("vpmovsxbw %1, %0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#elif KW_REACH == 2
    v = kw_load(p);
#elif KW_LANES == 16
    __asm__("vmovups %1, %t0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#else
    __asm__("vmovups %1, %x0" : "=v"(v) : "m"(*(const kw_vh_u *)p));
#endif
    v = kw_permute(v, pick);
    return KW_RAISED ? (kw_vf)((kw_vu)v ^ 0x80808080u) : v;
}
#elif KW_REACH == 1
#define KW_AND_FAR(at)
#define KW_LOADED KW_LANES
KW_INLINE kw_vf kw_mix(const char *p, kw_lane_source_index pick) { return kw_permute(kw_load_x(p), pick); }
#else
#define KW_LOADED KW_LANES
#define KW_AND_FAR(at) , at /* an argument more: bytes from the first vector to the second */
#define kw_mix(p, pick) kw_permute_two(kw_load_x(p), kw_load_x((p) + far), pick)
#endif

/* A vector of the lane side's channels. */
typedef struct kw_group_lanes {
    kw_i64 src, dst;   /* first channels on either side */
    kw_i64 other, far; /* the first on the other side; channels to the second vector there */
    kw_vi element;     /* of step 0, counted from there; of int8 as whole numbers its word */
} kw_group_lanes;

/* Vectors of the other side never reach beyond a pixel, but where a pixel has less than one. */
static kw_group_lanes kw_group_lanes_at(const kw_kernel_args *a, kw_i64 first) {
    kw_i64 own = kw_lane_group(a), other = kw_other_group(a), last = kw_max(0, a->groups * other - KW_LOADED);
    kw_i64 group = first / own * other, inner = first % own;
    kw_group_lanes l = {.other = kw_min(group, last)};
    l.far = kw_min(l.other + KW_LOADED, last) - l.other;
    int element[KW_LANES] __attribute__((aligned(4 * KW_LANES)));
    for (kw_i64 lane = 0; lane < KW_LANES; lane++) {
        element[lane] = (int)((kw_min(group, (a->groups - 1) * other) - l.other) / (KW_WHOLE ? KW_PAIR : 1));
        if (++inner == own) inner = 0, group += other;
    }
    l.element = *(const kw_vi *)element;
    l.src = KW_LANES_C ? first : l.other;
    l.dst = KW_LANES_C ? l.other : first;
    return l;
}

/* Of the other side's channel number step of each group. */
KW_INLINE kw_lane_source_index kw_group_lanes_step(const kw_group_lanes *l, kw_i64 step) {
    kw_vi element = l->element + (int)step;
#if KW_REACH == 2 && !KW_WHOLE
    element += (element >= KW_LANES) & (int)(KW_LANES - l->far);
#endif
    return element;
}
