/* predict.c: the verb predict: what is expected of every kernel that serves a problem, beside what was measured of it. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A time somebody measured. */
typedef struct known {
    char config[KW_CONFIG_TEXT_MAX];
    double ns;
    const char *from;
} known;

typedef struct prediction_list {
    const cli_args *args;
    bool as_json;
    cli_json json;
    const char *target;
    kw_problem problem;
    char text[KW_PROBLEM_TEXT_MAX];
    known *known;
    size_t known_count, capacity;
    bool no_memory;
    int64_t limit, shown;
} prediction_list;

/* --- what was measured ------------------------------------------------------------------------------------------------- */

static void add_known(prediction_list *f, const char *config, double ns, const char *from) {
    if (!cli_reserve(&f->known, &f->capacity, f->known_count + 1, sizeof *f->known)) {
        f->no_memory = true;
        return;
    }
    known *k = &f->known[f->known_count++];
    *k = (known){.ns = ns, .from = from};
    snprintf(k->config, sizeof k->config, "%s", config);
}

static void take_wisdom(void *user, const kw_wisdom_entry *entry) {
    prediction_list *f = user;
    bool fresh = f->args->value[OPT_FRESH] != NULL;
    if (!strcmp(entry->target, f->target) && !strcmp(entry->problem, f->text) && entry->fresh_weights == fresh && entry->time_ns > 0) {
        add_known(f, entry->config, entry->time_ns, "wisdom");
    }
}

static bool add_known_row(void *user, const kw_row *row) {
    prediction_list *f = user;
    if (row->record.outcome == KW_GOOD && row->record.time_ns > 0) {
        add_known(f, row->record.config, row->record.time_ns, "store");
    }
    return !f->no_memory;
}

/* Times of the store come first, so that they are shown where wisdom has one as well. */
static int collect_known(prediction_list *f, kw_context *context) {
    kw_error err = {0};
    kw_store *store = NULL;
    kw_row_filter filter = {
        .size = sizeof(kw_row_filter),
        .target = f->target,
        .problem = f->text,
        .by_timing = true,
        .packed = !f->args->value[OPT_FRESH],
        .answers = true,
    };
    const char *path = f->args->value[OPT_STORE];
    kw_status status = path ? kw_store_open(&store, path, KW_STORE_READ, &err) : KW_OK;
    status = status || !path ? status : kw_store_visit(store, &filter, add_known_row, f, &err);
    status = status ? status : kw_wisdom_visit(context, NULL, take_wisdom, f, &err);
    kw_store_close(&store);
    if (!status && f->no_memory) {
        status = err.status = KW_NO_MEMORY;
    }
    return status ? cli_fail(&err) : CLI_DONE;
}

static const known *find_known(const prediction_list *f, const char *config) {
    for (size_t i = 0; i < f->known_count; i++) {
        if (!strcmp(f->known[i].config, config)) {
            return &f->known[i];
        }
    }
    return NULL;
}

/* --- what is expected -------------------------------------------------------------------------------------------------- */

static void add_prediction(cli_json *json, const kw_prediction *p, const known *k) {
    cli_json_object(json, NULL);
    cli_json_text(json, "config", p->config);
    cli_json_real(json, "predicted_ns", p->model ? p->expected_ns : (double)NAN);
    cli_json_real(json, "estimate_ns", p->estimate_ns);
    cli_json_real(json, "measured_ns", k ? k->ns : (double)NAN);
    cli_json_text(json, "from", k ? k->from : "");
    cli_json_int(json, "workspace", p->workspace);
    cli_json_end(json);
}

static void print_head(const prediction_list *f, const kw_prediction *p) {
    static const char *const trained[] = {"on this target", "on this architecture", "on another architecture with vectors as wide",
                                          "on another architecture"};
    printf("%s\n", f->text);
    if (p->model) {
        int far = p->model_distance >= 0 && p->model_distance < 4 ? p->model_distance : 3;
        printf("by model %s, trained %s\n", p->model, trained[far]);
    } else {
        printf("by the analytic estimate: no model serves it\n");
    }
    fputs(p->notes, stdout);
    printf("%5s %10s %10s %10s\n", "rank", "predicted", "estimate", "measured");
}

static bool show_prediction(void *user, const kw_prediction *p) {
    prediction_list *f = user;
    const known *k = find_known(f, p->config);
    char times[3][32];
    if (f->shown++ >= f->limit) {
        return false;
    }
    if (f->as_json) {
        add_prediction(&f->json, p, k);
        return true;
    }
    if (f->shown == 1) {
        print_head(f, p);
    }
    printf("%5lld %10s %10s %10s  %s\n", (long long)f->shown,
           !p->model               ? "-"
           : isinf(p->expected_ns) ? "none"
                                   : cli_time(times[0], p->expected_ns),
           cli_time(times[1], p->estimate_ns), k ? cli_time(times[2], k->ns) : "-", p->config);
    return true;
}

static int predict(prediction_list *f, kw_context *context, const kw_registry *registry) {
    kw_error err = {0};
    f->as_json = f->args->value[OPT_JSON];
    if (f->as_json) {
        cli_json_start(&f->json);
        cli_json_text(&f->json, "problem", f->text);
        cli_json_target(&f->json, context);
        cli_json_list(&f->json, "kernels");
    }
    kw_status status = kw_predictions_visit(context, &f->problem, registry, show_prediction, f, &err);
    if (f->as_json) {
        cli_json_end(&f->json);
        cli_json_print(&f->json, stdout);
    }
    if (!status && !f->shown) {
        cli_next next;
        cli_next_start(&next, "explain", f->args);
        cli_next_word(&next, f->text);
        fprintf(stderr, "kwright: no kernel but the compiled-in one serves it; `%s` says why\n", next.text);
        return CLI_FAILED;
    }
    return status ? cli_fail(&err) : CLI_DONE;
}

int verb_predict(const cli_args *args) {
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    cli_problem_list list = {0};
    prediction_list f = {.args = args};
    cli_args all = *args;
    all.value[OPT_LIMIT] = NULL; /* it counts kernels here */
    if (!cli_number(args, OPT_LIMIT, 1, INT64_MAX, INT64_MAX, &f.limit)) {
        return CLI_USAGE;
    }
    int code = cli_problems(&list, &all);
    if (!code && list.count != 1) {
        code = cli_usage("predict takes one problem, not %zu", list.count);
    }
    code = code ? code : cli_context(&context, args);
    if (!code && cli_names_kernels(args)) {
        code = cli_registry_for(&registry, context, args, &list);
    }
    if (!code) {
        f.problem = list.items[0].problem;
        f.target = kw_context_target(context);
        kw_problem_print(f.text, sizeof f.text, &f.problem);
        code = collect_known(&f, context);
    }
    code = code ? code : predict(&f, context, registry);
    free(f.known);
    cli_problems_free(&list);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}
