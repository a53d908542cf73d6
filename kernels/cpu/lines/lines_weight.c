/* lines_weight.c: gradients of depthwise weights of channels-last images whose rows are runs of elements (lines.c); family
 * conv.depthwise_lines_weight. A vector of y times one of x, as many elements further as a tap is columns on, adds to the weights of the
 * channels that it holds. Where in the period of channels a vector begins comes again after some vectors: those of one place, a phase, add to the same
 * sums, which stay in registers for a column of the filter.
 *
 * A tile of KW_TILE_H rows of y and a span of their columns is copied as lines, and the lines of x that it meets: as fp32, or (dp) as pairs: of y two
 * rows side by side, of x two that are a stride apart. Where a tap meets the later row of a pair and the earlier one of the next, a
 * blend of both has them in turned order, and meets y turned.
 *
 * Nothing is copied of fp32 with stride 1 under a filter of one column (rows_lie()): lines are then the rows themselves, or zeros.
 *
 * Stage 0: a unit is a part of all tiles and spans; its sums go to shared memory, for each tap as many words as begin a period, and a vector
 * more. Stage 1 adds these up. The problem alone says how many parts there are, so bits are the same on any number of threads.
 *
 * kw_config.h defines
 *   KW_TILE_H, KW_TAPS_H, KW_STRIDE, KW_LINES; KW_RESULTS   lines of y; KW_COLUMNS   of the filter, summed together
 *   KW_LINE_WORDS, KW_PLANE_WORDS   words of a line, and of its pixels of one parity
 *   KW_EACH_SUM(DO)                 DO(a0_0, 0) DO(a0_1, 1) ...: the sums of these columns, tap by tap
 *   KW_HOLD_RESULTS                 a vector of each line of y, KW_RESULT_OF(line); of pairs turned as well, KW_TURNED(vector)
 *   KW_COLUMNS_OF                   the products of these: KW_WORDS_OF(column, line) loads a line's words */
#include "cpu/lines/args.h"
#define KW_KERNEL_PARAMS kw_lines_params
#include "kw_config.h"
#include "cpu/lines/lines_copy.h"

/* x and y: where a vector begins, in the first line of each; where lines may lie anywhere, in any of them. */
#define KW_LINES_APART KW_LINES_MAY_LIE(KW_STORAGE == 0, KW_STRIDE, KW_COLUMNS)
#if KW_LINES_APART
typedef kw_i64 spot;
#define KW_SPOT(lines, at) (at)
#define KW_WORDS_OF(column, line) kw_load(line_at[line] + x + offset##column)
#define KW_RESULT_OF(line) kw_load(line_at[KW_LINES + (line)] + y)
#else
typedef const char *spot;
#define KW_SPOT(lines, at) ((lines) + (at))
#define KW_WORDS_OF(column, line) kw_load(x + offset##column + (line)*4 * KW_LINE_WORDS)
#define KW_RESULT_OF(line) kw_load(y + (line)*4 * KW_LINE_WORDS)
#endif
#define KW_TURNED(v) (kw_vf)((kw_vu)(v) << 16 | (kw_vu)(v) >> 16)
#if KW_DP
/* The later rows of one pair, and the earlier of the next in their place. */
KW_INLINE kw_vf between(kw_vf pair, kw_vf next, kw_u32 even) {
    __asm__("vmovdqu16 %1, %0%{%2%}" : "+v"(pair) : "v"(next), "Yk"(even));
    return pair;
}
#define KW_BETWEEN(pair, next) between(pair, next, even)
#endif
#define KW_LOAD_SUM(sum, tap) kw_vf sum = kw_load(sums + (tap)*KW_VECTOR);
#define KW_PUT_SUM(sum, tap) kw_put(sums + (tap)*KW_VECTOR, sum);

