/* run.c: the verbs run, explain and select: a plan through the public API, as an application makes it. */
#include "run.h"
#include "tensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cli_make_plan(kw_plan **plan, kw_context *context, kw_registry *registry, const kw_problem *problem, const cli_args *args) {
    kw_error err = {0};
    kw_plan_options options;
    cli_progress progress;
    int code = cli_plan_options(&options, args);
    code = code ? code : cli_check_config(registry, NULL, problem, args);
    if (code) {
        return code;
    }
    cli_progress_start(&progress, args, problem);
    options.registry = registry;
    options.progress = cli_progress_show;
    options.user = &progress;
    kw_status status = kw_plan_create(plan, context, problem, &options, &err);
    cli_progress_end(&progress);
    return status ? cli_fail(&err) : cli_check_config(registry, *plan, problem, args);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Up to 21 timings, about a quarter of a second in all: their lower quartile and interquartile range. */
static int time_plan_once(double *ns, double *spread_ns, const kw_plan *plan, const kw_tensors *tensors) {
    enum { MOST = 21 };
    double samples[MOST];
    kw_error err = {0};
    int32_t count = 0, calls = 1;
    if (kw_plan_run(plan, tensors, NULL, &err)) {
        return cli_fail(&err);
    }
    int64_t first = cli_now_ns();
    while (count < MOST && (count < 3 || cli_now_ns() - first < 250000000)) {
        if (kw_plan_time(&samples[count], plan, tensors, calls, &err)) {
            return cli_fail(&err);
        }
        if (samples[count] * calls < 200000 && calls < 1 << 20) {
            calls *= 4;
            count = 0;
            continue;
        }
        count++;
    }
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    *ns = samples[count / 4];
    *spread_ns = samples[3 * count / 4] - *ns;
    return CLI_DONE;
}

/* Times that spread by more than this share were taken on a busy machine. */
static const double spread_busy = 0.1;

static bool is_restless(double ns, double spread_ns) {
    return spread_ns > spread_busy * ns;
}

/* The least of several, where the machine is busy: what disturbs makes a run slower, never faster. */
static int time_plan(double *ns, double *spread_ns, const kw_plan *plan, const kw_tensors *tensors) {
    enum { MOST = 4 };
    int code = time_plan_once(ns, spread_ns, plan, tensors);
    for (int again = 1; !code && again < MOST && is_restless(*ns, *spread_ns); again++) {
        double other, other_spread;
        nanosleep(&(struct timespec){.tv_nsec = 50000000L << again}, NULL);
        code = time_plan_once(&other, &other_spread, plan, tensors);
        if (!code && (other < *ns || !is_restless(other, other_spread))) {
            *ns = other;
            *spread_ns = other_spread;
        }
    }
    return code;
}

static int verify(kw_record *record, kw_context *context, const char *config, const kw_problem *problem, uint64_t seed) {
    kw_error err = {0};
    kw_registry *registry = NULL;
    kw_measure_options options = {.size = sizeof(kw_measure_options), .seed = seed};
    int code = CLI_DONE;
    if (kw_registry_create(&registry, context, &err) || kw_registry_add(registry, config, &err) ||
        kw_measure(record, registry, 0, problem, &options, &err)) {
        code = cli_fail(&err);
    } else if (record->outcome != KW_GOOD && record->outcome != KW_MISTRUSTED) {
        code = CLI_FAILED;
    }
    kw_registry_destroy(&registry);
    return code;
}

/* Behind a time: whose clock it is by, where that may surprise. */
static const char *clock_remark(const kw_context *context) {
    return !strcmp(kw_context_clock(context), "device") ? " by the device's clock"
           : kw_context_is_gpu(context)                 ? " on the CPU that plays it, which says nothing of a GPU"
                                                        : "";
}

