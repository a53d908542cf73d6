/* cpu_x_sums.c: sums of x over channels, then over the taps of a filter. Where channels lie side by side each pixel's are added 16 bytes at a time
 * (psadbw); where pixels do, channel after channel is added to the unit's pixels. */
#include "backend/cpu/cpu_x_sums.h"

#include "base/math.h"
#include "problem/epilogue/epilogue.h"
#include "problem/reference.h"
#include "problem/tensors/pitch.h"

#include <string.h>
#if defined __SSE2__
#include <emmintrin.h>
#endif

void kw_cpu_x_sums_of(kw_cpu_x_sums *s, const kw_problem *problem, int64_t block) {
    const kw_epilogue_step *zero = kw_epilogue_zero_x(&problem->epilogue);
    *s = (kw_cpu_x_sums){.groups = 1, .is_unsigned = problem->mixed, .windows = kw_x_sums_have_windows(problem), .shifted = zero};
    s->zero_type = zero ? zero->dtype : KW_INT32;
    s->block = 1;
    for (int axis = 0; axis < 3; axis++) {
        s->in[axis] = s->out[axis] = 1;
    }
    if (problem->op == KW_GEMM) {
        kw_matrix a = kw_problem_matrix(problem, KW_X);
        bool by_rows = problem->layout == KW_RCR || problem->layout == KW_RRR;
        s->images = problem->gemm.batch;
        s->in[2] = s->out[2] = problem->gemm.m;
        s->channels = problem->gemm.k;
        s->step[0] = a.batch_step;
        s->step[3] = by_rows ? a.line_step : 1;
        s->step[4] = by_rows ? 1 : a.line_step;
        return;
    }
    const kw_conv_dims *d = &problem->conv;
    s->images = d->n;
    s->groups = d->g;
    s->block = block ? block : d->g;
    s->channels = d->c / d->g;
    kw_problem_steps(s->step, problem, KW_X);
    kw_problem_output(s->out, problem);
    for (int axis = 0; axis < 3; axis++) {
        s->in[axis] = d->in[axis];
        s->filter[axis] = d->filter[axis];
        s->stride[axis] = d->stride[axis];
        s->pad[axis] = d->pad[axis];
        s->dilation[axis] = d->dilation[axis];
    }
}

/* Of bytes as they are, where int8 has its sign bit turned: 128 more each. */
static int32_t sum_bytes(const unsigned char *x, int64_t count, unsigned char turned) {
    int64_t i = 0;
    int32_t sum = 0;
#if defined __SSE2__
    __m128i total = _mm_setzero_si128(), none = total, sign = _mm_set1_epi8((char)turned);
    for (; i + 16 <= count; i += 16) {
        total = _mm_add_epi64(total, _mm_sad_epu8(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + i)), sign), none));
    }
    if (i + 8 <= count) {
        __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)(x + i));
        total = _mm_add_epi64(total, _mm_sad_epu8(_mm_xor_si128(eight, _mm_loadl_epi64(&sign)), none));
        i += 8;
    }
    if (i + 4 <= count) {
        int32_t four_bytes;
        memcpy(&four_bytes, x + i, sizeof four_bytes);
        __m128i some = _mm_cvtsi32_si128(four_bytes ^ _mm_cvtsi128_si32(sign));
        total = _mm_add_epi64(total, _mm_sad_epu8(some, none));
        i += 4;
    }
    sum = (int32_t)(_mm_cvtsi128_si32(total) + _mm_cvtsi128_si32(_mm_srli_si128(total, 8)));
#endif
    for (; i < count; i++) {
        sum += x[i] ^ turned;
    }
    return sum;
}

static void widen_bytes(int32_t *restrict to, const unsigned char *restrict x, int64_t count, unsigned char turned, int32_t less) {
    for (int64_t i = 0; i < count; i++) {
        to[i] = (x[i] ^ turned) - less;
    }
}

