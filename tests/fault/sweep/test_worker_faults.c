/* test_worker_faults.c: whatever a kernel does to its process, it has a row that says so, the other kernels of its batch are measured, the
 * next batch as well, and nothing is left behind: no process, no descriptor. The evil kernels (evil.h) are compiled here and lie in a cache
 * under the keys of real configs, so that the program under test has no door for tests. */

#include "base/os/clock.h"
#include "fault/sweep/worker_setup.h"

#include <kernelwright_tune.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool row_is_right(const kw_record *record, const evil *expected) {
    bool again = expected->outcome == KW_CRASHED || expected->outcome == KW_TIMED_OUT;
    return record->outcome == expected->outcome && strstr(record->detail, expected->detail) && (*expected->detail || !*record->detail) &&
           (!again || strstr(record->detail, "; retried alone: ")) && (expected->outcome != KW_GOOD || is_measured(record));
}

/* One evil kernel among honest ones, then honest ones alone, in one pool. */
static bool survives_within(const setup *s, int which, int evil_at, int64_t limit_ns) {
    static batch b, next;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    options.kernel_limit_ns = limit_ns;
    scratch_write(s->once, "", 0, 0600);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    fill_batch(&b, s, evil_at, s->evil_key[which]);
    kw_status status = kw_worker_client_measure(client, &b.job, &b.result, &err);
    fill_batch(&next, s, -1, NULL);
    status = status ? status : kw_worker_client_measure(client, &next.job, &next.result, &err);
    const evil *expected = &evils[which];
    bool lost = expected->outcome == KW_CRASHED || expected->outcome == KW_TIMED_OUT;
    int64_t losses = kw_worker_client_lost(client);
    kw_worker_client_close(&client);
    bool good = !status && row_is_right(&b.records[evil_at], expected) && honest_are_measured(&b, evil_at) &&
                honest_are_measured(&next, -1) && (lost ? losses >= 2 : losses <= 1) && next.result.control_ns > 0 &&
                next.result.kernel_ns > 0 && are_gone(s, 2000000000);
    if (!good) {
        print_error("%s: status %d %s, %lld lost, %d left\n", expected->name, status, err.text, (long long)losses, count_processes(s));
        show(&b);
        show(&next);
    }
    return good;
}

/* A busy machine may spend a short limit before the kernel begins, or on an honest one: then a longer one decides. */
static bool survives(const setup *s, int which, int evil_at) {
    int64_t limit = evils[which].outcome == KW_TIMED_OUT ? short_limit_ns : patient_limit_ns;
    while (limit < patient_limit_ns && !survives_within(s, which, evil_at, limit)) {
        limit *= 5;
        print_message("  again, within %.1f s\n", (double)limit / 1e9);
    }
    return limit < patient_limit_ns || survives_within(s, which, evil_at, patient_limit_ns);
}

static void an_evil_kernel_has_its_row_and_harms_no_other(void **state) {
    const setup *s = *state;
    int bad = 0, tried = 0;
    for (int i = 0; i < EVILS; i++) {
        if (is_meant(i)) {
            bad += !survives(s, i, i % HONEST_KERNELS);
            tried++;
        }
    }
    print_message("%d worker faults, %d left out under sanitizers, %d wrong\n", tried, EVILS - tried, bad);
    assert_int_equal(bad, 0);
}

/* Timing makes few launches then, and what is to go wrong while it times or in the check after it must do so nevertheless. */
static void a_slow_machine_makes_no_difference(void **state) {
    const setup *s = *state;
    int bad = 0, tried = 0;
    setenv("LD_PRELOAD", KW_SLOW_SHIM, 1);
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0", 1);
    for (int i = 0; i < EVILS; i++) {
        if (is_meant(i) && (strstr(evils[i].body, FIRST_TIMED) || strstr(evils[i].body, LATE_CHECK))) {
            bad += !survives(s, i, i % HONEST_KERNELS);
            tried++;
        }
    }
    unsetenv("LD_PRELOAD");
    unsetenv("ASAN_OPTIONS");
    assert_int_equal(bad, 0);
    assert_true(tried >= 6);
}

