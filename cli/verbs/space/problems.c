/* problems.c: the verb problems: the sets with their sizes, problems with what follows from them behind a '#' (so that what is printed is a
 * problem list again), those found in logs, and whether two lists share one. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_problem(const cli_problem *item, bool json) {
    const kw_problem *problem = &item->problem;
    char text[KW_PROBLEM_TEXT_MAX];
    int64_t out[3] = {0};
    kw_problem_print(text, sizeof text, problem);
    if (problem->op != KW_GEMM) {
        kw_problem_output(out, problem);
    }
    double gflop = (double)kw_problem_flops(problem) / 1e9, megabytes = (double)kw_problem_bytes(problem) / 1e6;
    if (json) {
        cli_json object;
        cli_json_start(&object);
        cli_json_text(&object, "name", item->name);
        cli_json_text(&object, "problem", text);
        cli_json_int(&object, "flops", kw_problem_flops(problem));
        cli_json_int(&object, "bytes", kw_problem_bytes(problem));
        if (problem->op != KW_GEMM) {
            cli_json_list(&object, "output");
            for (int axis = 0; axis < 3; axis++) {
                cli_json_int(&object, NULL, out[axis]);
            }
            cli_json_end(&object);
        }
        cli_json_print(&object, stdout);
        return;
    }
    printf("%s%s%s  # %.3f GFLOP, %.2f MB", cli_shown(item->name), *item->name ? ": " : "", text, gflop, megabytes);
    if (problem->op != KW_GEMM) {
        printf(", output %lldx%lldx%lld", (long long)out[0], (long long)out[1], (long long)out[2]);
    }
    printf("\n");
}

static void show_list(const cli_problem_list *list, const cli_args *args) {
    for (size_t i = 0; i < list->count; i++) {
        show_problem(&list->items[i], args->value[OPT_JSON] != NULL);
    }
}

/* first[i] is where problem i stands first; to be freed. */
static int find_firsts(size_t **first, size_t *distinct, const cli_problem_list *list) {
    kw_error err = {.status = KW_NO_MEMORY};
    kw_problem *problems = cli_problems_plain(list);
    *first = calloc(list->count ? list->count : 1, sizeof **first);
    kw_status status = problems && *first ? kw_problems_deduplicate(*first, distinct, problems, list->count, &err) : KW_NO_MEMORY;
    free(problems);
    return status ? cli_fail(&err) : CLI_DONE;
}

/* --- the sets --- */

static int show_set(const char *name, const cli_args *args) {
    kw_error err = {0};
    char *about = NULL;
    size_t *first = NULL, distinct = 0;
    cli_problem_list list = {0};
    int code = kw_problems_description(&about, name, &err) ? cli_fail(&err) : cli_problems_of(&list, args, name);
    code = code ? code : find_firsts(&first, &distinct, &list);
    if (!code) {
        about[strcspn(about, "\n")] = 0;
        if (args->value[OPT_JSON]) {
            cli_json json;
            cli_json_start(&json);
            cli_json_text(&json, "set", name);
            cli_json_int(&json, "problems", (int64_t)list.count);
            cli_json_int(&json, "distinct", (int64_t)distinct);
            cli_json_text(&json, "about", about);
            cli_json_print(&json, stdout);
        } else {
            printf("%-30s %5zu %9zu  %s\n", name, list.count, distinct, about);
        }
    }
    kw_free(about);
    free(first);
    cli_problems_free(&list);
    return code;
}

static int show_sets(const cli_args *args) {
    kw_error err = {0};
    char *names = NULL, *save = NULL;
    if (kw_problems_names(&names, &err)) {
        return cli_fail(&err);
    }
    if (!args->value[OPT_JSON] && !args->value[OPT_QUIET]) {
        printf("%-30s %5s %9s  %s\n", "# set", "all", "different", "what it is");
    }
    int code = CLI_DONE;
    for (char *name = strtok_r(names, "\n", &save); name && !code; name = strtok_r(NULL, "\n", &save)) {
        code = show_set(name, args);
    }
    kw_free(names);
    return code;
}

/* --- extract --- */

/* N of a name that ends in "*N", else 1. */
static int64_t times(const char *name) {
    const char *star = strrchr(name, '*');
    char *end = NULL;
    long long number = star ? strtoll(star + 1, &end, 10) : 1;
    return star && end > star + 1 && !*end && number >= 1 && number <= 1000000000 ? number : 1;
}

/* The file's name without folder and suffix, of characters that a problem's name may have. */
static void find_stem(char stem[64], const char *path) {
    const char *slash = strrchr(path, '/');
    snprintf(stem, 64, "%s", strcmp(path, "-") ? (slash ? slash + 1 : path) : "log");
    char *dot = strchr(stem + (*stem == '.'), '.');
    if (dot) {
        *dot = 0;
    }
    for (char *c = stem; *c; c++) {
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *c)) {
            *c = '_';
        }
    }
}