/* The sums of a pixel's groups, whose channels lie side by side: of 8 channels two at once, of 4 four. */
static void sum_groups(int32_t *restrict to, const unsigned char *restrict x, int64_t groups, int64_t channels, unsigned char turned,
                       int32_t less) {
    int64_t g = 0;
    if (channels == 1) {
        widen_bytes(to, x, groups, turned, less);
        return;
    }
#if defined __SSE2__
    __m128i none = _mm_setzero_si128(), sign = _mm_set1_epi8((char)turned), off = _mm_set1_epi32(less), low = _mm_set1_epi64x(0xffffffff);
    for (; channels == 8 && g + 2 <= groups; g += 2) {
        __m128i two = _mm_sad_epu8(_mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + 8 * g)), sign), none);
        _mm_storel_epi64((__m128i *)(void *)(to + g), _mm_sub_epi32(_mm_shuffle_epi32(two, _MM_SHUFFLE(2, 0, 2, 0)), off));
    }
    for (; channels == 4 && g + 4 <= groups; g += 4) {
        __m128i bytes = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(const void *)(x + 4 * g)), sign);
        __m128i even = _mm_sad_epu8(_mm_and_si128(bytes, low), none), odd = _mm_sad_epu8(_mm_andnot_si128(low, bytes), none);
        _mm_storeu_si128((__m128i *)(void *)(to + g), _mm_sub_epi32(_mm_or_si128(even, _mm_slli_epi64(odd, 32)), off));
    }
#endif
    for (; g < groups; g++) {
        to[g] = sum_bytes(x + g * channels, channels, turned) - less;
    }
}

/* Four sums. */
typedef int32_t four __attribute__((vector_size(16), aligned(4), may_alias));

/* Adds to size sums what each of the places has, so many at a time that they stay in registers. */
static void add_places(int32_t *restrict to, const int32_t *restrict from, const int64_t *places, int64_t count, int64_t size) {
    enum { CHUNK = 16 };
    int64_t i = 0;
    for (; i + CHUNK <= size; i += CHUNK) {
        four *at = (four *)(to + i), a = at[0], b = at[1], c = at[2], d = at[3];
        for (int64_t p = 0; p < count; p++) {
            const four *more = (const four *)(from + places[p] + i);
            a += more[0];
            b += more[1];
            c += more[2];
            d += more[3];
        }
        at[0] = a;
        at[1] = b;
        at[2] = c;
        at[3] = d;
    }
    for (; i < size; i++) {
        for (int64_t p = 0; p < count; p++) {
            to[i] += from[places[p] + i];
        }
    }
}

/* The pixels of a unit: where their first channels lie. */
static void list_pixels(int64_t at[KW_X_SUMS_ROWS], const kw_cpu_x_sums *s, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = first + i, place = 0;
        for (int axis = 2; axis >= 0; axis--) {
            place += rest % s->in[axis] * s->step[1 + axis];
            rest /= s->in[axis];
        }
        at[i] = place + rest * s->step[0];
    }
}

static void sum_channels(const kw_cpu_x_sums_run *run, int64_t unit) {
    const kw_cpu_x_sums *s = run->what;
    int64_t pixels = s->images * s->in[0] * s->in[1] * s->in[2], first = unit * KW_X_SUMS_ROWS, at[KW_X_SUMS_ROWS];
    int64_t count = kw_min(pixels - first, KW_X_SUMS_ROWS);
    unsigned char turned = s->is_unsigned ? 0 : 128;
    int32_t zero = s->shifted ? (int32_t)kw_dtype_load(s->zero_type, run->zero, 0) : 0;
    int32_t less = (int32_t)s->channels * (zero + turned), *sums = s->windows ? run->pixels : run->rows;
    int64_t block = s->windows ? s->groups : s->block;
    list_pixels(at, s, first, count);
    if (s->step[4] == 1 && block == s->groups) { /* a pixel's groups side by side, in x and in the sums */
        for (int64_t i = 0; i < count; i++) {
            sum_groups(sums + (first + i) * block, (const unsigned char *)run->x + at[i], block, s->channels, turned, less);
        }
        return;
    }
    bool side_by_side = at[count - 1] - at[0] == count - 1;
    for (int64_t g = 0; g < s->groups; g++) {
        const unsigned char *x = (const unsigned char *)run->x + g * s->channels * s->step[4];
        int32_t *to = sums + (g / block * pixels + first) * block + g % block;
        if (s->step[4] == 1 && !(side_by_side && s->channels == 1)) {
            for (int64_t i = 0; i < count; i++) {
                to[i * block] = sum_bytes(x + at[i], s->channels, turned) - less;
            }
            continue;
        }
        int32_t sum[KW_X_SUMS_ROWS] = {0};
        for (int64_t c = 0; c < s->channels; c++, x += s->step[4]) {
            for (int64_t i = 0; side_by_side && i < count; i++) {
                sum[i] += x[at[0] + i] ^ turned;
            }
            for (int64_t i = 0; !side_by_side && i < count; i++) {
                sum[i] += x[at[i]] ^ turned;
            }
        }
        for (int64_t i = 0; i < count; i++) {
            to[i * block] = sum[i] - less;
        }
    }
}

