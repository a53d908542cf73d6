/* planes.c: depthwise convolution of channels-first tensors, forward and backward data of stride 1; family conv.depthwise_planes. A channel's
 * pixels lie side by side, so they fill the lanes, and a tap is one value for all of them: nothing is turned and nothing is copied.
 *
 * A unit is the planes of an image that share vectors: one, or for rows that fill half or a quarter of a vector two or four. It goes
 * through its columns by strips of KW_VECS vectors, and down a strip by rows of the source: a row meets all filter rows while it is in
 * registers, so that KW_LIVE rows of results are under way, of which the oldest is finished with every KW_STRIDE rows of the source. Taps
 * are loads at neighbouring pixels. What of a load lies beyond the row, left or right, is masked off; rows above and below are left out.
 *
 * bf16 by dp: a 32-bit lane holds two neighbouring pixels, which meet two neighbouring taps. With stride 1, pixels of even and of odd columns
 * have sums of their own (KW_PARTS). The last tap of an odd number has no partner: its loads mask every second pixel off.
 *
 * kw_config.h names the sums a<live>_<vector>_<part>, of which live=0 is the newest row, and unrolls what goes over them:
 *   KW_EACH_SUM(DO)         DO(a0_0_0) DO(a0_0_1) ...
 *   KW_EACH_AGED(DO)        DO(a2_0_0, a1_0_0) DO(a1_0_0, a0_0_0) ...: a row's sums become those of the row before
 *   KW_EACH_NEWEST(DO)      DO(a0_0_0) ...
 *   KW_EACH_DONE(DO)        DO(vector, a2_<vector>_0, ..._1): the oldest row
 *   KW_ROW_0 ... KW_ROW_1   the products of a source row, by its place among the KW_STRIDE rows of a step
 *   KW_HOLD_MASKS           m<vector>_<load> and of KW_TWICE m<vector>_<load>t, the masks of loads
 *   KW_HOLD_WEIGHTS         the weights as variables, where registers hold them; KW_WEIGHT(number) is one in either case */
#include "cpu/planes/args.h"
#define KW_KERNEL_PARAMS kw_planes_params
#include "kw_config.h"
#include "cpu/lib/plane_steps.h"

#define KW_VECTOR (4 * KW_LANES)
/* Pixels of a load, of a vector's results; each plane has its share of them. */
#define KW_WORDS (KW_STORAGE == 1 && (KW_DP || KW_STRIDE == 2)) /* a load is of pairs of pixels */
#define KW_LOADED (KW_WORDS ? 2 * KW_LANES : KW_LANES)
#define KW_RESULTS (KW_DP && KW_STRIDE == 1 ? 2 * KW_LANES : KW_LANES)
#define KW_TWICE (KW_STORAGE == 0 && KW_STRIDE == 2) /* two loads of which every second pixel is taken */

#if KW_BACKWARD
#define SRC(a) (a)->y
#define DST(a) (a)->x
#define SRC_SIZE(a) (a)->out
#define DST_SIZE(a) (a)->in
#else
#define SRC(a) (a)->x
#define DST(a) (a)->y
#define SRC_SIZE(a) (a)->in
#define DST_SIZE(a) (a)->out
#endif

/* Masks of a strip, in this order: of each of KW_LOADS loads (of KW_TWICE of both) of each vector, for one plane's share; then of each vector of
 * results KW_PLANES, for the share that a plane has of it. */
#define KW_LOAD_MASKS ((1 + KW_TWICE) * KW_LOADS)
#define KW_UNIT_MASKS (KW_VECS * (KW_LOAD_MASKS + KW_PLANES))

typedef struct strip {
    const char *from; /* the first row and column of the result, as a place of the source */
    char *to;
    const char *weights;
    const kw_u32 *masks;
    kw_i64 far[KW_PLANES];      /* bytes to another plane of the source */
    kw_i64 to_far[KW_PLANES];   /* of the result, and back to where a vector would begin whose share this is */
    kw_i64 next;                /* of KW_TWICE: bytes from a load to its second */
    kw_i64 row, to_row;         /* bytes */
    kw_i64 above, height, rows; /* rows of padding, of the source, of the result */
    kw_i64 planes;              /* that exist */
    kw_plane_steps steps;
} strip;

