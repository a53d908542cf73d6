/* dtype.c: values of the data types as doubles. A store rounds once, straight from double to the type, so
 * that no result is rounded twice. */
#include "problem/names/dtype.h"
#include "problem/reference.h"

static uint32_t encode_narrow(const kw_narrow *type, double value) {
    uint32_t sign = signbit(value) ? type->sign : 0;
    if (isnan(value)) {
        return sign | type->nan;
    }
    if (isinf(value)) {
        return sign | type->overflow;
    }
    if (value == 0) {
        return sign;
    }
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* in [1/2, 1) */
    exponent += type->bias - 1;                      /* as it stands in the code */
    int digits = type->mantissa + 1;
    if (exponent < 1) { /* subnormal: fewer digits */
        digits += exponent - 1 < -64 ? -64 : exponent - 1;
        exponent = 1;
    }
    /* The leading digit of a normal number adds 1 to the exponent field, and so does a carry. */
    int64_t code = ((int64_t)(exponent - 1) << type->mantissa) + (int64_t)rint(ldexp(fraction, digits));
    return sign | (code > (int64_t)type->largest ? type->overflow : (uint32_t)code);
}

double kw_dtype_load(kw_dtype dtype, const void *tensor, int64_t index) {
    return kw_dtype_value(dtype, tensor, index);
}

/* Nearest even, saturating; NaN gives 0. */
static int32_t whole(double value, double low, double high) {
    return isnan(value) ? 0 : (int32_t)fmin(fmax(rint(value), low), high);
}

void kw_dtype_store(kw_dtype dtype, void *tensor, int64_t index, double value) {
    switch (dtype) {
    case KW_FP32:
        ((float *)tensor)[index] = (float)value;
        break;
    case KW_BF16:
        ((uint16_t *)tensor)[index] = (uint16_t)encode_narrow(&kw_narrow_bf16, value);
        break;
    case KW_FP16:
        ((uint16_t *)tensor)[index] = (uint16_t)encode_narrow(&kw_narrow_fp16, value);
        break;
    case KW_FP8:
        ((uint8_t *)tensor)[index] = (uint8_t)encode_narrow(&kw_narrow_fp8, value);
        break;
    case KW_BF8:
        ((uint8_t *)tensor)[index] = (uint8_t)encode_narrow(&kw_narrow_bf8, value);
        break;
    case KW_INT8:
        ((int8_t *)tensor)[index] = (int8_t)whole(value, INT8_MIN, INT8_MAX);
        break;
    case KW_UINT8:
        ((uint8_t *)tensor)[index] = (uint8_t)whole(value, 0, UINT8_MAX);
        break;
    case KW_INT32:
        ((int32_t *)tensor)[index] = whole(value, INT32_MIN, INT32_MAX);
        break;
    case KW_DTYPE_COUNT:
        break;
    }
}
