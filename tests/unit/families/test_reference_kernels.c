/* test_reference_kernels.c: the compiled-in kernels. Their conversions agree with the reference's on every pattern of the narrow types; their units
 * can be cut anywhere and cover every output once. Results on all kinds of problems are test_check's. */

#include "base/math.h"
#include "config/config.h"
#include "problem/tensors/pitch.h"
#include "problem/reference.h"

#include "cpu/reference/reference.h"
#include "support/kw_test.h"

#include <math.h>

static void one_type_loads_alike(kw_dtype dtype) {
    size_t size = kw_dtype_size(dtype);
    for (uint32_t pattern = 0; pattern < (size == 1 ? 256u : 65536u); pattern++) {
        uint16_t memory = (uint16_t)pattern; /* little endian: the first byte is the low one */
        float loaded;
        kw_reference_kernel_load(&loaded, &(kw_reference_kernel_run){dtype, (const char *)&memory, 0, 1, 1});
        double expected = kw_dtype_load(dtype, &memory, 0);
        if (isnan(expected) ? !isnan(loaded) : (double)loaded != expected || !signbit(loaded) != !signbit(expected)) {
            fail_msg("%s pattern %#x loads as %g, the reference says %g", kw_dtype_name(dtype), pattern, (double)loaded, expected);
        }
    }
}

static void every_narrow_pattern_loads_as_the_reference_loads_it(void **state) {
    (void)state;
    const kw_dtype narrow[] = {KW_BF16, KW_FP16, KW_FP8, KW_BF8, KW_INT8};
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        one_type_loads_alike(narrow[i]);
    }
}

static uint16_t stored(kw_dtype dtype, float value) {
    kw_reference_kernel_block scratch; /* only what is set here is read */
    uint16_t bits = 0xa5a5;
    scratch.sum.real[0] = value;
    kw_reference_kernel_store(&(kw_reference_kernel_run){dtype, (const char *)&bits, 0, 1, 1}, &scratch, 0, 1);
    return bits;
}

static void stores_alike(kw_dtype dtype, float value) {
    uint16_t bits = stored(dtype, value), expected = 0;
    kw_dtype_store(dtype, &expected, 0, (double)value);
    bool nan = isnan(value) && isnan(kw_dtype_load(dtype, &bits, 0));
    if (bits != expected && !nan) {
        fail_msg("%a is stored as %s %#x, the reference says %#x", (double)value, kw_dtype_name(dtype), (unsigned)bits, (unsigned)expected);
    }
}

/* Every value, the middle to the next one, and the floats on both sides of that middle: where rounding turns. */
static void sums_are_rounded_as_the_reference_rounds_them(void **state) {
    (void)state;
    const kw_dtype types[] = {KW_BF16, KW_FP16};
    for (size_t t = 0; t < 2; t++) {
        for (uint32_t pattern = 0; pattern < 65536; pattern++) {
            uint16_t here = (uint16_t)pattern, next = (uint16_t)(pattern + 1);
            double value = kw_dtype_load(types[t], &here, 0), middle = (value + kw_dtype_load(types[t], &next, 0)) / 2;
            stores_alike(types[t], (float)value);
            if (isfinite(middle)) {
                stores_alike(types[t], (float)middle);
                stores_alike(types[t], nextafterf((float)middle, INFINITY));
                stores_alike(types[t], nextafterf((float)middle, -INFINITY));
            }
        }
        const float edges[] = {65504.0f,  65519.99f, 65520.0f, 65536.0f, 3.4e38f,  INFINITY,
                               -INFINITY, NAN,       1e-45f,   -0.0f,    0x1p-25f, 0x1.8p-25f};
        for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
            stores_alike(types[t], edges[i]);
        }
    }
}

/* A problem's tensors and what a kernel gets to see of it. */
typedef struct run {
    kw_problem problem;
    kw_launch launch;
    kw_kernel_args args;
    char *tensor[KW_TENSOR_COUNT];
    size_t result_size;
} run;

static void fill_args(run *r) {
    const kw_problem *p = &r->problem;
    kw_kernel_args *a = &r->args;
    *a = (kw_kernel_args){.x = r->tensor[KW_X], .w = r->tensor[KW_W], .y = r->tensor[KW_Y]};
    a->params = r->launch.params;
    if (p->op == KW_GEMM) {
        a->batch = p->gemm.batch, a->gm = p->gemm.m, a->gn = p->gemm.n, a->gk = p->gemm.k;
        for (int t = 0; t < KW_TENSOR_COUNT; t++) {
            kw_matrix m = kw_problem_matrix(p, (kw_tensor)t);
            a->line_step[t] = m.line_step, a->batch_step[t] = m.batch_step;
        }
        return;
    }
    int64_t out[3], x_step[KW_STEP_COUNT], y_step[KW_STEP_COUNT];
    kw_problem_output(out, p);
    kw_problem_steps(x_step, p, KW_X);
    kw_problem_steps(y_step, p, KW_Y);
    for (int i = 0; i < KW_STEP_COUNT; i++) {
        a->x_step[i] = x_step[i], a->y_step[i] = y_step[i];
    }
    a->n = p->conv.n, a->groups = p->conv.g, a->c = p->conv.c / p->conv.g, a->k = p->conv.k / p->conv.g;
    for (int i = 0; i < 3; i++) {
        a->in[i] = p->conv.in[i], a->out[i] = out[i], a->filter[i] = p->conv.filter[i];
        a->stride[i] = p->conv.stride[i], a->pad[i] = p->conv.pad[i], a->dilation[i] = p->conv.dilation[i];
    }
}

