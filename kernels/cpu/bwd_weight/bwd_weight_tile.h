/* bwd_weight_tile.h: the register tile of conv.direct_bwd_weight. A tile is KW_TILE broadcast channels (rows) by KW_VECS vectors of
 * channels, for one filter tap; it sums products over output pixels, which are four nested counts. The tensor whose channels fill the
 * lanes is the vector side, the other the broadcast side. An element is 4 bytes: an fp32 or, for math=dp and amx, the bf16 of two
 * neighbouring pixels, of int8 their int16. math=amx has a tile of its own, bwd_weight_amx.h.
 *
 * The sums are named variables a<row>_<vector>, so that they stay in registers and compile fast; kw_config.h unrolls what goes over them:
 *   KW_EACH_ROW(DO)           DO(0) DO(1) ... DO(KW_SUM_ROWS - 1)
 *   KW_EACH_VECTOR(DO, row)   DO(row, 0) ... DO(row, KW_VECS - 1)
 *   KW_EACH_BUT_LAST(DO, row)  the same but for the last, KW_LAST_VECTOR(DO, row)
 * KW_TILE_LACKS: a block of channels that do not reach the last vector does not sum that one, as in cpu/lib/register_tile.h; with 8 lanes.
 * KW_TILE_FEWER: a tile of one spread channel less (KW_BWD_WEIGHT_FEWER) does not sum that one: 16 are 6, 5 and 5. */
#define KW_TILE_LACKS KW_TILE_MAY_LACK(KW_MATH == 0 && KW_STORAGE != 3 && KW_LANES == 8, 0, KW_VECS, KW_OWN || KW_WAYS)
#define KW_TILE_FEWER (KW_TILE > 1 && (KW_WAYS || (!KW_MERGE && KW_BWD_WEIGHT_FEWER(KW_MATH == 0, KW_LANES, KW_COPY))))
#define KW_READS_ON                                                                                                                        \
    (!KW_OWN && (KW_LANES_C ? KW_COPY == 0 && !KW_MERGE : KW_COPY != 1) &&                                                                 \
     KW_BWD_WEIGHT_READS_ON(KW_MATH == 0 && KW_STORAGE == 0 && KW_MASKS, KW_LANES, KW_VECS))
#define KW_VECTOR (4 * KW_LANES)                     /* bytes */
#define KW_TILE_ROW (KW_VECS * KW_VECTOR)            /* bytes of a row of sums */
#define KW_FILTER_ROWS (KW_MERGE > 1 ? KW_MERGE : 1) /* whose sums a tile has, KW_TILE rows each */
#define KW_SUM_ROWS (KW_TILE * KW_FILTER_ROWS)
#define KW_TILE_BYTES KW_BWD_WEIGHT_TILE_BYTES(KW_SUM_ROWS, KW_VECS *KW_LANES)
#define KW_ZIPS_Y (KW_PAIRS && KW_COPY == 2) /* the pixels of y are read where they lie, and pairs are made of them */

/* Whether storing sums takes more than putting them down. */
#define KW_NARROWS ((KW_STORAGE != 0 && KW_STORAGE != 3) || KW_EPILOGUE)

/* Tiles of which a part is the block's own store that part into dw themselves: through memory it took a tenth of 50 pixels' products. */
#define KW_PUTS_PARTS ((KW_MASKS || KW_LANES == 8) && KW_LANES_C && KW_STORAGE == 0 && KW_MATH == 0 && !KW_NARROWS && !KW_WAYS)