static void kernels_of_several_threads_are_no_other(void **state) {
    const setup *s = *state;
    static const char *const names[] = {"SIGKILL to its group", "a loop without end", "_exit(0) without an answer", "a wrong result"};
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    options.threads = 2;
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    assert_int_equal(kw_worker_client_target(client)->units, 2);
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        static batch b;
        int which = find_evil(names[i]);
        fill_batch(&b, s, i, s->evil_key[which]);
        assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
        if (!row_is_right(&b.records[i], &evils[which]) || !honest_are_measured(&b, i)) {
            show(&b);
            fail();
        }
    }
    kw_worker_client_close(&client);
    assert_true(are_gone(s, 2000000000));
}

static void a_batch_of_evil_kernels_has_all_its_rows(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    size_t honest = 0;
    int of[SLOTS];
    fill_batch(&b, s, -1, NULL);
    b.job.count = 0;
    for (int i = 0; i < EVILS; i++) {
        if (is_meant(i) && evils[i].outcome == KW_CRASHED && strstr(evils[i].detail, "verified") && strncmp(evils[i].name, "200", 3)) {
            of[b.job.count] = i;
            b.kernels[b.job.count++] = (kw_worker_job_kernel){&s->config[HONEST_KERNELS], s->evil_key[i]};
        }
    }
    for (; honest < 2; honest++) {
        of[b.job.count] = -1;
        b.kernels[b.job.count++] = (kw_worker_job_kernel){&s->config[honest], s->key[honest]};
    }
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    for (size_t i = 0; i < b.job.count; i++) {
        if (of[i] < 0 ? !is_measured(&b.records[i]) : !row_is_right(&b.records[i], &evils[of[i]])) {
            show(&b);
            fail();
        }
    }
    assert_int_equal(kw_worker_client_lost(client), 2 * (b.job.count - honest));
    kw_worker_client_close(&client);
    assert_true(are_gone(s, 2000000000));
}

/* --- the parent ------------------------------------------------------------------------------------------------------ */

static void children_die_with_a_parent_that_is_killed(void **state) {
    const setup *s = *state;
    for (int round = 0; round < 6; round++) {
        pid_t parent = fork();
        assert_true(parent >= 0);
        if (!parent) {
            static batch b;
            kw_worker_client *client = NULL;
            kw_worker_client_options options = pool_options(s);
            options.kernel_limit_ns = 60000000000;
            fill_batch(&b, s, 0, s->evil_key[find_evil(round % 2 ? "a loop without end" : "stopping itself")]);
            if (!kw_worker_client_open(&client, &options, NULL)) {
                kw_worker_client_measure(client, &b.job, &b.result, NULL);
            }
            _exit(0);
        }
        for (int i = 0; i < 1000 && round >= 3 && count_processes(s) < 2; i++) {
            usleep(5000); /* a worker besides the parent */
        }
        assert_true(round < 3 || count_processes(s) >= 2);
        usleep((useconds_t)(round * 20000));
        assert_int_equal(kill(parent, SIGKILL), 0);
        assert_int_equal(waitpid(parent, NULL, 0), parent);
        assert_true(are_gone(s, 2000000000));
    }
}

static kw_stop stop;

static void set_stop(int signal_number) {
    (void)signal_number;
    kw_stop_request(&stop);
}

static void stopping_ends_the_child_and_leaves_the_rest_untried(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    options.kernel_limit_ns = 60000000000;
    options.stop = &stop;
    stop = (kw_stop){0};
    fill_batch(&b, s, 1, s->evil_key[find_evil("a loop without end")]);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    signal(SIGALRM, set_stop);
    setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {.tv_usec = 300000}}, NULL);
    int64_t start = kw_clock_ns();
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_in_range(kw_clock_ns() - start, 200000000, 1000000000);
    signal(SIGALRM, SIG_DFL);
    assert_true(are_gone(s, 100000000));
    for (size_t i = 0; i < b.job.count; i++) {
        assert_int_equal(b.records[i].outcome, KW_UNTRIED);
        assert_true(*b.records[i].config);
    }
    kw_worker_client_close(&client);
}

