/* db.c: the verb db: what can be done with a store of results besides sweeping into it. The first operand says what, the second is the
 * store. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name;
    kw_store_access access;
    int operands; /* behind the store: 0, or 1 for any number from 1 on */
    int (*run)(const cli_args *args, kw_store *store);
} command;

/* Index of a name among count names that name_of gives; -1 after telling. */
static int find_name(const char *wanted, int count, const char *(*name_of)(int index), const char *option) {
    for (int i = 0; i < count; i++) {
        if (!strcmp(wanted, name_of(i))) {
            return i;
        }
    }
    char known[256] = "";
    for (int i = 0; i < count; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, " %s", name_of(i));
    }
    cli_usage("--%s %.40s is not known; there are:%s", option, wanted, known);
    return -1;
}

static const char *outcome_at(int index) {
    return kw_outcome_name((kw_outcome)index);
}

static bool read_choice(const cli_args *args, cli_option_id option, int count, const char *(*name_of)(int index), int *index) {
    *index = 0;
    if (!args->value[option]) {
        return true;
    }
    *index = find_name(args->value[option], count, name_of, cli_options[option].name);
    return *index >= 0;
}

/* problem is where the canonical text of --problem goes. */
static int read_filter(kw_row_filter *filter, char problem[KW_PROBLEM_TEXT_MAX], const cli_args *args) {
    int outcome;
    bool by_op, by_dtype;
    kw_op op = KW_CONV_FWD;
    kw_dtype dtype = KW_FP32;
    kw_error err = {0};
    kw_problem parsed;
    if (!cli_op(args, OPT_OP, &by_op, &op) || !cli_dtype(args, &by_dtype, &dtype) ||
        !read_choice(args, OPT_OUTCOME, KW_OUTCOME_COUNT, outcome_at, &outcome)) {
        return CLI_USAGE;
    }
    *filter = (kw_row_filter){.size = sizeof(kw_row_filter),
                              .target = args->value[OPT_TARGET],
                              .config = args->value[OPT_CONFIG],
                              .run = args->value[OPT_RUN],
                              .by_op = by_op,
                              .by_dtype = by_dtype,
                              .by_outcome = args->value[OPT_OUTCOME] != NULL,
                              .op = op,
                              .dtype = dtype,
                              .outcome = (kw_outcome)outcome,
                              .answers = args->value[OPT_ANSWERS] != NULL};
    if (args->value[OPT_PROBLEM]) {
        if (kw_problem_import(&parsed, args->value[OPT_PROBLEM], &err)) {
            return cli_fail(&err);
        }
        kw_problem_print(problem, KW_PROBLEM_TEXT_MAX, &parsed);
        filter->problem = problem;
    }
    return CLI_DONE;
}

typedef struct listing {
    bool json;
    int64_t left; /* rows still to be printed */
    kw_status status;
    kw_error *err;
} listing;

static bool list_row(void *user, const kw_row *row) {
    listing *l = user;
    char time[32] = "-";
    if (l->left-- <= 0) {
        return false;
    }
    if (l->json) {
        char *line = NULL;
        l->status = kw_row_print(&line, row, l->err);
        if (!l->status) {
            puts(line);
        }
        kw_free(line);
        return !l->status && !ferror(stdout);
    }
    if (row->record.time_ns > 0) {
        cli_time(time, row->record.time_ns);
    }
    printf("%-10s %10s  %s | %s%s%s%s%s\n", kw_outcome_name(row->record.outcome), time, cli_shown(row->record.config),
           cli_shown(row->problem), row->packed ? "" : " | fresh weights", row->record.cold ? " | cold" : "",
           *row->record.detail ? " | " : "", cli_shown(row->record.detail));
    return !ferror(stdout);
}

static int db_list(const cli_args *args, kw_store *store) {
    kw_error err = {0};
    kw_row_filter filter;
    char problem[KW_PROBLEM_TEXT_MAX];
    listing l = {.json = args->value[OPT_JSON] != NULL, .err = &err};
    int code = read_filter(&filter, problem, args);
    if (code || !cli_number(args, OPT_LIMIT, 0, INT64_MAX, INT64_MAX, &l.left)) {
        return CLI_USAGE;
    }
    kw_status status = kw_store_visit(store, &filter, list_row, &l, &err);
    return status || l.status ? cli_fail(&err) : CLI_DONE;
}