/* Leaves each problem once, named by the stem, its number and how often it stood. */
static int merge_problems(cli_problem_list *list, const char *stem) {
    size_t *first = NULL, distinct = 0, kept = 0;
    int64_t *sum = calloc(list->count ? list->count : 1, sizeof *sum);
    int code = find_firsts(&first, &distinct, list);
    if (!code && !sum) {
        code = cli_no_memory("the problem list");
    }
    for (size_t i = 0; i < list->count && !code; i++) {
        sum[first[i]] += times(list->items[i].name);
    }
    for (size_t i = 0; i < list->count && !code; i++) {
        char name[128];
        free(list->items[i].name);
        list->items[i].name = NULL;
        if (first[i] != i) {
            continue;
        }
        size_t size = (size_t)snprintf(name, sizeof name, "%s_%04zu", stem, kept);
        if (sum[i] > 1) {
            snprintf(name + size, sizeof name - size, "*%lld", (long long)sum[i]);
        }
        list->items[kept] = (cli_problem){strdup(name), list->items[i].problem};
        code = list->items[kept++].name ? code : cli_no_memory("the problem list");
    }
    list->count = code ? list->count : kept;
    free(first);
    free(sum);
    return code;
}

static int extract(const cli_args *args) {
    if (args->operand_count < 2) {
        return cli_usage("problems extract needs a file, or - for standard input; for example: kwright problems extract log.txt");
    }
    cli_problem_list list = {0};
    kw_extract_count lines = {0};
    char stem[64];
    int code = CLI_DONE;
    for (int i = 1; i < args->operand_count && !code; i++) {
        code = cli_problems_extract(&list, args, args->operands[i], &lines);
    }
    find_stem(stem, args->operands[1]);
    code = code ? code : merge_problems(&list, stem);
    size_t distinct = list.count;
    code = code ? code : cli_problems_choose(&list, args, KW_BUCKETS_SIZE, args->value[OPT_SAMPLE] ? 2 : 0);
    if (!code) {
        show_list(&list, args);
    }
    if (!code && !args->value[OPT_QUIET]) {
        fprintf(stderr, "%lld lines: %lld problems, %zu different, %zu kept; %lld lines skipped\n", (long long)lines.lines,
                (long long)lines.problems, distinct, list.count, (long long)lines.skipped);
        if (*lines.first_refusal) {
            fprintf(stderr, "the first that reads like a problem and is refused: %s\n", cli_shown(lines.first_refusal));
        }
    }
    cli_problems_free(&list);
    return code;
}

/* --- overlap --- */

static int overlap(const cli_args *args) {
    if (args->operand_count != 3) {
        return cli_usage("problems overlap needs two lists; for example: kwright problems overlap forward_2d validation_holdout");
    }
    cli_problem_list list[2] = {{0}, {0}};
    kw_problem *plain[2] = {NULL, NULL};
    int code = CLI_DONE;
    for (int i = 0; i < 2 && !code; i++) {
        code = cli_problems_of(&list[i], args, args->operands[i + 1]);
        plain[i] = code ? NULL : cli_problems_plain(&list[i]);
    }
    if (!code) {
        kw_error err = {.status = KW_NO_MEMORY};
        bool ready = plain[0] && plain[1];
        code = !ready || kw_problems_disjoint(plain[0], list[0].count, plain[1], list[1].count, &err) ? cli_fail(&err) : CLI_DONE;
    }
    if (!code && !args->value[OPT_QUIET]) {
        printf("%s (%zu) and %s (%zu) share no problem\n", args->operands[1], list[0].count, args->operands[2], list[1].count);
    }
    for (int i = 0; i < 2; i++) {
        free(plain[i]);
        cli_problems_free(&list[i]);
    }
    return code;
}

/* A word of letters that is no operation, nor near one, and no set or file. */
static bool reads_like_command(const char *word) {
    char hint[CLI_HINT_MAX];
    kw_error err = {0};
    char *about = NULL;
    bool letters = *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyz")];
    bool known = !letters || *cli_hint(hint, word, "", kw_op_names()) || !kw_problems_description(&about, word, &err);
    kw_free(about);
    return !known && access(word, F_OK);
}

int verb_problems(const cli_args *args) {
    const char *first = args->operand_count ? args->operands[0] : "";
    if (!args->operand_count && !args->value[OPT_PROBLEMS]) {
        return show_sets(args);
    }
    if (!strcmp(first, "extract") || !strcmp(first, "overlap")) {
        return *first == 'e' ? extract(args) : overlap(args);
    }
    char hint[CLI_HINT_MAX];
    if (*cli_hint(hint, first, "problems ", "extract overlap")) {
        return cli_usage("problems knows extract and overlap, not %.60s%s", cli_shown(first), hint);
    }
    if (reads_like_command(first)) {
        return cli_usage(
            "problems has no command %.60s: it has extract and overlap; --problems NAME shows a set, a line in quotes a problem",
            cli_shown(first));
    }
    cli_problem_list list;
    int code = cli_problems(&list, args);
    if (!code) {
        show_list(&list, args);
        cli_problems_free(&list);
    }
    return code;
}
