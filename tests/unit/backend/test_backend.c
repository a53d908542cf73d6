/* test_backend.c: the CPU device: its memory, loading, and stages over threads. */

#include "backend/backend.h"
#include "base/math.h"
#include "base/os/clock.h"
#include "support/kw_test.h"
#include "support/device/fake_family.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT_MAX = 1000 };

static const kw_backend *cpu(void) {
    const kw_backend *backend = NULL;
    int index = -1;
    assert_int_equal(kw_backend_find(&backend, &index, "cpu", NULL), KW_OK);
    assert_int_equal(index, 0);
    return backend;
}

static kw_device *open_device(int threads) {
    kw_device *device = NULL;
    kw_error err = {0};
    assert_int_equal(cpu()->open(&device, 0, threads, &err), KW_OK);
    return device;
}

static kw_blob compile(const kw_config *config) {
    kw_compiler compiler;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    kw_target target;
    kw_cpu_target(&target, 0);
    if (kw_compiler_find(&compiler, NULL, (kw_code){0}, &err) || kw_config_runs(config, &target, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    kw_jit jit = {.compiler = &compiler};
    assert_int_equal(kw_jit_blob(&jit, config, &blob, &result, &err), KW_OK);
    return blob;
}

static kw_kernel *load(kw_device *device, int value) {
    kw_config config = fake_config(value, FAKE_GOOD);
    kw_blob blob = compile(&config);
    kw_kernel *kernel = NULL;
    kw_error err = {0};
    assert_int_equal(cpu()->load(device, &config, &blob, &kernel, &err), KW_OK);
    kw_blob_drop(&blob);
    return kernel;
}

static kw_bound *bind(kw_device *device, const kw_kernel *kernel, int64_t count) {
    kw_problem problem;
    kw_launch launch = fake_launch(count);
    kw_bound *bound = NULL;
    kw_error err = {0};
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", &err), KW_OK);
    assert_int_equal(cpu()->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    return bound;
}

/* The memory of one launch of the fake family, filled. */
typedef struct arrays {
    int32_t x[COUNT_MAX], w[COUNT_MAX], y[COUNT_MAX], packed[COUNT_MAX], shared[COUNT_MAX];
    char threads[16][128];
    kw_launch_memory memory;
} arrays;

static arrays *make_arrays(int seed) {
    arrays *a = calloc(1, sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < COUNT_MAX; i++) {
        a->x[i] = i * 3 + seed;
        a->w[i] = 100 - i;
    }
    a->memory = (kw_launch_memory){.tensor = {a->x, a->w, a->y}, .packed = a->packed, .shared = a->shared, .threads = a->threads};
    return a;
}

static int wrong(const arrays *a, int64_t count, int value) {
    int bad = 0;
    for (int64_t i = 0; i < count; i++) {
        bad += a->y[i] != fake_expected(a->x, a->w, count, i, value);
    }
    for (int64_t i = count; i < COUNT_MAX; i++) {
        bad += a->y[i] != 0;
    }
    return bad;
}

static void memory_is_aligned_and_an_impossible_wish_is_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4097, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 9 << 20};
    static const size_t impossible[] = {SIZE_MAX, SIZE_MAX / 2, (size_t)1 << 50};
    kw_device *device = open_device(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        void *memory = NULL;
        kw_error err = {0};
        assert_int_equal(cpu()->alloc(device, sizes[i], &memory, &err), KW_OK);
        assert_int_equal((uintptr_t)memory % (sizes[i] >= 2 << 20 ? 2 << 20 : 64), 0);
        memset(memory, 0x5a, sizes[i]);
        cpu()->release(device, memory);
    }
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        void *memory = &memory;
        kw_error err = {0};
        assert_int_equal(cpu()->alloc(device, impossible[i], &memory, &err), KW_NO_MEMORY);
        assert_null(memory);
        assert_non_null(strstr(err.text, "bytes"));
    }
    cpu()->close(&device);
    assert_null(device);
}

static void impossible_thread_counts_are_refused(void **state) {
    (void)state;
    static const int counts[] = {-1, -1000000, 1025};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        kw_device *device = NULL;
        kw_error err = {0};
        assert_int_equal(cpu()->open(&device, 0, counts[i], &err), KW_ILLEGAL);
        assert_null(device);
    }
}