/* Vectors of one phase: so many bytes from one to the next. offsets: of KW_COLUMNS columns of the filter. */
KW_INLINE void sum_phase(const char *const *line_at, spot x, const kw_i64 *offsets, spot y, kw_i64 count, kw_i64 step, char *sums) {
    kw_i64 offset0 = offsets[0], offset1 = KW_COLUMNS > 1 ? offsets[1] : 0, offset2 = KW_COLUMNS > 2 ? offsets[2] : 0;
    const kw_u32 even __attribute__((unused)) = 0x55555555u;
    (void)offset1, (void)offset2, (void)line_at;
    KW_EACH_SUM(KW_LOAD_SUM)
    for (; count > 0; count--, x += step, y += step) {
        KW_HOLD_RESULTS
        KW_COLUMNS_OF
    }
    KW_EACH_SUM(KW_PUT_SUM)
}

typedef struct extent {
    kw_i64 channels, reach, from_row, to_row, vectors, spans, tiles, phases;
} extent;

static void copy_lines(const kw_kernel_args *a, const extent *e, char *lines, kw_i64 image, kw_i64 row, kw_i64 pixel, kw_i64 pixels) {
    kw_i64 top = row * KW_STRIDE - a->pad[1];
    const char *x = a->x + image * a->in[1] * e->from_row, *y = a->y + image * a->out[1] * e->to_row;
    for (int line = 0; line < KW_LINES; line++) {
        kw_i64 at = top + (KW_DP ? line / KW_STRIDE * 2 * KW_STRIDE + line % KW_STRIDE : line);
        kw_copy_line(KW_STRIDE, lines + line * 4 * KW_LINE_WORDS, kw_rows_of(x, at, KW_STRIDE, a->in[1], e->from_row), 0,
                     pixel * KW_STRIDE - a->pad[2], pixels + e->reach, a->in[2], e->channels, e->channels * KW_BYTES,
                     image == a->n - 1 && at + KW_DP * KW_STRIDE >= a->in[1] - 1);
    }
    for (int line = 0; line < KW_RESULTS; line++) {
        kw_i64 at = row + line * (1 + KW_DP);
        kw_copy_line(1, lines + (KW_LINES + line) * 4 * KW_LINE_WORDS, kw_rows_of(y, at, 1, a->out[1], e->to_row), 0, pixel, pixels,
                     a->out[2], e->channels, e->channels * KW_BYTES, 0);
    }
}

/* Whether columns are of no padding and vectors end with rows. */
static int rows_lie(const kw_kernel_args *a) {
    return KW_LINES_APART && KW_LINES_LIE(a->filter[2], a->pad[2], a->in[2] * a->groups, KW_LANES);
}

/* The rows that copy_lines() copies, where they lie. */
static void list_rows(const kw_kernel_args *a, const extent *e, const char *zeros, const char **line_at, kw_i64 image, kw_i64 row,
                      kw_i64 pixel) {
    const char *x = a->x + image * a->in[1] * e->from_row, *y = a->y + image * a->out[1] * e->to_row;
    for (int line = 0; line < KW_LINES + KW_RESULTS; line++) {
        const char *at = line < KW_LINES ? kw_rows_of(x, row - a->pad[1] + line, 1, a->in[1], e->from_row).at[0]
                                         : kw_rows_of(y, row + line - KW_LINES, 1, a->out[1], e->to_row).at[0];
        line_at[line] = at ? at + pixel * e->channels * KW_BYTES : zeros;
    }
}

