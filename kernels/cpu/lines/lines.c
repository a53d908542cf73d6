/* lines.c: depthwise convolution of channels-last images, forward, and backward data of stride 1; family conv.depthwise_lines. A row of the
 * image is one run of elements, whose weights come again with each pixel: a vector of 16 of them belongs to some channel and those behind it,
 * whatever their number is, and a tap one column on is as many elements further as there are channels. So vectors are full of few channels as well,
 * and what differs between them is where in the period of their weights they begin.
 *
 * A unit is a tile of KW_TILE_H rows of results and a span of their columns. What it reads is copied as words into KW_LINES lines with zeros for
 * padding: as fp32, or (dp) pairs of two rows of the image, which meet pairs of filter rows. A result row meets a pair with its first
 * row above the filter, inside or at its last row: so there is a weight of each of these places, KW_WORDS of a filter column. Of the two at the ends one row
 * is none of the filter's: it is cleared, for zero times an infinity would be a NaN. With a stride of 2 even and odd pixels lie apart in a line.
 *
 * int8: a word has pairs of int16 (wide) or quads of bytes of four rows (dp), and sums are whole numbers, which begin by what raised bytes and x's zero
 * point add: so many times the sum of a channel's weights, which stands behind its last column. Where pixels are wide a unit takes a block of their
 * channels, whole vectors; the last block is moved back to end with the pixel.
 *
 * The last tile of rows and the last vector of a row are moved back to end with the image, and sum what others have summed once more.
 *
 * kw_config.h defines
 *   KW_TILE_H, KW_TAPS_H, KW_STRIDE, KW_LINES, KW_WORDS
 *   KW_LINE_WORDS, KW_PLANE_WORDS   words of a line, and of its pixels of one parity
 *   KW_EACH_SUM(DO)                 DO(a0, 0) DO(a1, 1) ...: the sums, and their rows
 *   KW_COLUMN                       the products of one column of the filter: KW_WEIGHT(number) loads a weight, KW_WORDS_OF(line) a line's words */
#include "cpu/lines/args.h"
#define KW_KERNEL_PARAMS kw_lines_params
#include "kw_config.h"
#include "cpu/lines/lines_copy.h"

#if KW_BACKWARD
#define SRC(a) (a)->y
#define DST(a) (a)->x
#else
#define SRC(a) (a)->x
#define DST(a) (a)->y
#endif

/* --- steps of an epilogue: what they have of channels comes again with each pixel, as weights do --- */
typedef struct line_steps {
#if KW_EPILOGUE
    kw_vf vector[KW_EXTRAS];
    const float *channels[KW_EXTRAS];
    kw_tables tables;
#else
    char nothing[0];
#endif
} line_steps;

#if KW_EPILOGUE
#define KW_LINE_ONE(type, number) (steps->vector[number] = kw_one_##type(a->extra[number], 0))
#define KW_LINE_CHANNELS(type, number)                                                                                                     \
    ({                                                                                                                                     \
        float *values = memory + (number)*KW_LINES_PERIOD(channels, KW_LANES);                                                             \
        steps->channels[number] = values;                                                                                                  \
        for (kw_i64 i = 0; i < KW_LINES_PERIOD(channels, KW_LANES); i++)                                                                   \
            values[i] = kw_one_##type(a->extra[number], first + i % channels)[0];                                                          \
        values[0] - (kw_vf){0};                                                                                                            \
    })
#define KW_LINE_NONE(type, number) 0.0f
static void steps_of(line_steps *steps, const kw_kernel_args *a, kw_i64 first, float *memory) {
    kw_vf v = {0};
    kw_i64 channels = a->params.block;
    (void)memory, (void)a, (void)first, (void)channels;
    if (KW_EPILOGUE_LONG) steps->tables = kw_tables_of();
    KW_EPILOGUE_STEPS(v, KW_HOLD_FUNCTION, KW_LINE_ONE, KW_LINE_CHANNELS, KW_LINE_NONE, KW_LINE_NONE)
    (void)v;
}

#define KW_LINE_HELD(type, number) (steps->vector[number])
#define KW_LINE_PERIODIC(type, number) kw_load(steps->channels[number] + phase)
KW_INLINE kw_vf after_steps(const line_steps *steps, kw_vf v, kw_i64 phase) {
    const kw_tables *tables __attribute__((unused)) = &steps->tables;
    (void)phase;
#if KW_STORAGE == 3
    v = kw_sums(v);
#endif
    KW_EPILOGUE_STEPS(v, KW_STEP_FUNCTION, KW_LINE_HELD, KW_LINE_PERIODIC, KW_LINE_NONE, KW_LINE_NONE)
    return v;
}
#else
#define steps_of(steps, a, first, memory) (void)(memory)
#define after_steps(steps, v, phase) (v)
#endif

