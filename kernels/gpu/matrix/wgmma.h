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

/* For each count of columns: a thread's sums, their names, and those of what follows them, both operands and the predicate. */
#define KW_SUMS_8(c) KW_SUMS4(c, 0)
#define KW_NAMES_8 "%0, %1, %2, %3"
#define KW_SUMS_16(c) KW_SUMS_8(c), KW_SUMS4(c, 4)
#define KW_NAMES_16 KW_NAMES_8 ", %4, %5, %6, %7"
#define KW_SUMS_24(c) KW_SUMS_16(c), KW_SUMS4(c, 8)
#define KW_NAMES_24 KW_NAMES_16 ", %8, %9, %10, %11"
#define KW_SUMS_32(c) KW_SUMS_24(c), KW_SUMS4(c, 12)
#define KW_NAMES_32 KW_NAMES_24 ", %12, %13, %14, %15"
#define KW_SUMS_40(c) KW_SUMS_32(c), KW_SUMS4(c, 16)
#define KW_NAMES_40 KW_NAMES_32 ", %16, %17, %18, %19"
#define KW_SUMS_48(c) KW_SUMS_40(c), KW_SUMS4(c, 20)
#define KW_NAMES_48 KW_NAMES_40 ", %20, %21, %22, %23"
#define KW_SUMS_56(c) KW_SUMS_48(c), KW_SUMS4(c, 24)
#define KW_NAMES_56 KW_NAMES_48 ", %24, %25, %26, %27"
#define KW_SUMS_64(c) KW_SUMS_56(c), KW_SUMS4(c, 28)
#define KW_NAMES_64 KW_NAMES_56 ", %28, %29, %30, %31"
#define KW_SUMS_72(c) KW_SUMS_64(c), KW_SUMS4(c, 32)
#define KW_NAMES_72 KW_NAMES_64 ", %32, %33, %34, %35"
#define KW_SUMS_80(c) KW_SUMS_72(c), KW_SUMS4(c, 36)
#define KW_NAMES_80 KW_NAMES_72 ", %36, %37, %38, %39"
#define KW_SUMS_88(c) KW_SUMS_80(c), KW_SUMS4(c, 40)
#define KW_NAMES_88 KW_NAMES_80 ", %40, %41, %42, %43"
#define KW_SUMS_96(c) KW_SUMS_88(c), KW_SUMS4(c, 44)
#define KW_NAMES_96 KW_NAMES_88 ", %44, %45, %46, %47"
#define KW_SUMS_104(c) KW_SUMS_96(c), KW_SUMS4(c, 48)
#define KW_NAMES_104 KW_NAMES_96 ", %48, %49, %50, %51"
#define KW_SUMS_112(c) KW_SUMS_104(c), KW_SUMS4(c, 52)
#define KW_NAMES_112 KW_NAMES_104 ", %52, %53, %54, %55"
#define KW_SUMS_120(c) KW_SUMS_112(c), KW_SUMS4(c, 56)
#define KW_NAMES_120 KW_NAMES_112 ", %56, %57, %58, %59"
#define KW_SUMS_128(c) KW_SUMS_120(c), KW_SUMS4(c, 60)
#define KW_NAMES_128 KW_NAMES_120 ", %60, %61, %62, %63"
#define KW_SUMS_136(c) KW_SUMS_128(c), KW_SUMS4(c, 64)
#define KW_NAMES_136 KW_NAMES_128 ", %64, %65, %66, %67"
#define KW_SUMS_144(c) KW_SUMS_136(c), KW_SUMS4(c, 68)
#define KW_NAMES_144 KW_NAMES_136 ", %68, %69, %70, %71"
#define KW_SUMS_152(c) KW_SUMS_144(c), KW_SUMS4(c, 72)
#define KW_NAMES_152 KW_NAMES_144 ", %72, %73, %74, %75"
#define KW_SUMS_160(c) KW_SUMS_152(c), KW_SUMS4(c, 76)
#define KW_NAMES_160 KW_NAMES_152 ", %76, %77, %78, %79"
#define KW_SUMS_168(c) KW_SUMS_160(c), KW_SUMS4(c, 80)
#define KW_NAMES_168 KW_NAMES_160 ", %80, %81, %82, %83"
#define KW_SUMS_176(c) KW_SUMS_168(c), KW_SUMS4(c, 84)
#define KW_NAMES_176 KW_NAMES_168 ", %84, %85, %86, %87"
#define KW_SUMS_184(c) KW_SUMS_176(c), KW_SUMS4(c, 88)
#define KW_NAMES_184 KW_NAMES_176 ", %88, %89, %90, %91"
#define KW_SUMS_192(c) KW_SUMS_184(c), KW_SUMS4(c, 92)
#define KW_NAMES_192 KW_NAMES_184 ", %92, %93, %94, %95"
#define KW_SUMS_200(c) KW_SUMS_192(c), KW_SUMS4(c, 96)
#define KW_NAMES_200 KW_NAMES_192 ", %96, %97, %98, %99"
#define KW_SUMS_208(c) KW_SUMS_200(c), KW_SUMS4(c, 100)
#define KW_NAMES_208 KW_NAMES_200 ", %100, %101, %102, %103"
#define KW_SUMS_216(c) KW_SUMS_208(c), KW_SUMS4(c, 104)
#define KW_NAMES_216 KW_NAMES_208 ", %104, %105, %106, %107"
#define KW_SUMS_224(c) KW_SUMS_216(c), KW_SUMS4(c, 108)
#define KW_NAMES_224 KW_NAMES_216 ", %108, %109, %110, %111"
#define KW_SUMS_232(c) KW_SUMS_224(c), KW_SUMS4(c, 112)
#define KW_NAMES_232 KW_NAMES_224 ", %112, %113, %114, %115"
#define KW_SUMS_240(c) KW_SUMS_232(c), KW_SUMS4(c, 116)
#define KW_NAMES_240 KW_NAMES_232 ", %116, %117, %118, %119"
#define KW_SUMS_248(c) KW_SUMS_240(c), KW_SUMS4(c, 120)
#define KW_NAMES_248 KW_NAMES_240 ", %120, %121, %122, %123"
#define KW_SUMS_256(c) KW_SUMS_248(c), KW_SUMS4(c, 124)
#define KW_NAMES_256 KW_NAMES_248 ", %124, %125, %126, %127"
#define KW_BEHIND_8 "%4, %5"
#define KW_BEHIND_16 "%8, %9"
#define KW_BEHIND_24 "%12, %13"
#define KW_BEHIND_32 "%16, %17"
#define KW_BEHIND_40 "%20, %21"
#define KW_BEHIND_48 "%24, %25"
#define KW_BEHIND_56 "%28, %29"
#define KW_BEHIND_64 "%32, %33"
#define KW_BEHIND_72 "%36, %37"
#define KW_BEHIND_80 "%40, %41"
#define KW_BEHIND_88 "%44, %45"
#define KW_BEHIND_96 "%48, %49"
#define KW_BEHIND_104 "%52, %53"
#define KW_BEHIND_112 "%56, %57"
#define KW_BEHIND_120 "%60, %61"
#define KW_BEHIND_128 "%64, %65"
#define KW_BEHIND_136 "%68, %69"
#define KW_BEHIND_144 "%72, %73"
#define KW_BEHIND_152 "%76, %77"
#define KW_BEHIND_160 "%80, %81"
#define KW_BEHIND_168 "%84, %85"
#define KW_BEHIND_176 "%88, %89"
#define KW_BEHIND_184 "%92, %93"
#define KW_BEHIND_192 "%96, %97"
#define KW_BEHIND_200 "%100, %101"
#define KW_BEHIND_208 "%104, %105"
#define KW_BEHIND_216 "%108, %109"
#define KW_BEHIND_224 "%112, %113"
#define KW_BEHIND_232 "%116, %117"
#define KW_BEHIND_240 "%120, %121"
#define KW_BEHIND_248 "%124, %125"
#define KW_BEHIND_256 "%128, %129"
#define KW_ADDS_8 "%6"
#define KW_ADDS_16 "%10"
#define KW_ADDS_24 "%14"
#define KW_ADDS_32 "%18"
#define KW_ADDS_40 "%22"
#define KW_ADDS_48 "%26"
#define KW_ADDS_56 "%30"
#define KW_ADDS_64 "%34"
#define KW_ADDS_72 "%38"
#define KW_ADDS_80 "%42"
#define KW_ADDS_88 "%46"
#define KW_ADDS_96 "%50"
#define KW_ADDS_104 "%54"
#define KW_ADDS_112 "%58"
#define KW_ADDS_120 "%62"
#define KW_ADDS_128 "%66"
#define KW_ADDS_136 "%70"
#define KW_ADDS_144 "%74"
#define KW_ADDS_152 "%78"
#define KW_ADDS_160 "%82"
#define KW_ADDS_168 "%86"
#define KW_ADDS_176 "%90"
#define KW_ADDS_184 "%94"
#define KW_ADDS_192 "%98"
#define KW_ADDS_200 "%102"
#define KW_ADDS_208 "%106"
#define KW_ADDS_216 "%110"
#define KW_ADDS_224 "%114"
#define KW_ADDS_232 "%118"
#define KW_ADDS_240 "%122"
#define KW_ADDS_248 "%126"
#define KW_ADDS_256 "%130"

#define KW_OF_COLUMNS_(name, columns) name##columns
#define KW_OF_COLUMNS(name, columns) KW_OF_COLUMNS_(name, columns)
#define KW_WORD_OF_(word) #word
#define KW_WORD_OF(word) KW_WORD_OF_(word)
#define KW_WGMMA_SHAPE "m64n" KW_WORD_OF(KW_INST_N)
#define KW_WGMMA_SUMS KW_OF_COLUMNS(KW_SUMS_, KW_INST_N)
#define KW_WGMMA_NAMES "{" KW_OF_COLUMNS(KW_NAMES_, KW_INST_N) "}, " KW_OF_COLUMNS(KW_BEHIND_, KW_INST_N)
#define KW_WGMMA_ADDS KW_OF_COLUMNS(KW_ADDS_, KW_INST_N)
#if KW_INST_N % 8 || KW_INST_N > 256
#error wgmma is generated with multiples of 8 columns, 256 at most
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
