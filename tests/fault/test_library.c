/* test_library.c: the shared library in a host that loads it, unloads it and loads it again, and that has two versions of it at once: nothing
 * of an unloaded one is left (threads, handlers, mappings), and two disturb each other in neither memory nor files. */

#include "support/kw_test.h"
#include "support/scratch.h"

#include <dlfcn.h>
#include <kernelwright.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { REOPENS = 20, ROUNDS = 8, SIZE = 192 };
static const char problem_text[] = "gemm fp32 rcr m192 n192 k192";

typedef struct library {
    void *handle;
    __typeof__(kw_version) *version;
    __typeof__(kw_context_open) *context_open;
    __typeof__(kw_context_close) *context_close;
    __typeof__(kw_problem_parse) *problem_parse;
    __typeof__(kw_plan_create) *plan_create;
    __typeof__(kw_plan_workspace) *plan_workspace;
    __typeof__(kw_plan_run) *plan_run;
    __typeof__(kw_plan_destroy) *plan_destroy;
} library;

typedef struct host {
    char folder[SCRATCH_MAX], cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX], copy[2 * SCRATCH_MAX];
} host;

static void *find(void *handle, const char *name) {
    void *found = dlsym(handle, name);
    if (!found) {
        fail_msg("%s", dlerror());
    }
    return found;
}

static void open_library(library *l, const char *path) {
    l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l->handle) {
        fail_msg("%s", dlerror());
    }
#define FIND(member) *(void **)&l->member = find(l->handle, "kw_" #member)
    FIND(version);
    FIND(context_open);
    FIND(context_close);
    FIND(problem_parse);
    FIND(plan_create);
    FIND(plan_workspace);
    FIND(plan_run);
    FIND(plan_destroy);
#undef FIND
}

/* A context, a plan, some runs of a product of ones on two threads; false when anything was not as it should be. */
static bool use(const library *l, const host *h) {
    static _Thread_local _Alignas(64) float x[SIZE * SIZE], w[SIZE * SIZE], y[SIZE * SIZE];
    kw_context_options options = {.size = sizeof(kw_context_options), .threads = 2, .cache_dir = h->cache, .data_dir = h->data};
    kw_context *context = NULL;
    kw_plan *plan = NULL;
    kw_problem problem;
    kw_error err = {0};
    for (int i = 0; i < SIZE * SIZE; i++) {
        x[i] = w[i] = 1;
    }
    bool good = !l->problem_parse(&problem, problem_text, &err) && !l->context_open(&context, "cpu", &options, &err) &&
                !l->plan_create(&plan, context, &problem, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT}, &err);
    for (int round = 0; good && round < ROUNDS; round++) {
        kw_tensors tensors = {.size = sizeof(kw_tensors),
                              .x = x,
                              .w = w,
                              .y = y,
                              .workspace = aligned_alloc(64, (size_t)(l->plan_workspace(plan) + 64) / 64 * 64)};
        good = !l->plan_run(plan, &tensors, NULL, &err);
        for (int i = 0; i < SIZE * SIZE; i++) {
            good = good && y[i] == SIZE;
            y[i] = 0;
        }
        free(tensors.workspace);
    }
    l->plan_destroy(&plan);
    l->context_close(&context);
    if (!good) {
        print_error("%s\n", err.text);
    }
    return good;
}

static int count_in(const char *path, const char *part) {
    char line[4096];
    int count = 0;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        count += strstr(line, part) != NULL;
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static int count_threads(void) {
    char line[256];
    int count = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "Threads: %d", &count);
    }
    if (file) {
        fclose(file);
    }
    return count;
}

static int set_up(void **state) {
    host *h = calloc(1, sizeof *h);
    char command[4 * SCRATCH_MAX];
    scratch_make(h->folder);
    scratch_path(h->cache, h->folder, "cache");
    scratch_path(h->data, h->folder, "data");
    scratch_path(h->copy, h->folder, "libother.so");
    snprintf(command, sizeof command, "cp -L %s %s", KW_LIBRARY, h->copy);
    *state = h;
    return system(command);
}

static int tear_down(void **state) {
    host *h = *state;
    scratch_remove(h->folder);
    free(h);
    return 0;
}

static void an_unloaded_library_leaves_nothing(void **state) {
    const host *h = *state;
    int threads = count_threads();
    for (int i = 0; i < REOPENS; i++) {
        library l;
        int status = 0;
        open_library(&l, h->copy); /* the copy: nothing else holds it */
        assert_true(use(&l, h));
        assert_int_equal(dlclose(l.handle), 0);
        assert_int_equal(count_in("/proc/self/maps", "libother.so"), 0);
        assert_int_equal(count_threads(), threads);
        pid_t child = fork(); /* what it had registered for forks must be gone as well */
        if (!child) {
            _exit(7);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    }
}

typedef struct guest {
    const library *library;
    const host *host;
    bool good;
} guest;

static void *use_often(void *user) {
    guest *g = user;
    g->good = true;
    for (int i = 0; i < 5; i++) {
        g->good = use(g->library, g->host) && g->good;
    }
    return NULL;
}

static void two_versions_live_side_by_side(void **state) {
    const host *h = *state;
    library first, second;
    open_library(&first, KW_LIBRARY);
    open_library(&second, h->copy);
    assert_ptr_not_equal(first.plan_run, second.plan_run);
    assert_ptr_not_equal(first.version(), second.version());
    pthread_t threads[4];
    guest guests[4];
    for (size_t i = 0; i < 4; i++) {
        guests[i] = (guest){i % 2 ? &second : &first, h, false};
        assert_int_equal(pthread_create(&threads[i], NULL, use_often, &guests[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(guests[i].good);
    }
    /* One goes, the other stays. */
    assert_int_equal(dlclose(first.handle), 0);
    assert_true(use(&second, h));
    assert_int_equal(dlclose(second.handle), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unloaded_library_leaves_nothing),
        cmocka_unit_test(two_versions_live_side_by_side),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