/* A unit's sums to where their channels are; of each tap a period and a vector. */
static void add_phases(const extent *e, kw_i64 columns, const char *sums, char *to) {
    kw_i64 period = 4 * KW_LINES_PERIOD(e->channels, KW_LANES);
    for (kw_i64 i = 0; i < columns * KW_TAPS_H * period; i += 4)
        *(kw_f32_u *)(to + i) = 0;
    for (kw_i64 phase = 0; phase < e->phases; phase++) {
        char *first = to + phase * KW_LANES % e->channels * 4;
        for (kw_i64 tap = 0; tap < columns * KW_TAPS_H; tap++, sums += KW_VECTOR)
            kw_put(first + tap * period, kw_load(first + tap * period) + kw_load(sums));
    }
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 columns = a->filter[2], dilation = a->dilation[2], parts = a->params.parts;
    extent e = {.channels = a->groups, .reach = (columns - 1) * dilation / KW_STRIDE, .vectors = a->params.vectors};
    e.from_row = a->in[2] * e.channels * KW_BYTES, e.to_row = a->out[2] * e.channels * KW_BYTES;
    e.spans = a->params.spans, e.tiles = a->params.tiles, e.phases = a->params.phases;
    char *lines = memory, *results = lines + KW_LINES * 4 * KW_LINE_WORDS, *sums = results + KW_RESULTS * 4 * KW_LINE_WORDS;
    kw_i64 sums_bytes = columns * KW_TAPS_H * KW_VECTOR, pieces = a->n * e.tiles * e.spans;
    kw_i64 *offsets = (kw_i64 *)(sums + e.phases * sums_bytes);
    for (kw_i64 tap = 0; tap < columns; tap++)
        offsets[tap] = 4 * (tap * dilation % KW_STRIDE * KW_PLANE_WORDS + tap * dilation / KW_STRIDE * e.channels);
    const char *line_at[KW_LINES + KW_RESULTS];
    int lie = rows_lie(a);
    for (int line = 0; line < KW_LINES + KW_RESULTS; line++)
        line_at[line] = lines + line * 4 * KW_LINE_WORDS;
    if (lie) kw_clear_words(lines, 0, (KW_LINES + KW_RESULTS) * KW_LINE_WORDS);
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_clear_words(sums, 0, e.phases * sums_bytes / 4);
        for (kw_i64 piece = unit * pieces / parts; piece < (unit + 1) * pieces / parts; piece++) {
            kw_i64 span = piece % e.spans, tile = piece / e.spans % e.tiles, image = piece / e.spans / e.tiles;
            if (lie)
                tile = piece % e.tiles, span = piece / e.tiles % e.spans; /* rows that tiles have in common come from the first level */
            kw_i64 vector = span * e.vectors / e.spans, vector_end = (span + 1) * e.vectors / e.spans;
            kw_i64 pixel = vector * KW_LANES / e.channels, base = pixel * e.channels;
            if (lie)
                list_rows(a, &e, lines, line_at, image, tile * KW_TILE_H, pixel);
            else
                copy_lines(a, &e, lines, image, tile * KW_TILE_H, pixel, (vector_end * KW_LANES - 1) / e.channels + 1 - pixel);
            for (kw_i64 i = vector; i < kw_min(vector_end, vector + e.phases); i++) {
                kw_i64 at = 4 * (i * KW_LANES - base), count = (vector_end - i + e.phases - 1) / e.phases;
                char *to = sums + i % e.phases * sums_bytes;
                for (kw_i64 column = 0; column < columns; column += KW_COLUMNS, to += KW_COLUMNS * KW_TAPS_H * KW_VECTOR)
                    sum_phase(line_at, KW_SPOT(lines, at), offsets + column, KW_SPOT(results, at), count, e.phases * KW_VECTOR, to);
            }
        }
        add_phases(&e, columns, sums, a->shared + unit * columns * KW_TAPS_H * 4 * KW_LINES_PERIOD(e.channels, KW_LANES));
    }
}

/* Units are taps, column by column. */
void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    kw_i64 channels = a->groups, period = KW_LINES_PERIOD(channels, KW_LANES), taps = KW_TAPS_H * a->filter[2];
    for (kw_i64 tap = begin; tap < end; tap++) {
        const kw_f32_u *sums = (const kw_f32_u *)a->shared + tap * period;
        char *to = a->w + (tap % KW_TAPS_H * a->filter[2] + tap / KW_TAPS_H) * KW_BYTES;
        for (kw_i64 channel = 0; channel < channels; channel++) {
            float sum = 0;
            for (kw_i64 part = 0; part < a->params.parts; part++) {
                for (kw_i64 i = channel; i < period; i += channels)
                    sum += sums[part * taps * period + i];
            }
            kw_store_1(to + channel * taps * KW_BYTES, sum);
        }
    }
}