static kw_kernel_stage *open_run(run *r, const char *text) {
    kw_error err = {0};
    kw_config config;
    char name[128];
    *r = (run){0};
    assert_int_equal(kw_problem_parse(&r->problem, text, &err), KW_OK);
    snprintf(name, sizeof name, "%s %s %s", r->problem.op == KW_GEMM ? "gemm.reference" : "conv.reference", kw_op_name(r->problem.op),
             kw_dtype_name(r->problem.dtype));
    assert_int_equal(kw_config_parse(&config, name, &err), KW_OK);
    config.family->launch(&config, &r->problem, &(kw_target){.units = 1}, &r->launch);
    assert_int_equal(r->launch.packed_bytes + r->launch.shared_bytes + r->launch.thread_bytes, 0); /* a request may allow no workspace */
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        int64_t count = kw_problem_elements(&r->problem, (kw_tensor)t);
        kw_dtype dtype = kw_problem_dtype(&r->problem, (kw_tensor)t);
        r->tensor[t] = malloc((size_t)count * kw_dtype_size(dtype));
        assert_non_null(r->tensor[t]);
        for (int64_t i = 0; i < count; i++) {
            kw_dtype_store(dtype, r->tensor[t], i, (double)((i * 7 + t) % 5 - 2));
        }
        if ((kw_tensor)t == kw_problem_result(&r->problem)) {
            r->result_size = (size_t)count * kw_dtype_size(dtype);
        }
    }
    fill_args(r);
    return config.family->builtin(&config)->stage[0];
}

static void close_run(run *r) {
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        free(r->tensor[t]);
    }
}

static const char *const problems[] = {
    "gemm fp32 rcr b2 m70 n65 k130",
    "conv_fwd fp32 nhwgc n3 c5 k70 i9x8 f3x3 s2x1 p1x2 d1x2",
    "conv_fwd bf16 ngchw n2 g70 c70 k70 i9x8 f3x3 p1x1",
    "conv_bwd_data fp16 nhwgc n3 g2 c6 k4 i11x9 f2x3 s3x4 p1x2",
    "conv_bwd_data int8 ndhwgc n2 c3 k5 i5x6x7 f2x2x2 s2x3x5 p1x0x1",
    "conv_bwd_data fp32 nhwgc n70 c3 k5 i3x4 f1x1 s5x4",
    "conv_bwd_weight fp8 nhwgc n2 c67 k66 i5x6 f2x3 p1x1",
    "conv_bwd_weight fp32 nwgc n2 g65 c65 k65 i17 f3 p1",
};

static void units_may_be_cut_anywhere(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        run r;
        kw_kernel_stage *stage = open_run(&r, problems[i]);
        char *result = r.tensor[kw_problem_result(&r.problem)], *whole = malloc(r.result_size);
        assert_non_null(whole);
        int64_t units = r.launch.stage[0].units;
        memset(result, 0x7b, r.result_size);
        stage(&r.args, 0, units, NULL);
        memcpy(whole, result, r.result_size);
        memset(result, 0x5d, r.result_size);
        for (int64_t unit = units; unit > 0;) { /* from the back, in pieces of 1, 2, 3, ... */
            int64_t first = kw_max(0, unit - 1 - (units - unit) % 3);
            stage(&r.args, first, unit, NULL);
            unit = first;
        }
        if (memcmp(result, whole, r.result_size) != 0) {
            fail_msg("%s: pieces of its %lld units differ from the whole", problems[i], (long long)units);
        }
        free(whole);
        close_run(&r);
    }
}

/* A unit too few would leave something unwritten: the poison differs from one run to the other. */
static void the_last_unit_is_needed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        run r;
        kw_kernel_stage *stage = open_run(&r, problems[i]);
        char *result = r.tensor[kw_problem_result(&r.problem)];
        size_t left[2] = {0};
        for (int missing = 0; missing < 2; missing++) {
            const kw_tensor t = kw_problem_result(&r.problem);
            memset(result, 0x7b, r.result_size);
            stage(&r.args, 0, r.launch.stage[0].units - missing, NULL);
            uint32_t poison = 0x7b7b7b7b;
            size_t size = kw_dtype_size(kw_problem_dtype(&r.problem, t));
            for (size_t at = 0; at < r.result_size; at += size) {
                left[missing] += !memcmp(result + at, &poison, size);
            }
        }
        if (left[0] || !left[1]) {
            fail_msg("%s: %zu elements are unwritten, %zu without the last unit", problems[i], left[0], left[1]);
        }
        close_run(&r);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_narrow_pattern_loads_as_the_reference_loads_it),
        cmocka_unit_test(sums_are_rounded_as_the_reference_rounds_them),
        cmocka_unit_test(units_may_be_cut_anywhere),
        cmocka_unit_test(the_last_unit_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