static void every_unit_runs_once_and_stages_wait_for_each_other(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    static const int64_t counts[] = {1, 2, 5, 64, 999};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        kw_device *device = open_device(threads[t]);
        kw_kernel *kernel = load(device, 11);
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            kw_bound *bound = bind(device, kernel, counts[c]);
            for (int again = 0; again < 20; again++) {
                arrays *a = make_arrays(again);
                assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL), KW_OK);
                assert_int_equal(wrong(a, counts[c], 11), 0);
                free(a);
            }
            cpu()->unbind(&bound);
            assert_null(bound);
        }
        cpu()->unload(device, &kernel);
        assert_null(kernel);
        cpu()->close(&device);
    }
}

/* A run by which each thread's own clock is read does all the work, and takes some time, which is no more than has passed. */
static void time_alone_is_that_of_the_longest_share(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        kw_device *device = open_device(threads);
        kw_kernel *kernel = load(device, 11);
        kw_bound *bound = bind(device, kernel, COUNT_MAX);
        for (int again = 0; again < 5; again++) {
            arrays *a = make_arrays(again);
            double ns = -1;
            int64_t begin = kw_clock_ns();
            assert_int_equal(cpu()->run_alone(bound, &a->memory, KW_RUN_ALL, &ns, NULL), KW_OK);
            int64_t passed = kw_clock_ns() - begin;
            assert_int_equal(wrong(a, COUNT_MAX, 11), 0);
            assert_true(ns > 0 && ns <= (double)passed);
            free(a);
        }
        cpu()->unbind(&bound);
        cpu()->unload(device, &kernel);
        cpu()->close(&device);
    }
}

/* The stages tell where they run by their own thread's memory: stage 1 of the fake writes its last word there. */
static void little_work_runs_on_one_thread(void **state) {
    (void)state;
    static const struct {
        double multiply_adds;
        int teams;
    } cases[] = {{65536 * 1.9, 1}, {65536 * 2.0, 2}, {65536 * 3.5, 3}, {65536 * 100.0, 4}, {0, 4}};
    kw_device *device = open_device(4);
    kw_kernel *kernel = load(device, 5);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem;
        kw_launch launch = fake_launch(400);
        kw_bound *bound = NULL;
        kw_error err = {0};
        int used = 0;
        launch.multiply_adds = cases[i].multiply_adds;
        assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", &err), KW_OK);
        assert_int_equal(cpu()->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
        arrays *a = make_arrays(1);
        memset(a->threads, 0xee, sizeof a->threads);
        assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL), KW_OK);
        assert_int_equal(wrong(a, 400, 5), 0);
        for (size_t thread = 0; thread < 4; thread++) {
            const unsigned char *own = (const unsigned char *)a->threads + thread * (size_t)kw_round_up(launch.thread_bytes, 64);
            used += own[15 * sizeof(int32_t)] != 0xee || own[15 * sizeof(int32_t) + 1] != 0xee;
        }
        assert_int_equal(cpu()->team(bound), cases[i].teams);
        assert_in_range(used, 1, cases[i].teams); /* who is first may do the pieces of others */
        free(a);
        cpu()->unbind(&bound);
    }
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

static void packing_can_be_left_out_or_done_alone(void **state) {
    (void)state;
    kw_device *device = open_device(2);
    kw_kernel *kernel = load(device, 3);
    kw_bound *bound = bind(device, kernel, 50);
    arrays *a = make_arrays(0);
    assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_PACK, NULL, NULL), KW_OK);
    assert_int_equal(a->packed[7], a->w[7] * 3);
    assert_int_equal(a->shared[7], 0);
    a->memory.tensor[KW_W] = NULL; /* whoever packed needs w no more */
    assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_REST, NULL, NULL), KW_OK);
    assert_int_equal(wrong(a, 50, 3), 0);
    free(a);
    cpu()->unbind(&bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

/* The loader takes two libraries for one when they were opened by the same path; descriptors are used again. */
static void kernels_loaded_one_after_another_stay_apart(void **state) {
    (void)state;
    enum { KERNELS = 12 };
    kw_device *device = open_device(1);
    kw_kernel *kernels[KERNELS];
    arrays *a = make_arrays(0);
    for (int i = 0; i < KERNELS; i++) {
        kernels[i] = load(device, i + 1);
    }
    for (int i = 0; i < KERNELS; i++) {
        kw_bound *bound = bind(device, kernels[i], 10);
        assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL), KW_OK);
        assert_int_equal(wrong(a, 10, i + 1), 0);
        cpu()->unbind(&bound);
        cpu()->unload(device, &kernels[i]);
    }
    free(a);
    cpu()->close(&device);
}

