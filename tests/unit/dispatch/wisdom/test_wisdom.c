/* test_wisdom.c: wisdom as text, as files in layers, and under many writers. */

#include "base/os/file.h"
#include "base/os/process/process.h"
#include "base/os/parallel.h"
#include "dispatch/wisdom/wisdom.h"
#include "unit/dispatch/toy.h"
#include "support/kw_test.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WRITERS = 16, LINES_A_WRITER = 8 };

#define ENTRY(mode, target, problem, config, candidates)                                                                                   \
    mode "\t" target "\t" problem "\tpacked\t" config "\t1200.5\t3.0\t" candidates "\t2026-11-21\t1300.0\tother"

static kw_word word(const char *text) {
    return (kw_word){text, strlen(text)};
}

/* --- text --------------------------------------------------------------------------------------------------------- */

static void lines_are_read_or_refused_with_the_field(void **state) {
    static const struct {
        const char *line, *fault; /* fault NULL: good; "": a comment */
    } cases[] = {
        {ENTRY("shortlist", "t", "p", "c", "8"), NULL},
        {"exhaustive\tt\tp\tfresh\tc\t5\t0\t1\t2026-01-31\t0\t-", NULL},
        {"# anything", ""},
        {"", ""},
        {"shortlist", "target is missing"},
        {ENTRY("frozen", "t", "p", "c", "8"), "mode cannot be frozen"},
        {ENTRY("SHORTLIST", "t", "p", "c", "8"), "mode cannot be SHORTLIST"},
        {ENTRY("shortlist", "", "p", "c", "8"), "target cannot be"},
        {ENTRY("shortlist", "t", "", "c", "8"), "problem cannot be"},
        {ENTRY("shortlist", "t", "p", "c", "-1"), "candidates cannot be -1"},
        {ENTRY("shortlist", "t", "p", "c", "99999999999"), "candidates cannot be"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\t2026-11-30", NULL},
        {ENTRY("shortlist", "t", "p", "c", "8") "\t-\t2026-11-30", NULL},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder", "field checked is missing"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\t\t2026-11-30", "builder cannot be"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\tyesterday", "checked cannot be yesterday"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\t2026-11-30\t16", NULL},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\t2026-11-30\t0", "threads cannot be 0"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\t2026-11-30\tmore", "threads cannot be more"},
        {ENTRY("shortlist", "t", "p", "c", "8") "\tbuilder\t2026-11-30\t2\tmore", "more than 14 fields"},
        {"shortlist\tt\tp\tsalted\tc\t1\t0\t1\t2026-01-31\t0\t-", "weights cannot be salted"},
        {"shortlist\tt\tp\tfresh\tc\t1,5\t0\t1\t2026-01-31\t0\t-", "time_ns cannot be 1,5"},
        {"shortlist\tt\tp\tfresh\tc\t1e9\t0\t1\t2026-01-31\t0\t-", "time_ns cannot be 1e9"},
        {"shortlist\tt\tp\tfresh\tc\tnan\t0\t1\t2026-01-31\t0\t-", "time_ns cannot be nan"},
        {"shortlist\tt\tp\tfresh\tc\t-1\t0\t1\t2026-01-31\t0\t-", "time_ns cannot be -1"},
        {"shortlist\tt\tp\tfresh\tc\t1.25\t0\t1\t2026-01-31\t0\t-", "time_ns cannot be 1.25"},
        {"shortlist\tt\tp\tfresh\tc\t1\t0\t1\t2026-1-31\t0\t-", "date cannot be 2026-1-31"},
        {"shortlist\tt\tp\tfresh\tc\t1\t0\t1\t2026-13-31\t0\t-", "date cannot be 2026-13-31"},
        {"shortlist\tt\tp\tfresh\tc\t1\t0\t1\t2026-01-31\t0\t", "next cannot be"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_wisdom_line line;
        kw_error why;
        bool good = kw_wisdom_line_read(&line, word(cases[i].line), &why);
        if (good != !cases[i].fault || (cases[i].fault && (!*cases[i].fault != !why.status || !strstr(why.text, cases[i].fault)))) {
            fail_msg("case %zu: %s: %s", i, cases[i].line, why.text);
        }
    }
}

