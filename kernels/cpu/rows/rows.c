/* rows.c: depthwise convolution of channels-first tensors with small square images, forward and backward data of stride 1; family
 * conv.depthwise_rows. A whole row of the source is in one register (of fp32 with stride 2 in two), beside those of other channels where it
 * fills half or a quarter. It is read once; what the taps of a filter row meet is picked out of it by index vectors, where planes.c reads
 * again. A share has at least one lane more than the row has pixels: that lane is zero, and whatever lies beyond the row is picked there.
 *
 * A unit is the planes of an image that share vectors. Its size is compiled in, so that all of it is one run of instructions without a
 * test: a row of the source meets the filter rows of all results that want it, and no others. Where registers do not hold the weights but
 * hold the image, one column of the filter comes after the other. Planes that a last unit lacks are read as its first, and written beside.
 *
 * bf16 by dp: a 32-bit lane holds two neighbouring pixels, which meet two neighbouring taps. With stride 1, pixels of even and odd columns
 * have sums of their own. The last tap of an odd number has no partner: zero is picked for it.
 *
 * kw_config.h names the sums a<row>_<part> and the weights w<number>, and writes a unit out:
 *   KW_HOLD_INDEXES   the index vectors as variables i<load>, where they are wanted throughout
 *   KW_HOLD_WEIGHTS   the weights as variables, where registers hold them; else KW_WEIGHT(number) is one
 *   KW_UNIT           KW_ROW(row) takes a row of the source, KW_PICK what meets a tap, KW_FIRST and KW_MULTIPLY are products, KW_FINISH
 *                     writes a row of the result */
#include "cpu/rows/args.h"
#define KW_KERNEL_PARAMS kw_rows_params
#include "kw_config.h"
#include "cpu/lib/plane_steps.h"

#define KW_VECTOR (4 * KW_LANES)
#define KW_WORDS (KW_STORAGE == 1 && (KW_DP || KW_STRIDE == 2)) /* what is picked is pairs of pixels */
#define KW_TWICE (KW_STORAGE == 0 && KW_STRIDE == 2)            /* a row, or a share, is in two registers */
/* Pixels of a plane's share of a row, and of its results. */
#define KW_SHARE ((KW_WORDS || KW_TWICE ? 2 * KW_LANES : KW_LANES) / KW_PLANES)
#define KW_RESULTS ((KW_DP && KW_STRIDE == 1 ? 2 * KW_LANES : KW_LANES) / KW_PLANES)

/* Planes that are loaded into a register beside another one of the same half. */
#define KW_BESIDE(i) (!KW_TWICE && (i) % 2 && (KW_PLANES == 4 || (KW_BYTES == 2 && !KW_WORDS)))

#if KW_BACKWARD
#define SRC(a) (a)->y
#define DST(a) (a)->x
#else
#define SRC(a) (a)->x
#define DST(a) (a)->y
#endif

#define KW_PAD ((KW_TAPS - 1) / 2)
#define KW_RESULT ((KW_IMAGE - 1) / KW_STRIDE + 1) /* rows and columns of the result */
/* The mask of a plane's row in its share of what is loaded. */
#define KW_PIXELS(i) ((kw_u32)((1ull << KW_IMAGE) - 1) << (KW_BESIDE(i) ? KW_SHARE : 0))

#define KW_ALONE(load) (KW_DP && KW_TAPS % 2 && (load) >= KW_LOADS - (KW_STRIDE == 1 ? 2 : 1)) /* its last tap has no partner */

typedef struct unit {
    const char *from[KW_PLANES], *weights, *indexes; /* a plane, less what is beside it in half a register */
    char *to[KW_PLANES];
    kw_plane_steps steps;
} unit;

