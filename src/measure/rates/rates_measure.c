/* rates_measure.c: measures the rates of this machine: loops of one instruction, and reads of working sets of each level. The best of several
 * short runs counts, which a busy machine leaves undisturbed more easily than one long one. */
#include "measure/rates/rates.h"

#include "base/math.h"
#include "base/os/clock.h"
#include "base/os/parallel.h"
#include "measure/peak/core_loops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tile instruction's rows of 16 lanes: 16 pixels, each by 16 steps; a load's rows. */
enum { TILE_ROWS = 256, LOAD_ROWS = 16, READ_NS = 20000000, READ_RUNS = 4 };
enum { MEMORY_LEAST = 128 << 20, MEMORY_MOST = 1 << 30, CACHES_MOST = 64 << 20, ROUNDS = 3 };

static double rate_of(kw_core_loop_id id) {
    kw_core_loop loop = kw_core_loop_of(id);
    return loop ? kw_core_loop_rate(loop) : 0;
}

/* --- reads -------------------------------------------------------------------------------------------------------------------- */

#ifdef __x86_64__
__attribute__((target("avx2"))) static void read_all(const char *bytes, size_t size) {
    const char *end = bytes + size / 256 * 256;
    if (bytes == end) {
        return;
    }
    __asm__ volatile("1:\n vmovaps (%0), %%ymm0\n vmovaps 32(%0), %%ymm1\n vmovaps 64(%0), %%ymm2\n vmovaps 96(%0), %%ymm3\n"
                     "vmovaps 128(%0), %%ymm4\n vmovaps 160(%0), %%ymm5\n vmovaps 192(%0), %%ymm6\n vmovaps 224(%0), %%ymm7\n"
                     "add $256, %0\n cmp %1, %0\n jb 1b\n"
                     : "+r"(bytes)
                     : "r"(end)
                     : "ymm0", "ymm1", "ymm2", "ymm3", "ymm4", "ymm5", "ymm6", "ymm7", "memory", "cc");
}
static bool can_read(void) {
    return __builtin_cpu_supports("avx2");
}
#else
static void read_all(const char *bytes, size_t size) {
    (void)bytes;
    (void)size;
}
static bool can_read(void) {
    return false;
}
#endif

/* Bytes a nanosecond at which one thread reads the first bytes of a block again and again; a run is at least one pass. */
static double read_rate(const char *bytes, size_t size) {
    double best = 0, passes = 1;
    read_all(bytes, size);
    for (int64_t begin = kw_clock_ns(), run = 0; run < READ_RUNS || kw_clock_ns() - begin < READ_NS; run++) {
        int64_t start = kw_clock_ns();
        for (int pass = 0; pass < (int)passes; pass++) {
            read_all(bytes, size);
        }
        double ns = (double)(kw_clock_ns() - start + 1);
        best = fmax(best, floor(passes) * (double)size / ns);
        passes = fmax(1, 200000 * best / (double)size); /* runs of 0.2 ms */
    }
    return best;
}

typedef struct reader_team {
    const char *bytes;
    size_t share;
    double *rate; /* of each thread */
} reader_team;

static void read_share(void *user, size_t number) {
    reader_team *team = user;
    team->rate[number] = read_rate(team->bytes + number * team->share, team->share);
}

/* What all threads draw at a time; each reads its own part of the block. */
static double read_together(const char *bytes, size_t size, size_t threads) {
    double sum = 0;
    reader_team team = {bytes, size / threads / 64 * 64, calloc(threads, sizeof(double))};
    if (team.rate) {
        kw_parallel_run(&(kw_parallel){.count = threads, .workers = (int32_t)threads, .work = read_share, .user = &team});
        for (size_t i = 0; i < threads; i++) {
            sum += team.rate[i];
        }
    }
    free(team.rate);
    return sum;
}

static void measure_memory(kw_rates *r, const kw_target *target, kw_rates_part part) {
    int64_t eighth = kw_max(2 * target->l2, target->l3 / 8);
    int64_t most = part == KW_RATES_ALL ? kw_max(MEMORY_LEAST, kw_min(2 * target->l3, MEMORY_MOST)) : kw_min(eighth, CACHES_MOST);
    size_t size = (size_t)(most + 63) / 64 * 64;
    char *bytes = can_read() && size ? aligned_alloc(64, size) : NULL;
    if (!bytes) {
        return;
    }
    memset(bytes, 1, size);
    r->l2 = read_rate(bytes, (size_t)kw_min(target->l2 / 2, (int64_t)size));
    if (target->l3 > 2 * target->l2) {
        r->l3 = read_rate(bytes, (size_t)kw_min(eighth, (int64_t)size));
    }
    if (target->l3 > 2 * target->l2 && part == KW_RATES_ALL) {
        r->l3_full = read_rate(bytes, (size_t)kw_min(target->l3 / 8 * 7, (int64_t)size));
    }
    if (part == KW_RATES_ALL) {
        r->ram = read_rate(bytes, size);
        r->ram_all = fmax(r->ram, read_together(bytes, size, (size_t)kw_max(1, target->units)));
    }
    free(bytes);
}

static kw_rates measure_loops(void) {
    return (kw_rates){.fma256 = rate_of(KW_LOOP_FMA256),
                      .fma512 = rate_of(KW_LOOP_FMA512),
                      .dp512 = rate_of(KW_LOOP_DP512),
                      .bytes256 = rate_of(KW_LOOP_BYTES256),
                      .bytes512 = rate_of(KW_LOOP_BYTES512),
                      .wide256 = rate_of(KW_LOOP_WIDE256),
                      .wide512 = rate_of(KW_LOOP_WIDE512),
                      .tiles = TILE_ROWS * rate_of(KW_LOOP_TILES),
                      .byte_tiles = TILE_ROWS * rate_of(KW_LOOP_BYTE_TILES),
                      .load256 = rate_of(KW_LOOP_LOAD256),
                      .load512 = rate_of(KW_LOOP_LOAD512),
                      .tile_load = LOAD_ROWS * rate_of(KW_LOOP_TILE_LOAD)};
}

/* All loops in turns, for it is their proportions that choose kernels: what disturbs the machine for a while disturbs all of them. */
void kw_rates_measure(kw_target *target, kw_rates_part part) {
    kw_rates r = {0};
    for (int round = 0; round < ROUNDS; round++) {
        kw_rates loops = measure_loops();
        kw_rates_raise(&r, &loops);
    }
    measure_memory(&r, target, part);
    target->rates = r;
}