static void printed_lines_read_back_the_same(void **state) {
    (void)state;
    static const double times[] = {0, 0.1, 99.9, 1234567.8, 3.6e12};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        kw_wisdom_line line = {.mode = KW_EXHAUSTIVE,
                               .target = word("cpu:x86-64-v3 units=2"),
                               .key = word("gemm fp32 rcr b1 m1 n2 k3\tfresh"),
                               .config = word("f gemm fp32 a=1"),
                               .date = word("2026-11-21"),
                               .next = i % 2 ? word("g gemm fp32 a=2") : word(""),
                               .builder = i % 2 ? word("0123456789abcdef") : word(""),
                               .checked = i % 3 ? word("2026-12-01") : word(""),
                               .time_ns = times[i],
                               .spread_ns = times[i] / 2,
                               .next_ns = times[i] * 2,
                               .candidates = (int32_t)i,
                               .threads = (int32_t)(i % 3)};
        kw_text first = {0}, second = {0};
        kw_error why;
        kw_wisdom_line again;
        kw_wisdom_line_print(&first, &line);
        assert_true(kw_wisdom_line_read(&again, (kw_word){first.data, first.size - 1}, &why));
        assert_true(again.time_ns > times[i] - 0.051 && again.time_ns < times[i] + 0.051);
        assert_int_equal(again.threads, line.threads);
        kw_wisdom_line_print(&second, &again);
        assert_string_equal(first.data, second.data);
        kw_text_drop(&first);
        kw_text_drop(&second);
    }
}

