/* test_emu.c: the emulated GPUs: their names and facts, and kernels that verify on them as on any device. */

#include "backend/emu/emu.h"
#include "base/hash.h"
#include "config/config.h"
#include "measure/measure.h"
#include "support/kw_test.h"

static const kw_backend *open_named(kw_device **device, const char *name, int threads) {
    const kw_backend *backend = NULL;
    int index = -1;
    kw_error err = {0};
    assert_int_equal(kw_backend_find(&backend, &index, name, &err), KW_OK);
    assert_int_equal(backend->open(device, index, threads, &err), KW_OK);
    return backend;
}

static kw_blob compile(const kw_config *config, const char *arch) {
    kw_compiler compiler;
    kw_code code;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    assert_int_equal(kw_code_for(&code, KW_BACKEND_EMU, arch, &err), KW_OK);
    if (kw_compiler_find(&compiler, NULL, code, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    kw_jit jit = {.code = code, .compiler = &compiler};
    if (kw_jit_blob(&jit, config, &blob, &result, &err)) {
        fail_msg("%s", err.text);
    }
    return blob;
}

static void verify(const char *device_name, const char *config_text, const char *problem_text) {
    kw_device *device = NULL;
    kw_error err = {0};
    const kw_backend *backend = open_named(&device, device_name, 2);
    kw_config config;
    kw_problem problem;
    kw_kernel *kernel = NULL;
    kw_bench *bench = NULL;
    kw_record record;
    assert_int_equal(kw_config_parse(&config, config_text, &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, problem_text, &err), KW_OK);
    kw_blob blob = compile(&config, backend->target(device)->arch);
    if (backend->load(device, &config, &blob, &kernel, &err)) {
        fail_msg("%s", err.text);
    }
    kw_blob_drop(&blob);
    assert_int_equal(kw_bench_open(&bench, backend, device, &problem, 0, &err), KW_OK);
    assert_int_equal(kw_bench_verify(bench, kernel, &config, &record, &err), KW_OK);
    if (record.outcome != KW_GOOD) {
        fail_msg("%s on %s, %s: %s", config_text, device_name, problem_text, record.detail);
    }
    kw_bench_close(&bench);
    backend->unload(device, &kernel);
    backend->close(&device);
}

static void each_architecture_is_a_device_with_its_typical_facts(void **state) {
    (void)state;
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        char name[48];
        kw_device *device = NULL;
        snprintf(name, sizeof name, "emu:%s", arch->name);
        const kw_backend *backend = open_named(&device, name, 0);
        const kw_target *target = backend->target(device);
        assert_int_equal(target->backend, KW_BACKEND_EMU);
        assert_string_equal(target->arch, arch->name);
        assert_int_equal(target->lds, arch->typical.lds);
        assert_int_equal(target->units, arch->typical.units);
        backend->close(&device);
        assert_null(device);
    }
    const kw_backend *backend = NULL;
    int index = -1;
    kw_error err = {0};
    assert_int_equal(kw_backend_find(&backend, &index, "emu:gfx1", &err), KW_MISSING);
    assert_non_null(strstr(err.text, "gfx942"));
}

static void plain_kernels_verify(void **state) {
    (void)state;
    static const struct {
        const char *config, *problem;
    } cases[] = {
        {"gemm.reference_gpu gemm bf16", "gemm bf16 rcr m33 n17 k29"},
        {"gemm.reference_gpu gemm int8", "gemm int8 crr m9 n17 k31"},
        {"gemm.reference_gpu gemm fp8", "gemm fp8 rrr m9 n17 k31"},
        {"conv.reference_gpu conv_fwd fp16", "conv_fwd fp16 nhwgc n2 g2 c6 k10 i7x9 f3x3 s2x1 p1x1 d1x2"},
        {"conv.reference_gpu conv_bwd_data fp32", "conv_bwd_data fp32 nhwgc n1 g1 c5 k7 i9x8 f3x2 s2x2 p1x0 d1x1"},
        {"conv.reference_gpu conv_bwd_weight bf16", "conv_bwd_weight bf16 nhwgc n2 g1 c5 k7 i9x8 f3x2 s2x2 p1x0 d1x1"},
    };
    static const char *const devices[] = {"emu:gfx942", "emu:sm_90"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t d = 0; d < sizeof devices / sizeof *devices; d++) {
            verify(devices[d], cases[i].config, cases[i].problem);
        }
    }
}

/* Whatever the table says, a report has a text and reads nothing beside the table (sanitizers see to that). */
static void a_damaged_line_table_gives_a_text_all_the_same(void **state) {
    (void)state;
    kw_config config;
    kw_emu_object object;
    kw_error err = {0};
    char text[80];
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm bf16", &err), KW_OK);
    kw_blob blob = compile(&config, "gfx942");
    assert_int_equal(kw_emu_object_open(&object, &blob, &err), KW_OK);
    assert_true(object.lines_size > 100);
    const char *inside = (const char *)object.stage[0] + 16; /* in the kernel, behind its head */
    kw_emu_line(&object, inside, text);
    assert_non_null(strstr(text, "gpu/reference/reference.c:"));
    for (uint64_t i = 0; i < 4000; i++) {
        kw_emu_object damaged = object;
        uint64_t luck = kw_hash64(&i, sizeof i);
        damaged.lines_size = i % 4 ? object.lines_size : luck % object.lines_size;
        damaged.lines = malloc(damaged.lines_size + !damaged.lines_size);
        assert_non_null(damaged.lines);
        memcpy(damaged.lines, object.lines, damaged.lines_size);
        for (uint64_t flips = i % 4; flips > 0; flips--) {
            luck = kw_hash64(&luck, sizeof luck);
            damaged.lines[luck % 3 ? luck / 3 % damaged.lines_size : luck / 3 % 100] = (unsigned char)(luck >> 56);
        }
        kw_emu_line(&damaged, inside, text);
        assert_true(strlen(text) > 0);
        free(damaged.lines);
    }
    kw_emu_object_close(&object);
    kw_blob_drop(&blob);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_architecture_is_a_device_with_its_typical_facts),
        cmocka_unit_test(plain_kernels_verify),
        cmocka_unit_test(a_damaged_line_table_gives_a_text_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