static void a_program_that_serves_not_is_an_error(void **state) {
    const setup *s = *state;
    static const char *const programs[] = {"/nonexistent/kwright", "/bin/true", "/bin/false", "/usr/bin/yes", "/dev/null"};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        kw_worker_client *client = NULL;
        kw_error err = {0};
        kw_worker_client_options options = pool_options(s);
        options.program = programs[i];
        assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_ENVIRONMENT);
        assert_null(client);
        assert_non_null(strstr(err.text, programs[i]));
        assert_true(are_gone(s, 100000000));
    }
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    options.cpus = "0,x";
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "--cpus 0,x"));
    options = pool_options(s);
    options.device = "tpu";
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "tpu"));
}

/* A machine that is short of something for a moment: the first two starts fail, one without a word, one in the greeting. */
static void a_worker_that_starts_at_the_third_try_measures(void **state) {
    const setup *s = *state;
    static batch b;
    char program[2 * SCRATCH_MAX], mark[2 * SCRATCH_MAX], text[8 * SCRATCH_MAX];
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    scratch_path(program, s->folder, "shy");
    scratch_path(mark, s->folder, "mark");
    for (int failures = 2; failures <= 3; failures++) {
        int size = snprintf(text, sizeof text,
                            "#!/bin/sh\n[ -e %s1 ] || { : > %s1; exit 1; }\n[ -e %s2 ] || { : > %s2; echo 'not yet'; exit 1; }\n"
                            "[ %d = 2 ] || exit 1\nexec %s \"$@\"\n",
                            mark, mark, mark, mark, failures, KW_KWRIGHT);
        scratch_write(program, text, (size_t)size, 0700);
        options.program = program;
        assert_int_equal(kw_worker_client_open(&client, &options, &err), failures == 2 ? KW_OK : KW_ENVIRONMENT);
        if (failures == 2) {
            fill_batch(&b, s, -1, NULL);
            assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
            assert_true(honest_are_measured(&b, -1));
            kw_worker_client_close(&client);
        }
        for (int i = 1; i <= 2; i++) {
            snprintf(text, sizeof text, "%s%d", mark, i);
            unlink(text);
        }
        assert_true(are_gone(s, 2000000000));
    }
}

/* The worker of this test. */
static void find_worker(const setup *s, char pid[32]) {
    char text[4096];
    DIR *list = opendir("/proc");
    *pid = 0;
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != getpid() && read_process(text, sizeof text, entry->d_name, "cmdline") &&
            strstr(text, s->cache_folder)) {
            snprintf(pid, 32, "%.31s", entry->d_name);
        }
    }
    closedir(list);
    assert_true(*pid);
}

static void a_worker_has_its_own_descriptors_limits_and_cores(void **state) {
    const setup *s = *state;
    char pid[32], path[64], text[8192], cpus[16];
    kw_worker_client *client = NULL;
    kw_error err = {0};
    cpu_set_t allowed;
    int cpu = 0;
    kw_worker_client_options options = pool_options(s);
    assert_int_equal(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET((size_t)cpu, &allowed)) {
        cpu++;
    }
    snprintf(cpus, sizeof cpus, "%d", cpu);
    options.cpus = cpus;
    int left_open = open("/dev/null", O_RDONLY); /* as a careless host does */
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    find_worker(s, pid);
    snprintf(path, sizeof path, "/proc/%s/fd", pid);
    DIR *list = opendir(path);
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        int fd = atoi(entry->d_name);
        assert_true(*entry->d_name == '.' || fd <= 3 || fd == 40 || fd == 41); /* 3: the folder of the cache */
    }
    closedir(list);
    assert_true(read_process(text, sizeof text, pid, "oom_score_adj"));
    assert_int_equal(atoi(text), 1000);
    assert_true(read_process(text, sizeof text, pid, "limits"));
    assert_non_null(strstr(text, "Max core file size        1 "));
    assert_true(SANITIZED || strstr(text, "Max data size             268435456 "));
    assert_true(read_process(text, sizeof text, pid, "status"));
    snprintf(path, sizeof path, "Cpus_allowed_list:\t%d\n", cpu);
    assert_non_null(strstr(text, path));
    kw_worker_client_close(&client);
    close(left_open);
}