/* --- sums of a tile --- */
#define KW_WEIGHT(number) kw_load(w + (number)*period)
#define KW_WORDS_OF(line) kw_load(x + (line)*4 * KW_LINE_WORDS)

/* Of pairs that stand half outside the filter what is inside. */
#define KW_LATER(words) (kw_vf)((kw_vu)(words)&later)
#define KW_EARLIER(words) (kw_vf)((kw_vu)(words) & ~later)

#if KW_STORAGE == 3 && (KW_RAISED || KW_X_ZERO)
#define KW_BEGIN(w, times) (kw_vf)((times) * (kw_vi)kw_load(w))
#else
#define KW_BEGIN(w, times)                                                                                                                 \
    (kw_vf) { 0 }
#endif
#define KW_DECLARE_SUM(sum, row) kw_vf sum = begin;
#if KW_STORAGE == 3 && KW_EPILOGUE
#define KW_STORE_SUM(sum, row) kw_put_rounded(to + (row)*to_row, kw_round_out(after_steps(steps, sum, phase)), (kw_lanes){0, KW_LANES});
#else
#define KW_STORE_SUM(sum, row) kw_store_x(to + (row)*to_row, after_steps(steps, sum, phase));
#endif

/* offsets: of the filter's columns, bytes in a line; times: of a channel's weights, whose sums stand behind the last column's. */
KW_INLINE void sum_tile(const char *from, const kw_i64 *offsets, kw_i64 columns, const char *w, kw_i64 period, int times, char *to,
                        kw_i64 to_row, const line_steps *steps, kw_i64 phase) {
    (void)steps, (void)phase, (void)times;
    kw_vf begin = KW_BEGIN(w + columns * KW_WORDS * period, times);
#if KW_DP
    kw_vu later = 0xffff0000u - (kw_vu){0};
    KW_KEEP(later);
#endif
    KW_EACH_SUM(KW_DECLARE_SUM)
    for (kw_i64 column = 0; column < columns; column++, w += KW_WORDS * period) {
        const char *x = from + offsets[column];
        KW_COLUMN
    }
    KW_EACH_SUM(KW_STORE_SUM)
}

/* --- stages --- */

typedef struct axis {
    kw_i64 from, to, taps, pad; /* extents, filter, what the source begins before the image */
} axis;
static axis axis_of(const kw_kernel_args *a, int i) {
    if (KW_BACKWARD) return (axis){a->out[i], a->in[i], a->filter[i], (a->filter[i] - 1) * a->dilation[i] - a->pad[i]};
    return (axis){a->in[i], a->out[i], a->filter[i], a->pad[i]};
}