/* What came of one problem. */
typedef struct run_result {
    const cli_problem *item;
    const kw_context *context;
    const kw_plan *plan;
    const cli_args *args;
    double ns, spread_ns;
    kw_record record; /* of --check */
} run_result;

static void show_run_json(const run_result *r, const char *text) {
    cli_json json;
    cli_json_start(&json);
    cli_json_text(&json, "problem", text);
    cli_json_target(&json, r->context);
    cli_json_text(&json, "config", kw_plan_config(r->plan));
    cli_json_real(&json, "time_ns", r->ns);
    cli_json_real(&json, "spread_ns", r->spread_ns);
    cli_json_text(&json, "clock", kw_context_clock(r->context));
    cli_json_real(&json, "gflops", cli_gflops(&r->item->problem, r->ns));
    cli_json_int(&json, "workspace", kw_plan_workspace(r->plan));
    if (r->args->value[OPT_CHECK]) {
        cli_json_text(&json, "check", kw_outcome_name(r->record.outcome));
        cli_json_text(&json, "detail", r->record.detail);
    }
    cli_json_print(&json, stdout);
}

static bool is_reference(void *user, const kw_explanation *explanation) {
    *(bool *)user |= explanation->kind == KW_EXPLAIN_REFERENCE;
    return true;
}

static bool show_why_reference(void *user, const kw_explanation *explanation) {
    (void)user;
    if (explanation->kind == KW_EXPLAIN_REFERENCE || explanation->kind == KW_EXPLAIN_FAILED) {
        printf("  %s\n", explanation->text);
    }
    return true;
}

static void show_run(const run_result *r, const char *text) {
    char time[32];
    printf("%s%s%s\n  %s\n  %s%s, %.1f GFLOP/s\n", r->item->name, *r->item->name ? ": " : "", text, kw_plan_config(r->plan),
           cli_time(time, r->ns), clock_remark(r->context), cli_gflops(&r->item->problem, r->ns));
    bool reference = false;
    kw_explanation_visit(r->plan, is_reference, &reference);
    if (reference) { /* slow, and nobody asked for it */
        kw_explanation_visit(r->plan, show_why_reference, NULL);
    }
    if (is_restless(r->ns, r->spread_ns)) {
        printf("  the machine is busy: times spread by %.0f %%\n", 100 * r->spread_ns / r->ns);
    }
    if (r->args->value[OPT_CHECK] && (r->record.outcome == KW_GOOD || r->record.outcome == KW_MISTRUSTED)) {
        printf("  %s\n", r->record.outcome == KW_GOOD ? "verified against the reference" : r->record.detail);
    }
}

static int run_one(kw_context *context, kw_registry *registry, const cli_problem *item, const cli_args *args) {
    run_result r = {.item = item, .context = context, .args = args};
    kw_plan *plan = NULL;
    kw_tensors tensors = {.size = sizeof(kw_tensors)};
    kw_error err = {0};
    char text[KW_PROBLEM_TEXT_MAX];
    int64_t seed;
    if (!cli_number(args, OPT_SEED, 0, INT64_MAX, 0, &seed)) {
        return CLI_USAGE;
    }
    kw_problem_print(text, sizeof text, &item->problem);
    int code = cli_tensors_room(context, &item->problem);
    code = code ? code : cli_make_plan(&plan, context, registry, &item->problem, args);
    code = code ? code : cli_tensors(&tensors, context, &item->problem, kw_plan_workspace(plan), (uint64_t)seed);
    if (!code && !args->value[OPT_FRESH] && kw_plan_pack_weights(plan, tensors.w, &err)) {
        code = cli_fail(&err);
    }
    code = code ? code : time_plan(&r.ns, &r.spread_ns, plan, &tensors);
    bool timed = !code;
    r.plan = plan;
    if (timed && args->value[OPT_CHECK]) {
        code = verify(&r.record, context, kw_plan_config(plan), &item->problem, (uint64_t)seed);
    }
    if (timed && (!code || code == CLI_FAILED)) {
        (args->value[OPT_JSON] ? show_run_json : show_run)(&r, text);
    }
    if (code == CLI_FAILED && timed) {
        cli_next next;
        fprintf(stderr, "kwright: %s: %s\n  %s\n", kw_outcome_name(r.record.outcome), r.record.detail,
                cli_next_check(&next, args, kw_plan_config(plan), text));
    }
    cli_tensors_free(&tensors, context);
    kw_plan_destroy(&plan);
    return code;
}

