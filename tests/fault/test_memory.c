/* test_memory.c: every verb of kwright with one allocation refused, or all from one on. Whichever it is, the verb ends by itself; it either says
 * on standard error that memory is short, with exit code 3, or does all of what it does without the refusal: the same output, the same rows.
 * Afterwards the same command does all of it from what is there. Refused allocations are drawn from KW_MEMORY_SEED (1), KW_MEMORY_POINTS
 * a verb (2); 0: every one of the first 2000 and each 37th behind them. `make check-memory` takes many. */
#include "base/statistics/random.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A sanitizer has an allocator of its own, which comes before ours. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OWN_ALLOCATOR true
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR true
#endif
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR false
#endif

enum { LIMIT_S = 120, WORDS = 24, FIRST = 2000, STEP = 37 };

#define GEMM "gemm~fp32~m11~n12~k13"
#define PLAIN "--config gemm.reference~gemm~fp32 " GEMM

/* What a verb writes is compared as bytes (a file) or as rows (a store), and is removed before each run; a blank within a word is ~. */
static const struct command {
    const char *line, *writes;
    bool foreign; /* it loads drivers of devices, which end a process that has no memory */
    bool worker;  /* one allocation of its first worker is refused */
    bool times;   /* its output says what was measured, so it differs from run to run */
} commands[] = {
    {.line = "version"},
    {.line = "help"},
    {.line = "help sweep"},
    {.line = "completion"},
    {.line = "count --set tiny"},
    {.line = "list --set tiny"},
    {.line = "list --traits " KW_TRAITS " --arch gfx950"},
    {.line = "coverage catalog.txt --set tiny"},
    {.line = "show gemm.reference~gemm~fp32"},
    {.line = "show --source gemm.tiled~gemm~fp32~isa=avx2~math=fma~tile_m=4~vecs=2~band=0~ahead=1"},
    {.line = "problems --problems resnet50"},
    {.line = "select " GEMM},
    {.line = "explain " GEMM},
    {.line = "predict " GEMM " --limit 3"},
    {.line = "search " GEMM " --budget 20"},
    {.line = "wisdom"},
    {.line = "cache"},
    {.line = "doctor", .times = true, .foreign = true},
    {.line = "check " PLAIN, .times = true},
    {.line = "run " PLAIN, .times = true},
    {.line = "tune --remeasure " GEMM, .times = true},
    {.line = "build --set tiny --filter c.op=='gemm'~and~c.dtype=='fp32'", .times = true},
    {.line = "db list rows.db"},
    {.line = "db count rows.db"},
    {.line = "db check rows.db"},
    {.line = "db export rows.db --out out.csv", .writes = "out.csv"},
    {.line = "db export rows.db --out out.jsonl.gz", .writes = "out.jsonl.gz"},
    {.line = "db import out.db " KW_ROWS, .writes = "out.db"},
    {.line = "db recover rows.db --out out.db", .writes = "out.db"},
    {.line = "merge --out out.db " KW_ROWS, .writes = "out.db"},
    {.line = "sweep --verify-only --out out.db " PLAIN, .writes = "out.db", .times = true},
    {.line = "sweep --verify-only --out out.jsonl " PLAIN, .writes = "out.jsonl", .times = true},
    {.line = "sweep --verify-only --out out.db " PLAIN, .writes = "out.db", .times = true, .worker = true},
    {.line = "diff some.db some.db"},
    {.line = "report some.db"},
    {.line = "report some.db --html out.html", .writes = "out.html"},
    {.line = "evaluate some.db --selector single"},
    {.line = "compare estimate single --stores some.db"},
    {.line = "quality estimate single --stores some.db"},
    {.line = "validate some.db --selector estimate --limit 1", .times = true},
    {.line = "db import out.db --target gfx950 " KW_CK "/gemm_fp16_rcr.json.gz", .writes = "out.db"},
    {.line = "adopt --out adopted " KW_CK "/models/gemm_universal_fp16_gfx950", .writes = "adopted/model.spec"},
    {.line = "problems extract " KW_ROWS},
    {.line = "prune some.db --keep 0.9 --out out.txt", .writes = "out.txt"},
};

typedef struct outcome {
    int code; /* of exit; 128 and more: a signal */
    long asked;
    char *said, *told; /* standard output and error */
    char *written;     /* what was written, comparable; NULL: nothing is there */
} outcome;

static char folder[SCRATCH_MAX], home[1024];
static uint64_t random_state;

static char *read_text(const char *path) {
    size_t size;
    return access(path, F_OK) ? NULL : scratch_read(path, &size);
}

/* The words of a line; a blank within one is ~. */
static void split(const char *words[WORDS], char copy[1024], const char *line) {
    int count = 1;
    words[0] = KW_KWRIGHT;
    snprintf(copy, 1024, "%s", line);
    for (char *rest = NULL, *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
        for (char *at = word; *at; at++) {
            *at = *at == '~' ? ' ' : *at;
        }
        words[count++] = word;
    }
    words[count] = NULL;
}