static void edits_touch_only_their_own_problem(void **state) {
    static const char before[] = KW_WISDOM_HEADER "\n# mine\nnot wisdom at all\n" ENTRY("shortlist", "t", "p", "old", "8") "\n" ENTRY(
        "shortlist", "t", "q", "kept", "8") "\n" ENTRY("exhaustive", "u", "p", "other target", "8");
    static const struct {
        kw_mode mode;
        int32_t candidates;
        bool replace, changes;
    } cases[] = {
        {KW_SHORTLIST, 8, false, false}, {KW_SHORTLIST, 8, true, true},   {KW_SHORTLIST, 9, false, true},
        {KW_PREDICT, 8, false, false},   {KW_EXHAUSTIVE, 1, false, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_wisdom_line line = {.mode = cases[i].mode,
                               .target = word("t"),
                               .key = word("p\tpacked"),
                               .config = word("new"),
                               .date = word("2026-11-22"),
                               .candidates = cases[i].candidates};
        kw_wisdom_edit edit = {.put = &line, .replace = cases[i].replace};
        kw_text after = {0};
        int64_t changes = kw_wisdom_text_edit(&after, word(before), &edit);
        assert_int_equal(changes, cases[i].changes);
        if (changes) {
            assert_contains(after.data, "# mine\nnot wisdom at all\n");
            assert_contains(after.data, "\tq\tpacked\tkept\t");
            assert_contains(after.data, "\tp\tpacked\tother target\t");
            assert_contains(after.data, "\tt\tp\tpacked\tnew\t");
            assert_null(strstr(after.data, "\told\t"));
        }
        kw_text_drop(&after);
    }
    kw_text after = {0};
    kw_wisdom_edit forget = {.problem = word("p")};
    assert_int_equal(kw_wisdom_text_edit(&after, word(before), &forget), 2);
    assert_contains(after.data, "\tq\tpacked\tkept\t");
    assert_null(strstr(after.data, "\tp\t"));
    kw_text_drop(&after);
    kw_wisdom_line line = {
        .mode = KW_SHORTLIST, .target = word("t"), .key = word("p\tpacked"), .config = word("new"), .date = word("2026-11-22")};
    assert_int_equal(kw_wisdom_text_edit(&after, word(""), &(kw_wisdom_edit){.put = &line}), 1);
    assert_int_equal(strncmp(after.data, KW_WISDOM_HEADER "\n", strlen(KW_WISDOM_HEADER) + 1), 0);
    kw_text_drop(&after);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static int setup(void **state) {
    *state = calloc(1, sizeof(toy_world));
    toy_world_make(*state);
    mkdir(((toy_world *)*state)->data, 0700);
    return 0;
}

static int teardown(void **state) {
    toy_world_drop(*state);
    free(*state);
    return 0;
}

/* Everything a context logs, one line after the other. */
static void keep_log(void *user, const char *line) {
    kw_text_addf(user, "%s\n", line);
}

typedef struct seen {
    int count, stale;
    char reason[512];
} seen;

static void look(void *user, const kw_wisdom_entry *entry) {
    seen *s = user;
    s->count++;
    s->stale += entry->stale != NULL;
    snprintf(s->reason, sizeof s->reason, "%s", entry->stale ? entry->stale : "");
}

static seen visit(kw_context *context, const char *path) {
    seen s = {0};
    kw_error err = {0};
    if (kw_wisdom_visit(context, path, look, &s, &err)) {
        fail_msg("%s", err.text);
    }
    return s;
}

/* Writes a wisdom file with one entry for TOY_PROBLEM on the world's target. */
static void write_entry(toy_world *world, const char *path, const char *config, const char *problem) {
    kw_context *context = toy_open(world);
    char canonical[KW_PROBLEM_TEXT_MAX];
    kw_problem toy = toy_problem(TOY_PROBLEM);
    kw_problem_print(canonical, sizeof canonical, &toy);
    kw_text text = {0};
    kw_text_addf(&text, KW_WISDOM_HEADER "\nshortlist\t%s\t%s\tpacked\t%s\t1000.0\t1.0\t8\t2026-11-21\t0\t-\n", kw_context_target(context),
                 problem ? problem : canonical, config);
    scratch_write(path, text.data, text.size, 0600);
    kw_text_drop(&text);
    kw_context_close(&context);
}

static void the_user_s_layer_comes_before_the_system_s(void **state) {
    toy_world *world = *state;
    char system[2 * SCRATCH_MAX];
    scratch_path(system, world->folder, "system.txt");
    setenv("KW_SYSTEM_WISDOM", system, 1);
    write_entry(world, system, TOY_SLOW, NULL);
    kw_context *context = toy_open(world);
    assert_string_equal(toy_chosen(context, NULL), TOY_SLOW);
    kw_context_close(&context);
    write_entry(world, world->wisdom, TOY_SECOND, NULL);
    context = toy_open(world);
    assert_string_equal(toy_chosen(context, NULL), TOY_SECOND);
    assert_int_equal(visit(context, NULL).count, 2);
    int64_t dropped;
    kw_problem problem = toy_problem(TOY_PROBLEM);
    assert_int_equal(kw_wisdom_forget(context, &problem, &dropped, NULL), KW_OK);
    assert_int_equal(dropped, 1);
    assert_string_equal(toy_chosen(context, NULL), TOY_SLOW); /* the system's answers again */
    kw_context_close(&context);
    unsetenv("KW_SYSTEM_WISDOM");
}

static void stale_entries_are_skipped_shown_and_replaced(void **state) {
    static const struct {
        const char *config, *problem, *reason;
    } cases[] = {
        {"test.gone gemm fp32 a=1", NULL, "family test.gone is not known"},
        {"test.toy gemm fp32 isa=avx2", NULL, "needs axis"},
        {TOY_BEST " more=1", NULL, "no axis more"},
        {"test.toy gemm fp32 isa=avx2 math=fma name=1 slow=0 fault=none room=0 packs=0", NULL, "slow=0"},
        {TOY_BEST, "gemm fp32 rcr m24 n20 k16", "canonical text"},
        {"conv.reference conv_fwd fp32", NULL, "the problem is gemm"},
    };
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text log = {0};
        write_entry(world, world->wisdom, cases[i].config, cases[i].problem);
        world->options.log = keep_log;
        world->options.user = &log;
        kw_context *context = toy_open(world);
        seen s = visit(context, NULL);
        assert_int_equal(s.count, 1);
        assert_int_equal(s.stale, 1);
        assert_contains(s.reason, cases[i].reason);
        assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
        if (!cases[i].problem) {
            assert_contains(kw_text_string(&log), cases[i].reason);
            assert_int_equal(visit(context, NULL).stale, 0); /* measured anew, and replaced */
            assert_int_equal(toy_wisdom_lines(world), 1);
        }
        kw_context_close(&context);
        kw_text_drop(&log);
        world->options.log = NULL;
    }
}

static void malformed_lines_are_skipped_with_one_remark_and_kept(void **state) {
    toy_world *world = *state;
    static const char text[] = KW_WISDOM_HEADER "\nrubbish\nmore rubbish\n\x01\x02\tx\n";
    kw_text log = {0};
    scratch_write(world->wisdom, text, sizeof text - 1, 0600);
    world->options.log = keep_log;
    world->options.user = &log;
    kw_context *context = toy_open(world);
    assert_int_equal(visit(context, NULL).count, 0);
    toy_chosen(context, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_PREDICT});
    assert_contains(log.data, "wisdom.txt:2: not wisdom");
    assert_contains(log.data, "3 such lines");
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
    assert_int_equal(toy_wisdom_lines(world), 4);
    kw_error err = {0};
    scratch_write(world->wisdom, text, sizeof text - 1, 0600);
    assert_int_equal(kw_wisdom_visit(context, world->wisdom, look, &(seen){0}, &err), KW_MALFORMED);
    assert_contains(err.text, "wisdom.txt:2");
    assert_int_equal(kw_wisdom_visit(context, "/nonexistent", look, &(seen){0}, &err), KW_MISSING);
    kw_context_close(&context);
    kw_text_drop(&log);
}