static bool add_explanation(void *user, const kw_explanation *explanation) {
    static const char *const kinds[] = {
        [KW_EXPLAIN_WISDOM] = "wisdom",       [KW_EXPLAIN_MEASURED] = "measured", [KW_EXPLAIN_PREDICTED] = "predicted",
        [KW_EXPLAIN_REFERENCE] = "reference", [KW_EXPLAIN_NEXT] = "next",         [KW_EXPLAIN_FAILED] = "failed",
        [KW_EXPLAIN_UNSAVED] = "unsaved",     [KW_EXPLAIN_MODEL] = "model",       [KW_EXPLAIN_REJECTED] = "rejected",
        [KW_EXPLAIN_THREADS] = "threads",     [KW_EXPLAIN_NOISE] = "noise",       [KW_EXPLAIN_PASSES] = "passes",
        [KW_EXPLAIN_JOINED] = "joined",       [KW_EXPLAIN_TAILORED] = "tailored",
    };
    _Static_assert(sizeof kinds / sizeof *kinds == KW_EXPLAIN_TAILORED + 1, "each kind has a word");
    cli_json *json = user;
    cli_json_object(json, NULL);
    cli_json_text(json, "kind", kinds[explanation->kind]);
    if (explanation->family) {
        cli_json_text(json, "family", explanation->family);
    }
    cli_json_text(json, "text", explanation->text);
    cli_json_end(json);
    return true;
}

static void explain_json(const kw_context *context, const kw_plan *plan, const kw_problem *problem) {
    char text[KW_PROBLEM_TEXT_MAX];
    cli_json json;
    kw_problem_print(text, sizeof text, problem);
    cli_json_start(&json);
    cli_json_text(&json, "problem", text);
    cli_json_target(&json, context);
    cli_json_text(&json, "config", kw_plan_config(plan));
    cli_json_list(&json, "lines");
    kw_explanation_visit(plan, add_explanation, &json);
    cli_json_end(&json);
    cli_json_print(&json, stdout);
}

static void show_explanation(const kw_context *context, const kw_plan *plan, const kw_problem *problem, const cli_args *args) {
    if (args->value[OPT_JSON]) {
        explain_json(context, plan, problem);
    } else {
        fputs(kw_plan_explain(plan), stdout);
    }
}

static int explain_one(kw_context *context, kw_registry *registry, const cli_problem *item, const cli_args *args) {
    kw_plan *plan = NULL;
    cli_args any = *args;
    any.value[OPT_CONFIG] = NULL; /* why it does not answer is what may be asked */
    int code = cli_make_plan(&plan, context, registry, &item->problem, &any);
    if (!code) {
        show_explanation(context, plan, &item->problem, args);
    }
    kw_plan_destroy(&plan);
    return code;
}

/* --together: what each plan of the list says once kw_plans_join was asked for all of them. */
static int explain_together(kw_context *context, kw_registry *registry, const cli_problem_list *list, const cli_args *args) {
    kw_error err = {.status = KW_NO_MEMORY, .text = "there is no memory for the list of plans"};
    kw_plan **plans = calloc(list->count, sizeof *plans);
    int code = plans ? CLI_DONE : cli_fail(&err);
    for (size_t i = 0; i < list->count && !code; i++) {
        code = cli_make_plan(&plans[i], context, registry, &list->items[i].problem, args);
    }
    if (!code && kw_plans_join(NULL, (const kw_plan *const *)plans, list->count, &err)) {
        code = cli_fail(&err);
    }
    for (size_t i = 0; i < list->count && !code; i++) {
        show_explanation(context, plans[i], &list->items[i].problem, args);
    }
    for (size_t i = 0; plans && i < list->count; i++) {
        kw_plan_destroy(&plans[i]);
    }
    free(plans);
    return code;
}

