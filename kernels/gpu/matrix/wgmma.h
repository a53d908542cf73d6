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
#define kw_wgmma_sum(acc, number, a, b, add) kw_emu_self()->calls.wgmma(kw_emu_self(), &kw_emu_own_inst, (acc)->e, a, b, add)
#define kw_wgmma(acc, a, b) kw_wgmma_sum(acc, 0, a, b, 1)
static const kw_emu_inst kw_emu_picked_inst = {KW_EMU_WGMMA_PICKED, KW_EMU_TYPE, KW_INST_M, KW_INST_N, KW_INST_K, 0, 0};
#define kw_wgmma_picked(acc, number, a, b, add)                                                                                            \
    kw_emu_self()->calls.wgmma(kw_emu_self(), &kw_emu_picked_inst, (acc)->e, (kw_u64)(a), b, add)
#define kw_wgmma_hold(acc) (void)0
#define kw_wgmma_name() (void)0
#define kw_wgmma_take(acc, number) (void)0
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
#define KW_WGMMA_OUT "=r"
#else
#define KW_WGMMA_SUM "+f"
#define KW_WGMMA_OUT "=f"
#endif

/* Numbers of a thread's sums, four at a time: FIRST(0, 1, 2, 3) NEXT(4, 5, 6, 7) ... */
#define KW_FOURS_8(FIRST, NEXT) FIRST(0, 1, 2, 3)
#define KW_FOURS_16(FIRST, NEXT) KW_FOURS_8(FIRST, NEXT) NEXT(4, 5, 6, 7)
#define KW_FOURS_24(FIRST, NEXT) KW_FOURS_16(FIRST, NEXT) NEXT(8, 9, 10, 11)
#define KW_FOURS_32(FIRST, NEXT) KW_FOURS_24(FIRST, NEXT) NEXT(12, 13, 14, 15)
#define KW_FOURS_40(FIRST, NEXT) KW_FOURS_32(FIRST, NEXT) NEXT(16, 17, 18, 19)
#define KW_FOURS_48(FIRST, NEXT) KW_FOURS_40(FIRST, NEXT) NEXT(20, 21, 22, 23)
#define KW_FOURS_56(FIRST, NEXT) KW_FOURS_48(FIRST, NEXT) NEXT(24, 25, 26, 27)
#define KW_FOURS_64(FIRST, NEXT) KW_FOURS_56(FIRST, NEXT) NEXT(28, 29, 30, 31)
#define KW_FOURS_72(FIRST, NEXT) KW_FOURS_64(FIRST, NEXT) NEXT(32, 33, 34, 35)
#define KW_FOURS_80(FIRST, NEXT) KW_FOURS_72(FIRST, NEXT) NEXT(36, 37, 38, 39)
#define KW_FOURS_88(FIRST, NEXT) KW_FOURS_80(FIRST, NEXT) NEXT(40, 41, 42, 43)
#define KW_FOURS_96(FIRST, NEXT) KW_FOURS_88(FIRST, NEXT) NEXT(44, 45, 46, 47)
#define KW_FOURS_104(FIRST, NEXT) KW_FOURS_96(FIRST, NEXT) NEXT(48, 49, 50, 51)
#define KW_FOURS_112(FIRST, NEXT) KW_FOURS_104(FIRST, NEXT) NEXT(52, 53, 54, 55)
#define KW_FOURS_120(FIRST, NEXT) KW_FOURS_112(FIRST, NEXT) NEXT(56, 57, 58, 59)
#define KW_FOURS_128(FIRST, NEXT) KW_FOURS_120(FIRST, NEXT) NEXT(60, 61, 62, 63)
#define KW_FOURS_136(FIRST, NEXT) KW_FOURS_128(FIRST, NEXT) NEXT(64, 65, 66, 67)
#define KW_FOURS_144(FIRST, NEXT) KW_FOURS_136(FIRST, NEXT) NEXT(68, 69, 70, 71)
#define KW_FOURS_152(FIRST, NEXT) KW_FOURS_144(FIRST, NEXT) NEXT(72, 73, 74, 75)
#define KW_FOURS_160(FIRST, NEXT) KW_FOURS_152(FIRST, NEXT) NEXT(76, 77, 78, 79)
#define KW_FOURS_168(FIRST, NEXT) KW_FOURS_160(FIRST, NEXT) NEXT(80, 81, 82, 83)
#define KW_FOURS_176(FIRST, NEXT) KW_FOURS_168(FIRST, NEXT) NEXT(84, 85, 86, 87)
#define KW_FOURS_184(FIRST, NEXT) KW_FOURS_176(FIRST, NEXT) NEXT(88, 89, 90, 91)
#define KW_FOURS_192(FIRST, NEXT) KW_FOURS_184(FIRST, NEXT) NEXT(92, 93, 94, 95)
#define KW_FOURS_200(FIRST, NEXT) KW_FOURS_192(FIRST, NEXT) NEXT(96, 97, 98, 99)
#define KW_FOURS_208(FIRST, NEXT) KW_FOURS_200(FIRST, NEXT) NEXT(100, 101, 102, 103)
#define KW_FOURS_216(FIRST, NEXT) KW_FOURS_208(FIRST, NEXT) NEXT(104, 105, 106, 107)
#define KW_FOURS_224(FIRST, NEXT) KW_FOURS_216(FIRST, NEXT) NEXT(108, 109, 110, 111)
#define KW_FOURS_232(FIRST, NEXT) KW_FOURS_224(FIRST, NEXT) NEXT(112, 113, 114, 115)
#define KW_FOURS_240(FIRST, NEXT) KW_FOURS_232(FIRST, NEXT) NEXT(116, 117, 118, 119)
#define KW_FOURS_248(FIRST, NEXT) KW_FOURS_240(FIRST, NEXT) NEXT(120, 121, 122, 123)
#define KW_FOURS_256(FIRST, NEXT) KW_FOURS_248(FIRST, NEXT) NEXT(124, 125, 126, 127)

