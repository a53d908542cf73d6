/* test_estimate.c: the estimate orders work as a roofline does: more work never takes less time, more threads help as far as units go, and
 * what a machine cannot hold in its caches costs more. */

#include "config/arch/isa.h"
#include "predict/predict.h"
#include "support/kw_test.h"

static const kw_axis axes[] = {KW_ISA_AXES, {"vecs", NULL, 1, 8, "vectors of a block"}};
static const kw_family generated = {.name = "test.generated", .axes = axes, .axis_count = KW_ISA_AXIS_COUNT + 1};

static const kw_builtin *compiled_in(const kw_config *config) {
    (void)config;
    return NULL;
}

static const kw_family builtin = {.name = "test.builtin", .builtin = compiled_in};

static const kw_axis tile_axes[] = {
    {"tile_m", NULL, 1, 256, "rows"}, {"tile_n", NULL, 1, 256, "columns"}, {"inst_m", NULL, 1, 64, "rows of an instruction"}};
static const kw_family tiled = {.name = "test.tiled", .kind = KW_KIND_GPU, .axes = tile_axes, .axis_count = 3};

const kw_family *const kw_family_table[] = {&generated, &builtin, &tiled, NULL};

static const kw_target machine = {
    .backend = KW_BACKEND_CPU, .units = 1, .lanes = 16, .registers = 32, .l1 = 32768, .l2 = 1 << 20, .l3 = 32 << 20};

static kw_problem problem_of(int64_t size) {
    kw_problem problem = {.op = KW_GEMM, .dtype = KW_FP32, .layout = KW_RRR};
    problem.gemm = (kw_gemm_dims){.batch = 1, .m = size, .n = size, .k = size};
    return problem;
}

/* A launch that does the multiply-adds of the problem with full vectors. */
static kw_launch launch_of(const kw_problem *problem) {
    kw_launch launch = {.stages = 1};
    launch.stage[0].units = 64;
    launch.multiply_adds = (double)kw_problem_flops(problem) / 32;
    launch.loads = launch.multiply_adds / 2;
    return launch;
}

static double estimate(const kw_family *family, int32_t isa, const kw_problem *problem, const kw_target *target, const kw_launch *launch) {
    kw_config config = {.family = family, .op = problem->op, .dtype = problem->dtype, .axis = {isa}};
    return kw_predict_ns(&config, problem, target, launch);
}

static void more_work_takes_longer(void **state) {
    (void)state;
    double last = 0;
    for (int64_t size = 16; size <= 2048; size *= 2) {
        kw_problem problem = problem_of(size);
        kw_launch launch = launch_of(&problem);
        double plain = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch);
        assert_true(plain > last);
        last = plain;
        kw_launch wasteful = launch;
        wasteful.multiply_adds *= 1.5;
        assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &machine, &wasteful) > plain);
        kw_launch copying = launch;
        copying.copied_bytes = (double)kw_problem_bytes(&problem);
        assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &machine, &copying) > plain);
        kw_launch packing = launch;
        packing.packed_bytes = kw_problem_bytes(&problem);
        packing.copied_bytes = 2 * (double)packing.packed_bytes; /* is done once, not in each call */
        assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &machine, &packing) == plain);
    }
}

static void loads_bind_when_they_are_more_than_the_multiply_adds(void **state) {
    (void)state;
    kw_problem problem = problem_of(256);
    kw_launch launch = launch_of(&problem), heavy = launch;
    double plain = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch);
    heavy.loads = launch.multiply_adds * 0.9;
    double hidden = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &heavy);
    assert_true(hidden > plain && hidden < 1.02 * plain); /* of equals, the one with fewer loads */
    heavy.loads = launch.multiply_adds * 2;
    assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &machine, &heavy) > 1.5 * plain);
}

