/* estimate_gpu.c: the analytic estimate for GPUs, a roofline over the work that a family counts.
 *
 *   tiles of matrix products   starting + what each tile costs + lanes' copies + the longest of products, operands and memory, and SHOWS of the others
 *   few rows or columns        starting + the longest of products, reading by lanes and memory
 *   other matrix instructions  starting + the longest of products and memory + lanes' accesses, or all of it where nothing overlaps
 *   plain lanes                starting + the longest of instructions, loads and memory, and most of the others
 *
 * A block computes a tile of the result, padding included, and reads its rows and columns once, from the second-level cache; a
 * multiprocessor has its share of the tiles in whole rounds. Rates are per cycle of one multiprocessor, the same for all vendors: order
 * is asked for, not time. They were fitted to 21,062 kernels on 948 problems that an H200 timed (docs/results/2026-11-23/choice.md). */
#include "predict/estimate.h"

#include "base/math.h"
#include "problem/view.h"

#include <math.h>

/* Floating-point operations a cycle: of the matrix units by bytes of an element, of instructions of a wave; those of 64 rows do twice as
 * many. */
#define MATRIX_FLOPS_1 4096.0
#define MATRIX_FLOPS_2 2048.0
#define MATRIX_FLOPS_4 150.0
#define GROUP_FLOPS 2.0
#define WAVE_FLOPS_TF32 300.0 /* fp32 as tf32 */
#define GROUP_FLOPS_TF32 1500.0

/* Tiles. */
#define SHOWS 0.5          /* of the parts that overlap, how much of the shorter ones shows */
#define COPIED_BYTES 96.0  /* a cycle, from the second-level cache into shared memory */
#define STORED_BYTES 22.0  /* where they pass registers, which products wait for */
#define LANE_COPIES 4.0    /* a cycle: lanes work out where each one's bytes lie */
#define TILE_CYCLES 1200.0 /* a tile's beginning and end */
#define RESULT_CYCLES 0.25 /* a result, from the registers of waves through shared memory to the tensor */
#define GROUP_RESULT_CYCLES 0.05
#define DEPTH_CYCLES 1.5 /* a step of one element in depth: what no other tile hides */

/* Others. */
#define CACHE_BYTES 48.0    /* a cycle, from the second-level cache */
#define LANE_BYTES 23.0     /* where lanes read operands into registers */
#define GATHER_FLOPS 390.0  /* of waves that gather operands one by one from shared memory, pixels of few channels */
#define GATHER_ACCESSES 1.0 /* a cycle, of lanes that fetch such pixels and store results */
#define WAVE_FLOPS 600.0    /* of waves that read their operands from shared memory between any two instructions */
#define INSTRUCTIONS 1.0    /* of plain lanes: of a wave */
#define LOADS 0.08          /* of a wave */
#define PLAIN_FLOPS 4.0     /* of lanes that load both factors of each product */
#define WIDE_INDEX 1.05     /* times the cycles where addresses have 64 bits, two instructions for one */

#define START_NS 2400.0       /* a launch */
#define LANES_START_NS 1200.0 /* of a kernel that makes no barriers and fetches no maps before its first load */
#define WAVES_START_NS 5500.0 /* of one whose waves have no ring of tiles: a block loads, waits, multiplies and stores */
#define STAGE_NS 1700.0       /* each further one */
#define WAVES_STAGE_NS 3000.0 /* behind such blocks, which all end together */
#define TURN_NS 2000.0        /* each one that turns a tensor */
#define MEETING_NS 1000.0     /* where blocks of a cluster add up a tile's parts */

/* Of products with few rows on one side (axis `few`): 0 its rows are the result's, 1 its columns; -1: not such a kernel. */
static int few_side(const kw_config *config) {
    return kw_config_axis(config, "few", -1);
}

static double width_of(const kw_problem *problem) {
    return (double)kw_dtype_size(problem->dtype);
}

