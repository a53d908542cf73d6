/* test_hip.c: the hip backend against a driver of our own (support/fake_hip.c), which this program finds by its run path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "backend/gpu_common.h"
#include "backend/hip.h"
#include "support/code_object.h"
#include "support/fake_hip.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct driver {
    fake_hip_reset_call *reset;
    fake_hip_fail_call *fail_at;
    fake_hip_log_call *log;
    fake_hip_held_call *held;
} driver;

static void *look_up(const char *name) {
    void *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NODELETE), *found = dlsym(library, name);
    assert_non_null(found);
    dlclose(library);
    return found;
}

static driver fake_driver(void) {
    driver d;
    *(void **)&d.reset = look_up("fake_hip_reset");
    *(void **)&d.fail_at = look_up("fake_hip_fail");
    *(void **)&d.log = look_up("fake_hip_log");
    *(void **)&d.held = look_up("fake_hip_held");
    d.reset();
    return d;
}

/* A device with a kernel of gemm.plain, bound to a small problem. */
typedef struct setup {
    driver driver;
    kw_device *device;
    kw_kernel *kernel;
    kw_bound *bound;
    kw_problem problem;
    kw_launch launch;
} setup;

static const kw_backend *const hip = &kw_hip_backend;

static kw_status load_sample(kw_device *device, kw_kernel **kernel, kw_error *err) {
    kw_config config;
    kw_blob blob = code_object_sample();
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", err), KW_OK);
    kw_status status = hip->load(device, &config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static void set_up(setup *s) {
    kw_config config;
    kw_error err = {0};
    *s = (setup){.driver = fake_driver()};
    assert_int_equal(hip->open(&s->device, 0, 0, &err), KW_OK);
    assert_int_equal(load_sample(s->device, &s->kernel, &err), KW_OK);
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&s->problem, "gemm fp32 rcr m40 n30 k8", &err), KW_OK);
    config.family->launch(&config, &s->problem, hip->target(s->device), &s->launch);
    assert_int_equal(hip->bind(s->device, s->kernel, &s->problem, &s->launch, &s->bound, &err), KW_OK);
    s->driver.reset();
}

static void tear_down(setup *s) {
    s->driver.reset();
    hip->unbind(&s->bound);
    hip->unload(s->device, &s->kernel);
    hip->close(&s->device);
    assert_int_equal(s->driver.held(), 0);
}

static void a_device_s_facts_are_the_driver_s_and_its_architecture_s(void **state) {
    (void)state;
    setup s;
    char text[KW_TARGET_TEXT_MAX], why[256];
    set_up(&s);
    assert_int_equal(hip->probe(why), 2);
    kw_target_print(text, sizeof text, hip->target(s.device));
    assert_string_equal(text,
                        "hip:gfx942 model=AMD-Instinct-MI300X-OAM units=228 lanes=64 registers=512 l2=4194304 lds=65536 unit_lds=65536 "
                        "unit_registers=131072 unit_waves=32 clock=2100 bandwidth=5324");
    assert_string_equal(hip->about(s.device), "AMD Instinct MI300X (OAM), HIP 6.3.42134");
    tear_down(&s);
}

static void an_architecture_that_nobody_knows_is_refused_by_name(void **state) {
    (void)state;
    driver d = fake_driver();
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(hip->open(&device, 1, 0, &err), KW_MISSING);
    assert_null(device);
    assert_non_null(strstr(err.text, "gfx9999"));
    assert_non_null(strstr(err.text, "gfx942"));
    assert_int_equal(d.held(), 0);
}

