/* test_gpu.c: a GPU through the public API, as an application meets it. The GPU is one that this machine's CPU plays, so that nothing on the way
 * from problem to result may assume that kernels run where the caller does. */

#include "support/kw_test.h"
#include "support/scratch.h"

#include <kernelwright.h>
#include <math.h>

static const char small_conv[] = "conv_fwd bf16 nhwgc n1 c8 k8 i6x6 f3x3 p1x1", small_gemm[] = "gemm fp32 rcr m20 n12 k9";

typedef struct world {
    char folder[SCRATCH_MAX];
    kw_context *context;
} world;

static kw_status open_context(world *w, const char *device, kw_error *err) {
    char cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX];
    scratch_path(cache, w->folder, "cache");
    scratch_path(data, w->folder, "data");
    return kw_context_open(&w->context, device,
                           &(kw_context_options){.size = sizeof(kw_context_options), .threads = 2, .cache_dir = cache, .data_dir = data},
                           err);
}

static void open_world_of(world *w, const char *device) {
    kw_error err = {0};
    *w = (world){.context = NULL};
    scratch_make(w->folder);
    if (open_context(w, device, &err)) {
        fail_msg("%s", err.text);
    }
    if (!*kw_context_compiler(w->context)) {
        kw_context_close(&w->context);
        scratch_remove(w->folder);
        print_message("skipped: no compiler\n");
        skip();
    }
}

static void open_world(world *w) {
    open_world_of(w, "emu:sm_90");
}

static void close_world(world *w) {
    kw_context_close(&w->context);
    scratch_remove(w->folder);
}

static kw_plan *make_plan(const world *w, const char *text, const kw_plan_options *options) {
    kw_problem problem;
    kw_plan *plan = NULL;
    kw_error err = {0};
    assert_int_equal(kw_problem_parse(&problem, text, &err), KW_OK);
    if (kw_plan_create(&plan, w->context, &problem, options, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    return plan;
}

/* C = A B on the device, from host memory and back. */
static void a_plan_computes_on_memory_of_the_device(void **state) {
    (void)state;
    enum { M = 20, N = 12, K = 9 };
    float a[M * K], b[K * N], c[M * N];
    world w;
    kw_error err = {0};
    kw_tensors t = {.size = sizeof(kw_tensors)};
    open_world(&w);
    kw_plan *plan = make_plan(&w, small_gemm, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT});
    for (int i = 0; i < M * K; i++) {
        a[i] = (float)(i % 7 - 3);
    }
    for (int i = 0; i < K * N; i++) {
        b[i] = (float)(i % 5 - 2);
    }
    assert_int_equal(kw_device_alloc(w.context, sizeof a, &t.x, &err), KW_OK);
    assert_int_equal(kw_device_alloc(w.context, sizeof b, &t.w, &err), KW_OK);
    assert_int_equal(kw_device_alloc(w.context, sizeof c, &t.y, &err), KW_OK);
    assert_int_equal(kw_device_alloc(w.context, kw_plan_workspace(plan), &t.workspace, &err), KW_OK);
    assert_int_equal(kw_device_copy(w.context, t.x, a, sizeof a, &err), KW_OK);
    assert_int_equal(kw_device_copy(w.context, t.w, b, sizeof b, &err), KW_OK);
    assert_int_equal(kw_plan_run(plan, &t, NULL, &err), KW_OK);
    assert_int_equal(kw_device_copy(w.context, c, t.y, sizeof c, &err), KW_OK);
    for (int i = 0; i < M * N; i++) {
        float sum = 0;
        for (int k = 0; k < K; k++) {
            sum += a[i / N * K + k] * b[i % N * K + k];
        }
        assert_true(c[i] == sum);
    }
    t.x = (char *)t.x + 4;
    assert_int_equal(kw_plan_run(plan, &t, NULL, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "not aligned to 16 bytes"));
    t.x = (char *)t.x - 4;
    assert_int_equal(kw_plan_run(plan, &t, &w, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "no streams"));
    kw_device_free(w.context, t.x);
    kw_device_free(w.context, t.w);
    kw_device_free(w.context, t.y);
    kw_device_free(w.context, t.workspace);
    kw_plan_destroy(&plan);
    close_world(&w);
}

static void a_race_is_run_and_remembered_under_the_gpu_s_target(void **state) {
    (void)state;
    world w;
    size_t count = 0, good = 0;
    open_world(&w);
    assert_int_equal(strncmp(kw_context_target(w.context), "emu:sm_90 ", 10), 0);
    kw_plan *plan = make_plan(&w, small_conv, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST, .shortlist = 2});
    const kw_record *records = kw_plan_records(plan, &count);
    for (size_t i = 0; i < count; i++) {
        good += records[i].outcome == KW_GOOD && records[i].time_ns > 0;
    }
    assert_true(good >= 1);
    kw_plan_destroy(&plan);
    plan = make_plan(&w, small_conv, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN, .frozen_is_error = true});
    assert_non_null(strstr(kw_plan_explain(plan), "from wisdom"));
    kw_plan_destroy(&plan);
    close_world(&w);
}

static void where_nothing_else_fits_the_plain_kernel_answers(void **state) {
    (void)state;
    world w;
    kw_registry *registry = NULL;
    kw_error err = {0};
    open_world(&w);
    assert_int_equal(kw_registry_create(&registry, w.context, &err), KW_OK);
    assert_string_equal(kw_registry_arch(registry), "sm_90");
    kw_plan *plan =
        make_plan(&w, small_conv, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry});
    assert_string_equal(kw_plan_config(plan), "conv.reference_gpu conv_fwd bf16");
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    close_world(&w);
}