/* Which pixel of the row's vectors each lane of a load meets; the share's last lane, which is zero, where there is none. */
static void list_indexes(char *to) {
    for (int load = 0; load < KW_LOADS; load++, to += KW_VECTOR) {
        int lanes = KW_WORDS ? 2 * KW_LANES : KW_LANES, alone = KW_ALONE(load);
        for (int lane = 0; lane < lanes; lane++) {
            int plane = lane / (lanes / KW_PLANES), place = lane % (lanes / KW_PLANES);
            kw_i64 column = (KW_TWICE ? 2 * place : place) + load * KW_LOAD_STEP - KW_PAD;
            int none = column < 0 || column >= KW_IMAGE || (alone && lane % 2);
            kw_i64 index = plane * KW_SHARE + (none ? KW_SHARE - 1 : column);
#if KW_WORDS
            ((kw_u16 *)to)[lane] = (kw_u16)index;
#else
            ((kw_u32 *)to)[lane] = (kw_u32)index;
#endif
        }
    }
}

/* --- a row of the source --- */
#if KW_BYTES == 4
#define KW_MOVE "vmovups"
#else
#define KW_MOVE "vmovdqu16"
#endif
/* A register, its halves and quarters. */
typedef kw_i64 whole __attribute__((vector_size(64)));
typedef kw_i64 half __attribute__((vector_size(32)));
typedef kw_i64 quarter __attribute__((vector_size(16)));
typedef kw_i64 whole_u __attribute__((vector_size(64), aligned(1), may_alias));
typedef kw_i64 half_u __attribute__((vector_size(32), aligned(1), may_alias));
typedef kw_i64 quarter_u __attribute__((vector_size(16), aligned(1), may_alias));

KW_INLINE whole take_whole(const char *p, kw_u32 mask) {
    whole v;
    __asm__(KW_MOVE " %1, %0%{%2%}%{z%}" : "=v"(v) : "m"(*(const whole_u *)p), "Yk"(mask));
    return v;
}
/* The lower half, the rest is zero; a share beside what is in it; the upper half. */
KW_INLINE whole take_lower(const char *p, kw_u32 mask) {
    whole v;
    __asm__(KW_MOVE " %1, %t0%{%2%}%{z%}" : "=v"(v) : "m"(*(const half_u *)p), "Yk"(mask));
    return v;
}
KW_INLINE whole take_beside(whole v, const char *p, kw_u32 mask) {
    __asm__(KW_MOVE " %1, %t0%{%2%}" : "+v"(v) : "m"(*(const half_u *)p), "Yk"(mask));
    return v;
}
#define KW_UPPER_WORDS ((kw_u32)((1ull << KW_IMAGE * KW_BYTES / 4) - 1) << 8)
KW_INLINE whole take_upper(whole v, const char *p) {
    __asm__("vbroadcastf32x8 %1, %0%{%2%}" : "+v"(v) : "m"(*(const half_u *)p), "Yk"(KW_UPPER_WORDS));
    return v;
}

#if KW_TWICE
#define KW_ROW_ITSELF row.low
typedef struct row_of {
    kw_vf low, high;
} row_of;
KW_INLINE row_of take_row(const unit *u, kw_i64 at) {
    kw_vf high = (kw_vf)(KW_PLANES == 1 ? take_whole(u->from[0] + at + KW_VECTOR, KW_PIXELS(0) >> KW_LANES)
                                        : take_whole(u->from[KW_PLANES - 1] + at, KW_PIXELS(1)));
    return (row_of){(kw_vf)take_whole(u->from[0] + at, KW_PIXELS(0)), high};
}
KW_INLINE kw_vf pick(row_of row, kw_vu index) {
    __asm__("vpermi2ps %2, %1, %0" : "+v"(index) : "v"(row.low), "v"(row.high));
    return (kw_vf)index;
}
#else
#define KW_ROW_ITSELF row
typedef kw_vf row_of;
KW_INLINE row_of take_row(const unit *u, kw_i64 at) {
    whole v = take_lower(u->from[0] + at, KW_PIXELS(0));
#if KW_BYTES == 2 && !KW_WORDS
    if (KW_PLANES == 2) v = take_beside(v, u->from[KW_PLANES - 1] + at, KW_PIXELS(1));
    return kw_widen((kw_vh)__builtin_shufflevector(v, v, 0, 1, 2, 3));
#elif KW_PLANES == 1
    return (kw_vf)take_whole(u->from[0] + at, KW_PIXELS(0));
#elif KW_PLANES == 2 && KW_IMAGE * KW_BYTES % 4 == 0
    return (kw_vf)take_upper(v, u->from[1] + at);
#else
    whole upper = take_lower(u->from[KW_PLANES / 2] + at, KW_PIXELS(KW_PLANES / 2));
#if KW_PLANES == 4
    v = take_beside(v, u->from[1] + at, KW_PIXELS(1));
    upper = take_beside(upper, u->from[3] + at, KW_PIXELS(3));
#endif
    return (kw_vf)__builtin_shufflevector(v, upper, 0, 1, 2, 3, 8, 9, 10, 11);
#endif
}
KW_INLINE kw_vf pick(row_of row, kw_vu index) {
    kw_vf v;
#if KW_WORDS
    __asm__("vpermw %2, %1, %0" : "=v"(v) : "v"(index), "v"(row));
#else
    __asm__("vpermps %2, %1, %0" : "=v"(v) : "v"(index), "v"(row));
#endif
    return v;
}
#endif

