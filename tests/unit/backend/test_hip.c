/* test_hip.c: what the hip backend has to itself: facts, grids counted in threads, shared memory that is fixed. The driver is a stand-in
 * (support/device/fake_hip.c), which this program finds by its run path; what all drivers share is test_gpu_driver.c's. */

#include "backend/gpu/hip.h"
#include "config/config.h"
#include "support/kw_test.h"
#include "support/device/code_object.h"

static const kw_backend *const hip = &kw_hip_backend;

static kw_status load_sample(kw_device *device, kw_kernel **kernel, kw_error *err) {
    kw_config config;
    kw_blob blob = code_object_sample();
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm fp32", err), KW_OK);
    kw_status status = hip->load(device, &config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static void a_device_s_facts_are_the_driver_s_and_its_architecture_s(void **state) {
    (void)state;
    char text[KW_TARGET_TEXT_MAX];
    kw_device *device = NULL;
    assert_int_equal(hip->open(&device, 0, 0, NULL), KW_OK);
    kw_target_print(text, sizeof text, hip->target(device));
    assert_string_equal(text,
                        "hip:gfx942 model=AMD-Instinct-MI300X-OAM units=228 lanes=64 registers=512 l2=4194304 lds=65536 unit_lds=65536 "
                        "unit_registers=131072 unit_waves=32 clock=2100 bandwidth=5324");
    assert_string_equal(hip->about(device), "AMD Instinct MI300X (OAM), HIP 6.3.42134");
    hip->close(&device);
}

static void an_unknown_architecture_s_message_names_those_that_are_known(void **state) {
    (void)state;
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(hip->open(&device, 1, 0, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "gfx942"));
    assert_null(strstr(err.text, "sm_90"));
}

static void a_block_that_wants_more_shared_memory_than_there_is_is_refused(void **state) {
    (void)state;
    kw_device *device = NULL;
    kw_kernel *kernel = NULL;
    kw_error err = {0};
    assert_int_equal(hip->open(&device, 0, 0, &err), KW_OK);
    ((kw_target *)(uintptr_t)hip->target(device))->lds = 4096; /* facts are a driver's to say: a block's share becomes 4 KiB */
    assert_int_equal(load_sample(device, &kernel, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "16384 bytes of shared memory"));
    assert_null(kernel);
    hip->close(&device);
}

static void a_grid_has_less_than_two_to_the_32_threads(void **state) {
    (void)state;
    kw_device *device = NULL;
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    kw_problem problem;
    kw_error err = {0};
    kw_launch launch = {.stages = 1, .stage = {{.units = (int64_t)1 << 24, .threads = 256}}};
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m4 n4 k4", NULL), KW_OK);
    assert_int_equal(hip->open(&device, 0, 0, &err), KW_OK);
    assert_int_equal(load_sample(device, &kernel, &err), KW_OK);
    assert_int_equal(hip->bind(device, kernel, &problem, &launch, &bound, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "16777216 blocks"));
    launch.stage[0].units--;
    assert_int_equal(hip->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    hip->unbind(&bound);
    hip->unload(device, &kernel);
    hip->close(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_s_facts_are_the_driver_s_and_its_architecture_s),
        cmocka_unit_test(an_unknown_architecture_s_message_names_those_that_are_known),
        cmocka_unit_test(a_block_that_wants_more_shared_memory_than_there_is_is_refused),
        cmocka_unit_test(a_grid_has_less_than_two_to_the_32_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