/* A GPU's reference kernels are not compiled in. */
static void a_frozen_plan_takes_the_plain_kernel_from_the_cache_or_says_that_it_is_not_there(void **state) {
    (void)state;
    world w;
    kw_registry *registry = NULL;
    kw_problem problem;
    kw_plan *plan = NULL;
    kw_error err = {0};
    open_world(&w);
    assert_int_equal(kw_registry_create(&registry, w.context, &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, small_gemm, &err), KW_OK);
    assert_int_equal(kw_plan_create(&plan, w.context, &problem,
                                    &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN, .registry = registry}, &err),
                     KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "the cache has no gemm.reference_gpu kernel"));
    plan = make_plan(&w, small_gemm, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry});
    kw_plan_destroy(&plan);
    plan = make_plan(&w, small_gemm, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN, .registry = registry});
    assert_string_equal(kw_plan_config(plan), "gemm.reference_gpu gemm fp32");
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    close_world(&w);
}

static void convolutions_of_one_byte_types_are_multiplied_by_matrix_instructions(void **state) {
    (void)state;
    static const char *const devices[] = {"emu:gfx942", "emu:sm_90"}, *const problems[] = {
                                                                          "conv_fwd fp8 nhwgc n1 g2 c32 k32 i6x6 f3x3 p1x1",
                                                                          "conv_bwd_data bf8 nhwgc n2 c48 k16 i14x14 f3x3 s2x2 p1x1",
                                                                          "conv_bwd_weight int8 ndhwgc n1 c5 k70 i6x9x8 f3x3x3"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        world w;
        open_world_of(&w, devices[i]);
        for (size_t j = 0; j < sizeof problems / sizeof *problems; j++) {
            kw_plan *plan = make_plan(&w, problems[j], &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT});
            if (strncmp(kw_plan_config(plan), "conv.igemm ", strlen("conv.igemm "))) {
                fail_msg("%s: %s gets %s", devices[i], problems[j], kw_plan_config(plan));
            }
            kw_plan_destroy(&plan);
        }
        close_world(&w);
    }
}

static void kernels_of_another_kind_of_device_are_not_its(void **state) {
    (void)state;
    world w;
    kw_registry *registry = NULL;
    kw_error err = {0};
    open_world(&w);
    assert_int_equal(kw_registry_create(&registry, w.context, &err), KW_OK);
    assert_int_equal(kw_registry_add_default(registry, &err), KW_OK);
    for (size_t i = 0; i < kw_registry_count(registry); i++) {
        assert_null(strstr(kw_registry_config(registry, i), ".reference "));
    }
    kw_registry_destroy(&registry);
    close_world(&w);
}

/* What `kwright tune` measures for its reference column. */
static void a_gpu_has_a_reference_kernel_of_its_own(void **state) {
    (void)state;
    static const struct {
        const char *device, *problem, *config;
    } cases[] = {
        {"cpu", small_gemm, "gemm.reference gemm fp32"},
        {"emu:gfx942", small_gemm, "gemm.reference_gpu gemm fp32"},
        {"emu:sm_90", small_conv, "conv.reference_gpu conv_fwd bf16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        world w;
        kw_registry *registry = NULL;
        kw_problem problem;
        kw_record record;
        kw_error err = {0};
        open_world_of(&w, cases[i].device);
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        assert_int_equal(kw_registry_create(&registry, w.context, &err), KW_OK);
        assert_int_equal(kw_registry_add_reference(registry, &problem, &err), KW_OK);
        assert_string_equal(kw_registry_config(registry, 0), cases[i].config);
        assert_int_equal(
            kw_measure(&record, registry, 0, &problem, &(kw_measure_options){.size = sizeof(kw_measure_options), .time = true}, &err),
            KW_OK);
        assert_int_equal(record.outcome, KW_GOOD);
        assert_true(record.time_ns > 0);
        kw_registry_destroy(&registry);
        close_world(&w);
    }
}

static void a_device_that_is_not_there_says_why(void **state) {
    (void)state;
    kw_context *context = NULL;
    kw_error err = {0};
    assert_int_equal(kw_context_open(&context, "cuda:4000", NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "cuda:4000"));
    assert_int_equal(kw_context_open(&context, "emu:sm_1", NULL, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "sm_90"));
    assert_null(context);
}

typedef struct seen {
    int devices, gpus_without;
    bool cpu, played;
} seen;

static void note_device(void *user, const kw_device_entry *entry) {
    seen *s = user;
    s->devices++;
    s->cpu |= !strcmp(entry->device, "cpu:0") && *entry->target;
    s->played |= !strcmp(entry->device, "emu") && strstr(entry->about, "emu:gfx942");
    s->gpus_without += *entry->none != 0;
    assert_true(*entry->target || *entry->about || *entry->none);
    assert_true(!entry->gpu || *entry->compiler || *entry->no_compiler);
}

static void every_backend_is_told_of(void **state) {
    (void)state;
    seen s = {0};
    assert_true(kw_devices_visit(note_device, &s) > 1);
    assert_true(s.cpu && s.played && s.devices >= 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_computes_on_memory_of_the_device),
        cmocka_unit_test(a_race_is_run_and_remembered_under_the_gpu_s_target),
        cmocka_unit_test(where_nothing_else_fits_the_plain_kernel_answers),
        cmocka_unit_test(a_frozen_plan_takes_the_plain_kernel_from_the_cache_or_says_that_it_is_not_there),
        cmocka_unit_test(convolutions_of_one_byte_types_are_multiplied_by_matrix_instructions),
        cmocka_unit_test(kernels_of_another_kind_of_device_are_not_its),
        cmocka_unit_test(a_gpu_has_a_reference_kernel_of_its_own),
        cmocka_unit_test(a_device_that_is_not_there_says_why),
        cmocka_unit_test(every_backend_is_told_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
