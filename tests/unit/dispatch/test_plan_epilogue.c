/* test_plan_epilogue.c: plans of problems with an epilogue or with gaps between lines, through the public API: each has an answer whatever kernels there are, its
 * result is that of the steps one by one, in place where the header allows it, and what is missing is told. */
#include "problem/epilogue/epilogue.h"
#include "problem/groups/groups.h"
#include "problem/tensors/pitch.h"
#include "problem/reference.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <math.h>

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
} world;

static void open_context(world *w, const char *device) {
    char cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX];
    kw_error err = {0};
    scratch_path(cache, w->folder, "cache");
    scratch_path(data, w->folder, "data");
    assert_ok(kw_context_open(&w->context, device,
                              &(kw_context_options){.size = sizeof(kw_context_options), .threads = 2, .cache_dir = cache, .data_dir = data},
                              &err),
              &err);
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    scratch_make(w->folder);
    open_context(w, "cpu");
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    kw_context_close(&w->context);
    scratch_remove(w->folder);
    free(w);
    return 0;
}

static void *take(int64_t bytes) {
    void *memory = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
    assert_non_null(memory);
    return memset(memory, 0xff, (size_t)(bytes + 64) / 64 * 64);
}

/* Small whole numbers; halves of them where they multiply. */
static void fill(kw_dtype dtype, void *memory, int64_t count, uint32_t seed) {
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525 + 1013904223;
        int value = (int)(seed >> 29) - 3;
        kw_dtype_store(dtype, memory, i, value ? value : 1);
    }
}

typedef struct run {
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
    kw_extra extras[KW_EXTRA_MAX];
    int count;
} run;

static run open_run(const world *w, const char *text, kw_mode mode) {
    run r = {.tensors = {.size = sizeof(kw_tensors)}};
    kw_error err = {0};
    assert_ok(kw_problem_parse(&r.problem, text, &err), &err);
    assert_ok(kw_plan_create(&r.plan, w->context, &r.problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = mode}, &err),
              &err);
    void **place[KW_TENSOR_COUNT] = {&r.tensors.x, &r.tensors.w, &r.tensors.y};
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_dtype dtype = kw_problem_dtype(&r.problem, (kw_tensor)t);
        int64_t count = kw_problem_elements(&r.problem, (kw_tensor)t);
        *place[t] = take(count * (int64_t)kw_dtype_size(dtype));
        if (t != (int)kw_problem_result(&r.problem)) {
            fill(dtype, *place[t], count, (uint32_t)t + 1);
        }
    }
    r.count = kw_problem_extras(r.extras, &r.problem);
    for (int i = 0; i < r.count; i++) {
        void *memory = take(r.extras[i].elements * (int64_t)kw_dtype_size(r.extras[i].dtype));
        fill(r.extras[i].dtype, memory, r.extras[i].elements, (uint32_t)(100 + i));
        r.tensors.extra[i] = memory;
    }
    r.tensors.workspace = take(kw_plan_workspace(r.plan));
    return r;
}

static void close_run(run *r) {
    kw_plan_destroy(&r->plan);
    free(r->tensors.x);
    free(r->tensors.w);
    free(r->tensors.y);
    free(r->tensors.workspace);
    for (int i = 0; i < r->count; i++) {
        free((void *)(uintptr_t)r->tensors.extra[i]);
    }
}

static void *result_of(const run *r) {
    kw_tensor result = kw_problem_result(&r->problem);
    return result == KW_X ? r->tensors.x : result == KW_W ? r->tensors.w : r->tensors.y;
}

/* The gradient of the bias: sums of y. */
static void compare_bias(const run *r, const char *what) {
    int64_t extent[KW_AXES_MAX], stride[KW_AXES_MAX];
    kw_problem_axes(extent, stride, &r->problem, KW_Y);
    for (int64_t c = 0; c < extent[1]; c++) {
        double expected = 0, magnitude = 0, got = kw_dtype_load(r->extras[0].dtype, r->tensors.extra[0], c);
        for (int64_t n = 0; n < extent[0]; n++) {
            for (int64_t i = 0; i < extent[2] * extent[3]; i++) {
                int64_t at = n * stride[0] + c * stride[1] + i / extent[3] * stride[2] + i % extent[3] * stride[3];
                double value = kw_dtype_load(r->problem.dtype, r->tensors.y, at);
                expected += value;
                magnitude += fabs(value);
            }
        }
        if (!(fabs(got - expected) <= 1e-5 * magnitude + (r->extras[0].dtype == KW_BF16 ? 0.005 * fabs(expected) : 0))) {
            fail_msg("%s by %s: the gradient of the bias, channel %lld, is %g, expected %g", what, kw_plan_config(r->plan), (long long)c,
                     got, expected);
        }
    }
}

