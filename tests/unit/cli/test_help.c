/* test_help.c: help, manual page and completion; and that every command which they and refusals show can be run as it stands. */
#include "support/kw_test.h"
#include "support/shell.h"

/* Calls each with every verb, by what help lists. */
static void visit_verbs(void (*each)(const char *verb)) {
    shell_answer *a = malloc(sizeof *a);
    char *rest = NULL, verb[32];
    int count = 0;
    shell_run(a, "kwright help");
    for (char *line = strtok_r(a->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (line[0] == ' ' && sscanf(line, "  %31[a-z] ", verb) == 1 && strcmp(verb, "kwright")) {
            each(verb);
            count++;
        }
    }
    assert_true(count >= 30);
    free(a);
}

/* --- commands ------------------------------------------------------------------------------------------------------------ */

/* How a shown command is run: what it begins with, what is put behind it so that it takes seconds, and how else than by 0 it may end. All that
 * it may never be is a wrong request. */
static const struct {
    const char *begin, *more;
    int also, missing; /* another exit code; the one where what it needs is not there */
} ways[] = {
    {"kwright build --set tiny --arch gfx942", " --filter \"c.family == 'gemm.reference_gpu' and c.dtype == 'fp32'\"", 0,
     3}, /* needs clang */
    {"kwright build", " --filter \"c.op == 'gemm' and c.dtype == 'fp32'\" --limit 1", 0, 3},
    {"kwright check", " --threads 1 --filter \"c.family == 'conv.direct' and c.tile_h == 1 and c.vecs == 1\"", 0, 0},
    {"kwright run", " --threads 1 --shortlist 1", 0, 0},
    {"kwright coverage", "", 0, 0},
    {"kwright db recover", "", 1, 0},                /* 1: not everything could be read */
    {"kwright evaluate results.db --oof", "", 1, 2}, /* 1: too few problems; 2: no training wrote it */
    {"kwright merge", "", 1, 0},                     /* 1: pairs are missing */
    {"kwright problems overlap", "", 1, 0},          /* 1: they do */
    {"kwright quality", "", 1, 0},                   /* 1: refused */
    {"kwright search", " --threads 1 --top 1", 0, 0},
    {"kwright show", "", 1, 0},                       /* 1: a rule refuses it */
    {"kwright evaluate", "", 1, 0},                   /* 1: no row is of a list that was held out */
    {"kwright sweep --where", " --count-only", 2, 0}, /* 2: the model here came without its held-out predictions */
    {"kwright sweep", " --count-only", 0, 0},
    {"kwright train", " --trees 2 --rounds 0", 1, 3}, /* 1: too few rows; 3: no LightGBM */
    {"kwright tune --problems", " --limit 1 --shortlist 1 --threads 1", 0, 0},
    {"kwright tune", " --threads 1 --filter \"c.tile_w == 14 and c.vecs == 1\"", 0, 0},
    {"kwright validate", " --batches 3", 0, 0},
    {"kwright", "", 0, 0},
};

static void assert_runs(const char *command) {
    char line[9000];
    size_t way = 0, size = strcspn(command, "#");
    shell_answer *a = malloc(sizeof *a);
    while (strncmp(command, ways[way].begin, strlen(ways[way].begin)) != 0) {
        way++;
    }
    snprintf(line, sizeof line, "%.*s%s", (int)size, command, ways[way].more);
    shell_run(a, line);
    if (a->code && a->code != ways[way].also && a->code != ways[way].missing) {
        fail_msg("%s: exit code %d: %s", line, a->code, a->text);
    }
    free(a);
}

/* As wide as is read with ease; commands are never broken. */
static void assert_short_lines(const char *verb, const char *text) {
    for (size_t size; *text; text += size + (text[size] == '\n')) {
        size = strcspn(text, "\n");
        if (size > 100 && strncmp(text, "  kwright ", 10) != 0) {
            fail_msg("kwright help %s: %.*s", verb, (int)size, text);
        }
    }
}

static void run_what_help_shows(const char *verb) {
    shell_answer *a = malloc(sizeof *a);
    char line[64], command[8192];
    int count = 0;
    snprintf(line, sizeof line, "kwright help %s", verb);
    shell_run(a, line);
    assert_int_equal(a->code, 0);
    assert_short_lines(verb, a->text);
    for (char *rest = a->text; (rest = strstr(rest, "\n  kwright ")); rest += 3) {
        snprintf(command, sizeof command, "%.*s", (int)strcspn(rest + 3, "\n"), rest + 3);
        assert_runs(command);
    }
    if (!strncmp(a->text, "  kwright ", 10)) { /* the example, on the first line */
        snprintf(command, sizeof command, "%.*s", (int)strcspn(a->text + 2, "\n"), a->text + 2);
        assert_runs(command);
        count++;
    }
    assert_true(count || !strcmp(verb, "completion")); /* whose example is for bash alone; another test has it */
    free(a);
}

static void every_command_of_help_runs(void **state) {
    (void)state;
    visit_verbs(run_what_help_shows);
}

/* Refusals of a verb without operands name a command that works. */
static void run_what_a_refusal_shows(const char *verb) {
    static const char *const without[] = {"%s", "%s list", "%s extract", "%s overlap"};
    shell_answer *a = malloc(sizeof *a);
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        char words[64], line[80], command[8192];
        const char *at = a->text;
        snprintf(words, sizeof words, without[i], verb);
        if (i && !strstr(i == 1 ? "db list" : "problems extract problems overlap", words)) {
            continue;
        }
        if (!strcmp(words, "cache") || !strcmp(words, "completion") || !strcmp(words, "build")) {
            continue; /* they need none, and building all is long */
        }
        snprintf(line, sizeof line, "kwright %s", words);
        shell_run(a, line);
        if (a->code == 2) {
            while (shell_next_command(&at, command)) {
                assert_runs(command);
            }
        }
    }
    free(a);
}

