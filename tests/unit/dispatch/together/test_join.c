/* test_join.c: products of unequal m, n and k in one launch of a GPU (kw_plans_join, kw_plans_run): each has the result that it has alone, whatever
 * its sizes, batch, pitches and epilogue; who does not join runs as ever; results that overlap are refused; and faults that are planted where the
 * text finds a tile's product are found. The GPU is one that this machine's CPU plays. */
#include "support/kw_test.h"
#include "support/planted.h"
#include "support/scratch.h"

#include <kernelwright.h>

static const char *const lines[] = {
    "gemm bf16 m70 n40 k200",
    "gemm bf16 m3 n136 k8",
    "gemm bf16 m129 n72 k64",
    "gemm bf16 m64 n130 k63",
    "gemm bf16 b3 m33 n9 k17",
    "gemm bf16 m1 n1 k1",
    "gemm bf16 m20 n16 k24 epilogue=bias+add+relu",
    "gemm bf16 m75 n24 k40 epilogue=bias+add+relu",
    "gemm bf16 m20 n8 k16 lda24 ldc40",
    "gemm bf16 m66 n24 k16 ldb32",
    "gemm fp32 rrr m20 n30 k40",
    "gemm fp32 rrr m65 n7 k21",
    "gemm int8 crr m20 n30 k40",
    "conv_fwd bf16 nhwgc n1 c8 k8 i4x4 f1x1",
};
enum { COUNT = sizeof lines / sizeof *lines, ALONE = 2 }; /* the last ones are alone in their kind */

typedef struct item {
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
    int64_t bytes;
    unsigned char *expected;
} item;

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
    kw_registry *registry; /* reference kernels: they compile fast, and any kernel that joins takes less time by the estimate */
    item items[COUNT];
    const kw_plan *plans[COUNT];
    const kw_tensors *tensors[COUNT];
} world;

static void open_world(world *w) {
    kw_error err = {0};
    *w = (world){.context = NULL};
    scratch_make(w->folder);
    kw_context_options options = {.size = sizeof options, .threads = 2, .cache_dir = w->folder, .data_dir = w->folder};
    assert_int_equal(kw_context_open(&w->context, "emu:sm_90", &options, &err), KW_OK);
    if (!*kw_context_compiler(w->context)) {
        kw_context_close(&w->context);
        scratch_remove(w->folder);
        print_message("skipped: no compiler\n");
        skip();
    }
    assert_int_equal(kw_registry_create(&w->registry, w->context, &err), KW_OK);
}

/* Memory of the device with small whole numbers of the type, which any order of summing gives exactly. */
static void *device_numbers(const world *w, int64_t elements, kw_dtype dtype, int step) {
    int64_t size = dtype == KW_FP32 || dtype == KW_INT32 ? 4 : dtype == KW_INT8 ? 1 : 2;
    unsigned char *host = calloc((size_t)elements, (size_t)size);
    void *memory = NULL;
    for (int64_t i = 0; i < elements; i++) {
        float value = (float)(i * step % 5 - 2);
        if (dtype == KW_INT8) {
            host[i] = (unsigned char)(int)value;
        } else {
            memcpy(host + i * size, (char *)&value + (size == 2 ? 2 : 0), (size_t)size); /* bf16 is the upper half */
        }
    }
    assert_int_equal(kw_device_alloc(w->context, elements * size, &memory, NULL), KW_OK);
    assert_int_equal(kw_device_copy(w->context, memory, host, elements * size, NULL), KW_OK);
    free(host);
    return memory;
}

static unsigned char *take_result(const world *w, const item *it) {
    unsigned char *host = malloc((size_t)it->bytes), *none = calloc(1, (size_t)it->bytes);
    assert_int_equal(kw_device_copy(w->context, host, it->tensors.y, it->bytes, NULL), KW_OK);
    assert_int_equal(kw_device_copy(w->context, it->tensors.y, none, it->bytes, NULL), KW_OK);
    free(none);
    return host;
}

