/* dtype.h: the value of one stored element, inline, so that a loop over elements of a type known at compile time holds no test of the
 * type. kw_dtype_load is the same as a function. Internal to this folder. */
#ifndef KW_PROBLEM_NAMES_DTYPE_H
#define KW_PROBLEM_NAMES_DTYPE_H

#include "base/status.h"

#include <math.h>
#include <string.h>

/* A float of at most 16 bits: one sign bit, exponent bits, mantissa bits. largest is the code of the greatest finite value, overflow that
 * of everything beyond (infinity, or NaN for e4m3). */
typedef struct kw_narrow {
    int bits, mantissa, bias;
    uint32_t sign, largest, overflow, nan;
} kw_narrow;

static const kw_narrow kw_narrow_bf16 = {16, 7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0};
static const kw_narrow kw_narrow_fp16 = {16, 10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00};
static const kw_narrow kw_narrow_fp8 = {8, 3, 7, 0x80, 0x7e, 0x7f, 0x7f};
static const kw_narrow kw_narrow_bf8 = {8, 2, 15, 0x80, 0x7b, 0x7c, 0x7e};

/* Digits times a power of two; both are normal doubles for every code. Loads are many and values random, so neither the sign nor a
 * subnormal (zero is one) is branched on. */
static inline double kw_narrow_value(const kw_narrow *type, uint32_t code) {
    uint32_t magnitude = code & (type->sign - 1), field = magnitude >> type->mantissa, normal = field != 0;
    uint32_t digits = magnitude - ((field - normal) << type->mantissa); /* with the leading 1 of a normal number */
    uint64_t bits = (uint64_t)((int)(field + 1 - normal) - type->bias - type->mantissa + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    value *= (int)digits;
    if (magnitude > type->largest) {
        value = magnitude == type->overflow && type->overflow != type->nan ? (double)INFINITY : (double)NAN;
    }
    memcpy(&bits, &value, sizeof bits);
    bits |= (uint64_t)(code & type->sign) << (64 - type->bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The upper half of an fp32. */
static inline double kw_bf16_value(uint16_t code) {
    uint32_t bits = (uint32_t)code << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

static inline double kw_dtype_value(kw_dtype dtype, const void *tensor, int64_t index) {
    switch (dtype) {
    case KW_FP32:
        return (double)((const float *)tensor)[index];
    case KW_BF16:
        return kw_bf16_value(((const uint16_t *)tensor)[index]);
    case KW_FP16:
        return kw_narrow_value(&kw_narrow_fp16, ((const uint16_t *)tensor)[index]);
    case KW_FP8:
        return kw_narrow_value(&kw_narrow_fp8, ((const uint8_t *)tensor)[index]);
    case KW_BF8:
        return kw_narrow_value(&kw_narrow_bf8, ((const uint8_t *)tensor)[index]);
    case KW_INT8:
        return ((const int8_t *)tensor)[index];
    case KW_UINT8:
        return ((const uint8_t *)tensor)[index];
    case KW_INT32:
        return ((const int32_t *)tensor)[index];
    case KW_DTYPE_COUNT:
        break;
    }
    return 0;
}

#endif