static void an_idle_child_that_ends_is_replaced(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    assert_int_equal(kw_worker_client_target(client)->backend, KW_BACKEND_CPU);
    assert_true(*kw_worker_client_device(client));
    assert_int_equal(count_processes(s), 1);
    char pid[32];
    find_worker(s, pid);
    assert_int_equal(kill(atoi(pid), SIGKILL), 0);
    usleep(50000);
    fill_batch(&b, s, -1, NULL);
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_true(honest_are_measured(&b, -1));
    assert_int_equal(kw_worker_client_lost(client), 1);
    kw_worker_client_close(&client);
}

static void a_host_that_ignores_its_children_loses_nothing_but_their_status(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    signal(SIGCHLD, SIG_IGN);
    fill_batch(&b, s, 2, s->evil_key[find_evil("exit(3)")]);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    kw_worker_client_close(&client);
    signal(SIGCHLD, SIG_DFL);
    assert_int_equal(b.records[2].outcome, KW_CRASHED);
    assert_non_null(strstr(b.records[2].detail, "its worker ended while it was verified"));
    assert_true(honest_are_measured(&b, 2));
    assert_true(are_gone(s, 100000000));
}

static void a_host_without_standard_descriptors_can_measure(void **state) {
    const setup *s = *state;
    pid_t host = fork();
    assert_true(host >= 0);
    if (!host) {
        static batch b;
        kw_worker_client *client = NULL;
        kw_worker_client_options options = pool_options(s);
        close(0);
        close(1);
        close(2);
        fill_batch(&b, s, 1, s->evil_key[find_evil("exit(3)")]);
        kw_status status = kw_worker_client_open(&client, &options, NULL);
        status = status ? status : kw_worker_client_measure(client, &b.job, &b.result, NULL);
        kw_worker_client_close(&client);
        _exit(status || b.records[1].outcome != KW_CRASHED || !honest_are_measured(&b, 1));
    }
    int status = 0;
    assert_int_equal(waitpid(host, &status, 0), host);
    assert_int_equal(status, 0);
}

static void *use_pool(void *user) {
    const setup *s = user;
    batch *b = calloc(1, sizeof *b);
    kw_worker_client *client = NULL;
    kw_worker_client_options options = pool_options(s);
    options.kernel_limit_ns = 5000000000;
    bool good = b && !kw_worker_client_open(&client, &options, NULL);
    for (int i = 0; i < 3 && good; i++) {
        fill_batch(b, s, i, s->evil_key[find_evil("exit(3)")]);
        good = !kw_worker_client_measure(client, &b->job, &b->result, NULL) && b->records[i].outcome == KW_CRASHED &&
               honest_are_measured(b, i);
    }
    kw_worker_client_close(&client);
    free(b);
    return good ? user : NULL;
}

static void threads_have_pools_of_their_own(void **state) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, use_pool, *state), 0);
    }
    for (int i = 0; i < 3; i++) {
        void *good = NULL;
        assert_int_equal(pthread_join(threads[i], &good), 0);
        assert_non_null(good);
    }
    assert_true(are_gone(*state, 100000000));
}

/* --- jobs of other kinds --------------------------------------------------------------------------------------------- */

static void what_cannot_be_tried_says_why(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_problem other, huge;
    kw_worker_client_options options = pool_options(s);
    assert_int_equal(kw_problem_parse(&other, "conv_fwd fp32 n1 c8 k8 i8 f3 p1", &err), KW_OK);
    assert_int_equal(kw_problem_parse(&huge, "gemm fp32 rcr m2000000 n2000000 k64", &err), KW_OK);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);

    fill_batch(&b, s, 1, "00112233445566778899aabbccddeeff-0123456789abcdef");
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_int_equal(b.records[1].outcome, KW_UNCOMPILED);
    assert_non_null(strstr(b.records[1].detail, "001122"));
    assert_true(honest_are_measured(&b, 1));

    fill_batch(&b, s, -1, NULL);
    b.job.problem = &other;
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_int_equal(b.records[0].outcome, KW_UNFIT);

    fill_batch(&b, s, -1, NULL);
    b.job.problem = &huge;
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_int_equal(b.records[3].outcome, KW_UNLAUNCHED);

    fill_batch(&b, s, -1, NULL);
    b.job.verify_only = true;
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_int_equal(b.records[2].outcome, KW_GOOD);
    assert_int_equal(b.records[2].samples, 0);

    fill_batch(&b, s, -1, NULL);
    b.job.count = 0;
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_int_equal(kw_worker_client_lost(client), 0);
    kw_worker_client_close(&client);
}

