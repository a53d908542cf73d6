/* emu_element.h: an element of a matrix as the emulator multiplies it: a float, or the bits of an int32. Inline, because each word of each
 * operand goes through it with a type that is known where it stands. */
#ifndef KW_BACKEND_EMU_EMU_ELEMENT_H
#define KW_BACKEND_EMU_EMU_ELEMENT_H

#include "backend/emu/emu.h"

#include <string.h>

enum { FP32, BF16, FP16, FP8, BF8, INT8, UINT8 = 7, TF32 = KW_EMU_TF32 }; /* as KW_IN */

static inline float kw_emu_bits(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A small float's magnitude, moved to fp32's place; its exponent is mended by a product. */
static inline float kw_emu_signed(uint32_t magnitude, float mended, uint32_t sign) {
    float value = kw_emu_bits(magnitude) * mended;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return kw_emu_bits(bits | sign);
}

/* fp16, whose upper half is bf8: both keep infinity and NaN. */
static inline float kw_emu_fp16(uint32_t h) {
    uint32_t magnitude = h & 0x7fff, sign = (h & 0x8000) << 16;
    return magnitude >= 0x7c00 ? kw_emu_bits(magnitude << 13 | 0x7f800000 | sign) : kw_emu_signed(magnitude << 13, 0x1p112f, sign);
}

static inline float kw_emu_fp8(uint32_t b) {
    uint32_t magnitude = b & 0x7f, sign = (b & 0x80) << 24;
    return magnitude == 0x7f ? kw_emu_bits(0x7fc00000 | sign) : kw_emu_signed(magnitude << 20, 0x1p120f, sign);
}

/* bits: those of the element, nothing above them. Of tf32 the last 13 are passed over. */
static inline float kw_emu_element(int type, uint32_t bits) {
    switch (type) {
    case BF16:
        return kw_emu_bits(bits << 16);
    case FP16:
        return kw_emu_fp16(bits);
    case FP8:
        return kw_emu_fp8(bits);
    case BF8:
        return kw_emu_fp16(bits << 8);
    case INT8:
        return kw_emu_bits((uint32_t)(int32_t)(int8_t)bits);
    case TF32:
        return kw_emu_bits(bits & 0xffffe000);
    default: /* FP32, UINT8 */
        return kw_emu_bits(bits);
    }
}

#endif
