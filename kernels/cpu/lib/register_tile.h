/* register_tile.h: kw_tile(), the register tile of the dense families: KW_TILE_ROWS x KW_TILE_COLS pixels by KW_TILE_VECS vectors of
 * channels, summed over the runs of a job. Per step of a run the vectors of weights are loaded once, and each pixel's value is spread to
 * all lanes.
 *
 * The sums are named variables a<pixel>_<vector>, so that they stay in registers and compile fast; kw_config.h unrolls what goes over
 * them:
 *   KW_EACH_PIXEL(DO)          DO(pixel, column, base pointer, distance from it) for each pixel
 *   KW_EACH_VECTOR(DO, pixel)  DO(pixel, vector) for each vector
 *   KW_EACH_BUT_LAST(DO, pixel)  the same for all vectors but the last
 *   KW_EACH_PAIR(DO, TWO, pixel)  TWO(pixel, vector, next vector) for each two, DO(pixel, vector) for one that is left
 *   KW_EACH_BASE(DO)           DO(base pointer, row, first column) for each base pointer
 *   KW_FIRST_COLUMN            where KW_TILE_SKIP: the pixels of the first column, as bits
 *   KW_EACH_GROUP(DO)          where KW_TILE_SKIP: DO(bits, list) for some pixels each, of which list(DO) is like KW_EACH_PIXEL(DO)
 * Pixels lie at a run-time distance. Seven of them share a base pointer: with the multiples 1, 3 and 5 of the distance in registers, the
 * address modes of x86 (scales 1, 2, 4) reach 0 to 6. The empty asm statements keep gcc from folding a load into each of its uses (the
 * loop would become load bound) and from spreading the addresses over more registers than there are. Further defined:
 *   KW_TILE_ODD    runs may end with half a pair (job->odd)     KW_TILE_AHEAD  a line of job->ahead is prefetched a step
 *   KW_TILE_SKIP   runs in which all pixels read padding are left out, and of others the groups of KW_TILE_GROUP pixels that do (not of
 *                  KW_HEADED: a run's sums stand in front of all pixels alike) or that the tile lacks, so that it costs little more than it
 *                  has. What is left out is not read either
 *   KW_EPILOGUE_LONG  each result takes so many instructions that a loop makes them, from spill, not a line of them for each sum
 *   KW_TILE_FEWER  of a text that defines it 1: a tile that lacks its last column, or more, does not sum that one
 *   KW_TILE_LACKS  a block of channels that do not reach the tile's last vector does not sum that one (KW_TILE_MAY_LACK): of 5 vectors,
 *                  tiles of 3 take as long as 5, not 6. Only where padding leaves out nothing, for edges are few
 *   KW_TILE_TWICE  of a text that has one run and defines it 1: the last element of a run of odd length (job->odd) is multiplied together with
 *                  the one before it, whose weight is zero there: the loop goes one step more, from half a step back. What it meets twice is a
 *                  term of the same sums, so an infinity makes NaN of no other result
 *   KW_TILE_LACKS_A_COLUMN  edges that lack one column have a loop without it: of few vectors products take no longer than a step's tests
 *   KW_TILE_OWN    a pixel's step is a whole vector, each lane's own value (own_lanes.h), which is read and not spread
 *   KW_WAYS        of fp32: not 0: a pixel's step is so many values side by side, 2 or 4, which are spread over and over
 *   KW_TILE_FAR    of a text that defines it 1: weights are asked for job->far bytes ahead
 *   KW_TILE_SOON   of a text that defines it 1: beside each step something of job->soon is asked for, which comes later than that
 *   KW_TILE_APART  of a text that defines it 1: the vectors of a step lie job->w_step bytes behind those of the step before
 *   KW_TILE_ZIPS   of such a text: where job->apart is not 0 the vectors are pairs yet to be made, out of elements and those so many bytes behind
 *   KW_TILE_JOINS  of a text that defines it 1: so many runs of the table are one (job->run_step), of as many times the steps
 *   KW_TILE_STRIDES  of a text that defines it 1: a pixel's steps lie job->src_step bytes apart
 *   KW_TILE_REPEATS  of a text that defines it 1: so many tiles of one row of pixels and of equal columns follow each other (job->tiles). Between
 *                  two calls products wait: what a call begins and ends with takes some 50 cycles, a step of a tile 6 to 14
 *   KW_TILE_RESUMES  of a text that defines it 1: sums begin with what is in spill (job->more), and are left there (job->rest)
 *   KW_TILE_SUMS   the sums are left in spill for the caller to add up; nothing is written to out */
