/* test_gpu_driver.c: the rules that all drivers of GPUs share (backend/gpu.c), each on every driver, against stand-ins
 * (support/device/fake_driver.c) that this program finds by its run path. */

#include "backend/gpu/cuda.h"
#include "backend/gpu/hip.h"
#include "support/kw_test.h"
#include "support/device/code_object.h"
#include "support/device/cubin.h"
#include "support/device/fake_driver.h"

#include <dlfcn.h>

static kw_blob plain_cubin(void) {
    return cubin_sample(0);
}

typedef struct subject {
    const char *library;
    const kw_backend *backend;
    const kw_gpu_driver *driver;
    kw_blob (*sample)(void);
    const char *unknown; /* architecture of the second device */
    const char *own[4];  /* calls of this driver alone that opening, loading or running make */
} subject;

static const subject subjects[] = {
    {"libcuda.so.1",
     &kw_cuda_backend,
     &kw_cuda_driver,
     plain_cubin,
     "sm_990",
     {"cuDeviceGet", "cuDevicePrimaryCtxRetain", "cuDeviceGetName", NULL}},
    {"libamdhip64.so.6",
     &kw_hip_backend,
     &kw_hip_driver,
     code_object_sample,
     "gfx9999",
     {"hipSetDevice", "hipGetDevicePropertiesR0600", NULL}},
};

/* A device with a kernel of gemm.reference_gpu, bound to a small problem, and room for its result. */
typedef struct setup {
    const subject *of;
    fake_driver *fake;
    kw_device *device;
    kw_kernel *kernel;
    kw_bound *bound;
    kw_problem problem;
    kw_launch launch;
    kw_launch_memory memory;
} setup;

static fake_driver *driver_of(const subject *of) {
    fake_driver_call *call;
    void *library = dlopen(of->library, RTLD_NOW | RTLD_NODELETE);
    assert_non_null(library);
    *(void **)&call = dlsym(library, "fake_driver_find");
    assert_non_null(call);
    dlclose(library);
    fake_driver *fake = call();
    fake->reset();
    return fake;
}

static kw_status load_sample(const subject *of, kw_device *device, kw_kernel **kernel, kw_error *err) {
    kw_config config;
    kw_blob blob = of->sample();
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm fp32", err), KW_OK);
    kw_status status = of->backend->load(device, &config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static void set_up(setup *s, const subject *of) {
    kw_config config;
    kw_error err = {0};
    const kw_backend *gpu = of->backend;
    *s = (setup){.of = of, .fake = driver_of(of)};
    assert_int_equal(gpu->open(&s->device, 0, 0, &err), KW_OK);
    assert_int_equal(load_sample(of, s->device, &s->kernel, &err), KW_OK);
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm fp32", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&s->problem, "gemm fp32 rcr m40 n30 k8", &err), KW_OK);
    config.family->launch(&config, &s->problem, gpu->target(s->device), &s->launch);
    assert_int_equal(gpu->bind(s->device, s->kernel, &s->problem, &s->launch, &s->bound, &err), KW_OK);
    assert_int_equal(gpu->alloc(s->device, 64, &s->memory.tensor[KW_Y], &err), KW_OK);
}

static void tear_down(setup *s) {
    const kw_backend *gpu = s->of->backend;
    assert_int_equal(s->fake->outside, 0);
    s->fake->reset();
    gpu->release(s->device, s->memory.tensor[KW_Y]);
    gpu->unbind(&s->bound);
    gpu->unload(s->device, &s->kernel);
    gpu->close(&s->device);
    assert_int_equal(s->fake->held, 0);
    assert_int_equal(s->fake->outside, 0);
}

static char byte_of(const setup *s) {
    return *(const char *)s->memory.tensor[KW_Y]; /* the stand-in's memory can be looked into */
}

static void an_architecture_that_nobody_knows_is_refused_by_name(const subject *of) {
    fake_driver *fake = driver_of(of);
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(of->backend->open(&device, 1, 0, &err), KW_MISSING);
    assert_null(device);
    assert_non_null(strstr(err.text, of->unknown));
    assert_int_equal(fake->held, 0);
}

static void what_is_queued_is_done_in_order_when_it_is_waited_for(const subject *of) {
    setup s;
    kw_error err = {0};
    char byte = 5;
    const kw_backend *gpu = of->backend;
    set_up(&s, of);
    assert_int_equal(gpu->copy(s.device, s.memory.tensor[KW_Y], &byte, 1, &err), KW_OK);
    s.fake->reset();
    assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(byte_of(&s), 5);
    assert_int_equal(s.fake->launches, 1);
    assert_int_equal(s.fake->grid, (40 * 30 + 255) / 256);
    assert_int_equal(s.fake->block, 256);
    assert_int_equal(gpu->sync(s.device, &err), KW_OK);
    assert_int_equal(byte_of(&s), 6);
    assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_REST, NULL, &err), KW_OK);
    assert_int_equal(gpu->copy(s.device, &byte, s.memory.tensor[KW_Y], 1, &err), KW_OK);
    assert_int_equal(byte, 7); /* a copy comes after what was queued before it */
    assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_PACK, NULL, &err), KW_OK);
    assert_int_equal(s.fake->launches, 2); /* no stage packs */
    tear_down(&s);
}