static void become(const char *line, long at, bool stays, bool worker) {
    const char *words[WORDS];
    char copy[1024], number[32];
    split(words, copy, line);
    snprintf(number, sizeof number, "%ld", at);
    setenv("LD_PRELOAD", KW_MEMORY_SHIM, 1);
    setenv("KW_FAIL_AT", number, 1);
    setenv("KW_FAIL_ON", stays ? "1" : "0", 1);
    setenv("KW_FAIL_COUNT", "asked", 1);
    setenv("KW_FAIL_IN", worker ? "worker" : "", 1);
    alarm(LIMIT_S);
    if (freopen("said", "w", stdout) && freopen("told", "w", stderr) && freopen("/dev/null", "r", stdin)) {
        execv(KW_KWRIGHT, (char *const *)(uintptr_t)words);
    }
    _exit(127);
}

static int run_line(const char *line, long at, bool stays, bool worker) {
    int status = 0;
    unlink("asked");
    pid_t child = fork();
    if (!child) {
        become(line, at, stays, worker);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void drop_outcome(outcome *o) {
    free(o->said);
    free(o->told);
    free(o->written);
    *o = (outcome){0};
}

static outcome run_command(const struct command *c, long at, bool stays) {
    outcome o = {.code = run_line(c->line, at, stays, c->worker)};
    char *asked = read_text("asked"), line[256];
    o.asked = asked ? strtol(asked, NULL, 10) : 0;
    o.said = read_text("said");
    o.told = read_text("told");
    free(asked);
    if (c->writes && strstr(c->writes, ".db") && !access(c->writes, F_OK)) {
        snprintf(line, sizeof line, "db export %s --quiet", c->writes);
        if (!run_line(line, 0, false, false)) {
            o.written = read_text("said");
        } else {
            char *told = read_text("told");
            if (!strstr(told, "there is no store in")) { /* yet */
                fail_msg("%s, allocation %ld: %s", c->line, at, told);
            }
            free(told);
        }
    } else if (c->writes) {
        o.written = read_text(c->writes);
    }
    return o;
}

static void remove_written(const struct command *c) {
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-lock", ".manifest"};
    char path[256];
    for (size_t i = 0; c->writes && i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "%s%s", c->writes, endings[i]);
        unlink(path);
    }
}

static size_t count_lines(const char *text) {
    size_t count = 0;
    for (; text && *text; text++) {
        count += *text == '\n';
    }
    return count;
}

/* Lines of a segment that are rows, or all of another text. */
static size_t count_rows(const char *text) {
    size_t rows = 0;
    for (const char *at = text; (at = strstr(at, "\"line\":\"row\"")); at++) {
        rows++;
    }
    return *text == '{' ? rows : count_lines(text);
}

/* Whether two runs wrote the same; of what was measured, as many rows. */
static bool is_same(const struct command *c, const char *one, const char *other) {
    if (!one || !other) {
        return one == other;
    }
    return c->times ? count_rows(one) == count_rows(other) : !strcmp(one, other);
}

/* Every line of part is one of whole. */
static bool is_part(const struct command *c, const char *part, const char *whole) {
    if (c->times || !part) {
        return true;
    }
    for (const char *line = part; *line;) {
        size_t size = strcspn(line, "\n") + 1;
        char *copy = strndup(line, size);
        bool found = strstr(whole, copy);
        free(copy);
        if (!found) {
            return false;
        }
        line += line[size - 1] ? size : size - 1;
    }
    return true;
}

/* Lines for people: progress for programs is no message. */
static size_t count_messages(const char *told) {
    size_t count = 0;
    for (; *told; told += strcspn(told, "\n") + (told[strcspn(told, "\n")] != 0)) {
        count += *told != '{';
    }
    return count;
}

/* What is wrong with how the command ended; NULL: nothing. What goes on without its cache, wisdom or model may answer otherwise, but says
 * so; a kernel that could not be run is a result of a check. */
static const char *judge(const struct command *c, const outcome *usual, const outcome *now) {
    bool store = c->writes && strstr(c->writes, ".db");
    bool tells = strcasestr(now->said, "memory") || strcasestr(now->told, "memory");
    if (c->foreign && (strstr(now->told, "LLVM ERROR") || strstr(now->told, "std::bad_alloc") ||
                       strstr(now->told, "cannot allocate memory for thread-local data") ||
                       strstr(now->told, "fatal   : Memory allocation failure"))) { /* the last is NVRTC's end of its host */
        return NULL;
    }
    if (now->code >= 128) {
        return "a signal ended it";
    }
    if (now->code == usual->code && now->code && !strcmp(now->told, usual->told)) {
        return NULL; /* it is refused as ever */
    }
    if (!now->code && !c->times && !tells && strcmp(now->said, usual->said)) {
        return "it says it did all, and printed something else";
    }
    if (c->worker && !now->code && !strstr(now->written, "\"good\"") && !strstr(now->written, ",good,")) {
        return "its worker's want of memory is a fact of the kernel now";
    }
    if (!now->code) {
        return is_same(c, now->written, usual->written) ? NULL : "it says it did all, and wrote something else";
    }
    if (!tells) {
        return "it does not say that memory is short";
    }
    if (now->code != 3 && !strstr(now->said, "unlaunched: ")) {
        return "another exit code than 3";
    }
    if (now->code == 3 && (count_messages(now->told) > 2 || !strstr(now->told, "kwright: "))) {
        return "not one clear message";
    }
    if (store) {
        return is_part(c, now->written, usual->written) ? NULL : "it left rows that are not there";
    }
    return !now->written || c->times || !strcmp(now->written, usual->written) ? NULL : "it left a part of its output";
}

/* Whether the wisdom file has still what no command of ours has put there. */
static bool keeps_wisdom(void) {
    char *text = read_text("wisdom.txt");
    bool kept = text && strstr(text, "# of somebody else\n");
    free(text);
    return kept;
}

/* false after printing what was wrong. */
static bool try_one(const struct command *c, const outcome *usual, long at, bool stays) {
    remove_written(c);
    outcome now = run_command(c, at, stays), again = {0};
    const char *wrong = keeps_wisdom() ? judge(c, usual, &now) : "it lost wisdom";
    if (!wrong && now.code && c->writes) {
        again = run_command(c, 0, false);
        wrong = again.code                                   ? "the next run failed, too"
                : !is_same(c, again.written, usual->written) ? "the next run did not write all"
                                                             : NULL;
    }
    if (wrong) {
        print_error("%s: allocation %ld of %ld%s: %s (exit code %d)\n%.600s\n", c->line, at, usual->asked, stays ? " and all later" : "",
                    wrong, now.code, again.told && again.code ? again.told : now.told);
    }
    drop_outcome(&now);
    drop_outcome(&again);
    return !wrong;
}

static int try_command(const struct command *c, long points) {
    int wrong = 0;
    remove_written(c);
    outcome usual = run_command(c, 0, false);
    if (usual.code > 1 || !usual.asked || (c->writes && !usual.written)) {
        fail_msg("%s: exit code %d: %s", c->line, usual.code, usual.told);
    }
    if (points) {
        for (long i = 0; i < points; i++) {
            long at = (long)kw_random_below(&random_state, (uint64_t)usual.asked) + 1;
            wrong += !try_one(c, &usual, at, !c->worker && i % 3 == 2);
        }
    } else {
        for (long at = 1; at <= usual.asked; at += at < FIRST ? 1 : STEP) {
            wrong += !try_one(c, &usual, at, !c->worker && at % 5 == 0);
        }
    }
    remove_written(c);
    drop_outcome(&usual);
    return wrong;
}

static void want_of_memory_is_told_and_loses_nothing(void **state) {
    (void)state;
    const char *points = getenv("KW_MEMORY_POINTS"), *seed = getenv("KW_MEMORY_SEED"), *only = getenv("KW_MEMORY_ONLY");
    int wrong = 0;
    if (OWN_ALLOCATOR) {
        print_message("a sanitizer has an allocator of its own\n");
        skip();
    }
    random_state = seed ? strtoull(seed, NULL, 10) : 1;
    print_message("KW_MEMORY_SEED=%llu\n", (unsigned long long)random_state);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!only || strstr(commands[i].line, only)) {
            wrong += try_command(&commands[i], points ? strtol(points, NULL, 10) : 2);
        }
    }
    assert_int_equal(wrong, 0);
}

static int set_up(void **state) {
    (void)state;
    char path[2 * SCRATCH_MAX];
    scratch_make(folder);
    if (!getcwd(home, sizeof home) || chdir(folder)) {
        return -1;
    }
    if (OWN_ALLOCATOR) {
        return 0; /* skipped */
    }
    setenv("KW_CACHE_DIR", scratch_path(path, folder, "cache"), 1);
    setenv("KW_WISDOM", scratch_path(path, folder, "wisdom.txt"), 1);
    static const char wisdom[] = "# kernelwright wisdom 1\n# of somebody else\n";
    scratch_write("wisdom.txt", wisdom, sizeof wisdom - 1, 0600);
    return run_line("db import rows.db " KW_ROWS, 0, false, false) || run_line("db import some.db " KW_SOME, 0, false, false) ||
           run_line("list --set tiny", 0, false, false) || rename("said", "catalog.txt") || run_line("tune " GEMM, 0, false, false) ||
           run_line("build --set tiny --filter c.op=='gemm'~and~c.dtype=='fp32'", 0, false, false);
}

static int tear_down(void **state) {
    (void)state;
    int failed = chdir(home);
    scratch_remove(folder);
    return failed;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(want_of_memory_is_told_and_loses_nothing, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
