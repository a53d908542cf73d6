/* lines_copy.h: rows of an image copied as lines of words, for lines.c and lines_weight.c: each element as fp32, or (dp) with that of another row as a
 * pair of bf16; of int8 as a pair of int16, or (dp) with those of three other rows as bytes. What lies outside the image is padding. */
#define KW_VECTOR (4 * KW_LANES)
#define KW_LINE_ROWS (KW_QUADS ? 4 : KW_DP || KW_STORAGE == 3 ? 2 : 1) /* rows of the image that a line has side by side */
#if KW_STORAGE == 3
#if KW_QUADS
#define KW_MULTIPLY(sum, x, weight) sum = (kw_vf)kw_dot_quads((kw_vi)sum, x, weight);
#else
#define KW_MULTIPLY(sum, x, weight) sum = (kw_vf)kw_dot_wide((kw_vi)sum, x, weight);
#endif
#elif KW_DP
#define KW_MULTIPLY(sum, x, weight) sum = kw_dp(sum, x, weight);
#else
#define KW_MULTIPLY(sum, x, weight) sum += (x) * (weight);
#endif

/* Rows of an image that become a line; NULL is one that it does not have. */
typedef struct kw_line_rows {
    const char *at[KW_LINE_ROWS];
} kw_line_rows;

/* From this row on, each so many rows behind the one before. */
KW_INLINE kw_line_rows kw_rows_of(const char *image, kw_i64 row, kw_i64 apart, kw_i64 rows, kw_i64 row_bytes) {
    kw_line_rows of;
    for (int i = 0; i < KW_LINE_ROWS; i++, row += apart)
        of.at[i] = row >= 0 && row < rows ? image + row * row_bytes : 0;
    return of;
}
KW_INLINE kw_line_rows kw_rows_moved(kw_line_rows rows, kw_i64 bytes) {
    for (int i = 0; i < KW_LINE_ROWS; i++)
        rows.at[i] = rows.at[i] ? rows.at[i] + bytes : 0;
    return rows;
}

#if KW_STORAGE == 3
#include "cpu/lines/lines_bytes.h"
#else
#define KW_PADDING_WORDS(padding)                                                                                                          \
    (kw_vf) { 0 }
/* Words of two rows; the second is of interest to dp alone. A row that is not there is NULL. */
#if KW_DP
KW_INLINE kw_vf kw_words_of(kw_vu first, kw_vu second) { return (kw_vf)(first | second << 16); }
KW_INLINE kw_vu kw_halves_of(const char *p) {
    kw_vu words;
    __asm__("vpmovzxwd %1, %0" : "=v"(words) : "m"(*(const kw_vh_u *)p));
    return words;
}
KW_INLINE kw_vu kw_some_halves(const char *p, kw_i64 count) { return kw_words_of_halves(kw_get_halves(p, kw_first_lanes(count))); }
#endif

/* count elements of a row, or of two; to may be written as far as a vector more. whole: as much may be read behind them. */
KW_INLINE void kw_copy_run(char *to, kw_line_rows rows, const char *padding, kw_i64 count, int whole) {
    const char *first = rows.at[0], *second = rows.at[KW_LINE_ROWS - 1];
    (void)padding;
    kw_i64 i = 0, end = whole ? count : count - KW_LANES + 1;
#if KW_DP
    if (first && second) {
        for (; i < end; i += KW_LANES)
            kw_put(to + 4 * i, kw_words_of(kw_halves_of(first + 2 * i), kw_halves_of(second + 2 * i)));
        if (i < count) kw_put(to + 4 * i, kw_words_of(kw_some_halves(first + 2 * i, count - i), kw_some_halves(second + 2 * i, count - i)));
        return;
    }
    const char *one = first ? first : second;
    for (; one && i < end; i += KW_LANES)
        kw_put(to + 4 * i, first ? kw_words_of(kw_halves_of(one + 2 * i), (kw_vu){0}) : kw_words_of((kw_vu){0}, kw_halves_of(one + 2 * i)));
    for (; i < count; i += KW_LANES) {
        kw_vu last = one ? kw_some_halves(one + 2 * i, count - i) : (kw_vu){0};
        kw_put(to + 4 * i, first ? kw_words_of(last, (kw_vu){0}) : kw_words_of((kw_vu){0}, last));
    }
#else
    (void)second;
    for (; first && i < end; i += KW_LANES)
        kw_put(to + 4 * i, kw_load_x(first + i * KW_BYTES));
    for (; i < count; i += KW_LANES)
        kw_put(to + 4 * i, first ? kw_load_tail(first + i * KW_BYTES, count - i) : (kw_vf){0});
#endif
}

/* Pixels that are step bytes apart, side by side, each by one vector; last: behind the last of them nothing may be read. */
KW_INLINE void kw_copy_pixels(char *to, kw_line_rows rows, const char *padding, kw_i64 count, kw_i64 channels, kw_i64 step, int last) {
    const char *first = rows.at[0], *second = rows.at[KW_LINE_ROWS - 1];
    static const char none[4 * KW_LANES];
    kw_i64 whole = count - last, first_step = first ? step : 0, second_step = second ? step : 0;
    if (count <= 0) return;
    if (!first) first = none;
    if (!second) second = none;
    for (kw_i64 i = 0; i < whole; i++, to += 4 * channels, first += first_step, second += second_step)
#if KW_DP
        kw_put(to, kw_words_of(kw_halves_of(first), kw_halves_of(second)));
#else
        kw_put(to, kw_load_x(first));
#endif
    if (last) kw_copy_run(to, kw_rows_moved(rows, whole * step), padding, channels, 0);
}
#endif

KW_INLINE void kw_clear_words(char *to, const char *padding, kw_i64 count) {
    kw_vf words = KW_PADDING_WORDS(padding);
    (void)padding;
    for (kw_i64 i = 0; i < count; i += KW_LANES)
        kw_put(to + 4 * i, words);
}

/* A line from pixel left of rows on, count pixels of each parity, channels of each, which are pixel bytes apart; last: nothing may be read behind
 * them. Runs are written in the order of memory, so that what is too much of one is written over by the next. padding: of int8 a vector of the byte
 * that stands outside the image. */
KW_INLINE void kw_copy_line(const int stride, char *line, kw_line_rows rows, const char *padding, kw_i64 left, kw_i64 count, kw_i64 width,
                            kw_i64 channels, kw_i64 pixel, int last) {
    for (kw_i64 plane = 0; plane < stride; plane++, left++, line += 4 * KW_PLANE_WORDS) {
        kw_i64 before = kw_max(0, kw_min(count, left >= 0 ? 0 : (stride - 1 - left) / stride));
        kw_i64 inside = kw_max(before, kw_min(count, width <= left ? 0 : (width - left + stride - 1) / stride));
        char *to = line + 4 * before * channels;
        kw_line_rows from = kw_rows_moved(rows, (left + before * stride) * pixel);
        kw_clear_words(line, padding, before * channels);
        if (stride == 1 && pixel == channels * KW_BYTES)
            kw_copy_run(to, from, padding, (inside - before) * channels, 0);
        else if (KW_STORAGE == 3 || channels <= KW_LANES)
            kw_copy_pixels(to, from, padding, inside - before, channels, stride * pixel, last);
        else
            for (kw_i64 i = before; i < inside; i++, to += 4 * channels, from = kw_rows_moved(from, stride * pixel))
                kw_copy_run(to, from, padding, channels, !last);
        kw_clear_words(line + 4 * inside * channels, padding, (count - inside) * channels);
    }
}
