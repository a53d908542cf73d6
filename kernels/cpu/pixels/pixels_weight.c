/* pixels_weight.c: gradients of depthwise weights of channels-last images of few channels, whose pixels are read where they lie; family
 * conv.depthwise_pixels_weight. A vector is channels of one pixel, and a tile a row of y (dp: two, whose pixels are multiplied together, as are those of x that are a
 * stride apart). The sums of a window, KW_TAPS_H whole rows of the filter, stay in registers along the row, and so do the pixels of x that the next
 * one of y meets again. Nothing is copied, and no buffer of addresses is filled, which few channels would not repay (conv.depthwise_weight).
 *
 * Rows outside the image are read from a row of zeros. Pixels of y that meet columns outside, and the last of the tensors, behind which a vector
 * would read, are copied with theirs, one at a time. The last vector of a pixel is moved back to end with its channels; of fewer channels
 * than it has lanes it reads on into the next pixel's, and those are not stored.
 *
 * Stage 0: a unit is a part of all tiles; its sums go to shared memory. Stage 1 adds these up. The problem alone says how many parts there are, so bits
 * are the same on any number of threads.
 *
 * kw_config.h defines
 *   KW_TAPS_H, KW_TAPS_W, KW_STRIDE, KW_TILE_H
 *   KW_ROWS, KW_KEPT        rows of x that a tile meets; columns that the next pixel of y meets again
 *   KW_EACH_X_ROW(DO)       DO(0) DO(1) ...: these rows
 *   KW_EACH_SUM(DO)         DO(a0_0, 0) DO(a0_1, 1) ...: the sums of taps row by row
 *   KW_FIRST_COLUMNS        the columns that are kept, of the first pixel of y: KW_FIRST, zeros if outside, or KW_PIXEL(row, later, column) loads a pixel, of two rows by dp
 *   KW_PRODUCTS             the products of a pixel of y: v */
#include "cpu/pixels/args.h"
#define KW_KERNEL_PARAMS kw_pixels_params
#include "kw_config.h"

#define KW_VECTOR (4 * KW_LANES)
typedef char pixel_bytes __attribute__((vector_size(KW_LANES * KW_BYTES), aligned(1), may_alias));
enum { PIXEL = KW_LANES * KW_BYTES, TAPS = KW_TAPS_H * KW_TAPS_W, ROWS = KW_ROWS };

#if KW_DP
#define KW_MULTIPLY(sum, x) sum = kw_dp(sum, x, v);
/* Words of two rows side by side: lane by lane, one of the first and one of the second. */
#define KW_PAIR_OF(i) (i) | (2 * KW_LANES + (i)) << 16
#if KW_LANES == 16
#define KW_HALF_VECTOR "%t0"
static const kw_vu words_of_pairs = {KW_PAIR_OF(0),  KW_PAIR_OF(1),  KW_PAIR_OF(2),  KW_PAIR_OF(3), KW_PAIR_OF(4),  KW_PAIR_OF(5),
                                     KW_PAIR_OF(6),  KW_PAIR_OF(7),  KW_PAIR_OF(8),  KW_PAIR_OF(9), KW_PAIR_OF(10), KW_PAIR_OF(11),
                                     KW_PAIR_OF(12), KW_PAIR_OF(13), KW_PAIR_OF(14), KW_PAIR_OF(15)};
#else
#define KW_HALF_VECTOR "%x0"
static const kw_vu words_of_pairs = {KW_PAIR_OF(0), KW_PAIR_OF(1), KW_PAIR_OF(2), KW_PAIR_OF(3),
                                     KW_PAIR_OF(4), KW_PAIR_OF(5), KW_PAIR_OF(6), KW_PAIR_OF(7)};
#endif
KW_INLINE kw_vf pixel_pair(const char *first, const char *second, kw_vu words) {
    kw_vf low, high;
    __asm__("vmovups %1, " KW_HALF_VECTOR : "=v"(low) : "m"(*(const kw_vh_u *)first));
    __asm__("vmovups %1, " KW_HALF_VECTOR : "=v"(high) : "m"(*(const kw_vh_u *)second));
    __asm__("vpermt2w %2, %1, %0" : "+v"(low) : "v"(words), "v"(high));
    return low;
}
#define KW_HOLD_WORDS                                                                                                                      \
    kw_vu words = words_of_pairs;                                                                                                          \
    KW_KEEP(words);
