/* core_loops.c: loops of one instruction on registers, or on lines of the first-level cache, for measuring how many of it a core gets done.
 *
 * The loops are assembly so that every build of the library, sanitised or not, measures the machine and not the compiler; each needs
 * only that the processor has its instructions, which is asked first. Fourteen independent accumulators hide a latency of four cycles at
 * up to two (and most of three) multiply-adds a cycle; they converge to 2 (a := a / 2 + 1), because zeros draw less power and may run at
 * a higher clock. Tile registers multiply zeros: eight of them leave six for sums, which hide their latency. */
#include "measure/peak/core_loops.h"

#include "base/os/clock.h"
#include "base/os/tiles.h"

#include <stddef.h>

enum { ACCUMULATORS = 14, TILE_SUMS = 6, REPEATS = 12, LOOP_NS = 250000 };

#if defined(__x86_64__)

#include <cpuid.h>

/* Sixteen lines that stay in the first level. */
static const float lines[256] __attribute__((aligned(64))) = {1};

#define KW_CLOBBER_YMM                                                                                                                     \
    "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", "ymm11", "ymm12", "ymm13", "ymm14", "ymm15"
#define KW_CLOBBER_ZMM                                                                                                                     \
    "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15"

/* X for each accumulator of registers r, which is "ymm" or "zmm"; in pairs, a sum and the register of its product. */
#define KW_EACH(X, r)                                                                                                                      \
    X(r, "0")                                                                                                                              \
    X(r, "1") X(r, "2") X(r, "3") X(r, "4") X(r, "5") X(r, "6") X(r, "7") X(r, "8") X(r, "9") X(r, "10") X(r, "11") X(r, "12") X(r, "13")
#define KW_EACH_PAIR(X, r) X(r, "0", "7") X(r, "1", "8") X(r, "2", "9") X(r, "3", "10") X(r, "4", "11") X(r, "5", "12") X(r, "6", "13")

/* A loop over body in registers r: register 14 holds halves, 15 ones, and so do the accumulators at first; %3 is the lines' address. */
#define KW_VECTOR_LOOP(name, features, r, clobbers, body)                                                                                  \
    __attribute__((target(features))) static void name(long turns, const float *half, const float *one) {                                  \
        __asm__ volatile("vbroadcastss %1, %%" r "14\n vbroadcastss %2, %%" r "15\n" KW_EACH(KW_SET, r) "1:\n" body "dec %0\n jnz 1b\n"    \
                         : "+r"(turns)                                                                                                     \
                         : "m"(*half), "m"(*one), "r"(lines), "m"(lines)                                                                   \
                         : clobbers, "cc");                                                                                                \
    }

#define KW_SET(r, i) "vmovaps %%" r "15, %%" r i "\n"
#define KW_FMA(r, i) "vfmadd132ps %%" r "14, %%" r "15, %%" r i "\n"
/* Pairs of bf16 inside the two floats: 0.5 is {0, 0.5}, 1 is {0, 1}; the sums grow slowly and stay finite for any loop that ends. */
#define KW_DP(r, i) "vdpbf16ps %%" r "14, %%" r "15, %%" r i "\n"
/* Bytes of the floats, unsigned times signed; sums of 32 bits wrap. In 256 bits in the encoding of AVX_VNNI. */
#define KW_BYTES(r, i) "vpdpbusd %%" r "14, %%" r "15, %%" r i "\n"
#define KW_VEX_BYTES(r, i) "%{vex%} " KW_BYTES(r, i)
/* A product of int16 pairs and its addition. */
#define KW_WIDE(r, i, j) "vpmaddwd %%" r "14, %%" r "15, %%" r j "\n vpaddd %%" r j ", %%" r i ", %%" r i "\n"
/* Two of these, multiplications first, as kernels have them (kernels/cpu/lib/register_tile.h); as many as KW_EACH has. */
#define KW_WIDE_TWO(r, i, j, k, l)                                                                                                         \
    "vpmaddwd %%" r "14, %%" r "15, %%" r j "\n vpmaddwd %%" r "14, %%" r "15, %%" r l "\n"                                                \
    "vpaddd %%" r j ", %%" r i ", %%" r i "\n vpaddd %%" r l ", %%" r k ", %%" r k "\n"
#define KW_EACH_TWO(X, r) X(r, "0", "7", "1", "8") X(r, "2", "9", "3", "10") X(r, "4", "11", "5", "12")
#define KW_WIDE_TWOS(r) KW_EACH_TWO(KW_WIDE_TWO, r) KW_WIDE_TWO(r, "6", "13", "0", "7") KW_EACH_TWO(KW_WIDE_TWO, r)
#define KW_LOAD(r, i) "vmovups 64*" i "(%3), %%" r i "\n"