static void every_command_of_a_refusal_runs(void **state) {
    (void)state;
    visit_verbs(run_what_a_refusal_shows);
}

/* --- widths and names ---------------------------------------------------------------------------------------------------- */

static void help_lists_options_with_their_defaults(void **state) {
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    shell_run(a, "kwright help sweep");
    assert_non_null(strstr(a->text, "--threads N              threads of a kernel (1)\n"));
    shell_run(a, "kwright help search");
    assert_non_null(strstr(a->text, "--budget N               kernels to look at (500)\n"));
    free(a);
}

static void the_manual_keeps_commands_on_lines_of_their_own(void **state) {
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    shell_run(a,
              "kwright help --man | awk '/^\\.nf/ { code = 1 } /^\\.fi/ { code = 0 } /^  kwright / && !code { print } { n += code } END { "
              "print (n > 60 ? \"enough\" : \"few\") }'");
    assert_string_equal(a->text, "enough\n");
    shell_run(a, "kwright help --man | awk 'length == 0 || /^\\.[^A-Zbnf]/'"); /* no empty lines, no words taken for commands of roff */
    assert_string_equal(a->text, "");
    free(a);
}

static void completion_knows_values(void **state) {
    (void)state;
    static const struct {
        const char *words, *completed;
    } cases[] = {
        {"tune --dtype b", "bf16 bf8 "},
        {"tune --problems resnet", "resnet50 "},
        {"help t", "train tune "},
        {"db exp", "export "},
        {"count --arch gfx95", "gfx950 "},
        {"tu", "tune "},
        {"tune --exh", "--exhaustive "},
        {"run gem", "gemm "},
        {"show conv.merg", "conv.merged conv.merged_weight "},
        {"sweep --set full-", "full-tests "},
        {"tune --mode p", "predict "},
        {"db list x.db --outcome cr", "crashed "},
        {"problems ext", "extract "},
    };
    shell_answer *a = malloc(sizeof *a);
    char line[512];
    shell_run(a, "command -v bash >/dev/null");
    for (size_t i = 0; !a->code && i < sizeof cases / sizeof *cases; i++) {
        snprintf(line, sizeof line,
                 "bash -c 'source <(kwright completion); COMP_WORDS=(kwright %s); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _kwright; "
                 "printf \"%%s \" \"${COMPREPLY[@]}\"'",
                 cases[i].words);
        shell_run(a, line);
        if (strcmp(a->text, cases[i].completed) != 0) {
            fail_msg("%s: %s", cases[i].words, a->text);
        }
        a->code = 0;
    }
    free(a);
}

/* --- tables -------------------------------------------------------------------------------------------------------------- */

/* On a terminal of 80 columns no row goes on in the next line, and the words that are left tell kernels apart. */
static void a_narrow_terminal_gets_short_rows(void **state) {
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    shell_run(a, "script -qec 'stty cols 80; kwright tune --remeasure --threads 1 --quiet --set tiny \"gemm fp32 m64 n64 k64\"' /dev/null");
    assert_int_equal(a->code, 0);
    if (strstr(a->text, "rank ")) { /* a processor with generated kernels */
        char *rest = NULL;
        assert_non_null(strstr(a->text, "all of gemm."));
        for (char *line = strtok_r(a->text, "\r\n", &rest); line && !strstr(line, " measured, "); line = strtok_r(NULL, "\r\n", &rest)) {
            if (strlen(line) > 80 && strncmp(line, "the machine ", 12) != 0) { /* a remark on noise is prose */
                fail_msg("wider than the terminal: %s", line);
            }
        }
    }
    free(a);
}

/* What the commands that are shown speak of. */
static int make_folder(void **state) {
    static const char *const lines[] = {
        "kwright sweep --quiet --threads 1 --set tiny --out results.db 'gemm fp32 m64 n64 k64' 'conv_fwd fp32 n1 c16 k16 i8x8 f3 p1'",
        "cp results.db last-release.db && cp results.db damaged.db && mkdir models data",
        "ln -s " KW_MODELS " models/mine && ln -s " KW_MODELS " models/new && ln -s " KW_MODELS " models/old",
        "kwright db export results.db --out more.jsonl && gzip -c more.jsonl >data/a.jsonl.gz && cp more.jsonl "
        "results.db.shard-1-of-1.jsonl",
        "kwright list --set tiny --arch gfx942 | head -20 | gzip >reference.txt.gz",
        "cp -r " KW_CK_MODELS "/gemm_universal_fp8_gfx950 models",
        "printf '%s\\n' 'conv_fwd fp32 n1 c16 k16 i8x8 f3 p1' >log.txt",
    };
    (void)state;
    shell_answer *a = malloc(sizeof *a);
    bool ready = shell_open(KW_KWRIGHT) != NULL;
    for (size_t i = 0; ready && i < sizeof lines / sizeof *lines; i++) {
        shell_run(a, lines[i]);
        ready = a->code == 0;
        if (!ready) {
            fprintf(stderr, "%s: %s", lines[i], a->text);
        }
    }
    free(a);
    return ready ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    return shell_close();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_of_help_runs),
        cmocka_unit_test(every_command_of_a_refusal_runs),
        cmocka_unit_test(help_lists_options_with_their_defaults),
        cmocka_unit_test(the_manual_keeps_commands_on_lines_of_their_own),
        cmocka_unit_test(completion_knows_values),
        cmocka_unit_test(a_narrow_terminal_gets_short_rows),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
