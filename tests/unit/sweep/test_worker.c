/* test_worker.c: a job inside a worker, on a device that fails on request: what is the kernel's fault is a row, what is the device's ends the
 * worker, and kernels for which there is no room beside the others are timed alone. */

#include "base/os/process/child.h"
#include "dispatch/context.h"
#include "sweep/worker/worker.h"
#include "support/kw_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The CPU, but for calls number first..last of bind or run, which fail with status, and all of load where load is set. One at a time, hence
 * the static. */
static struct failing {
    int binds, runs;
    bool load;
    int first_bind, last_bind, first_run, last_run;
    kw_status status;
} failing;

static kw_status bind(kw_device *device, const kw_kernel *kernel, const kw_problem *problem, const kw_launch *launch, kw_bound **bound,
                      kw_error *err) {
    int number = ++failing.binds;
    *bound = NULL;
    return number >= failing.first_bind && number <= failing.last_bind
               ? kw_fail(err, failing.status, "bind %d fails", number)
               : kw_backend_table[0]->bind(device, kernel, problem, launch, bound, err);
}

static kw_status run(const kw_bound *bound, const kw_launch_memory *memory, int parts, void *stream, kw_error *err) {
    int number = ++failing.runs;
    return number >= failing.first_run && number <= failing.last_run ? kw_fail(err, failing.status, "run %d fails", number)
                                                                     : kw_backend_table[0]->run(bound, memory, parts, stream, err);
}

static kw_status load(kw_device *device, const kw_config *config, const kw_blob *blob, kw_kernel **kernel, kw_error *err) {
    return failing.load ? kw_fail(err, failing.status, "load fails") : kw_backend_table[0]->load(device, config, blob, kernel, err);
}

enum { KERNELS = 3 };

/* What a job of KERNELS equal kernels answers. */
typedef struct hearing {
    kw_status status;
    kw_error err;
    kw_answer answers[KERNELS + 3];
    size_t count;
    kw_record records[KERNELS];
} hearing;

static void hear(hearing *h, int fd) {
    static char text[1 << 16];
    ssize_t size = read(fd, text, sizeof text);
    kw_scan scan = {text, text + (size > 0 ? size : 0)};
    kw_word line;
    while (kw_scan_line(&scan, &line)) {
        assert_in_range(h->count, 0, KERNELS + 2);
        kw_answer *answer = &h->answers[h->count++];
        assert_int_equal(kw_answer_read(answer, line, &h->err), KW_OK);
        if (answer->kind == KW_ANSWER_RECORD) {
            assert_in_range(answer->number, 0, KERNELS - 1);
            h->records[answer->number] = answer->record;
        }
    }
}

static hearing *run_job(struct failing how, const char *problem_text, bool control) {
    static hearing h;
    kw_backend backend = *kw_backend_table[0];
    kw_worker *w = calloc(1, sizeof *w);
    kw_problem problem;
    kw_config config;
    kw_error err = {0};
    int ends[2];
    struct stat info;
    memset(&h, 0, sizeof h);
    failing = how;
    backend.load = load;
    backend.bind = bind;
    backend.run = run;
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    assert_int_equal(fstat(ends[1], &info), 0);
    w->backend = &backend;
    w->out = ends[1];
    w->out_device = info.st_dev;
    w->out_inode = info.st_ino;
    assert_int_equal(backend.open(&w->device, 0, 1, &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, problem_text, &err), KW_OK);
    assert_int_equal(kw_config_parse(&config, "gemm.reference gemm fp32", &err), KW_OK);
    kw_worker_job_kernel kernels[KERNELS] = {{&config, ""}, {&config, ""}, {&config, ""}};
    kw_worker_job job = {.problem = &problem, .kernels = kernels, .count = KERNELS, .batches = 3};
    if (control) {
        job.control_problem = &problem;
        job.control = kernels[0];
    }
    h.status = kw_worker_run(w, &job, &h.err);
    hear(&h, ends[0]);
    if (!h.status) {
        kw_worker_control_close(w);
        kw_bench_close(&w->bench);
        backend.close(&w->device);
    }
    free(w);
    close(ends[0]);
    close(ends[1]);
    return &h;
}

static const char small[] = "gemm fp32 rcr m8 n8 k8";

static void assert_measured(const hearing *h, int index) {
    assert_int_equal(h->records[index].outcome, KW_GOOD);
    assert_true(h->records[index].samples > 0 && h->records[index].time_ns > 0);
}