/* extras: what they held when the run began. */
static void compare(const run *r, const void *const extras[KW_EXTRA_MAX], const char *what) {
    const void *const all[KW_TENSOR_COUNT] = {r->tensors.x, r->tensors.w, r->tensors.y};
    kw_dtype dtype = kw_problem_dtype(&r->problem, kw_problem_result(&r->problem));
    int64_t count = kw_problem_elements(&r->problem, kw_problem_result(&r->problem));
    char rounded[8];
    for (int64_t i = 0; i < count; i++) {
        if (kw_problem_index(&r->problem, kw_problem_result(&r->problem), i) < 0) {
            assert_true(!memcmp((const char *)result_of(r) + (size_t)i * kw_dtype_size(dtype), "\xff\xff\xff\xff", kw_dtype_size(dtype)));
            continue; /* a gap, which stays as it was */
        }
        kw_epilogue_value v = {.value = kw_reference_at(&r->problem, all, kw_zeros_of(&r->problem, extras, i), i, NULL, NULL)};
        kw_epilogue_apply(&v, &r->problem, extras, i);
        kw_dtype_store(dtype, rounded, 0, v.value);
        double expected = kw_dtype_load(dtype, rounded, 0), got = kw_dtype_load(dtype, result_of(r), i);
        double ulp = dtype == KW_INT8 || dtype == KW_UINT8 ? 1
                                                           : fabs(expected) * (dtype == KW_FP32   ? 1e-5
                                                                               : dtype == KW_FP16 ? 1e-3
                                                                                                  : 1e-2);
        if (!(fabs(got - expected) <= (v.bound == 0 ? 0 : v.bound + ulp))) {
            fail_msg("%s by %s: element %lld is %g, expected %g", what, kw_plan_config(r->plan), (long long)i, got, expected);
        }
    }
    if (kw_epilogue_bias_gradient(&r->problem.epilogue)) {
        compare_bias(r, what);
    }
}