static void an_evil_control_is_done_without(void **state) {
    const setup *s = *state;
    static batch b;
    kw_worker_client *client = NULL;
    kw_error err = {0};
    kw_worker_client_options options = pool_options(s);
    assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
    fill_batch(&b, s, 2, s->evil_key[find_evil("exit(3)")]);
    b.job.control = (kw_worker_job_kernel){&s->config[HONEST_KERNELS], s->evil_key[find_evil("last words")]};
    assert_int_equal(kw_worker_client_measure(client, &b.job, &b.result, &err), KW_OK);
    assert_true(honest_are_measured(&b, 2));
    assert_int_equal(b.records[2].outcome, KW_CRASHED);
    assert_true(b.result.control_ns == 0);
    kw_worker_client_close(&client);
}

/* --- workers that are none ------------------------------------------------------------------------------------------- */

/* A shell script in place of the program: greets, then does body at the end of each job. */
static void write_worker(const setup *s, char path[2 * SCRATCH_MAX], const char *hello, const char *body) {
    char text[2048];
    int size = snprintf(text, sizeof text,
                        "#!/bin/sh\necho '%s'\n"
                        "echo 'target cpu:generic model=x units=1 lanes=1 registers=16 l1=1024 l2=1024 l3=1024'\n"
                        "echo 'device of paper'\necho ready\n"
                        "# kernel, step and the last byte of the time into the status page: 0 is long ago, 177 is still to come\n"
                        "mark() { printf "
                        "\"\\\\2\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\1\\\\0\\\\0\\\\0\\\\0\\\\0\\\\0\\\\${3:-0}\\\\$1\\\\0\\\\0\\\\0\\\\$"
                        "2\\\\0\\\\0\\\\0\" >&3; }\n"
                        "while read -r line; do case $line in go) %s ;; esac; done\n",
                        hello, body);
    assert_in_range(size, 1, sizeof text - 1);
    scratch_write(scratch_path(path, s->folder, "paper"), text, (size_t)size, 0700);
}

#define ZEROS                                                                                                                              \
    "spread_ns=0 median_ns=0 mad_ns=0 least_ns=0 half_ns[0]=0 half_ns[1]=0 samples=1 dropped=0 calls=1 warmups=1 cold=0 workspace=0 "      \
    "error=0 ulp=0 detail="
#define HELLO "hello 1 " KW_VERSION

