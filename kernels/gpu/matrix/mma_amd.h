/* mma_amd.h: kw_mma for AMD, by the compiler's builtins. gpu/matrix/fragment.h says which words of a tile a lane has; here they go to as
 * many instructions as the tile is deep, each of which takes the next words of every lane. Which k a word stands for does not matter to the
 * sum, as long as it is the same in a and b, and the hardware holds a and b alike; rows, columns and accumulators are the hardware's own.
 *
 * Types that the hardware does not multiply are widened to fp16, which holds them exactly: fp8 and bf8 on gfx90a, which has neither, and on
 * gfx942, whose own are of another kind (no infinities, no negative zero, another bias) than ours and everyone else's (OCP). */
#ifndef KW_MMA_AMD_H
#define KW_MMA_AMD_H

typedef kw_sum kw_amd_acc __attribute__((ext_vector_type(KW_ACC_N)));
typedef kw_u32 kw_u32x2 __attribute__((ext_vector_type(2)));
typedef kw_u32 kw_u32x8 __attribute__((ext_vector_type(8)));
typedef int kw_i32x2 __attribute__((ext_vector_type(2)));
typedef int kw_i32x4 __attribute__((ext_vector_type(4)));
typedef int kw_i32x8 __attribute__((ext_vector_type(8)));
typedef short kw_i16x2 __attribute__((ext_vector_type(2)));
typedef short kw_i16x4 __attribute__((ext_vector_type(4)));
typedef short kw_i16x8 __attribute__((ext_vector_type(8)));
typedef short kw_i16x16 __attribute__((ext_vector_type(16)));
typedef _Float16 kw_f16x2 __attribute__((ext_vector_type(2)));
typedef _Float16 kw_f16x4 __attribute__((ext_vector_type(4)));
typedef _Float16 kw_f16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 kw_f16x16 __attribute__((ext_vector_type(16)));
typedef __bf16 kw_bf16x8 __attribute__((ext_vector_type(8)));
typedef __bf16 kw_bf16x16 __attribute__((ext_vector_type(16)));
typedef float kw_f32x2 __attribute__((ext_vector_type(2)));
typedef kw_u32 kw_u32x16 __attribute__((ext_vector_type(16)));
typedef int kw_i32x16 __attribute__((ext_vector_type(16)));

/* Words from p on as one value of a type of their size. */
#define KW_AS1(type, p) __builtin_bit_cast(type, (p)[0])
#define KW_AS2(type, p) __builtin_bit_cast(type, (kw_u32x2){(p)[0], (p)[1]})
#define KW_AS4(type, p) __builtin_bit_cast(type, (kw_u32x4){(p)[0], (p)[1], (p)[2], (p)[3]})
#define KW_AS8(type, p) __builtin_bit_cast(type, (kw_u32x8){(p)[0], (p)[1], (p)[2], (p)[3], (p)[4], (p)[5], (p)[6], (p)[7]})
#define KW_AS16(type, p)                                                                                                                   \
    __builtin_bit_cast(type, (kw_u32x16){(p)[0], (p)[1], (p)[2], (p)[3], (p)[4], (p)[5], (p)[6], (p)[7], (p)[8], (p)[9], (p)[10], (p)[11], \
                                         (p)[12], (p)[13], (p)[14], (p)[15]})

/* KW_AMD_WORDS: of a and b that one instruction takes of a lane. KW_AMD_MMA(c, a, b): that instruction, the words standing at a and b. */
#if KW_HAS_MFMA
#if KW_INST_M == 32
#define KW_MFMA(type, deep32, deep16) __builtin_amdgcn_mfma_##type##_32x32x##deep32
#else
#define KW_MFMA(type, deep32, deep16) __builtin_amdgcn_mfma_##type##_16x16x##deep16
#endif

#if KW_IN == KW_FP32
#define KW_AMD_WORDS 1
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 2f32, 4f32)(KW_AS1(float, a), KW_AS1(float, b), c, 0, 0, 0)