KW_VECTOR_LOOP(loop_fma256, "avx2,fma", "ymm", KW_CLOBBER_YMM, KW_EACH(KW_FMA, "ymm"))
KW_VECTOR_LOOP(loop_fma512, "avx512f", "zmm", KW_CLOBBER_ZMM, KW_EACH(KW_FMA, "zmm"))
KW_VECTOR_LOOP(loop_dp512, "avx512f,avx512bf16", "zmm", KW_CLOBBER_ZMM, KW_EACH(KW_DP, "zmm"))
KW_VECTOR_LOOP(loop_bytes256, "avx2", "ymm", KW_CLOBBER_YMM, KW_EACH(KW_VEX_BYTES, "ymm"))
KW_VECTOR_LOOP(loop_bytes512, "avx512f,avx512vnni", "zmm", KW_CLOBBER_ZMM, KW_EACH(KW_BYTES, "zmm"))
KW_VECTOR_LOOP(loop_wide256, "avx2", "ymm", KW_CLOBBER_YMM, KW_EACH_PAIR(KW_WIDE, "ymm") KW_EACH_PAIR(KW_WIDE, "ymm"))
KW_VECTOR_LOOP(loop_wide512, "avx512f,avx512bw", "zmm", KW_CLOBBER_ZMM, KW_WIDE_TWOS("zmm"))
KW_VECTOR_LOOP(loop_load256, "avx2", "ymm", KW_CLOBBER_YMM, KW_EACH(KW_LOAD, "ymm"))
KW_VECTOR_LOOP(loop_load512, "avx512f", "zmm", KW_CLOBBER_ZMM, KW_EACH(KW_LOAD, "zmm"))

/* What ldtilecfg reads: palette 1, eight registers of 16 rows of 64 bytes. */
static const unsigned char whole_tiles[64] = {
    [0] = 1,   [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64, [26] = 64, [28] = 64, [30] = 64,
    [48] = 16, [49] = 16, [50] = 16, [51] = 16, [52] = 16, [53] = 16, [54] = 16, [55] = 16};

/* A loop over step in six tile registers; 6 and 7 hold zeros, %2 is the lines' address and %3 the bytes of a row. */
#define KW_TILE_LOOP(name, step)                                                                                                           \
    static void name(long turns, const float *half, const float *one) {                                                                    \
        (void)half, (void)one;                                                                                                             \
        __asm__ volatile("ldtilecfg %1\n" KW_EACH_TILE(KW_CLEAR_TILE) KW_CLEAR_TILE("6")                                                   \
                             KW_CLEAR_TILE("7") "1:\n" KW_EACH_TILE(step) "dec %0\n jnz 1b\n tilerelease\n"                                \
                         : "+r"(turns)                                                                                                     \
                         : "m"(whole_tiles), "r"(lines), "r"(64L), "m"(lines)                                                              \
                         : "cc");                                                                                                          \
    }

#define KW_EACH_TILE(X) X("0") X("1") X("2") X("3") X("4") X("5")
#define KW_CLEAR_TILE(t) "tilezero %%tmm" t "\n"
#define KW_TILE_DP(t) "tdpbf16ps %%tmm7, %%tmm6, %%tmm" t "\n"
#define KW_TILE_BYTES(t) "tdpbssd %%tmm7, %%tmm6, %%tmm" t "\n"
#define KW_TILE_LOAD(t) "tileloadd (%2,%3), %%tmm" t "\n"

KW_TILE_LOOP(loop_tiles, KW_TILE_DP)
KW_TILE_LOOP(loop_byte_tiles, KW_TILE_BYTES)
KW_TILE_LOOP(loop_tile_load, KW_TILE_LOAD)

static bool has_tiles(void) {
    char why[64];
    return kw_tiles_ask(why) == KW_TILES_REAL;
}

/* Not every compiler knows this one by name. */
static bool has_avx_vnni(void) {
    unsigned a = 0, b, c, d;
    return __builtin_cpu_supports("avx2") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

kw_core_loop kw_core_loop_of(kw_core_loop_id id) {
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    switch (id) {
    case KW_LOOP_FMA256:
        return avx2 ? loop_fma256 : NULL;
    case KW_LOOP_FMA512:
        return avx512 ? loop_fma512 : NULL;
    case KW_LOOP_DP512:
        return __builtin_cpu_supports("avx512bf16") ? loop_dp512 : NULL;
    case KW_LOOP_BYTES256:
        return has_avx_vnni() ? loop_bytes256 : NULL;
    case KW_LOOP_BYTES512:
        return __builtin_cpu_supports("avx512vnni") ? loop_bytes512 : NULL;
    case KW_LOOP_WIDE256:
        return avx2 ? loop_wide256 : NULL;
    case KW_LOOP_WIDE512:
        return avx512 ? loop_wide512 : NULL;
    case KW_LOOP_LOAD256:
        return avx2 ? loop_load256 : NULL;
    case KW_LOOP_LOAD512:
        return avx512 ? loop_load512 : NULL;
    case KW_LOOP_TILES:
        return has_tiles() ? loop_tiles : NULL;
    case KW_LOOP_BYTE_TILES:
        return has_tiles() ? loop_byte_tiles : NULL;
    case KW_LOOP_TILE_LOAD:
        return has_tiles() ? loop_tile_load : NULL;
    }
    return NULL;
}

/* Instructions of one turn of a loop. */
static double turn_steps(kw_core_loop loop) {
    bool tiles = loop == loop_tiles || loop == loop_byte_tiles || loop == loop_tile_load;
    return tiles ? TILE_SUMS : ACCUMULATORS;
}

#else

kw_core_loop kw_core_loop_of(kw_core_loop_id id) {
    (void)id;
    return NULL;
}

static double turn_steps(kw_core_loop loop) {
    (void)loop;
    return ACCUMULATORS + 0 * TILE_SUMS;
}

#endif

double kw_core_loop_rate(kw_core_loop loop) {
    const float half = 0.5f, one = 1;
    long turns = 1000;
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int64_t start = kw_clock_ns();
        loop(turns, &half, &one);
        double each = (double)(kw_clock_ns() - start + 1) / (double)turns;
        best = repeat == 0 || each < best ? each : best;
        turns = (long)(LOOP_NS / best) + 1;
    }
    return turn_steps(loop) / best;
}
