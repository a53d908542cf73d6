/* test_streams.c: a plan on a GPU as a framework runs it: in the caller's stream, on the caller's memory. The driver is a stand-in
 * (support/device/fake_hip.c), which counts; kernels are compiled for real. */

#include "backend/gpu/hip.h"
#include "support/kw_test.h"
#include "support/device/fake_driver.h"
#include "support/scratch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <kernelwright.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its weights are packed by a stage of their own, its partial sums are added by another. */
static const char problem_text[] = "gemm bf16 rcr m64 n64 k64";

typedef struct world {
    char folder[SCRATCH_MAX];
    fake_driver *fake;
    kw_context *context;
    kw_plan *plan;
    kw_tensors tensors;
    void *stream;
} world;

static fake_driver *find_driver(void) {
    fake_driver_call *call;
    void *library = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NODELETE);
    assert_non_null(library);
    *(void **)&call = dlsym(library, "fake_driver_find");
    dlclose(library);
    return call();
}

static void make_stream(world *w) {
    kw_gpu_calls *calls = test_calloc(1, kw_hip_driver.calls_size);
    assert_int_equal(kw_gpu_load(calls, &kw_hip_driver, NULL), KW_OK);
    assert_int_equal(calls->stream_make(&w->stream, 0), 0);
    test_free(calls);
}

static void open_world(world *w, const char *config) {
    char cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX];
    kw_problem problem;
    kw_registry *registry = NULL;
    kw_error err = {0};
    *w = (world){.fake = find_driver()};
    w->fake->reset();
    scratch_make(w->folder);
    scratch_path(cache, w->folder, "cache");
    scratch_path(data, w->folder, "data");
    if (kw_context_open(&w->context, "hip:0",
                        &(kw_context_options){.size = sizeof(kw_context_options), .cache_dir = cache, .data_dir = data}, &err)) {
        fail_msg("%s", err.text);
    }
    if (!*kw_context_compiler(w->context)) {
        kw_context_close(&w->context);
        scratch_remove(w->folder);
        print_message("skipped: no compiler for AMD GPUs\n");
        skip();
    }
    assert_string_equal(kw_context_clock(w->context), "device");
    assert_int_equal(kw_problem_parse(&problem, problem_text, &err), KW_OK);
    assert_int_equal(kw_registry_create(&registry, w->context, &err), KW_OK);
    if (kw_registry_add(registry, config, &err) ||
        kw_plan_create(&w->plan, w->context, &problem,
                       &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT, .registry = registry}, &err)) {
        fail_msg("%s: %s", config, err.text);
    }
    assert_memory_equal(kw_plan_config(w->plan), config, strcspn(config, " "));
    kw_registry_destroy(&registry);
    w->tensors.size = sizeof w->tensors;
    void **const places[] = {&w->tensors.x, &w->tensors.w, &w->tensors.y, &w->tensors.workspace};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        assert_int_equal(kw_device_alloc(w->context, 1 << 16, places[i], &err), KW_OK);
    }
    assert_true(kw_plan_workspace(w->plan) <= 1 << 16);
    make_stream(w);
    w->fake->reset();
}

static void close_world(world *w) {
    kw_gpu_calls *calls = test_calloc(1, kw_hip_driver.calls_size);
    assert_int_equal(kw_gpu_load(calls, &kw_hip_driver, NULL), KW_OK);
    assert_int_equal(calls->stream_drop(w->stream), 0);
    test_free(calls);
    void *const places[] = {w->tensors.x, w->tensors.w, w->tensors.y, w->tensors.workspace};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        kw_device_free(w->context, places[i]);
    }
    kw_plan_destroy(&w->plan);
    kw_context_close(&w->context);
    assert_int_equal(w->fake->held, 0);
    scratch_remove(w->folder);
}

/* Runs in the stream: so many launches, and nothing else. */
static void run_queued(world *w, int launches) {
    kw_error err = {0};
    int held = w->fake->held;
    w->fake->reset();
    assert_int_equal(kw_plan_run(w->plan, &w->tensors, w->stream, &err), KW_OK);
    assert_int_equal(w->fake->launches, launches);
    assert_ptr_equal(w->fake->stream, w->stream);
    assert_int_equal(w->fake->waits, 0);
    assert_int_equal(w->fake->held, held);
    static const char *const never[] = {"alloc", "release", "copy", "stream_", "event_", "module_"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        assert_null(strstr(w->fake->log, never[i]));
    }
}

static void a_run_in_a_stream_is_launches_and_nothing_else(void **state) {
    (void)state;
    world w;
    kw_error err = {0};
    open_world(&w, "gemm.reference_gpu gemm bf16");
    run_queued(&w, 1);
    assert_int_equal(kw_plan_run(w.plan, &w.tensors, NULL, &err), KW_OK);
    assert_ptr_not_equal(w.fake->stream, w.stream);
    assert_int_equal(w.fake->waits, 1); /* for its own stream, once */
    close_world(&w);
}

