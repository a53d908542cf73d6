/* peak.c: what this machine can do at most, measured: multiply-adds on registers alone (core_loops.c), and reading memory. */
#include "measure/peak/core_loops.h"
#include "measure/measure.h"

#include "base/os/clock.h"
#include "base/os/parallel.h"

#include <stdlib.h>
#include <string.h>

typedef struct peak_loop {
    kw_core_loop run;
    double flops; /* of one instruction */
} peak_loop;

static peak_loop choose_loop(kw_dtype dtype) {
    enum { TILE_BF16 = 16 * 16 * 32 * 2, TILE_INT8 = 16 * 16 * 64 * 2 };
    const peak_loop loops[] = {
        {kw_core_loop_of(dtype == KW_BF16 ? KW_LOOP_TILES : KW_LOOP_BYTE_TILES), dtype == KW_BF16 ? TILE_BF16 : TILE_INT8},
        {kw_core_loop_of(dtype == KW_BF16 ? KW_LOOP_DP512 : KW_LOOP_BYTES512), dtype == KW_BF16 ? 64 : 128},
        {kw_core_loop_of(KW_LOOP_FMA512), 32},
        {kw_core_loop_of(KW_LOOP_FMA256), 16},
    };
    bool floats = dtype == KW_FP32 || dtype == KW_BF16 || dtype == KW_FP16, narrow = dtype == KW_BF16 || dtype == KW_INT8;
    const peak_loop *loop = loops + (narrow ? 0 : 2), *end = loops + (floats ? 4 : narrow ? 2 : 0);
    while (loop < end && !loop->run) {
        loop++;
    }
    return loop < end ? *loop : (peak_loop){0};
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

double kw_cpu_peak(kw_dtype dtype, int threads) {
    peak_loop loop = choose_loop(dtype);
    if (!loop.run) {
        return 0;
    }
    peak_team team = {.loop = loop.run, .rate = {0}};
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