static double matrix_rate(const kw_config *config, const kw_problem *problem) {
    enum { GROUP_ROWS = 64 };
    size_t width = kw_dtype_size(problem->dtype);
    bool group = kw_config_axis(config, "inst_m", 0) == GROUP_ROWS;
    if (width == 4 && problem->fpmath == KW_FPMATH_TF32) {
        return group ? GROUP_FLOPS_TF32 : WAVE_FLOPS_TF32;
    }
    if (width == 4) {
        return MATRIX_FLOPS_4;
    }
    return (width == 1 ? MATRIX_FLOPS_1 : MATRIX_FLOPS_2) * (group ? GROUP_FLOPS : 1);
}

/* The share of the multiprocessors that has work, on average over the rounds. */
static double useful_share(double blocks, double units) {
    return blocks / (ceil(blocks / units) * units);
}

static double blocks_of(const kw_launch *launch) {
    int64_t blocks = 1;
    for (int stage = 0; stage < launch->stages; stage++) {
        if (!launch->stage[stage].packs && !launch->turning.stage[stage].images) {
            blocks = kw_max(blocks, launch->stage[stage].units);
        }
    }
    return (double)blocks;
}

static bool has_clusters(const kw_launch *launch) {
    bool clusters = false;
    for (int stage = 0; stage < launch->stages; stage++) {
        clusters |= launch->cluster[stage] > 1;
    }
    return clusters;
}

static int count_turns(const kw_launch *launch) {
    int turns = 0;
    for (int stage = 0; stage < launch->stages; stage++) {
        turns += launch->turning.stage[stage].images > 0;
    }
    return turns;
}

/* The parts of an estimate in cycles of all multiprocessors, but for memory's. */
typedef struct work {
    double products, operands, lanes, tiles; /* lanes: accesses that nothing hides */
    double start_ns, stage_ns, shows;
} work;

static work work_of_tiles(const kw_config *config, const kw_problem *problem, const kw_launch *launch) {
    enum { GROUP_ROWS = 64 };
    double m = kw_config_axis(config, "tile_m", 1), n = kw_config_axis(config, "tile_n", 1), depth = launch->products / (m * n);
    double drawn = launch->drawn_bytes > 0 ? launch->drawn_bytes : (m + n) * depth * width_of(problem);
    double result = kw_config_axis(config, "inst_m", 0) == GROUP_ROWS ? GROUP_RESULT_CYCLES : RESULT_CYCLES;
    return (work){
        .products = 2 * launch->products / matrix_rate(config, problem),
        .operands = drawn / (launch->by_registers ? STORED_BYTES : COPIED_BYTES),
        .lanes = launch->lane_copies / LANE_COPIES,
        .tiles = launch->tiles * (TILE_CYCLES + result * m * n) + DEPTH_CYCLES * depth,
        .start_ns = START_NS,
        .stage_ns = STAGE_NS,
        .shows = SHOWS,
    };
}

/* What lanes read for tiles of so many rows on either side. The waves of a block take whole steps of the depth. The nearest cache holds
 * the few, where a reading costs about half, and four times that where lanes read it element by element. */
static work work_of_few(const kw_config *config, const kw_problem *problem) {
    enum { RUN_DEPTH = 32 };
    const kw_gemm_view view = kw_problem_view(problem);
    int few = few_side(config);
    int64_t m = kw_config_axis(config, "tile_m", 1), n = kw_config_axis(config, "tile_n", 1);
    int64_t step = kw_config_axis(config, "waves", 1) * kw_config_axis(config, "ahead", 1) * RUN_DEPTH;
    bool elements = problem->layout == (few ? KW_RRR : KW_CCR);
    double lines = (double)(few ? m : n) + (double)(few ? n : m) * (elements ? 2 : 0.5);
    double blocks = (double)kw_ceil_div(kw_max(1, view.gm), m) * (double)kw_ceil_div(kw_max(1, view.gn), n) * (double)kw_max(1, view.batch);
    return (work){
        .products = 2 * blocks * (double)m * (double)n * (double)kw_max(1, view.gk) / matrix_rate(config, problem),
        .operands = blocks * lines * width_of(problem) * (double)(kw_ceil_div(kw_max(1, view.gk), step) * step) / LANE_BYTES,
        .start_ns = LANES_START_NS,
    };
}

