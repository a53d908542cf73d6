/* reference.c: conversions of every element type and the block multiply of the reference kernels. Portable C with vectors of four;
 * conversions are exact when widening and round to nearest even when narrowing, as kw_dtype_load and kw_dtype_store do. */
#include "reference.h"

#define KW_LANES 4
#define KW_STORAGE 0
#define KW_MATH 0
#define KW_BACKWARD 0
#include "prelude/cpu.h"

static float as_float(kw_u32 bits) {
    union {
        kw_u32 u;
        float f;
    } b = {bits};
    return b.f;
}

static kw_u32 as_bits(float value) {
    union {
        float f;
        kw_u32 u;
    } b = {value};
    return b.u;
}

/* Exponent and fraction are moved to fp32's place; the multiply by a power of two mends the exponent of normal and subnormal values
 * alike. */
static float from_fp16(kw_u32 h) {
    kw_u32 magnitude = h & 0x7fffu;
    float value = magnitude >= 0x7c00u ? as_float(magnitude << 13 | 0x7f800000u) : as_float(magnitude << 13) * 0x1p112f;
    return as_float(as_bits(value) | (h & 0x8000u) << 16);
}

static float from_fp8(kw_u32 b) {
    kw_u32 magnitude = b & 0x7fu;
    float value = magnitude == 0x7fu ? as_float(0x7fc00000u) : as_float(magnitude << 20) * 0x1p120f;
    return as_float(as_bits(value) | (b & 0x80u) << 24);
}

static kw_u16 to_bf16(float value) {
    kw_u32 u = as_bits(value);
    return (kw_u16)(value != value ? u >> 16 | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

static kw_u16 to_fp16(float value) {
    kw_u32 sign = as_bits(value) >> 16 & 0x8000u, u = as_bits(value) & 0x7fffffffu;
    if (u > 0x7f800000u) {
        return (kw_u16)(sign | 0x7e00u);
    }
    if (u >= 0x477ff000u) { /* 65520, halfway to the first value that is not there */
        return (kw_u16)(sign | 0x7c00u);
    }
    if (u < 0x38800000u) { /* subnormal: the sum with 0.5 rounds to its unit, 2^-24 */
        return (kw_u16)(sign | (as_bits(as_float(u) + 0.5f) - as_bits(0.5f)));
    }
    return (kw_u16)(sign | (u - (112u << 23) + 0xfffu + (u >> 13 & 1u)) >> 13);
}

void kw_reference_kernel_load(float *to, const kw_reference_kernel_run *run) {
    kw_i64 step = run->step, count = run->count;
    const char *at = run->tensor;
    switch (run->dtype) {
    case KW_BF16:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = as_float((kw_u32)((const kw_u16_u *)at)[j] << 16);
        }
        break;
    case KW_FP16:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = from_fp16(((const kw_u16_u *)at)[j]);
        }
        break;
    case KW_FP8:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = from_fp8((unsigned char)at[j]);
        }
        break;
    case KW_BF8: /* the upper half of fp16 */
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = from_fp16((kw_u32)(unsigned char)at[j] << 8);
        }
        break;
    case KW_INT8:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = (float)((const signed char *)at)[j];
        }
        break;
    case KW_UINT8:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = (float)((const unsigned char *)at)[j];
        }
        break;
    default:
        for (kw_i64 i = 0, j = run->first; i < count; i++, j += step) {
            to[i] = ((const kw_f32_u *)at)[j];
        }
        break;
    }
}

void kw_reference_kernel_load_less(float *to, const kw_reference_kernel_run *run, float zero) {
    kw_reference_kernel_load(to, run);
    for (kw_i64 i = 0; zero != 0 && i < run->count; i++) {
        to[i] -= zero;
    }
}