static int db_count(const cli_args *args, kw_store *store) {
    kw_error err = {0};
    kw_store_counts counts;
    if (kw_store_count(store, &counts, &err)) {
        return cli_fail(&err);
    }
    const struct {
        const char *name;
        int64_t value;
    } facts[] = {{"rows", counts.rows},       {"targets", counts.targets}, {"problems", counts.problems},
                 {"configs", counts.configs}, {"runs", counts.runs},       {"bytes", counts.bytes}};
    if (args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_text(&json, "id", kw_store_id(store));
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            cli_json_int(&json, facts[i].name, facts[i].value);
        }
        cli_json_object(&json, "outcomes");
        for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
            if (counts.outcome[i]) {
                cli_json_int(&json, outcome_at(i), counts.outcome[i]);
            }
        }
        cli_json_end(&json);
        cli_json_print(&json, stdout);
        return CLI_DONE;
    }
    printf("id         %s\n", kw_store_id(store));
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        printf("%-10s %" PRId64 "\n", facts[i].name, facts[i].value);
    }
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        if (counts.outcome[i]) {
            printf("%-10s %" PRId64 "\n", outcome_at(i), counts.outcome[i]);
        }
    }
    return CLI_DONE;
}

static int db_check(const cli_args *args, kw_store *store) {
    kw_error err = {0};
    if (kw_store_check(store, &err)) {
        int code = cli_fail(&err);
        return err.status == KW_NO_MEMORY ? code : CLI_FAILED;
    }
    if (!args->value[OPT_QUIET]) {
        printf("%s: every page and every row is as it was written\n", args->operands[1]);
    }
    return CLI_DONE;
}

/* --format, else as the name says, else JSON lines. */
static const char *format_of(const cli_args *args, const char *path) {
    char name[512];
    if (args->value[OPT_FORMAT]) {
        return args->value[OPT_FORMAT];
    }
    snprintf(name, sizeof name, "%s", path);
    size_t length = strlen(name);
    if (length > 3 && !strcmp(name + length - 3, ".gz")) {
        name[length -= 3] = 0;
    }
    return length > 4 && !strcmp(name + length - 4, ".csv") ? "csv" : "jsonl";
}

static int db_export(const cli_args *args, kw_store *store) {
    kw_error err = {0};
    kw_row_filter filter;
    kw_export_report report;
    char problem[KW_PROBLEM_TEXT_MAX];
    const char *path = args->value[OPT_OUT] ? args->value[OPT_OUT] : "-";
    int code = read_filter(&filter, problem, args);
    if (code) {
        return code;
    }
    if (kw_store_export(store, &filter, format_of(args, path), path, &report, &err)) {
        return cli_fail(&err);
    }
    if (!args->value[OPT_QUIET]) {
        fprintf(stderr, "kwright: %" PRId64 " rows written", report.rows);
        if (report.left_out) {
            fprintf(stderr, "; %" PRId64 " left out, for which seed-csv has no columns (GEMM, or padding that differs by side)",
                    report.left_out);
        }
        fprintf(stderr, "\n");
    }
    return CLI_DONE;
}

/* What rows of CK Tile's benchmarks do not say of themselves. */
static int read_import_defaults(kw_row *defaults, bool *given, const cli_args *args) {
    bool by_op, by_dtype;
    kw_op op = KW_OP_COUNT;
    kw_dtype dtype = KW_DTYPE_COUNT;
    memset(defaults, 0, sizeof *defaults);
    if (!cli_op(args, OPT_OP, &by_op, &op) || !cli_dtype(args, &by_dtype, &dtype)) {
        return CLI_USAGE;
    }
    kw_error err = {0};
    *given = args->value[OPT_TARGET] != NULL;
    if (*given) {
        if (kw_target_text(defaults->target, sizeof defaults->target, args->value[OPT_TARGET], &err)) {
            return cli_fail(&err);
        }
        if (by_op != by_dtype || (by_op && op == KW_GEMM)) {
            return cli_usage(
                "--op and --dtype are of seed-csv, and belong together: conv_fwd, conv_bwd_data or conv_bwd_weight and a type");
        }
        if (by_op) {
            snprintf(defaults->problem, sizeof defaults->problem, "%s %s nhwgc n1 c1 k1 i1x1 f1x1", kw_op_name(op), kw_dtype_name(dtype));
        }
        defaults->packed = !args->value[OPT_FRESH];
        defaults->record.cold = args->value[OPT_COLD] != NULL;
    }
    return CLI_DONE;
}