/* Of the tap in the middle nothing is picked: its pixels are where the row has them. */
#define KW_MIDDLE(load) (!KW_TWICE && (load)*KW_LOAD_STEP == KW_PAD && !KW_ALONE(load))
#define KW_PICKED(load) (KW_MIDDLE(load) ? KW_ROW_ITSELF : pick(row, i##load))
#define KW_PICK(x, load) x = KW_PICKED(load);
/* Of pairs of pixels the even and the odd ones. */
#define KW_PICK_TWO(x, z, load) x = KW_PICKED(load), z = (kw_vf)((kw_vu)x & 0xffff0000u), x = (kw_vf)((kw_vu)x << 16);
#if KW_DP
#define KW_MULTIPLY(a, x, weight) a = kw_dp(a, x, weight);
#define KW_FIRST(a, x, weight) a = kw_dp((kw_vf){0}, x, weight);
#else
#define KW_MULTIPLY(a, x, weight) a += (x) * (weight);
#define KW_FIRST(a, x, weight) a = (x) * (weight);
#endif

/* --- results, by halves or quarters of a register: those are written fastest where lines are crossed. While its plane goes on long enough
 * a piece is written whole: what is too much the rows below write over. --- */
#define KW_PIECE (KW_RESULTS * KW_BYTES < 32 ? 16 : 32)
#define KW_PIECES ((KW_DP && KW_STRIDE == 1) || KW_BYTES == 4 ? 64 / KW_PIECE : 32 / KW_PIECE)
#if KW_RESULTS * KW_BYTES < 32
typedef quarter piece;
typedef quarter_u piece_u;
#define KW_PIECE_OF(v, i) __builtin_shufflevector(v, v, 2 * (i), 2 * (i) + 1)
#else
typedef half piece;
typedef half_u piece_u;
#define KW_PIECE_OF(v, i) __builtin_shufflevector(v, v, 4 * (i), 4 * (i) + 1, 4 * (i) + 2, 4 * (i) + 3)
#endif
#if (KW_DP && KW_STRIDE == 1) || KW_BYTES == 4
typedef whole results;
#if KW_RESULTS * KW_BYTES < 32
#define KW_EACH_PIECE(DO) DO(0) DO(1) DO(2) DO(3)
#else
#define KW_EACH_PIECE(DO) DO(0) DO(1)
#endif
#else
typedef half results;
#if KW_RESULTS * KW_BYTES < 32
#define KW_EACH_PIECE(DO) DO(0) DO(1)
#else
#define KW_EACH_PIECE(DO) DO(0)
#endif
#endif

