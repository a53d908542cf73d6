/* test_together.c: several plans in one call (kw_plans_run): each has its own result, whatever its sizes and whoever's the threads are, and a
 * refusal comes before anything has run. */
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdatomic.h>

enum { PLANS = 150, RANDOMS = 40 };
static char folder[SCRATCH_MAX];

typedef struct item {
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
    float *memory;
    int64_t elements[KW_TENSOR_COUNT];
} item;

/* The caller's loop runs the tasks itself, last first. */
static void loop_backwards(void *pool, int32_t count, void (*task)(void *work, int32_t index), void *work) {
    ++*(int *)pool;
    for (int32_t i = count; i-- > 0;) {
        task(work, i);
    }
}

static kw_context *open_context(int threads, int *loops) {
    kw_context *context = NULL;
    kw_error err = {0};
    kw_context_options options = {.size = sizeof options, .threads = threads, .cache_dir = folder, .data_dir = folder};
    if (loops) {
        options.parallel_for = loop_backwards;
        options.pool = loops;
    }
    if (kw_context_open(&context, "cpu", &options, &err)) {
        fail_msg("%s", err.text);
    }
    return context;
}

static void make_item(item *it, kw_context *context, const char *text, bool packed) {
    kw_error err = {0};
    kw_plan_options options = {.size = sizeof options, .mode = strstr(text, "m512") ? KW_PREDICT : KW_FROZEN};
    if (kw_problem_parse(&it->problem, text, &err) || kw_plan_create(&it->plan, context, &it->problem, &options, &err)) {
        fail_msg("%s", err.text);
    }
    int64_t all = 0;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        it->elements[t] = kw_problem_elements(&it->problem, (kw_tensor)t);
        all += it->elements[t];
    }
    it->memory = calloc((size_t)all, sizeof(float));
    it->tensors = (kw_tensors){.size = sizeof(kw_tensors), .x = it->memory, .w = it->memory + it->elements[KW_X]};
    it->tensors.y = it->memory + it->elements[KW_X] + it->elements[KW_W];
    for (int64_t i = 0; i < it->elements[KW_X] + it->elements[KW_W]; i++) {
        it->memory[i] = (float)(i % 7 - 3);
    }
    if (packed && kw_plan_pack_weights(it->plan, it->tensors.w, &err)) {
        fail_msg("%s", err.text);
    }
    int64_t bytes = kw_plan_workspace(it->plan);
    it->tensors.workspace = bytes ? aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64) : NULL;
}

static void drop_item(item *it) {
    kw_plan_destroy(&it->plan);
    free(it->tensors.workspace);
    free(it->memory);
}

/* Takes the result away: what a plan alone gives, then nothing. */
static float *expected_of(item *it) {
    size_t bytes = (size_t)it->elements[KW_Y] * sizeof(float);
    float *expected = malloc(bytes);
    assert_int_equal(kw_plan_run(it->plan, &it->tensors, NULL, NULL), KW_OK);
    memcpy(expected, it->tensors.y, bytes);
    memset(it->tensors.y, 0, bytes);
    return expected;
}

static void check_many(int threads, int *loops, bool large) {
    static item items[PLANS];
    static const kw_plan *plans[PLANS];
    static const kw_tensors *tensors[PLANS];
    static float *expected[PLANS];
    kw_context *context = open_context(threads, loops);
    for (int i = 0; i < PLANS; i++) {
        char text[128];
        snprintf(text, sizeof text, "gemm fp32 rcr m%d n%d k%d", 1 + i * 5 % 23, 1 + i * 7 % 31, 1 + i * 11 % 37);
        bool is_large = large && i % 50 == 3;
        make_item(&items[i], context, is_large ? "gemm fp32 rcr m512 n256 k256" : text, i % 2 == 0);
        expected[i] = expected_of(&items[i]);
        plans[i] = items[i].plan;
        tensors[i] = &items[i].tensors;
    }
    for (int count = 0; count <= PLANS; count += count < 4 ? 1 : 73) {
        kw_error err = {0};
        if (kw_plans_run(plans, tensors, (size_t)count, NULL, &err)) {
            fail_msg("%s", err.text);
        }
        for (int i = 0; i < PLANS; i++) {
            size_t bytes = (size_t)items[i].elements[KW_Y] * sizeof(float);
            if (i < count) {
                assert_memory_equal(items[i].tensors.y, expected[i], bytes);
            }
            for (int64_t e = 0; i >= count && e < items[i].elements[KW_Y]; e++) {
                assert_true(((float *)items[i].tensors.y)[e] == 0);
            }
            memset(items[i].tensors.y, 0, bytes);
        }
    }
    for (int i = 0; i < PLANS; i++) {
        drop_item(&items[i]);
        free(expected[i]);
    }
    kw_context_close(&context);
}

static void each_has_its_result(void **state) {
    (void)state;
    int loops = 0;
    check_many(1, NULL, false);
    check_many(2, NULL, true);
    check_many(5, NULL, false);
    check_many(3, &loops, true);
    assert_true(loops > 0);
}