static void stages_and_workspace_of_a_split_product_are_queued_alike(void **state) {
    (void)state;
    world w;
    open_world(&w, "gemm.mma gemm bf16 layout=rcr tile_m=32 tile_n=32 tile_k=32 wave_m=1 wave_n=1 wave_k=1 inst_m=32 inst_n=32 inst_k=8 "
                   "pipe=compv3 sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=1 preshuffle=0 "
                   "wave_groups=1 persistent=0 split_k=2 streamk=off index=32");
    assert_true(kw_plan_workspace(w.plan) > 0);
    run_queued(&w, 2);
    close_world(&w);
}

static void weights_packed_beforehand_are_a_launch_less(void **state) {
    (void)state;
    world w;
    kw_error err = {0};
    open_world(&w, "gemm.mma gemm bf16 layout=rcr tile_m=32 tile_n=64 tile_k=64 wave_m=1 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 "
                   "pipe=basic_v1 sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=1 preshuffle=1 "
                   "wave_groups=1 persistent=0 split_k=1 streamk=off index=32");
    assert_true(kw_plan_wants_packing(w.plan));
    run_queued(&w, 2);
    assert_int_equal(kw_plan_pack_weights(w.plan, w.tensors.w, &err), KW_OK);
    void *weights = w.tensors.w;
    w.tensors.w = NULL;
    run_queued(&w, 1);
    w.tensors.w = weights;
    close_world(&w);
}

static void a_plan_is_timed_by_the_device(void **state) {
    (void)state;
    world w;
    kw_error err = {0};
    double ns = 0;
    open_world(&w, "gemm.reference_gpu gemm bf16");
    assert_int_equal(kw_plan_time(&ns, w.plan, &w.tensors, 100, &err), KW_OK);
    assert_int_equal(w.fake->launches, 100);
    assert_float_equal(ns, 16 * 1000.0, 1); /* 16 blocks of a microsecond each */
    assert_int_equal(kw_plan_time(&ns, w.plan, &w.tensors, 0, &err), KW_ILLEGAL);
    assert_int_equal(kw_plan_time(NULL, w.plan, &w.tensors, 1, &err), KW_ILLEGAL);
    close_world(&w);
}

static void hear_waiting(void *user, const char *line) {
    *(int *)user += strstr(line, "another process measures on ") && strstr(line, "; waiting for it");
}

/* The one lock file of the folder. */
static void find_lock_file(char path[4 * SCRATCH_MAX], const char *folder) {
    int count = 0;
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (!strncmp(entry->d_name, "measuring-", 10)) {
            snprintf(path, 4 * SCRATCH_MAX, "%s/%.60s", folder, entry->d_name);
            count++;
        }
    }
    closedir(list);
    assert_int_equal(count, 1);
}

/* Has the device for a while; makes the file "mark" before it gives it back, or is killed with it. Without a mark it has it until it is
 * killed. */
static pid_t measure_elsewhere(const char *lock, const char *mark, bool killed) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (!child) {
        int fd = open(lock, O_RDWR);
        if (flock(fd, LOCK_EX) || write(ready[1], "x", 1) != 1) {
            _exit(1);
        }
        while (!mark) {
            pause();
        }
        usleep(300000);
        close(open(mark, O_WRONLY | O_CREAT, 0600));
        if (killed) {
            kill(getpid(), SIGKILL);
        }
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void a_device_that_another_process_measures_on_is_waited_for(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], data[2 * SCRATCH_MAX], mark[2 * SCRATCH_MAX], lock[4 * SCRATCH_MAX];
    int waits = 0;
    kw_context *context = NULL;
    find_driver()->reset();
    scratch_path(data, scratch_make(folder), "data");
    scratch_path(mark, folder, "mark");
    kw_context_options options = {
        .size = sizeof(kw_context_options), .cache_dir = "", .data_dir = data, .log = hear_waiting, .user = &waits};
    assert_int_equal(kw_context_open(&context, "hip:0", &options, NULL), KW_OK);
    kw_context_bandwidth(context);
    assert_int_equal(waits, 0);
    find_lock_file(lock, data);
    for (int i = 0; i < 2; i++) {
        pid_t other = measure_elsewhere(lock, mark, i == 1);
        kw_context_bandwidth(context);
        assert_int_equal(unlink(mark), 0); /* not before the other one was done */
        assert_int_equal(waits, i + 1);
        assert_int_equal(waitpid(other, NULL, 0), other);
    }
    kw_stop stop = {0};
    kw_context_close(&context);
    options.stop = &stop;
    assert_int_equal(kw_context_open(&context, "hip:0", &options, NULL), KW_OK);
    kw_stop_request(&stop);
    pid_t other = measure_elsewhere(lock, NULL, false);
    alarm(120);
    kw_context_bandwidth(context); /* whoever is stopped waits for nobody */
    alarm(0);
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
    kw_context_close(&context);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_in_a_stream_is_launches_and_nothing_else),
        cmocka_unit_test(stages_and_workspace_of_a_split_product_are_queued_alike),
        cmocka_unit_test(weights_packed_beforehand_are_a_launch_less),
        cmocka_unit_test(a_plan_is_timed_by_the_device),
        cmocka_unit_test(a_device_that_another_process_measures_on_is_waited_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
