/* test_sweep_kill.c: what a sweep must survive: kill -9 of its process at 100 random points (and 50 of one that writes a segment; a fifth
 * of each where sanitizers watch), Ctrl-C at random points, a clock that jumps, locales, hosts of odd habits. After each: what was told to
 * be written is there, nothing twice, no process is left, and the same command completes the rest. The points are drawn from KW_KILL_SEED
 * (the time), which is printed. tools/long/check_kills.py kills other commands, and more often. */

#include "base/statistics/random.h"
#include "base/os/clock.h"
#include "config/config.h"
#include "store/segment.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { FEWER = 5 }; /* every process takes many times as long, and where it is killed is drawn all the same */
#else
enum { FEWER = 1 };
#endif

enum {
    STORE_KILLS = 100 / FEWER,
    SEGMENT_KILLS = 50 / FEWER,
    INTERRUPTS = FEWER > 1 ? 4 : 12,
    PROBLEMS = 6,
    CONFIGS_MAX = 16,
    PAIRS_MAX = PROBLEMS * CONFIGS_MAX,
    ORPHAN_MS = 30000, /* a busy machine may take seconds to end what is killed */
};

static const char *const problem_texts[PROBLEMS] = {
    "conv_fwd fp32 nhwgc n1 g1 c16 k16 i6x6 f3x3 s1x1 p1x1 d1x1", "conv_fwd fp32 nhwgc n1 g1 c32 k16 i4x4 f1x1 s1x1 p0x0 d1x1",
    "conv_fwd fp32 nhwgc n2 g1 c16 k32 i5x5 f1x1 s1x1 p0x0 d1x1", "conv_fwd fp32 nhwgc n1 g16 c16 k16 i8x8 f3x3 s1x1 p1x1 d1x1",
    "conv_fwd fp32 nhwgc n1 g1 c3 k16 i9x9 f3x3 s2x2 p1x1 d1x1",  "conv_fwd fp32 nhwgc n1 g4 c16 k16 i8x8 f3x3 s1x1 p1x1 d1x1",
};

typedef struct fixture {
    char folder[SCRATCH_MAX], cache[2 * SCRATCH_MAX], out[2 * SCRATCH_MAX], list[2 * SCRATCH_MAX];
    char *configs[CONFIGS_MAX];
    size_t config_count, pairs;
    kw_problem problems[PROBLEMS];
    uint64_t random;
} fixture;

static uint64_t draw(fixture *f, uint64_t below) {
    return kw_random_below(&f->random, below);
}

static bool add_config(void *user, const char *config) {
    fixture *f = user;
    assert_true(f->config_count < CONFIGS_MAX);
    f->configs[f->config_count++] = strdup(config);
    return true;
}

static int open_fixture(void **state) {
    fixture *f = calloc(1, sizeof *f);
    kw_text list = {0};
    assert_non_null(f);
    scratch_make(f->folder);
    scratch_path(f->cache, f->folder, "cache");
    scratch_path(f->list, f->folder, "problems.txt");
    setenv("KW_CACHE_DIR", f->cache, 1);
    const char *seed = getenv("KW_KILL_SEED");
    f->random = seed ? strtoull(seed, NULL, 10) : (uint64_t)kw_clock_ns();
    print_message("KW_KILL_SEED=%llu\n", (unsigned long long)f->random);
    kw_space_options tiny = {.size = sizeof(kw_space_options), .set = "tiny", .filter = "c.op == 'conv_fwd' and c.dtype == 'fp32'"};
    assert_int_equal(kw_space_visit(&tiny, add_config, f, NULL), KW_OK);
    for (size_t i = 0; i < PROBLEMS; i++) {
        assert_int_equal(kw_problem_parse(&f->problems[i], problem_texts[i], NULL), KW_OK);
        kw_text_addf(&list, "%s\n", problem_texts[i]);
    }
    f->pairs = f->config_count * PROBLEMS;
    scratch_write(f->list, list.data, list.size, 0600);
    kw_text_drop(&list);
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* grandchildren that lose their parent become ours, so they can be counted */
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    for (size_t i = 0; i < f->config_count; i++) {
        free(f->configs[i]);
    }
    scratch_remove(f->folder);
    free(f);
    return 0;
}

/* --- what is in a store or segment -------------------------------------------------------------------------------- */

typedef struct contents {
    const fixture *f;
    size_t rows, pairs;
    bool has[PAIRS_MAX];
    bool strange; /* a row that cannot be */
} contents;

