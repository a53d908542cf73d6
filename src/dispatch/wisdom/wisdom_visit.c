/* wisdom_visit.c: what the public API shows of wisdom (kw_wisdom_visit), and what it lets a caller drop (kw_wisdom_forget). */
#include "dispatch/context.h"

#include <string.h>

typedef struct wisdom_reader {
    kw_context *context;
    void (*visit)(void *user, const kw_wisdom_entry *entry);
    void *user;
} wisdom_reader;

/* Whether the entry would be believed on its own target. */
static kw_status check_entry(const char *target_text, const char *problem_text, const char *config_text, kw_error *why) {
    kw_target target;
    kw_problem problem;
    kw_config config;
    char canonical[KW_PROBLEM_TEXT_MAX];
    kw_status status = kw_target_parse(&target, target_text, why);
    status = status ? status : kw_problem_parse(&problem, problem_text, why);
    if (status) {
        return status;
    }
    kw_problem_print(canonical, sizeof canonical, &problem);
    if (strcmp(canonical, problem_text)) {
        return kw_fail(why, KW_MALFORMED, "the problem's canonical text is %.200s", canonical);
    }
    status = kw_config_parse(&config, config_text, why);
    return status ? status : kw_config_fits(&config, &problem, &target, why);
}

static void show_wisdom_line(void *user, const kw_wisdom_line *line) {
    const wisdom_reader *r = user;
    char target[KW_TARGET_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX], date[16];
    kw_error why = {0};
    /* all fit: sizes were checked when the line was read */
    kw_word_copy(target, sizeof target, line->target);
    kw_word_copy(problem, sizeof problem, line->problem);
    kw_word_copy(config, sizeof config, line->config);
    kw_word_copy(date, sizeof date, line->date);
    kw_wisdom_entry entry = {
        .target = target,
        .problem = problem,
        .fresh_weights = line->fresh_weights,
        .config = config,
        .date = date,
        .mode = line->mode,
        .time_ns = line->time_ns,
        .spread_ns = line->spread_ns,
        .candidates = line->candidates,
        .threads = line->threads,
        .provisional = kw_noise_restless(line->time_ns, line->spread_ns, kw_context_spread_limit(r->context)),
        .stale = check_entry(target, problem, config, &why) ? why.text : NULL,
    };
    r->visit(r->user, &entry);
}

kw_status kw_wisdom_visit(kw_context *context, const char *path, void (*visit)(void *user, const kw_wisdom_entry *entry), void *user,
                          kw_error *err) {
    if (!context || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_wisdom_visit: %s is NULL", context ? "visit" : "context");
    }
    wisdom_reader r = {context, visit, user};
    kw_status status = kw_context_check(context, err);
    return status ? status : kw_wisdom_each(context->wisdom, path, &(kw_wisdom_visitor){show_wisdom_line, &r}, err);
}

kw_status kw_wisdom_forget(kw_context *context, const kw_problem *problem, int64_t *dropped, kw_error *err) {
    int64_t count = 0;
    char text[KW_PROBLEM_TEXT_MAX];
    if (!context || !problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_wisdom_forget: %s is NULL", context ? "problem" : "context");
    }
    kw_status status = kw_context_check(context, err);
    status = status ? status : kw_problem_check(problem, err);
    if (!status) {
        kw_problem_print(text, sizeof text, problem);
        status = kw_wisdom_drop(context->wisdom, text, &count, err);
        kw_plan_cache_invalidate_problem(&context->plan_cache, &context->kernel_cache, problem);
    }
    if (dropped) {
        *dropped = count;
    }
    return status;
}
