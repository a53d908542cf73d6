/* test_large.c: tensors of 2^31 and 2^32 elements and bytes, and one more or less, of which a kernel meets a few: a stride as long as a book
 * leaves most of x unread, and padding as wide most of y. Such a tensor is memory that nobody touches, of which the machine has none but the
 * pages that are met; each element's value depends on all bits of its number, so that an index cut to 32 bits meets another or zero.
 *
 * All reference kernels are run, and of those of set "tests" the first few of each family, operation and type that serve the problem
 * without copying much of it.
 * KW_CHECK_CACHE is a folder in which compiled kernels are kept. */
#include "config/catalog.h"
#include "problem/reference.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

#include <string.h>
#include <sys/mman.h>

enum { OF_A_FAMILY = 2, COPIED_BYTES = 1 << 28 };

/* Words of convolutions of a type, in the order of operations. Of x: 2^31 - 1, 2^31, 2^32 - 1 and 2^32 + 1 elements in one axis; two axes with
 * channels; depthwise. Of backward data, whose x is written, y is as large by padding. */
static const char *const sparse_forward[] = {
    "nwgc n1 c1 k1 i2147483647 f1 s33554432",           "nwgc n1 c3 k5 i2147483648 f1 s268435456",
    "nwgc n1 c1 k2 i4294967295 f3 p1 s67108864",        "nwgc n1 c1 k1 i4294967297 f1 s33554432",
    "ngcw n1 c2 k1 i2147483649 f2 s536870912",          "nhwgc n1 c16 k16 i8193x32769 f3x3 p1x1 s1024x4096",
    "nhwgc n3 g16 c16 k16 i8193x16385 f3x3 d4095x8191", "nhwgc n5 g4 c16 k16 i4097x16385 f3x3 p1x0 d2048x8191",
};
static const char *const sparse_data[] = {
    "nwgc n1 c1 k1 i5 f1 p2147483647:0", "nwgc n1 c1 k1 i3 f1 p4294967293:0",           "nwgc n1 c2 k3 i3 f2 s1 p4294967296:0 d1",
    "ngcw n1 c1 k2 i4 f1 p2147483648:0", "nhwgc n1 c16 k16 i2x3 f3x3 p1x134217728:1x0", "nhwgc n2 g16 c16 k16 i5x3 f3x3 p1x33554432:1x0",
};

typedef struct large {
    kw_context *context;
    kw_catalog catalog;
    size_t runs, generated;
} large;

/* --- tensors --- */

static void *map_sparse(size_t size) {
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static double value_at(int64_t index) {
    return (double)((((uint64_t)index + 1) * 0x9e3779b97f4a7c15U >> 40) % 5) - 2;
}

/* Flat index of an image's element; extent is that of its three axes. */
static int64_t image_index(const kw_problem *problem, int64_t channels, const int64_t extent[3], const int64_t at[5]) {
    if (problem->layout == KW_CHANNELS_FIRST) {
        return (((at[0] * channels + at[4]) * extent[0] + at[1]) * extent[1] + at[2]) * extent[2] + at[3];
    }
    return (((at[0] * extent[0] + at[1]) * extent[1] + at[2]) * extent[2] + at[3]) * channels + at[4];
}

static void set_pixel(const kw_problem *problem, void *const tensors[KW_TENSOR_COUNT], kw_tensor tensor, const int64_t pixel[4]) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], channels = tensor == KW_X ? d->c : d->k;
    kw_problem_output(out, problem);
    for (int64_t channel = 0; channel < channels; channel++) {
        int64_t at[5] = {pixel[0], pixel[1], pixel[2], pixel[3], channel};
        int64_t index = image_index(problem, channels, tensor == KW_X ? d->in : out, at);
        kw_dtype_store(problem->dtype, tensors[tensor], index, value_at(index));
    }
}

/* The places along an axis where the large image is met by the small one's place and a tap; -1: none. */
static int64_t met(const kw_problem *problem, int axis, int64_t small, int64_t tap) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    if (problem->op != KW_CONV_BWD_DATA) {
        int64_t x = small * d->stride[axis] - d->pad[axis] + tap * d->dilation[axis];
        return x >= 0 && x < d->in[axis] ? x : -1;
    }
    int64_t reach = small + d->pad[axis] - tap * d->dilation[axis];
    return reach >= 0 && reach % d->stride[axis] == 0 && reach / d->stride[axis] < out[axis] ? reach / d->stride[axis] : -1;
}