/* Where tensors are parts of larger ones: elements from an image, a row and a channel to the next. */
#ifdef KW_PITCHED
#define SRC_STEP(a) (KW_BACKWARD ? (a)->y_step : (a)->x_step)
#define DST_STEP(a) (KW_BACKWARD ? (a)->x_step : (a)->y_step)
#define SRC_PLANE(a, size) (SRC_STEP(a)[4] * KW_BYTES)
#define DST_PLANE(a, size) (DST_STEP(a)[4] * KW_BYTES)
#define SRC_ROW(a, size) (SRC_STEP(a)[2] * KW_BYTES)
#define DST_ROW(a, size) (DST_STEP(a)[2] * KW_BYTES)
#define SRC_FIRST(a, image, group, first, plane) (image * SRC_STEP(a)[0] * KW_BYTES + group * plane)
#define DST_FIRST(a, image, group, first, plane) (image * DST_STEP(a)[0] * KW_BYTES + group * plane)
#else
#define SRC_PLANE(a, size) size[1] * size[2] * KW_BYTES
#define DST_PLANE(a, size) size[1] * size[2] * KW_BYTES
#define SRC_ROW(a, size) size[2] * KW_BYTES
#define DST_ROW(a, size) size[2] * KW_BYTES
#define SRC_FIRST(a, image, group, first, plane) first *plane
#define DST_FIRST(a, image, group, first, plane) first *plane
#endif

static kw_i64 ceil_div(kw_i64 a, kw_i64 b) { return (a + b - 1) / b; }

/* Bits of the pixels first, first + step, ... of so many that are in a row, counted from one of its columns. */
static kw_u32 mask_of(kw_i64 column, kw_i64 width, int pixels, int step) {
    kw_u32 mask = 0;
    for (int i = 0; i < pixels; i += step)
        mask |= (kw_u32)(column + i >= 0 && column + i < width) << i;
    return mask;
}

static void list_masks(const kw_kernel_args *a, kw_u32 *to, kw_i64 number) {
    kw_i64 first = number * KW_VECS * KW_RESULTS, width = SRC_SIZE(a)[2], pad = KW_BACKWARD ? a->filter[2] - 1 - a->pad[2] : a->pad[2];
    for (int vector = 0; vector < KW_VECS; vector++) {
        for (int load = 0; load < KW_LOADS; load++) {
            kw_i64 column = (first + vector * KW_RESULTS) * KW_STRIDE + load * KW_LOAD_STEP - pad;
            int step = KW_DP && KW_TAPS_W % 2 && load >= KW_LOADS - KW_PARTS ? 2 : 1;
            *to++ = mask_of(column, width, KW_TWICE ? KW_LOADED : KW_LOADED / KW_PLANES, step);
            if (KW_TWICE) *to++ = mask_of(column + (KW_PLANES == 2 ? 0 : KW_LOADED), width, KW_LOADED, 1);
        }
    }
    for (int vector = 0; vector < KW_VECS; vector++) {
        for (int plane = 0; plane < KW_PLANES; plane++, to++)
            *to = mask_of(first + vector * KW_RESULTS, DST_SIZE(a)[2], KW_RESULTS / KW_PLANES, 1) << plane * (KW_RESULTS / KW_PLANES);
    }
}

/* A plane's share of what is loaded, and the shares of all planes. */
#define KW_SHARE (KW_LOADED * KW_BYTES / KW_PLANES)
typedef kw_u16 share __attribute__((vector_size(KW_SHARE)));
typedef kw_u16 share_u __attribute__((vector_size(KW_SHARE), aligned(1), may_alias));
#if KW_BYTES == 4
#define KW_MOVE "vmovups"
#else
#define KW_MOVE "vmovdqu16"
#endif

