/* test_cuda.c: the cuda backend against a driver of our own (support/fake_cuda.c), which this program finds by its run path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "backend/cuda.h"
#include "config/config.h"
#include "support/cubin.h"
#include "support/fake_cuda.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

static const kw_backend *const cuda = &kw_cuda_backend;

static void *look_up(const char *name) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NODELETE), *found = library ? dlsym(library, name) : NULL;
    assert_non_null(found);
    dlclose(library);
    return found;
}

static fake_cuda_state *state_of(void) {
    fake_cuda_call *call;
    *(void **)&call = look_up("fake_cuda");
    return call();
}

static void break_next(int error) {
    fake_cuda_break_call *call;
    *(void **)&call = look_up("fake_cuda_break");
    call(error);
}

/* A device with a kernel of gemm.plain, bound to a small problem, and room for its result. */
typedef struct setup {
    kw_device *device;
    kw_kernel *kernel;
    kw_bound *bound;
    kw_launch_memory memory;
    fake_cuda_state *fake;
} setup;

static kw_status load_sample(kw_device *device, unsigned lds, kw_kernel **kernel, kw_error *err) {
    kw_config config;
    kw_blob blob = cubin_sample(lds);
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", err), KW_OK);
    kw_status status = cuda->load(device, &config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static void set_up(setup *s) {
    kw_config config;
    kw_problem problem;
    kw_launch launch;
    kw_error err = {0};
    *s = (setup){.fake = state_of()};
    break_next(0);
    *s->fake = (fake_cuda_state){.held = 0};
    assert_int_equal(cuda->open(&s->device, 0, 0, &err), KW_OK);
    assert_int_equal(load_sample(s->device, 65536, &s->kernel, &err), KW_OK);
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m40 n30 k8", &err), KW_OK);
    config.family->launch(&config, &problem, cuda->target(s->device), &launch);
    assert_int_equal(cuda->bind(s->device, s->kernel, &problem, &launch, &s->bound, &err), KW_OK);
    assert_int_equal(cuda->alloc(s->device, 64, &s->memory.tensor[KW_Y], &err), KW_OK);
}

static void tear_down(setup *s) {
    cuda->release(s->device, s->memory.tensor[KW_Y]);
    cuda->unbind(&s->bound);
    cuda->unload(s->device, &s->kernel);
    cuda->close(&s->device);
    assert_int_equal(s->fake->held, 0);
    assert_int_equal(s->fake->pushed, 0);
    assert_int_equal(s->fake->outside, 0);
}

static void facts_are_the_driver_s_and_the_architecture_s(void **state) {
    (void)state;
    setup s;
    char text[KW_TARGET_TEXT_MAX], why[256] = "";
    set_up(&s);
    assert_int_equal(cuda->probe(why), 2);
    kw_target_print(text, sizeof text, cuda->target(s.device));
    assert_string_equal(text, "cuda:sm_90 model=NVIDIA-H200 units=132 lanes=32 registers=255 l2=62914560 lds=232448 unit_lds=233472 "
                              "unit_registers=65536 unit_waves=64 clock=1980 bandwidth=4916");
    assert_string_equal(cuda->about(s.device), "NVIDIA H200, driver for CUDA 13.1, GPU-0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a");
    tear_down(&s);
}

static void an_architecture_that_nobody_knows_is_refused_by_name(void **state) {
    (void)state;
    kw_device *device = NULL;
    kw_error err = {0};
    int held = state_of()->held;
    assert_int_equal(cuda->open(&device, 1, 0, &err), KW_MISSING);
    assert_null(device);
    assert_non_null(strstr(err.text, "sm_990"));
    assert_int_equal(state_of()->held, held);
}

static void a_launch_has_blocks_threads_and_the_shared_memory_it_asked_for(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    unsigned char byte = 5;
    char own;
    set_up(&s);
    assert_int_equal(cuda->copy(s.device, s.memory.tensor[KW_Y], &byte, 1, &err), KW_OK);
    assert_int_equal(cuda->run(s.bound, &s.memory, KW_RUN_PACK, NULL, &err), KW_OK);
    assert_int_equal(s.fake->launches, 0);
    assert_int_equal(cuda->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(s.fake->launches, 1);
    assert_int_equal(s.fake->grid, (40 * 30 + 255) / 256);
    assert_int_equal(s.fake->block, 256);
    assert_int_equal(s.fake->lds, 65536);
    assert_int_equal(s.fake->attribute, 65536);
    assert_non_null(s.fake->stream);
    int waits = s.fake->waits;
    assert_int_equal(cuda->run(s.bound, &s.memory, KW_RUN_REST, &own, &err), KW_OK);
    assert_ptr_equal(s.fake->stream, &own);
    assert_int_equal(s.fake->waits, waits);
    assert_int_equal(cuda->sync(s.device, &err), KW_OK);
    assert_int_equal(s.fake->waits, waits + 1);
    assert_int_equal(cuda->copy(s.device, &byte, s.memory.tensor[KW_Y], 1, &err), KW_OK);
    assert_int_equal(byte, 7);
    tear_down(&s);
}

static void batches_are_timed_between_two_events(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    double ns = 0;
    set_up(&s);
    const kw_launch_memory calls[] = {s.memory, s.memory, s.memory, s.memory};
    int held = s.fake->held, waits = s.fake->waits;
    assert_int_equal(cuda->time(s.bound, calls, 4, KW_RUN_ALL, &ns, &err), KW_OK);
    assert_true(ns == 1e6);
    assert_int_equal(s.fake->waits, waits + 1);
    assert_int_equal(s.fake->held, held);
    tear_down(&s);
}

static void a_kernel_that_takes_the_context_along_is_of_the_environment(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    void *memory = NULL;
    double ns;
    set_up(&s);
    assert_int_equal(cuda->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_OK);
    break_next(KW_CUDA_ILLEGAL_ADDRESS);
    assert_int_equal(cuda->sync(s.device, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "an illegal memory access was encountered (700)"));
    assert_non_null(strstr(err.text, "cannot use the device any more"));
    assert_int_equal(cuda->run(s.bound, &s.memory, KW_RUN_ALL, NULL, &err), KW_ENVIRONMENT);
    assert_int_equal(cuda->alloc(s.device, 16, &memory, &err), KW_ENVIRONMENT);
    assert_int_equal(cuda->time(s.bound, &s.memory, 1, KW_RUN_ALL, &ns, &err), KW_ENVIRONMENT);
    tear_down(&s);
}

static void what_a_device_cannot_give_is_refused_with_both_numbers(void **state) {
    (void)state;
    setup s;
    kw_error err = {0};
    kw_kernel *kernel = NULL;
    void *memory = NULL;
    set_up(&s);
    assert_int_equal(load_sample(s.device, 232449, &kernel, &err), KW_NO_KERNEL);
    assert_null(kernel);
    assert_non_null(strstr(err.text, "232449"));
    assert_non_null(strstr(err.text, "232448"));
    assert_int_equal(cuda->alloc(s.device, (size_t)2 << 30, &memory, &err), KW_NO_MEMORY);
    kw_blob cut = cubin_sample(0);
    kw_config config;
    cut.size -= 1;
    assert_int_equal(kw_config_parse(&config, "gemm.plain gemm fp32", &err), KW_OK);
    assert_int_equal(cuda->load(s.device, &config, &cut, &kernel, &err), KW_FAILED);
    kw_blob_drop(&cut);
    tear_down(&s);
}

/* The stand-in is an old driver in this. */
static void kernels_with_bulk_copies_need_a_driver_that_encodes_maps(void **state) {
    (void)state;
    setup s;
    kw_problem problem;
    kw_bound *bound = NULL;
    kw_error err = {0};
    const kw_launch launch = {.stages = 1, .stage = {{.units = 1, .threads = 64}}, .map = {{.tensor = KW_W, .rank = 3}}};
    set_up(&s);
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m40 n30 k8", &err), KW_OK);
    assert_int_equal(cuda->bind(s.device, s.kernel, &problem, &launch, &bound, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "cuTensorMapEncodeTiled"));
    assert_null(bound);
    tear_down(&s);
}

static int encode(kw_cuda_map *map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    assert_int_equal((uintptr_t)map % 64, 0);
    assert_int_equal(type, KW_CUDA_MAP_BFLOAT16);
    assert_int_equal(rank, 3);
    assert_ptr_equal(tensor, map);
    assert_true(extents[0] == 136 && extents[1] == 100 && extents[2] == 2);
    assert_true(strides[0] == 272 && strides[1] == 27200);
    assert_true(box[0] == 64 && box[1] == 128 && box[2] == 1);
    assert_true(steps[0] == 1 && steps[1] == 1 && steps[2] == 1);
    assert_true(!interleave && swizzle == KW_CUDA_MAP_SWIZZLE_128 && promotion == KW_CUDA_MAP_PROMOTION_L2_256 && !fill);
    return 0;
}

static void a_map_is_told_to_the_driver_as_the_launch_describes_it(void **state) {
    (void)state;
    const kw_cuda_calls calls = {.cuTensorMapEncodeTiled = encode};
    const kw_map map = {
        .tensor = KW_X, .dtype = KW_BF16, .rank = 3, .extent = {136, 100, 2}, .stride = {272, 27200}, .box = {64, 128, 1}, .swizzle = true};
    kw_cuda_map made;
    assert_int_equal(kw_cuda_encode(&made, &calls, &map, &made, NULL), KW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_the_driver_s_and_the_architecture_s),
        cmocka_unit_test(an_architecture_that_nobody_knows_is_refused_by_name),
        cmocka_unit_test(a_launch_has_blocks_threads_and_the_shared_memory_it_asked_for),
        cmocka_unit_test(batches_are_timed_between_two_events),
        cmocka_unit_test(a_kernel_that_takes_the_context_along_is_of_the_environment),
        cmocka_unit_test(what_a_device_cannot_give_is_refused_with_both_numbers),
        cmocka_unit_test(kernels_with_bulk_copies_need_a_driver_that_encodes_maps),
        cmocka_unit_test(a_map_is_told_to_the_driver_as_the_launch_describes_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