static const char *const problems[] = {
    "gemm fp32 m19 n23 k29 epilogue=bias+relu",
    "gemm bf16 b2 m19 n23 k29 out=fp32 epilogue=scale:fp32+add:bf16:0.5+gelu",
    "gemm int8 m19 n23 k29 out=int8 epilogue=scale_channel+bias+clamp:-90:100",
    "gemm fp16 crr m19 n23 k29 epilogue=scale_row+silu+multiply",
    "gemm fp32 rcr b3 m19 n23 k29 lda31 ldb40 ldc30 stridea0",
    "gemm bf16 crr b3 m19 n23 k29 lda31 ldb40 ldc70 stridec23 epilogue=bias+add+relu",
    "gemm int8 rrr b3 m19 n23 k29 lda31 strideb0 ldc30 out=int8 epilogue=scale_row+add",
    "gemm int8 crr b2 m19 n23 k29 x=uint8 lda31 epilogue=zero_x:uint8",
    "gemm int8 m19 n23 k29 out=int8 epilogue=zero_x+scale_channel+bias+zero_y:int8",
    "conv_fwd int8 n2 c6 k8 i9x7 f3x3 p1x1 x=uint8 out=uint8 epilogue=zero_x:uint8+bias+zero_y",
    "conv_fwd int8 nchw n2 g2 c6 k8 i9x7 f3x3 p2x1 epilogue=zero_x:int8",
    "gemm int8 m19 n23 k29 epilogue=zero_w",
    "gemm int8 crr b2 m19 n23 k29 x=uint8 lda31 out=uint8 epilogue=zero_x:uint8+zero_w_channel:int8+scale_channel+zero_y",
    "conv_fwd int8 n2 g2 c6 k8 i9x7 f3x3 s2 p1 x=uint8 epilogue=zero_x:uint8+zero_w_channel",
    "conv_fwd int8 n2 c6 k8 i9x7 f3x3 p1x1 filter=kcrs out=int8 epilogue=zero_w:int8+scale",
    "conv_fwd int8 nchw n2 g6 c6 k6 i9x7 f3x3 p1x1 ldxh8 epilogue=zero_w_channel:uint8",
    "conv_fwd fp32 n2 g2 c6 k8 i9x7 f3x3 p1x1 epilogue=bias+add+relu",
    "conv_fwd fp32 n2 c6 k8 i9x7 f3x3 p1x1 ldxw11 ldyw13 ldyh101 ldyn1000",
    "conv_fwd bf16 n2 g2 c6 k8 i9x7 f3x3 s2x2 p1x1 ldxw8 ldxh70 ldyw9 epilogue=bias+add+relu",
    "conv_bwd_data fp32 n2 g6 c6 k12 i9x7 f3x3 s2x2 p1x1 ldxw7 ldyh99 epilogue=scale_row+add",
    "conv_bwd_data bf16 nchw n2 c6 k8 i9x7 f3x3 p1x1 ldxc72 ldxh8 ldyn700",
    "conv_bwd_weight fp32 nchw n2 c6 k8 i9x7 f3x3 p1x1 ldxn500 ldyh8",
    "conv_bwd_weight fp32 n2 c6 k19 i9x7 f3x3 p1x1 epilogue=bias_gradient",
    "conv_bwd_weight bf16 nchw n2 g2 c6 k8 i9x7 f3x3 p1x1 epilogue=bias_gradient:bf16+add:fp32",
    "conv_bwd_weight fp16 ndhwc n2 g6 c6 k6 i3x5x4 f3x3x3 p1x1x1 ldxw7 ldxd200 ldyn999",
    "conv_fwd int8 n3 c8 k8 i5x5 f1x1 ldxn8 ldxw24 out=int8 epilogue=scale_channel",
    "conv_fwd bf16 nchw n2 c6 k8 i9x7 f3x3 p1x1 out=fp16 epilogue=bias:fp16+hardswish",
    "conv_fwd fp32 n2 g16 c16 k16 i9x7 f3x3 p1x1 epilogue=scale_channel+bias+clamp:0:6",
    "conv_bwd_data fp32 n2 c6 k8 i9x7 f3x3 s2x2 p1x1 epilogue=bias+leaky_relu:0.25",
    "conv_fwd fp32 n2 c6 k19 i9x7 f3x3 p1x1 filter=kcrs epilogue=bias+relu",
    "conv_fwd bf16 n2 g2 c6 k8 i9x7 f3x3 p1x1 filter=crsk",
    "conv_fwd int8 n2 c8 k8 i9x7 f3x3 p1x1 x=uint8 filter=kcrs epilogue=zero_x:uint8",
    "conv_fwd fp32 nchw n2 c6 k8 i9x7 f3x3 p1x1 filter=krsc",
    "conv_fwd fp16 nchw n1 c6 k40 i9x7 f3x3 p1x1 filter=crsk epilogue=scale_channel",
    "conv_bwd_data fp32 n2 c6 k8 i9x7 f3x3 s2x2 p1x1 filter=kcrs",
    "conv_bwd_data bf16 nchw n2 g2 c12 k8 i9x7 f3x3 p1x1 filter=crsk epilogue=bias",
    "conv_bwd_weight fp32 n2 c6 k19 i9x7 f3x3 p1x1 filter=kcrs epilogue=bias_gradient+add:bf16+multiply:int8",
    "conv_bwd_weight bf16 nchw n2 c6 k8 i9x7 f3x3 p1x1 filter=crsk epilogue=scale+add",
    "conv_bwd_weight fp16 ndhwc n2 g2 c6 k6 i3x5x4 f3x3x3 p1x1x1 out=int8 filter=kcrs",
    "conv_bwd_weight fp32 n2 c6 k8 i9x7 f3x3 p1x1 epilogue=scale+add",
    "conv_bwd_weight bf16 n2 c6 k8 i9x7 f3x3 p1x1 out=fp32 epilogue=add",
};