/* Of sums of pixels of even and of odd columns; of two that are added; of one. */
#if KW_DP && KW_STRIDE == 1
KW_INLINE results results_of(kw_vf even, kw_vf odd) {
    typedef kw_u16 words __attribute__((vector_size(4 * KW_LANES)));
    words both;
    __asm__("vcvtne2ps2bf16 %1, %2, %0" : "=v"(both) : "v"(even), "v"(odd));
    return (results)__builtin_shufflevector(both, both, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23, 8, 24, 9, 25, 10, 26, 11,
                                            27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif KW_BYTES == 2
KW_INLINE results results_of_one(kw_vf v) {
    kw_vh h;
    kw_store_x(&h, v);
    return (results)h;
}
#else
#define results_of_one(v) (results)(v)
#endif

/* Pieces of a plane, of what a piece has; where a piece of a plane begins, and its pixels. */
enum { SPLIT = KW_PIECES / KW_PLANES, PER_PIECE = KW_PIECE / KW_BYTES, PLANE = KW_RESULT * KW_RESULT * KW_BYTES };
#define KW_TO(i, row) (u->to[(i) / SPLIT] + (row)*KW_RESULT * KW_BYTES + (i) % SPLIT * KW_PIECE)
#define KW_TO_PIXELS(i) ((kw_u32)(((1ull << KW_RESULT) - 1) >> (i) % SPLIT * PER_PIECE))

KW_INLINE void put_masked(char *p, piece v, kw_u32 mask) { __asm__(KW_MOVE " %1, %0%{%2%}" : "+m"(*(piece_u *)p) : "v"(v), "Yk"(mask)); }
#define KW_PUT_WHOLE(i) *(piece_u *)KW_TO(i, row) = KW_PIECE_OF(v, i);
#define KW_PUT_MASKED(i) put_masked(KW_TO(i, row), KW_PIECE_OF(v, i), KW_TO_PIXELS(i));

KW_INLINE void put_results(const unit *u, int row, results v) {
    if (row * KW_RESULT * KW_BYTES + SPLIT * KW_PIECE <= PLANE) {
        KW_EACH_PIECE(KW_PUT_WHOLE)
    } else {
        KW_EACH_PIECE(KW_PUT_MASKED)
    }
}

/* A word of each plane in its share of a vector. */
KW_INLINE kw_vf spread_weight(const char *p) {
#if KW_PLANES == 1
    return kw_spread_word(p);
#elif KW_PLANES == 2
    kw_vf v = kw_spread_word(p);
    __asm__("vbroadcastss %1, %0%{%2%}" : "+v"(v) : "m"(*(const float *)(p + 4)), "Yk"((kw_lanes_mask)0xff00));
    return v;
#else
    kw_vf v;
    typedef float four __attribute__((vector_size(16)));
    __asm__("vbroadcastf32x4 %1, %0" : "=v"(v) : "m"(*(const four *)p));
    return __builtin_shufflevector(v, v, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
#endif
}

#define KW_ROW(number) row = take_row(u, (number)*KW_IMAGE * KW_BYTES);
#define KW_INDEX(load) kw_vu i##load = (kw_vu)kw_load(u->indexes + (load)*KW_VECTOR);
#define KW_FINISH_ONE(number, sum) put_results(u, number, results_of_one(kw_plane_result(&u->steps, sum)));
#if KW_DP && KW_STRIDE == 1
#define KW_FINISH(number, even, odd) put_results(u, number, results_of(kw_plane_result(&u->steps, even), kw_plane_result(&u->steps, odd)));
#else
#define KW_FINISH(number, even, odd) KW_FINISH_ONE(number, (even) + (odd))
#endif

KW_INLINE void sum_unit(const unit *u) {
    const char *w = u->weights;
    row_of row;
    KW_HOLD_WEIGHTS
    KW_HOLD_INDEXES
    KW_UNIT(void) w;
}

/* --- weights, packed: of a unit, by rows of the filter, columns or their pairs: a word of each plane --- */
static void write_weight(const kw_kernel_args *a, char *to, kw_i64 group, int row, int col) {
    kw_i64 y = KW_BACKWARD ? KW_TAPS - 1 - row : row;
    const char *w = a->w + (group * KW_TAPS + y) * KW_TAPS * KW_BYTES;
    kw_i64 x = KW_BACKWARD ? KW_TAPS - 1 - col : col;
#if KW_DP
    kw_i64 partner = KW_BACKWARD ? x - 1 : x + 1;
    kw_u32 high = col + 1 < KW_TAPS ? *(const kw_u16_u *)(w + partner * 2) : 0;
    *(kw_u32 *)to = *(const kw_u16_u *)(w + x * 2) | high << 16;
#else
    *(float *)to = kw_load_1(w + x * KW_BYTES);
#endif
}

enum { COLUMNS = KW_DP ? (KW_TAPS + 1) / 2 : KW_TAPS };

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    for (kw_i64 block = begin; block < end; block++) {
        char *to = a->packed + block * KW_WEIGHTS * KW_PLANES * 4;
        for (int i = 0; i < KW_WEIGHTS; i++) {
            for (int plane = 0; plane < KW_PLANES; plane++, to += 4)
                write_weight(a, to, kw_min(block * KW_PLANES + plane, a->groups - 1), i / COLUMNS, i % COLUMNS * (KW_DP ? 2 : 1));
        }
    }
}

/* One after the other: compilers at the level of optimisation that kernels are built with leave a loop as it is. */
#if KW_PLANES == 1
#define KW_EACH_PLANE(DO) DO(0)
#elif KW_PLANES == 2
#define KW_EACH_PLANE(DO) DO(0) DO(1)
#else
#define KW_EACH_PLANE(DO) DO(0) DO(1) DO(2) DO(3)
#endif
#define KW_POINT(i)                                                                                                                        \
    u.from[i] = from + (i < planes ? i * from_plane : 0) - (KW_BESIDE(i) ? KW_SHARE * KW_BYTES : 0);                                       \
    u.to[i] = i < planes ? to + i * to_plane : beside;

/* Thread memory: the index vectors; the weights of a unit that registers do not hold; planes that no unit has. */
void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    enum { FROM_PLANE = KW_IMAGE * KW_IMAGE * KW_BYTES, EXPANDED = KW_PLANES > 1 && !KW_HELD ? KW_WEIGHTS : 0 };
    kw_i64 blocks = a->params.planes, image = begin / blocks, block = begin % blocks;
    char *weights = (char *)memory + KW_LOADS * KW_VECTOR, *beside = weights + EXPANDED * KW_VECTOR;
    unit u = {.indexes = memory};
    list_indexes(memory);
    for (kw_i64 number = begin; number < end; number++) {
        kw_i64 group = block * KW_PLANES, first = image * a->groups + group, planes = a->groups - group;
#ifdef KW_PITCHED
        const kw_i64 *from_step = KW_BACKWARD ? a->y_step : a->x_step, *to_step = KW_BACKWARD ? a->x_step : a->y_step;
        kw_i64 from_plane = from_step[4] * KW_BYTES, to_plane = to_step[4] * KW_BYTES;
        const char *from = SRC(a) + image * from_step[0] * KW_BYTES + group * from_plane;
        char *to = DST(a) + image * to_step[0] * KW_BYTES + group * to_plane;
        (void)first;
#else
        enum { from_plane = FROM_PLANE, to_plane = PLANE };
        const char *from = SRC(a) + first * FROM_PLANE;
        char *to = DST(a) + first * PLANE;
#endif
        KW_EACH_PLANE(KW_POINT)
        kw_plane_steps_at(&u.steps, a, group);
        u.weights = a->packed + block * KW_WEIGHTS * KW_PLANES * 4;
        for (int i = 0; i < EXPANDED; i++)
            *(kw_vf *)(weights + i * KW_VECTOR) = spread_weight(u.weights + i * KW_PLANES * 4);
        if (EXPANDED) u.weights = weights;
        sum_unit(&u);
        if (++block == blocks) block = 0, image++;
    }
}