#include "cpu/lib/dense.h"

#ifndef KW_TILE_FAR
#define KW_TILE_FAR 0
#endif

#ifndef KW_TILE_SOON
#define KW_TILE_SOON 0
#endif

#ifndef KW_TILE_JOINS
#define KW_TILE_JOINS 0
#endif

#ifndef KW_TILE_STRIDES
#define KW_TILE_STRIDES 0
#endif
#ifndef KW_WAYS
#define KW_WAYS 0
#endif
#define KW_SPREAD_BYTES (KW_WAYS ? 4 * KW_WAYS : 4) /* of a step of a pixel, that are spread */
#define KW_RUN_STEP(job) (KW_TILE_JOINS ? (job)->run_step : 1)

#if KW_TILE_APART
#define KW_WEIGHTS_STEP(job) (job)->w_step
#else
#define KW_WEIGHTS_STEP(job) (KW_TILE_VECS * KW_VECTOR)
#endif

#define KW_TILE_LACKS_A_COLUMN (KW_LANES == 8 || KW_TILE_VECS <= 2)
#define KW_TILE_LACKS KW_TILE_MAY_LACK(KW_MATH == 0, KW_QUADS, KW_TILE_VECS, KW_TILE_OWN || KW_TILE_SUMS)

#if KW_HEADED
#define KW_DECLARE_HEAD(pixel, v) kw_vi head##v = {0};
#define KW_ADD_HEAD(pixel, v) head##v += (kw_vi)kw_load(job->w + run->w + (v)*KW_VECTOR);
#define KW_MULTIPLY_HEAD(pixel, v) head##v *= job->times;
#define KW_DECLARE(pixel, v) kw_vi a##pixel##_##v = head##v;
#else
#define KW_DECLARE(pixel, v) kw_va a##pixel##_##v = {0};
#endif
#define KW_DECLARE_PIXEL(pixel, col, base, distance) KW_EACH_VECTOR(KW_DECLARE, pixel)
#define KW_DECLARE_BASE(base, row, first) const char *base = src + run->src + (row)*job->src_row + (first)*s1;
#define KW_ADVANCE_BASE(base, row, first) base += KW_TILE_OWN ? KW_VECTOR : KW_TILE_STRIDES ? src_step : KW_SPREAD_BYTES;
#define KW_HALF_BACK(base, row, first) base -= 2;