typedef struct kw_weight_job {
    const char *v, *b;                     /* the first pixel's channels, vector side and broadcast side */
    kw_i64 count[4], v_step[4], b_step[4]; /* pixels and their distances in bytes, outermost first; count[0] may be 0, the others not */
    const char *from;                      /* sums so far, row by row; NULL: none */
    char *to;                              /* the sums */
    kw_i64 to_step;                        /* bytes from row to row of to */
    int narrow;                            /* to is the result, of its type and behind the epilogue; else fp32 sums */
    kw_place at;                           /* where narrow */
    int lacks;                             /* where KW_TILE_LACKS: the last vector is neither read nor summed */
    int fewer;                             /* where KW_TILE_FEWER: nor is the last row, nor stored; not where lacks */
    kw_i64 last_lanes;                     /* where KW_READS_ON: of the last pixel's last vector; 0: all */
    int part, rows[2];                     /* 1: of the sums, these rows' lanes are stored */
    kw_i64 lanes[2];
    kw_i64 b_row;          /* bytes from a filter row's pixels to the next one's; math=amx: from a spread channel to the next */
    int registers;         /* math=amx: KW_AMX_PART_OF() */
    kw_i64 v_row;          /* math=amx: from a pair of pixels to the next; a step is a chunk */
    kw_i64 partner, alone; /* KW_ZIPS_Y: bytes to a pair's second pixel; 1: a row ends with half a pair, and no axes are joined */
    const char *soon;      /* what a next box reads, asked for beside each step, so many bytes on */
    kw_i64 soon_step;
} kw_weight_job;

#if KW_MATH == 3
#include "cpu/bwd_weight/bwd_weight_amx.h"
#else

#define KW_DECLARE(row, i) kw_va a##row##_##i = {0};
#define KW_DECLARE_ROW(row) KW_EACH_VECTOR(KW_DECLARE, row)

#define KW_RESUME(row, i) a##row##_##i = (kw_va)kw_load(job->from + ((row)*KW_VECS + (i)) * KW_VECTOR);
#define KW_RESUME_ROW(row) KW_EACH_VECTOR(KW_RESUME, row)