static void a_worker_that_breaks_the_protocol_gives_rows_and_no_hang(void **state) {
    const setup *s = *state;
    static const struct {
        const char *body;
        kw_outcome outcome;
        const char *detail;
        int lost;
    } cases[] = {
        {"exit 9", KW_CRASHED, "twice exit code 9 while it was waiting", 2},
        {"kill -SEGV $$", KW_CRASHED, "twice signal 11 (SIGSEGV)", 2},
        {"sleep 1000", KW_TIMED_OUT, "twice the batch had no end after", 2},
        {"mark 0 3; sleep 1000", KW_TIMED_OUT, "no end after", 2},
        {"mark 0 3 177; echo error the device is lost; exit 1", KW_CRASHED,
         "the device is lost while it was verified; retried alone: the same", 2},
        {"mark 7 3 177; exit 9", KW_CRASHED, "twice exit code 9", 2},
        {"mark 0 77 177; exit 9", KW_CRASHED, "twice exit code 9", 2},
        {"mark 0 1 177; exit 9", KW_CRASHED, "twice exit code 9 while it was given its data", 2},
        {"echo done kernel_ns=0", KW_CRASHED, "no answer of a worker: done", 2},
        {"echo ready", KW_CRASHED, "no answer of a worker: ready", 2},
        {"echo 'record 1 outcome=good time_ns=5 " ZEROS "'", KW_CRASHED, "no answer of a worker: record 1", 2},
        {"echo 'record 0 outcome=untried time_ns=5 " ZEROS "'", KW_CRASHED, "no answer of a worker: record 0", 2},
        {"echo 'record 0 outcome=good time_ns=5 " ZEROS "'; echo 'control drift=0 outcome=good time_ns=5 " ZEROS "'; echo done kernel_ns=1",
         KW_GOOD, "", 0},
        {"echo 'record 0 outcome=good time_ns=5 " ZEROS "'; exit 3", KW_GOOD, "", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static batch b;
        char path[2 * SCRATCH_MAX];
        kw_worker_client *client = NULL;
        kw_error err = {0};
        kw_worker_client_options options = pool_options(s);
        write_worker(s, path, HELLO, cases[i].body);
        options.program = path;
        options.batch_limit_ns = 300000000;
        assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_OK);
        assert_string_equal(kw_worker_client_device(client), "of paper");
        fill_batch(&b, s, -1, NULL);
        b.job.count = 1;
        b.job.control = (kw_worker_job_kernel){cases[i].outcome == KW_GOOD ? &s->config[0] : NULL, ""};
        kw_status status = kw_worker_client_measure(client, &b.job, &b.result, &err);
        if (status || b.records[0].outcome != cases[i].outcome || !strstr(b.records[0].detail, cases[i].detail) ||
            kw_worker_client_lost(client) != cases[i].lost) {
            print_error("%s: status %d, %lld lost\n", cases[i].body, status, (long long)kw_worker_client_lost(client));
            show(&b);
            fail();
        }
        kw_worker_client_close(&client);
    }
}

static void a_worker_of_another_version_is_refused(void **state) {
    const setup *s = *state;
    static const char *const hellos[] = {("hello 2 " KW_VERSION), "hello 1 9.9.9", "hello world", "ready steady", "target cpu:"};
    for (size_t i = 0; i < sizeof hellos / sizeof *hellos; i++) {
        char path[2 * SCRATCH_MAX];
        kw_worker_client *client = NULL;
        kw_error err = {0};
        kw_worker_client_options options = pool_options(s);
        write_worker(s, path, hellos[i], "exit 0");
        options.program = path;
        assert_int_equal(kw_worker_client_open(&client, &options, &err), KW_ENVIRONMENT);
        assert_non_null(strstr(err.text, path));
        assert_true(i != 1 || strstr(err.text, "9.9.9"));
    }
}

static void nothing_is_left_open(void **state) {
    const setup *s = *state;
    assert_int_equal(count_descriptors(), s->descriptors);
    assert_int_equal(count_processes(s), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_evil_kernel_has_its_row_and_harms_no_other),
        cmocka_unit_test(a_slow_machine_makes_no_difference),
        cmocka_unit_test(kernels_of_several_threads_are_no_other),
        cmocka_unit_test(a_batch_of_evil_kernels_has_all_its_rows),
        cmocka_unit_test(children_die_with_a_parent_that_is_killed),
        cmocka_unit_test(stopping_ends_the_child_and_leaves_the_rest_untried),
        cmocka_unit_test(a_program_that_serves_not_is_an_error),
        cmocka_unit_test(a_worker_that_starts_at_the_third_try_measures),
        cmocka_unit_test(a_worker_has_its_own_descriptors_limits_and_cores),
        cmocka_unit_test(an_idle_child_that_ends_is_replaced),
        cmocka_unit_test(a_host_that_ignores_its_children_loses_nothing_but_their_status),
        cmocka_unit_test(a_host_without_standard_descriptors_can_measure),
        cmocka_unit_test(threads_have_pools_of_their_own),
        cmocka_unit_test(what_cannot_be_tried_says_why),
        cmocka_unit_test(an_evil_control_is_done_without),
        cmocka_unit_test(a_worker_that_breaks_the_protocol_gives_rows_and_no_hang),
        cmocka_unit_test(a_worker_of_another_version_is_refused),
        cmocka_unit_test(nothing_is_left_open),
    };
    return cmocka_run_group_tests(tests, open_setup, close_setup);
}
