/* test_cli_environment.c: what a user is told, and by which exit code, when a place cannot be used, a compiler wants for something, or the one
 * kernel that was asked for cannot answer. */

#include "base/os/process/process.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

#define PROBLEM "gemm fp32 rcr m16 n16 k16"

typedef struct site {
    char folder[SCRATCH_MAX], wisdom[2 * SCRATCH_MAX], cache[2 * SCRATCH_MAX];
    kw_text printed; /* both outputs of the last command */
} site;

static int open_site(void **state) {
    site *s = calloc(1, sizeof *s);
    char data[2 * SCRATCH_MAX];
    assert_non_null(s);
    scratch_make(s->folder);
    setenv("KW_WISDOM", scratch_path(s->wisdom, s->folder, "wisdom.txt"), 1);
    setenv("KW_CACHE_DIR", scratch_path(s->cache, s->folder, "cache"), 1);
    setenv("KW_DATA_DIR", scratch_path(data, s->folder, "data"), 1);
    *state = s;
    return 0;
}

static int close_site(void **state) {
    site *s = *state;
    kw_text_drop(&s->printed);
    scratch_remove(s->folder);
    free(s);
    return 0;
}

/* The exit code of a kwright of one thread. */
static int run(site *s, const char *const words[]) {
    const char *argv[24] = {KW_KWRIGHT};
    kw_process_result result;
    for (size_t i = 0; words[i]; i++) {
        argv[i + 1] = words[i];
    }
    s->printed.size = 0;
    assert_int_equal(kw_process_run(argv, 120000000000, &s->printed, &result, NULL), KW_OK);
    return result.exit_code;
}

static bool says(const site *s, const char *words) {
    return strstr(kw_text_string(&s->printed), words);
}

#define RUN(s, ...) run(s, (const char *const[]){__VA_ARGS__, NULL})

static void expect(site *s, int code, int wanted, const char *words) {
    if (code != wanted || !says(s, words)) {
        fail_msg("exit code %d in place of %d, or not \"%s\" in: %s", code, wanted, words, kw_text_string(&s->printed));
    }
}

static void a_wisdom_file_that_cannot_be_written_is_told(void **state) {
    site *s = *state;
    char fifo[2 * SCRATCH_MAX], below[3 * SCRATCH_MAX];
    scratch_path(fifo, s->folder, "fifo");
    snprintf(below, sizeof below, "%s/w.txt", fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const char *const places[] = {"/proc/nothere/w.txt", fifo, below};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        setenv("KW_WISDOM", places[i], 1);
        expect(s, RUN(s, "tune", "--threads", "1", "--shortlist", "2", PROBLEM), 3, "wisdom is kept in memory only");
        assert_true(says(s, places[i]) || says(s, fifo) || says(s, "/proc/nothere"));
        assert_false(says(s, "the winners are in"));
    }
    setenv("KW_WISDOM", s->wisdom, 1);
    expect(s, RUN(s, "tune", "--threads", "1", "--shortlist", "2", PROBLEM), 0, "the winners are in");
    unlink(s->wisdom);
}

/* Without --set the winner is an answer for everybody; with one it is not, and nobody is told that it was kept. */
static void a_winner_among_few_is_not_said_to_be_kept(void **state) {
    site *s = *state;
    expect(s, RUN(s, "tune", "--threads", "1", "--shortlist", "2", "--set", "tiny", PROBLEM), 0, "not written to wisdom");
    assert_false(says(s, "the winners are in"));
    assert_int_equal(access(s->wisdom, F_OK), -1);
}

/* The first kernels' compiler cannot fork, as under a limit of processes; the others' can. */
static void a_race_with_failures_for_want_leaves_no_wisdom(void **state) {
    site *s = *state;
    static const char *const wants[] = {"gcc: fatal error: cannot fork: Resource temporarily unavailable",
                                        "abc.s: fatal error: cannot open: Too many open files",
                                        "gcc: fatal error: Killed signal terminated program cc1"};
    char cc[2 * SCRATCH_MAX], other[2 * SCRATCH_MAX], script[2048], once[2 * SCRATCH_MAX];
    scratch_path(cc, s->folder, "cc");
    scratch_path(once, s->folder, "once");
    setenv("KW_CACHE_DIR", scratch_path(other, s->folder, "other"), 1);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        char command[4 * SCRATCH_MAX];
        snprintf(command, sizeof command, "%s.%zu", once, i);
        snprintf(script, sizeof script,
                 "#!/bin/sh\nif [ \"$1\" != -v ] && mkdir %s 2>/dev/null; then echo '%s' >&2; exit 1; fi\nexec gcc \"$@\"\n", command,
                 wants[i]);
        scratch_write(cc, script, strlen(script), 0700);
        scratch_remove(other);
        expect(s, RUN(s, "tune", "--threads", "1", "--shortlist", "2", "--cc", cc, PROBLEM), 3,
               "not written to wisdom: 1 kernels could not be tried");
        assert_true(says(s, "1 failed"));
        assert_false(says(s, "the winners are in"));
        assert_int_equal(access(s->wisdom, F_OK), -1);
    }
    expect(s, RUN(s, "tune", "--threads", "1", "--shortlist", "2", "--cc", cc, PROBLEM), 0, "the winners are in");
    expect(s, RUN(s, "explain", "--threads", "1", "--shortlist", "2", PROBLEM), 0, "from wisdom");
    unlink(s->wisdom);
    setenv("KW_CACHE_DIR", s->cache, 1);
}

