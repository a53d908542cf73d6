/* tune.c: the verb tune: measures kernels, remembers the winner. One problem: the ranking. A list: one row a problem. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tuning {
    const cli_args *args;
    kw_context *context;
    kw_registry *registry; /* NULL: the default one */
    kw_plan_options options;
    double peak[KW_DTYPE_COUNT]; /* measured once a type, when first asked for */
    bool json, known[KW_DTYPE_COUNT];
    bool unsaved;    /* a winner that is not in the wisdom file */
    bool remembered; /* some winner is in wisdom */
} tuning;

/* Of the chosen kernel, by whoever measured it; 0 where nobody did. */
typedef struct plan_time {
    double ns, spread_ns;
} plan_time;

/* Of a problem; 0, for unknown, where its products need not be of its own type. */
static double peak_of(tuning *t, const kw_problem *problem) {
    kw_dtype dtype = problem->dtype;
    if (problem->fpmath == KW_FPMATH_TF32) {
        return 0;
    }
    if (!t->known[dtype]) {
        t->known[dtype] = true;
        t->peak[dtype] = kw_context_peak(t->context, dtype);
    }
    return t->peak[dtype];
}

/* Time of the reference kernel, the yardstick of what any machine without a compiler would do; 0 when it could not be measured. */
static double reference_ns(tuning *t, const kw_problem *problem) {
    kw_registry *registry = NULL;
    kw_record record = {0};
    kw_measure_options options = {.size = sizeof(kw_measure_options), .time = true, .pack_weights = !t->options.fresh_weights};
    if (!kw_registry_create(&registry, t->context, NULL) && !kw_registry_add_reference(registry, problem, NULL)) {
        kw_measure(&record, registry, 0, problem, &options, NULL);
    }
    kw_registry_destroy(&registry);
    return record.outcome == KW_GOOD || record.outcome == KW_MISTRUSTED ? record.time_ns : 0;
}

/* "94 %", or "-" where the peak is unknown. */
static void share_text(char text[16], double part, double whole) {
    if (whole > 0) {
        snprintf(text, 16, "%.0f %%", 100 * part / whole);
    } else {
        snprintf(text, 16, "-");
    }
}

static void times_text(char text[16], double reference, double ns) {
    if (reference > 0 && ns > 0) {
        snprintf(text, 16, reference / ns < 99.95 ? "%.1fx" : "%.0fx", reference / ns);
    } else {
        snprintf(text, 16, "-");
    }
}

/* "1.2 %", how far apart the middle half of the samples lies; "-" without samples. */
static void spread_text(char text[16], double ns, double spread_ns) {
    if (ns > 0 && spread_ns >= 0) {
        snprintf(text, 16, "%.1f %%", 100 * spread_ns / ns);
    } else {
        snprintf(text, 16, "-");
    }
}

static bool show_noise(void *user, const kw_explanation *explanation) {
    if (explanation->kind == KW_EXPLAIN_NOISE) {
        fprintf(user, "%s\n", explanation->text);
    }
    return true;
}

/* Nothing was tried of it, and nothing stood in its way. */
static bool is_left_out(const kw_record *record) {
    return record->outcome == KW_UNTRIED && !*record->detail;
}

static bool is_failed_record(const kw_record *record) {
    return record->outcome != KW_GOOD && record->outcome != KW_MISTRUSTED && !is_left_out(record);
}

/* What went wrong, each with the command that shows it again. */
static void show_failures(const tuning *t, const kw_record *records, size_t count, const char *problem) {
    cli_next next;
    for (size_t i = 0; i < count; i++) {
        if (is_failed_record(&records[i])) {
            printf("%s: %s\n  %s\n", kw_outcome_name(records[i].outcome), records[i].detail,
                   cli_next_check(&next, t->args, records[i].config, problem));
        }
    }
}

/* What wisdom has of a problem on this target. */
typedef struct wanted {
    char problem[KW_PROBLEM_TEXT_MAX];
    const char *target;
    bool fresh_weights;
    plan_time time;
    const char *config; /* of the plan */
    bool holds;         /* wisdom answers with it, the next process too */
} wanted;

static void match_entry(void *user, const kw_wisdom_entry *entry) {
    wanted *w = user;
    if (!entry->stale && entry->fresh_weights == w->fresh_weights && !strcmp(entry->problem, w->problem) &&
        !strcmp(entry->target, w->target)) {
        w->time = (plan_time){entry->time_ns, entry->spread_ns};
        w->holds = !strcmp(entry->config, w->config);
    }
}