#define KW_LOAD_WEIGHTS(pixel, v)                                                                                                          \
    kw_vf w##v = kw_load(w + (v)*KW_VECTOR);                                                                                               \
    KW_KEEP(w##v);
#define KW_ASK_WEIGHTS(pixel, v) __builtin_prefetch(w + far + (v)*KW_VECTOR);
#if KW_TILE_OWN
#define KW_SPREAD(p) kw_load(p)
#elif KW_WAYS
#include "cpu/lib/interleave.h"
#define KW_SPREAD(p) kw_spread_ways(p)
#elif KW_MATH != 0
#define KW_SPREAD(p) kw_spread_word(p)
#else
#define KW_SPREAD(p) kw_spread(p)
#endif
#if KW_MATH != 0
#if KW_DP
#define KW_MULTIPLY(pixel, v) a##pixel##_##v = kw_dp(a##pixel##_##v, x, w##v);
#elif KW_QUADS
#define KW_MULTIPLY(pixel, v) a##pixel##_##v = kw_dot_quads(a##pixel##_##v, x, w##v);
#else
#define KW_MULTIPLY(pixel, v) a##pixel##_##v = kw_dot_wide(a##pixel##_##v, x, w##v);
#endif
#else
#define KW_MULTIPLY(pixel, v) a##pixel##_##v += x * w##v;
#endif
/* x: what is spread. Of math=wide with 512 bits two multiplications come before their two additions, of one vector those of all pixels before
 * theirs: in turns an addition takes the multipliers' slots, and a Zen 4 gets 2.7 products done in the time of 3.3. */
#define KW_MULTIPLIES_FIRST (KW_MATH == 2 && KW_LANES == 16 && KW_TILE_VECS == 1 && KW_TILE_PIXELS <= 15)
#if KW_MULTIPLIES_FIRST
#define KW_DECLARE_PRODUCT(pixel, col, base, distance) kw_vi t##pixel = {0};
#define KW_ADD_PIXEL(pixel, col, base, distance) a##pixel##_0 += t##pixel;
#define KW_MULTIPLY_X(pixel, spread)                                                                                                       \
    x = spread;                                                                                                                            \
    t##pixel = kw_wide_products(x, w0);
#else
#define KW_ADD_PIXEL(pixel, col, base, distance)
#if KW_MATH == 2 && KW_LANES == 16
#define KW_MULTIPLY_TWO(pixel, v, u)                                                                                                       \
    {                                                                                                                                      \
        kw_vi first = kw_wide_products(x, w##v), second = kw_wide_products(x, w##u);                                                       \
        a##pixel##_##v += first;                                                                                                           \
        a##pixel##_##u += second;                                                                                                          \
    }
#define KW_MULTIPLY_ALL(pixel) KW_EACH_PAIR(KW_MULTIPLY, KW_MULTIPLY_TWO, pixel)
#else
#define KW_MULTIPLY_ALL(pixel) KW_EACH_VECTOR(KW_MULTIPLY, pixel)
#endif
#define KW_MULTIPLY_X(pixel, spread)                                                                                                       \
    x = spread;                                                                                                                            \
    if (KW_TILE_VECS > 1) KW_KEEP(x);                                                                                                      \
    KW_MULTIPLY_ALL(pixel)
#endif
#define KW_MULTIPLY_PIXEL(pixel, col, base, distance) KW_MULTIPLY_X(pixel, KW_SPREAD(base + (distance)))
/* Of bytes that were not raised as they were copied, for there is no copy. */
#define KW_RAISES (KW_RAISED && KW_IN_PLACE)
#define KW_MULTIPLY_RAISED(pixel, col, base, distance) KW_MULTIPLY_X(pixel, (kw_vf)((kw_vu)kw_spread_word(base + (distance)) ^ 0x80808080u))
#define KW_MULTIPLY_BUT_FIRST(pixel, col, base, distance)                                                                                  \
    if ((col) > 0) {                                                                                                                       \
        KW_MULTIPLY_PIXEL(pixel, col, base, distance)                                                                                      \
    }
#define KW_MULTIPLY_BUT_LAST(pixel, col, base, distance)                                                                                   \
    if ((col) < KW_TILE_COLS - 1) {                                                                                                        \
        KW_MULTIPLY_PIXEL(pixel, col, base, distance)                                                                                      \
    }
#define KW_MULTIPLY_HALF(pixel, col, base, distance) KW_MULTIPLY_X(pixel, kw_spread_half(base + (distance)))

#define KW_MULTIPLY_GROUP(bits, PIXELS)                                                                                                    \
    if (inside & (bits)) {                                                                                                                 \
        PIXELS(KW_MULTIPLY_PIXEL)                                                                                                          \
        PIXELS(KW_ADD_PIXEL)                                                                                                               \
    }
#define KW_ADD_BUT_FIRST(pixel, col, base, distance)                                                                                       \
    if ((col) > 0) {                                                                                                                       \
        KW_ADD_PIXEL(pixel, col, base, distance)                                                                                           \
    }
#define KW_ADD_BUT_LAST(pixel, col, base, distance)                                                                                        \
    if ((col) < KW_TILE_COLS - 1) {                                                                                                        \
        KW_ADD_PIXEL(pixel, col, base, distance)                                                                                           \
    }

#define KW_STEP(MULTIPLY) KW_STEP_OF(KW_EACH_PIXEL(MULTIPLY) KW_EACH_PIXEL(KW_ADD_PIXEL))
#define KW_STEP_BUT_FIRST KW_STEP_OF(KW_EACH_PIXEL(KW_MULTIPLY_BUT_FIRST) KW_EACH_PIXEL(KW_ADD_BUT_FIRST))
#define KW_STEP_BUT_LAST KW_STEP_OF(KW_EACH_PIXEL(KW_MULTIPLY_BUT_LAST) KW_EACH_PIXEL(KW_ADD_BUT_LAST))
#if KW_TILE_LACKS
#define KW_MULTIPLY_LACKING(pixel, col, base, distance)                                                                                    \
    x = KW_SPREAD(base + (distance));                                                                                                      \
    if (KW_TILE_VECS > 2) KW_KEEP(x);                                                                                                      \
    KW_EACH_BUT_LAST(KW_MULTIPLY, pixel)
#define KW_STEP_LACKING KW_STEP_BY(KW_EACH_BUT_LAST(KW_LOAD_WEIGHTS, 0), KW_EACH_PIXEL(KW_MULTIPLY_LACKING))
#endif
#if KW_TILE_ZIPS
/* Words of two vectors, or of one, out of pixels of a channel and of its partner. */
#define KW_ZIP_ONE(pixel, v)                                                                                                               \
    kw_vf w##v = kw_zip_pixels(w + (v)*KW_VECTOR / 2, w + apart + (v)*KW_VECTOR / 2);                                                      \
    KW_KEEP(w##v);
#define KW_ZIP_TWO(pixel, v, u)                                                                                                            \
    kw_vf w##v, w##u;                                                                                                                      \
    {                                                                                                                                      \
        const char *p = w + (v)*KW_VECTOR / 2;                                                                                             \
        kw_pixel_halves low = *(const kw_pixel_halves_u *)p, high = *(const kw_pixel_halves_u *)(p + apart);                               \
        w##v = KW_ZIPPED(low, high, 0), w##u = KW_ZIPPED(low, high, 16);                                                                   \
        __builtin_prefetch(p + far);                                                                                                       \
        __builtin_prefetch(p + apart + far);                                                                                               \
    }                                                                                                                                      \
    KW_KEEP(w##v);                                                                                                                         \
    KW_KEEP(w##u);
#define KW_STEP_ZIPPED KW_STEP_BY(KW_EACH_PAIR(KW_ZIP_ONE, KW_ZIP_TWO, 0), KW_EACH_PIXEL(KW_MULTIPLY_PIXEL))
#endif
#define KW_STEP_OF(PRODUCTS) KW_STEP_BY(KW_EACH_VECTOR(KW_LOAD_WEIGHTS, 0), PRODUCTS)
#define KW_STEP_BY(WEIGHTS, ...)                                                                                                           \
    __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));                                                                                            \
    WEIGHTS                                                                                                                                \
    __VA_ARGS__                                                                                                                            \
    w += w_step;                                                                                                                           \
    KW_EACH_BASE(KW_ADVANCE_BASE)
/* What is asked for beside a step. */
#define KW_ASK_BESIDES                                                                                                                     \
    if (KW_TILE_AHEAD) {                                                                                                                   \
        __builtin_prefetch(ahead);                                                                                                         \
        ahead += ahead_step;                                                                                                               \
    }                                                                                                                                      \
    if (KW_TILE_SOON) {                                                                                                                    \
        __builtin_prefetch(soon, 0, 2);                                                                                                    \
        soon += soon_step;                                                                                                                 \
    }
#define KW_ASK                                                                                                                             \
    if (KW_TILE_FAR) {                                                                                                                     \
        KW_EACH_VECTOR(KW_ASK_WEIGHTS, 0)                                                                                                  \
    }                                                                                                                                      \
    KW_ASK_BESIDES
/* All steps of a run in which all pixels read the image. Where nothing is asked for they have a loop without: to ask in vain takes slots, and a core
 * that is shared has none to spare. */
#define KW_STEPS(STEP)                                                                                                                     \
    if (KW_ASKS && asks) {                                                                                                                 \
        do {                                                                                                                               \
            KW_ASK                                                                                                                         \
            STEP                                                                                                                           \
        } while (--i);                                                                                                                     \
    } else {                                                                                                                               \
        do {                                                                                                                               \
            STEP                                                                                                                           \
        } while (--i);                                                                                                                     \
    }
/* Four steps at a time of a tile of one vector, pixel by pixel. A product reads its pixel's value where it lies: for the front of a core that is one
 * instruction, but two where the address has an index. So each pixel's address is made once for four steps. Tiles of more vectors gain nothing: they
 * have fewer loads than products. whole: the last column is summed. */
#define KW_BY_FOUR (KW_MATH == 0 && KW_LANES == 16 && KW_TILE_VECS == 1 && !KW_WAYS && !KW_TILE_OWN && !KW_TILE_APART)
#if KW_TILE_SKIP
#define KW_ALL_INSIDE (inside == KW_ALL_PIXELS)
#else
#define KW_ALL_INSIDE 1
#endif
#define KW_LOAD_FOURTH(step)                                                                                                               \
    kw_vf w##step = kw_load(w + (step)*KW_VECTOR);                                                                                         \
    KW_KEEP(w##step);
#define KW_MULTIPLY_FOUR(pixel, col, base, distance)                                                                                       \
    if ((col) < KW_TILE_COLS - 1 || whole) {                                                                                               \
        const char *p = base + (distance);                                                                                                 \
        __asm__("" : "+r"(p));                                                                                                             \
        a##pixel##_0 += kw_spread(p) * w0;                                                                                                 \
        a##pixel##_0 += kw_spread(p + 4) * w1;                                                                                             \
        a##pixel##_0 += kw_spread(p + 8) * w2;                                                                                             \
        a##pixel##_0 += kw_spread(p + 12) * w3;                                                                                            \
    }
#define KW_ADVANCE_FOUR(base, row, first) base += 16;
#define KW_ASK_FOUR                                                                                                                        \
    if (KW_TILE_FAR) {                                                                                                                     \
        __builtin_prefetch(w + far);                                                                                                       \
        __builtin_prefetch(w + far + KW_VECTOR);                                                                                           \
        __builtin_prefetch(w + far + 2 * KW_VECTOR);                                                                                       \
        __builtin_prefetch(w + far + 3 * KW_VECTOR);                                                                                       \
    }                                                                                                                                      \
    KW_ASK_BESIDES KW_ASK_BESIDES KW_ASK_BESIDES KW_ASK_BESIDES
#define KW_FOURS                                                                                                                           \
    for (; i >= 4; i -= 4) {                                                                                                               \
        if (KW_ASKS && asks) {                                                                                                             \
            KW_ASK_FOUR                                                                                                                    \
        }                                                                                                                                  \
        __asm__("" : "+r"(s1), "+r"(s3), "+r"(s5));                                                                                        \
        KW_LOAD_FOURTH(0) KW_LOAD_FOURTH(1) KW_LOAD_FOURTH(2) KW_LOAD_FOURTH(3) KW_EACH_PIXEL(KW_MULTIPLY_FOUR) w += 4 * KW_VECTOR;        \
        KW_EACH_BASE(KW_ADVANCE_FOUR)                                                                                                      \
    }
#define KW_ASKS_FOR_ANY(job, far) ((far) || (KW_TILE_AHEAD && (job)->ahead_step) || (KW_TILE_SOON && (job)->soon_step))
#define KW_ASKS (KW_TILE_FAR || KW_TILE_AHEAD || KW_TILE_SOON)

#define KW_SPILL(pixel, v) kw_put(job->spill + ((pixel)*KW_TILE_VECS + (v)) * KW_VECTOR, (kw_vf)a##pixel##_##v);
#define KW_SPILL_PIXEL(pixel, col, base, distance) KW_EACH_VECTOR(KW_SPILL, pixel)
#define KW_RESUME(pixel, v) a##pixel##_##v = (kw_va)kw_load(job->spill + ((pixel)*KW_TILE_VECS + (v)) * KW_VECTOR);
#define KW_RESUME_PIXEL(pixel, col, base, distance) KW_EACH_VECTOR(KW_RESUME, pixel)
#if KW_EPILOGUE
#define KW_HOLD_STEPS(v) kw_held held##v = kw_held_of(kw_place_moved(job->at, (v)*KW_LANES, 0, 0));
#if KW_W_ZERO && KW_TILE_OWN /* whose vectors have channels of several groups */
#define KW_STORES_HELD(job) 1
#define KW_HOLD(pixel, v) KW_HOLD_STEPS(v) kw_vi groups##v = kw_groups_of(kw_place_moved(job->at, (v)*KW_LANES, 0, 0));
#define KW_STORE(pixel, v)                                                                                                                 \
    kw_result_of_groups(&tables, &held##v, &groups##v, out + (v)*KW_LANES * KW_OUT_BYTES, (kw_vf)a##pixel##_##v, KW_PLACE(pixel, v));
#else
#define KW_STORES_HELD(job) kw_one_group((job)->at, KW_BLOCK)
#define KW_HOLD(pixel, v) KW_HOLD_STEPS(v)
#define KW_STORE(pixel, v)                                                                                                                 \
    kw_result_of_tile(&tables, &held##v, out + (v)*KW_LANES * KW_OUT_BYTES, (kw_vf)a##pixel##_##v, KW_PLACE(pixel, v));
#endif
#else
#define KW_STORES_HELD(job) 1
#define KW_STORE(pixel, v) kw_result_x(out + (v)*KW_LANES * KW_OUT_BYTES, (kw_vf)a##pixel##_##v, KW_PLACE(pixel, v));
#endif
#define KW_PLACE(pixel, v) kw_place_moved(job->at, (v)*KW_LANES, done + (pixel) % KW_TILE_COLS, (pixel) / KW_TILE_COLS)
#define KW_MOVE_OUT(pixel, col)                                                                                                            \
    if ((col) > 0) {                                                                                                                       \
        out += out_pixel;                                                                                                                  \
    } else if ((pixel) > 0) {                                                                                                              \
        out = out_first + (pixel) / KW_TILE_COLS * job->out_row;                                                                           \
    }
#define KW_STORE_PIXEL(pixel, col, base, distance)                                                                                         \
    KW_MOVE_OUT(pixel, col)                                                                                                                \
    if (KW_EXISTS(pixel, col)) {                                                                                                           \
        KW_EACH_VECTOR(KW_STORE, pixel)                                                                                                    \
    }
#define KW_EXISTS(pixel, col)                                                                                                              \
    (((col) < KW_COLS_LEAST || job->cols > (col)) && ((pixel) / KW_TILE_COLS < KW_ROWS_LEAST || job->rows > (pixel) / KW_TILE_COLS))
/* The same of channels that do not fill the block. */
#define KW_STORE_LEFT(pixel, v) kw_store_tail(out + (v)*KW_LANES * KW_OUT_BYTES, (kw_vf)a##pixel##_##v, left##v);
#define KW_LEFT(pixel, v) kw_i64 left##v = kw_max(job->channels - (v)*KW_LANES, 0);
#define KW_STORE_PIXEL_LANES(pixel, col, base, distance)                                                                                   \
    KW_MOVE_OUT(pixel, col)                                                                                                                \
    if (KW_EXISTS(pixel, col)) {                                                                                                           \
        KW_EACH_VECTOR(KW_STORE_LEFT, pixel)                                                                                               \
    }

/* The same of channels that fill all vectors but the last. */
#define KW_STORES_LACKING (KW_TILE_LACKS && !KW_MASKS && !KW_EPILOGUE)
#define KW_STORE_PIXEL_LACKING(pixel, col, base, distance)                                                                                 \
    KW_MOVE_OUT(pixel, col)                                                                                                                \
    if (KW_EXISTS(pixel, col)) {                                                                                                           \
        KW_EACH_BUT_LAST(KW_STORE, pixel)                                                                                                  \
    }

#if KW_TILE_SKIP
#define KW_OUTSIDE(job, run) !kw_pixels_inside(job, run)
#else
#define KW_OUTSIDE(job, run) 0
#endif

#if KW_TILE_REPEATS
#define KW_NEXT_TILE                                                                                                                       \
    if (--tiles > 0) {                                                                                                                     \
        done += job->cols;                                                                                                                 \
        src += job->cols * s1;                                                                                                             \
        out_first += job->cols * out_pixel;                                                                                                \
        ahead = ahead_first += job->ahead_tile;                                                                                            \
        far = job->far_again;                                                                                                              \
        asks = KW_ASKS_FOR_ANY(job, far);                                                                                                  \
        goto next;                                                                                                                         \
    }
#else
#define KW_NEXT_TILE
#endif

#if KW_TILE_OWN /* addresses of pixels compete with sums: tiles were 13 to 18 % slower without */
#define KW_TILE_FUNCTION static KW_BY_REGIONS __attribute__((noinline))
#else
#define KW_TILE_FUNCTION static __attribute__((noinline))
#endif

KW_TILE_FUNCTION void kw_tile(const kw_tile_job *job) {
    const char *src = job->src;
    char *out_first __attribute__((unused)) = job->out;
    kw_i64 out_pixel __attribute__((unused)) = job->out_pixel;
#if KW_TILE_REPEATS
    kw_i64 tiles = job->tiles;
    const char *ahead_first = job->ahead;
#endif
    kw_i64 done __attribute__((unused)) = 0; /* columns of the tiles before */
#if KW_HEADED
    KW_EACH_VECTOR(KW_DECLARE_HEAD, 0)
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run++) {
        if (KW_OUTSIDE(job, run)) continue;
        KW_EACH_VECTOR(KW_ADD_HEAD, 0)
    }
#if KW_X_ZERO
    KW_EACH_VECTOR(KW_MULTIPLY_HEAD, 0)
#endif
#endif
    kw_i64 s1 = job->src_pixel, s3 = 3 * s1, s5 = 5 * s1;
    int asks __attribute__((unused)) = KW_ASKS_FOR_ANY(job, job->far);
    kw_i64 far __attribute__((unused)) = job->far, w_step __attribute__((unused)) = KW_WEIGHTS_STEP(job);
    const char *ahead __attribute__((unused)) = job->ahead;
    kw_i64 ahead_step __attribute__((unused)) = job->ahead_step;
    const char *soon __attribute__((unused)) = job->soon;
    kw_i64 soon_step __attribute__((unused)) = job->soon_step, src_step __attribute__((unused)) = job->src_step;
#if KW_TILE_REPEATS
next:;
#endif
#if KW_EPILOGUE && !KW_TILE_SUMS
    /* What the steps will read of tensors as large as the result comes while the sums are made. */
    for (kw_i64 pixel = 0; pixel < KW_TILE_PIXELS; pixel++) {
        const char *p = out_first + pixel / KW_TILE_COLS * job->out_row + pixel % KW_TILE_COLS * out_pixel;
        for (kw_i64 b = 0; b < KW_BLOCK * KW_OUT_BYTES; b += KW_LINE)
            kw_result_ahead(p + b, job->at);
    }
#endif
    KW_EACH_PIXEL(KW_DECLARE_PIXEL)
#if KW_TILE_RESUMES
    if (job->more) {
        KW_EACH_PIXEL(KW_RESUME_PIXEL)
    }
#endif
#if KW_MULTIPLIES_FIRST
    KW_EACH_PIXEL(KW_DECLARE_PRODUCT)
#endif
    for (const kw_run *run = job->runs, *end = run + job->run_count; run < end; run += KW_RUN_STEP(job)) {
        const char *w = job->w + run->w + KW_HEAD_BYTES;
        KW_EACH_BASE(KW_DECLARE_BASE)
        kw_i64 i = job->steps;
        kw_vf x;
#if KW_TILE_TWICE
        kw_i64 odd = job->odd;
    steps:
#endif
#if KW_TILE_SKIP
        kw_u32 inside = kw_pixels_inside(job, run);
        if (!inside) continue;
#endif
#if KW_RAISES
        if (job->unraised) {
            do {
                KW_ASK
                KW_STEP(KW_MULTIPLY_RAISED)
            } while (--i);
            continue;
        }
#endif
#if KW_BY_FOUR
        if (KW_ALL_INSIDE && (!KW_TILE_STRIDES || src_step == 4)) {
            int whole = !KW_TILE_FEWER || job->cols >= KW_TILE_COLS;
            KW_FOURS
            if (!i) continue;
        }
#endif
#if KW_TILE_SKIP && KW_TILE_LACKS_A_COLUMN
        if (inside == (KW_ALL_PIXELS & ~KW_FIRST_COLUMN)) {
            do {
                KW_ASK
                KW_STEP_BUT_FIRST
            } while (--i);
        } else if (inside == (KW_ALL_PIXELS & ~(KW_FIRST_COLUMN << (KW_TILE_COLS - 1)))) {
            do {
                KW_ASK
                KW_STEP_BUT_LAST
            } while (--i);
        } else
#endif
#if KW_TILE_SKIP
            if (inside != KW_ALL_PIXELS) {
            do {
                KW_ASK
                KW_STEP_OF(KW_EACH_GROUP(KW_MULTIPLY_GROUP))
            } while (--i);
        } else
#endif
#if KW_TILE_ZIPS
            if (job->apart) {
            kw_i64 apart = job->apart;
            do {
                KW_ASK_BESIDES
                KW_STEP_ZIPPED
            } while (--i);
        } else
#endif
#if KW_TILE_FEWER
            if (job->cols < KW_TILE_COLS) {
            KW_STEPS(KW_STEP_BUT_LAST)
        } else
#endif
#if KW_TILE_LACKS
            if (job->channels <= KW_BLOCK - KW_LANES) {
            KW_STEPS(KW_STEP_LACKING)
        } else
#endif
#if KW_TILE_ODD
            for (; i; i--) {
                KW_ASK
                KW_STEP(KW_MULTIPLY_PIXEL)
            }
        if (job->odd) {
            KW_EACH_VECTOR(KW_LOAD_WEIGHTS, 0)
            KW_EACH_PIXEL(KW_MULTIPLY_HALF)
        }
#else
        { KW_STEPS(KW_STEP(KW_MULTIPLY_PIXEL)) }
#endif
#if KW_TILE_TWICE
        if (odd) {
            KW_EACH_BASE(KW_HALF_BACK)
            i = 1, odd = 0;
            goto steps;
        }
#endif
    }
#if KW_TILE_RESUMES
    if (job->rest) {
        KW_EACH_PIXEL(KW_SPILL_PIXEL)
        return;
    }
#endif
#if !KW_TILE_SUMS
    if (!KW_EPILOGUE_LONG && kw_tile_whole(job) && KW_STORES_HELD(job)) {
        char *out = out_first;
#if KW_EPILOGUE
        kw_tables tables = kw_tables_of();
        KW_EACH_VECTOR(KW_HOLD, 0)
#endif
        KW_EACH_PIXEL(KW_STORE_PIXEL)
        KW_NEXT_TILE
        return;
    }
#if KW_STORES_LACKING
    if (job->channels == KW_BLOCK - KW_LANES && job->rows >= KW_ROWS_LEAST && job->cols >= KW_COLS_LEAST && !KW_LEAD(job)) {
        char *out = out_first;
        KW_EACH_PIXEL(KW_STORE_PIXEL_LACKING)
        KW_NEXT_TILE
        return;
    }
#endif
#if KW_MASKS && !KW_EPILOGUE
    if (job->rows >= KW_ROWS_LEAST && job->cols >= KW_COLS_LEAST && !KW_LEAD(job)) {
        char *out = out_first;
        KW_EACH_VECTOR(KW_LEFT, 0)
        KW_EACH_PIXEL(KW_STORE_PIXEL_LANES)
        KW_NEXT_TILE
        return;
    }
#endif
#endif
    KW_EACH_PIXEL(KW_SPILL_PIXEL)
#if KW_TILE_REPEATS
    kw_tile_job part = *job;
    part.out = out_first;
    part.at = kw_place_moved(job->at, 0, done, 0);
    kw_tile_part(&part);
    KW_NEXT_TILE
#elif !KW_TILE_SUMS
    kw_tile_part(job);
#endif
}
