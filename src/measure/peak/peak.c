/* peak.c: what this machine can do at most, measured: multiply-adds on registers alone (core_loops.c), and reading memory. */
#include "measure/peak/core_loops.h"
#include "measure/measure.h"

#include "base/os/clock.h"
#include "base/os/parallel.h"
#include "config/arch/isa.h"

#include <stdlib.h>
#include <string.h>

/* An instruction that multiplies: its types, what an architecture needs to have of it, and the operations of one. */
typedef struct peak_loop {
    kw_core_loop_id id;
    uint32_t dtypes, isa, has;
    double flops;
} peak_loop;

enum { FLOATS = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16, BF16 = 1 << KW_BF16, INT8 = 1 << KW_INT8 };
enum { OF_256 = 1 << KW_ISA_AVX2, OF_512 = 1 << KW_ISA_AVX512 };

static const peak_loop peak_loops[] = {
    {KW_LOOP_TILES, BF16, OF_512, KW_CPU_AMX, 16 * 16 * 32 * 2},
    {KW_LOOP_BYTE_TILES, INT8, OF_512, KW_CPU_AMX, 16 * 16 * 64 * 2},
    {KW_LOOP_DP512, BF16, OF_512, KW_CPU_BF16, 64},
    {KW_LOOP_BYTES512, INT8, OF_512, KW_CPU_VNNI, 128},
    {KW_LOOP_BYTES256, INT8, OF_256, KW_CPU_AVX_VNNI, 64},
    {KW_LOOP_WIDE512, INT8, OF_512, 0, 64},
    {KW_LOOP_WIDE256, INT8, OF_256, 0, 32},
    {KW_LOOP_FMA512, FLOATS, OF_512, 0, 32},
    {KW_LOOP_FMA256, FLOATS, OF_256, 0, 16},
};

/* The one by which the architecture gets most done of the type: which that is differs from core to core (docs/kernels/cpu-rates.md). */
static peak_loop choose_loop(const char *arch, kw_dtype dtype) {
    const kw_cpu_arch *cpu = kw_cpu_arch_find(arch);
    peak_loop best = {0};
    double most = 0;
    for (size_t i = 0; cpu && i < sizeof peak_loops / sizeof *peak_loops; i++) {
        const peak_loop *l = &peak_loops[i];
        bool has = l->dtypes >> dtype & 1 && cpu->isas & l->isa && (cpu->has & l->has) == l->has;
        kw_core_loop run = has ? kw_core_loop_of(l->id) : NULL;
        double flops = run ? l->flops * kw_core_loop_rate(run) : 0;
        if (flops > most) {
            best = *l;
            most = flops;
        }
    }
    return best;
}

enum { PEAK_THREADS_MAX = 1024 };

typedef struct peak_team {
    kw_core_loop loop;
    double rate[PEAK_THREADS_MAX]; /* of each thread, instructions a nanosecond */
} peak_team;

static void time_peak_loop(void *user, size_t number) {
    peak_team *team = user;
    team->rate[number] = kw_core_loop_rate(team->loop);
}

double kw_cpu_peak(const char *arch, kw_dtype dtype, int threads) {
    peak_loop loop = choose_loop(arch, dtype);
    if (!(loop.flops > 0)) {
        return 0;
    }
    peak_team team = {.loop = kw_core_loop_of(loop.id), .rate = {0}};
    /* Threads without a core of their own add nothing. */
    size_t cores = kw_cores_list(NULL, 0), count = threads < 1 ? 1 : (size_t)threads < cores ? (size_t)threads : cores;
    count = count < PEAK_THREADS_MAX ? count : PEAK_THREADS_MAX;
    kw_parallel_run(&(kw_parallel){.count = count, .workers = (int32_t)count, .work = time_peak_loop, .user = &team});
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += loop.flops * team.rate[i] * 1e9;
    }
    return sum;
}

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
