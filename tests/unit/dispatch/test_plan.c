/* test_plan.c: plans through the public API: right results for every operation and type, what a run checks, packed weights. */

#include "problem/reference.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <kernelwright.h>

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
} world;

/* One context for all tests, so that kernels are compiled once. */
static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    char cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX];
    kw_error err = {0};
    scratch_make(w->folder);
    scratch_path(cache, w->folder, "cache");
    scratch_path(data, w->folder, "data");
    if (kw_context_open(&w->context, "cpu",
                        &(kw_context_options){.size = sizeof(kw_context_options), .threads = 2, .cache_dir = cache, .data_dir = data},
                        &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 1;
    }
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

static kw_problem parse(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s", err.text);
    }
    return problem;
}

static void *take(int64_t bytes) {
    void *memory = aligned_alloc(64, (size_t)(bytes + 64) / 64 * 64);
    assert_non_null(memory);
    return memset(memory, 0xff, (size_t)(bytes + 64) / 64 * 64);
}

/* The three tensors, the ones that are read filled with small integers, so that every sum is exact; and the workspace. */
static kw_tensors make_tensors(const kw_problem *problem, int64_t workspace) {
    kw_tensors tensors = {.size = sizeof(kw_tensors)};
    void **place[KW_TENSOR_COUNT] = {&tensors.x, &tensors.w, &tensors.y};
    uint32_t noise = 1;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_dtype dtype = kw_problem_dtype(problem, (kw_tensor)t);
        int64_t count = kw_problem_elements(problem, (kw_tensor)t);
        *place[t] = take(count * (int64_t)kw_dtype_size(dtype));
        for (int64_t i = 0; t != (int)kw_problem_result(problem) && i < count; i++) {
            noise = noise * 1664525 + 1013904223;
            kw_dtype_store(dtype, *place[t], i, (double)(noise >> 24) / 52 - 2 < 0 ? -1 : (double)(noise >> 30));
        }
    }
    tensors.workspace = take(workspace);
    return tensors;
}

static void drop_tensors(kw_tensors *tensors) {
    free(tensors->x);
    free(tensors->w);
    free(tensors->y);
    free(tensors->workspace);
}

static void compare(const kw_problem *problem, const kw_tensors *tensors, const char *what) {
    const void *const all[KW_TENSOR_COUNT] = {tensors->x, tensors->w, tensors->y};
    kw_tensor result = kw_problem_result(problem);
    kw_dtype dtype = kw_problem_dtype(problem, result);
    int64_t count = kw_problem_elements(problem, result);
    char rounded[8];
    for (int64_t i = 0; i < count; i++) {
        kw_dtype_store(dtype, rounded, 0, kw_reference_at(problem, all, (kw_zeros){0}, i, NULL, NULL));
        double expected = kw_dtype_load(dtype, rounded, 0), got = kw_dtype_load(dtype, all[result], i);
        if (expected != got) {
            fail_msg("%s: element %lld is %g, expected %g", what, (long long)i, got, expected);
        }
    }
}