static int db_import(const cli_args *args, kw_store *store) {
    kw_row defaults;
    bool given, refused = false;
    int code = read_import_defaults(&defaults, &given, args);
    for (int i = 2; !code && i < args->operand_count; i++) {
        kw_error err = {0};
        kw_import_report report;
        if (kw_store_import(store, args->value[OPT_FORMAT], args->operands[i], given ? &defaults : NULL, &report, &err)) {
            code = cli_fail(&err);
        }
        printf("%s: %" PRId64 " new, %" PRId64 " known, %" PRId64 " refused\n", cli_shown(args->operands[i]), report.added, report.known,
               report.refused);
        if (report.refused) {
            fprintf(stderr, "kwright: %s: the first refused: %s\n", cli_shown(args->operands[i]), cli_shown(report.first_refusal));
            refused = true;
        }
    }
    return code ? code : refused ? CLI_FAILED : CLI_DONE;
}

static bool agreed(const cli_args *args, const char *question) {
    char answer[16] = "";
    if (args->value[OPT_YES]) {
        return true;
    }
    if (!isatty(STDIN_FILENO)) {
        cli_usage("db drop deletes rows; --yes says that you mean it");
        return false;
    }
    fprintf(stderr, "%s [y/N] ", question);
    return fgets(answer, sizeof answer, stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

static bool count_row(void *user, const kw_row *row) {
    (void)row;
    ++*(int64_t *)user;
    return true;
}

static int db_drop(const cli_args *args, kw_store *store) {
    kw_error err = {0};
    kw_row_filter filter;
    int64_t count = 0, dropped = 0;
    char problem[KW_PROBLEM_TEXT_MAX], question[512];
    int code = read_filter(&filter, problem, args);
    if (code) {
        return code;
    }
    if (kw_store_visit(store, &filter, count_row, &count, &err)) {
        return cli_fail(&err);
    }
    snprintf(question, sizeof question, "Drop %" PRId64 " rows of %.400s?", count, args->operands[1]);
    if (count && !agreed(args, question)) {
        return CLI_USAGE;
    }
    if (kw_store_drop(store, &filter, &dropped, &err)) {
        return cli_fail(&err);
    }
    printf("%" PRId64 " rows dropped\n", dropped);
    return CLI_DONE;
}

static int db_recover(const cli_args *args) {
    kw_error err = {0};
    int64_t recovered = 0;
    if (!args->value[OPT_OUT]) {
        return cli_usage("db recover needs a file for what it recovers; for example --out recovered.db");
    }
    if (!cli_names_store("db recover", args->value[OPT_OUT], false)) {
        return CLI_USAGE;
    }
    if (kw_store_recover(args->operands[1], args->value[OPT_OUT], &recovered, &err)) {
        return cli_fail(&err);
    }
    printf("%" PRId64 " rows recovered into %s\n", recovered, args->value[OPT_OUT]);
    return CLI_DONE;
}

static const command commands[] = {
    {"list", KW_STORE_READ, 0, db_list},     {"count", KW_STORE_READ, 0, db_count},    {"check", KW_STORE_READ, 0, db_check},
    {"export", KW_STORE_READ, 0, db_export}, {"import", KW_STORE_WRITE, 1, db_import}, {"drop", KW_STORE_WRITE, 0, db_drop},
    {"recover", KW_STORE_READ, 0, NULL},
};

static const command *find_command(const char *name) {
    static const char names[] = "list count check export import drop recover";
    char hint[CLI_HINT_MAX];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(name, commands[i].name)) {
            return &commands[i];
        }
    }
    cli_usage("db knows list, count, check, export, import, drop and recover, not %.40s%s", name, cli_hint(hint, name, "db ", names));
    return NULL;
}

int verb_db(const cli_args *args) {
    kw_error err = {0};
    kw_store *store = NULL;
    const command *found = find_command(args->operands[0]);
    if (!found) {
        return CLI_USAGE;
    }
    if (found->operands ? args->operand_count < 3 : args->operand_count > 2) {
        return cli_usage(found->operands ? "db %s needs a store and the files to read" : "db %s takes one store", found->name);
    }
    if (!found->run) {
        return db_recover(args);
    }
    bool made = !strcmp(found->name, "import"); /* a store that is not there is made by importing, by nothing else */
    if (!made && access(args->operands[1], F_OK)) {
        return cli_usage("there is no store %.400s", args->operands[1]);
    }
    if (kw_store_open(&store, args->operands[1], found->access, &err)) {
        return cli_fail(&err);
    }
    int code = found->run(args, store);
    kw_store_close(&store);
    return code;
}