static work work_of_waves(const kw_config *config, const kw_problem *problem, const kw_launch *launch) {
    work w = {.start_ns = START_NS, .stage_ns = WAVES_STAGE_NS};
    if (launch->lane_copies > 0) {
        w.products = 2 * launch->products / GATHER_FLOPS;
        w.lanes = launch->lane_copies / GATHER_ACCESSES;
    } else if (launch->products > 0) {
        w.products = 2 * launch->products / WAVE_FLOPS;
        w.start_ns = WAVES_START_NS;
        w.shows = 1;
    } else if (launch->multiply_adds > 0 && !config->family->is_reference) {
        w.products = launch->multiply_adds / INSTRUCTIONS;
        w.operands = launch->loads / LOADS;
        w.shows = SHOWS;
    } else {
        w.products = (double)kw_problem_flops(problem) / PLAIN_FLOPS;
        w.start_ns = WAVES_START_NS;
    }
    return w;
}

/* alone: with whatever share of the multiprocessors has work; else others have the rest. */
static kw_estimate estimate(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                            const kw_launch *launch, bool alone) {
    bool tiled = launch->tiles > 0, few = !tiled && few_side(config) >= 0;
    const work w = tiled ? work_of_tiles(config, problem, launch)
                   : few ? work_of_few(config, problem)
                         : work_of_waves(config, problem, launch);
    double units = (double)kw_max(1, target->units), blocks = tiled ? launch->tiles : blocks_of(launch);
    double cycles_a_ns = (double)kw_max(100, target->clock) / 1000 * units * (alone ? useful_share(blocks, units) : 1);
    double wide = kw_config_axis(config, "index", 32) == 64 ? WIDE_INDEX : 1;
    double bandwidth = (double)kw_max(1, target->bandwidth), workspace = (double)(launch->shared_bytes - launch->turning.copies_bytes);
    int turns = count_turns(launch), own = launch->stages - turns;
    kw_estimate e = {
        .multiply_adds = wide * w.products / cycles_a_ns,
        .loads = wide * w.operands / cycles_a_ns,
        .tensors = (bytes + 2 * workspace) / bandwidth,
        .rereads = w.lanes / cycles_a_ns,
        /* Turning is done before and after all else, and is the same for all kernels. */
        .copies = turns * TURN_NS + 2 * (double)launch->turning.copies_bytes / bandwidth,
        .start = (alone ? w.start_ns : 0) + (has_clusters(launch) ? MEETING_NS : 0) + w.stage_ns * (double)kw_max(0, own - 1) +
                 w.tiles / cycles_a_ns,
    };
    double longest = fmax(fmax(e.multiply_adds, e.loads), e.tensors), others = e.multiply_adds + e.loads + e.tensors - longest;
    e.ns = e.start + e.rereads + longest + w.shows * others + e.copies;
    return e;
}

kw_estimate kw_estimate_gpu(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                            const kw_launch *launch) {
    return estimate(config, problem, bytes, target, launch, true);
}

kw_joined_estimate kw_predict_joined(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch) {
    kw_estimate e = estimate(config, problem, (double)kw_problem_bytes(problem), target, launch, false);
    double tiles = e.start + e.rereads + fmax(e.multiply_adds, e.loads) + SHOWS * fmin(e.multiply_adds, e.loads);
    return (kw_joined_estimate){
        .ns = e.ns, .tile_ns = tiles * (double)kw_max(1, target->units) / fmax(1, launch->tiles), .start_ns = START_NS};
}
