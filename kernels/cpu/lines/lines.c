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
        float *values = memory + (number)*KW_LINES_PERIOD(a->groups, KW_LANES);                                                            \
        steps->channels[number] = values;                                                                                                  \
        for (kw_i64 i = 0; i < KW_LINES_PERIOD(a->groups, KW_LANES); i++)                                                                  \
            values[i] = kw_one_##type(a->extra[number], i % a->groups)[0];                                                                 \
        values[0] - (kw_vf){0};                                                                                                            \
    })
#define KW_LINE_NONE(type, number) 0.0f
static void steps_of(line_steps *steps, const kw_kernel_args *a, float *memory) {
    kw_vf v = {0};
    (void)memory, (void)a;
    if (KW_EPILOGUE_LONG) steps->tables = kw_tables_of();
    KW_EPILOGUE_STEPS(v, KW_HOLD_FUNCTION, KW_LINE_ONE, KW_LINE_CHANNELS, KW_LINE_NONE, KW_LINE_NONE)
    (void)v;
}

#define KW_LINE_HELD(type, number) (steps->vector[number])
#define KW_LINE_PERIODIC(type, number) kw_load(steps->channels[number] + phase)
KW_INLINE kw_vf after_steps(const line_steps *steps, kw_vf v, kw_i64 phase) {
    const kw_tables *tables __attribute__((unused)) = &steps->tables;
    (void)phase;
    KW_EPILOGUE_STEPS(v, KW_STEP_FUNCTION, KW_LINE_HELD, KW_LINE_PERIODIC, KW_LINE_NONE, KW_LINE_NONE)
    return v;
}
#else
#define steps_of(steps, a, memory) (void)(memory)
#define after_steps(steps, v, phase) (v)
#endif

/* --- sums of a tile --- */
#define KW_WEIGHT(number) kw_load(w + (number)*period)
#define KW_WORDS_OF(line) kw_load(x + (line)*4 * KW_LINE_WORDS)

/* Of pairs that stand half outside the filter what is inside. */
#define KW_LATER(words) (kw_vf)((kw_vu)(words)&later)
#define KW_EARLIER(words) (kw_vf)((kw_vu)(words) & ~later)

#define KW_DECLARE_SUM(sum, row) kw_vf sum = {0};
#define KW_STORE_SUM(sum, row) kw_store_x(to + (row)*to_row, after_steps(steps, sum, phase));

/* offsets: of the filter's columns, bytes in a line. */
KW_INLINE void sum_tile(const char *from, const kw_i64 *offsets, kw_i64 columns, const char *w, kw_i64 period, char *to, kw_i64 to_row,
                        const line_steps *steps, kw_i64 phase) {
    (void)steps, (void)phase;
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

void KW_EXPORT kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    const axis h = axis_of(a, 1), w = axis_of(a, 2);
    kw_i64 channels = a->groups, dilation = a->dilation[2], vectors = a->params.vectors, spans = a->params.spans;
    kw_i64 from_row = w.from * channels * KW_BYTES, to_row = w.to * channels * KW_OUT_BYTES;
    kw_i64 period = 4 * KW_LINES_PERIOD(channels, KW_LANES), step = KW_LANES % channels;
    char *lines = memory;
    kw_i64 *offsets = (kw_i64 *)(lines + KW_LINES * 4 * KW_LINE_WORDS);
    line_steps steps;
    steps_of(&steps, a, (float *)(offsets + w.taps));
    for (kw_i64 tap = 0; tap < w.taps; tap++)
        offsets[tap] = 4 * (tap * dilation % KW_STRIDE * KW_PLANE_WORDS + tap * dilation / KW_STRIDE * channels);
    for (kw_i64 unit = begin; unit < end; unit++) {
        kw_i64 span = unit % spans, tile = unit / spans % a->params.tiles, image = unit / spans / a->params.tiles;
        kw_i64 row = kw_min(tile * KW_TILE_H, h.to - KW_TILE_H), top = row * KW_STRIDE - h.pad;
        kw_i64 vector = span * vectors / spans, vector_end = (span + 1) * vectors / spans;
        kw_i64 last = w.to * channels - KW_LANES, element = kw_min(vector * KW_LANES, last);
        kw_i64 pixel = element / channels, pixels = (kw_min((vector_end - 1) * KW_LANES, last) + KW_LANES - 1) / channels + 1 - pixel;
        const char *source = SRC(a) + image * h.from * from_row;
        for (int line = 0; line < KW_LINES; line++) {
            kw_i64 at = KW_DP ? top + 2 * line : top + line;
            kw_copy_line(KW_STRIDE, lines + line * 4 * KW_LINE_WORDS, kw_row_of(source, at, h.from, from_row),
                         KW_DP ? kw_row_of(source, at + 1, h.from, from_row) : 0, pixel * KW_STRIDE - w.pad,
                         pixels + (w.taps - 1) * dilation / KW_STRIDE, w.from, channels, image == a->n - 1 && at + KW_DP >= h.from - 1);
        }
        char *to = DST(a) + (image * h.to + row) * to_row;
        kw_i64 base = pixel * channels, phase = element - base;
        for (; vector < vector_end; vector++) {
            element = vector * KW_LANES;
            if (element > last) element = last, phase = last % channels;
            sum_tile(lines + 4 * (element - base), offsets, w.taps, a->packed + 4 * phase, period, to + element * KW_OUT_BYTES, to_row,
                     &steps, phase);
            phase += step;
            if (phase >= channels) phase -= channels;
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
#if KW_DP
    bits.u = *(const kw_u16_u *)at;
#else
    bits.f = kw_load_1(at);
#endif
    return bits.u;
}

/* Units are columns of the filter. */
void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    (void)memory;
    kw_i64 period = KW_LINES_PERIOD(a->groups, KW_LANES);
    kw_u32 *to = (kw_u32 *)a->packed + begin * KW_WORDS * period;
    for (kw_i64 x = begin; x < end; x++) {
        for (kw_i64 word = 0; word < KW_WORDS; word++) {
            for (kw_i64 i = 0; i < period; i++) {
                kw_i64 channel = i % a->groups;
                *to++ = KW_DP ? weight_bits(a, channel, word - 1, x) | weight_bits(a, channel, word, x) << 16
                              : weight_bits(a, channel, word, x);
            }
        }
    }
}