static void what_is_read_again_costs_what_its_cache_costs(void **state) {
    (void)state;
    kw_problem problem = problem_of(256);
    kw_launch launch = launch_of(&problem);
    double last = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch);
    launch.rereads[1] = (kw_cache_reuse){.bytes = 1e9, .between = machine.l1};
    assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch) == last);
    const int64_t between[] = {machine.l1 + 1, machine.l2 + 1, machine.l3 / 2, machine.l3 + machine.l2 + 1};
    for (size_t i = 0; i < sizeof between / sizeof *between; i++) {
        launch.rereads[1].between = between[i];
        double ns = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch);
        assert_true(ns > 1.05 * last);
        last = ns;
    }
}

static void threads_help_as_far_as_units_go(void **state) {
    (void)state;
    kw_problem problem = problem_of(1024);
    kw_launch launch = launch_of(&problem);
    kw_target four = machine;
    four.units = 4;
    double one = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &launch);
    double all = estimate(&generated, KW_ISA_AVX512, &problem, &four, &launch);
    assert_true(all < one / 3);
    launch.stage[0].units = 5; /* two turns for four threads */
    double uneven = estimate(&generated, KW_ISA_AVX512, &problem, &four, &launch);
    assert_true(uneven > 1.3 * all && uneven < one);
    launch.stage[0].units = 1;
    assert_true(estimate(&generated, KW_ISA_AVX512, &problem, &four, &launch) >= one);
}

static void half_the_lanes_go_through_twice_the_pipes(void **state) {
    (void)state;
    kw_problem problem = problem_of(512);
    kw_launch wide = launch_of(&problem), narrow = wide;
    narrow.multiply_adds *= 2;
    narrow.loads *= 2;
    double a = estimate(&generated, KW_ISA_AVX512, &problem, &machine, &wide);
    double b = estimate(&generated, KW_ISA_AVX2, &problem, &machine, &narrow);
    assert_true(a < 1.05 * b && b < 1.05 * a);
}

static void compiled_in_kernels_come_last(void **state) {
    (void)state;
    for (int64_t size = 16; size <= 1024; size *= 4) {
        kw_problem problem = problem_of(size);
        kw_launch launch = launch_of(&problem);
        assert_true(estimate(&builtin, 0, &problem, &machine, &launch) > estimate(&generated, KW_ISA_AVX2, &problem, &machine, &launch));
    }
}

/* A dot product takes two pairs, so a launch by it has half the instructions; where it runs at half the rate or less, it gains nothing. */
static void the_machines_own_rates_decide(void **state) {
    (void)state;
    kw_problem problem = problem_of(256);
    problem.dtype = KW_BF16;
    kw_launch by_fma = launch_of(&problem), by_dp = by_fma;
    by_dp.multiply_adds /= 2;
    const kw_config fma = {.family = &generated, .op = KW_GEMM, .dtype = KW_BF16, .axis = {KW_ISA_AVX512, KW_MATH_FMA}};
    const kw_config dp = {.family = &generated, .op = KW_GEMM, .dtype = KW_BF16, .axis = {KW_ISA_AVX512, KW_MATH_DP}};
    kw_target measured = machine;
    measured.rates = (kw_rates){.fma512 = 4, .dp512 = 4, .load512 = 4};
    assert_true(kw_predict_ns(&dp, &problem, &measured, &by_dp) < 0.6 * kw_predict_ns(&fma, &problem, &measured, &by_fma));
    measured.rates = (kw_rates){.fma512 = 8, .dp512 = 3.5, .load512 = 8};
    assert_true(kw_predict_ns(&dp, &problem, &measured, &by_dp) > kw_predict_ns(&fma, &problem, &measured, &by_fma));
    /* a slower memory makes what is read again cost more, and nothing else */
    double plain = kw_predict_ns(&fma, &problem, &measured, &by_fma);
    measured.rates.ram = 1;
    assert_true(kw_predict_ns(&fma, &problem, &measured, &by_fma) == plain);
    by_fma.rereads[0] = (kw_cache_reuse){.bytes = 1e8, .between = 2 * machine.l3};
    double slow = kw_predict_ns(&fma, &problem, &measured, &by_fma);
    measured.rates.ram = 10;
    assert_true(kw_predict_ns(&fma, &problem, &measured, &by_fma) < 0.2 * slow);
}