/* e5m2, the upper half of fp16 rounded once. */
static unsigned char to_bf8(float value) {
    kw_u32 sign = as_bits(value) >> 24 & 0x80u, u = as_bits(value) & 0x7fffffffu;
    if (u > 0x7f800000u) {
        return (unsigned char)(sign | 0x7eu);
    }
    if (u >= 0x47700000u) { /* 61440, halfway to the first value that is not there */
        return (unsigned char)(sign | 0x7cu);
    }
    if (u < 0x38800000u) { /* below 2^-14 the unit is 2^-16, which is that of 2^7 */
        return (unsigned char)(sign | (as_bits(as_float(u) + 0x1p7f) - as_bits(0x1p7f)));
    }
    return (unsigned char)(sign | (u - (112u << 23) + 0xfffffu + (u >> 21 & 1u)) >> 21);
}

/* e4m3: beyond 448 (halfway to what would be 480) is NaN. */
static unsigned char to_fp8(float value) {
    kw_u32 sign = as_bits(value) >> 24 & 0x80u, u = as_bits(value) & 0x7fffffffu;
    if (u > 0x43e80000u) { /* 464 */
        return (unsigned char)(sign | 0x7fu);
    }
    if (u < 0x3c800000u) { /* below 2^-6 the unit is 2^-9, which is that of 2^14 */
        return (unsigned char)(sign | (as_bits(as_float(u) + 0x1p14f) - as_bits(0x1p14f)));
    }
    u = u - (120u << 23) + 0x7ffffu + (u >> 20 & 1u);
    return (unsigned char)(sign | (u >> 20 > 0x7eu ? 0x7fu : u >> 20));
}

static int saturated(float value, float low, float high) {
    return value != value ? 0 : value <= low ? (int)low : value >= high ? (int)high : (int)__builtin_rintf(value);
}

void kw_reference_kernel_round(kw_dtype dtype, char *tensor, kw_i64 at, float value) {
    switch (dtype) {
    case KW_BF16:
        ((kw_u16_u *)tensor)[at] = to_bf16(value);
        break;
    case KW_FP16:
        ((kw_u16_u *)tensor)[at] = to_fp16(value);
        break;
    case KW_FP8:
        ((unsigned char *)tensor)[at] = to_fp8(value);
        break;
    case KW_BF8:
        ((unsigned char *)tensor)[at] = to_bf8(value);
        break;
    case KW_INT8:
        ((signed char *)tensor)[at] = (signed char)saturated(value, -128, 127);
        break;
    case KW_UINT8:
        ((unsigned char *)tensor)[at] = (unsigned char)saturated(value, 0, 255);
        break;
    case KW_INT32:
        ((kw_i32_u *)tensor)[at] = value >= 0x1p31f ? 0x7fffffff : saturated(value, -0x1p31f, 0x1p31f);
        break;
    default:
        ((kw_f32_u *)tensor)[at] = value;
        break;
    }
}

void kw_reference_kernel_store(const kw_reference_kernel_run *run, const kw_reference_kernel_block *block, kw_i64 from, kw_i64 step) {
    const float *real = block->sum.real + from;
    const kw_u32 *whole = block->sum.whole + from;
    char *at = (char *)run->tensor;
    for (kw_i64 i = 0, j = run->first; i < run->count; i++, j += run->step) {
        switch (run->dtype) {
        case KW_BF16:
            ((kw_u16_u *)at)[j] = to_bf16(real[i * step]);
            break;
        case KW_FP16:
            ((kw_u16_u *)at)[j] = to_fp16(real[i * step]);
            break;
        case KW_INT32:
            ((kw_i32_u *)at)[j] = (int)whole[i * step];
            break;
        default:
            ((kw_f32_u *)at)[j] = real[i * step];
            break;
        }
    }
}