/* How what follows the sums is named, both operands, for each count of columns. */
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

#define KW_OF_COLUMNS_(name, columns) name##columns
#define KW_OF_COLUMNS(name, columns) KW_OF_COLUMNS_(name, columns)
#define KW_WORD_OF_(word) #word
#define KW_WORD_OF(word) KW_WORD_OF_(word)
#define KW_WGMMA_SHAPE "m64n" KW_WORD_OF(KW_INST_N)
#define KW_WGMMA_FOURS KW_OF_COLUMNS(KW_FOURS_, KW_INST_N)
#define KW_WGMMA_BEHIND KW_OF_COLUMNS(KW_BEHIND_, KW_INST_N)
#if KW_INST_N % 8 || KW_INST_N > 256
#error wgmma is generated with multiples of 8 columns, 256 at most
#endif

/* Sums as operands. */
#define KW_FIRST_NUMBERS(a, b, c, d) "%" #a ", %" #b ", %" #c ", %" #d
#define KW_NEXT_NUMBERS(a, b, c, d) ", " KW_FIRST_NUMBERS(a, b, c, d)
#define KW_FIRST_SUMS(a, b, c, d) KW_WGMMA_SUM(sum[a]), KW_WGMMA_SUM(sum[b]), KW_WGMMA_SUM(sum[c]), KW_WGMMA_SUM(sum[d])
#define KW_NEXT_SUMS(a, b, c, d) , KW_FIRST_SUMS(a, b, c, d)
#define KW_WGMMA_SUMS KW_WGMMA_FOURS(KW_FIRST_SUMS, KW_NEXT_SUMS)

/* The predicate adds to the sums. */
KW_DEVICE void kw_wgmma(kw_acc *acc, kw_u64 a, kw_u64 b) {
    kw_sum *sum = acc->e;
    asm volatile("{\n"
                 "    .reg .pred p;\n"
                 "    setp.eq.u32 p, 0, 0;\n"
                 "    wgmma.mma_async.sync.aligned." KW_WGMMA_SHAPE KW_WGMMA_TYPES
                 " {" KW_WGMMA_FOURS(KW_FIRST_NUMBERS, KW_NEXT_NUMBERS) "}, " KW_WGMMA_BEHIND ", p" KW_WGMMA_TAIL ";\n"
                                                                        "}"
                 : KW_WGMMA_SUMS
                 : "l"(a), "l"(b));
}

/* The compiler knows nothing of sums that change while no instruction names them: reads of them stay behind this, and writes before it. */
KW_DEVICE void kw_wgmma_hold(kw_acc *acc) {
    kw_sum *sum = acc->e;
    asm volatile("" : KW_WGMMA_SUMS::"memory");
}

/* Sums that have names of their own, of which NVRTC hears only when they are taken: as operands of each instruction, a hundred in and out, they take
 * half of its time, and ptxas makes the same code of both. number: of an instruction's sums, below KW_NAMED. */
#define KW_NAMES_OF(r, a, b, c, d) "kw_sum" #r "_" #a ", kw_sum" #r "_" #b ", kw_sum" #r "_" #c ", kw_sum" #r "_" #d
#define KW_FIRST_OF_0(a, b, c, d) KW_NAMES_OF(0, a, b, c, d)
#define KW_FIRST_OF_1(a, b, c, d) KW_NAMES_OF(1, a, b, c, d)
#define KW_FIRST_OF_2(a, b, c, d) KW_NAMES_OF(2, a, b, c, d)
#define KW_FIRST_OF_3(a, b, c, d) KW_NAMES_OF(3, a, b, c, d)
#define KW_NEXT_OF_0(a, b, c, d) ", " KW_NAMES_OF(0, a, b, c, d)
#define KW_NEXT_OF_1(a, b, c, d) ", " KW_NAMES_OF(1, a, b, c, d)
#define KW_NEXT_OF_2(a, b, c, d) ", " KW_NAMES_OF(2, a, b, c, d)
#define KW_NEXT_OF_3(a, b, c, d) ", " KW_NAMES_OF(3, a, b, c, d)
#define KW_NAMED 4