#elif KW_IN == KW_FP16 && KW_GFX == 0x950 && KW_A_WORDS >= 4
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 16_f16, 32_f16)(KW_AS4(kw_f16x8, a), KW_AS4(kw_f16x8, b), c, 0, 0, 0)
#elif KW_IN == KW_FP16
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 8f16, 16f16)(KW_AS2(kw_f16x4, a), KW_AS2(kw_f16x4, b), c, 0, 0, 0)

#elif KW_IN == KW_BF16 && KW_GFX == 0x950 && KW_A_WORDS >= 4
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 16_bf16, 32_bf16)(KW_AS4(kw_bf16x8, a), KW_AS4(kw_bf16x8, b), c, 0, 0, 0)
#elif KW_IN == KW_BF16 && KW_GFX == 0x908
#define KW_AMD_WORDS 1
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 4bf16, 8bf16)(KW_AS1(kw_i16x2, a), KW_AS1(kw_i16x2, b), c, 0, 0, 0)
#elif KW_IN == KW_BF16
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 8bf16_1k, 16bf16_1k)(KW_AS2(kw_i16x4, a), KW_AS2(kw_i16x4, b), c, 0, 0, 0)

#elif KW_IN == KW_INT8 && KW_GFX == 0x950 && KW_A_WORDS >= 4
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b) KW_MFMA(i32, 32_i8, 64_i8)(KW_AS4(kw_i32x4, a), KW_AS4(kw_i32x4, b), c, 0, 0, 0)
#elif KW_IN == KW_INT8 && (KW_GFX == 0x942 || KW_GFX == 0x950)
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b) KW_MFMA(i32, 16_i8, 32_i8)(KW_AS2(long, a), KW_AS2(long, b), c, 0, 0, 0)
#elif KW_IN == KW_INT8
#define KW_AMD_WORDS 1
#define KW_AMD_MMA(c, a, b) KW_MFMA(i32, 8i8, 16i8)(KW_AS1(int, a), KW_AS1(int, b), c, 0, 0, 0)

#elif KW_GFX == 0x950 && KW_A_WORDS >= 8
/* Formats: 0 fp8, 1 bf8. Scales that are 0 choose the instruction that has none. */
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    KW_MFMA(scale_f32, 64_f8f6f4, 128_f8f6f4)                                                                                              \
    (KW_AS8(kw_i32x8, a), KW_AS8(kw_i32x8, b), c, KW_IN == KW_BF8, KW_IN == KW_BF8, 0, 0, 0, 0)
#elif KW_GFX == 0x950
#define KW_AMD_WORDS 2
#if KW_IN == KW_FP8
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 16_fp8_fp8, 32_fp8_fp8)(KW_AS2(long, a), KW_AS2(long, b), c, 0, 0, 0)
#else
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 16_bf8_bf8, 32_bf8_bf8)(KW_AS2(long, a), KW_AS2(long, b), c, 0, 0, 0)
#endif

#else
/* Four 8-bit values of a word as fp16: elements 0 and 1, then 2 and 3. */
KW_DEVICE kw_f16x4 kw_amd_widen(kw_u32 word) {
    /* Each byte to the top of a half. */
    kw_u32x2 halves = {__builtin_amdgcn_perm(0, word, 0x010c000c), __builtin_amdgcn_perm(0, word, 0x030c020c)};
#if KW_IN == KW_BF8
    return __builtin_bit_cast(kw_f16x4, halves);
#else
    /* Exponent and fraction to fp16's place, whose bias is 8 more; only the magnitude 0x7f, which is NaN, carries into bit 15 when one is
     * added to it. */
    kw_u32x2 magnitude = halves >> 1 & 0x3f803f80u, nan = ((halves & 0x7f007f00u) + 0x01000100u) & 0x80008000u;
    kw_f16x4 values = __builtin_bit_cast(kw_f16x4, magnitude | (halves & 0x80008000u)) * (_Float16)256;
    nan = nan >> 1 | nan >> 2 | nan >> 3 | nan >> 4 | nan >> 5 | nan >> 6;
    return __builtin_bit_cast(kw_f16x4, __builtin_bit_cast(kw_u32x2, values) | nan);
#endif
}
#define KW_AMD_WORDS 1
#define KW_AMD_MMA(c, a, b) KW_MFMA(f32, 8f16, 16f16)(kw_amd_widen((a)[0]), kw_amd_widen((b)[0]), c, 0, 0, 0)
#endif

