/* wisdom.c: the verb wisdom. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct wisdom_view {
    int64_t limit, shown, stale;
    cli_json *json; /* NULL: text */
} wisdom_view;

static const char *mode_name(kw_mode mode) {
    static const char *const names[] = {"default", "frozen", "predict", "shortlist", "exhaustive"};
    return (size_t)mode < sizeof names / sizeof *names ? names[mode] : "unknown";
}

static void show_entry(void *user, const kw_wisdom_entry *entry) {
    wisdom_view *view = user;
    char time[32];
    view->stale += entry->stale != NULL;
    if (view->shown++ >= view->limit) {
        return;
    }
    if (view->json) {
        cli_json_object(view->json, NULL);
        cli_json_text(view->json, "problem", entry->problem);
        cli_json_text(view->json, "config", entry->config);
        cli_json_text(view->json, "target", entry->target);
        cli_json_text(view->json, "date", entry->date);
        cli_json_text(view->json, "mode", mode_name(entry->mode));
        cli_json_text(view->json, "weights", entry->fresh_weights ? "fresh" : "packed");
        cli_json_real(view->json, "time_ns", entry->time_ns);
        cli_json_real(view->json, "spread_ns", entry->spread_ns);
        cli_json_bool(view->json, "provisional", entry->provisional);
        cli_json_int(view->json, "candidates", entry->candidates);
        if (entry->stale) {
            cli_json_text(view->json, "stale", entry->stale);
        } else {
            cli_json_null(view->json, "stale");
        }
        cli_json_end(view->json);
        return;
    }
    char busy[64] = "";
    if (entry->provisional) {
        snprintf(busy, sizeof busy, " (provisional: spread %.0f %%)", 100 * entry->spread_ns / entry->time_ns);
    }
    printf("%s\n  %s\n  %s%s, %s of %d on %s, %s%s%s\n", cli_shown(entry->problem), cli_shown(entry->config),
           cli_time(time, entry->time_ns), busy, mode_name(entry->mode), entry->candidates, entry->date, cli_shown(entry->target),
           entry->stale ? "\n  stale: " : "", entry->stale ? cli_shown(entry->stale) : "");
}

static int forget_problem(kw_context *context, const char *text) {
    kw_error err = {0};
    kw_problem problem;
    int64_t dropped = 0;
    if (kw_problem_import(&problem, text, &err) || kw_wisdom_forget(context, &problem, &dropped, &err)) {
        return cli_fail(&err);
    }
    printf("forgot %lld entries\n", (long long)dropped);
    return CLI_DONE;
}

int verb_wisdom(const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    cli_json json = {0};
    wisdom_view view = {.json = args->value[OPT_JSON] ? &json : NULL};
    if (!cli_number(args, OPT_LIMIT, 0, INT64_MAX, INT64_MAX, &view.limit)) {
        return CLI_USAGE;
    }
    int code = cli_context(&context, args);
    if (code) {
        return code;
    }
    if (args->value[OPT_FORGET]) {
        code = forget_problem(context, args->value[OPT_FORGET]);
        kw_context_close(&context);
        return code;
    }
    const char *path = args->operand_count ? args->operands[0] : NULL;
    if (path && !strchr(path, '/') && access(path, F_OK)) {
        kw_context_close(&context);
        return cli_usage("there is no wisdom file %.60s; `kwright wisdom` alone lists the entries, --forget PROBLEM drops a problem's",
                         cli_shown(path));
    }
    if (view.json) {
        cli_json_start(&json);
        cli_json_list(&json, "entries");
    }
    code = kw_wisdom_visit(context, path, show_entry, &view, &err) ? cli_fail(&err) : CLI_DONE;
    if (view.json) {
        cli_json_end(&json);
        cli_json_print(&json, stdout);
    } else if (!code) {
        printf("%lld problems, %lld stale\n", (long long)view.shown, (long long)view.stale);
    }
    kw_context_close(&context);
    return code;
}