static void each_problem_is_answered_rightly(void **state) {
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        static const kw_mode modes[] = {KW_FROZEN, KW_PREDICT};
        for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
            kw_error err = {0};
            run r = open_run(*state, problems[i], modes[m]);
            assert_ok(kw_plan_run(r.plan, &r.tensors, NULL, &err), &err);
            compare(&r, r.tensors.extra, problems[i]);
            assert_int_equal(!strstr(kw_plan_config(r.plan), "epilogue="), !strstr(problems[i], "epilogue="));
            close_run(&r);
        }
    }
}

/* Nothing of a run is left for the next: on GPUs sums of the bias begin when all launches before them are done, each time. The memory of
 * emulated GPUs is the caller's as well. */
static void a_plan_runs_again_with_other_data(void **state) {
    static const char *const devices[] = {"cpu", "emu:sm_90", "emu:gfx942", "emu:gfx1100"};
    static const char *const texts[] = {"conv_bwd_weight bf16 n2 c40 k72 i9x7 f3x3 p1x1 epilogue=bias_gradient",
                                        "conv_bwd_weight fp16 nchw n2 c16 k24 i5x6 f3x3 p1x1 epilogue=bias_gradient:fp16+scale"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        world w = *(const world *)*state;
        open_context(&w, devices[i]);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            run r = open_run(&w, texts[t], KW_PREDICT);
            for (uint32_t seed = 0; seed < 3; seed++) {
                kw_error err = {0};
                fill(r.problem.dtype, r.tensors.x, kw_problem_elements(&r.problem, KW_X), 10 + seed);
                fill(r.problem.dtype, r.tensors.y, kw_problem_elements(&r.problem, KW_Y), 20 + seed);
                assert_ok(kw_plan_run(r.plan, &r.tensors, NULL, &err), &err);
                compare(&r, r.tensors.extra, devices[i]);
            }
            close_run(&r);
        }
        kw_context_close(&w.context);
    }
}

/* Kernels have stages that turn them; the reference kernel, which is chosen where there is little to do, reads and writes any order. */
static void filters_lie_in_any_order_on_gpus(void **state) {
    static const char *const texts[] = {"conv_fwd bf16 n2 g2 c6 k8 i5x4 f3x3 p1x1 filter=kcrs epilogue=bias",
                                        "conv_fwd fp32 nchw n1 c5 k8 i5x4 f3x3 p1x1 filter=crsk",
                                        "conv_bwd_data fp32 n1 g2 c6 k8 i5x4 f3x3 p1x1 filter=rsck",
                                        "conv_bwd_weight fp16 nchw n2 g2 c6 k8 i5x4 f3x2 p1x1 filter=krsc epilogue=add",
                                        "conv_bwd_weight bf16 n2 c64 k96 i9x12 f3x2 p1x1 filter=crsk epilogue=bias_gradient"};
    world w = *(const world *)*state;
    int turned = 0;
    open_context(&w, "emu:sm_90");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_error err = {0};
        run r = open_run(&w, texts[i], KW_PREDICT);
        assert_ok(kw_plan_run(r.plan, &r.tensors, NULL, &err), &err);
        compare(&r, r.tensors.extra, texts[i]);
        bool turns = memcmp(kw_plan_config(r.plan), "conv.reference_gpu ", 19) != 0;
        assert_int_equal(strstr(kw_plan_config(r.plan), " filter_order=any") != NULL, turns);
        assert_int_equal(strstr(kw_plan_explain(r.plan), "what the kernel wrote is copied into the order crsk") != NULL,
                         turns && r.problem.op == KW_CONV_BWD_WEIGHT);
        turned += turns;
        close_run(&r);
    }
    assert_int_equal(turned, 2);
    kw_context_close(&w.context);
}