static bool note_unsaved(void *user, const kw_explanation *explanation) {
    bool *unsaved = user;
    *unsaved |= explanation->kind == KW_EXPLAIN_UNSAVED;
    return true;
}

static void ask_wisdom(wanted *w, const tuning *t, const kw_problem *problem, const kw_plan *plan) {
    *w = (wanted){.target = kw_context_target(t->context), .fresh_weights = t->options.fresh_weights, .config = kw_plan_config(plan)};
    kw_problem_print(w->problem, sizeof w->problem, problem);
    kw_wisdom_visit(t->context, NULL, match_entry, w, NULL);
    bool unsaved = false;
    kw_explanation_visit(plan, note_unsaved, &unsaved);
    w->holds &= !unsaved;
}

/* What the next process will make of it. */
static void show_outlook(const tuning *t, const wanted *known) {
    cli_next next;
    if (known->holds) {
        cli_next_start(&next, "explain", t->args);
        cli_next_word(&next, known->problem);
        printf(". `%s` says why * was chosen.\n", next.text);
    } else {
        printf("; the winner is not kept, so the next process chooses anew\n");
    }
}

static bool is_ranked(const kw_record *record) {
    return !is_failed_record(record) && record->time_ns > 0;
}

static void slower_text(char text[32], const kw_record *records, size_t i) {
    *text = 0;
    if (i && records[i].time_ns >= records[0].time_ns && records[0].time_ns > 0) {
        snprintf(text, 32, "%.1f %%", 100 * (records[i].time_ns / records[0].time_ns - 1));
    }
}

static void show_wide(tuning *t, const kw_problem *problem, const kw_record *records, size_t count, const char *chosen, double reference) {
    double peak = peak_of(t, problem) / 1e9;
    printf(" rank        time  spread   GFLOP/s  of peak reference  kernel\n");
    for (size_t i = 0; i < count; i++) {
        char time[32], spread[16], share[16], over[16], slower[32];
        if (is_ranked(&records[i])) {
            double gflops = cli_gflops(problem, records[i].time_ns);
            share_text(share, gflops, peak);
            times_text(over, reference, records[i].time_ns);
            spread_text(spread, records[i].time_ns, records[i].samples ? records[i].spread_ns : -1);
            slower_text(slower, records, i);
            printf("%5zu%c %10s %7s %9.1f %8s %9s  %s%s%s%s%s\n", i + 1, strcmp(records[i].config, chosen) ? ' ' : '*',
                   cli_time(time, records[i].time_ns), spread, gflops, share, over, records[i].config, *slower ? "  (" : "", slower,
                   *slower ? " slower)" : "", records[i].samples ? "" : "  (given up early)");
        }
    }
}

/* For a terminal that is too narrow for whole configs: by what sets the kernels of a family apart, and what they share once below. */
static void show_narrow(const kw_record *records, size_t count, const char *chosen, size_t columns) {
    char words[KW_CONFIG_TEXT_MAX];
    printf("rank       time  spread   slower  kernel\n");
    for (size_t i = 0; i < count; i++) {
        char time[32], spread[16], slower[32];
        if (is_ranked(&records[i])) {
            spread_text(spread, records[i].time_ns, records[i].samples ? records[i].spread_ns : -1);
            slower_text(slower, records, i);
            cli_config_words(words, sizeof words, records[i].config, records, count, false);
            printf("%4zu%c %9s %7s %8s  ", i + 1, strcmp(records[i].config, chosen) ? ' ' : '*', cli_time(time, records[i].time_ns),
                   records[i].samples ? spread : "early", slower);
            cli_print_wrapped(34, 34, columns, words, strlen(words));
        }
    }
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;
        while (!cli_same_family(records[first].config, records[i].config)) {
            first++;
        }
        if (first == i) {
            cli_config_words(words, sizeof words, records[i].config, records, count, true);
            size_t family = strcspn(words, " ");
            size_t column = (size_t)printf("all of %.*s:", (int)family, words);
            cli_print_wrapped(column, 7, columns, words + family, strlen(words + family));
        }
    }
}

static size_t longest_config(const kw_record *records, size_t count) {
    size_t most = 0;
    for (size_t i = 0; i < count; i++) {
        most = strlen(records[i].config) > most ? strlen(records[i].config) : most;
    }
    return most;
}