static void see(contents *c, const kw_row *row) {
    const fixture *f = c->f;
    size_t p = 0, k = 0;
    kw_config config;
    char listed[KW_CONFIG_TEXT_MAX] = "";
    if (!kw_config_parse(&config, row->record.config, NULL)) { /* as the set has it: without what the problem wants of its text */
        config = kw_config_plain(&config);
        kw_config_print(listed, sizeof listed, &config);
    }
    while (p < PROBLEMS && strcmp(row->problem, problem_texts[p])) {
        p++;
    }
    while (k < f->config_count && strcmp(listed, f->configs[k])) {
        k++;
    }
    c->rows++;
    if (p == PROBLEMS || k == f->config_count || row->compile_ns < 0 || row->record.time_ns < 0 || row->sequence <= 0 ||
        (row->record.outcome != KW_GOOD && row->record.outcome != KW_UNFIT && row->record.outcome != KW_SLOW)) {
        print_error("strange: %s on %s: %s %s\n", row->record.config, row->problem, kw_outcome_name(row->record.outcome),
                    row->record.detail);
        c->strange = true;
        return;
    }
    c->pairs += !c->has[p * CONFIGS_MAX + k];
    c->has[p * CONFIGS_MAX + k] = true;
}

static bool see_row(void *user, const kw_row *row) {
    see(user, row);
    return true;
}

static kw_status see_line(void *user, const kw_row *row, kw_error *err) {
    (void)err;
    see(user, row);
    return KW_OK;
}

static contents look(const fixture *f) {
    contents c = {.f = f};
    kw_store *store = NULL;
    kw_error err = {0};
    struct stat info;
    if (stat(f->out, &info) || !info.st_size) { /* killed before or just after it was made */
        return c;
    }
    if (strstr(f->out, ".jsonl")) {
        kw_segment_counts counts;
        kw_segment_visitor visitor = {.row = see_line, .user = &c};
        if (kw_segment_read(f->out, &visitor, &counts, &err)) {
            fail_msg("%s", err.text);
        }
        return c;
    }
    kw_status status = kw_store_open(&store, f->out, KW_STORE_READ, &err);
    if (status && strstr(err.text, "there is no store in")) { /* killed while it was being made: as empty as none, compare() sees to that */
        return c;
    }
    if (status || kw_store_check(store, &err) || kw_store_visit(store, NULL, see_row, &c, &err)) {
        fail_msg("%s", err.text);
    }
    kw_store_close(&store);
    return c;
}

/* Nothing of before is lost, nothing is there twice, and what was told to be written is there. */
static void compare(const contents *before, const contents *after, size_t told) {
    for (size_t i = 0; i < PAIRS_MAX; i++) {
        assert_true(!before->has[i] || after->has[i]);
    }
    assert_false(after->strange);
    assert_int_equal(after->rows, after->pairs);
    assert_true(after->pairs >= told);
}

static void remove_out(const fixture *f) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-lock", ".manifest"};
    char path[3 * SCRATCH_MAX];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", f->out, endings[i]);
        unlink(path);
    }
}

/* Waits for every process that came from ours; those that outlive their sweep by more than a moment are a fault. */
static void expect_no_children(void) {
    int64_t end = kw_clock_ns() + (int64_t)ORPHAN_MS * 1000000;
    for (;;) {
        pid_t child = waitpid(-1, NULL, WNOHANG);
        if (child < 0 && errno == ECHILD) {
            return;
        }
        if (!child) {
            assert_true(kw_clock_ns() < end);
            usleep(500);
        }
    }
}

/* --- kill -9 ------------------------------------------------------------------------------------------------------ */

/* What the sweep's process tells through a pipe: rows that are written, as far as it knows. */
static void tell(void *user, const kw_sweep_progress *now) {
    int64_t written = strcmp(now->phase, "measure") ? 0 : now->skipped + now->done;
    if (write(*(const int *)user, &written, sizeof written) < 0) {
        _exit(9);
    }
}

static int sweep_once(const fixture *f, int to_test) {
    kw_error err = {0};
    kw_sweep_report report;
    kw_sweep_options options = {
        .size = sizeof(kw_sweep_options),
        .configs = (const char *const *)f->configs,
        .config_count = f->config_count,
        .problems = f->problems,
        .problem_count = PROBLEMS,
        .out = f->out,
        .workers.program = KW_KWRIGHT,
        .workers.batch = 2,
        .timing.verify_only = true,
        .progress = to_test >= 0 ? tell : NULL,
        .user = &to_test,
    };
    if (kw_sweep(&options, &report, &err)) {
        fprintf(stderr, "sweep: %s\n", err.text);
        return 1;
    }
    return 0;
}

