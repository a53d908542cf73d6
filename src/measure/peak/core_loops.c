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

enum { ACCUMULATORS = 14, TILE_SUMS = 6, REPEATS = 12, LOOP_NS = 1000000 };

#if defined(__x86_64__)

#include <cpuid.h>

#define KW_EACH(X) X("0") X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("8") X("9") X("10") X("11") X("12") X("13")
#define KW_CLOBBER_YMM                                                                                                                     \
    "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", "ymm11", "ymm12", "ymm13", "ymm14", "ymm15"
#define KW_CLOBBER_ZMM                                                                                                                     \
    "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15"

__attribute__((target("avx2,fma"))) static void loop_fma256(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%ymm15, %%ymm" i "\n"
#define KW_STEP(i) "vfmadd132ps %%ymm14, %%ymm15, %%ymm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%ymm14\n vbroadcastss %2, %%ymm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_YMM, "cc");
#undef KW_SET
#undef KW_STEP
}

__attribute__((target("avx512f"))) static void loop_fma512(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%zmm15, %%zmm" i "\n"
#define KW_STEP(i) "vfmadd132ps %%zmm14, %%zmm15, %%zmm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%zmm14\n vbroadcastss %2, %%zmm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_ZMM, "cc");
#undef KW_SET
#undef KW_STEP
}

/* Pairs of bf16 inside the two floats: 0.5 is {0, 0.5}, 1 is {0, 1}; the sums grow slowly and stay finite for any loop that ends. */
__attribute__((target("avx512f,avx512bf16"))) static void loop_dp512(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%zmm15, %%zmm" i "\n"
#define KW_STEP(i) "vdpbf16ps %%zmm14, %%zmm15, %%zmm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%zmm14\n vbroadcastss %2, %%zmm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_ZMM, "cc");
#undef KW_SET
#undef KW_STEP
}

/* Bytes of the floats, unsigned times signed; sums of 32 bits wrap. */
__attribute__((target("avx512f,avx512vnni"))) static void loop_bytes512(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%zmm15, %%zmm" i "\n"
#define KW_STEP(i) "vpdpbusd %%zmm14, %%zmm15, %%zmm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%zmm14\n vbroadcastss %2, %%zmm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_ZMM, "cc");
#undef KW_SET
#undef KW_STEP
}

/* The same in 256 bits, in the encoding of AVX_VNNI. */
__attribute__((target("avx2"))) static void loop_bytes256(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%ymm15, %%ymm" i "\n"
#define KW_STEP(i) "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%ymm14\n vbroadcastss %2, %%ymm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_YMM, "cc");
#undef KW_SET
#undef KW_STEP
}

/* A product of int16 pairs and its addition: seven sums, seven registers for products. */
#define KW_EACH_SUM(X) X("0", "7") X("1", "8") X("2", "9") X("3", "10") X("4", "11") X("5", "12") X("6", "13")

__attribute__((target("avx2"))) static void loop_wide256(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%ymm15, %%ymm" i "\n"
#define KW_STEP(i, j) "vpmaddwd %%ymm14, %%ymm15, %%ymm" j "\n vpaddd %%ymm" j ", %%ymm" i ", %%ymm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%ymm14\n vbroadcastss %2, %%ymm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH_SUM(KW_STEP)
                         KW_EACH_SUM(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_YMM, "cc");
#undef KW_SET
#undef KW_STEP
}

__attribute__((target("avx512f,avx512bw"))) static void loop_wide512(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%zmm15, %%zmm" i "\n"
#define KW_STEP(i, j) "vpmaddwd %%zmm14, %%zmm15, %%zmm" j "\n vpaddd %%zmm" j ", %%zmm" i ", %%zmm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%zmm14\n vbroadcastss %2, %%zmm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH_SUM(KW_STEP)
                         KW_EACH_SUM(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_ZMM, "cc");
#undef KW_SET
#undef KW_STEP
}

/* Loads of whole vectors from sixteen lines that stay in the first level. */
static const float lines[256] __attribute__((aligned(64))) = {1};

__attribute__((target("avx2"))) static void loop_load256(long turns, const float *half, const float *one) {
#define KW_STEP(i) "vmovups 64*" i "(%1), %%ymm" i "\n"
    (void)half, (void)one;
    __asm__ volatile("1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n" : "+r"(turns) : "r"(lines), "m"(lines) : KW_CLOBBER_YMM, "cc");
#undef KW_STEP
}

__attribute__((target("avx512f"))) static void loop_load512(long turns, const float *half, const float *one) {
#define KW_STEP(i) "vmovups 64*" i "(%1), %%zmm" i "\n"
    (void)half, (void)one;
    __asm__ volatile("1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n" : "+r"(turns) : "r"(lines), "m"(lines) : KW_CLOBBER_ZMM, "cc");
#undef KW_STEP
}

/* What ldtilecfg reads: palette 1, eight registers of 16 rows of 64 bytes. */
static const unsigned char whole_tiles[64] = {
    [0] = 1,   [16] = 64, [18] = 64, [20] = 64, [22] = 64, [24] = 64, [26] = 64, [28] = 64, [30] = 64,
    [48] = 16, [49] = 16, [50] = 16, [51] = 16, [52] = 16, [53] = 16, [54] = 16, [55] = 16};

#define KW_EACH_TILE(X) X("0") X("1") X("2") X("3") X("4") X("5")
#define KW_CLEAR_TILE(t) "tilezero %%tmm" t "\n"
#define KW_TILE_LOOP(instruction)                                                                                                          \
    __asm__ volatile("ldtilecfg %1\n" KW_EACH_TILE(KW_CLEAR_TILE) KW_CLEAR_TILE("6")                                                       \
                         KW_CLEAR_TILE("7") "1:\n" KW_EACH_TILE(instruction) "dec %0\n jnz 1b\n tilerelease\n"                             \
                     : "+r"(turns)                                                                                                         \
                     : "m"(whole_tiles)                                                                                                    \
                     : "cc")

static void loop_tiles(long turns, const float *half, const float *one) {
#define KW_STEP(t) "tdpbf16ps %%tmm7, %%tmm6, %%tmm" t "\n"
    (void)half, (void)one;
    KW_TILE_LOOP(KW_STEP);
#undef KW_STEP
}

static void loop_byte_tiles(long turns, const float *half, const float *one) {
#define KW_STEP(t) "tdpbssd %%tmm7, %%tmm6, %%tmm" t "\n"
    (void)half, (void)one;
    KW_TILE_LOOP(KW_STEP);
#undef KW_STEP
}

static void loop_tile_load(long turns, const float *half, const float *one) {
#define KW_STEP(t) "tileloadd (%2,%3), %%tmm" t "\n"
    (void)half, (void)one;
    __asm__ volatile("ldtilecfg %1\n 1:\n" KW_EACH_TILE(KW_STEP) "dec %0\n jnz 1b\n tilerelease\n"
                     : "+r"(turns)
                     : "m"(whole_tiles), "r"(lines), "r"(64L), "m"(lines)
                     : "cc");
#undef KW_STEP
}

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