/* KW_KEEP keeps gcc from folding a load into each of its uses. */
#if KW_ZIPS_Y
#define KW_LOAD_VECTOR(row, i)                                                                                                             \
    kw_vf v##i = kw_zip_pixels(v + (i)*KW_LANES * KW_BYTES, v + job->partner + (i)*KW_LANES * KW_BYTES);                                   \
    KW_KEEP(v##i);
#define KW_LOAD_ALONE(row, i) kw_vf v##i = (kw_vf)kw_words_of_halves(*(const kw_vh_u *)(v + (i)*KW_LANES * KW_BYTES));
#else
#define KW_LOAD_VECTOR(row, i)                                                                                                             \
    kw_vf v##i = kw_load(v + (i)*KW_VECTOR);                                                                                               \
    KW_KEEP(v##i);
#endif
#define KW_LOAD_LAST(row, i) kw_vf v##i = kw_get_lanes(v + (i)*KW_VECTOR, last_lanes);
#if KW_OWN /* a copied element is a vector, each lane's own value */
#define KW_ELEMENT KW_VECTOR
#define KW_SPREAD(p) kw_load(p)
#elif KW_WAYS
#include "cpu/lib/interleave.h"
#define KW_ELEMENT (4 * KW_WAYS)
#define KW_SPREAD(p) kw_spread_ways(p)
#elif KW_PAIRS
#define KW_ELEMENT 4
#define KW_SPREAD(p) kw_spread_word(p)
#else
#define KW_ELEMENT 4
#define KW_SPREAD(p) kw_spread(p)
#endif
#if KW_DP
#define KW_MULTIPLY(row, i) a##row##_##i = kw_dp(a##row##_##i, x, v##i);
#elif KW_STORAGE == 3
#define KW_MULTIPLY(row, i) a##row##_##i = kw_dot_pairs(a##row##_##i, x, v##i);
#else
#define KW_MULTIPLY(row, i) a##row##_##i += x * v##i;
#endif
/* at goes from filter row to filter row; what gcc knew of it, it would add up for each tap and keep in memory. */
#define KW_SPREAD_BEGIN                                                                                                                    \
    kw_vf x;                                                                                                                               \
    const char *at = b;
#define KW_SPREAD_AT(row)                                                                                                                  \
    if ((row) > 0 && (row) % KW_TILE == 0) {                                                                                               \
        at += b_row;                                                                                                                       \
        __asm__("" : "+r"(at));                                                                                                            \
    }                                                                                                                                      \
    x = KW_SPREAD(at + (row) % KW_TILE * KW_ELEMENT);
#define KW_MULTIPLY_ROW(row)                                                                                                               \
    KW_SPREAD_AT(row)                                                                                                                      \
    if (KW_VECS > 1) KW_KEEP(x);                                                                                                           \
    KW_EACH_VECTOR(KW_MULTIPLY, row)

#define KW_MULTIPLY_BUT_LAST(row)                                                                                                          \
    if ((row) < KW_TILE - 1) {                                                                                                             \
        KW_MULTIPLY_ROW(row)                                                                                                               \
    }

#define KW_MULTIPLY_LACKING(row)                                                                                                           \
    x = KW_SPREAD(b + (row)*KW_ELEMENT);                                                                                                   \
    if (KW_VECS > 2) KW_KEEP(x);                                                                                                           \
    KW_EACH_BUT_LAST(KW_MULTIPLY, row)

/* A load a step: merged rows, of which nothing is asked for, often have as many loads as products, and two of each begin in a cycle. */
#if KW_MERGE
#define KW_ASK_SOON
#else
#define KW_ASK_SOON                                                                                                                        \
    __builtin_prefetch(soon, 0, 2);                                                                                                        \
    soon += soon_step;
#endif

#define KW_ASK_SUMS(row)                                                                                                                   \
    for (int line = 0; line < KW_TILE_ROW; line += KW_LINE)                                                                                \
        __builtin_prefetch(sums_to + line, 1);                                                                                             \
    sums_to += job->to_step;

#define KW_PUT(row, i) kw_put(to + (i)*KW_VECTOR, (kw_vf)a##row##_##i);
#define KW_PUT_ROW(row)                                                                                                                    \
    if ((row) > 0) to += job->to_step;                                                                                                     \
    if (!KW_TILE_FEWER || (row) < KW_TILE - 1 || !job->fewer) {                                                                            \
        KW_EACH_VECTOR(KW_PUT, row)                                                                                                        \
    }

#define KW_STORE(row, i) kw_result_x(to + (i)*KW_LANES * KW_OUT_BYTES, (kw_vf)a##row##_##i, job->at);
#define KW_STORE_ROW(row)                                                                                                                  \
    if ((row) > 0) to += job->to_step;                                                                                                     \
    if (!KW_TILE_FEWER || (row) < KW_TILE - 1 || !job->fewer) {                                                                            \
        KW_EACH_VECTOR(KW_STORE, row)                                                                                                      \
    }

/* What of the tile is the block's own, where it is not all. Without masks a vector of which only some lanes are is stored by vmaskmovps, which on
 * some cores takes ten stores' time, and whole ones are not. */
#if !KW_MASKS && KW_PUTS_PARTS
#define KW_PART_MASK(row, i)                                                                                                               \
    kw_i64 from##i = job->lanes[0] - (i)*KW_LANES, to##i = job->lanes[1] - (i)*KW_LANES;                                                   \
    kw_vi own##i = lanes_between(from##i, to##i);                                                                                          \
    int whole##i = from##i <= 0 && to##i >= KW_LANES, some##i = to##i > 0 && from##i < KW_LANES;
#define KW_PUT_PART(row, i)                                                                                                                \
    if (whole##i)                                                                                                                          \
        kw_put(to + (i)*KW_VECTOR, (kw_vf)a##row##_##i);                                                                                   \
    else if (some##i)                                                                                                                      \
        __asm__("vmaskmovps %1, %2, %0" : "+m"(*(kw_vf_u *)(to + (i)*KW_VECTOR)) : "x"((kw_vf)a##row##_##i), "x"(own##i));
KW_INLINE kw_vi lanes_between(kw_i64 first, kw_i64 last) {
    const kw_vi lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return (lane >= (int)kw_max(first, -1)) & (lane < (int)kw_min(last, KW_LANES));
}
#else
#define KW_PART_MASK(row, i)                                                                                                               \
    kw_lanes_mask own##i =                                                                                                                 \
        kw_first_lanes(kw_max(job->lanes[1] - (i)*KW_LANES, 0)) & ~kw_first_lanes(kw_max(job->lanes[0] - (i)*KW_LANES, 0));
#define KW_PUT_PART(row, i) kw_put_lanes(to + (i)*KW_VECTOR, (kw_vf)a##row##_##i, own##i);
#endif
#define KW_PUT_PART_ROW(row)                                                                                                               \
    if ((row) > 0) to += job->to_step;                                                                                                     \
    if ((row) >= job->rows[0] && (row) < job->rows[1]) {                                                                                   \
        KW_EACH_VECTOR(KW_PUT_PART, row)                                                                                                   \
    }

#if KW_OWN
#define KW_TILE_FUNCTION static KW_BY_REGIONS __attribute__((noinline))
#else
#define KW_TILE_FUNCTION static __attribute__((noinline))
#endif

KW_TILE_FUNCTION void kw_tile(const kw_weight_job *job) {
    KW_EACH_ROW(KW_DECLARE_ROW)
    if (job->from) {
        KW_EACH_ROW(KW_RESUME_ROW)
    }
    /* The lines that the sums are stored to are fetched while the sums are made. */
    const char *sums_to = job->to;
    KW_EACH_ROW(KW_ASK_SUMS)
    const char *v0 = job->v, *b0 = job->b;
    kw_i64 b_row __attribute__((unused)) = job->b_row;
#if KW_READS_ON
    kw_lanes_mask last_lanes = kw_first_lanes(job->last_lanes);
#endif
    const char *soon __attribute__((unused)) = job->soon;
    kw_i64 soon_step __attribute__((unused)) = job->soon_step;
    for (kw_i64 i0 = job->count[0]; i0 > 0; i0--, v0 += job->v_step[0], b0 += job->b_step[0]) {
        const char *v1 = v0, *b1 = b0;
        for (kw_i64 i1 = job->count[1]; i1 > 0; i1--, v1 += job->v_step[1], b1 += job->b_step[1]) {
            const char *v2 = v1, *b2 = b1;
            for (kw_i64 i2 = job->count[2]; i2 > 0; i2--, v2 += job->v_step[2], b2 += job->b_step[2]) {
                const char *v = v2, *b = b2;
                kw_i64 i = job->count[3], v_step = job->v_step[3], b_step = job->b_step[3];
#if KW_TILE_LACKS
                if (job->lacks) {
                    do {
                        KW_EACH_BUT_LAST(KW_LOAD_VECTOR, 0)
                        KW_ASK_SOON
                        kw_vf x;
                        KW_EACH_ROW(KW_MULTIPLY_LACKING)
                        v += v_step;
                        b += b_step;
                    } while (--i);
                    continue;
                }
#endif
#if KW_TILE_FEWER
                if (job->fewer) {
                    do {
                        KW_EACH_VECTOR(KW_LOAD_VECTOR, 0)
                        KW_ASK_SOON
                        KW_SPREAD_BEGIN
                        KW_EACH_ROW(KW_MULTIPLY_BUT_LAST)
                        v += v_step;
                        b += b_step;
                    } while (--i);
                    continue;
                }
#endif
#if KW_ZIPS_Y
                if (i == 0) goto half_a_pair;
#endif
#if KW_READS_ON
                int last = job->last_lanes && (i0 | i1 | i2) == 1;
                if (last && --i == 0) goto last_pixel;
#endif
                do {
                    KW_EACH_VECTOR(KW_LOAD_VECTOR, 0)
                    KW_ASK_SOON
                    KW_SPREAD_BEGIN
                    KW_EACH_ROW(KW_MULTIPLY_ROW)
                    v += v_step;
                    b += b_step;
                } while (--i);
#if KW_READS_ON
            last_pixel:
                if (last) {
                    KW_EACH_BUT_LAST(KW_LOAD_VECTOR, 0)
                    KW_LAST_VECTOR(KW_LOAD_LAST, 0)
                    KW_SPREAD_BEGIN
                    KW_EACH_ROW(KW_MULTIPLY_ROW)
                }
#endif
#if KW_ZIPS_Y
            half_a_pair:
                if (job->alone) {
                    KW_EACH_VECTOR(KW_LOAD_ALONE, 0)
                    KW_SPREAD_BEGIN
                    KW_EACH_ROW(KW_MULTIPLY_ROW)
                }
#endif
            }
        }
    }
    char *to = job->to;
#if KW_PUTS_PARTS
    if (job->part) {
        KW_EACH_VECTOR(KW_PART_MASK, 0)
        KW_EACH_ROW(KW_PUT_PART_ROW)
        return;
    }
#endif
#if KW_LANES_C && KW_NARROWS
    if (job->narrow) {
        KW_EACH_ROW(KW_STORE_ROW)
        return;
    }
#endif
    KW_EACH_ROW(KW_PUT_ROW)
}
#endif