static void make_items(world *w) {
    kw_error err = {0};
    for (int i = 0; i < COUNT; i++) {
        item *it = &w->items[i];
        kw_plan_options options = {.size = sizeof options, .mode = KW_PREDICT, .registry = w->registry};
        kw_extra extras[KW_EXTRA_MAX];
        assert_int_equal(kw_problem_parse(&it->problem, lines[i], &err), KW_OK);
        if (kw_plan_create(&it->plan, w->context, &it->problem, &options, &err)) {
            fail_msg("%s: %s", lines[i], err.text);
        }
        it->tensors.size = sizeof it->tensors;
        void **const place[] = {&it->tensors.x, &it->tensors.w, &it->tensors.y};
        for (int t = 0; t < KW_TENSOR_COUNT; t++) {
            kw_dtype dtype = kw_problem_dtype(&it->problem, (kw_tensor)t);
            *place[t] = device_numbers(w, kw_problem_elements(&it->problem, (kw_tensor)t), dtype, 3 + t);
            it->bytes = kw_problem_elements(&it->problem, (kw_tensor)t) * (int64_t)kw_dtype_size(dtype);
        }
        int count = kw_problem_extras(extras, &it->problem);
        for (int e = 0; e < count; e++) {
            it->tensors.extra[e] = device_numbers(w, extras[e].elements, extras[e].dtype, 2);
        }
        assert_int_equal(kw_device_alloc(w->context, kw_plan_workspace(it->plan), &it->tensors.workspace, NULL), KW_OK);
        free(take_result(w, it));
        assert_int_equal(kw_plan_run(it->plan, &it->tensors, NULL, &err), KW_OK);
        it->expected = take_result(w, it);
        w->plans[i] = it->plan;
        w->tensors[i] = &it->tensors;
    }
}

static void close_world(world *w) {
    for (int i = 0; i < COUNT; i++) {
        item *it = &w->items[i];
        void *const memory[] = {it->tensors.x, it->tensors.w, it->tensors.y, it->tensors.workspace};
        for (size_t m = 0; m < sizeof memory / sizeof *memory; m++) {
            kw_device_free(w->context, memory[m]);
        }
        for (int e = 0; e < KW_EXTRA_MAX; e++) {
            kw_device_free(w->context, (void *)(uintptr_t)it->tensors.extra[e]);
        }
        kw_plan_destroy(&it->plan);
        free(it->expected);
    }
    kw_registry_destroy(&w->registry);
    kw_context_close(&w->context);
    scratch_remove(w->folder);
}

/* Runs all, and counts those whose result is another one. */
static int count_wrong(world *w, size_t count) {
    kw_error err = {0};
    int wrong = 0;
    if (kw_plans_run(w->plans, w->tensors, count, NULL, &err)) {
        print_message("%s\n", err.text);
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        unsigned char *result = take_result(w, &w->items[i]);
        wrong += memcmp(result, w->items[i].expected, (size_t)w->items[i].bytes) != 0;
        free(result);
    }
    return wrong;
}

static int count_lines(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
        count++;
    }
    return count;
}

static bool count_joined(void *user, const kw_explanation *explanation) {
    *(int *)user += explanation->kind == KW_EXPLAIN_JOINED;
    return true;
}

/* before: what the first plan said of itself before it joined any. */
static void check_explanations(const world *w, const char *before) {
    int joined = 0;
    const char *first = kw_plan_explain(w->plans[0]);
    assert_null(strstr(before, "one launch"));
    assert_non_null(strstr(first, "it runs in one launch, to which it adds"));
    assert_non_null(strstr(first, "joined=1"));
    assert_int_equal(count_lines(first, "one launch"), 1); /* what it was asked last */
    assert_ptr_equal(first, kw_plan_explain(w->plans[0]));
    assert_non_null(strstr(kw_plan_explain(w->plans[13]), "beside 13 more of a list it has a launch of its own: it is no product"));
    kw_explanation_visit(w->plans[0], count_joined, &joined);
    kw_explanation_visit(w->plans[12], count_joined, &joined);
    assert_int_equal(joined, 2);
}