#define KW_PIXEL(row, later, column) pixel_pair(row + at + (column)*pixel, later + at + (column)*pixel, words)
#define KW_RESULT pixel_pair(y0 + y_at, y1 + y_at, words)
#else
#define KW_MULTIPLY(sum, x) sum += (x)*v;
#define KW_PIXEL(row, later, column) kw_load_x(row + at + (column)*pixel)
#define KW_RESULT kw_load_x(y0 + y_at)
#define KW_HOLD_WORDS
#endif
#define KW_FIRST(row, later, column) ((column) < before ? (kw_vf){0} : KW_PIXEL(row, later, column))
#define KW_LOAD_SUM(sum, tap) kw_vf sum = kw_load(sums + (tap)*KW_VECTOR);
#define KW_PUT_SUM(sum, tap) kw_put(sums + (tap)*KW_VECTOR, sum);
#define KW_NAME_ROW(row) const char *x##row = x[row];

/* count pixels of y, and the columns of x from that of the first's first tap on, of which so many before the image are zeros. pixel, y_pixel: bytes
 * from one to the next. */
static __attribute__((noinline)) void sum_row(const char *const *x, const char *const *y, kw_i64 pixel, kw_i64 y_pixel, kw_i64 before,
                                              kw_i64 count, char *sums) {
    const char *y0 = y[0], *y1 __attribute__((unused)) = y[KW_TILE_H - 1];
    kw_i64 at = 0, y_at = 0;
    (void)before;
    KW_HOLD_WORDS
    KW_EACH_X_ROW(KW_NAME_ROW)
    KW_EACH_SUM(KW_LOAD_SUM)
    KW_FIRST_COLUMNS
    for (; count > 0; count--, at += KW_STRIDE * pixel, y_at += y_pixel) {
        kw_vf v = KW_RESULT;
        KW_PRODUCTS
    }
    KW_EACH_SUM(KW_PUT_SUM)
}

/* What a tile of a window has of a vector of channels. */
typedef struct tile {
    const kw_kernel_args *args;
    const char *x[ROWS], *y[KW_TILE_H]; /* rows, from the vector's channels on */
    kw_i64 channels;                    /* of the vector */
    int whole;                          /* whole vectors may be read of all pixels */
    char *edge, *sums;
} tile;

/* A pixel's vector as it lies; where nothing may be read behind them, so many elements alone. */
KW_INLINE void put_pixel(char *to, const char *from, kw_i64 count, int whole) {
    if (whole) {
        *(pixel_bytes *)to = *(const pixel_bytes *)from;
        return;
    }
    *(pixel_bytes *)to = (pixel_bytes){0};
    for (kw_i64 i = 0; i < count * KW_BYTES; i++)
        to[i] = from[i];
}

/* One pixel of y whose columns of x, or whose vectors, are not all inside. */
static __attribute__((noinline)) void sum_edge(const tile *t, kw_i64 result) {
    const kw_kernel_args *a = t->args;
    const char *x[ROWS], *y[KW_TILE_H];
    char *to = t->edge;
    for (int row = 0; row < ROWS; row++) {
        x[row] = to;
        for (kw_i64 tap = 0; tap < KW_TAPS_W; tap++, to += PIXEL) {
            kw_i64 column = result * KW_STRIDE - a->pad[2] + tap;
            int inside = column >= 0 && column < a->in[2];
            put_pixel(to, t->x[row] + (inside ? column * a->groups * KW_BYTES : 0), inside ? t->channels : 0, inside && t->whole);
        }
    }
    for (int row = 0; row < KW_TILE_H; row++, to += PIXEL) {
        y[row] = to;
        put_pixel(to, t->y[row] + result * a->groups * KW_BYTES, t->channels, t->whole);
    }
    sum_row(x, y, PIXEL, 0, 0, 1, t->sums);
}