/* Of int8 the byte that stands outside the image, and how many times the sums of weights are added. */
#if KW_STORAGE == 3 && KW_X_ZERO
KW_INLINE int zero_of(const kw_kernel_args *a) { return KW_X_ZERO_OF(a); }
#else
#define zero_of(a) 0
#endif

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    const axis h = axis_of(a, 1), w = axis_of(a, 2);
    kw_i64 channels = a->params.block, dilation = a->dilation[2], vectors = a->params.vectors, spans = a->params.spans;
    kw_i64 from_pixel = a->groups * KW_BYTES, to_pixel = a->groups * KW_OUT_BYTES;
    kw_i64 from_row = w.from * from_pixel, to_row = w.to * to_pixel;
    kw_i64 period = 4 * KW_LINES_PERIOD(channels, KW_LANES), step = channels < KW_LANES ? KW_LANES % channels : KW_LANES,
           others = to_pixel - channels * KW_OUT_BYTES;
    char *lines = memory, padding[KW_LANES];
    int times = -(zero_of(a) + (KW_RAISED ? 128 : 0));
    kw_i64 *offsets = (kw_i64 *)(lines + KW_LINES * 4 * KW_LINE_WORDS);
    line_steps steps;
    __builtin_memset(padding, zero_of(a), KW_LANES);
    for (kw_i64 tap = 0; tap < w.taps; tap++)
        offsets[tap] = 4 * (tap * dilation % KW_STRIDE * KW_PLANE_WORDS + tap * dilation / KW_STRIDE * channels);
    for (kw_i64 unit = begin, first = -1; unit < end; unit++) {
        kw_i64 span = unit % spans, rest = unit / spans, block = rest % a->params.blocks;
        rest /= a->params.blocks;
        kw_i64 tile = rest % a->params.tiles, image = rest / a->params.tiles;
        if (first != kw_min(block * channels, a->groups - channels)) {
            first = kw_min(block * channels, a->groups - channels);
            steps_of(&steps, a, first, (float *)(offsets + w.taps));
        }
        kw_i64 row = kw_min(tile * KW_TILE_H, h.to - KW_TILE_H), top = row * KW_STRIDE - h.pad;
        kw_i64 vector = span * vectors / spans, vector_end = (span + 1) * vectors / spans;
        kw_i64 last = w.to * channels - KW_LANES, element = kw_min(vector * KW_LANES, last);
        kw_i64 pixel = element / channels, pixels = (kw_min((vector_end - 1) * KW_LANES, last) + KW_LANES - 1) / channels + 1 - pixel;
        const char *source = SRC(a) + image * h.from * from_row + first * KW_BYTES;
        for (int line = 0; line < KW_LINES; line++) {
            kw_i64 at = top + KW_LINE_ROWS * line;
            kw_copy_line(KW_STRIDE, lines + line * 4 * KW_LINE_WORDS, kw_rows_of(source, at, 1, h.from, from_row), padding,
                         pixel * KW_STRIDE - w.pad, pixels + (w.taps - 1) * dilation / KW_STRIDE, w.from, channels, from_pixel,
                         image == a->n - 1 && at + KW_LINE_ROWS > h.from - 1);
        }
        char *to = DST(a) + (image * h.to + row) * to_row + first * KW_OUT_BYTES;
        const char *weights = a->packed + block * a->params.block_words * 4;
        kw_i64 base = pixel * channels, phase = element - base, skipped = pixel * others;
        for (; vector < vector_end; vector++) {
            element = vector * KW_LANES;
            if (element > last) element = last, phase = last % channels;
            sum_tile(lines + 4 * (element - base), offsets, w.taps, weights + 4 * phase, period, times,
                     to + element * KW_OUT_BYTES + skipped, to_row, &steps, phase);
            phase += step;
            if (phase >= channels) phase -= channels, skipped += others;
        }
    }
}

/* A weight of filter row y, column x; what is above or below the filter is zero. Of backward data the filter is turned. */
KW_INLINE kw_u32 weight_bits(const kw_kernel_args *a, kw_i64 channel, kw_i64 y, kw_i64 x) {
    union {
        float f;
        kw_u32 u;
    } bits = {0};
    if (y < 0 || y >= KW_TAPS_H) return 0;
    if (KW_BACKWARD) y = KW_TAPS_H - 1 - y, x = a->filter[2] - 1 - x;
    const char *at = a->w + ((channel * KW_TAPS_H + y) * a->filter[2] + x) * KW_BYTES;
#if KW_STORAGE == 3
    bits.u = (kw_u32) * (const kw_i8 *)at;
#elif KW_DP
    bits.u = *(const kw_u16_u *)at;
#else
    bits.f = kw_load_1(at);
#endif
    return bits.u;
}
/* Those that meet a line whose last row is met by filter row y. */
KW_INLINE kw_u32 weight_word(const kw_kernel_args *a, kw_i64 channel, kw_i64 y, kw_i64 x) {
    enum { BITS = 32 / KW_LINE_ROWS };
    kw_u32 word = 0;
    for (int i = 0; i < KW_LINE_ROWS; i++)
        word |= (weight_bits(a, channel, y - (KW_LINE_ROWS - 1) + i, x) & (0xffffffffu >> (32 - BITS))) << BITS * i;
    return word;
}
KW_INLINE kw_u32 weight_sum(const kw_kernel_args *a, kw_i64 channel) {
    kw_u32 sum = 0;
    for (kw_i64 y = 0; y < KW_TAPS_H; y++) {
        for (kw_i64 x = 0; x < a->filter[2]; x++)
            sum += weight_bits(a, channel, y, x);
    }
    return sum;
}

/* Units are columns of the filter, and of int8 the sums behind them, of one block of channels after the other. */
void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    kw_i64 channels = a->params.block, period = KW_LINES_PERIOD(channels, KW_LANES), columns = a->filter[2] + (KW_STORAGE == 3);
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 x = unit % columns, block = unit / columns, first = kw_min(block * channels, a->groups - channels);
        kw_u32 *to = (kw_u32 *)a->packed + block * a->params.block_words + x * KW_WORDS * period;
        for (kw_i64 word = 0; word < (x < a->filter[2] ? KW_WORDS : 1); word++) {
            for (kw_i64 i = 0; i < period; i++) {
                kw_i64 channel = first + i % channels;
                *to++ = x < a->filter[2] ? weight_word(a, channel, word, x) : weight_sum(a, channel);
            }
        }
    }
}
