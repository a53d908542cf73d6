/* estimate.c: the analytic estimate of CPU kernels, a roofline over what the family says it will do (kw_launch).
 *
 *   time = max(multiply-adds, loads, tensors and what is read again through caches) + copies + starting
 *
 * The first three overlap in an out-of-order core, though not wholly; copies come before the work that needs them. Packing of weights is
 * left out: weights that stay the same are packed once. Work is divided by the threads that get any, at the pace of the thread with most
 * units. The figures are one machine's (Zen 4, 3.66 GHz, measured by register-only loops and by reads of working sets of every size;
 * docs/measuring.md); on another machine all candidates shift alike, and only their order is asked for. */
#include "predict/estimate.h"

#include "base/math.h"
#include "config/isa.h"
#include "config/team.h"

#include <math.h>

/* Instructions a cycle of one core. 256-bit multiply-adds go down two pipes, 512-bit ones down one; the same holds for loads. */
typedef struct core_rate {
    double multiply_adds, loads;
} core_rate;
static const core_rate core_rates[] = {[KW_ISA_AVX2] = {2, 2}, [KW_ISA_AVX512] = {1, 1}};
/* A tile register is multiplied a row of 16 lanes and 16 steps a cycle, and loaded at two rows a cycle. */
static const core_rate amx_rate = {16, 2};

#define CLOCK_GHZ 3.66
#define SHOWS 0.01      /* of the parts that overlap, how much of the shorter ones shows: of two kernels bound alike, fewer loads win */
#define START_NS 100.0  /* a call's fixed part */
#define STAGE_NS 1500.0 /* waking threads and one barrier, when there is more than one thread */
#define GENERIC_NS_PER_FLOP 0.2 /* the compiled-in kernels: portable code, 5 to 25 GFLOP/s where channels are many */

/* Bytes per nanosecond that one thread draws from a working set, by its share of the cache it fits in; how far more threads help. */
static const struct {
    double l2_share, l3_share, rate, most_threads;
} memory_rates[] = {
    {1, 0, 112, 1e9},    /* the core's own second level */
    {0, 0.25, 90, 1e9},  /* well inside the shared cache */
    {0, 0.625, 68, 1.6}, /* most of it */
    {0, 1, 48, 1},       /* all of it */
    {0, 0, 25, 1.1},     /* memory */
};

static double memory_rate(const kw_target *target, double bytes, double threads) {
    size_t level = 0, last = sizeof memory_rates / sizeof *memory_rates - 1;
    while (level < last) {
        double room = memory_rates[level].l2_share * (double)target->l2 * threads + memory_rates[level].l3_share * (double)target->l3;
        if (bytes <= room) {
            break;
        }
        level++;
    }
    return memory_rates[level].rate * fmin(threads, memory_rates[level].most_threads);
}

/* Nanoseconds of what comes back from beyond the first level. */
static double rereads_ns(const kw_target *target, const kw_launch *launch, double threads) {
    double ns = 0;
    for (int i = 0; i < KW_CACHE_REUSE_MAX; i++) {
        if (launch->rereads[i].between > target->l1) {
            ns += launch->rereads[i].bytes / memory_rate(target, (double)launch->rereads[i].between, threads);
        }
    }
    return ns;
}

/* How many threads' worth of work gets done at a time: with 3 units on 2 threads, 1.5. */
static double useful_threads(int64_t threads, const kw_launch *launch) {
    int64_t units = 1;
    for (int stage = 0; stage < launch->stages; stage++) {
        if (!launch->stage[stage].packs) {
            units = kw_max(units, launch->stage[stage].units);
        }
    }
    return (double)units / (double)kw_ceil_div(units, kw_min(threads, units));
}

double kw_predict_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch) {
    if (kw_target_is_gpu(target)) {
        return kw_predict_gpu_ns(config, problem, target, launch);
    }
    int64_t team = kw_team_threads(launch, kw_problem_bytes(problem), target->units);
    double threads = useful_threads(team, launch);
    double start = START_NS + (team > 1 ? STAGE_NS * launch->stages : 0);
    if (config->family->builtin) {
        return start + GENERIC_NS_PER_FLOP * (double)kw_problem_flops(problem) / threads;
    }
    int isa = kw_config_axis(config, "isa", KW_ISA_AVX512) == KW_ISA_AVX2 ? KW_ISA_AVX2 : KW_ISA_AVX512;
    core_rate core = kw_config_axis(config, "math", KW_MATH_FMA) == KW_MATH_AMX ? amx_rate : core_rates[isa];
    double tensors = (double)kw_problem_bytes(problem);
    double multiply_adds = launch->multiply_adds / core.multiply_adds / CLOCK_GHZ / threads;
    double loads = launch->loads / core.loads / CLOCK_GHZ / threads;
    double rate = memory_rate(target, tensors, threads), through = tensors / rate + rereads_ns(target, launch, threads);
    double copies = fmax(0, launch->copied_bytes - 2 * (double)launch->packed_bytes);
    double longest = fmax(fmax(multiply_adds, loads), through), shorter = multiply_adds + loads + through - longest;
    return start + longest + SHOWS * shorter + copies / rate;
}