/* A row of so many of an image; any other is of zeros. */
KW_INLINE const char *row_of(const char *image, kw_i64 row, kw_i64 rows, kw_i64 bytes, const char *zeros) {
    return row >= 0 && row < rows ? image + row * bytes : zeros;
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 channels = a->groups, vectors = (channels + KW_LANES - 1) / KW_LANES, windows = KW_PIXELS_WINDOWS(a->filter[1], KW_TAPS_H);
    kw_i64 from_row = a->in[2] * channels * KW_BYTES, to_row = a->out[2] * channels * KW_BYTES, pieces = a->n * a->params.tiles;
    kw_i64 parts = a->params.parts, short_by = channels < KW_LANES ? (KW_LANES - 1) / channels : 0;
    /* Of the first pixels of y the columns outside must be such as are kept. */
    kw_i64 first = kw_min(a->out[2], kw_max(0, (a->pad[2] - KW_KEPT + KW_STRIDE - 1) / KW_STRIDE));
    kw_i64 before = kw_max(0, a->pad[2] - first * KW_STRIDE), room = a->in[2] + a->pad[2] - KW_TAPS_W;
    char *zeros = memory;
    tile t = {.args = a, .edge = zeros + a->params.zero_bytes, .channels = kw_min(channels, KW_LANES)};
    for (kw_i64 i = 0; i < a->params.zero_bytes; i += KW_VECTOR)
        kw_put(zeros + i, (kw_vf){0});
    for (kw_i64 unit = begin; unit < end; unit++) {
        char *sums = a->shared + unit * windows * vectors * TAPS * KW_VECTOR;
        for (kw_i64 i = 0; i < windows * vectors * TAPS * KW_VECTOR; i += KW_VECTOR)
            kw_put(sums + i, (kw_vf){0});
        for (kw_i64 piece = unit * pieces / parts; piece < (unit + 1) * pieces / parts; piece++) {
            kw_i64 image = piece / a->params.tiles, row = piece % a->params.tiles * KW_TILE_H, last_image = image == a->n - 1;
            const char *x = a->x + image * a->in[1] * from_row, *y = a->y + image * a->out[1] * to_row;
            t.sums = sums;
            for (kw_i64 window = 0; window < windows; window++) {
                kw_i64 top = row * KW_STRIDE - a->pad[1] + kw_min(window * KW_TAPS_H, a->filter[1] - KW_TAPS_H);
                int ends = last_image && (top + ROWS >= a->in[1] || row + KW_TILE_H >= a->out[1]);
                t.whole = !(ends && short_by);
                kw_i64 missing = ends ? short_by : 0, inside = room - missing < 0 ? 0 : (room - missing) / KW_STRIDE + 1;
                kw_i64 last = kw_max(first, kw_min(a->out[2] - missing, inside));
                for (kw_i64 vector = 0; vector < vectors; vector++, t.sums += TAPS * KW_VECTOR) {
                    kw_i64 at = kw_min(vector * KW_LANES, channels - t.channels) * KW_BYTES;
                    const char *inside_x[ROWS], *inside_y[KW_TILE_H];
                    for (int i = 0; i < ROWS; i++) {
                        t.x[i] = row_of(x, top + i, a->in[1], from_row, zeros) + at;
                        inside_x[i] = t.x[i] + (first * KW_STRIDE - a->pad[2]) * channels * KW_BYTES;
                    }
                    for (int i = 0; i < KW_TILE_H; i++) {
                        t.y[i] = row_of(y, row + i, a->out[1], to_row, zeros) + at;
                        inside_y[i] = t.y[i] + first * channels * KW_BYTES;
                    }
                    for (kw_i64 i = 0; i < first; i++)
                        sum_edge(&t, i);
                    if (first < last) sum_row(inside_x, inside_y, channels * KW_BYTES, channels * KW_BYTES, before, last - first, t.sums);
                    for (kw_i64 i = last; i < a->out[2]; i++)
                        sum_edge(&t, i);
                }
            }
        }
    }
}

/* Units are taps. */
void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 channels = a->groups, vectors = (channels + KW_LANES - 1) / KW_LANES, windows = KW_PIXELS_WINDOWS(a->filter[1], KW_TAPS_H);
    (void)memory;
    for (kw_i64 tap = begin; tap < end; tap++) {
        kw_i64 row = tap / KW_TAPS_W, window = row / KW_TAPS_H, in_window = row - kw_min(window * KW_TAPS_H, a->filter[1] - KW_TAPS_H);
        const char *of_tap = a->shared + (window * vectors * TAPS + in_window * KW_TAPS_W + tap % KW_TAPS_W) * KW_VECTOR;
        for (kw_i64 channel = 0; channel < channels; channel++) {
            kw_i64 vector = channel / KW_LANES, first = kw_min(vector * KW_LANES, kw_max(0, channels - KW_LANES));
            float sum = 0;
            for (kw_i64 part = 0; part < a->params.parts; part++)
                sum += *(const kw_f32_u *)(of_tap + (part * windows * vectors + vector) * TAPS * KW_VECTOR + (channel - first) * 4);
            kw_store_1(a->w + (channel * a->filter[1] * KW_TAPS_W + tap) * KW_BYTES, sum);
        }
    }
}