/* What must not be believed is neither read nor written. */
static void foreign_files_are_left_alone(void **state) {
    static const struct {
        const char *text, *remark;
        unsigned mode;
    } cases[] = {
        {"# kernelwright wisdom 2\nsomething new\n", "another version", 0600},
        {KW_WISDOM_HEADER "\n", "chmod go-w", 0666},
        {KW_WISDOM_HEADER "\n", "chmod go-w", 0660},
    };
    toy_world *world = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text log = {0};
        unlink(world->wisdom);
        scratch_write(world->wisdom, cases[i].text, strlen(cases[i].text), cases[i].mode);
        chmod(world->wisdom, (mode_t)cases[i].mode);
        world->options.log = keep_log;
        world->options.user = &log;
        kw_context *context = toy_open(world);
        assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
        assert_contains(kw_text_string(&log), cases[i].remark);
        assert_contains(kw_text_string(&log), "kept in memory only");
        assert_int_equal(visit(context, NULL).count, 1); /* the one in memory */
        struct stat info;
        assert_int_equal(stat(world->wisdom, &info), 0);
        assert_int_equal(info.st_size, strlen(cases[i].text));
        kw_context_close(&context);
        kw_text_drop(&log);
    }
}

static void without_a_file_wisdom_stays_in_memory(void **state) {
    toy_world *world = *state;
    world->options.wisdom_file = "";
    kw_context *context = toy_open(world);
    kw_problem problem = toy_problem(TOY_PROBLEM);
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
    assert_int_equal(visit(context, NULL).count, 1);
    assert_int_equal(toy_wisdom_lines(world), 0);
    int64_t dropped;
    assert_int_equal(kw_wisdom_forget(context, &problem, &dropped, NULL), KW_OK);
    assert_int_equal(dropped, 1);
    assert_int_equal(visit(context, NULL).count, 0);
    kw_context_close(&context);
}

static void a_later_process_s_wisdom_is_seen(void **state) {
    toy_world *world = *state;
    kw_context *first = toy_open(world);
    assert_string_equal(toy_chosen(first, &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_FROZEN}),
                        "gemm.reference gemm fp32");
    write_entry(world, world->wisdom, TOY_SLOW, NULL);
    assert_string_equal(toy_chosen(first, NULL), TOY_SLOW); /* the file is looked at again before anything is measured */
    kw_context_close(&first);
}