void kw_reference_kernel_load_b(kw_reference_kernel_block *block, const kw_reference_kernel_run *run, kw_i64 depth_step, kw_i64 depth) {
    kw_i64 cols = (run->count + 7) / 8 * 8;
    for (kw_i64 q = 0; run->count < cols && q < depth; q++) {
        for (kw_i64 j = run->count; j < cols; j++) {
            block->b[q * KW_REFERENCE_COLS + j] = 0;
        }
    }
    if (run->step == 1) {
        for (kw_i64 q = 0; q < depth; q++) {
            kw_reference_kernel_run row = {run->dtype, run->tensor, run->first + q * depth_step, 1, run->count};
            kw_reference_kernel_load(block->b + q * KW_REFERENCE_COLS, &row);
        }
        return;
    }
    float column[KW_REFERENCE_DEPTH];
    for (kw_i64 j = 0; j < run->count; j++) {
        kw_reference_kernel_run down = {run->dtype, run->tensor, run->first + j * run->step, depth_step, depth};
        kw_reference_kernel_load(column, &down);
        for (kw_i64 q = 0; q < depth; q++) {
            block->b[q * KW_REFERENCE_COLS + j] = column[q];
        }
    }
}

void kw_reference_kernel_clear(kw_reference_kernel_block *block) {
    for (int i = 0; i < KW_REFERENCE_ROWS * KW_REFERENCE_COLS; i++) {
        block->sum.whole[i] = 0; /* the bits of 0.0f too */
    }
}

static void add(kw_reference_kernel_block *block, kw_i64 at, kw_vf value, bool whole) {
    if (whole) {
        kw_vu_u *sum = (kw_vu_u *)(block->sum.whole + at);
        *sum += (kw_vu) __builtin_convertvector(value, kw_vi);
    } else {
        kw_vf_u *sum = (kw_vf_u *)(block->sum.real + at);
        *sum += value;
    }
}

/* 4 rows by 8 columns in registers. */
static void multiply_tile(kw_reference_kernel_block *block, const kw_reference_kernel_extent *e, kw_i64 row, kw_i64 col) {
    kw_vf s00 = {0}, s01 = {0}, s10 = {0}, s11 = {0}, s20 = {0}, s21 = {0}, s30 = {0}, s31 = {0};
    const float *a0 = block->a + row * e->row_step, *a1 = a0 + e->row_step, *a2 = a1 + e->row_step, *a3 = a2 + e->row_step;
    const float *b = block->b + col;
    for (kw_i64 q = 0, at = 0; q < e->depth; q++, at += e->depth_step, b += KW_REFERENCE_COLS) {
        kw_vf b0 = kw_load(b), b1 = kw_load(b + 4);
        kw_vf x0 = kw_spread(a0 + at), x1 = kw_spread(a1 + at), x2 = kw_spread(a2 + at), x3 = kw_spread(a3 + at);
        s00 += x0 * b0;
        s01 += x0 * b1;
        s10 += x1 * b0;
        s11 += x1 * b1;
        s20 += x2 * b0;
        s21 += x2 * b1;
        s30 += x3 * b0;
        s31 += x3 * b1;
    }
    kw_i64 at = row * KW_REFERENCE_COLS + col;
    add(block, at, s00, e->whole);
    add(block, at + 4, s01, e->whole);
    add(block, at + KW_REFERENCE_COLS, s10, e->whole);
    add(block, at + KW_REFERENCE_COLS + 4, s11, e->whole);
    add(block, at + 2 * KW_REFERENCE_COLS, s20, e->whole);
    add(block, at + 2 * KW_REFERENCE_COLS + 4, s21, e->whole);
    add(block, at + 3 * KW_REFERENCE_COLS, s30, e->whole);
    add(block, at + 3 * KW_REFERENCE_COLS + 4, s31, e->whole);
}

void kw_reference_kernel_multiply(kw_reference_kernel_block *block, const kw_reference_kernel_extent *extent) {
    for (kw_i64 col = 0; col < extent->cols; col += 8) {
        for (kw_i64 row = 0; row < extent->rows; row += 4) {
            multiply_tile(block, extent, row, col);
        }
    }
}

void kw_reference_kernel_multiply_rows(kw_reference_kernel_block *block, kw_i64 rows, kw_i64 cols, bool whole) {
    for (kw_i64 row = 0; row < rows; row++) {
        for (kw_i64 col = 0; col < cols; col += 4) {
            kw_i64 at = row * KW_REFERENCE_COLS + col;
            add(block, at, kw_load(block->a + at) * kw_load(block->b + col), whole);
        }
    }
}