static void what_is_queued_is_done_in_order_when_it_is_waited_for(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    kw_launch_memory memory = {0};
    char byte = 5;
    set_up(&s);
    assert_int_equal(hip->alloc(s.device, 16, &memory.tensor[KW_Y], &err), KW_OK);
    assert_int_equal(hip->copy(s.device, memory.tensor[KW_Y], &byte, 1, &err), KW_OK);
    s.driver.reset();
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(*(char *)memory.tensor[KW_Y], 5); /* the fake's memory can be looked into */
    assert_non_null(strstr(s.driver.log(), "hipModuleLaunchKernel [5 x 256 on "));
    assert_null(strstr(s.driver.log(), "Synchronize"));
    assert_int_equal(hip->sync(s.device, &err), KW_OK);
    assert_int_equal(*(char *)memory.tensor[KW_Y], 6);
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_REST, NULL, &err), KW_OK);
    assert_int_equal(hip->copy(s.device, &byte, memory.tensor[KW_Y], 1, &err), KW_OK);
    assert_int_equal(byte, 7); /* a copy comes after what was queued before it */
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_PACK, NULL, &err), KW_OK);
    assert_int_equal(hip->sync(s.device, &err), KW_OK);
    assert_int_equal(*(char *)memory.tensor[KW_Y], 7); /* no stage packs */
    hip->release(s.device, memory.tensor[KW_Y]);
    tear_down(&s);
}

static void the_caller_s_stream_is_used(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    kw_launch_memory memory = {0};
    kw_hip_calls calls;
    void *stream = NULL;
    char own[64], theirs[64];
    set_up(&s);
    assert_int_equal(kw_hip_load(&calls, &err), KW_OK);
    assert_int_equal(calls.hipStreamCreateWithFlags(&stream, 0), 0);
    assert_int_equal(hip->alloc(s.device, 16, &memory.tensor[KW_Y], &err), KW_OK);
    s.driver.reset();
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_ALL, stream, &err), KW_OK);
    snprintf(theirs, sizeof theirs, "%.60s", strchr(s.driver.log(), '['));
    s.driver.reset();
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    snprintf(own, sizeof own, "%.60s", strchr(s.driver.log(), '['));
    assert_string_not_equal(own, theirs);
    assert_null(strstr(own, "-1")); /* never the default stream, which waits for all others */
    assert_int_equal(calls.hipStreamDestroy(stream), 0);
    hip->release(s.device, memory.tensor[KW_Y]);
    tear_down(&s);
}

static void time_is_the_device_s_own_of_all_calls_together(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    kw_launch_memory calls[3] = {0};
    double ns = 0;
    set_up(&s);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hip->alloc(s.device, 16, &calls[i].tensor[KW_Y], &err), KW_OK);
    }
    assert_int_equal(hip->time(s.bound, calls, 3, KW_RUN_ALL, &ns, &err), KW_OK);
    assert_float_equal(ns, 3 * 5 * 1000.0, 1); /* five blocks of a microsecond each */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(*(char *)calls[i].tensor[KW_Y], 1);
        hip->release(s.device, calls[i].tensor[KW_Y]);
    }
    tear_down(&s);
}

static void a_kernel_that_goes_wrong_spoils_the_device_for_the_process(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    char outside[16] = "";
    kw_launch_memory memory = {.tensor = {outside, outside, outside}};
    void *block = NULL;
    double ns;
    set_up(&s);
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(hip->sync(s.device, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "illegal memory access"));
    assert_non_null(strstr(err.text, "this process"));
    assert_int_equal(hip->run(s.bound, &memory, KW_RUN_ALL, NULL, &err), KW_ENVIRONMENT);
    assert_int_equal(hip->alloc(s.device, 16, &block, &err), KW_ENVIRONMENT);
    assert_int_equal(hip->time(s.bound, &memory, 1, KW_RUN_ALL, &ns, &err), KW_ENVIRONMENT);
    tear_down(&s);
}