static void refusals_come_first(void **state) {
    (void)state;
    kw_context *context = open_context(2, NULL), *other = open_context(1, NULL);
    item items[3];
    for (int i = 0; i < 3; i++) {
        make_item(&items[i], i < 2 ? context : other, "gemm fp32 rcr m4 n5 k6", false);
    }
    kw_tensors broken = items[1].tensors;
    broken.y = NULL;
    const kw_plan *plans[] = {items[0].plan, items[1].plan}, *mixed[] = {items[0].plan, items[2].plan}, *missing[] = {items[0].plan, NULL};
    const kw_tensors *tensors[] = {&items[0].tensors, &items[1].tensors}, *faulty[] = {&items[0].tensors, &broken},
                     *apart[] = {&items[0].tensors, &items[2].tensors};
    const struct {
        const kw_plan *const *plans;
        const kw_tensors *const *tensors;
        void *stream;
        const char *says;
    } cases[] = {
        {plans, faulty, NULL, "plan 1: tensor y is NULL"},
        {mixed, apart, NULL, "plans[1] is of another context"},
        {missing, tensors, NULL, "plans[1] is NULL"},
        {plans, NULL, NULL, "tensors is NULL"},
        {NULL, tensors, NULL, "plans is NULL"},
        {plans, tensors, context, "device cpu has no streams"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        assert_int_equal(kw_plans_run(cases[i].plans, cases[i].tensors, 2, cases[i].stream, &err), KW_ILLEGAL);
        if (!strstr(err.text, cases[i].says)) {
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
        }
        assert_int_equal(kw_plans_run(cases[i].plans, cases[i].tensors, 2, cases[i].stream, NULL), KW_ILLEGAL);
    }
    for (int64_t e = 0; e < items[0].elements[KW_Y]; e++) {
        assert_true(((float *)items[0].tensors.y)[e] == 0);
    }
    assert_int_equal(kw_plans_run(NULL, NULL, 0, NULL, NULL), KW_OK);
    for (int i = 0; i < 3; i++) {
        drop_item(&items[i]);
    }
    kw_context_close(&context);
    kw_context_close(&other);
}

typedef struct columns_case {
    const char *text[2];
    int64_t at[2]; /* floats into the matrix, of each result */
    bool apart;
} columns_case;

/* Results that are slices of one matrix may lie between each other's lines, and no two may share an element (rule results_apart). */
static void results_are_apart(void **state) {
    (void)state;
    static const columns_case cases[] = {
        {{"gemm fp32 rcr m4 n5 k6 ldc16", "gemm fp32 rcr m9 n3 k2 ldc16"}, {0, 5}, true},
        {{"gemm fp32 rcr m4 n5 k6 ldc16", "gemm fp32 rcr m9 n3 k2 ldc16"}, {0, 4}, false},
        {{"gemm fp32 rcr m4 n5 k6 ldc16", "gemm fp32 rcr m4 n5 k6 ldc16"}, {0, 64}, true},
        {{"gemm fp32 rcr m4 n5 k6 ldc16", "gemm fp32 rcr m4 n5 k6 ldc16"}, {0, 49}, false},
        {{"gemm fp32 rcr m4 n5 k6", "gemm fp32 rcr m3 n2 k6"}, {0, 20}, true},
        {{"gemm fp32 rcr m4 n5 k6", "gemm fp32 rcr m3 n2 k6"}, {7, 0}, true},
        {{"gemm fp32 rcr m4 n5 k6", "gemm fp32 rcr m3 n2 k6"}, {5, 0}, false},
        {{"gemm fp32 rcr b2 m4 n5 k6 ldc16", "gemm fp32 rcr b2 m4 n11 k6 ldc16"}, {0, 5}, true},
        {{"gemm fp32 rcr m4 n5 k6 ldc16", "gemm fp32 rcr m4 n5 k6 ldc15"}, {0, 5}, false}, /* of two distances spans are looked at */
        {{"conv_fwd fp32 nhwgc c3 k4 i5x5 f1x1 ldyw12", "conv_fwd fp32 nhwgc c3 k8 i5x5 f1x1 ldyw12"}, {0, 4}, true},
        {{"conv_fwd fp32 nhwgc c3 k4 i5x5 f1x1 ldyw12", "conv_fwd fp32 nhwgc c3 k8 i5x5 f1x1 ldyw12"}, {0, 3}, false},
    };
    kw_context *context = open_context(2, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        item items[2];
        float matrix[512] = {0};
        for (int p = 0; p < 2; p++) {
            make_item(&items[p], context, cases[i].text[p], false);
            items[p].tensors.y = matrix + cases[i].at[p];
        }
        kw_error err = {0};
        const kw_plan *plans[] = {items[0].plan, items[1].plan};
        kw_status status = kw_plans_run(plans, (const kw_tensors *[]){&items[0].tensors, &items[1].tensors}, 2, NULL, &err);
        if (status != (cases[i].apart ? KW_OK : KW_ILLEGAL)) {
            fail_msg("case %zu: status %d, \"%s\"", i, (int)status, err.text);
        }
        assert_true(cases[i].apart || strstr(err.text, "rule results_apart: the result of plan 0 and the result of plan 1 overlap"));
        for (int e = 0; e < 512 && !cases[i].apart; e++) {
            assert_true(matrix[e] == 0);
        }
        drop_item(&items[0]);
        drop_item(&items[1]);
    }
    kw_context_close(&context);
}

static int setup(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_result), cmocka_unit_test(refusals_come_first),
                                       cmocka_unit_test(results_are_apart)};
    return cmocka_run_group_tests(tests, setup, teardown);
}
