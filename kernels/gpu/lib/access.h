/* access.h: loads and stores of several elements at once, for all kernel text that has constant counts. Vectors are 32-bit words, elements
 * packed low to high. */
#ifndef KW_ACCESS_H
#define KW_ACCESS_H

typedef unsigned long long kw_u64;

#if KW_EMU
#define KW_UNROLL
#define KW_ROLLED
#else
#define KW_UNROLL _Pragma("unroll")   /* counts are constants, so that arrays become registers */
#define KW_ROLLED _Pragma("unroll 1") /* counts are constants, but the loop is to stay one */
#endif

#if KW_X_ZERO
/* x's zero point, which is a value of x's type, in each of four bytes. */
KW_DEVICE kw_u32 kw_zero_word(const kw_gpu_args *a) { return (kw_u32)(KW_X_ZERO_OF(a) & 0xff) * 0x01010101u; }
#endif

/* Whether a tile must know which channels of the tensors of its epilogue are its own. */
#define KW_HAS_CHANNELS (KW_EPILOGUE || KW_W_ZERO)

#if KW_W_ZERO
/* w's zero point for a channel. */
KW_DEVICE int kw_w_zero(const kw_gpu_args *a, kw_i64 channel) {
    const char *tensor = a->extra[KW_W_ZERO_AT];
    return KW_W_ZERO_WORD(KW_ZERO_OF_)(tensor + (KW_W_ZERO_ONE ? 0 : channel) * (kw_i64)sizeof(KW_W_ZERO_WORD(KW_ZERO_OF_)(tensor)));
}
#endif

#if KW_PITCHED
/* Where an element of a product's result lies whose lines have gaps between them; it is counted without them. */
KW_DEVICE kw_i64 kw_pitched_place(const kw_gpu_args *a, kw_i64 element) {
    kw_i64 line = element / a->gn, batch = line / a->gm;
    return batch * a->batch_step[2] + (line - batch * a->gm) * a->line_step[2] + (element - line * a->gn);
}
#endif

/* One access of 1, 2, 4, 8 or 16 bytes. */
KW_DEVICE void kw_load_run(kw_u32 *to, const char *from, int bytes) {
    if (bytes == 16) {
        kw_b16 v = *(const kw_b16 *)from;
        to[0] = v.e[0], to[1] = v.e[1], to[2] = v.e[2], to[3] = v.e[3];
    } else if (bytes == 8) {
        kw_u64 v = *(const kw_u64 *)from;
        to[0] = (kw_u32)v, to[1] = (kw_u32)(v >> 32);
    } else {
        to[0] = bytes == 4 ? *(const kw_u32 *)from : bytes == 2 ? *(const kw_u16 *)from : *(const kw_u8 *)from;
    }
}

/* 16 bytes that the kernel reads this once: they take no room among what it reads again. */
#if KW_PTX
KW_DEVICE void kw_load_once(kw_u32 *to, const char *from) {
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "l"(__cvta_generic_to_global(from)));
}
#else
KW_DEVICE void kw_load_once(kw_u32 *to, const char *from) { kw_load_run(to, from, 16); }
#endif

/* The value of element e of words; for types of 2 and 4 bytes. */
KW_DEVICE float kw_value(const kw_u32 *w, int e) {
#if KW_IN == KW_FP32
    return kw_from_bits(w[e]);
#elif KW_IN == KW_BF16
    return kw_from_bits(e % 2 ? w[e / 2] & 0xffff0000u : w[e / 2] << 16);
#else
    return kw_from_fp16(w[e / 2] >> e % 2 * 16 & 0xffffu);
#endif
}

#if KW_TF32
/* Words of fp32 to the nearest with 10 bits of fraction, halves away from zero, as PTX's cvt.rna does. The instruction itself passes over
 * the other bits, which is twice as far off, and always towards zero. */
KW_DEVICE void kw_round_tf32(kw_u32 *w, int count) {
    KW_UNROLL
    for (int i = 0; i < count; i++) {
#if KW_PTX
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(w[i]) : "f"(kw_from_bits(w[i])));
#else
        w[i] = (w[i] & 0x7fffffffu) > 0x7f800000u ? 0x7fffffffu : (w[i] + 0x1000u) & 0xffffe000u;
#endif
    }
}
#endif

KW_DEVICE kw_u32 kw_out_bits(kw_sum value) {
#if KW_OUT == KW_BF16
    return kw_to_bf16(value);
#elif KW_OUT == KW_FP16
    return kw_to_fp16(value);
#elif KW_OUT == KW_INT32
    return (kw_u32)value;
#else
    return kw_bits(value);
#endif
}

/* One access of 1, 2, 4, 8 or 16 bytes. */
KW_DEVICE void kw_store_run(char *to, const kw_u32 *w, int bytes) {
    if (bytes == 16) {
        kw_b16 v;
        v.e[0] = w[0], v.e[1] = w[1], v.e[2] = w[2], v.e[3] = w[3];
        *(kw_b16 *)to = v;
    } else if (bytes == 8) {
        *(kw_u64 *)to = (kw_u64)w[1] << 32 | w[0];
    } else if (bytes == 4) {
        *(kw_u32 *)to = w[0];
    } else if (bytes == 2) {
        *(kw_u16 *)to = (kw_u16)w[0];
    } else {
        *(kw_u8 *)to = (kw_u8)w[0];
    }
}

/* Sums that follow each other, converted: one access. */
KW_DEVICE void kw_store_result(char *to, const kw_sum *sums, int count) {
    kw_u32 w[4];
#if KW_OUT_BYTES == 2 && KW_BYTES > 1
    if (count > 1) { /* 2, 4, ... */
        KW_UNROLL
        for (int i = 0; i < count; i += 2)
            w[i / 2] = kw_out_pair((float)sums[i], (float)sums[i + 1]);
        kw_store_run(to, w, count * 2);
        return;
    }
#endif
    KW_UNROLL
    for (int i = 0; i < count; i++) {
        int shift = i * KW_OUT_BYTES % 4 * 8, word = i * KW_OUT_BYTES / 4;
        w[word] = (shift ? w[word] : 0) | kw_out_bits(sums[i]) << shift;
    }
    kw_store_run(to, w, count * KW_OUT_BYTES);
}

#endif