static void every_call_that_fails_is_a_status_and_nothing_is_kept(void **state) {
    (void)state;
    static const char *const calls[] = {"hipInit",
                                        "hipSetDevice",
                                        "hipGetDevicePropertiesR0600",
                                        "hipStreamCreateWithFlags",
                                        "hipModuleLoadData",
                                        "hipModuleGetFunction",
                                        "hipMalloc",
                                        "hipMemcpyAsync",
                                        "hipStreamSynchronize",
                                        "hipModuleLaunchKernel",
                                        "hipDeviceSynchronize"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        driver d = fake_driver();
        kw_device *device = NULL;
        kw_kernel *kernel = NULL;
        kw_bound *bound = NULL;
        kw_error err = {0};
        kw_launch_memory memory = {0};
        kw_launch launch = {.stages = 1, .stage = {{1, false, 64}}};
        kw_problem problem;
        assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m4 n4 k4", NULL), KW_OK);
        d.fail_at(calls[i], 98, 1);
        kw_status status = hip->open(&device, 0, 0, &err);
        status = status ? status : load_sample(device, &kernel, &err);
        status = status ? status : hip->bind(device, kernel, &problem, &launch, &bound, &err);
        status = status ? status : hip->alloc(device, 64, &memory.tensor[KW_Y], &err);
        status = status ? status : hip->copy(device, memory.tensor[KW_Y], &launch, 16, &err);
        status = status ? status : hip->run(bound, &memory, KW_RUN_ALL, NULL, &err);
        status = status ? status : hip->sync(device, &err);
        assert_int_equal(status, KW_FAILED);
        assert_true(*err.text);
        d.reset();
        hip->unbind(&bound);
        if (device) {
            hip->release(device, memory.tensor[KW_Y]);
            hip->unload(device, &kernel);
        }
        hip->close(&device);
        assert_int_equal(d.held(), 0);
    }
}

static void what_has_no_room_or_is_too_large_or_broken_is_refused(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    kw_config config;
    void *memory = NULL;
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    kw_blob broken = {(void *)(uintptr_t) "\177ELF", 4};
    set_up(&s);
    assert_int_equal(hip->alloc(s.device, (size_t)1 << 40, &memory, &err), KW_NO_MEMORY);
    assert_null(memory);
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", &err), KW_OK);
    assert_int_equal(hip->load(s.device, &config, &broken, &kernel, &err), KW_FAILED);
    assert_null(strstr(s.driver.log(), "hipModuleLoadData")); /* the driver never saw it */
    kw_blob hungry = code_object_sample();
    kw_device *device = s.device; /* whose facts are a driver's to say: a block's share of shared memory becomes 4 KiB */
    ((kw_target *)(uintptr_t)hip->target(device))->lds = 4096;
    assert_int_equal(hip->load(device, &config, &hungry, &kernel, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "16384 bytes of shared memory"));
    kw_blob_drop(&hungry);
    s.launch.stage[0].units = (int64_t)1 << 24; /* of 256 threads: 2^32 */
    assert_int_equal(hip->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "16777216 blocks"));
    s.launch.stage[0].units--;
    assert_int_equal(hip->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_OK);
    hip->unbind(&bound);
    s.launch.stages = 3; /* the fake's modules have two */
    assert_int_equal(hip->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_FAILED);
    assert_null(bound);
    tear_down(&s);
}

static void a_product_s_name_becomes_one_word(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"AMD Instinct MI300X", "AMD-Instinct-MI300X"},
        {"  A  (tm) B ", "A-tm-B"},
        {"", "unknown"},
        {"***", "unknown"},
        {"0123456789012345678901234567890123456789012345678901234567890", "01234567890123456789012345678901234567890123456"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char model[48];
        kw_gpu_model(model, cases[i][0]);
        assert_string_equal(model, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_s_facts_are_the_driver_s_and_its_architecture_s),
        cmocka_unit_test(an_architecture_that_nobody_knows_is_refused_by_name),
        cmocka_unit_test(what_is_queued_is_done_in_order_when_it_is_waited_for),
        cmocka_unit_test(the_caller_s_stream_is_used),
        cmocka_unit_test(time_is_the_device_s_own_of_all_calls_together),
        cmocka_unit_test(a_kernel_that_goes_wrong_spoils_the_device_for_the_process),
        cmocka_unit_test(every_call_that_fails_is_a_status_and_nothing_is_kept),
        cmocka_unit_test(what_has_no_room_or_is_too_large_or_broken_is_refused),
        cmocka_unit_test(a_product_s_name_becomes_one_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