KW_INLINE share take_share(const char *p, kw_u32 mask) {
    share v;
    __asm__(KW_MOVE " %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const share_u *)p), "Yk"(mask));
    return v;
}

#if KW_PLANES == 1
typedef share shares;
KW_INLINE shares take_shares(const strip *s, const char *p, kw_u32 mask) { return (void)s, take_share(p, mask); }
#else
#define KW_HALF (KW_SHARE * KW_PLANES / 2) /* bytes */
typedef kw_i64 half __attribute__((vector_size(KW_HALF)));
typedef kw_i64 shares __attribute__((vector_size(2 * KW_HALF)));
KW_INLINE half take_half(const strip *s, const char *p, int plane, kw_u32 mask) {
#if KW_PLANES == 2
    return (half)take_share(p + s->far[plane], mask);
#else
    typedef kw_i64 words __attribute__((vector_size(KW_SHARE)));
    return __builtin_shufflevector((words)take_share(p + s->far[plane], mask), (words)take_share(p + s->far[plane + 1], mask), 0, 1, 2, 3);
#endif
}
KW_INLINE shares take_shares(const strip *s, const char *p, kw_u32 mask) {
#if KW_HALF == 32
    return __builtin_shufflevector(take_half(s, p, 0, mask), take_half(s, p, KW_PLANES / 2, mask), 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return __builtin_shufflevector(take_half(s, p, 0, mask), take_half(s, p, KW_PLANES / 2, mask), 0, 1, 2, 3);
#endif
}
#endif

KW_INLINE kw_vf take(const strip *s, const char *p, kw_u32 mask) {
#if KW_STORAGE == 0 || KW_WORDS
    return (kw_vf)take_shares(s, p, mask);
#else
    return kw_widen((kw_vh)take_shares(s, p, mask));
#endif
}

/* Pixels of even and of odd places: of fp32 out of two loads, of bf16 out of pairs. */
#if KW_TWICE
#define KW_EVEN(i) 2 * (i)
#define KW_EACH_16(DO, add)                                                                                                                \
    DO(0) + add, DO(1) + add, DO(2) + add, DO(3) + add, DO(4) + add, DO(5) + add, DO(6) + add, DO(7) + add, DO(8) + add, DO(9) + add,      \
        DO(10) + add, DO(11) + add, DO(12) + add, DO(13) + add, DO(14) + add, DO(15) + add
KW_INLINE kw_vf evens(kw_vf a, kw_vf b) { return __builtin_shufflevector(a, b, KW_EACH_16(KW_EVEN, 0)); }
KW_INLINE kw_vf odds(kw_vf a, kw_vf b) { return __builtin_shufflevector(a, b, KW_EACH_16(KW_EVEN, 1)); }
#define KW_TAKE_TWO(x, z, mask, place)                                                                                                     \
    {                                                                                                                                      \
        const char *p = from + (place);                                                                                                    \
        kw_vf first = kw_get_lanes(p, (kw_lanes_mask)mask), second = kw_get_lanes(p + s->next, (kw_lanes_mask)mask##t);                    \
        x = evens(first, second), z = odds(first, second);                                                                                 \
    }
#elif KW_WORDS && !KW_DP
#define KW_TAKE_TWO(x, z, mask, place)                                                                                                     \
    {                                                                                                                                      \
        kw_vu words = (kw_vu)take_shares(s, from + (place), mask);                                                                         \
        x = (kw_vf)(words << 16), z = (kw_vf)(words & 0xffff0000u);                                                                        \
    }
#endif
#define KW_TAKE(x, mask, place) x = take(s, from + (place), mask);
#if KW_DP
#define KW_MULTIPLY(a, x, weight) a = kw_dp(a, x, weight);
#else
#define KW_MULTIPLY(a, x, weight) a += (x) * (weight);
#endif

/* A vector of results to the planes that exist. */
KW_INLINE void put_results(const strip *s, char *p, int vector, kw_vf even, kw_vf odd) {
    const kw_u32 *mask = s->masks + KW_VECS * KW_LOAD_MASKS + KW_PLANES * vector;
#if KW_RESULTS == 2 * KW_LANES
    typedef kw_u16 words __attribute__((vector_size(4 * KW_LANES)));
    words both;
    even = kw_plane_result(&s->steps, even), odd = kw_plane_result(&s->steps, odd);
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(even), "v"(odd));
    both = __builtin_shufflevector(both, both, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28,
                                   13, 29, 14, 30, 15, 31);
    for (int i = 0; i < KW_PLANES; i++) {
        if (i < s->planes) __asm__("vmovdqu16 %1, %0%{%2%}" : "+m"(*(kw_vf_u *)(p + s->to_far[i])) : "v"(both), "Yk"(mask[i]));
    }
#else
    kw_vf v = kw_plane_result(&s->steps, KW_PARTS == 2 ? even + odd : even);
#if KW_BYTES == 2
    kw_vh h;
    kw_store_x(&h, v);
#endif
    for (int i = 0; i < KW_PLANES; i++) {
        if (i >= s->planes) continue;
#if KW_BYTES == 2
        kw_put_halves(p + s->to_far[i], h, (kw_lanes_mask)mask[i]);
#else
        kw_put_lanes(p + s->to_far[i], v, (kw_lanes_mask)mask[i]);
#endif
    }
#endif
}

#define KW_DECLARE(a) kw_vf a = {0};
#define KW_AGE(a, younger) a = younger;
#define KW_CLEAR(a) a = (kw_vf){0};
#define KW_FINISH(vector, even, odd) put_results(s, to + (vector)*KW_RESULTS * KW_BYTES, vector, even, odd);
#define KW_SOURCE_ROW(number)                                                                                                              \
    if (row + (number) >= 0 && row + (number) < s->height) {                                                                               \
        const char *from = s->from + (row + (number)) * s->row;                                                                            \
        KW_ROW_##number                                                                                                                    \
    }

static void sum_strip(const strip *s) {
    const char *w = s->weights;
    KW_HOLD_WEIGHTS
    KW_HOLD_MASKS
    KW_EACH_SUM(KW_DECLARE)
    kw_i64 row = -s->above;
    char *to = s->to - (KW_LIVE - 1) * s->to_row;
    (void)w;
    for (kw_i64 i = 0; i < s->rows + KW_LIVE - 1; i++, row += KW_STRIDE, to += s->to_row) {
        KW_SOURCE_ROW(0)
#if KW_STRIDE == 2
        KW_SOURCE_ROW(1)
#endif
        if (i >= KW_LIVE - 1) {
            KW_EACH_DONE(KW_FINISH)
        }
        KW_EACH_AGED(KW_AGE)
        KW_EACH_NEWEST(KW_CLEAR)
    }
}

/* Packed order: unit's planes, then by rows of the filter, columns or their pairs: a value, or of several planes a vector. */
static void write_weight(const kw_kernel_args *a, char *to, kw_i64 group, int row, int col) {
    kw_i64 y = KW_BACKWARD ? KW_TAPS_H - 1 - row : row, taps = (kw_i64)KW_TAPS_H * KW_TAPS_W;
    const char *w = a->w + (group * taps + y * KW_TAPS_W) * KW_BYTES;
    kw_i64 x = KW_BACKWARD ? KW_TAPS_W - 1 - col : col;
#if KW_DP
    kw_i64 partner = KW_BACKWARD ? x - 1 : x + 1;
    kw_u32 high = col + 1 < KW_TAPS_W ? *(const kw_u16_u *)(w + partner * 2) : 0;
    *(kw_u32 *)to = *(const kw_u16_u *)(w + x * 2) | high << 16;
#else
    *(float *)to = kw_load_1(w + x * KW_BYTES);
#endif
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    enum { COLUMNS = KW_DP ? (KW_TAPS_W + 1) / 2 : KW_TAPS_W, WEIGHTS = KW_TAPS_H * COLUMNS, WORDS = KW_PLANES > 1 ? KW_LANES : 1 };
    (void)memory;
    for (kw_i64 unit = begin; unit < end; unit++) {
        char *to = a->packed + unit * WEIGHTS * WORDS * 4;
        for (int i = 0; i < WEIGHTS; i++) {
            for (int lane = 0; lane < WORDS; lane++, to += 4) {
                kw_i64 group = kw_min(unit * KW_PLANES + lane / (KW_LANES / KW_PLANES), a->groups - 1);
                write_weight(a, to, group, i / COLUMNS, i % COLUMNS * (KW_DP ? 2 : 1));
            }
        }
    }
}

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 strips = a->params.strips, blocks = ceil_div(a->groups, KW_PLANES), pad[3];
    const kw_i64 *size = SRC_SIZE(a), *to_size = DST_SIZE(a);
    kw_u32 *masks = memory;
    for (int axis = 1; axis < 3; axis++)
        pad[axis] = KW_BACKWARD ? a->filter[axis] - 1 - a->pad[axis] : a->pad[axis];
    for (kw_i64 i = 0; i < strips; i++)
        list_masks(a, masks + i * KW_UNIT_MASKS, i);
    kw_i64 plane = SRC_PLANE(a, size), to_plane = DST_PLANE(a, to_size);
    strip s = {.row = SRC_ROW(a, size), .to_row = DST_ROW(a, to_size), .above = pad[1], .height = size[1], .rows = to_size[1]};
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 group = unit % blocks * KW_PLANES, first = unit / blocks * a->groups + group;
        const char *from = SRC(a) + SRC_FIRST(a, unit / blocks, group, first, plane) - pad[2] * KW_BYTES;
        s.planes = kw_min(KW_PLANES, a->groups - group);
        kw_plane_steps_at(&s.steps, a, group);
        s.weights = a->packed + unit % blocks * KW_WEIGHTS * (KW_PLANES > 1 ? KW_VECTOR : 4);
        for (int i = 0; i < KW_PLANES; i++) { /* a plane that does not exist is the first once more */
            s.far[i] = (i < s.planes ? i : 0) * plane;
            s.to_far[i] = i * to_plane - i * (KW_RESULTS / KW_PLANES) * KW_BYTES;
        }
        s.next = KW_PLANES == 1 ? KW_LOADED * KW_BYTES : s.planes == 2 ? plane : 0;
        for (kw_i64 i = 0; i < strips; i++) {
            kw_i64 column = i * KW_VECS * KW_RESULTS;
            s.from = from + column * KW_STRIDE * KW_BYTES;
            s.to = DST(a) + DST_FIRST(a, unit / blocks, group, first, to_plane) + column * KW_BYTES;
            s.masks = masks + i * KW_UNIT_MASKS;
            sum_strip(&s);
        }
    }
}
