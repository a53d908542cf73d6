/* wgmma.h: NVIDIA's matrix instruction of four waves, 64 x KW_INST_N, 32 bytes deep, sums in fp32 (of int8 in int32). Both operands come
 * from shared memory, where rows of the first (columns of the second) have 128 bytes of the depth, swizzled as bulk copies do it: 8 rows are
 * 1 KiB, and the next 8 follow. gpu/matrix/fragment.h says where a lane's sums stand. Of fp32 the instruction takes tf32: it passes over the
 * last 13 bits. */
#ifndef KW_WGMMA_H
#define KW_WGMMA_H

#include "gpu/lib/resources.h"

/* What names an operand to the instruction: address, distance of 8-row groups (1 KiB), swizzle of 128 bytes, all but the last in units of
 * 16 bytes; the other distance has no meaning with that swizzle. at: the first row, a multiple of 1 KiB, and the first depth. */
KW_DEVICE kw_u64 kw_wgmma_tile(const char *at) {
    return (kw_u64)(kw_shared_address(at) >> 4 & 0x3fff) | (kw_u64)1 << 16 | (kw_u64)(1024 >> 4) << 32 | (kw_u64)1 << 62;
}

/* The same where rows are contiguous (KW_A_BY_ROWS, KW_B_BY_ROWS; 16 bits): 128 bytes are 64 rows at one depth, 8 depths are 1 KiB, and the
 * next 8 follow. next: distance of 64 rows and the next 64. */
KW_DEVICE kw_u64 kw_wgmma_slabs(const char *at, int next) {
    return (kw_u64)(kw_shared_address(at) >> 4 & 0x3fff) | (kw_u64)(next >> 4) << 16 | (kw_u64)(1024 >> 4) << 32 | (kw_u64)1 << 62;
}

#ifndef KW_A_BY_ROWS
#define KW_A_BY_ROWS 0
#define KW_B_BY_ROWS 0
#endif

#if KW_EMU
#define KW_EMU_TYPE (KW_IN == KW_FP32 ? KW_EMU_TF32 : KW_IN)
static const kw_emu_inst kw_emu_own_inst = {KW_EMU_WGMMA, KW_EMU_TYPE, KW_INST_M, KW_INST_N, KW_INST_K, KW_A_BY_ROWS, KW_B_BY_ROWS};
#define kw_wgmma_sum(acc, a, b, add) kw_emu_self()->calls.wgmma(kw_emu_self(), &kw_emu_own_inst, (acc)->e, a, b, add)
#define kw_wgmma(acc, a, b) kw_wgmma_sum(acc, a, b, 1)
#define kw_wgmma_hold(acc) (void)0
#else

/* The operands' order in memory: whether rows are contiguous. */
#if KW_A_BY_ROWS && KW_B_BY_ROWS
#define KW_WGMMA_TURNED ", 1, 1"
#elif KW_A_BY_ROWS
#define KW_WGMMA_TURNED ", 1, 0"
#elif KW_B_BY_ROWS
#define KW_WGMMA_TURNED ", 0, 1"
#else
#define KW_WGMMA_TURNED ", 0, 0"
#endif

/* The instruction's types, what stands behind the predicate (signs of the operands, their order in memory), the constraint of a sum. */
#if KW_IN == KW_BF16
#define KW_WGMMA_TYPES "k16.f32.bf16.bf16"
#define KW_WGMMA_TAIL ", 1, 1" KW_WGMMA_TURNED
#elif KW_IN == KW_FP16
#define KW_WGMMA_TYPES "k16.f32.f16.f16"
#define KW_WGMMA_TAIL ", 1, 1" KW_WGMMA_TURNED
#elif KW_IN == KW_FP32
#define KW_WGMMA_TYPES "k8.f32.tf32.tf32"
#define KW_WGMMA_TAIL ", 1, 1"
#elif KW_IN == KW_FP8
#define KW_WGMMA_TYPES "k32.f32.e4m3.e4m3"
#define KW_WGMMA_TAIL ", 1, 1"
#elif KW_IN == KW_BF8
#define KW_WGMMA_TYPES "k32.f32.e5m2.e5m2"
#define KW_WGMMA_TAIL ", 1, 1"
#else
#define KW_WGMMA_TYPES "k32.s32.s8.s8"
#define KW_WGMMA_TAIL ""
#endif
#if KW_IN == KW_INT8
#define KW_WGMMA_SUM "+r"
#else
#define KW_WGMMA_SUM "+f"
#endif