/* Sets what is met of the large image: x, of backward data y. */
static void fill_large(const kw_problem *problem, void *const tensors[KW_TENSOR_COUNT]) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], small[3], taps = d->filter[0] * d->filter[1] * d->filter[2];
    bool data = problem->op == KW_CONV_BWD_DATA;
    kw_problem_output(out, problem);
    memcpy(small, data ? d->in : out, sizeof small);
    for (int64_t i = 0; i < d->n * small[0] * small[1] * small[2] * taps; i++) {
        int64_t tap = i % taps, at = i / taps, pixel[4] = {at / (small[0] * small[1] * small[2])};
        bool inside = true;
        for (int axis = 2; axis >= 0; axis--) {
            pixel[1 + axis] = met(problem, axis, at % small[axis], tap % d->filter[axis]);
            inside &= pixel[1 + axis] >= 0;
            at /= small[axis];
            tap /= d->filter[axis];
        }
        if (inside) {
            set_pixel(problem, tensors, data ? KW_Y : KW_X, pixel);
        }
    }
}

static void fill_small(const kw_problem *problem, void *const tensors[KW_TENSOR_COUNT]) {
    kw_tensor large_one = problem->op == KW_CONV_BWD_DATA ? KW_Y : KW_X;
    for (kw_tensor t = 0; t < KW_TENSOR_COUNT; t++) {
        for (int64_t i = 0; t != large_one && t != kw_problem_result(problem) && i < kw_problem_elements(problem, t); i++) {
            kw_dtype_store(problem->dtype, tensors[t], i, value_at(i));
        }
    }
}

/* --- one kernel --- */

static void compare(const kw_problem *problem, void *const tensors[KW_TENSOR_COUNT], const char *config, const char *text) {
    kw_tensor result = kw_problem_result(problem);
    kw_dtype output = kw_problem_dtype(problem, result);
    for (int64_t i = 0; i < kw_problem_elements(problem, result); i++) {
        double got = kw_dtype_load(output, tensors[result], i);
        double wanted = kw_reference_at(problem, (const void *const *)tensors, (kw_zeros){0}, i, NULL, NULL);
        if (got != wanted) {
            fail_msg("%s on %s: element %lld is %g, should be %g", config, text, (long long)i, got, wanted);
        }
    }
}

static void run_config(large *l, const kw_problem *problem, const char *config, void *const tensors[KW_TENSOR_COUNT], const char *text) {
    kw_registry *registry = NULL;
    kw_plan *plan = NULL;
    kw_error err = {0};
    kw_tensor result = kw_problem_result(problem);
    assert_ok(kw_registry_create(&registry, l->context, &err), &err);
    assert_ok(kw_registry_add(registry, config, &err), &err);
    assert_ok(kw_plan_create(&plan, l->context, problem,
                             &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry}, &err),
              &err);
    assert_string_equal(kw_plan_config(plan), config);
    size_t workspace = (size_t)kw_plan_workspace(plan);
    kw_tensors of_plan = {.size = sizeof(kw_tensors),
                          .x = tensors[KW_X],
                          .w = tensors[KW_W],
                          .y = tensors[KW_Y],
                          .workspace = workspace ? map_sparse(workspace) : NULL};
    assert_true(!workspace || of_plan.workspace);
    memset(tensors[result], 0x7f, (size_t)kw_problem_elements(problem, result) * kw_dtype_size(kw_problem_dtype(problem, result)));
    assert_ok(kw_plan_run(plan, &of_plan, NULL, &err), &err);
    compare(problem, tensors, config, text);
    if (workspace) {
        munmap(of_plan.workspace, workspace);
    }
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    l->runs++;
}

/* --- all kernels of a problem --- */

/* Some copy what they read first, whole rows of it. */
static bool touches_little(const kw_config *config, const kw_problem *problem, const kw_target *target) {
    kw_launch launch = {0};
    config->family->launch(config, problem, target, &launch);
    return launch.copied_bytes < COPIED_BYTES && launch.shared_bytes < COPIED_BYTES && launch.thread_bytes < COPIED_BYTES;
}

