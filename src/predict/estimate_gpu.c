/* estimate_gpu.c: the analytic estimate for GPUs, a roofline over tiles:
 *
 * time = starting + max(products, shared inputs, tensors and workspace through memory)
 *
 * A block computes a tile of the result, padding included, and reads its rows and columns once, from the second-level cache; a
 * multiprocessor has its share of the blocks in whole rounds. Rates are per cycle of one multiprocessor, the same for all vendors: order
 * is asked for, not time. Kernels without such tiles say how many products they multiply, or compute an element a thread. */
#include "predict/estimate.h"

#include "base/math.h"
#include "problem/view.h"

#include <math.h>

/* Floating-point operations a cycle: of the matrix units by bytes of an element, of plain lanes. */
#define MATRIX_FLOPS_1 4096.0
#define MATRIX_FLOPS_2 2048.0
#define MATRIX_FLOPS_4 256.0
#define MATRIX_FLOPS_TF32 1024.0 /* fp32 as tf32 by instructions of 64 rows; smaller ones were seen to do a fifth of that */
#define PLAIN_FLOPS 32.0
#define CACHE_BYTES 48.0       /* a cycle, from the second-level cache */
#define LANE_BYTES 23.0        /* where lanes read operands into registers instead */
#define GATHERED_ELEMENTS 64.0 /* where they gather operands one by one, which nothing else hides */
#define GATHERED_SHOWS 0.25    /* and of such products this share */
#define WIDE_INDEX 1.05        /* times the cycles where addresses have 64 bits, two instructions for one */
#define START_NS 3000.0        /* a launch */
#define LANES_START_NS 1200.0  /* of a kernel that makes no barriers and fetches no maps before its first load */
#define STAGE_NS 2000.0        /* each further one */
#define MEETING_NS 1000.0      /* where blocks of a cluster add up a tile's parts */

typedef struct tiles {
    double blocks, products, bytes; /* of the whole result; bytes that blocks read */
} tiles;

/* Of products with few rows on one side (axis `few`): 0 its rows are the result's, 1 its columns; -1: not such a kernel. */
static int few_side(const kw_config *config) {
    return kw_config_axis(config, "few", -1);
}

/* Bytes that lanes read for a tile of so many rows on either side. The waves of a block take whole steps of the depth. The nearest cache holds
 * the few, where a reading costs about half, and four times that where lanes read it element by element. */
static double lane_bytes(const kw_config *config, const kw_problem *problem, double m, double n, int64_t depth) {
    enum { RUN_DEPTH = 32 };
    int few = few_side(config);
    int64_t step = kw_config_axis(config, "waves", 1) * kw_config_axis(config, "ahead", 1) * RUN_DEPTH;
    bool elements = problem->layout == (few ? KW_RRR : KW_CCR);
    double lines = (few ? m : n) + (few ? n : m) * (elements ? 2 : 0.5);
    return lines * (double)kw_dtype_size(problem->dtype) * (double)(kw_ceil_div(depth, step) * step);
}

static tiles count_tiles(const kw_config *config, const kw_problem *problem) {
    const kw_gemm_view view = kw_problem_view(problem);
    int64_t m = kw_config_axis(config, "tile_m", 0), n = kw_config_axis(config, "tile_n", 0);
    double depth = (double)kw_max(1, view.gk), width = (double)kw_dtype_size(problem->dtype);
    if (m < 1 || n < 1) {
        return (tiles){0};
    }
    int64_t merged = kw_max(1, kw_config_axis(config, "merge", 1)); /* groups whose columns stand side by side */
    double across = (double)kw_ceil_div(view.gn * merged, n) * (double)kw_ceil_div(kw_max(1, view.batch), merged);
    double blocks = (double)kw_ceil_div(kw_max(1, view.gm), m) * across * (double)kw_max(1, view.phases);
    double bytes = few_side(config) < 0 ? (double)(m + n) * depth * width : lane_bytes(config, problem, (double)m, (double)n, view.gk);
    return (tiles){blocks, blocks * (double)m * (double)n * depth, blocks * bytes};
}

static double matrix_rate(const kw_config *config, const kw_problem *problem) {
    enum { GROUP_ROWS = 64 };
    size_t width = kw_dtype_size(problem->dtype);
    bool tf32 = problem->fpmath == KW_FPMATH_TF32 && kw_config_axis(config, "inst_m", 0) == GROUP_ROWS;
    return width == 1 ? MATRIX_FLOPS_1 : width == 2 ? MATRIX_FLOPS_2 : tf32 ? MATRIX_FLOPS_TF32 : MATRIX_FLOPS_4;
}

/* The share of the multiprocessors that has work, on average over the rounds. */
static double useful_share(const kw_launch *launch, int64_t units) {
    int64_t blocks = 1;
    for (int stage = 0; stage < launch->stages; stage++) {
        if (!launch->stage[stage].packs && !launch->turning.stage[stage].images) {
            blocks = kw_max(blocks, launch->stage[stage].units);
        }
    }
    return (double)blocks / ((double)kw_ceil_div(blocks, units) * (double)units);
}

static bool has_clusters(const kw_launch *launch) {
    bool clusters = false;
    for (int stage = 0; stage < launch->stages; stage++) {
        clusters |= launch->cluster[stage] > 1;
    }
    return clusters;
}

static int64_t count_turns(const kw_launch *launch) {
    int64_t turns = 0;
    for (int stage = 0; stage < launch->stages; stage++) {
        turns += launch->turning.stage[stage].images > 0;
    }
    return turns;
}

double kw_predict_gpu_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch) {
    const tiles work = count_tiles(config, problem);
    int64_t units = kw_max(1, target->units);
    double cycles_a_ns = (double)kw_max(100, target->clock) / 1000 * (double)units * useful_share(launch, units);
    bool matrices = work.blocks > 0 || launch->products > 0, lanes = few_side(config) >= 0;
    double flops = matrices ? 2 * fmax(work.products, launch->products) : (double)kw_problem_flops(problem);
    double products = flops / (matrices ? matrix_rate(config, problem) : PLAIN_FLOPS) / cycles_a_ns;
    double shared = work.bytes / (lanes ? LANE_BYTES : CACHE_BYTES) / cycles_a_ns;
    double wide = kw_config_axis(config, "index", 32) == 64 ? WIDE_INDEX : 1;
    double bandwidth = (double)kw_max(1, target->bandwidth), workspace = (double)(launch->shared_bytes - launch->turning.copies_bytes);
    double moved = ((double)kw_problem_bytes(problem) + 2 * workspace) / bandwidth;
    int64_t turns = count_turns(launch), own = launch->stages - turns;
    /* Turning is done before and after all else, and is the same for all kernels. */
    double turning = (double)turns * STAGE_NS + 2 * (double)launch->turning.copies_bytes / bandwidth;
    double meeting = has_clusters(launch) ? MEETING_NS : 0, gathering = 0;
    if (launch->products > 0) {
        gathering = GATHERED_SHOWS * products + launch->gathered / GATHERED_ELEMENTS / cycles_a_ns;
    }
    return (lanes ? LANES_START_NS : START_NS) + meeting + gathering + STAGE_NS * (double)kw_max(0, own - 1) +
           fmax(wide * fmax(products, shared), moved) + turning;
}