#define KW_SUMS4(c, i) KW_WGMMA_SUM(c[i]), KW_WGMMA_SUM(c[i + 1]), KW_WGMMA_SUM(c[i + 2]), KW_WGMMA_SUM(c[i + 3])
#define KW_SUMS8(c, i) KW_SUMS4(c, i), KW_SUMS4(c, i + 4)
#define KW_SUMS32(c, i) KW_SUMS8(c, i), KW_SUMS8(c, i + 8), KW_SUMS8(c, i + 16), KW_SUMS8(c, i + 24)
#define KW_NAMES8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define KW_NAMES16 KW_NAMES8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define KW_NAMES32                                                                                                                         \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                                               \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define KW_NAMES48 KW_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define KW_NAMES64                                                                                                                         \
    KW_NAMES32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                                        \
               "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define KW_NAMES96                                                                                                                         \
    KW_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                                        \
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define KW_NAMES128                                                                                                                        \
    KW_NAMES64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                                        \
               "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                                          \
               "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "                              \
               "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#if KW_INST_N == 16
#define KW_WGMMA_SHAPE "m64n16"
#define KW_WGMMA_SUMS(c) KW_SUMS8(c, 0)
#define KW_WGMMA_NAMES "{" KW_NAMES8 "}, %8, %9"
#define KW_WGMMA_ADDS "%10"
#elif KW_INST_N == 32
#define KW_WGMMA_SHAPE "m64n32"
#define KW_WGMMA_SUMS(c) KW_SUMS8(c, 0), KW_SUMS8(c, 8)
#define KW_WGMMA_NAMES "{" KW_NAMES16 "}, %16, %17"
#define KW_WGMMA_ADDS "%18"
#elif KW_INST_N == 96
#define KW_WGMMA_SHAPE "m64n96"
#define KW_WGMMA_SUMS(c) KW_SUMS32(c, 0), KW_SUMS8(c, 32), KW_SUMS8(c, 40)
#define KW_WGMMA_NAMES "{" KW_NAMES48 "}, %48, %49"
#define KW_WGMMA_ADDS "%50"
#elif KW_INST_N == 64
#define KW_WGMMA_SHAPE "m64n64"
#define KW_WGMMA_SUMS(c) KW_SUMS32(c, 0)
#define KW_WGMMA_NAMES "{" KW_NAMES32 "}, %32, %33"
#define KW_WGMMA_ADDS "%34"
#elif KW_INST_N == 128
#define KW_WGMMA_SHAPE "m64n128"
#define KW_WGMMA_SUMS(c) KW_SUMS32(c, 0), KW_SUMS32(c, 32)
#define KW_WGMMA_NAMES "{" KW_NAMES64 "}, %64, %65"
#define KW_WGMMA_ADDS "%66"
#elif KW_INST_N == 192
#define KW_WGMMA_SHAPE "m64n192"
#define KW_WGMMA_SUMS(c) KW_SUMS32(c, 0), KW_SUMS32(c, 32), KW_SUMS32(c, 64)
#define KW_WGMMA_NAMES "{" KW_NAMES96 "}, %96, %97"
#define KW_WGMMA_ADDS "%98"
#elif KW_INST_N == 256
#define KW_WGMMA_SHAPE "m64n256"
#define KW_WGMMA_SUMS(c) KW_SUMS32(c, 0), KW_SUMS32(c, 32), KW_SUMS32(c, 64), KW_SUMS32(c, 96)
#define KW_WGMMA_NAMES "{" KW_NAMES128 "}, %128, %129"
#define KW_WGMMA_ADDS "%130"
#else
#error wgmma is generated with 16, 32, 64, 96, 128, 192 and 256 columns
#endif

/* The predicate adds to the sums. */
KW_DEVICE void kw_wgmma(kw_acc *acc, kw_u64 a, kw_u64 b) {
    kw_sum *c = acc->e;
    asm volatile("{\n"
                 "    .reg .pred p;\n"
                 "    setp.eq.u32 p, 0, 0;\n"
                 "    wgmma.mma_async.sync.aligned." KW_WGMMA_SHAPE KW_WGMMA_TYPES " " KW_WGMMA_NAMES ", p" KW_WGMMA_TAIL ";\n"
                 "}"
                 : KW_WGMMA_SUMS(c)
                 : "l"(a), "l"(b));
}

/* add 0: the sums begin with this product. */
KW_DEVICE void kw_wgmma_sum(kw_acc *acc, kw_u64 a, kw_u64 b, int add) {
    kw_sum *c = acc->e;
    asm volatile("{\n"
                 "    .reg .pred p;\n"
                 "    setp.ne.b32 p, " KW_WGMMA_ADDS ", 0;\n"
                 "    wgmma.mma_async.sync.aligned." KW_WGMMA_SHAPE KW_WGMMA_TYPES " " KW_WGMMA_NAMES ", p" KW_WGMMA_TAIL ";\n"
                 "}"
                 : KW_WGMMA_SUMS(c)
                 : "l"(a), "l"(b), "r"(add));
}

/* The compiler knows nothing of sums that change while no instruction names them: reads of them stay behind this, and writes before it. */
KW_DEVICE void kw_wgmma_hold(kw_acc *acc) {
    kw_sum *c = acc->e;
    asm volatile("" : KW_WGMMA_SUMS(c)::"memory");
}
#endif
#endif
