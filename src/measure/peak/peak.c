/* peak.c: what this machine can do at most, measured: multiply-adds on registers alone, and reading memory.
 *
 * The loops are assembly so that every build of the library, sanitised or not, measures the machine and not the compiler; each needs
 * only that the processor has its instructions, which is asked first. Fourteen independent accumulators hide a latency of four cycles at
 * up to two (and most of three) multiply-adds a cycle; they converge to 2 (a := a / 2 + 1), because zeros draw less power and may run at
 * a higher clock. Tile registers multiply zeros: eight of them leave six for sums, which hide their latency. */
#include "measure/measure.h"

#include "base/os/clock.h"
#include "base/os/parallel.h"
#include "base/os/tiles.h"

#include <stdlib.h>
#include <string.h>

enum { ACCUMULATORS = 14, TILE_SUMS = 6, REPEATS = 12, LOOP_NS = 1000000 };

#if defined(__x86_64__)

#define KW_EACH(X) X("0") X("1") X("2") X("3") X("4") X("5") X("6") X("7") X("8") X("9") X("10") X("11") X("12") X("13")
#define KW_CLOBBER_YMM                                                                                                                     \
    "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "ymm8", "ymm9", "ymm10", "ymm11", "ymm12", "ymm13", "ymm14", "ymm15"
#define KW_CLOBBER_ZMM                                                                                                                     \
    "zmm0", "zmm1", "zmm2", "zmm3", "zmm4", "zmm5", "zmm6", "zmm7", "zmm8", "zmm9", "zmm10", "zmm11", "zmm12", "zmm13", "zmm14", "zmm15"

__attribute__((target("avx2,fma"))) static void loop_avx2(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%ymm15, %%ymm" i "\n"
#define KW_STEP(i) "vfmadd132ps %%ymm14, %%ymm15, %%ymm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%ymm14\n vbroadcastss %2, %%ymm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_YMM, "cc");
#undef KW_SET
#undef KW_STEP
}

__attribute__((target("avx512f"))) static void loop_avx512(long turns, const float *half, const float *one) {
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
__attribute__((target("avx512f,avx512bf16"))) static void loop_bf16(long turns, const float *half, const float *one) {
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
__attribute__((target("avx512f,avx512vnni"))) static void loop_bytes(long turns, const float *half, const float *one) {
#define KW_SET(i) "vmovaps %%zmm15, %%zmm" i "\n"
#define KW_STEP(i) "vpdpbusd %%zmm14, %%zmm15, %%zmm" i "\n"
    __asm__ volatile("vbroadcastss %1, %%zmm14\n vbroadcastss %2, %%zmm15\n" KW_EACH(KW_SET) "1:\n" KW_EACH(KW_STEP) "dec %0\n jnz 1b\n"
                     : "+r"(turns)
                     : "m"(*half), "m"(*one)
                     : KW_CLOBBER_ZMM, "cc");
#undef KW_SET
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

static void loop_tiles_bf16(long turns, const float *half, const float *one) {
#define KW_STEP(t) "tdpbf16ps %%tmm7, %%tmm6, %%tmm" t "\n"
    (void)half, (void)one;
    KW_TILE_LOOP(KW_STEP);
#undef KW_STEP
}

static void loop_tiles_int8(long turns, const float *half, const float *one) {
#define KW_STEP(t) "tdpbssd %%tmm7, %%tmm6, %%tmm" t "\n"
    (void)half, (void)one;
    KW_TILE_LOOP(KW_STEP);
#undef KW_STEP
}

typedef struct peak_loop {
    void (*run)(long turns, const float *half, const float *one);
    double flops; /* of one turn */
} peak_loop;

static peak_loop choose_loop(kw_dtype dtype) {
    enum { TILE_BF16 = 16 * 16 * 32 * 2, TILE_INT8 = 16 * 16 * 64 * 2 };
    char why[64];
    if ((dtype == KW_BF16 || dtype == KW_INT8) && kw_tiles_ask(why) == KW_TILES_REAL) {
        return dtype == KW_BF16 ? (peak_loop){loop_tiles_bf16, TILE_SUMS * TILE_BF16} : (peak_loop){loop_tiles_int8, TILE_SUMS * TILE_INT8};
    }
    if (dtype == KW_INT8 && __builtin_cpu_supports("avx512vnni")) {
        return (peak_loop){loop_bytes, ACCUMULATORS * 128};
    }
    if (dtype == KW_BF16 && __builtin_cpu_supports("avx512bf16")) {
        return (peak_loop){loop_bf16, ACCUMULATORS * 64};
    }
    bool floats = dtype == KW_FP32 || dtype == KW_BF16 || dtype == KW_FP16;
    if (floats && __builtin_cpu_supports("avx512f")) {
        return (peak_loop){loop_avx512, ACCUMULATORS * 32};
    }
    if (floats && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return (peak_loop){loop_avx2, ACCUMULATORS * 16};
    }
    return (peak_loop){0};
}

/* One thread's best rate, as one of threads that run side by side: the fewest nanoseconds per loop turn. */
static double best_turn_ns(const peak_loop *loop) {
    const float half = 0.5f, one = 1;
    long turns = 1000;
    double best = 0;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int64_t start = kw_clock_ns();
        loop->run(turns, &half, &one);
        double each = (double)(kw_clock_ns() - start + 1) / (double)turns;
        best = repeat == 0 || each < best ? each : best;
        turns = (long)(LOOP_NS / best) + 1;
    }
    return best;
}

enum { PEAK_THREADS_MAX = 1024 };

typedef struct peak_team {
    const peak_loop *loop;
    double turn_ns[PEAK_THREADS_MAX]; /* of each thread */
} peak_team;

static void time_peak_loop(void *user, size_t number) {
    peak_team *team = user;
    team->turn_ns[number] = best_turn_ns(team->loop);
}

double kw_cpu_peak(kw_dtype dtype, int threads) {
    peak_loop loop = choose_loop(dtype);
    if (!loop.run) {
        return 0;
    }
    peak_team team = {.loop = &loop, .turn_ns = {0}};
    size_t count = threads < 1 ? 1 : threads < PEAK_THREADS_MAX ? (size_t)threads : PEAK_THREADS_MAX;
    kw_parallel_run(&(kw_parallel){.count = count, .workers = (int32_t)count, .work = time_peak_loop, .user = &team});
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += loop.flops / team.turn_ns[i] * 1e9;
    }
    return sum;
}

#else

double kw_cpu_peak(kw_dtype dtype, int threads) {
    (void)dtype;
    (void)threads;
    return 0;
}

#endif

/* --- bandwidth --- */

/* Sums 8-byte words of a block larger than any cache of today's processors' single share; the compiler may vectorise, memory is far
 * slower. */
static uint64_t read_all(const uint64_t *words, size_t count) {
    uint64_t sum[8] = {0};
    for (size_t i = 0; i + 8 <= count; i += 8) {
        for (size_t lane = 0; lane < 8; lane++) {
            sum[lane] += words[i + lane];
        }
    }
    return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

double kw_cpu_bandwidth(void) {
    enum { BYTES = 128 << 20 };
    uint64_t *words = malloc(BYTES);
    if (!words) {
        return 0;
    }
    memset(words, 1, BYTES);
    double best = 0;
    volatile uint64_t keep = 0;
    for (int repeat = 0; repeat < 4; repeat++) {
        int64_t start = kw_clock_ns();
        keep = keep + read_all(words, BYTES / sizeof *words);
        double rate = BYTES / (double)(kw_clock_ns() - start) * 1e9;
        best = rate > best ? rate : best;
    }
    free(words);
    return best;
}