/* Whoever has the process's rights tries to change the bytes that were checked, at the very moment before they are mapped: dlopen is
 * wrapped. */
static struct attack {
    bool wanted;
    int tried, done;
} attack;

void *__real_dlopen(const char *path, int mode);
void *__wrap_dlopen(const char *path, int mode);
void *__wrap_dlopen(const char *path, int mode) {
    int fd = attack.wanted ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (fd >= 0) {
        static const char other[] = "other bytes";
        attack.tried++;
        attack.done += pwrite(fd, other, sizeof other, 0) > 0;
        attack.done += !ftruncate(fd, 4096);
        attack.done += !ftruncate(fd, 1 << 20);
        attack.done += !fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
        void *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        attack.done += bytes != MAP_FAILED;
        if (bytes != MAP_FAILED) {
            memset(bytes, 0, 4096);
            munmap(bytes, 4096);
        }
        close(fd);
    }
    return __real_dlopen(path, mode);
}

static void the_bytes_that_were_checked_are_those_that_run(void **state) {
    (void)state;
    kw_device *device = open_device(1);
    attack = (struct attack){.wanted = true};
    kw_kernel *kernel = load(device, 21);
    attack.wanted = false;
    assert_true(attack.tried > 0);
    assert_int_equal(attack.done, 0);
    kw_bound *bound = bind(device, kernel, 50);
    arrays *a = make_arrays(0);
    assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL), KW_OK);
    assert_int_equal(wrong(a, 50, 21), 0);
    free(a);
    cpu()->unbind(&bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

static void loading_leaves_no_descriptor_open(void **state) {
    (void)state;
    kw_device *device = open_device(1);
    int before = dup(0);
    kw_kernel *kernel = load(device, 1);
    int after = dup(0);
    assert_int_equal(after, before + 1);
    close(before);
    close(after);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

static void what_the_target_cannot_run_is_refused_by_name(void **state) {
    (void)state;
    kw_device *device = open_device(1);
    kw_config config = fake_config(1, FAKE_GOOD);
    kw_blob blob = compile(&config);
    kw_kernel *kernel = NULL;
    kw_error err = {0};
    /* Only a device of a lesser machine can show this here. */
    kw_target *target = (kw_target *)(uintptr_t)cpu()->target(device);
    strcpy(target->arch, "generic");
    assert_int_equal(cpu()->load(device, &config, &blob, &kernel, &err), KW_NO_KERNEL);
    assert_non_null(strstr(err.text, "generic"));
    assert_null(kernel);
    kw_blob_drop(&blob);
    cpu()->close(&device);
}

static void objects_that_are_no_kernel_are_refused(void **state) {
    (void)state;
    static const struct {
        int text;
        kw_status status;
        const char *why;
    } cases[] = {{FAKE_UNRESOLVED, KW_ENVIRONMENT, "kw_nowhere"}, {FAKE_NO_STAGE, KW_FAILED, "kw_stage0"}};
    kw_device *device = open_device(1);
    kw_kernel *kernel = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config = fake_config(1, cases[i].text);
        kw_blob blob = compile(&config);
        kw_error err = {0};
        assert_int_equal(cpu()->load(device, &config, &blob, &kernel, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].why));
        assert_null(kernel);
        kw_blob_drop(&blob);
    }
    kw_config config = fake_config(1, FAKE_GOOD);
    kw_blob blob = compile(&config);
    for (size_t size = 0; size < blob.size / 2; size += 97) {
        kw_blob part = {blob.data, size};
        assert_int_equal(cpu()->load(device, &config, &part, &kernel, NULL), KW_FAILED);
        assert_null(kernel);
    }
    kw_blob_drop(&blob);
    cpu()->close(&device);
}