/* alpha and beta are read in each run: one plan, so one kernel, for all of them. Where beta is 0, what it multiplies does not matter. */
static void alpha_and_beta_are_read_in_each_run(void **state) {
    static const struct {
        const char *device;
        kw_mode mode;
    } cases[] = {{"cpu", KW_FROZEN}, {"cpu", KW_PREDICT}, {"emu:sm_90", KW_PREDICT}};
    enum { M = 19, N = 40, K = 64 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w = *(const world *)*state;
        open_context(&w, cases[i].device);
        run r = open_run(&w, "gemm fp32 m19 n40 k64 epilogue=scale+beta+add", cases[i].mode);
        const float *x = r.tensors.x, *b = r.tensors.w, *y = r.tensors.y;
        static const float values[][2] = {{1, 1}, {-0.5f, 2}, {2, 0}, {0, -1}};
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            static _Alignas(16) float c[M * N], alpha[4], beta[4];
            kw_error err = {0};
            kw_tensors tensors = r.tensors;
            for (int e = 0; e < M * N; e++) {
                c[e] = values[v][1] != 0 ? (float)(e % 11 - 5) : NAN;
            }
            alpha[0] = values[v][0];
            beta[0] = values[v][1];
            tensors.extra[0] = alpha;
            tensors.extra[1] = beta;
            tensors.extra[2] = c;
            assert_ok(kw_plan_run(r.plan, &tensors, NULL, &err), &err);
            for (int e = 0; e < M * N; e++) {
                double sum = 0;
                for (int k = 0; k < K; k++) {
                    sum += (double)x[e / N * K + k] * b[e % N * K + k];
                }
                double wanted = values[v][0] * sum + (values[v][1] != 0 ? values[v][1] * c[e] : 0);
                assert_true(fabs(y[e] - wanted) <= 1e-4 * (1 + fabs(wanted)));
            }
        }
        close_run(&r);
        kw_context_close(&w.context);
    }
}

/* The residual that is added may be the result's own memory. */
static void a_residual_may_be_the_result(void **state) {
    static const char *const texts[] = {"gemm fp32 m61 n47 k29 epilogue=add+relu",
                                        "conv_fwd fp32 n2 c6 k40 i9x7 f3x3 p1x1 epilogue=bias+add",
                                        "conv_bwd_weight fp32 n2 c6 k8 i9x7 f3x3 p1x1 epilogue=add",
                                        "conv_bwd_weight fp32 n2 c6 k8 i9x7 f3x3 p1x1 filter=kcrs epilogue=add"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_error err = {0};
        run r = open_run(*state, texts[i], KW_PREDICT);
        const void *before[KW_EXTRA_MAX];
        memcpy(before, r.tensors.extra, sizeof before);
        int add = r.count - 1;
        size_t bytes = (size_t)r.extras[add].elements * kw_dtype_size(r.extras[add].dtype);
        memcpy(result_of(&r), before[add], bytes);
        kw_tensors tensors = r.tensors;
        tensors.extra[add] = result_of(&r);
        assert_ok(kw_plan_run(r.plan, &tensors, NULL, &err), &err);
        compare(&r, before, texts[i]);
        close_run(&r);
    }
}

static void what_is_missing_is_told(void **state) {
    kw_error err = {0};
    run r = open_run(*state, "gemm fp32 m19 n23 k29 epilogue=relu+bias:bf16+add", KW_FROZEN);
    kw_tensors tensors = r.tensors;
    tensors.extra[0] = NULL;
    assert_int_equal(kw_plan_run(r.plan, &tensors, NULL, &err), KW_ILLEGAL);
    assert_string_equal(err.text, "tensor extra[0] is NULL; step bias of the epilogue reads 23 elements of bf16");
    tensors = r.tensors;
    tensors.extra[1] = (const char *)tensors.extra[1] + 2;
    assert_int_equal(kw_plan_run(r.plan, &tensors, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "(of step add) is not aligned to 4 bytes"));
    /* A caller whose header ends before the extras hands none in. */
    tensors = r.tensors;
    tensors.size = offsetof(kw_tensors, extra);
    assert_int_equal(kw_plan_run(r.plan, &tensors, NULL, &err), KW_ILLEGAL);
    close_run(&r);
}

