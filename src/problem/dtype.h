/* dtype.h: the value of one stored element, inline, so that a loop over elements of a type known at compile time holds no test of the
 * type. kw_dtype_load is the same as a function. Internal to this folder. */
#ifndef KW_PROBLEM_DTYPE_H
#define KW_PROBLEM_DTYPE_H

#include "base/status.h"

#include <math.h>
#include <string.h>

/* A float of at most 16 bits: one sign bit, exponent bits, mantissa bits. largest is the code of the greatest finite value, overflow that
 * of everything beyond (infinity, or NaN for e4m3). */
typedef struct kw_narrow {
    int mantissa, bias;
    uint32_t sign, largest, overflow, nan;
} kw_narrow;

static const kw_narrow kw_narrow_bf16 = {7, 127, 0x8000, 0x7f7f, 0x7f80, 0x7fc0};
static const kw_narrow kw_narrow_fp16 = {10, 15, 0x8000, 0x7bff, 0x7c00, 0x7e00};
static const kw_narrow kw_narrow_fp8 = {3, 7, 0x80, 0x7e, 0x7f, 0x7f};
static const kw_narrow kw_narrow_bf8 = {2, 15, 0x80, 0x7b, 0x7c, 0x7e};

/* Every narrow value, subnormals too, is a normal double. */
static inline double kw_narrow_value(const kw_narrow *type, uint32_t code) {
    uint32_t magnitude = code & (type->sign - 1);
    double value;
    if (magnitude > type->largest) {
        value = magnitude == type->overflow && type->overflow != type->nan ? (double)INFINITY : (double)NAN;
    } else if (magnitude >> type->mantissa) { /* the exponent moves to the double's bias, the mantissa to its front */
        uint64_t bits = ((uint64_t)magnitude << (52 - type->mantissa)) + ((uint64_t)(1023 - type->bias) << 52);
        memcpy(&value, &bits, sizeof value);
    } else {
        value = ldexp((double)magnitude, 1 - type->bias - type->mantissa);
    }
    return code & type->sign ? -value : value;
}

static inline double kw_dtype_value(kw_dtype dtype, const void *tensor, int64_t index) {
    switch (dtype) {
    case KW_FP32:
        return (double)((const float *)tensor)[index];
    case KW_BF16:
        return kw_narrow_value(&kw_narrow_bf16, ((const uint16_t *)tensor)[index]);
    case KW_FP16:
        return kw_narrow_value(&kw_narrow_fp16, ((const uint16_t *)tensor)[index]);
    case KW_FP8:
        return kw_narrow_value(&kw_narrow_fp8, ((const uint8_t *)tensor)[index]);
    case KW_BF8:
        return kw_narrow_value(&kw_narrow_bf8, ((const uint8_t *)tensor)[index]);
    case KW_INT8:
        return ((const int8_t *)tensor)[index];
    case KW_INT32:
        return ((const int32_t *)tensor)[index];
    case KW_DTYPE_COUNT:
        break;
    }
    return 0;
}

#endif
