/* peak.c: what a GPU does at most, measured: family gpu.peak, which serves no problem and is in no set. Work "math" turns matrix
 * instructions over the same operands again and again; nothing is read from memory. Each wave has KW_SUMS independent results, so that none
 * waits for the one before; of wgmma, whose operands are in shared memory and which the hardware queues, KW_SUMS follow each other on one.
 * Operands are random numbers: zeros draw less power, and the clock would stay higher than any real work lets it. Work "copy" moves
 * params.count pieces of 16 bytes from x to y. */
#include "gpu/peak/args.h"
#define KW_KERNEL_PARAMS kw_peak_params
#include "kw_config.h"
#if KW_WORK == KW_WORK_COPY
KW_KERNEL(kw_stage0, KW_PEAK_THREADS) {
    const kw_b16 *from = (const kw_b16 *)args.x;
    kw_b16 *to = (kw_b16 *)args.y;
    kw_i64 step = kw_blocks() * KW_PEAK_THREADS, count = args.params.count, i = kw_block() * KW_PEAK_THREADS + kw_thread();
    for (; i + 3 * step < count; i += 4 * step) {
        kw_b16 a = from[i], b = from[i + step], c = from[i + 2 * step], d = from[i + 3 * step];
        to[i] = a;
        to[i + step] = b;
        to[i + 2 * step] = c;
        to[i + 3 * step] = d;
    }
    for (; i < count; i += step)
        to[i] = from[i];
}
#else
#include "gpu/matrix/fragment.h"

/* Elements between 0.5 and 2 of either sign; int8: any. */
#if KW_IN == KW_FP32
#define PEAK_BITS 0x3f000000u
#define PEAK_FREE 0x80ffffffu
#elif KW_IN == KW_BF16
#define PEAK_BITS 0x3f003f00u
#define PEAK_FREE 0x80ff80ffu
#elif KW_IN == KW_FP16
#define PEAK_BITS 0x38003800u
#define PEAK_FREE 0x87ff87ffu
#elif KW_IN == KW_FP8
#define PEAK_BITS 0x30303030u
#define PEAK_FREE 0x8f8f8f8fu
#elif KW_IN == KW_BF8
#define PEAK_BITS 0x38383838u
#define PEAK_FREE 0x87878787u
#else
#define PEAK_BITS 0u
#define PEAK_FREE 0xffffffffu
#endif

KW_DEVICE kw_u32 peak_word(kw_u32 at) {
    at *= 2654435761u;
    at = (at ^ at >> 15) * 2246822519u;
    return PEAK_BITS | ((at ^ at >> 13) & PEAK_FREE);
}

KW_DEVICE kw_sum peak_sum_of(const kw_acc *sum) {
    kw_sum all = 0;
    KW_UNROLL
    for (int e = 0; e < KW_ACC_N; e++)
        all += sum->e[e];
    return all;
}

#if KW_WGMMA
#include "gpu/matrix/wgmma.h"

/* One operand's slab is 128 bytes deep, which is four instructions. */
KW_KERNEL(kw_stage0, KW_PEAK_THREADS) {
    KW_LDS((KW_INST_M + KW_INST_N) * 128);
    for (int i = kw_thread(); i < (KW_INST_M + KW_INST_N) * 32; i += KW_PEAK_THREADS)
        ((kw_u32 *)kw_lds)[i] = peak_word((kw_u32)i);
    kw_proxy_fence();
    kw_barrier();
    kw_acc sum;
    KW_UNROLL
    for (int e = 0; e < KW_ACC_N; e++)
        sum.e[e] = 0;
    for (kw_i64 turn = args.params.count; turn > 0; turn--) {
        kw_wgmma_hold(&sum);
        kw_wgmma_fence();
        KW_UNROLL
        for (int i = 0; i < KW_SUMS; i++)
            kw_wgmma(&sum, kw_wgmma_tile(kw_lds + 32 * (i % 4)), kw_wgmma_tile(kw_lds + KW_INST_M * 128 + 32 * (i % 4)));
        kw_wgmma_commit();
        kw_wgmma_wait(0);
        kw_wgmma_hold(&sum);
    }
    ((kw_sum *)args.y)[kw_block() * KW_PEAK_THREADS + kw_thread()] = peak_sum_of(&sum);
}
#else
#if KW_PTX
#include "gpu/matrix/mma_ptx.h"
#elif KW_AMD
#include "gpu/matrix/mma_amd.h"
#else
#include "gpu/matrix/mma_emu.h"
#endif

/* Results start from different numbers, or a compiler that sees through the instruction would keep but one of them. */
KW_KERNEL(kw_stage0, KW_PEAK_THREADS) {
    kw_frag_a a;
    kw_frag_b b;
    kw_acc sum[KW_SUMS];
    KW_UNROLL
    for (int i = 0; i < KW_A_WORDS; i++)
        a.w[i] = peak_word((kw_u32)(kw_thread() * KW_A_WORDS + i));
    KW_UNROLL
    for (int i = 0; i < KW_B_WORDS; i++)
        b.w[i] = peak_word((kw_u32)((kw_thread() + KW_PEAK_THREADS) * KW_B_WORDS + i));
    KW_UNROLL
    for (int i = 0; i < KW_SUMS; i++) {
        KW_UNROLL
        for (int e = 0; e < KW_ACC_N; e++)
            sum[i].e[e] = (kw_sum)(kw_thread() + i * KW_ACC_N + e);
    }
    for (kw_i64 turn = args.params.count; turn > 0; turn--) {
        KW_UNROLL
        for (int i = 0; i < KW_SUMS; i++)
            kw_mma(&sum[i], &a, &b);
    }
    kw_sum all = 0;
    KW_UNROLL
    for (int i = 0; i < KW_SUMS; i++)
        all += peak_sum_of(&sum[i]);
    ((kw_sum *)args.y)[kw_block() * KW_PEAK_THREADS + kw_thread()] = all;
}
#endif
#endif