/* Each group is a product of its own; what lies behind the last one stays. One plan serves whatever the ends are. */
static void groups_of_rows_are_products_of_their_own(void **state) {
    static const char *const texts[] = {"gemm fp32 g4 m19 n23 k29", "gemm fp32 rrr g4 m19 n23 k29 ldc25 epilogue=bias+add+relu"};
    static const int32_t ends[][4] = {{0, 7, 7, 19}, {3, 4, 11, 12}, {0, 0, 0, 0}};
    static const kw_mode modes[] = {KW_FROZEN, KW_PREDICT};
    for (size_t i = 0; i < 2 * sizeof texts / sizeof *texts; i++) {
        kw_error err = {0};
        run r = open_run(*state, texts[i / 2], modes[i % 2]);
        int64_t bytes = kw_problem_elements(&r.problem, KW_Y) * 4;
        for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
            int64_t line = r.problem.pitch[KW_Y][0] ? r.problem.pitch[KW_Y][0] : r.problem.gemm.n;
            r.tensors.ends = ends[e];
            memset(r.tensors.y, 0xff, (size_t)bytes);
            assert_ok(kw_plan_run(r.plan, &r.tensors, NULL, &err), &err);
            for (int64_t g = 0; g < 4; g++) {
                kw_group_memory whole = {{r.tensors.x, r.tensors.w, r.tensors.y}, {0}}, own;
                run one = r;
                if (ends[e][g] == (g ? ends[e][g - 1] : 0)) {
                    continue;
                }
                memcpy(whole.extra, r.tensors.extra, sizeof whole.extra);
                kw_group_product(&one.problem, &own, &r.problem, ends[e], g, &whole);
                one.tensors.x = (void *)(uintptr_t)own.tensor[KW_X];
                one.tensors.w = (void *)(uintptr_t)own.tensor[KW_W];
                one.tensors.y = (void *)(uintptr_t)own.tensor[KW_Y];
                compare(&one, own.extra, texts[i / 2]);
            }
            for (int64_t at = ends[e][3] * line * 4; at < bytes; at++) {
                assert_int_equal(((const unsigned char *)r.tensors.y)[at], 0xff);
            }
        }
        assert_non_null(strstr(kw_plan_config(r.plan), " grouped=1"));
        close_run(&r);
    }
}

static void ends_that_cannot_be_are_told(void **state) {
    static const int32_t descending[4] = {0, 7, 6, 19}, beyond[4] = {0, 7, 8, 20};
    kw_error err = {0};
    run r = open_run(*state, "gemm fp32 g4 m19 n23 k29", KW_FROZEN);
    assert_int_equal(kw_plan_run(r.plan, &r.tensors, NULL, &err), KW_ILLEGAL);
    assert_string_equal(err.text, "ends is NULL; the product has 4 groups of rows, and ends says where each of them ends");
    r.tensors.ends = descending;
    assert_int_equal(kw_plan_run(r.plan, &r.tensors, NULL, &err), KW_ILLEGAL);
    assert_string_equal(err.text, "ends[2]=6 is below 7, where its group begins; ends ascend");
    r.tensors.ends = beyond;
    assert_int_equal(kw_plan_run(r.plan, &r.tensors, NULL, &err), KW_ILLEGAL);
    assert_string_equal(err.text, "ends[3]=20 is above the 19 rows of the problem; plan a larger m");
    r.tensors.ends = (const int32_t *)(const void *)((const char *)descending + 1);
    assert_int_equal(kw_plan_run(r.plan, &r.tensors, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "is not aligned to 4 bytes"));
    /* A caller whose header ends before them hands none in. */
    kw_tensors older = r.tensors;
    older.size = offsetof(kw_tensors, ends);
    assert_int_equal(kw_plan_run(r.plan, &older, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "ends is NULL"));
    close_run(&r);
}

/* A plan is one epilogue's: another problem's is never answered by it. */
static void epilogues_are_told_apart(void **state) {
    run a = open_run(*state, "gemm fp32 m19 n23 k29 epilogue=bias", KW_FROZEN);
    run b = open_run(*state, "gemm fp32 m19 n23 k29 epilogue=bias+relu", KW_FROZEN);
    run c = open_run(*state, "gemm fp32 m19 n23 k29", KW_FROZEN);
    assert_string_not_equal(kw_plan_config(a.plan), kw_plan_config(b.plan));
    assert_string_not_equal(kw_plan_config(a.plan), kw_plan_config(c.plan));
    assert_null(strstr(kw_plan_config(c.plan), "epilogue"));
    close_run(&a);
    close_run(&b);
    close_run(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_problem_is_answered_rightly), cmocka_unit_test(a_plan_runs_again_with_other_data),
        cmocka_unit_test(filters_lie_in_any_order_on_gpus), cmocka_unit_test(alpha_and_beta_are_read_in_each_run),
        cmocka_unit_test(a_residual_may_be_the_result),     cmocka_unit_test(groups_of_rows_are_products_of_their_own),
        cmocka_unit_test(ends_that_cannot_be_are_told),     cmocka_unit_test(what_is_missing_is_told),
        cmocka_unit_test(epilogues_are_told_apart),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