static bool is_one_of_few(const kw_config *config, const kw_family **last, int *count) {
    *count = config->family == *last ? *count + 1 : 0;
    *last = config->family;
    return *count < OF_A_FAMILY;
}

static void run_problem(large *l, const char *text, kw_target *target) {
    kw_problem problem;
    kw_error err = {0};
    void *tensors[KW_TENSOR_COUNT];
    size_t sizes[KW_TENSOR_COUNT];
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    for (kw_tensor t = 0; t < KW_TENSOR_COUNT; t++) {
        sizes[t] = (size_t)kw_problem_elements(&problem, t) * kw_dtype_size(kw_problem_dtype(&problem, t));
        tensors[t] = map_sparse(sizes[t]);
        if (!tensors[t]) {
            print_message("no address space for %zu bytes\n", sizes[t]);
            skip();
        }
    }
    fill_large(&problem, tensors);
    fill_small(&problem, tensors);
    const kw_family *last = NULL;
    int count = 0;
    for (size_t i = 0; i < l->catalog.count; i++) {
        const kw_config *config = &l->catalog.configs[i];
        char name[KW_CONFIG_TEXT_MAX];
        if (!kw_config_fits(config, &problem, target, NULL) && touches_little(config, &problem, target) &&
            is_one_of_few(config, &last, &count)) {
            kw_config_print(name, sizeof name, config);
            run_config(l, &problem, name, tensors, text);
            l->generated += !config->family->is_reference;
        }
    }
    for (kw_tensor t = 0; t < KW_TENSOR_COUNT; t++) {
        munmap(tensors[t], sizes[t]);
    }
}

static void run_op(large *l, kw_op op, const char *const texts[], size_t count) {
    kw_target target;
    kw_error err = {0};
    size_t runs = l->runs, generated = l->generated;
    assert_ok(kw_target_parse(&target, kw_context_target(l->context), &err), &err);
    for (size_t i = 0; i < count; i++) {
        for (int dtype = 0; dtype < KW_INT32; dtype++) {
            char text[256];
            snprintf(text, sizeof text, "%s %s %s", kw_op_name(op), kw_dtype_name((kw_dtype)dtype), texts[i]);
            run_problem(l, text, &target);
        }
    }
    print_message("%s: %zu runs, %zu of generated kernels\n", kw_op_name(op), l->runs - runs, l->generated - generated);
    assert_true(l->runs - runs >= count * KW_INT32);
}

static void a_large_x_is_read_forward(void **state) {
    run_op(*state, KW_CONV_FWD, sparse_forward, sizeof sparse_forward / sizeof *sparse_forward);
}

static void a_large_x_is_read_for_weights(void **state) {
    run_op(*state, KW_CONV_BWD_WEIGHT, sparse_forward, sizeof sparse_forward / sizeof *sparse_forward);
}

static void a_large_y_is_read_backward(void **state) {
    run_op(*state, KW_CONV_BWD_DATA, sparse_data, sizeof sparse_data / sizeof *sparse_data);
}

/* --- */

static bool keep_config(void *user, const kw_config *config) {
    return kw_catalog_add(user, config, NULL, NULL) == KW_OK;
}

static int set_up(void **state) {
    large *l = calloc(1, sizeof *l);
    kw_error err = {0};
    kw_context_options options = {
        .size = sizeof(kw_context_options), .threads = 2, .cache_dir = getenv("KW_CHECK_CACHE"), .wisdom_file = ""};
    assert_non_null(l);
    *state = l;
    assert_ok(kw_context_open(&l->context, "cpu", &options, &err), &err);
    kw_target target;
    assert_ok(kw_target_parse(&target, kw_context_target(l->context), &err), &err);
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "tests", .arch = target.arch};
    assert_ok(kw_enumerate(&space, keep_config, &l->catalog, &err), &err);
    return 0;
}

static int tear_down(void **state) {
    large *l = *state;
    kw_catalog_drop(&l->catalog);
    kw_context_close(&l->context);
    free(l);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_x_is_read_forward),
        cmocka_unit_test(a_large_x_is_read_for_weights),
        cmocka_unit_test(a_large_y_is_read_backward),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