/* A framework queues thousands of launches ahead: whatever waits, or takes memory, would show there. */
static void a_run_in_the_caller_s_stream_waits_for_nothing_and_allocates_nothing(const subject *of) {
    setup s;
    kw_error err = {0};
    void *stream = NULL;
    kw_gpu_calls *calls = test_calloc(1, of->driver->calls_size);
    const kw_backend *gpu = of->backend;
    set_up(&s, of);
    assert_int_equal(kw_gpu_load(calls, of->driver, &err), KW_OK);
    s.fake->entered++;
    assert_int_equal(calls->stream_make(&stream, 0), 0);
    int held = s.fake->held;
    s.fake->reset();
    for (int i = 0; i < 8; i++) {
        assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_ALL, stream, &err), KW_OK);
        assert_ptr_equal(s.fake->stream, stream);
    }
    assert_int_equal(s.fake->launches, 8);
    assert_int_equal(s.fake->waits, 0);
    assert_int_equal(s.fake->held, held);
    assert_null(strstr(s.fake->log, "alloc"));
    assert_int_equal(gpu->sync(s.device, &err), KW_OK); /* of the device's own stream */
    assert_int_equal(byte_of(&s), 0);
    assert_int_equal(calls->stream_wait(stream), 0);
    assert_int_equal(byte_of(&s), 8);
    assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_ptr_not_equal(s.fake->stream, stream);
    assert_non_null(s.fake->stream); /* never the default stream, which waits for all others */
    assert_int_equal(calls->stream_drop(stream), 0);
    s.fake->entered--;
    test_free(calls);
    tear_down(&s);
}

static void time_is_the_device_s_own_of_all_calls_together(const subject *of) {
    setup s;
    kw_error err = {0};
    double ns = 0;
    set_up(&s, of);
    const kw_launch_memory calls[] = {s.memory, s.memory, s.memory};
    int held = s.fake->held;
    s.fake->reset();
    assert_int_equal(of->backend->time(s.bound, calls, 3, KW_RUN_ALL, &ns, &err), KW_OK);
    assert_float_equal(ns, 3 * 5 * 1000.0, 1); /* five blocks of a microsecond each */
    assert_int_equal(s.fake->waits, 1);
    assert_int_equal(s.fake->held, held);
    assert_int_equal(byte_of(&s), 3);
    tear_down(&s);
}