static void run_and_compare(const world *w, const char *text, const kw_plan_options *options) {
    kw_problem problem = parse(text);
    kw_plan *plan = NULL;
    kw_error err = {0};
    if (kw_plan_create(&plan, w->context, &problem, options, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    kw_tensors tensors = make_tensors(&problem, kw_plan_workspace(plan));
    if (kw_plan_run(plan, &tensors, NULL, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    compare(&problem, &tensors, text);
    if (kw_plan_wants_packing(plan)) {
        int64_t before = kw_plan_workspace(plan);
        assert_int_equal(kw_plan_pack_weights(plan, tensors.w, &err), KW_OK);
        assert_true(kw_plan_workspace(plan) < before);
        kw_tensors packed = tensors;
        packed.w = NULL;
        kw_tensor result = kw_problem_result(&problem);
        memset(tensors.y, 0xff, result == KW_Y ? kw_dtype_size(kw_problem_dtype(&problem, KW_Y)) : 0);
        assert_int_equal(kw_plan_run(plan, &packed, NULL, &err), KW_OK);
        compare(&problem, &tensors, "packed");
    }
    drop_tensors(&tensors);
    kw_plan_destroy(&plan);
}

static bool take_threads_line(void *user, const kw_explanation *e) {
    if (e->kind == KW_EXPLAIN_THREADS) {
        snprintf(user, 256, "%s", e->text);
    }
    return true;
}

static void little_work_is_said_to_run_on_one_thread(void **state) {
    world *w = *state;
    static const struct {
        const char *problem, *says;
    } cases[] = {
        {"gemm fp32 rcr m64 n64 k64", "runs on 1 of 2 threads: "}, {"gemm fp32 rcr m256 n256 k256", ""}, {"gemm fp32 rcr m1 n1 k1", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = parse(cases[i].problem);
        kw_plan *plan = NULL;
        char line[256] = "";
        assert_int_equal(
            kw_plan_create(&plan, w->context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, NULL),
            KW_OK);
        kw_explanation_visit(plan, take_threads_line, line);
        if (strncmp(line, cases[i].says, strlen(cases[i].says)) || (!*cases[i].says && *line)) {
            fail_msg("%s: \"%s\"", cases[i].problem, line);
        }
        assert_int_equal(strstr(kw_plan_explain(plan), "runs on 1 of 2 threads") != NULL, *cases[i].says != 0);
        kw_plan_destroy(&plan);
    }
}

static void every_operation_and_type_gives_right_results(void **state) {
    static const char *const shapes[] = {
        "gemm %s rcr m19 n33 k21",
        "gemm %s ccr b2 m5 n7 k9",
        "conv_fwd %s nhwgc n2 c6 k10 i9x7 f3x3 p1x1",
        "conv_bwd_data %s nhwgc n1 c8 k4 i8x9 f3x2 s2x1 p1x0",
        "conv_bwd_weight %s nhwgc n2 c4 k6 i7x7 f3x3 p1x1",
        "conv_fwd %s nhwgc n1 g4 c4 k8 i6x6 f3x3",
        "conv_fwd %s ngchw n1 c3 k5 i6x6 f3x3",
    };
    static const char *const types[] = {"fp32", "bf16", "fp16", "fp8", "bf8", "int8"};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            char text[128];
            snprintf(text, sizeof text, shapes[s], types[t]);
            run_and_compare(*state, text, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT});
            run_and_compare(*state, text,
                            &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN, .workspace_max = KW_WORKSPACE_NONE});
        }
    }
}

static void a_measured_choice_gives_right_results(void **state) {
    run_and_compare(*state, "conv_fwd fp32 nhwgc n1 c16 k32 i14x14 f3x3 p1x1",
                    &(kw_plan_options){.size = sizeof(kw_plan_options), .shortlist = 3});
    run_and_compare(*state, "gemm bf16 rcr m30 n40 k64", &(kw_plan_options){.size = sizeof(kw_plan_options), .shortlist = 3});
}

static void a_run_checks_its_pointers(void **state) {
    world *w = *state;
    kw_problem problem = parse("gemm fp32 rcr m19 n33 k21");
    kw_plan *plan = NULL;
    assert_int_equal(
        kw_plan_create(&plan, w->context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, NULL), KW_OK);
    kw_tensors good = make_tensors(&problem, kw_plan_workspace(plan));
    kw_error err = {0};
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        static const char *const missing[] = {"tensor x is NULL", "tensor w is NULL", "tensor y is NULL"};
        static const char *const askew[] = {"tensor x at", "tensor w at", "tensor y at"};
        for (int shift = 0; shift < 2; shift++) {
            kw_tensors bad = good;
            void **place = t == 0 ? &bad.x : t == 1 ? &bad.w : &bad.y;
            *place = shift ? (char *)*place + 2 : NULL;
            assert_int_equal(kw_plan_run(plan, &bad, NULL, &err), KW_ILLEGAL);
            assert_int_equal(strncmp(err.text, shift ? askew[t] : missing[t], strlen(shift ? askew[t] : missing[t])), 0);
        }
    }
    kw_tensors same = good;
    same.y = same.x;
    assert_int_equal(kw_plan_run(plan, &same, NULL, &err), KW_ILLEGAL);
    assert_int_equal(strncmp(err.text, "rule result_not_operand: tensors x and y are both at ", 53), 0);
    if (kw_plan_workspace(plan)) {
        kw_tensors bad = good;
        bad.workspace = NULL;
        assert_int_equal(kw_plan_run(plan, &bad, NULL, &err), KW_ILLEGAL);
        bad.workspace = (char *)good.workspace + 32;
        assert_int_equal(kw_plan_run(plan, &bad, NULL, &err), KW_ILLEGAL);
    }
    assert_int_equal(kw_plan_run(plan, &good, &problem, &err), KW_ILLEGAL);
    assert_int_equal(kw_plan_run(plan, NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_plan_run(NULL, &good, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_plan_pack_weights(plan, NULL, &err), KW_ILLEGAL);
    drop_tensors(&good);
    kw_plan_destroy(&plan);
}

static void bad_requests_are_named(void **state) {
    world *w = *state;
    kw_problem good = parse("gemm fp32 rcr m4 n4 k4"), bad = good;
    bad.gemm.k = -1;
    kw_context *other = NULL;
    kw_registry *foreign = NULL;
    assert_int_equal(
        kw_context_open(&other, "cpu", &(kw_context_options){.size = sizeof(kw_context_options), .cache_dir = "", .data_dir = ""}, NULL),
        KW_OK);
    assert_int_equal(kw_registry_create(&foreign, other, NULL), KW_OK);
    const struct {
        const kw_problem *problem;
        kw_plan_options options;
        const char *part;
    } cases[] = {
        {NULL, {0}, "problem is NULL"},
        {&bad, {0}, "k"},
        {&good, {.mode = (kw_mode)9}, "mode=9"},
        {&good, {.workspace_max = -2}, "workspace_max=-2"},
        {&good, {.shortlist = -1}, "shortlist=-1"},
        {&good, {.registry = foreign}, "another context"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_plan *plan = NULL;
        kw_plan_options options = cases[i].options;
        kw_error err = {0};
        options.size = sizeof options;
        assert_int_equal(kw_plan_create(&plan, w->context, cases[i].problem, &options, &err), KW_ILLEGAL);
        assert_null(plan);
        assert_non_null(strstr(err.text, cases[i].part));
    }
    assert_int_equal(kw_plan_create(NULL, w->context, &good, NULL, NULL), KW_ILLEGAL);
    kw_registry_destroy(&foreign);
    kw_context_close(&other);
}

static void fields_without_meaning_make_no_other_problem(void **state) {
    world *w = *state;
    kw_problem first, second;
    memset(&first, 0xaa, sizeof first);
    memset(&second, 0x55, sizeof second);
    const kw_problem parsed = parse("gemm fp32 rcr m6 n6 k6");
    for (int i = 0; i < 2; i++) {
        kw_problem *p = i ? &second : &first;
        p->op = parsed.op;
        p->dtype = parsed.dtype;
        p->layout = parsed.layout;
        p->ndim = parsed.ndim;
        p->gemm = parsed.gemm; /* the rest of the union stays as it was, and so do steps beyond the count */
        p->epilogue.count = 0;
        p->epilogue.converts = false;
        p->mixed = false; /* and x_dtype has no meaning */
        p->fpmath = KW_FPMATH_STRICT;
        p->filter_order = KW_FILTER_OF_LAYOUT;
        memset(p->pitch, 0, sizeof p->pitch);
        memset(p->reserved, 0, sizeof p->reserved);
    }
    kw_plan *a = NULL, *b = NULL;
    const kw_plan_options options = {.size = sizeof(kw_plan_options), .mode = KW_FROZEN};
    assert_int_equal(kw_plan_create(&a, w->context, &first, &options, NULL), KW_OK);
    assert_int_equal(kw_plan_create(&b, w->context, &second, &options, NULL), KW_OK);
    assert_ptr_equal(kw_plan_config(a), kw_plan_config(b)); /* one core, one text */
    kw_plan_destroy(&a);
    kw_plan_destroy(&b);
    /* What a later header puts there must not be passed over. */
    kw_error err = {0};
    first.reserved[7] = 1;
    assert_int_equal(kw_plan_create(&a, w->context, &first, &options, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "byte 7 of reserved is 1"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_and_type_gives_right_results),
        cmocka_unit_test(little_work_is_said_to_run_on_one_thread),
        cmocka_unit_test(a_measured_choice_gives_right_results),
        cmocka_unit_test(a_run_checks_its_pointers),
        cmocka_unit_test(bad_requests_are_named),
        cmocka_unit_test(fields_without_meaning_make_no_other_problem),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