/* Reads what was told, until messages have come (0: none is waited for) or the process has ended; *ended is set then. */
static size_t hear(int from, size_t messages, bool *ended) {
    int64_t written = 0;
    size_t last = 0;
    *ended = false;
    for (size_t i = 0; i < messages; i++) {
        if (read(from, &written, sizeof written) != sizeof written) {
            *ended = true;
            return last;
        }
        last = (size_t)written;
    }
    return last;
}

/* Kills one sweep at a random point. Whether it was still running. before: what is there; set to what is there then.
 * told: rows that it said were written. */
static bool kill_one(fixture *f, contents *before, size_t *told) {
    int ends[2], status = 0;
    bool ended;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t child = fork();
    if (!child) {
        close(ends[0]);
        _exit(sweep_once(f, ends[1]));
    }
    assert_true(child > 0);
    close(ends[1]);
    size_t wanted = (size_t)draw(f, 12), heard = hear(ends[0], wanted, &ended);
    if (!ended) {
        usleep((useconds_t)draw(f, wanted ? 6000 : 40000));
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    size_t more = hear(ends[0], SIZE_MAX, &ended);
    close(ends[0]);
    expect_no_children();
    contents after = look(f);
    *told = more > heard ? more : heard;
    compare(before, &after, *told);
    *before = after;
    assert_true(WIFSIGNALED(status) || !WEXITSTATUS(status));
    if (!WIFSIGNALED(status)) {
        assert_int_equal(after.pairs, f->pairs);
        remove_out(f);
        *before = (contents){.f = f};
    }
    return WIFSIGNALED(status);
}

static void kill_many(fixture *f, const char *name, int kills) {
    int tries = 0;
    size_t checked = 0;
    contents before = {.f = f};
    scratch_path(f->out, f->folder, name);
    assert_int_equal(sweep_once(f, -1), 0); /* fills the cache */
    assert_int_equal(look(f).pairs, f->pairs);
    remove_out(f);
    for (int killed = 0; killed < kills; tries++) {
        assert_true(tries < 10 * kills);
        size_t told = 0;
        bool was_killed = kill_one(f, &before, &told);
        killed += was_killed;
        checked += was_killed ? told : 0;
    }
    assert_int_equal(sweep_once(f, -1), 0);
    contents last = look(f);
    assert_int_equal(last.pairs, f->pairs);
    assert_int_equal(last.rows, f->pairs);
    assert_true(checked > (size_t)kills);
    print_message("%s: killed %d times in %d sweeps; of %zu rows told none was lost\n", name, kills, tries, checked);
    remove_out(f);
}

static void a_store_survives_kill_9_at_random_points(void **state) {
    kill_many(*state, "killed.db", STORE_KILLS);
}

static void a_segment_survives_kill_9_at_random_points(void **state) {
    kill_many(*state, "killed.jsonl", SEGMENT_KILLS);
}

/* --- a full disk --------------------------------------------------------------------------------------------------- */

/* No file may grow beyond so many bytes: what is written then fails as on a full disk. */
static int sweep_on_a_full_disk(const fixture *f, rlim_t bytes) {
    int status = 0;
    pid_t child = fork();
    if (!child) {
        struct rlimit limit = {bytes, bytes};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &limit);
        freopen("/dev/null", "w", stderr);
        _exit(sweep_once(f, -1));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status)); /* no signal, no crash */
    expect_no_children();
    return WEXITSTATUS(status);
}

static void a_full_disk_ends_a_sweep_and_loses_nothing(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"full.db", "full.jsonl"};
    for (size_t i = 0; i < 2; i++) {
        int failed = 0, completed = 0;
        contents before = {.f = f};
        scratch_path(f->out, f->folder, names[i]);
        /* Below some 20 KB no kernel can be loaded either: that is written to memory for which the limit holds too. */
        for (rlim_t bytes = 4096; bytes <= 400000; bytes += bytes < 65536 ? 4000 : 25000) {
            int code = sweep_on_a_full_disk(f, bytes);
            contents after = look(f);
            compare(&before, &after, 0);
            before = after;
            failed += code != 0;
            completed += code == 0;
            assert_true(code || after.pairs == f->pairs);
        }
        assert_true(failed > 2 && completed > 0);
        assert_int_equal(sweep_once(f, -1), 0);
        assert_int_equal(look(f).pairs, f->pairs);
        remove_out(f);
    }
}