static void a_kernel_that_goes_wrong_spoils_the_device_for_the_process(const subject *of) {
    setup s;
    kw_error err = {0};
    char outside[16] = "";
    const kw_backend *gpu = of->backend;
    const kw_launch_memory wrong = {.tensor = {outside, outside, outside}};
    void *block = NULL;
    double ns;
    set_up(&s, of);
    assert_int_equal(gpu->run(s.bound, &wrong, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(gpu->sync(s.device, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "an illegal memory access was encountered (700)"));
    assert_non_null(strstr(err.text, "this process cannot use the device any more"));
    assert_int_equal(gpu->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_ENVIRONMENT);
    assert_int_equal(gpu->alloc(s.device, 16, &block, &err), KW_ENVIRONMENT);
    assert_int_equal(gpu->time(s.bound, &s.memory, 1, KW_RUN_ALL, &ns, &err), KW_ENVIRONMENT);
    s.fake->reset();
    tear_down(&s);
}

/* Opens, loads, runs and closes with one call that fails; what was got up to there is given back. */
static void fail_one(const subject *of, const char *call) {
    fake_driver *fake = driver_of(of);
    const kw_backend *gpu = of->backend;
    kw_device *device = NULL;
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    kw_error err = {0};
    kw_launch_memory memory = {0};
    const kw_launch launch = {.stages = 1, .stage = {{1, false, 64}}};
    kw_problem problem;
    double ns;
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m4 n4 k4", NULL), KW_OK);
    fake->fail_at(call, 98, 1);
    kw_status status = gpu->open(&device, 0, 0, &err);
    status = status ? status : load_sample(of, device, &kernel, &err);
    status = status ? status : gpu->bind(device, kernel, &problem, &launch, &bound, &err);
    status = status ? status : gpu->alloc(device, 64, &memory.tensor[KW_Y], &err);
    status = status ? status : gpu->copy(device, memory.tensor[KW_Y], &launch, 16, &err);
    status = status ? status : gpu->run(bound, &memory, KW_RUN_ALL, NULL, &err);
    status = status ? status : gpu->sync(device, &err);
    status = status ? status : gpu->time(bound, &memory, 1, KW_RUN_ALL, &ns, &err);
    if (status != KW_FAILED || !*err.text) {
        fail_msg("%s failed, and the status is %d", call, (int)status);
    }
    fake->reset();
    gpu->unbind(&bound);
    if (device) {
        gpu->release(device, memory.tensor[KW_Y]);
        gpu->unload(device, &kernel);
    }
    gpu->close(&device);
    assert_int_equal(fake->held, 0);
}

static void every_call_that_fails_is_a_status_and_nothing_is_kept(const subject *of) {
    static const char *const calls[] = {"init",        "stream_make", "module_load", "module_find", "alloc",        "copy",
                                        "stream_wait", "launch",      "event_make",  "event_wait",  "event_record", "event_between"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fail_one(of, calls[i]);
    }
    for (const char *const *call = of->own; *call; call++) {
        fail_one(of, *call);
    }
}

static void a_driver_that_cannot_count_or_start_has_no_device_and_says_why(const subject *of) {
    static const struct {
        const char *call;
        int error;
        const char *why;
    } cases[] = {{"init", 98, "starting the driver: another error (98)"},
                 {"count", 98, "counting devices: another error (98)"},
                 {"count", KW_GPU_NO_DEVICE, "the driver knows no device"}};
    char why[256];
    fake_driver *fake = driver_of(of);
    assert_int_equal(of->backend->probe(why), 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake->reset();
        fake->fail_at(cases[i].call, cases[i].error, 1);
        assert_int_equal(of->backend->probe(why), 0);
        assert_string_equal(why, cases[i].why);
    }
    fake->reset();
}

static void what_has_no_room_or_is_too_large_or_broken_is_refused(const subject *of) {
    setup s;
    kw_error err = {0};
    kw_config config;
    void *memory = NULL;
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    const kw_backend *gpu = of->backend;
    const kw_blob broken = {(void *)(uintptr_t) "\177ELF", 4};
    set_up(&s, of);
    assert_int_equal(gpu->alloc(s.device, (size_t)1 << 40, &memory, &err), KW_NO_MEMORY);
    assert_null(memory);
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm fp32", &err), KW_OK);
    s.fake->reset();
    assert_int_equal(gpu->load(s.device, &config, &broken, &kernel, &err), KW_FAILED);
    assert_null(strstr(s.fake->log, "module_load")); /* the driver never saw it */
    s.launch.stage[0].units = (int64_t)1 << 31;
    assert_int_equal(gpu->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "2147483648 blocks"));
    s.launch.stage[0].units = 1;
    s.launch.stage[0].threads = 0;
    assert_int_equal(gpu->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_FAILED);
    s.launch.stage[0].threads = 64;
    s.launch.stages = 3; /* the stand-in's modules have two */
    assert_int_equal(gpu->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_FAILED);
    s.launch.stages = 1;
    s.launch.map[1].rank = 3; /* neither makes maps */
    assert_int_equal(gpu->bind(s.device, s.kernel, &s.problem, &s.launch, &bound, &err), KW_NO_KERNEL);
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

typedef struct rule {
    const char *name;
    void (*holds)(const subject *of);
} rule;

static const rule rules[] = {
    {"an_architecture_that_nobody_knows_is_refused_by_name", an_architecture_that_nobody_knows_is_refused_by_name},
    {"what_is_queued_is_done_in_order_when_it_is_waited_for", what_is_queued_is_done_in_order_when_it_is_waited_for},
    {"a_run_in_the_caller_s_stream_waits_for_nothing_and_allocates_nothing",
     a_run_in_the_caller_s_stream_waits_for_nothing_and_allocates_nothing},
    {"time_is_the_device_s_own_of_all_calls_together", time_is_the_device_s_own_of_all_calls_together},
    {"a_kernel_that_goes_wrong_spoils_the_device_for_the_process", a_kernel_that_goes_wrong_spoils_the_device_for_the_process},
    {"every_call_that_fails_is_a_status_and_nothing_is_kept", every_call_that_fails_is_a_status_and_nothing_is_kept},
    {"a_driver_that_cannot_count_or_start_has_no_device_and_says_why", a_driver_that_cannot_count_or_start_has_no_device_and_says_why},
    {"what_has_no_room_or_is_too_large_or_broken_is_refused", what_has_no_room_or_is_too_large_or_broken_is_refused},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects, RULES = sizeof rules / sizeof *rules };

typedef struct check {
    const rule *rule;
    const subject *of;
    char name[128];
} check;

static void run_check(void **state) {
    const check *c = *state;
    c->rule->holds(c->of);
}

int main(void) {
    check checks[SUBJECTS * RULES];
    struct CMUnitTest tests[SUBJECTS * RULES + 1] = {cmocka_unit_test(a_product_s_name_becomes_one_word)};
    for (size_t i = 0; i < SUBJECTS * RULES; i++) {
        check *c = &checks[i];
        *c = (check){&rules[i / SUBJECTS], &subjects[i % SUBJECTS], ""};
        snprintf(c->name, sizeof c->name, "%s: %s", kw_backend_name(c->of->backend), c->rule->name);
        tests[i + 1] = (struct CMUnitTest){c->name, run_check, NULL, NULL, c};
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