static void show_ranking(tuning *t, const kw_problem *problem, const kw_plan *plan, double reference, const wanted *known) {
    enum { BEFORE = 57, BEHIND = 18 }; /* columns before a config, and for how much slower it is */
    size_t count = 0, failed = 0, untried = 0, columns = cli_columns();
    bool tied = false;
    const kw_record *records = kw_plan_records(plan, &count);
    if (!count) {
        printf("nothing was measured%s\n%s", known->holds ? "; --remeasure does so again" : "", kw_plan_explain(plan));
        return;
    }
    for (size_t i = 0; i < count; i++) {
        failed += is_failed_record(&records[i]);
        untried += is_left_out(&records[i]);
        tied |= i && is_ranked(&records[i]) && !strcmp(records[i].config, known->config);
    }
    if (columns && columns < BEFORE + longest_config(records, count) + BEHIND) {
        show_narrow(records, count, known->config, columns);
    } else {
        show_wide(t, problem, records, count, known->config, reference);
    }
    show_failures(t, records, count, known->problem);
    kw_explanation_visit(plan, show_noise, stdout);
    if (tied) {
        printf("* is chosen: it is as fast as the first within the noise, and comes first by name.\n");
    }
    printf("%zu measured, %zu failed", count - failed - untried, failed);
    if (untried) {
        printf(", %zu left out because a launch is long (--exhaustive measures them)", untried);
    }
    show_outlook(t, known);
}

static void show_row(tuning *t, const cli_problem *item, const kw_plan *plan, const plan_time *known, double reference) {
    const kw_problem *problem = &item->problem;
    double gflops = cli_gflops(problem, known->ns), peak = peak_of(t, problem) / 1e9;
    char time[32], spread[16], share[16], over[16];
    share_text(share, gflops, peak);
    times_text(over, reference, known->ns);
    spread_text(spread, known->ns, known->spread_ns);
    printf("%-34.34s %-15s %-4s %10s %7s %8.1f %7s %9s  %s\n", item->name, kw_op_name(problem->op), kw_dtype_name(problem->dtype),
           cli_time(time, known->ns), spread, gflops, share, over, kw_plan_config(plan));
    fflush(stdout);
    kw_explanation_visit(plan, show_noise, stderr);
}

/* Each kernel that was looked at, the best first. */
static void add_candidates(cli_json *json, const kw_plan *plan) {
    size_t count = 0;
    const kw_record *records = kw_plan_records(plan, &count);
    cli_json_list(json, "kernels");
    for (size_t i = 0; i < count; i++) {
        cli_json_object(json, NULL);
        cli_json_text(json, "config", records[i].config);
        cli_json_text(json, "outcome", kw_outcome_name(records[i].outcome));
        if (records[i].time_ns > 0) {
            cli_json_real(json, "time_ns", records[i].time_ns);
            cli_json_real(json, "spread_ns", records[i].spread_ns);
            cli_json_int(json, "samples", records[i].samples);
        }
        if (*records[i].detail) {
            cli_json_text(json, "detail", records[i].detail);
        }
        cli_json_end(json);
    }
    cli_json_end(json);
}

static bool take_noise(void *user, const kw_explanation *explanation) {
    if (explanation->kind == KW_EXPLAIN_NOISE) {
        *(const char **)user = explanation->text;
    }
    return true;
}

static void show_json(tuning *t, const cli_problem *item, const kw_plan *plan, const plan_time *known, double reference) {
    const char *noise = "";
    kw_explanation_visit(plan, take_noise, &noise);
    char text[KW_PROBLEM_TEXT_MAX];
    size_t count = 0;
    kw_plan_records(plan, &count);
    kw_problem_print(text, sizeof text, &item->problem);
    cli_json json;
    cli_json_start(&json);
    cli_json_text(&json, "name", item->name);
    cli_json_text(&json, "problem", text);
    cli_json_target(&json, t->context);
    cli_json_text(&json, "config", kw_plan_config(plan));
    cli_json_bool(&json, "measured", count > 0); /* else wisdom answered */
    cli_json_real(&json, "time_ns", known->ns);
    cli_json_real(&json, "spread_ns", known->spread_ns);
    cli_json_text(&json, "noise", noise);
    cli_json_real(&json, "gflops", cli_gflops(&item->problem, known->ns));
    cli_json_real(&json, "peak_gflops", peak_of(t, &item->problem) / 1e9);
    cli_json_real(&json, "reference_ns", reference);
    add_candidates(&json, plan);
    cli_json_print(&json, stdout);
    fflush(stdout);
}