static void a_cache_that_cannot_be_used_is_told_once(void **state) {
    site *s = *state;
    static const char *const verbs[] = {"run", "tune", "check"};
    char open_to_all[2 * SCRATCH_MAX];
    scratch_path(open_to_all, s->folder, "open");
    assert_int_equal(mkdir(open_to_all, 0700), 0);
    assert_int_equal(chmod(open_to_all, 0777), 0);
    const struct {
        const char *folder, *words;
    } cases[] = {{"/proc/nothere/cache", "/proc/nothere"}, {"/dev/null/cache", "/dev/null"}, {open_to_all, "others may write it"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 3; i++) {
        setenv("KW_CACHE_DIR", cases[i / 3].folder, 1);
        int code = RUN(s, verbs[i % 3], "--set", "tiny", PROBLEM);
        expect(s, code, 0, "kwright: the kernel cache: ");
        expect(s, code, 0, cases[i / 3].words);
        assert_ptr_equal(strstr(kw_text_string(&s->printed), "the kernel cache: "),
                         strstr(kw_text_string(&s->printed), "the kernel cache"));
    }
    expect(s, RUN(s, "doctor"), 0, "others may write it: not used");
    assert_false(says(s, "(yours, writable; "));
    RUN(s, "run", "--quiet", PROBLEM);
    assert_false(says(s, "the kernel cache"));
    setenv("KW_CACHE_DIR", s->cache, 1);
    RUN(s, "run", "--cache-dir", "", PROBLEM);
    assert_false(says(s, "the kernel cache"));
}

static void a_model_that_is_none_is_refused(void **state) {
    site *s = *state;
    static const char *const verbs[] = {"predict", "select", "explain", "run", "tune"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        expect(s, RUN(s, verbs[i], "--model", "/nope", PROBLEM), 2, "/nope is no folder of a model");
    }
    setenv("KW_MODEL", s->folder, 1);
    expect(s, RUN(s, "predict", PROBLEM), 2, s->folder);
    unsetenv("KW_MODEL");
    expect(s, RUN(s, "predict", "--model", "", PROBLEM), 0, "rank");
}

static void a_config_that_cannot_answer_is_refused_by_its_rule(void **state) {
    site *s = *state;
    static const char *const verbs[] = {"run", "select", "tune"};
    static const struct {
        const char *config, *words;
    } cases[] = {
        {"conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=4 vecs=2 band=0 edge=skip", "conv"},
        {"gemm.mma gemm fp32 layout=rcr tile_m=128 tile_n=128 tile_k=16 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=4 pipe=mem "
         "sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=4 vec_b=4 vec_c=4 stages=2 preshuffle=0 wave_groups=1 persistent=0 "
         "split_k=1 streamk=off index=32",
         "backend gpu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases * 3; i++) {
        int code = RUN(s, verbs[i % 3], "--config", cases[i / 3].config, PROBLEM);
        expect(s, code, 2, "without --config the best kernel answers");
        expect(s, code, 2, cases[i / 3].words);
        assert_false(says(s, "gemm.reference"));
    }
    /* One that serves the problem, and cannot be compiled. */
    RUN(s, "list", "--set", "tiny", "--filter", "c.op == 'gemm' and c.dtype == 'fp32'", "--limit", "1");
    char *config = strdup(kw_text_string(&s->printed));
    config[strcspn(config, "\n")] = 0;
    char other[2 * SCRATCH_MAX];
    setenv("KW_CACHE_DIR", scratch_path(other, s->folder, "empty"), 1);
    expect(s, RUN(s, "run", "--cc", "", "--config", config, PROBLEM), 1, "could not be used");
    assert_true(says(s, config));
    setenv("KW_CACHE_DIR", s->cache, 1);
    expect(s, RUN(s, "run", "--config", config, PROBLEM), 0, config);
    free(config);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wisdom_file_that_cannot_be_written_is_told),
        cmocka_unit_test(a_winner_among_few_is_not_said_to_be_kept),
        cmocka_unit_test(a_race_with_failures_for_want_leaves_no_wisdom),
        cmocka_unit_test(a_cache_that_cannot_be_used_is_told_once),
        cmocka_unit_test(a_model_that_is_none_is_refused),
        cmocka_unit_test(a_config_that_cannot_answer_is_refused_by_its_rule),
    };
    return cmocka_run_group_tests(tests, open_site, close_site);
}
