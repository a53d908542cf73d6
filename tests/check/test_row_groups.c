/* test_row_groups.c: grouped products on a CPU: kernels of rule set "tests" of each family that has them, and the compiled-in ones, on groups of
 * no rows, of one, of less than a tile and of several chunks, with rows behind the last group that must stay; on one thread and on three,
 * and every third kernel with an epilogue whose tensors go by group, by row and by element. The GPU's are in test_check_gpu.c.
 *
 * The environment: KW_CHECK_SET, KW_CHECK_FILTER as in test_check; KW_CHECK_CACHE is a folder in which compiled kernels are kept;
 * KW_CHECK_EVERY=N takes every Nth kernel. */
#include "check/set_kernels.h"
#include "measure/measure.h"
#include "problem/groups/groups.h"
#include "support/kw_test.h"

#include <stdlib.h>

enum { DEVICES = 2, EPILOGUE_EVERY = 3 };
static const int device_threads[DEVICES] = {1, 3};

static const char *const lines[] = {
    "rcr g5 m61 n37 k45",           "rrr g9 m200 n70 k29", "rcr g1 m33 n16 k64",
    "rrr g3 m500 n33 k17",          "rcr g64 m40 n18 k8",  "rcr g4 m90 n24 k20 lda32 ldb29 ldc41 strideb1000",
    "rrr g6 m70 n40 k300 strideb0",
};
static const char *const epilogues[] = {
    "epilogue=bias+add+relu",
    "out=fp32 epilogue=scale_row+scale_channel+bias+gelu",
    "out=int8 epilogue=scale_channel+bias:int32+clamp:-90:100",
};

typedef struct checker {
    const kw_backend *backend;
    kw_device *device[DEVICES];
    kw_compiler compiler;
    kw_cache *cache;
    size_t kernels, pairs, failures;
} checker;

static int set_up(void **state) {
    checker *c = calloc(1, sizeof *c);
    int index;
    char note[256];
    kw_error err = {0};
    const char *folder = getenv("KW_CHECK_CACHE");
    assert_non_null(c);
    assert_ok(kw_backend_find(&c->backend, &index, "cpu", &err), &err);
    for (int d = 0; d < DEVICES; d++) {
        assert_ok(c->backend->open(&c->device[d], index, device_threads[d], &err), &err);
    }
    assert_ok(kw_compiler_find(&c->compiler, getenv("KW_CC"), (kw_code){0}, &err), &err);
    if (folder) {
        assert_ok(kw_cache_open(&c->cache, folder, note, &err), &err);
    }
    *state = c;
    return 0;
}

static int tear_down(void **state) {
    checker *c = *state;
    for (int d = 0; d < DEVICES; d++) {
        c->backend->close(&c->device[d]);
    }
    kw_cache_close(&c->cache);
    free(c);
    return 0;
}

static void check_pair(checker *c, const kw_kernel *kernel, const kw_config *config, const kw_problem *problem, int d) {
    kw_bench *bench = NULL;
    kw_record record;
    kw_error err = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, problem);
    assert_ok(kw_bench_open(&bench, c->backend, c->device[d], problem, 1 + c->pairs, &err), &err);
    assert_ok(kw_bench_verify(bench, kernel, config, &record, &err), &err);
    c->pairs++;
    if (record.outcome != KW_GOOD && record.outcome != KW_MISTRUSTED) {
        c->failures++;
        fprintf(stderr, "%s: %s\n  kwright check --threads %d --config '%s' '%s'\n", kw_outcome_name(record.outcome), record.detail,
                device_threads[d], record.config, text);
    }
    kw_bench_close(&bench);
}

/* A kernel on the problems that it serves, beginning with another one each time. words: its epilogue, or "". */
static void check_kernel(checker *c, const kw_config *plain, const char *words, size_t first) {
    const size_t count = sizeof lines / sizeof *lines, most = plain->family->builtin ? count : 3;
    kw_jit jit = {.compiler = &c->compiler, .cache = c->cache, .log_folder = "/tmp"};
    kw_kernel *kernel[DEVICES] = {NULL};
    size_t met = 0;
    kw_error err = {0};
    for (size_t i = 0; i < count && met < most; i++) {
        char text[512];
        kw_problem problem;
        kw_config config;
        int d = (int)((first + i) % DEVICES);
        snprintf(text, sizeof text, "gemm %s %s %s", kw_dtype_name(plain->dtype), lines[(first + i) % count], words);
        assert_ok(kw_problem_parse(&problem, text, &err), &err);
        if (kw_config_serves(&config, plain, &problem, c->backend->target(c->device[d]), &err)) {
            continue;
        }
        if (!kernel[d]) {
            kw_blob blob = {0};
            kw_jit_result result;
            if (!config.family->builtin) {
                assert_ok(kw_jit_blob(&jit, &config, &blob, &result, &err), &err);
            }
            assert_ok(c->backend->load(c->device[d], &config, &blob, &kernel[d], &err), &err);
            kw_blob_drop(&blob);
        }
        check_pair(c, kernel[d], &config, &problem, d);
        met++;
    }
    assert_true(met > 0);
    for (int d = 0; d < DEVICES; d++) {
        if (kernel[d]) {
            c->backend->unload(c->device[d], &kernel[d]);
        }
    }
    c->kernels++;
}

static const char *epilogue_of(kw_dtype dtype, size_t number) {
    return dtype == KW_INT8 ? epilogues[2] : epilogues[number % 2];
}

static void every_kernel_is_right_on_groups(void **state) {
    checker *c = *state;
    const kw_target *target = c->backend->target(c->device[0]);
    const char *text = getenv("KW_CHECK_EVERY");
    size_t every = text && atoi(text) > 0 ? (size_t)atoi(text) : 1;
    kw_catalog catalog = {0};
    kw_error err = {0};
    assert_ok(set_kernels(&catalog, "tests", target->arch, &err), &err);
    for (size_t i = 0, number = 0; i < catalog.count; i++) {
        const kw_config *config = &catalog.configs[i];
        if (!config->family->row_groups || kw_config_runs(config, target, NULL) || number++ % every) {
            continue;
        }
        check_kernel(c, config, "", number);
        if (number % EPILOGUE_EVERY == 0) {
            check_kernel(c, config, epilogue_of(config->dtype, number), number);
        }
    }
    kw_catalog_drop(&catalog);
    assert_true(c->kernels > 0);
}

static void the_compiled_in_kernels_are_right_on_groups(void **state) {
    checker *c = *state;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int dtype = 0; dtype < KW_INT32 && (*family)->builtin && (*family)->row_groups; dtype++) {
            kw_config config = {.family = *family, .op = KW_GEMM, .dtype = (kw_dtype)dtype};
            check_kernel(c, &config, "", 0);
            check_kernel(c, &config, epilogue_of(config.dtype, (size_t)dtype), 0);
        }
    }
    print_message("%zu kernels, %zu pairs of kernel and problem, %zu wrong\n", c->kernels, c->pairs, c->failures);
    assert_int_equal(c->failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_is_right_on_groups),
        cmocka_unit_test(the_compiled_in_kernels_are_right_on_groups),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