static void a_job_is_answered_whole(void **state) {
    (void)state;
    for (int control = 0; control < 2; control++) {
        hearing *h = run_job((struct failing){0}, small, control);
        assert_int_equal(h->status, KW_OK);
        assert_int_equal(h->count, KERNELS + 1 + (size_t)control);
        assert_int_equal(h->answers[h->count - 1].kind, KW_ANSWER_DONE);
        double least = 0;
        for (int i = 0; i < KERNELS; i++) {
            assert_measured(h, i);
            least += h->records[i].time_ns * h->records[i].samples;
        }
        assert_true(h->answers[h->count - 1].value > least);
        assert_true(!control || (h->answers[0].kind == KW_ANSWER_CONTROL && h->answers[0].record.time_ns > 0));
    }
}

/* In a process that then ends, as a worker does: what the broken device holds is not given back. */
static void a_device_that_fails_ends_the_worker(void **state) {
    (void)state;
    static const int when[] = {1, 2, 5, 6, 7, 9, 15}; /* verification is runs 1 to 6 */
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (!child) {
            hearing *h = run_job((struct failing){.first_run = when[i], .last_run = when[i], .status = KW_ENVIRONMENT}, small, false);
            _exit(h->status != KW_ENVIRONMENT || !strstr(h->err.text, "fails") || h->count);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void want_of_memory_while_it_is_verified_is_the_kernels_row(void **state) {
    (void)state;
    hearing *h = run_job((struct failing){.first_run = 3, .last_run = 3, .status = KW_NO_MEMORY}, small, false);
    assert_int_equal(h->status, KW_OK);
    assert_measured(h, 0);
    assert_int_equal(h->records[1].outcome, KW_UNLAUNCHED);
    assert_measured(h, 2);
    h = run_job((struct failing){.first_bind = 1, .last_bind = 3, .status = KW_NO_MEMORY}, small, false);
    assert_int_equal(h->records[0].outcome, KW_UNLAUNCHED);
    assert_int_equal(h->answers[h->count - 1].kind, KW_ANSWER_DONE);
}

static void a_kernel_without_room_beside_the_others_is_timed_alone(void **state) {
    (void)state;
    hearing *h = run_job((struct failing){.first_bind = 5, .last_bind = 6, .status = KW_NO_MEMORY}, small, false); /* 1 to 3: verified */
    for (int i = 0; i < KERNELS; i++) {
        assert_measured(h, i);
        assert_string_equal(h->records[i].detail, "");
    }
    h = run_job((struct failing){.first_run = 10, .last_run = 10, .status = KW_NO_MEMORY}, small, true); /* 1 to 8: verified */
    for (int i = 0; i < KERNELS; i++) {
        assert_measured(h, i);
    }
    h = run_job((struct failing){.first_bind = 5, .last_bind = 1000000, .status = KW_NO_MEMORY}, small, false);
    assert_measured(h, 0);
    assert_int_equal(h->records[1].outcome, KW_UNLAUNCHED);
    assert_non_null(strstr(h->records[1].detail, "bind"));
    h = run_job((struct failing){.first_run = 7, .last_run = 1000000, .status = KW_NO_MEMORY}, small, false);
    for (int i = 0; i < KERNELS; i++) {
        assert_int_equal(h->records[i].outcome, KW_UNLAUNCHED);
        assert_non_null(strstr(h->records[i].detail, "run"));
    }
}

/* What kw_measure says of the same kernel on the same device. */
static kw_outcome dispatch_outcome(struct failing how, const char *problem_text) {
    kw_backend backend = *kw_backend_table[0];
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    kw_problem problem;
    kw_record record;
    kw_error err = {0};
    kw_context_options options = {
        .size = sizeof(kw_context_options), .threads = 1, .cache_dir = "", .wisdom_file = "", .compiler = "", .model = ""};
    assert_int_equal(kw_context_open(&context, "cpu", &options, &err), KW_OK);
    assert_int_equal(kw_registry_create(&registry, context, &err), KW_OK);
    assert_int_equal(kw_registry_add(registry, "gemm.reference gemm fp32", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&problem, problem_text, &err), KW_OK);
    failing = how;
    backend.load = load;
    backend.bind = bind;
    backend.run = run;
    context->backend = context->kernel_cache.backend = &backend;
    kw_measure(&record, registry, 0, &problem, &(kw_measure_options){.size = sizeof(kw_measure_options), .time = true}, NULL);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return record.outcome;
}

static void an_outcome_does_not_depend_on_who_measured(void **state) {
    (void)state;
    static const struct {
        struct failing how;
        const char *problem;
        kw_outcome outcome;
    } cases[] = {
        {{0}, small, KW_GOOD},
        {{0}, "conv_fwd fp32 n1 c8 k8 i8 f3 p1", KW_UNFIT},
        {{.load = true, .status = KW_NO_KERNEL}, small, KW_TOO_MUCH_LDS},
        {{.load = true, .status = KW_NO_MEMORY}, small, KW_UNLAUNCHED},
        {{.load = true, .status = KW_IO}, small, KW_UNTRIED},
        {{.load = true, .status = KW_FAILED}, small, KW_UNCOMPILED},
        {{.load = true, .status = KW_MALFORMED}, small, KW_UNCOMPILED},
        {{.first_bind = 1, .last_bind = 1000000, .status = KW_NO_MEMORY}, small, KW_UNLAUNCHED},
        {{.first_bind = 1, .last_bind = 1000000, .status = KW_NO_KERNEL}, small, KW_UNLAUNCHED},
        {{.first_run = 1, .last_run = 1000000, .status = KW_NO_MEMORY}, small, KW_UNLAUNCHED}, /* while it is verified */
        {{.first_run = 1, .last_run = 1000000, .status = KW_FAILED}, small, KW_WRONG},
        {{.first_run = 7, .last_run = 1000000, .status = KW_NO_MEMORY}, small, KW_UNLAUNCHED}, /* while it is timed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        hearing *h = run_job(cases[i].how, cases[i].problem, false);
        kw_outcome by_dispatch = dispatch_outcome(cases[i].how, cases[i].problem);
        assert_int_equal(h->status, KW_OK);
        assert_true(h->count == KERNELS + 1 && (h->records[0].outcome == KW_GOOD) == !*h->records[0].detail);
        if (h->records[0].outcome != cases[i].outcome || by_dispatch != cases[i].outcome) {
            fail_msg("case %zu: %s by a worker, %s by kw_measure, %s is right", i, kw_outcome_name(h->records[0].outcome),
                     kw_outcome_name(by_dispatch), kw_outcome_name(cases[i].outcome));
        }
    }
}

static void a_problem_without_room_gives_rows(void **state) {
    (void)state;
    hearing *h = run_job((struct failing){0}, "gemm fp32 rcr m3000000 n3000000 k8", true);
    assert_int_equal(h->status, KW_OK);
    assert_int_equal(h->count, KERNELS + 1);
    for (int i = 0; i < KERNELS; i++) {
        assert_int_equal(h->records[i].outcome, KW_UNLAUNCHED);
        assert_true(*h->records[i].detail);
    }
}

static void a_command_line_is_read_strictly(void **state) {
    (void)state;
    kw_worker_options options;
    kw_error err = {0};
    char *good[] = {"--threads", "3", "--device", "cpu", "--cache", "", "--status", "3", "--memory", "1000", "--limit", "9"};
    assert_int_equal(kw_worker_parse(&options, 12, good, &err), KW_OK);
    assert_true(options.threads == 3 && options.status_fd == 3 && options.memory == 1000 && options.limit_s == 9 && !options.cpus);
    assert_int_equal(kw_worker_parse(&options, 0, NULL, &err), KW_OK);
    assert_int_equal(options.status_fd, -1);
    static char *bad[][2] = {{"--threads", "x"}, {"--threads", "-1"}, {"--threads", "99999999999"}, {"--speed", "1"}, {"threads", "1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(kw_worker_parse(&options, 2, bad[i], &err), KW_OK);
        assert_non_null(strstr(err.text, bad[i][0]));
    }
    assert_int_not_equal(kw_worker_parse(&options, 3, good, &err), KW_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_is_answered_whole),
        cmocka_unit_test(a_device_that_fails_ends_the_worker),
        cmocka_unit_test(want_of_memory_while_it_is_verified_is_the_kernels_row),
        cmocka_unit_test(a_kernel_without_room_beside_the_others_is_timed_alone),
        cmocka_unit_test(an_outcome_does_not_depend_on_who_measured),
        cmocka_unit_test(a_problem_without_room_gives_rows),
        cmocka_unit_test(a_command_line_is_read_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
