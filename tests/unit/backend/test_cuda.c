/* test_cuda.c: what the cuda backend has to itself: facts, shared memory that is asked for, tensor maps. The driver is a stand-in
 * (support/device/fake_cuda.c), which this program finds by its run path; what all drivers share is test_gpu_driver.c's. */

#include "backend/gpu/cuda.h"
#include "config/config.h"
#include "support/kw_test.h"
#include "support/device/cubin.h"
#include "support/device/fake_driver.h"

#include <dlfcn.h>

static const kw_backend *const cuda = &kw_cuda_backend;

static fake_driver *driver(void) {
    fake_driver_call *call;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NODELETE);
    assert_non_null(library);
    *(void **)&call = dlsym(library, "fake_driver_find");
    dlclose(library);
    call()->reset();
    return call();
}

static kw_status load_sample(kw_device *device, unsigned lds, size_t cut, kw_kernel **kernel, kw_error *err) {
    kw_config config;
    kw_blob blob = cubin_sample(lds);
    blob.size -= cut;
    assert_int_equal(kw_config_parse(&config, "gemm.reference_gpu gemm fp32", err), KW_OK);
    kw_status status = cuda->load(device, &config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static kw_device *open_first(void) {
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(cuda->open(&device, 0, 0, &err), KW_OK);
    return device;
}

static void facts_are_the_driver_s_and_the_architecture_s(void **state) {
    (void)state;
    char text[KW_TARGET_TEXT_MAX];
    fake_driver *fake = driver();
    kw_device *device = open_first();
    kw_target_print(text, sizeof text, cuda->target(device));
    assert_string_equal(text, "cuda:sm_90 model=NVIDIA-H200 units=132 lanes=32 registers=255 l2=62914560 lds=232448 unit_lds=233472 "
                              "unit_registers=65536 unit_waves=64 clock=1980 bandwidth=4916");
    assert_string_equal(cuda->about(device), "NVIDIA H200, driver for CUDA 13.1, GPU-0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a");
    cuda->close(&device);
    assert_int_equal(fake->held, 0);
}

static void a_thread_s_own_context_is_back_after_each_call(void **state) {
    (void)state;
    void *memory = NULL;
    fake_driver *fake = driver();
    kw_device *device = open_first();
    assert_int_equal(fake->entered, 0);
    assert_int_equal(cuda->alloc(device, 64, &memory, NULL), KW_OK);
    assert_int_equal(cuda->sync(device, NULL), KW_OK);
    fake->fail_at("alloc", 98, 1);
    void *none = NULL;
    assert_int_equal(cuda->alloc(device, 64, &none, NULL), KW_FAILED);
    fake->reset();
    cuda->release(device, memory);
    cuda->close(&device);
    assert_int_equal(fake->entered, 0);
    assert_int_equal(fake->outside, 0);
}

static void a_launch_asks_for_its_kernel_s_shared_memory_clusters_and_an_early_start(void **state) {
    (void)state;
    kw_error err = {0};
    kw_problem problem;
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    kw_launch_memory memory = {0};
    kw_launch launch = {.stages = 1, .stage = {{.units = 3, .threads = 128}}};
    fake_driver *fake = driver();
    kw_device *device = open_first();
    assert_int_equal(load_sample(device, 65536, 0, &kernel, &err), KW_OK);
    assert_int_equal(fake->allowed_lds, 65536);
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m40 n30 k8", &err), KW_OK);
    assert_int_equal(cuda->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    assert_int_equal(cuda->alloc(device, 64, &memory.tensor[KW_Y], &err), KW_OK);
    assert_int_equal(cuda->run(bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(fake->lds, 65536);
    assert_int_equal(fake->early, 0);
    cuda->unbind(&bound);
    launch.early[0] = true;
    assert_int_equal(cuda->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    assert_int_equal(cuda->run(bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_int_equal(fake->early, 1);
    assert_true(fake->grid == 3 && fake->block == 128 && fake->lds == 65536 && fake->cluster == 0);
    cuda->unbind(&bound);
    launch.stage[0].units = 8;
    launch.cluster[0] = 4;
    assert_int_equal(cuda->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    assert_int_equal(cuda->run(bound, &memory, KW_RUN_ALL, NULL, &err), KW_OK);
    assert_true(fake->grid == 8 && fake->cluster == 4 && fake->early == 2);
    assert_int_equal(cuda->sync(device, &err), KW_OK);
    cuda->release(device, memory.tensor[KW_Y]);
    cuda->unbind(&bound);
    cuda->unload(device, &kernel);
    cuda->close(&device);
    assert_int_equal(fake->held, 0);
}

static void more_shared_memory_than_a_block_gets_is_refused_with_both_numbers(void **state) {
    (void)state;
    kw_error err = {0};
    kw_kernel *kernel = NULL;
    fake_driver *fake = driver();
    kw_device *device = open_first();
    assert_int_equal(load_sample(device, 232449, 0, &kernel, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "232449"));
    assert_non_null(strstr(err.text, "232448"));
    assert_int_equal(load_sample(device, 0, 1, &kernel, &err), KW_FAILED);
    fake->fail_at("cuFuncSetAttribute", 98, 1);
    assert_int_equal(load_sample(device, 65536, 0, &kernel, &err), KW_FAILED);
    assert_null(kernel);
    fake->reset();
    cuda->close(&device);
    assert_int_equal(fake->held, 0);
}

/* The stand-in is an old driver in this. */
static void kernels_with_bulk_copies_need_a_driver_that_encodes_maps(void **state) {
    (void)state;
    kw_gpu_calls *calls = test_calloc(1, kw_cuda_driver.calls_size);
    kw_error err = {0};
    driver();
    assert_int_equal(kw_gpu_load(calls, &kw_cuda_driver, &err), KW_OK);
    assert_int_equal(kw_cuda_driver.has_maps(calls, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "cuTensorMapEncodeTiled"));
    test_free(calls);
}

static int encode(kw_gpu_map *map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                  const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    assert_int_equal((uintptr_t)map % 64, 0);
    assert_int_equal(type, KW_CUDA_MAP_BFLOAT16);
    assert_int_equal(rank, 3);
    assert_ptr_equal(tensor, map);
    assert_true(extents[0] == 136 && extents[1] == 100 && extents[2] == 2);
    assert_true(strides[0] == 272 && strides[1] == 27200);
    assert_true(box[0] == 64 && box[1] == 128 && box[2] == 1);
    assert_true(steps[0] == 1 && steps[1] == 1 && steps[2] == 1);
    assert_true(!interleave && swizzle == KW_CUDA_MAP_SWIZZLE_128 && promotion == KW_CUDA_MAP_PROMOTION_L2_128 && !fill);
    return 0;
}

static int encode_image(kw_gpu_map *map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                        const int *low, const int *high, uint32_t channels, uint32_t pixels, const uint32_t *steps, int interleave,
                        int swizzle, int promotion, int fill) {
    assert_int_equal(type, KW_CUDA_MAP_BFLOAT16);
    assert_int_equal(rank, 4);
    assert_ptr_equal(tensor, map);
    assert_true(extents[0] == 72 && extents[1] == 22 && extents[2] == 30);
    assert_true(strides[0] == 144 && strides[1] == 3168 && strides[2] == 95040);
    assert_true(low[0] == -2 && low[1] == -1 && high[0] == -3 && high[1] == -2);
    assert_true(channels == 64 && pixels == 128);
    assert_true(steps[0] == 1 && steps[1] == 2 && steps[2] == 2 && steps[3] == 1);
    assert_true(!interleave && swizzle == KW_CUDA_MAP_SWIZZLE_128 && promotion == KW_CUDA_MAP_PROMOTION_L2_128 && !fill);
    memset(map, 0xff, sizeof *map);
    return 0;
}

static void a_map_is_told_to_the_driver_as_the_launch_describes_it(void **state) {
    (void)state;
    const kw_cuda_calls calls = {.cuTensorMapEncodeTiled = encode, .cuTensorMapEncodeIm2col = encode_image};
    const kw_map map = {
        .tensor = KW_X, .dtype = KW_BF16, .rank = 3, .extent = {136, 100, 2}, .stride = {272, 27200}, .box = {64, 128, 1}, .swizzle = true};
    kw_gpu_map made;
    assert_int_equal(kw_cuda_driver.has_maps(&calls.gpu, NULL), KW_OK);
    assert_int_equal(kw_cuda_driver.encode(&made, &calls.gpu, &map, &made), 0);
}

static int encode_fp32(kw_gpu_map *map, int type, unsigned rank, void *tensor, const uint64_t *extents, const uint64_t *strides,
                       const uint32_t *box, const uint32_t *steps, int interleave, int swizzle, int promotion, int fill) {
    (void)rank, (void)tensor, (void)extents, (void)strides, (void)box, (void)steps, (void)interleave, (void)swizzle, (void)promotion,
        (void)fill;
    memcpy(map, &type, sizeof type);
    return 0;
}

static void only_a_map_that_permits_it_is_one_of_tf32(void **state) {
    (void)state;
    const kw_cuda_calls calls = {.cuTensorMapEncodeTiled = encode_fp32};
    for (int permits = 0; permits < 2; permits++) {
        const kw_map map = {
            .tensor = KW_X, .dtype = KW_FP32, .rank = 3, .extent = {36, 8, 1}, .stride = {144, 1152}, .box = {32, 8, 1}, .tf32 = permits};
        kw_gpu_map made;
        int type;
        assert_int_equal(kw_cuda_driver.encode(&made, &calls.gpu, &map, &made), 0);
        memcpy(&type, &made, sizeof type);
        assert_int_equal(type, permits ? KW_CUDA_MAP_TFLOAT32 : KW_CUDA_MAP_FLOAT32);
    }
}

static int version_13_0(int *version) {
    *version = 13000;
    return 0;
}

static int version_13_2(int *version) {
    *version = 13020;
    return 0;
}

/* A filter of 3x5 with strides of 2 and padding of 1x2 on images of 30x22: 15x11 pixels, from (-1, -2) on. One image is below 128 KiB,
 * where older drivers set a bit that must not be. */
static void the_map_of_an_image_says_where_its_pixels_are(void **state) {
    (void)state;
    static const struct {
        int (*version)(int *);
        int64_t images;
        bool mended;
    } cases[] = {{version_13_0, 2, false}, {version_13_2, 1, false}, {version_13_0, 1, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kw_cuda_calls calls = {.cuTensorMapEncodeIm2col = encode_image, .cuDriverGetVersion = cases[i].version};
        const kw_map map = {.tensor = KW_X,
                            .dtype = KW_BF16,
                            .rank = 4,
                            .extent = {72, 22, 30, cases[i].images},
                            .stride = {144, 3168, 95040},
                            .box = {64, 128, 1, 1},
                            .swizzle = true,
                            .pixels = true,
                            .low = {-2, -1},
                            .count = {11, 15},
                            .step = {2, 2}};
        kw_gpu_map made;
        assert_int_equal(kw_cuda_driver.encode(&made, &calls.gpu, &map, &made), 0);
        assert_int_equal(((const uint32_t *)&made)[2], cases[i].mended ? 0xffdfffff : 0xffffffff);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_are_the_driver_s_and_the_architecture_s),
        cmocka_unit_test(a_thread_s_own_context_is_back_after_each_call),
        cmocka_unit_test(a_launch_asks_for_its_kernel_s_shared_memory_clusters_and_an_early_start),
        cmocka_unit_test(more_shared_memory_than_a_block_gets_is_refused_with_both_numbers),
        cmocka_unit_test(kernels_with_bulk_copies_need_a_driver_that_encodes_maps),
        cmocka_unit_test(a_map_is_told_to_the_driver_as_the_launch_describes_it),
        cmocka_unit_test(only_a_map_that_permits_it_is_one_of_tf32),
        cmocka_unit_test(the_map_of_an_image_says_where_its_pixels_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