/* --- the command -------------------------------------------------------------------------------------------------- */

/* How one command is run. */
typedef struct circumstances {
    const char *name, *unset[4], *set[4]; /* "NAME=VALUE" */
    bool closed[3];
    int files; /* limit of open files; 0: as it is */
    bool open_umask;
    int expected;
} circumstances;

static void become(const circumstances *c) {
    for (int i = 0; i < 4; i++) {
        if (c->unset[i]) {
            unsetenv(c->unset[i]);
        }
        if (c->set[i]) {
            putenv((char *)(uintptr_t)c->set[i]);
        }
    }
    if (c->files) {
        struct rlimit limit = {(rlim_t)c->files, (rlim_t)c->files};
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (c->open_umask) {
        umask(0);
    }
    int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) {
        dup2(nowhere, i);
    }
    close(nowhere);
    for (int i = 0; i < 3; i++) {
        if (c->closed[i]) {
            close(i);
        }
    }
}

static pid_t start_command(const fixture *f, const circumstances *c, const char *extra) {
    pid_t child = fork();
    if (!child) {
        become(c);
        execl(KW_KWRIGHT, "kwright", "sweep", "--set", "tiny", "--filter", "c.op == 'conv_fwd'", "--dtype", "fp32", "--problems", f->list,
              "--out", f->out, "--batch", "2", extra, (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static int wait_for(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const circumstances usual = {.name = "as usual"};

/* A busy machine may let a stop wait: a few may be later. */
static void ctrl_c_ends_in_good_order_within_two_seconds(void **state) {
    fixture *f = *state;
    int stopped = 0, late = 0;
    contents before = {.f = f};
    scratch_path(f->out, f->folder, "interrupted.db");
    assert_int_equal(sweep_once(f, -1), 0);
    remove_out(f);
    for (int i = 0; i < INTERRUPTS; i++) {
        pid_t child = start_command(f, &usual, NULL);
        usleep(20000 + (useconds_t)draw(f, 600000));
        int64_t begin = kw_clock_ns();
        kill(child, i % 2 ? SIGTERM : SIGINT);
        int code = wait_for(child);
        late += kw_clock_ns() - begin >= 2000000000;
        expect_no_children();
        assert_true(code == 130 || code == 0 || code == 128 + SIGTERM || code == 128 + SIGINT); /* the last two: before it had begun */
        stopped += code == 130;
        contents after = look(f);
        compare(&before, &after, 0);
        before = after;
        if (after.pairs == f->pairs) {
            remove_out(f);
            before = (contents){.f = f};
        }
    }
    assert_int_equal(wait_for(start_command(f, &usual, NULL)), 0);
    assert_int_equal(look(f).pairs, f->pairs);
    print_message("%d of %d sweeps were stopped under way, %d late\n", stopped, INTERRUPTS, late);
    assert_true(late <= INTERRUPTS / 4);
    remove_out(f);
}

typedef struct order {
    int64_t last;
    char run[33];
    size_t rows, negative, years;
    char years_seen[8][5];
} order;

static kw_status see_order(void *user, const kw_row *row, kw_error *err) {
    order *o = user;
    (void)err;
    bool same = !strcmp(o->run, row->run);
    o->negative += same && row->sequence <= o->last;
    o->negative += row->record.time_ns < 0 || row->record.spread_ns < 0 || row->record.median_ns < 0 || row->compile_ns < 0 ||
                   row->control_ns < 0 || row->record.half_ns[0] < 0;
    snprintf(o->run, sizeof o->run, "%s", row->run);
    o->last = row->sequence;
    o->rows++;
    size_t i = 0;
    while (i < o->years && strncmp(o->years_seen[i], row->time, 4)) {
        i++;
    }
    if (i == o->years && i < 8) {
        snprintf(o->years_seen[o->years++], 5, "%.4s", row->time);
    }
    return KW_OK;
}

/* A segment keeps the order of writing. */
static void a_clock_that_jumps_changes_neither_order_nor_durations(void **state) {
    fixture *f = *state;
    static const circumstances jumping = {.name = "jumping", .set = {"LD_PRELOAD=" KW_CLOCK_SHIM, "ASAN_OPTIONS=verify_asan_link_order=0"}};
    order o = {0};
    kw_segment_counts counts;
    kw_segment_visitor visitor = {.row = see_order, .user = &o};
    scratch_path(f->out, f->folder, "jumping.jsonl");
    pid_t child = start_command(f, &jumping, NULL);
    usleep(500000);
    kill(child, SIGINT);
    int code = wait_for(child);
    assert_true(code == 130 || code == 0);
    int64_t begin = kw_clock_ns();
    assert_int_equal(wait_for(start_command(f, &jumping, NULL)), 0);
    assert_true(kw_clock_ns() - begin < 600000000000); /* the clock jumps by years: what waits for it waits longer than any busy machine */
    assert_int_equal(kw_segment_read(f->out, &visitor, &counts, NULL), KW_OK);
    contents all = look(f);
    assert_int_equal(all.pairs, f->pairs);
    assert_int_equal(all.rows, f->pairs);
    assert_int_equal(o.rows, f->pairs);
    assert_int_equal(o.negative, 0);
    assert_true(o.years >= 2); /* the shim was there */
    assert_int_equal(wait_for(start_command(f, &usual, NULL)), 0);
    assert_int_equal(look(f).rows, f->pairs);
    remove_out(f);
}

/* The command in circumstances: how it ends, and that it did all. */
static void expect_all_pairs(fixture *f, const circumstances *c, const char *extra) {
    struct stat info;
    int code = wait_for(start_command(f, c, extra));
    contents found = look(f);
    if (code != c->expected || found.pairs != f->pairs || found.strange) {
        fail_msg("%s: exit code %d, %zu of %zu pairs", c->name, code, found.pairs, f->pairs);
    }
    assert_int_equal(stat(f->out, &info), 0);
    assert_int_equal(info.st_mode & 022, 0);
    expect_no_children();
    remove_out(f);
}

/* A program whose libraries take on the locale of the environment, where i is no I and a number has a comma. */
static void locales_are_no_matter(void **state) {
    fixture *f = *state;
    static const char *const names[] = {"tr_TR", "de_DE"};
    char folder[2 * SCRATCH_MAX], command[8 * SCRATCH_MAX], path[3 * SCRATCH_MAX], name[64];
    scratch_path(folder, f->folder, "locales");
    assert_int_equal(mkdir(folder, 0700), 0);
    scratch_path(f->out, f->folder, "locale.db");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s.UTF-8 >/dev/null 2>&1", names[i], folder, names[i]);
        if (system(command)) {
            print_message("no localedef, or no source of %s\n", names[i]);
            skip();
        }
        snprintf(path, sizeof path, "LOCPATH=%s", folder);
        snprintf(name, sizeof name, "LC_ALL=%s.UTF-8", names[i]);
        circumstances c = {.name = names[i], .set = {path, name, "LD_PRELOAD=" KW_LOCALE_SHIM, "ASAN_OPTIONS=verify_asan_link_order=0"}};
        expect_all_pairs(f, &c, "--verify-only");
    }
}

static void hosts_of_odd_habits_are_no_matter(void **state) {
    fixture *f = *state;
    static const circumstances cases[] = {
        {.name = "no home", .unset = {"HOME", "KW_CACHE_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME"}},
        {.name = "no standard input", .closed = {true, false, false}},
        {.name = "no standard error", .closed = {false, false, true}},
        {.name = "no standard output", .closed = {false, true, false}, .expected = 3}, /* the answer could not be printed */
        {.name = "none of the three", .closed = {true, true, true}, .expected = 3},
        {.name = "64 open files", .files = 64},
        {.name = "umask 000", .open_umask = true},
        {.name = "a zone 25 hours off", .set = {"TZ=ODD-24:59:59ODDER,0/-167,365/167:59:59"}},
        {.name = "no such zone", .set = {"TZ=:../../../etc/passwd"}},
    };
    scratch_path(f->out, f->folder, "odd.db");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_all_pairs(f, &cases[i], "--verify-only");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_store_survives_kill_9_at_random_points),
        cmocka_unit_test(a_segment_survives_kill_9_at_random_points),
        cmocka_unit_test(a_full_disk_ends_a_sweep_and_loses_nothing),
        cmocka_unit_test(ctrl_c_ends_in_good_order_within_two_seconds),
        cmocka_unit_test(a_clock_that_jumps_changes_neither_order_nor_durations),
        cmocka_unit_test(locales_are_no_matter),
        cmocka_unit_test(hosts_of_odd_habits_are_no_matter),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
