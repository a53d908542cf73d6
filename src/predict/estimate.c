/* estimate.c: the analytic estimate of CPU kernels, a roofline over what the family says it will do (kw_launch).
 *
 *   time = max(multiply-adds, loads, tensors and what is read again through caches) + copies + starting
 *
 * The first three overlap in an out-of-order core, though not wholly, but for what the family says begins later; copies come before the work that
 * needs them. Packing of weights is
 * left out: weights that stay the same are packed once. Work is divided by the threads that get any, at the pace of the thread with most
 * units. What a core gets done in a nanosecond are the target's rates (problem/target/rates.h), measured or by default. */
#include "predict/estimate.h"

#include "base/math.h"
#include "config/arch/isa.h"
#include "config/launch/team.h"

#include <math.h>

#define SHOWS 0.01      /* of the parts that overlap, how much of the shorter ones shows: of two kernels bound alike, fewer loads win */
#define START_NS 100.0  /* a call's fixed part */
#define STAGE_NS 1500.0 /* waking threads and one barrier, when there is more than one thread */
#define GENERIC_SHARE (1.0 / 23) /* the compiled-in kernels: portable code, of the rate of 8 lanes' multiply-adds where channels are many */

/* Tile registers take their weights a row of 64 bytes at a time, and rows of one tile lie as many vectors apart as a block is wide. Beyond two
 * that costs so much of the time again where weights are more than a core's second-level cache: 1.4 on one thread, 1.6 on eight (gemm.tiled,
 * vecs=4 against 2, seven products of few rows on a Xeon of 2023). */
#define ROWS_APART 0.4

/* Instructions a nanosecond of one core. */
typedef struct core_rate {
    double multiply_adds, loads;
} core_rate;

static core_rate core_rate_of(const kw_config *config, const kw_rates *rates) {
    int32_t isa = kw_config_axis(config, "isa", KW_ISA_AVX512), math = kw_config_axis(config, "math", KW_MATH_FMA);
    double loads = isa == KW_ISA_AVX512 ? rates->load512 : rates->load256;
    return (core_rate){kw_multiply_rate(math, isa, config->dtype, rates), math == KW_MATH_AMX ? rates->tile_load : loads};
}

/* Bytes per nanosecond that one thread draws from a working set, by its share of the cache it fits in; how far more threads help. */
typedef struct memory_level {
    double l2_share, l3_share, rate, most_threads;
} memory_level;

/* What the threads share helps as far as all of them together draw more from memory than one does. */
static double memory_rate(const kw_target *target, const kw_rates *rates, double bytes, double threads) {
    double together = fmax(1, rates->ram_all / rates->ram);
    const memory_level levels[] = {
        {1, 0, rates->l2, threads},                                                            /* the core's own second level */
        {0, 0.25, rates->l3, threads},                                                         /* well inside the shared cache */
        {0, 0.625, sqrt(rates->l3 * rates->l3_full), fmin(threads, sqrt(threads * together))}, /* most of it */
        {0, 1, rates->l3_full, fmin(threads, together)},                                       /* all of it */
        {0, 0, rates->ram, fmin(threads, together)},                                           /* memory */
    };
    size_t level = 0, last = sizeof levels / sizeof *levels - 1;
    while (level < last && bytes > levels[level].l2_share * (double)target->l2 * threads + levels[level].l3_share * (double)target->l3) {
        level++;
    }
    return levels[level].rate * levels[level].most_threads;
}

/* Nanoseconds of what comes back from beyond the first level. */
static double rereads_ns(const kw_target *target, const kw_rates *rates, const kw_launch *launch, double threads) {
    double ns = 0;
    for (int i = 0; i < KW_CACHE_REUSE_MAX; i++) {
        if (launch->rereads[i].between > target->l1) {
            ns += launch->rereads[i].bytes / memory_rate(target, rates, (double)launch->rereads[i].between, threads);
        }
    }
    return ns;
}

static double rows_apart_ns(const kw_config *config, const kw_target *target, const kw_launch *launch, double rate) {
    double weights = (double)launch->packed_bytes;
    bool apart =
        weights > (double)target->l2 && kw_config_axis(config, "math", KW_MATH_FMA) == KW_MATH_AMX && kw_config_axis(config, "vecs", 1) > 2;
    return apart ? ROWS_APART * weights / rate : 0;
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

kw_estimate kw_estimate_cpu(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                            const kw_launch *launch) {
    const kw_rates rates = kw_rates_whole(&target->rates);
    int64_t team = kw_team_threads(launch, (int64_t)bytes, target->units);
    double threads = useful_threads(team, launch);
    kw_estimate e = {.start = START_NS + (team > 1 ? STAGE_NS * launch->stages : 0)};
    if (config->family->builtin) {
        e.multiply_adds = (double)kw_problem_flops(problem) / (16 * rates.fma256 * GENERIC_SHARE) / threads;
        e.ns = e.start + e.multiply_adds;
        return e;
    }
    core_rate core = core_rate_of(config, &rates);
    double rate = memory_rate(target, &rates, bytes, threads);
    e.multiply_adds = launch->multiply_adds / core.multiply_adds / threads;
    e.loads = launch->loads / core.loads / threads;
    e.tensors = bytes / rate + rows_apart_ns(config, target, launch, rate);
    e.rereads = rereads_ns(target, &rates, launch, threads);
    e.copies = fmax(0, launch->copied_bytes - 2 * (double)launch->packed_bytes) / rate;
    double through = e.tensors + e.rereads, work = fmax(e.multiply_adds, e.loads), later = launch->later * work;
    double longest = fmax(work - later, through);
    e.ns = e.start + longest + later + SHOWS * (e.multiply_adds + e.loads + through - longest - later) + e.copies;
    return e;
}

kw_estimate kw_estimate_of(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                           const kw_launch *launch) {
    return (kw_target_is_gpu(target) ? kw_estimate_gpu : kw_estimate_cpu)(config, problem, bytes, target, launch);
}

double kw_predict_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch) {
    return kw_estimate_of(config, problem, (double)kw_problem_bytes(problem), target, launch).ns;
}