static void a_launch_with_more_stages_than_the_kernel_is_refused(void **state) {
    (void)state;
    kw_device *device = open_device(1);
    kw_kernel *kernel = load(device, 1);
    kw_problem problem;
    kw_launch launch = fake_launch(10);
    kw_bound *bound = NULL;
    kw_error err = {0};
    launch.stages = 4;
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", &err), KW_OK);
    assert_int_equal(cpu()->bind(device, kernel, &problem, &launch, &bound, &err), KW_FAILED);
    assert_null(bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

static void a_compiled_in_family_runs_without_a_blob(void **state) {
    (void)state;
    kw_config config = {.family = &fake_builtin_family, .op = KW_GEMM, .dtype = KW_FP32};
    kw_launch launch = {.stages = 1, .stage = {{.units = 20}}};
    kw_blob none = {0};
    kw_problem problem;
    kw_error err = {0};
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    kw_device *device = open_device(2);
    arrays *a = make_arrays(0);
    assert_int_equal(kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", &err), KW_OK);
    assert_int_equal(cpu()->load(device, &config, &none, &kernel, &err), KW_OK);
    assert_int_equal(cpu()->bind(device, kernel, &problem, &launch, &bound, &err), KW_OK);
    assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, &err), KW_OK);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(a->y[i], 3 * i);
    }
    assert_int_equal(a->y[20], 0);
    free(a);
    cpu()->unbind(&bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

typedef struct caller {
    const kw_bound *bound;
    int64_t count;
    int seed, bad;
} caller;

static void *call_often(void *data) {
    caller *own = data;
    for (int i = 0; i < 50; i++) {
        arrays *a = calloc(1, sizeof *a);
        for (int j = 0; a && j < COUNT_MAX; j++) {
            a->x[j] = j * 3 + own->seed;
            a->w[j] = 100 - j;
        }
        if (!a) {
            own->bad++;
            break;
        }
        a->memory = (kw_launch_memory){.tensor = {a->x, a->w, a->y}, .packed = a->packed, .shared = a->shared, .threads = a->threads};
        cpu()->run(own->bound, &a->memory, KW_RUN_ALL, NULL, NULL);
        own->bad += wrong(a, own->count, 9);
        free(a);
    }
    return NULL;
}

static void many_threads_may_run_one_kernel(void **state) {
    (void)state;
    kw_device *device = open_device(2);
    kw_kernel *kernel = load(device, 9);
    kw_bound *bound = bind(device, kernel, 777);
    pthread_t threads[4];
    caller callers[4];
    for (int i = 0; i < 4; i++) {
        callers[i] = (caller){bound, 777, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(callers[i].bad, 0);
    }
    cpu()->unbind(&bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

static void a_forked_child_still_gets_its_answer(void **state) {
    (void)state;
    kw_device *device = open_device(3);
    kw_kernel *kernel = load(device, 4);
    kw_bound *bound = bind(device, kernel, 100);
    arrays *a = make_arrays(0);
    assert_int_equal(cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL), KW_OK);
    memset(a->y, 0, sizeof a->y);
    pid_t child = fork();
    if (!child) {
        alarm(20);
        cpu()->run(bound, &a->memory, KW_RUN_ALL, NULL, NULL);
        _exit(wrong(a, 100, 4) ? 1 : 0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(a);
    cpu()->unbind(&bound);
    cpu()->unload(device, &kernel);
    cpu()->close(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_an_impossible_wish_is_refused),
        cmocka_unit_test(impossible_thread_counts_are_refused),
        cmocka_unit_test(every_unit_runs_once_and_stages_wait_for_each_other),
        cmocka_unit_test(time_alone_is_that_of_the_longest_share),
        cmocka_unit_test(little_work_runs_on_one_thread),
        cmocka_unit_test(packing_can_be_left_out_or_done_alone),
        cmocka_unit_test(kernels_loaded_one_after_another_stay_apart),
        cmocka_unit_test(the_bytes_that_were_checked_are_those_that_run),
        cmocka_unit_test(loading_leaves_no_descriptor_open),
        cmocka_unit_test(what_the_target_cannot_run_is_refused_by_name),
        cmocka_unit_test(objects_that_are_no_kernel_are_refused),
        cmocka_unit_test(a_launch_with_more_stages_than_the_kernel_is_refused),
        cmocka_unit_test(a_compiled_in_family_runs_without_a_blob),
        cmocka_unit_test(many_threads_may_run_one_kernel),
        cmocka_unit_test(a_forked_child_still_gets_its_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