static void each_has_its_result_in_one_launch(void **state) {
    (void)state;
    static world w;
    char *text = NULL;
    kw_error err = {0};
    open_world(&w);
    make_items(&w);
    const char *before = kw_plan_explain(w.plans[0]);
    assert_int_equal(kw_plans_join(&text, w.plans, 0, &err), KW_OK);
    assert_string_equal(text, "");
    kw_free(text);
    assert_int_equal(kw_plans_join(&text, w.plans, 4, &err), KW_OK);
    assert_non_null(strstr(text, "run in one launch"));
    kw_free(text);
    assert_int_equal(count_wrong(&w, 4), 0);
    assert_int_equal(kw_plans_join(&text, w.plans, COUNT, &err), KW_OK); /* some join already, others come beside them */
    assert_int_equal(count_lines(text, "is queued:"), ALONE);
    assert_non_null(strstr(text, "plan 13 is queued: it is no product"));
    assert_non_null(strstr(text, "plan 12 is queued: no other product that does not join already"));
    assert_non_null(strstr(text, "epilogue=bias:fp32+add:bf16+relu joined=1"));
    kw_free(text);
    check_explanations(&w, before);
    for (size_t count = 1; count <= COUNT; count++) {
        assert_int_equal(count_wrong(&w, count), 0);
    }
    close_world(&w);
}

static void what_overlaps_or_is_missing_is_refused(void **state) {
    (void)state;
    static world w;
    kw_error err = {0};
    open_world(&w);
    make_items(&w);
    assert_int_equal(kw_plans_join(NULL, w.plans, COUNT, &err), KW_OK);
    void *own = w.items[1].tensors.y;
    w.items[1].tensors.y = w.items[0].tensors.y;
    assert_int_equal(kw_plans_run(w.plans, w.tensors, 3, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "rule results_apart: the result of plan 0 and the result of plan 1 overlap"));
    w.items[1].tensors.y = NULL;
    assert_int_equal(kw_plans_run(w.plans, w.tensors, 3, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "plan 1: tensor y is NULL"));
    w.items[1].tensors.y = own;
    assert_int_equal(kw_plans_join(NULL, NULL, 1, &err), KW_ILLEGAL);
    assert_int_equal(kw_plans_join(NULL, (const kw_plan *const[]){w.plans[0], NULL}, 2, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "plans[1] is NULL"));
    assert_int_equal(count_wrong(&w, 3), 0);
    close_world(&w);
}

/* In a file, text becomes other. The table's own text is the library's too, and no copy of it may differ. */
static void faults_in_the_search_are_found(void **state) {
    (void)state;
    static const char *const faults[][2] = {
        {"kw_unit_run(&one, unit, kw_lds);", "kw_unit_run(&one, unit, kw_lds);"}, /* none */
        {"kw_unit_run(&one, unit, kw_lds);", "kw_unit_run(&one, 0, kw_lds);"},
        {"kw_joined_find(&one, kw_joined_table(), (int)kw_block())", "kw_joined_find(&one, kw_joined_table(), (int)kw_block() + 1)"},
        {"kw_joined_find(&one, kw_joined_table(), (int)kw_block());",
         "kw_joined_find(&one, kw_joined_table(), (int)kw_block()); one.gm += 1;"},
        {"kw_joined_find(&one, kw_joined_table(), (int)kw_block());",
         "kw_joined_find(&one, kw_joined_table(), (int)kw_block()); one.gk &= ~7;"},
    };
    static world w;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        planted texts;
        open_world(&w);
        make_items(&w);
        planted_open(&texts);
        planted_change(&texts, "gpu/lib/work.h", faults[i][0], faults[i][1]);
        assert_int_equal(kw_plans_join(NULL, w.plans, 6, NULL), KW_OK);
        if ((count_wrong(&w, 6) != 0) != (i > 0)) {
            fail_msg("%s: %s", faults[i][1], i ? "not found" : "wrong");
        }
        planted_close(&texts);
        close_world(&w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_result_in_one_launch),
                                       cmocka_unit_test(what_overlaps_or_is_missing_is_refused),
                                       cmocka_unit_test(faults_in_the_search_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