/* Once, at a kernel's top. */
KW_DEVICE void kw_wgmma_name() { asm volatile(".reg .b32 kw_sum0_<128>, kw_sum1_<128>, kw_sum2_<128>, kw_sum3_<128>;"); }

#define KW_WGMMA_SUM_OF(r)                                                                                                                 \
    asm volatile("{\n"                                                                                                                     \
                 "    .reg .pred p;\n"                                                                                                     \
                 "    setp.ne.b32 p, %2, 0;\n"                                                                                             \
                 "    wgmma.mma_async.sync.aligned." KW_WGMMA_SHAPE KW_WGMMA_TYPES                                                         \
                 " {" KW_WGMMA_FOURS(KW_FIRST_OF_##r, KW_NEXT_OF_##r) "}, %0, %1, p" KW_WGMMA_TAIL ";\n"                                   \
                                                                      "}" ::"l"(a),                                                        \
                 "l"(b), "r"(add))

/* add 0: the sums begin with this product. */
KW_DEVICE void kw_wgmma_sum(const kw_acc *acc, int number, kw_u64 a, kw_u64 b, int add) {
    if (number == 0)
        KW_WGMMA_SUM_OF(0);
    else if (number == 1)
        KW_WGMMA_SUM_OF(1);
    else if (number == 2)
        KW_WGMMA_SUM_OF(2);
    else
        KW_WGMMA_SUM_OF(3);
}

#define KW_WGMMA_PICKED_OF(r)                                                                                                              \
    asm volatile("{\n"                                                                                                                     \
                 "    .reg .pred p;\n"                                                                                                     \
                 "    setp.ne.b32 p, %5, 0;\n"                                                                                             \
                 "    wgmma.mma_async.sync.aligned." KW_WGMMA_SHAPE KW_WGMMA_TYPES                                                         \
                 " {" KW_WGMMA_FOURS(KW_FIRST_OF_##r, KW_NEXT_OF_##r) "}, {%0, %1, %2, %3}, %4, p, 1, 1;\n"                                \
                                                                      "}" ::"r"(a[0]),                                                     \
                 "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(add))

/* The same of tf32 with a lane's words of the first operand: rows lane / 4 and 8 more, at depth lane % 4, then four depths on. They stay as they are
 * until the product is waited for. */
KW_DEVICE void kw_wgmma_picked(const kw_acc *acc, int number, const kw_u32 a[4], kw_u64 b, int add) {
    if (number == 0)
        KW_WGMMA_PICKED_OF(0);
    else if (number == 1)
        KW_WGMMA_PICKED_OF(1);
    else if (number == 2)
        KW_WGMMA_PICKED_OF(2);
    else
        KW_WGMMA_PICKED_OF(3);
}

#define KW_TAKE_OF(r, a, b, c, d)                                                                                                          \
    asm volatile("mov.b32 %0, kw_sum" #r "_" #a "; mov.b32 %1, kw_sum" #r "_" #b "; mov.b32 %2, kw_sum" #r "_" #c                          \
                 "; mov.b32 %3, kw_sum" #r "_" #d ";"                                                                                      \
                 : KW_WGMMA_OUT(sum[a]), KW_WGMMA_OUT(sum[b]), KW_WGMMA_OUT(sum[c]), KW_WGMMA_OUT(sum[d])                                  \
                 :                                                                                                                         \
                 : "memory");
#define KW_TAKE_OF_0(a, b, c, d) KW_TAKE_OF(0, a, b, c, d)
#define KW_TAKE_OF_1(a, b, c, d) KW_TAKE_OF(1, a, b, c, d)
#define KW_TAKE_OF_2(a, b, c, d) KW_TAKE_OF(2, a, b, c, d)
#define KW_TAKE_OF_3(a, b, c, d) KW_TAKE_OF(3, a, b, c, d)

/* When they have been waited for. */
KW_DEVICE void kw_wgmma_take(kw_acc *acc, int number) {
    kw_sum *sum = acc->e;
    if (number == 0) {
        KW_WGMMA_FOURS(KW_TAKE_OF_0, KW_TAKE_OF_0)
    } else if (number == 1) {
        KW_WGMMA_FOURS(KW_TAKE_OF_1, KW_TAKE_OF_1)
    } else if (number == 2) {
        KW_WGMMA_FOURS(KW_TAKE_OF_2, KW_TAKE_OF_2)
    } else {
        KW_WGMMA_FOURS(KW_TAKE_OF_3, KW_TAKE_OF_3)
    }
}
#endif
#endif