static void a_held_lock_does_not_hang(void **state) {
    toy_world *world = *state;
    kw_text log = {0};
    world->options.log = keep_log;
    world->options.user = &log;
    int fd = open(world->data, O_RDONLY | O_DIRECTORY);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    kw_context *context = toy_open(world);
    assert_string_equal(toy_chosen(context, NULL), TOY_BEST);
    assert_contains(kw_text_string(&log), "locked by another process");
    close(fd);
    kw_context_close(&context);
    kw_text_drop(&log);
}

/* --- many writers ------------------------------------------------------------------------------------------------- */

/* A child process: records LINES_A_WRITER problems of its own and one that all have in common. */
static int write_lines(const char *path, int number) {
    kw_settings settings = {.wisdom = path, .system_wisdom = "", .data = ""};
    kw_wisdom *wisdom = NULL;
    int failures = kw_wisdom_open(&wisdom, &settings, "cpu:test", NULL) != KW_OK;
    for (int i = 0; !failures && i <= LINES_A_WRITER; i++) {
        char problem[64], key[KW_WISDOM_KEY_MAX];
        snprintf(problem, sizeof problem, i ? "problem %d %d" : "common", number, i);
        kw_wisdom_key_print(key, problem, false);
        kw_wisdom_value value = {.mode = KW_SHORTLIST, .candidates = 8, .time_ns = 1000, .date = "2026-11-21"};
        snprintf(value.config, sizeof value.config, "config of %d", number);
        kw_status status = KW_IO; /* where others have the folder for 5 s, as on a busy disk; that is told, and tried again */
        for (int tries = 0; status == KW_IO && tries < 10; tries++) {
            status = kw_wisdom_record(wisdom, key, &value, false, NULL, NULL);
        }
        failures += status != KW_OK;
        failures += !kw_wisdom_find(wisdom, KW_LAYER_USER, key, &value);
    }
    kw_wisdom_close(&wisdom);
    return failures;
}

typedef struct writers {
    const char *path;
    int exit_codes[WRITERS];
} writers;

static void run_writer(void *user, size_t index) {
    writers *w = user;
    char number[16];
    snprintf(number, sizeof number, "%zu", index);
    const char *const argv[] = {"/proc/self/exe", w->path, number, NULL};
    kw_process_result result = {.exit_code = -1};
    kw_process_run(argv, 60000000000, NULL, &result, NULL);
    w->exit_codes[index] = result.exit_code;
}

static void sixteen_writers_lose_nothing(void **state) {
    toy_world *world = *state;
    writers w = {.path = world->wisdom};
    kw_parallel_run(&(kw_parallel){.count = WRITERS, .workers = WRITERS, .work = run_writer, .user = &w});
    for (int i = 0; i < WRITERS; i++) {
        assert_int_equal(w.exit_codes[i], 0);
    }
    assert_int_equal(toy_wisdom_lines(world), WRITERS * LINES_A_WRITER + 1);
    assert_int_equal(scratch_count(world->data, ""), 1); /* neither locks nor temporary files are left */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv) {
    if (argc == 3) {
        return write_lines(argv[1], atoi(argv[2]));
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read_or_refused_with_the_field),
        cmocka_unit_test(printed_lines_read_back_the_same),
        cmocka_unit_test(edits_touch_only_their_own_problem),
        TEST(the_user_s_layer_comes_before_the_system_s),
        TEST(stale_entries_are_skipped_shown_and_replaced),
        TEST(malformed_lines_are_skipped_with_one_remark_and_kept),
        TEST(foreign_files_are_left_alone),
        TEST(without_a_file_wisdom_stays_in_memory),
        TEST(a_later_process_s_wisdom_is_seen),
        TEST(a_held_lock_does_not_hang),
        TEST(sixteen_writers_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
