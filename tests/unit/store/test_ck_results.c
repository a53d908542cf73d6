/* test_ck_results.c: what CK Tile's benchmarks write becomes rows marked as mistrusted, and what is none is refused by its place. */
#include <math.h>

#include "kernelwright_tune/store.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#define TARGET                                                                                                                             \
    "hip:gfx950 model=any units=256 lanes=64 registers=512 l2=4194304 lds=163840 "                                                         \
    "unit_lds=163840 unit_registers=131072 unit_waves=32 clock=2400 bandwidth=8000"
#define NAME "gemm_universal_fp8_rcr_compv3_cshuffle_intrawave_False_False_False_False_128x256x64_2x2x1_32x32x16"

static char folder[SCRATCH_MAX];

static int set_up(void **state) {
    (void)state;
    scratch_make(folder);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static kw_store *open_rows(const char *name) {
    char path[2 * SCRATCH_MAX];
    kw_store *store = NULL;
    kw_error err = {0};
    if (kw_store_open(&store, scratch_path(path, folder, name), KW_STORE_WRITE, &err)) {
        fail_msg("%s", err.text);
    }
    return store;
}

static kw_row ck_defaults(void) {
    kw_row defaults = {.packed = true};
    snprintf(defaults.target, sizeof defaults.target, "%s", TARGET);
    return defaults;
}

typedef struct tally {
    int64_t rows, by[KW_OUTCOME_COUNT];
    kw_row one; /* the row of kernel and problem below */
    const char *kernel, *problem;
} tally;

static bool count_row(void *user, const kw_row *row) {
    tally *t = user;
    t->rows++;
    t->by[row->record.outcome]++;
    if (t->kernel && !strcmp(row->record.config, t->kernel) && !strcmp(row->problem, t->problem)) {
        t->one = *row;
    }
    return true;
}

static void visit_all(tally *t, kw_store *store) {
    kw_row_filter all = {.size = sizeof(kw_row_filter)};
    kw_error err = {0};
    if (kw_store_visit(store, &all, count_row, t, &err)) {
        fail_msg("%s", err.text);
    }
}

/* Names, counts and a time of each of the samples; the second time nothing is new. */
static void the_samples_become_rows(void **state) {
    (void)state;
    static const struct {
        const char *file, *kernel, *problem;
        double ns;
        int64_t good, failed;
    } cases[] = {
        {"gemm_fp16_rcr.json.gz", "gemm_universal_fp16_rcr_mem_cshuffle_intrawave_False_False_False_False_128x128x32_2x2x1_32x32x16",
         "gemm fp16 rcr b1 m1024 n4096 k2048", 5118, 354, 6},
        {"gemm_fp8_rcr.log.gz", "gemm_universal_fp8_rcr_compv4_cshuffle_intrawave_False_False_False_False_64x64x64_2x2x1_32x32x16",
         "gemm fp8 rcr b1 m4096 n512 k7168", 2999, 360, 0},
        {"conv_forward_bf16.csv.gz", "grouped_conv_forward_bf16_2d_64x64x64_compv4_intrawave_dsb",
         "conv_fwd bf16 nhwgc n8 g1 c64 k256 i28x28 f3x3 s1x1 p1x1 d1x1", 4094, 468, 18},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[512];
        kw_store *store = open_rows(cases[i].file);
        kw_row defaults = ck_defaults();
        kw_import_report report;
        kw_error err = {0};
        tally t = {.kernel = cases[i].kernel, .problem = cases[i].problem};
        snprintf(path, sizeof path, "%s/%s", KW_CK_SAMPLES, cases[i].file);
        if (kw_store_import(store, NULL, path, &defaults, &report, &err)) {
            fail_msg("%s: %s", cases[i].file, err.text);
        }
        assert_string_equal(report.first_refusal, "");
        assert_int_equal(report.added, cases[i].good + cases[i].failed);
        assert_int_equal(kw_store_import(store, NULL, path, &defaults, &report, &err), KW_OK);
        assert_int_equal(report.added, 0);
        visit_all(&t, store);
        assert_int_equal(t.rows, cases[i].good + cases[i].failed);
        assert_int_equal(t.by[KW_MISTRUSTED], cases[i].good);
        assert_int_equal(t.by[KW_UNLAUNCHED], cases[i].failed);
        if (t.one.record.outcome != KW_MISTRUSTED || fabs(t.one.record.time_ns - cases[i].ns) > 0.5) {
            fail_msg("%s: %s, %.1f ns", cases[i].file, kw_outcome_name(t.one.record.outcome), t.one.record.time_ns);
        }
        assert_non_null(strstr(t.one.record.detail, "whether the result was right"));
        kw_store_close(&store);
    }
}

static void import_text(kw_import_report *report, tally *t, const char *format, const char *text) {
    char path[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_row defaults = ck_defaults();
    scratch_write(scratch_path(path, folder, "x"), text, strlen(text), 0644);
    scratch_path(path, folder, "x.db");
    remove(path);
    kw_store *store = open_rows("x.db");
    scratch_path(path, folder, "x");
    if (kw_store_import(store, format, path, &defaults, report, &err)) {
        fail_msg("%.200s: %s", text, err.text);
    }
    visit_all(t, store);
    kw_store_close(&store);
}

#define JSON(benchmark)                                                                                                                    \
    "{\"metadata\": {\"dtype\": \"fp8\", \"layout\": \"rcr\"}, \"results\": [{\"kernel_config\": {\"name\": \"" NAME                       \
    "\"}, \"benchmarks\": [" benchmark "]}]}\n"
#define RUN(name, perf)                                                                                                                    \
    "{\n \"name\": \"" name "\",\n \"problem\": {\"m\": 16, \"n\": 512, \"k\": 1024},\n \"perf_result\": {" perf "}\n}\n"
#define SHAPE "Shape 1: M=16 N=512 K=1024 dtype=fp8 layout=rcr\n"
#define GOOD_RUN RUN(NAME, "\"latency(ms)\": 0.02, \"tflops(TFlops)\": 0.84")

static void what_cannot_be_true_is_refused_by_its_place(void **state) {
    (void)state;
    static const struct {
        const char *format, *text;
        int64_t added, refused;
        const char *where, *reason;
    } cases[] = {
        {"ck-json", JSON("{\"m\": 16, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0.02, \"tflops\": 0.84, \"is_valid\": true}"), 1, 0, "",
         ""},
        {"ck-json", JSON("{\"m\": 16, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0.02, \"tflops\": 84, \"is_valid\": true}"), 0, 1,
         "results[0].benchmarks[0]: ", "sizes and time make it 0.83"},
        {"ck-json", JSON("{\"m\": 0, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0.02, \"tflops\": 1, \"is_valid\": true}"), 0, 1,
         "results[0].benchmarks[0]: ", "m"},
        {"ck-json", JSON("{\"m\": 16.5, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0.02, \"tflops\": 1, \"is_valid\": true}"), 0, 1,
         "results[0].benchmarks[0]: ", "m"},
        {"ck-json", JSON("{\"m\": 16, \"n\": 512, \"k\": 1024, \"avg_time_ms\": -1, \"tflops\": 1, \"is_valid\": true}"), 0, 1,
         "results[0].benchmarks[0]: ", "longer than nothing"},
        {"ck-json", JSON("{\"m\": 16, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 1e-9, \"tflops\": 0, \"is_valid\": true}"), 0, 1,
         "results[0].benchmarks[0]: ", "peak"},
        {"ck-json", "{\"results\": [{\"benchmarks\": []}, 7]}", 0, 2, "results[0]: ", "kernel_config"},
        {"ck-log", "noise\n" SHAPE GOOD_RUN "{1 of 2}\n" SHAPE "{ cut\n" SHAPE GOOD_RUN, 2, 2, "line 8: ", "expected near"},
        {"ck-log", RUN(NAME, "\"latency(ms)\": \"0.02\", \"tflops(TFlops)\": \"0.84\""), 0, 1, "line 1: ", "type \"\""},
        {"ck-log", SHAPE RUN("", "\"latency(ms)\": 0.02, \"tflops(TFlops)\": 0.84"), 0, 1, "line 2: ", "0 characters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_import_report report;
        tally t = {0};
        import_text(&report, &t, cases[i].format, cases[i].text);
        if (report.added != cases[i].added || report.refused != cases[i].refused ||
            strncmp(report.first_refusal, cases[i].where, strlen(cases[i].where)) || !strstr(report.first_refusal, cases[i].reason)) {
            fail_msg("%zu: %lld added, %lld refused, %s", i, (long long)report.added, (long long)report.refused, report.first_refusal);
        }
    }
}

/* Splits are part of the kernel here: two of them are two rows. A failed run is a row that says so. */
static void splits_and_failures_are_kept(void **state) {
    (void)state;
    kw_import_report report;
    tally t = {.kernel = NAME "_splitk4", .problem = "gemm fp8 rcr b1 m16 n512 k1024"};
    import_text(
        &report, &t, NULL,
        JSON("{\"m\": 16, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0.02, \"tflops\": 0.84, \"is_valid\": true},"
             "{\"m\": 16, \"n\": 512, \"k\": 1024, \"split_k\": 4, \"avg_time_ms\": 0.01, \"tflops\": 1.68, \"is_valid\": true},"
             "{\"m\": 17, \"n\": 512, \"k\": 1024, \"avg_time_ms\": 0, \"tflops\": 0, \"is_valid\": false, \"error\": \"not supported\"}"));
    assert_string_equal(report.first_refusal, "");
    assert_int_equal(report.added, 3);
    assert_true(fabs(t.one.record.time_ns - 10000) < 1e-6);
    assert_int_equal(t.by[KW_UNLAUNCHED], 1);
}

static void whole_files_that_are_none_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *format, *text, *reason;
        bool target;
    } cases[] = {
        {"ck-json", "{\"results\": 7}", "no list \"results\"", true},
        {"ck-json", "{\"results\": [", "JSON", true},
        {"ck-json", "", "JSON", true},
        {NULL, JSON(""), "must be given", false},
        {"ck-log", "", "must be given", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[2 * SCRATCH_MAX];
        kw_error err = {0};
        kw_row defaults = ck_defaults();
        kw_store *store = open_rows("y.db");
        scratch_write(scratch_path(path, folder, "y"), cases[i].text, strlen(cases[i].text), 0644);
        assert_int_not_equal(kw_store_import(store, cases[i].format, path, cases[i].target ? &defaults : NULL, NULL, &err), KW_OK);
        if (!strstr(err.text, cases[i].reason)) {
            fail_msg("%zu: %s", i, err.text);
        }
        kw_store_close(&store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_samples_become_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_true_is_refused_by_its_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(splits_and_failures_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(whole_files_that_are_none_are_refused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
