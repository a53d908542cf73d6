/* epilogue_gpu.h: what the words of KW_EPILOGUE_STEPS (src/families/epilogue_text.h) mean for the values of a GPU's thread, in all three
 * dialects. It stands behind gpu.h in the text of a kernel that has an epilogue.
 *
 * A thread has a run of sums: elements of the result that follow each other in memory, whose number is a constant, and knows the place of
 * the first. It reads the tensors of the steps for all of the run at once, in accesses as wide as it is, then takes each value through the
 * steps in fp32, and rounds once. A run of count elements begins at a multiple of count in the result, and so in each tensor. */
#ifndef KW_EPILOGUE_GPU_H
#define KW_EPILOGUE_GPU_H

#include "gpu/lib/access.h"

/* --- functions. src/problem/epilogue/epilogue.c says how far off they may be: 2^-20, of sigmoid and tanh, and of what silu and gelu multiply by
 * --- */

#if KW_PTX
KW_DEVICE float kw_exp2(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

KW_DEVICE float kw_reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#elif KW_AMD
KW_DEVICE float kw_exp2(float x) { return __builtin_amdgcn_exp2f(x); }
KW_DEVICE float kw_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
#else
/* 2^x is 2^whole, which is put together, times 2^part, |part| <= 1/2, by its series. */
KW_DEVICE float kw_exp2(float x) {
    x = x < -127.0f ? -127.0f : x > 128.0f ? 128.0f : x;
    float moved = x + 12582912.0f, part = x - (moved - 12582912.0f); /* 1.5 2^23: the sum's last place is 1 */
    float sum = 1.0f + part * (0.693147181f +
                               part * (0.240226507f + part * (0.0555041087f +
                                                              part * (0.00961812911f + part * (0.00133335581f + part * 0.000154035304f)))));
    return sum * kw_from_bits(kw_bits(moved) + 127u << 23);
}

KW_DEVICE float kw_reciprocal(float x) { return 1.0f / x; }
#endif

KW_DEVICE float kw_exp(float x) { return kw_exp2(1.44269504f * x); }

/* What is no number stays so. */
#if KW_PTX && KW_SM >= 80
KW_DEVICE float kw_step_relu(float v) {
    float y;
    asm("max.NaN.f32 %0, %1, 0f00000000;" : "=f"(y) : "f"(v));
    return y;
}
#else
KW_DEVICE float kw_step_relu(float v) { return v < 0.0f ? 0.0f : v; }
#endif
KW_DEVICE float kw_step_clamp(float v, float low, float high) { return v < low ? low : v > high ? high : v; }
KW_DEVICE float kw_step_leaky_relu(float v, float slope) { return v > 0.0f ? v : slope * v; }
KW_DEVICE float kw_step_sigmoid(float v) { return kw_reciprocal(1.0f + kw_exp(-v)); }
KW_DEVICE float kw_step_tanh(float v) { return 1.0f - 2.0f * kw_reciprocal(1.0f + kw_exp(2.0f * v)); }
KW_DEVICE float kw_step_silu(float v) { return v < -88.0f ? 0.0f : v * kw_step_sigmoid(v); }

/* The magnitude, at most 16; of what is no number 16. */
#if KW_PTX
KW_DEVICE float kw_size16(float v) {
    float y;
    asm("{\n"
        "    .reg .f32 size;\n"
        "    abs.f32 size, %1;\n"
        "    min.f32 %0, size, 0f41800000;\n"
        "}"
        : "=f"(y)
        : "f"(v));
    return y;
}
#else
KW_DEVICE float kw_size16(float v) {
    float size = kw_from_bits(kw_bits(v) & 0x7fffffffu);
    return size < 16.0f ? size : 16.0f;
}
#endif

/* v times the normal distribution of v: relu(v) less |v| times the distribution of -|v|, which is 2 to a polynomial of |v|, fitted on 0 ..
 * 5.6 for the least error of the power, 2.9e-7; beyond 16 it is 0. */
KW_DEVICE float kw_step_gelu(float v) {
    float x = kw_size16(v);
    float log =
        -1.00000084f + x * (-1.15108315f + x * (-0.459276678f + x * (-0.0525380239f + x * (0.00738720409f + x * -0.000518859143f))));
    return kw_step_relu(v) - x * kw_exp2(log);
}

/* (1 + tanh u) / 2 is the sigmoid of 2 u. */
KW_DEVICE float kw_step_gelu_tanh(float v) { return v * kw_step_sigmoid(v * (1.59576912f + 0.0713548163f * (v * v))); }

KW_DEVICE float kw_step_hardswish(float v) {
    float gate = kw_step_clamp(v + 3.0f, 0.0f, 6.0f);
    return v * gate * 0.166666667f;
}

/* --- tensors --- */

#define KW_TYPE_fp32 KW_FP32
#define KW_TYPE_bf16 KW_BF16
#define KW_TYPE_fp16 KW_FP16
#define KW_TYPE_int8 KW_INT8
#define KW_TYPE_int32 KW_INT32
#define KW_TYPE_uint8 KW_UINT8

/* The value of element e of words. */
KW_DEVICE float kw_extra_value(const kw_u32 *w, int type, int e) {
    int bytes = KW_BYTES_OF(type);
    kw_u32 bits = w[e * bytes / 4] >> e * bytes % 4 * 8;
    return type == KW_FP32    ? kw_from_bits(bits)
           : type == KW_BF16  ? kw_from_bf16(bits)
           : type == KW_FP16  ? kw_from_fp16(bits & 0xffffu)
           : type == KW_INT8  ? (float)(kw_i8)bits
           : type == KW_UINT8 ? (float)(bits & 0xffu)
                              : (float)(int)bits;
}

enum { KW_EXTRA_RUN = 16 }; /* elements of a run */

/* Words of elements at + more .. at + more + count - 1 of a tensor, more a constant; absent: they are not there, and nothing is read. */
KW_DEVICE void kw_extra_fetch(kw_u32 *w, const char *tensor, int type, kw_i64 at, const int more, int count, int absent) {
    int bytes = KW_BYTES_OF(type) * count, access = bytes < 16 ? bytes : 16;
    const char *from = kw_pointer_keep(tensor + at * KW_BYTES_OF(type));
    KW_UNROLL
    for (int b = 0; b < bytes; b += 16) {
        KW_UNROLL
        for (int i = 0; i < 4; i++)
            if (i * 4 < access) w[b / 4 + i] = 0;
        if (!absent) kw_load_run(w + b / 4, from + more * KW_BYTES_OF(type) + b, access);
    }
}

KW_DEVICE void kw_extra_values(float *to, const kw_u32 *w, int type, int count) {
    KW_UNROLL
    for (int e = 0; e < count; e++)
        to[e] = kw_extra_value(w, type, e);
}

/* --- runs --- */

/* Of a run's first element, in the result: its number in memory, its channel, its row or pixel. by_rows: the run is of pixels of a channel
 * (channels first), not of channels of a pixel. no_row, no_channel: the result has no such one. */
typedef struct kw_place {
    kw_i64 element, channel, row;
    int by_rows, no_row, no_channel;
} kw_place;

/* What the tensors have for the values of a run, or in [0] for all of them. */
typedef struct kw_extras {
    float at[KW_EXTRAS][KW_EXTRA_RUN];
} kw_extras;

/* Which of them, by what they have a value for: KW_OF_OTHERS are those of KW_OF_ALL but tensor number KW_RESIDUAL. */
#define KW_OF_ONE 1
#define KW_OF_CHANNEL 2
#define KW_OF_ROW 4
#define KW_OF_ALL 8
#define KW_OF_OTHERS 16

/* What a step adds whose tensor another one multiplies. */
KW_DEVICE float kw_beta(float beta, float t) { return beta == 0.0f ? 0.0f : beta * t; }
#define KW_BETA(beta, t) kw_beta(beta, t)

#define KW_STEP_NONE(name) KW_STEP_NOTHING
#define KW_STEP_NOTHING(...) 0.0f

/* The steps said once as loads, of `room` words for each tensor; which: a constant; more: elements behind the place, along the run. Nothing
 * waits here for what is asked for. */
KW_DEVICE void kw_extras_fetch(kw_u32 *w, const int room, const kw_gpu_args *a, kw_place at, const int more, int count, const int which) {
    int channels = at.by_rows ? 1 : count, rows = at.by_rows ? count : 1;
    float v = 0.0f;
#define KW_EXTRA_FETCH(of, type, number, from, on, elements, absent)                                                                       \
    (which & (of) ? kw_extra_fetch(w + (number)*room, a->extra[number], KW_TYPE_##type, from, on, elements, absent) : (void)0, 0.0f)
#define KW_EXTRA_FETCH_ONE(type, number) KW_EXTRA_FETCH(KW_OF_ONE, type, number, 0, 0, 1, 0)
#define KW_EXTRA_FETCH_CHANNEL(type, number)                                                                                               \
    KW_EXTRA_FETCH(KW_OF_CHANNEL, type, number, at.channel, at.by_rows ? 0 : more, channels, at.no_channel)
#define KW_EXTRA_FETCH_ROW(type, number) KW_EXTRA_FETCH(KW_OF_ROW, type, number, at.row, at.by_rows ? more : 0, rows, at.no_row)
#define KW_EXTRA_FETCH_ALL(type, number)                                                                                                   \
    KW_EXTRA_FETCH(KW_OF_ALL | ((number) == KW_RESIDUAL ? 0 : KW_OF_OTHERS), type, number, at.element, more, count,                        \
                   at.no_row || at.no_channel)
    KW_EPILOGUE_STEPS(v, KW_STEP_NONE, KW_EXTRA_FETCH_ONE, KW_EXTRA_FETCH_CHANNEL, KW_EXTRA_FETCH_ROW, KW_EXTRA_FETCH_ALL)
}

/* As values, from number e of the run on. */
KW_DEVICE void kw_extras_take(kw_extras *extras, const kw_u32 *w, const int room, int count, int by_rows, const int which, const int e) {
    int channels = by_rows ? 1 : count, rows = by_rows ? count : 1;
    float v = 0.0f;
#define KW_EXTRA_TAKE(of, type, number, elements)                                                                                          \
    (which & (of) ? kw_extra_values(extras->at[number] + e, w + (number)*room, KW_TYPE_##type, elements) : (void)0, 0.0f)
#define KW_EXTRA_TAKE_ONE(type, number) KW_EXTRA_TAKE(KW_OF_ONE, type, number, 1)
#define KW_EXTRA_TAKE_CHANNEL(type, number) KW_EXTRA_TAKE(KW_OF_CHANNEL, type, number, channels)
#define KW_EXTRA_TAKE_ROW(type, number) KW_EXTRA_TAKE(KW_OF_ROW, type, number, rows)
#define KW_EXTRA_TAKE_ALL(type, number) KW_EXTRA_TAKE(KW_OF_ALL | ((number) == KW_RESIDUAL ? 0 : KW_OF_OTHERS), type, number, count)
    KW_EPILOGUE_STEPS(v, KW_STEP_NONE, KW_EXTRA_TAKE_ONE, KW_EXTRA_TAKE_CHANNEL, KW_EXTRA_TAKE_ROW, KW_EXTRA_TAKE_ALL)
}

KW_DEVICE void kw_extras_load_some(kw_extras *extras, const kw_gpu_args *a, kw_place at, int count, const int which, const int e) {
    kw_u32 w[KW_EXTRAS][KW_EXTRA_RUN];
    kw_extras_fetch(w[0], KW_EXTRA_RUN, a, at, 0, count, which);
    kw_extras_take(extras, w[0], KW_EXTRA_RUN, count, at.by_rows, which, e);
}

KW_DEVICE void kw_extras_load(kw_extras *extras, const kw_gpu_args *a, kw_place at, int count) {
    kw_extras_load_some(extras, a, at, count, KW_OF_ONE | KW_OF_CHANNEL | KW_OF_ROW | KW_OF_ALL, 0);
}

/* And once for each value. line: what the run's values share, across: what those of other runs beside it share with each, own: the rest. */
KW_DEVICE float kw_steps_apply_shared(const kw_extras *line, const kw_extras *across, const kw_extras *own, float v, int e, int by_rows) {
#define KW_STEP_FUNCTION(name) kw_step_##name
#define KW_EXTRA_ONE(type, number) line->at[number][0]
#define KW_EXTRA_CHANNEL(type, number) (by_rows ? line->at[number][0] : across->at[number][e])
#define KW_EXTRA_ROW(type, number) (by_rows ? across->at[number][e] : line->at[number][0])
#define KW_EXTRA_ALL(type, number) own->at[number][e]
    KW_EPILOGUE_STEPS(v, KW_STEP_FUNCTION, KW_EXTRA_ONE, KW_EXTRA_CHANNEL, KW_EXTRA_ROW, KW_EXTRA_ALL)
    return v;
}

KW_DEVICE float kw_steps_apply(const kw_extras *extras, float v, int e, int by_rows) {
    return kw_steps_apply_shared(extras, extras, extras, v, e, by_rows);
}

KW_DEVICE void kw_run_finish(const kw_gpu_args *a, kw_place at, const kw_sum *sums, float *values, int count) {
    kw_extras extras;
    kw_extras_load(&extras, a, at, count);
    KW_UNROLL
    for (int e = 0; e < count; e++)
        values[e] = kw_steps_apply(&extras, (float)sums[e], e, at.by_rows);
}

/* --- rounding --- */

#if KW_OUT == KW_FP8 || KW_OUT == KW_BF8
/* A float of 8 bits, `fraction` of them behind the point, whose exponent is `bias` less than fp32's. What is beyond the largest that is
 * there, by half of its last place or more, becomes `over`. */
KW_DEVICE kw_u32 kw_to_byte(float value, int fraction, int bias, kw_u32 limit, kw_u32 over, kw_u32 nan) {
    kw_u32 sign = kw_bits(value) >> 24 & 0x80u, u = kw_bits(value) & 0x7fffffffu, drop = 23 - fraction;
    if (u > 0x7f800000u) return sign | nan;
    if (u >= limit) return sign | over;
    kw_u32 least = (kw_u32)(bias + 1) << 23, unit = (kw_u32)(bias + 1 + (int)drop) << 23; /* the first normal; its last place is unit's */
    if (u < least) return sign | (kw_bits(kw_from_bits(u) + kw_from_bits(unit)) - unit);
    return sign | (u - ((kw_u32)bias << 23) + ((1u << (drop - 1)) - 1u) + (u >> drop & 1u)) >> drop;
}
#endif

/* The value, or the end of a range that it lies beyond; of what is no number one of the ends, the low one where that is 0. */
#if KW_PTX
KW_DEVICE float kw_within(float value, float low, float high) {
    float y;
    asm("{\n"
        "    .reg .f32 above;\n"
        "    max.f32 above, %1, %2;\n"
        "    min.f32 %0, above, %3;\n"
        "}"
        : "=f"(y)
        : "f"(value), "f"(low), "f"(high));
    return y;
}
#else
KW_DEVICE float kw_within(float value, float low, float high) {
    value = value > low ? value : low;
    return value < high ? value : high;
}
#endif

/* An integer in the low byte: to nearest even and to the ends of its range. Behind the point fp32 has no bits from 2^23 on; below that
 * 1.5 2^23 rounds by being added, and leaves the integer in the low bits of the sum. */
KW_DEVICE kw_u32 kw_round_byte(float value, float low, float high) { return kw_bits(kw_within(value, low, high) + 12582912.0f) & 0xffu; }

/* An element of the result, in the low bits. Of integers no number becomes 0. */
KW_DEVICE kw_u32 kw_round_bits(float value) {
#if KW_OUT == KW_BF16
    return kw_to_bf16(value);
#elif KW_OUT == KW_FP16
    return kw_to_fp16(value);
#elif KW_OUT == KW_FP8
    return kw_to_byte(value, 3, 120, 0x43e80001u, 0x7fu, 0x7fu); /* e4m3: 448 is the largest, 464 is halfway to none */
#elif KW_OUT == KW_BF8
    return kw_to_byte(value, 2, 112, 0x47700000u, 0x7cu, 0x7eu); /* e5m2: 57344 is the largest, 61440 halfway to infinity */
#elif KW_OUT == KW_INT8
    return kw_round_byte(value == value ? value : 0.0f, -128.0f, 127.0f);
#elif KW_OUT == KW_UINT8
    return kw_round_byte(value, 0.0f, 255.0f);
#elif KW_OUT == KW_INT32
    float size = value < 0.0f ? -value : value;
    if (!(size < 2147483648.0f)) return value != value ? 0u : value < 0.0f ? 0x80000000u : 0x7fffffffu;
    return (kw_u32)(int)(size < 4194304.0f ? (value + 12582912.0f) - 12582912.0f : value);
#else
    return kw_bits(value);
#endif
}

/* Of a value that is a number. */
#if KW_OUT == KW_INT8
KW_DEVICE kw_u32 kw_round_number_bits(float value) { return kw_round_byte(value, -128.0f, 127.0f); }
#else
KW_DEVICE kw_u32 kw_round_number_bits(float value) { return kw_round_bits(value); }
#endif

#if KW_OUT_BYTES == 1
/* Into a word, as gpu_ptx.h's elements of 16 bits are. */
#define KW_CVT_BYTES(type) "{\n    .reg .b16 two;\n    cvt.rn.satfinite." type ".f32 two, %1, %2;\n    cvt.u32.u16 %0, two;\n}"

/* Two bytes, the first one low. */
#if KW_PTX && KW_SM >= 89 && KW_OUT == KW_FP8
/* What rounds to more than the largest number becomes none; the instruction would end there. */
KW_DEVICE float kw_within_fp8(float value) {
    float y;
    asm("{\n"
        "    .reg .f32 size;\n"
        "    .reg .pred over;\n"
        "    abs.f32 size, %1;\n"
        "    setp.gt.f32 over, size, 0f43e80000;\n"
        "    selp.f32 %0, 0f7fffffff, %1, over;\n"
        "}"
        : "=f"(y)
        : "f"(value));
    return y;
}

KW_DEVICE kw_u32 kw_round_two(float low, float high) {
    kw_u32 w;
    asm(KW_CVT_BYTES("e4m3x2") : "=r"(w) : "f"(kw_within_fp8(high)), "f"(kw_within_fp8(low)));
    return w;
}
#elif KW_PTX && KW_SM >= 89 && KW_OUT == KW_BF8
/* The instruction ends at the largest number, next to which infinity is: what is to be added to a value that rounds to more. */
KW_DEVICE kw_u32 kw_beyond_bf8(float value, kw_u32 place) {
    kw_u32 more;
    asm("{\n"
        "    .reg .f32 size;\n"
        "    .reg .pred over;\n"
        "    abs.f32 size, %1;\n"
        "    setp.ge.f32 over, size, 0f47700000;\n"
        "    selp.b32 %0, %2, 0, over;\n"
        "}"
        : "=r"(more)
        : "f"(value), "r"(place));
    return more;
}

KW_DEVICE kw_u32 kw_round_two(float low, float high) {
    kw_u32 w;
    asm(KW_CVT_BYTES("e5m2x2") : "=r"(w) : "f"(high), "f"(low));
    return w + kw_beyond_bf8(low, 1) + kw_beyond_bf8(high, 256);
}
#else
KW_DEVICE kw_u32 kw_round_two(float low, float high) { return kw_round_bits(low) | kw_round_bits(high) << 8; }
#endif
#endif

/* Values that follow each other, rounded: one access. */
KW_DEVICE void kw_store_values(char *to, const float *values, int count) {
    kw_u32 w[4];
#if KW_OUT_BYTES < 4
    if (count > 1) { /* 2, 4, ... */
        KW_UNROLL
        for (int i = 0; i < count; i += 2) {
#if KW_OUT_BYTES == 2
            w[i / 2] = kw_out_pair(values[i], values[i + 1]);
#else
            w[i / 4] = (i % 4 ? w[i / 4] : 0) | kw_round_two(values[i], values[i + 1]) << i % 4 * 8;
#endif
        }
        kw_store_run(to, w, count * KW_OUT_BYTES);
        return;
    }
#endif
    KW_UNROLL
    for (int i = 0; i < count; i++) {
        int shift = i * KW_OUT_BYTES % 4 * 8, word = i * KW_OUT_BYTES / 4;
        w[word] = (shift ? w[word] : 0) | kw_round_bits(values[i]) << shift;
    }
    kw_store_run(to, w, count * KW_OUT_BYTES);
}

/* A run of the result, all of it; to: where it lies, or what is kept for it in shared memory. */
KW_DEVICE void kw_finish_run(char *to, const kw_gpu_args *a, kw_place at, const kw_sum *sums, int count) {
    float values[KW_EXTRA_RUN];
    kw_run_finish(a, at, sums, values, count);
    kw_store_values(to, values, count);
}

/* Of a result whose channels lie last, or with KW_PLANES first, the place of an element, which is counted without gaps. Weights have neither channels nor rows. */
KW_DEVICE kw_place kw_place_of(const kw_gpu_args *a, kw_i64 element) {
    kw_place p = {element, 0, 0, 0};
#if KW_OP != KW_OP_CONV_BWD_WEIGHT
    kw_i64 channels = KW_OP == KW_OP_GEMM ? a->gn : a->groups * (KW_OP == KW_OP_CONV_BWD_DATA ? a->c : a->k);
#if KW_PLANES
    kw_i64 pixels = a->out[0] * a->out[1] * a->out[2], plane = element / pixels;
    p.row = plane / channels;
    p.channel = plane - p.row * channels;
    p.row = p.row * pixels + element - plane * pixels;
#else
    p.row = element / channels;
    p.channel = element - p.row * channels;
#endif
#endif
#if KW_PITCHED && KW_OP == KW_OP_GEMM
    p.element = kw_pitched_place(a, element);
#endif
    return p;
}

/* And one element of it. */
KW_DEVICE void kw_finish_element(char *result, const kw_gpu_args *a, kw_i64 element, kw_sum sum) {
    kw_place at = kw_place_of(a, element);
    kw_finish_run(result + at.element * KW_OUT_BYTES, a, at, &sum, 1);
}

#endif