/* Only tile registers mind, only beyond two vectors, and only where weights do not stay in the second-level cache. */
static void rows_that_lie_apart_stream_slowly(void **state) {
    (void)state;
    static const struct {
        int32_t math, vecs;
        bool many, slow;
    } cases[] = {{KW_MATH_AMX, 4, true, true}, {KW_MATH_AMX, 2, true, false}, {KW_MATH_AMX, 4, false, false}, {KW_MATH_DP, 4, true, false}};
    kw_problem problem = problem_of(4096);
    problem.dtype = KW_BF16;
    problem.gemm.m = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_launch launch = launch_of(&problem);
        launch.multiply_adds = launch.loads = 1;
        kw_config config = {.family = &generated, .op = KW_GEMM, .dtype = KW_BF16, .axis = {KW_ISA_AVX512, cases[i].math, cases[i].vecs}};
        double without = kw_predict_ns(&config, &problem, &machine, &launch);
        launch.packed_bytes = cases[i].many ? 2 * machine.l2 : machine.l2;
        double with = kw_predict_ns(&config, &problem, &machine, &launch);
        assert_true(cases[i].slow ? with > without : with == without);
    }
}

/* Of a GPU's tiles: lanes' copies cost, the more the shorter they are, and more again through registers; a round that is not full costs as much
 * as a full one; instructions of 64 rows do twice the work of others. */
static void what_brings_a_tile_counts(void **state) {
    (void)state;
    const kw_target device = {.backend = KW_BACKEND_CUDA, .units = 132, .lanes = 32, .clock = 1980, .bandwidth = 4814};
    kw_problem problem = problem_of(4096);
    problem.dtype = KW_BF16;
    kw_config group = {.family = &tiled, .op = KW_GEMM, .dtype = KW_BF16, .axis = {128, 128, 64}}, wave = group;
    wave.axis[2] = 16;
    kw_launch bulk = {.stages = 1, .stage = {{132, false, 384}}, .products = 4096.0 * 4096 * 4096, .tiles = 1024};
    kw_launch wide = bulk, narrow, stored, round = bulk;
    wide.lane_copies = 2 * 1024.0 * 128 * 4096 / 8;
    narrow = stored = wide;
    narrow.lane_copies *= 8;
    stored.by_registers = true;
    round.tiles = 1056;
    double ns = kw_predict_ns(&group, &problem, &device, &bulk);
    assert_true(kw_predict_ns(&group, &problem, &device, &wide) > 1.2 * ns);
    assert_true(kw_predict_ns(&group, &problem, &device, &narrow) > 2 * kw_predict_ns(&group, &problem, &device, &wide));
    assert_true(kw_predict_ns(&group, &problem, &device, &stored) > 1.2 * kw_predict_ns(&group, &problem, &device, &wide));
    assert_true(kw_predict_ns(&wave, &problem, &device, &bulk) > 1.5 * ns);
    assert_true(kw_predict_ns(&group, &problem, &device, &round) < 1.01 * ns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_work_takes_longer),          cmocka_unit_test(loads_bind_when_they_are_more_than_the_multiply_adds),
        cmocka_unit_test(threads_help_as_far_as_units_go), cmocka_unit_test(half_the_lanes_go_through_twice_the_pipes),
        cmocka_unit_test(compiled_in_kernels_come_last),   cmocka_unit_test(what_is_read_again_costs_what_its_cache_costs),
        cmocka_unit_test(the_machines_own_rates_decide),   cmocka_unit_test(rows_that_lie_apart_stream_slowly),
        cmocka_unit_test(what_brings_a_tile_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