/* The lines that say where the choice came from; what was rejected is left to the verb explain. */
typedef struct origin_lines {
    char text[4096];
    size_t used;
} origin_lines;

static bool add_origin(void *user, const kw_explanation *explanation) {
    origin_lines *o = user;
    if (explanation->kind != KW_EXPLAIN_REJECTED) {
        o->used += (size_t)snprintf(o->text + o->used, sizeof o->text - o->used, "%s  %s", o->used ? "\n" : "", explanation->text);
    }
    return o->used < sizeof o->text;
}

static int select_one(kw_context *context, kw_registry *registry, const cli_problem *item, const cli_args *args) {
    kw_plan *plan = NULL;
    char text[KW_PROBLEM_TEXT_MAX];
    origin_lines origin = {.used = 0};
    int code = cli_make_plan(&plan, context, registry, &item->problem, args);
    kw_problem_print(text, sizeof text, &item->problem);
    kw_explanation_visit(plan, add_origin, &origin);
    if (!code && args->value[OPT_JSON]) {
        cli_json json;
        cli_json_start(&json);
        cli_json_text(&json, "problem", text);
        cli_json_target(&json, context);
        cli_json_text(&json, "config", kw_plan_config(plan));
        cli_json_text(&json, "from", origin.text + strspn(origin.text, " "));
        cli_json_print(&json, stdout);
    } else if (!code) {
        puts(kw_plan_config(plan));
        printf("%s\n", origin.text);
    }
    kw_plan_destroy(&plan);
    return code;
}

typedef int each_problem(kw_context *context, kw_registry *registry, const cli_problem *item, const cli_args *args);
typedef int all_problems(kw_context *context, kw_registry *registry, const cli_problem_list *list, const cli_args *args);

/* all: what --together does; NULL where the verb does not know the word. */
static int for_each(const cli_args *args, const char *verb, each_problem *act, all_problems *all) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_problem_list list = {0};
    int code = cli_problems(&list, args);
    if (!code && !list.count) {
        char needs[160];
        snprintf(needs, sizeof needs, "%s needs a problem or --problems; for example: kwright %s 'conv_fwd fp32 n1 c64 k64 i56x56 f3 p1'",
                 verb, verb);
        code = cli_problems_none(args, needs);
    }
    code = code ? code : cli_context(&context, args);
    if (!code) {
        cli_warn_of_cache(context, args);
    }
    if (!code && cli_names_kernels(args)) {
        code = cli_registry_for(&registry, context, args, &list);
    }
    bool together = all && args->value[OPT_TOGETHER];
    if (!code && together) {
        code = all(context, registry, &list, args);
    }
    for (size_t i = 0; !code && !together && i < list.count; i++) {
        code = act(context, registry, &list.items[i], args);
    }
    cli_problems_free(&list);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}

int verb_run(const cli_args *args) {
    return for_each(args, "run", run_one, cli_run_together);
}

/* For verbs that measure nothing unless they are told to. */
static cli_args without_measuring(const cli_args *args) {
    cli_args changed = *args;
    if (!changed.value[OPT_MODE] && !changed.value[OPT_FROZEN]) {
        changed.value[OPT_MODE] = "predict";
    }
    return changed;
}

int verb_explain(const cli_args *args) {
    cli_args changed = without_measuring(args);
    return for_each(&changed, "explain", explain_one, explain_together);
}

int verb_select(const cli_args *args) {
    cli_args changed = without_measuring(args);
    return for_each(&changed, "select", select_one, NULL);
}
