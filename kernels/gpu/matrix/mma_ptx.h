/* mma_ptx.h: kw_mma for NVIDIA: mma.sync by inline PTX. gpu/matrix/fragment.h says which words of a tile a lane has; they are the
 * instruction's own, so one instruction is one tile. fp32 has no matrix instruction: there, each lane multiplies rows and columns that it
 * holds whole, unless KW_TF32 permits the one that passes over the last 13 bits, for which kw_frags_read() rounds. */
#ifndef KW_MMA_PTX_H
#define KW_MMA_PTX_H

#if !KW_HAS_MMA || KW_INST_M != 16 || KW_INST_N != 8
#error no kw_mma for this tile: mma.sync of this architecture is 16x8
#endif

#if KW_IN == KW_FP32 && !KW_TF32
/* acc e: row e / 2, column e % 2 of the lane's two rows and two columns. */
KW_DEVICE void kw_mma(kw_acc *acc, const kw_frag_a *a, const kw_frag_b *b) {
#pragma unroll
    for (int k = 0; k < KW_INST_K; k++) {
#pragma unroll
        for (int e = 0; e < 4; e++)
            acc->e[e] += kw_from_bits(a->w[e / 2 * KW_INST_K + k]) * kw_from_bits(b->w[e % 2 * KW_INST_K + k]);
    }
}
#else

#if KW_IN == KW_FP32
#define KW_PTX_TYPES "f32.tf32.tf32.f32"
#elif KW_IN == KW_BF16
#define KW_PTX_TYPES "f32.bf16.bf16.f32"
#elif KW_IN == KW_FP16
#define KW_PTX_TYPES "f32.f16.f16.f32"
#elif KW_IN == KW_FP8
#define KW_PTX_TYPES "f32.e4m3.e4m3.f32"
#elif KW_IN == KW_BF8
#define KW_PTX_TYPES "f32.e5m2.e5m2.f32"
#elif KW_X_UNSIGNED
#define KW_PTX_TYPES "s32.u8.s8.s32"
#else
#define KW_PTX_TYPES "s32.s8.s8.s32"
#endif

#if KW_IN == KW_INT8
#define KW_PTX_SUM "+r"
#else
#define KW_PTX_SUM "+f"
#endif

#if KW_INST_K == 4
#define KW_PTX_SHAPE "m16n8k4"
#elif KW_INST_K == 8
#define KW_PTX_SHAPE "m16n8k8"
#elif KW_INST_K == 16
#define KW_PTX_SHAPE "m16n8k16"
#elif KW_INST_K == 32
#define KW_PTX_SHAPE "m16n8k32"
#else
#error mma.sync is 4, 8, 16 or 32 deep
#endif

KW_DEVICE void kw_mma(kw_acc *acc, const kw_frag_a *a, const kw_frag_b *b) {
    kw_sum *c = acc->e;
#if KW_A_WORDS == 4
    asm volatile("mma.sync.aligned." KW_PTX_SHAPE ".row.col." KW_PTX_TYPES
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : KW_PTX_SUM(c[0]), KW_PTX_SUM(c[1]), KW_PTX_SUM(c[2]), KW_PTX_SUM(c[3])
                 : "r"(a->w[0]), "r"(a->w[1]), "r"(a->w[2]), "r"(a->w[3]), "r"(b->w[0]), "r"(b->w[1]));
#else
    asm volatile("mma.sync.aligned." KW_PTX_SHAPE ".row.col." KW_PTX_TYPES " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : KW_PTX_SUM(c[0]), KW_PTX_SUM(c[1]), KW_PTX_SUM(c[2]), KW_PTX_SUM(c[3])
                 : "r"(a->w[0]), "r"(a->w[1]), "r"(b->w[0]));
#endif
}
#endif
#endif