#elif KW_HAS_WMMA11
#if KW_IN == KW_FP16
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(KW_AS8(kw_f16x16, a), KW_AS8(kw_f16x16, b), c)
#elif KW_IN == KW_BF16
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32(KW_AS8(kw_i16x16, a), KW_AS8(kw_i16x16, b), c)
#else /* int8: w signed, no clamping */
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(!KW_X_UNSIGNED, KW_AS4(kw_i32x4, a), true, KW_AS4(kw_i32x4, b), c, false)
#endif

#elif KW_HAS_WMMA12
#if KW_IN == KW_FP16
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12(KW_AS4(kw_f16x8, a), KW_AS4(kw_f16x8, b), c)
#elif KW_IN == KW_BF16
#define KW_AMD_WORDS 4
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_bf16_w32_gfx12(KW_AS4(kw_i16x8, a), KW_AS4(kw_i16x8, b), c)
#elif KW_IN == KW_FP8
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_fp8_fp8_w32_gfx12(KW_AS2(kw_i32x2, a), KW_AS2(kw_i32x2, b), c)
#elif KW_IN == KW_BF8
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b) __builtin_amdgcn_wmma_f32_16x16x16_bf8_bf8_w32_gfx12(KW_AS2(kw_i32x2, a), KW_AS2(kw_i32x2, b), c)
#else
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32_gfx12(!KW_X_UNSIGNED, KW_AS2(kw_i32x2, a), true, KW_AS2(kw_i32x2, b), c, false)
#endif
#else /* WMMA1250. No operand is negated, nothing is done to c, no operand is kept for the next instruction */
#if KW_IN == KW_FP32
#define KW_AMD_WORDS 2
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_f32_16x16x4_f32(false, KW_AS2(kw_f32x2, a), false, KW_AS2(kw_f32x2, b), 0, c, false, false)
#elif KW_IN == KW_FP16
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_f32_16x16x32_f16(false, KW_AS8(kw_f16x16, a), false, KW_AS8(kw_f16x16, b), 0, c, false, false)
#elif KW_IN == KW_BF16
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_f32_16x16x32_bf16(false, KW_AS8(kw_bf16x16, a), false, KW_AS8(kw_bf16x16, b), 0, c, false, false)
#elif KW_IN == KW_INT8
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b)                                                                                                                \
    __builtin_amdgcn_wmma_i32_16x16x64_iu8(!KW_X_UNSIGNED, KW_AS8(kw_i32x8, a), true, KW_AS8(kw_i32x8, b), c, false, false)
#else
#if KW_IN == KW_FP8
#define KW_WMMA8(deep) __builtin_amdgcn_wmma_f32_16x16x##deep##_fp8_fp8
#else
#define KW_WMMA8(deep) __builtin_amdgcn_wmma_f32_16x16x##deep##_bf8_bf8
#endif
#if KW_A_WORDS >= 16
#define KW_AMD_WORDS 16
#define KW_AMD_MMA(c, a, b) KW_WMMA8(128)(KW_AS16(kw_i32x16, a), KW_AS16(kw_i32x16, b), 0, c, false, false)
#else
#define KW_AMD_WORDS 8
#define KW_AMD_MMA(c, a, b) KW_WMMA8(64)(KW_AS8(kw_i32x8, a), KW_AS8(kw_i32x8, b), 0, c, false, false)
#endif
#endif
#endif

#if KW_A_WORDS % KW_AMD_WORDS || KW_A_WORDS != KW_B_WORDS
#error a tile is not a whole number of instructions deep
#endif

KW_DEVICE void kw_mma(kw_acc *acc, const kw_frag_a *a, const kw_frag_b *b) {
    kw_amd_acc c;
#pragma unroll
    for (int i = 0; i < KW_ACC_N; i++)
        c[i] = acc->e[i];
#pragma unroll
    for (int i = 0; i < KW_A_WORDS; i += KW_AMD_WORDS)
        c = KW_AMD_MMA(c, a->w + i, b->w + i);
#pragma unroll
    for (int i = 0; i < KW_ACC_N; i++)
        acc->e[i] = c[i];
}

#endif