/* The plan's time: as measured now, else as wisdom has it. */
static plan_time find_plan_time(const kw_plan *plan, const wanted *known) {
    size_t count = 0;
    const kw_record *records = kw_plan_records(plan, &count);
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(records[i].config, kw_plan_config(plan)) && records[i].time_ns > 0) {
            return (plan_time){records[i].time_ns, records[i].spread_ns};
        }
    }
    return known->time;
}

/* Why the winner is not in the wisdom file, if it is not; once for all problems. */
static bool show_unsaved(void *user, const kw_explanation *explanation) {
    tuning *t = user;
    if (explanation->kind == KW_EXPLAIN_UNSAVED && !t->unsaved) {
        t->unsaved = true;
        fprintf(stderr, "kwright: %s\n", explanation->text);
    }
    return !t->unsaved;
}

static int tune_one(tuning *t, const cli_problem *item, bool alone) {
    kw_error err = {0};
    kw_plan *plan = NULL;
    cli_progress progress;
    int code = cli_check_config(t->registry, NULL, &item->problem, t->args);
    if (code) {
        return code;
    }
    cli_progress_start(&progress, t->args, &item->problem);
    t->options.progress = cli_progress_show;
    t->options.user = &progress;
    kw_status status = kw_plan_create(&plan, t->context, &item->problem, &t->options, &err);
    cli_progress_end(&progress);
    if (status) {
        return cli_fail(&err);
    }
    wanted known;
    ask_wisdom(&known, t, &item->problem, plan);
    t->remembered |= known.holds;
    plan_time time = find_plan_time(plan, &known);
    size_t measured = 0;
    kw_plan_records(plan, &measured);
    double reference = measured ? reference_ns(t, &item->problem) : 0; /* an answer from wisdom measures nothing */
    if (t->json) {
        show_json(t, item, plan, &time, reference);
    } else if (alone) {
        show_ranking(t, &item->problem, plan, reference, &known);
    } else {
        show_row(t, item, plan, &time, reference);
    }
    fflush(stdout);
    kw_explanation_visit(plan, show_unsaved, t);
    code = cli_check_config(t->registry, plan, &item->problem, t->args);
    kw_plan_destroy(&plan);
    return code;
}

static void show_places(tuning *t) {
    kw_paths places = {0};
    if (t->args->value[OPT_QUIET] || kw_context_paths(&places, t->context, NULL)) {
        return;
    }
    if (*places.wisdom && t->remembered) {
        fprintf(stderr, "the winners are in %s\n", places.wisdom);
    } else if (!*places.wisdom && !t->args->value[OPT_WISDOM]) {
        fprintf(stderr, "kwright: the winners are not kept: no place is known for them; set KW_WISDOM, KW_DATA_DIR or HOME\n");
    }
}

int verb_tune(const cli_args *args) {
    tuning t = {.args = args, .json = args->value[OPT_JSON] != NULL};
    cli_problem_list list = {0};
    int code = cli_problems(&list, args);
    if (!code && !list.count) {
        code = cli_problems_none(args, "tune needs a problem or --problems; for example: kwright tune --problems resnet50");
    }
    code = code ? code : cli_plan_options(&t.options, args);
    if (!code && args->value[OPT_EXHAUSTIVE]) {
        t.options.mode = KW_EXHAUSTIVE;
    }
    if (!code && t.options.mode == KW_MODE_DEFAULT) {
        t.options.mode = KW_SHORTLIST;
    }
    code = code ? code : cli_context(&t.context, args);
    if (!code) {
        cli_warn_of_cache(t.context, args);
    }
    if (!code && cli_names_kernels(args)) {
        code = cli_registry_for(&t.registry, t.context, args, &list);
        t.options.registry = t.registry;
    }
    if (!code && list.count > 1 && !t.json) {
        printf("%-34s %-15s %-4s %10s %7s %8s %7s %9s  %s\n", "layer", "direction", "type", "time", "spread", "GFLOP/s", "of peak",
               "reference", "kernel");
    }
    for (size_t i = 0; !code && i < list.count; i++) {
        code = tune_one(&t, &list.items[i], list.count == 1);
    }
    if (!code && !t.unsaved) {
        show_places(&t);
    }
    bool limited = t.registry || args->value[OPT_WORKSPACE]; /* then such a winner is no answer for everybody, and no fault */
    code = code || !t.unsaved || limited ? code : CLI_ENVIRONMENT;
    cli_problems_free(&list);
    kw_registry_destroy(&t.registry);
    kw_context_close(&t.context);
    return code;
}
