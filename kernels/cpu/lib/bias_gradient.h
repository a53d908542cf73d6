/* bias_gradient.h: the gradient of the bias beside that of weights: db[k] = sum over all pixels of y[pixel][k]. It stands behind a text whose
 * kw_stage0 is renamed kw_weights_stage0, and is kw_stage0 itself: units behind the text's own sum KW_BIAS_CHANNELS channels each. So it
 * costs one reading of y and no barrier. y is read as it lies, in either order and with pitches. */
#undef kw_stage0
#include "prelude/bias_gradient.h"

/* All pixels as runs of evenly spaced ones: run of them, then an image, plane or row further. */
typedef struct kw_bias_pixels {
    kw_i64 run, step, count[3], outer[3]; /* step, outer: bytes */
} kw_bias_pixels;

static kw_bias_pixels kw_bias_pixels_of(const kw_kernel_args *a) {
    const kw_i64 *step = a->y_step;
    kw_bias_pixels p = {
        a->out[2], step[3] * KW_BYTES, {a->n, a->out[0], a->out[1]}, {step[0] * KW_BYTES, step[1] * KW_BYTES, step[2] * KW_BYTES}};
    for (int axis = 2; axis >= 0 && p.outer[axis] == p.run * p.step; axis--) {
        p.run *= p.count[axis];
        p.count[axis] = 1;
    }
    return p;
}

KW_INLINE const char *kw_bias_run_at(const kw_bias_pixels *p, const char *y, kw_i64 number) {
    kw_i64 row = number % p->count[2], rest = number / p->count[2];
    return y + rest / p->count[1] * p->outer[0] + rest % p->count[1] * p->outer[1] + row * p->outer[2];
}

static void kw_bias_store(const kw_kernel_args *a, kw_i64 channel, float sum) {
    char *to = (char *)a->extra[0];
#if KW_BIAS_FP32
    ((kw_f32_u *)to)[channel] = sum;
#else
    kw_store_1(to + channel * KW_BYTES, sum);
#endif
}

/* Two vectors of channels that lie side by side. */
static void kw_bias_sum_vectors(const kw_bias_pixels *p, const char *first, const char *second, float sums[2 * KW_LANES]) {
    kw_vf a = {0}, b = {0}, c = {0}, d = {0};
    kw_i64 runs = p->count[0] * p->count[1] * p->count[2], apart = second - first;
    for (kw_i64 number = 0; number < runs; number++) {
        const char *y = kw_bias_run_at(p, first, number);
        kw_i64 i = 0;
        for (; i + 2 <= p->run; i += 2, y += 2 * p->step) {
            a += kw_load_x(y);
            b += kw_load_x(y + apart);
            c += kw_load_x(y + p->step);
            d += kw_load_x(y + p->step + apart);
        }
        if (i < p->run) {
            a += kw_load_x(y);
            b += kw_load_x(y + apart);
        }
    }
    kw_put(sums, a + c);
    kw_put(sums + KW_LANES, b + d);
}

/* One channel, whatever lies between its pixels. */
static float kw_bias_sum_channel(const kw_bias_pixels *p, const char *first) {
    kw_i64 runs = p->count[0] * p->count[1] * p->count[2];
    kw_vf a = {0}, b = {0};
    float sum = 0;
    for (kw_i64 number = 0; number < runs; number++) {
        const char *y = kw_bias_run_at(p, first, number);
        kw_i64 i = 0;
        for (; p->step == KW_BYTES && i + 2 * KW_LANES <= p->run; i += 2 * KW_LANES) {
            a += kw_load_x(y + i * KW_BYTES);
            b += kw_load_x(y + (i + KW_LANES) * KW_BYTES);
        }
        for (; i < p->run; i++)
            sum += kw_load_1(y + i * p->step);
    }
    a += b;
    for (int lane = 0; lane < KW_LANES; lane++)
        sum += a[lane];
    return sum;
}

static void kw_bias_sum_unit(const kw_kernel_args *a, const kw_bias_pixels *p, kw_i64 unit) {
    kw_i64 channels = a->groups * a->k, channel = unit * KW_BIAS_CHANNELS, last = kw_min(channel + KW_BIAS_CHANNELS, channels);
    if (a->y_step[4] != 1 || channels < KW_LANES) {
        for (; channel < last; channel++)
            kw_bias_store(a, channel, kw_bias_sum_channel(p, a->y + channel * a->y_step[4] * KW_BYTES));
        return;
    }
    for (; channel < last; channel += 2 * KW_LANES) { /* what would end behind the last channel begins before it */
        float sums[2 * KW_LANES];
        kw_i64 at[2] = {kw_min(channel, channels - KW_LANES), kw_min(channel + KW_LANES, channels - KW_LANES)};
        kw_bias_sum_vectors(p, a->y + at[0] * KW_BYTES, a->y + at[1] * KW_BYTES, sums);
        for (kw_i64 c = channel; c < kw_min(channel + 2 * KW_LANES, last); c++)
            kw_bias_store(a, c, c < channel + KW_LANES ? sums[c - at[0]] : sums[KW_LANES + c - at[1]]);
    }
}

void KW_EXPORT kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *memory) {
    kw_i64 own = KW_BIAS_WORD(a);
    if (begin < own) kw_weights_stage0(a, begin, kw_min(end, own), memory);
    if (end <= own) return;
    kw_bias_pixels p = kw_bias_pixels_of(a);
    for (kw_i64 unit = kw_max(begin, own); unit < end; unit++)
        kw_bias_sum_unit(a, &p, unit - own);
}