/* The taps t of an axis whose place in x, out * stride - pad + t * dilation, is inside: first .. end - 1. */
static void find_taps(int64_t *first, int64_t *end, const kw_cpu_x_sums *s, int axis, int64_t out) {
    int64_t start = out * s->stride[axis] - s->pad[axis], step = s->dilation[axis];
    *first = start < 0 ? kw_ceil_div(-start, step) : 0;
    *end = start >= s->in[axis] ? 0 : kw_min(s->filter[axis], kw_ceil_div(s->in[axis] - start, step));
}

enum { TAPS_AT_ONCE = 64 };

/* To a row's sums those of the pixels at these places, group block by group block. */
static void add_taps(const kw_cpu_x_sums_run *run, int64_t row, int64_t rows, const int64_t *places, int64_t count) {
    const kw_cpu_x_sums *s = run->what;
    for (int64_t group = 0; group < s->groups && count; group += s->block) {
        add_places(run->rows + group * rows + row * s->block, run->pixels + group, places, count, s->block);
    }
}

static void sum_taps(const kw_cpu_x_sums_run *run, int64_t row) {
    const kw_cpu_x_sums *s = run->what;
    int64_t rest = row, first[3], end[3], out[3], rows = s->images * s->out[0] * s->out[1] * s->out[2];
    for (int axis = 2; axis >= 0; axis--) {
        out[axis] = rest % s->out[axis];
        rest /= s->out[axis];
        find_taps(&first[axis], &end[axis], s, axis, out[axis]);
    }
    int64_t places[TAPS_AT_ONCE], count = 0;
    for (int64_t group = 0; group < s->groups; group += s->block) {
        memset(run->rows + group * rows + row * s->block, 0, (size_t)s->block * sizeof *run->rows);
    }
    for (int64_t d = first[0]; d < end[0]; d++) {
        int64_t plane = rest * s->in[0] + out[0] * s->stride[0] - s->pad[0] + d * s->dilation[0];
        for (int64_t h = first[1]; h < end[1]; h++) {
            int64_t line = plane * s->in[1] + out[1] * s->stride[1] - s->pad[1] + h * s->dilation[1];
            for (int64_t w = first[2]; w < end[2]; w++) {
                places[count++] = (line * s->in[2] + out[2] * s->stride[2] - s->pad[2] + w * s->dilation[2]) * s->groups;
                if (count == TAPS_AT_ONCE) {
                    add_taps(run, row, rows, places, count);
                    count = 0;
                }
            }
        }
    }
    add_taps(run, row, rows, places, count);
}

void kw_cpu_x_sums_do(const kw_cpu_x_sums_run *run, int stage, int64_t begin, int64_t end) {
    const kw_cpu_x_sums *s = run->what;
    int64_t rows = s->images * s->out[0] * s->out[1] * s->out[2];
    if (stage) {
        for (int64_t row = begin * KW_X_SUMS_ROWS; row < kw_min(rows, end * KW_X_SUMS_ROWS); row++) {
            sum_taps(run, row);
        }
        return;
    }
    for (int64_t unit = begin; unit < end; unit++) {
        sum_channels(run, unit);
    }
}
