/* test_gpu_peak.c: roofs of GPUs without one: every kernel compiles for every architecture whose compiler is here, and a stand-in for a
 * driver, in which a block takes a microsecond whatever it does, gets the rates that follow from that. */

#include "backend/gpu/hip.h"
#include "families/gpu/peak/peak.h"
#include "measure/measure.h"
#include "support/kw_test.h"

#include <math.h>

static bool find_compiler(kw_compiler *compiler, kw_code *code, kw_backend_id backend, const char *arch) {
    kw_error err = {0};
    assert_int_equal(kw_code_for(code, backend, arch, &err), KW_OK);
    if (kw_compiler_find(compiler, NULL, *code, &err)) {
        print_message("skipped: %s\n", err.text);
        return false;
    }
    return true;
}

static void compile_all(const kw_gpu_arch *arch) {
    kw_compiler compiler;
    kw_code code;
    if (!find_compiler(&compiler, &code, arch->backend, arch->name)) {
        return;
    }
    const kw_jit jit = {.code = code, .compiler = &compiler};
    static const int works[] = {-1, KW_FP32, KW_BF16, KW_FP8, KW_INT8}; /* -1: the copy */
    for (size_t i = 0; i < sizeof works / sizeof *works; i += KW_TEST_KERNELS_STEP) {
        const int dtype = works[i];
        kw_config config;
        kw_blob blob = {0};
        kw_blob_facts facts;
        kw_jit_result result;
        kw_error err = {0};
        if (dtype < 0) {
            kw_peak_copy(&config);
        } else {
            assert_true(kw_peak_math(&config, arch, (kw_dtype)dtype));
        }
        if (kw_jit_blob(&jit, &config, &blob, &result, &err) || kw_blob_facts_read(&facts, &blob, code, &err)) {
            fail_msg("%s %d: %s", arch->name, dtype, err.text);
        }
        if (facts.spill_bytes > 0) {
            fail_msg("%s %d: %d bytes are spilled", arch->name, dtype, facts.spill_bytes);
        }
        kw_blob_drop(&blob);
    }
}

static void every_kernel_compiles_and_keeps_its_results_in_registers(void **state) {
    (void)state;
    static const char *const names[] = {"gfx942", "sm_90"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        compile_all(kw_gpu_arch_find(names[i]));
    }
}

static void rates_follow_from_the_device_s_clock(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_code code;
    kw_config config;
    kw_device *device = NULL;
    kw_error err = {0};
    double rate = 0;
    if (!find_compiler(&compiler, &code, KW_BACKEND_HIP, "gfx942")) {
        skip();
    }
    const kw_jit jit = {.code = code, .compiler = &compiler};
    const double blocks = 12 * 228, ns = blocks * 1000;
    assert_int_equal(kw_hip_backend.open(&device, 0, 0, &err), KW_OK);
    assert_int_equal(kw_gpu_peak(&rate, &kw_hip_backend, device, &jit, KW_BF16, &err), KW_OK);
    assert_true(kw_peak_math(&config, code.arch, KW_BF16));
    double expected = kw_peak_flops(&config, code.arch, 256) * blocks / ns * 1e9;
    assert_true(fabs(rate / expected - 1) < 1e-3);
    assert_int_equal(kw_gpu_bandwidth(&rate, &kw_hip_backend, device, &jit, &err), KW_OK);
    assert_true(fabs(rate / (2.0 * (512 << 20) / ns * 1e9) - 1) < 1e-3);
    assert_int_equal(kw_gpu_peak(&rate, &kw_hip_backend, device, &jit, KW_INT32, &err), KW_OK);
    assert_true(rate == 0); /* no such instruction */
    kw_hip_backend.close(&device);
}

static void operations_are_counted_once_an_instruction(void **state) {
    (void)state;
    static const struct {
        const char *arch;
        kw_dtype dtype;
        double flops; /* of one turn of a block of 256 threads */
    } cases[] = {
        {"gfx942", KW_BF16, 4 * 4 * 2.0 * 32 * 32 * 16}, /* four waves, four results each */
        {"sm_80", KW_FP16, 8 * 8 * 2.0 * 16 * 8 * 16},   {"sm_90", KW_BF16, 2 * 16 * 2.0 * 64 * 256 * 16}, /* two groups of four waves */
        {"sm_90", KW_FP8, 2 * 16 * 2.0 * 64 * 256 * 32}, {"sm_90", KW_FP32, 8 * 8 * 2.0 * 16 * 8 * 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config;
        const kw_gpu_arch *arch = kw_gpu_arch_find(cases[i].arch);
        assert_true(kw_peak_math(&config, arch, cases[i].dtype));
        assert_true(kw_peak_flops(&config, arch, 1) == cases[i].flops);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_compiles_and_keeps_its_results_in_registers),
        cmocka_unit_test(rates_follow_from_the_device_s_clock),
        cmocka_unit_test(operations_are_counted_once_an_instruction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
