/* explanation.c: why families do not serve a problem, and what the public API tells of wisdom. */
#include "dispatch/choose/choose.h"
#include "dispatch/context.h"

#include <stdlib.h>
#include <string.h>

/* The reason without the family's name in front, which the line has already. */
static const char *bare_reason(const kw_error *why, const kw_family *family) {
    size_t length = strlen(family->name);
    const char *text = why->text;
    if (!strncmp(text, family->name, length) && (text[length] == ' ' || text[length] == ':')) {
        text += length + 1;
    }
    return *text == ' ' ? text + 1 : text;
}

/* One line for a family that has kernels for the operation, none of which serves the problem; the first kernel's reason stands for all. */
static void explain_family(kw_text *text, const kw_family *family, const kw_registry *registry, const kw_problem *problem) {
    const kw_target *target = registry->context->target;
    kw_error why = {0};
    if (family->kind != kw_backends[target->backend].kind) {
        return; /* no kernel of it could ever run here */
    }
    if (!(family->dtypes >> problem->dtype & 1)) {
        kw_text_addf(text, "  refused: %s (has no kernels for %s)\n", family->name, kw_dtype_name(problem->dtype));
        return;
    }
    for (size_t i = 0; i < registry->catalog.count; i++) {
        const kw_config *config = &registry->catalog.configs[i];
        if (config->family != family || config->op != problem->op || config->dtype != problem->dtype) {
            continue;
        }
        kw_error reason = {0};
        if (!kw_config_fits(config, problem, target, &reason)) {
            return;
        }
        why = why.status ? why : reason;
    }
    kw_text_addf(text, "  refused: %s (%s)\n", family->name, why.status ? bare_reason(&why, family) : "the registry has no such kernel");
}

void kw_explain_rejections(kw_text *text, const kw_registry *registry, const kw_problem *problem) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if ((*family)->emit && (*family)->ops >> problem->op & 1) {
            explain_family(text, *family, registry, problem);
        }
    }
}

/* --- wisdom for people -------------------------------------------------------------------------------------------- */

typedef struct reader {
    kw_context *context;
    void (*visit)(void *user, const kw_wisdom_entry *entry);
    void *user;
} reader;

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
    const reader *r = user;
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
        .stale = check_entry(target, problem, config, &why) ? why.text : NULL,
    };
    r->visit(r->user, &entry);
}

kw_status kw_wisdom_visit(kw_context *context, const char *path, void (*visit)(void *user, const kw_wisdom_entry *entry), void *user,
                          kw_error *err) {
    if (!context || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_wisdom_visit: %s is NULL", context ? "visit" : "context");
    }
    reader r = {context, visit, user};
    return kw_wisdom_each(context->wisdom, path, &(kw_wisdom_visitor){show_wisdom_line, &r}, err);
}

kw_status kw_wisdom_forget(kw_context *context, const kw_problem *problem, int64_t *dropped, kw_error *err) {
    int64_t count = 0;
    char text[KW_PROBLEM_TEXT_MAX];
    if (!context || !problem) {
        return kw_fail(err, KW_ILLEGAL, "kw_wisdom_forget: %s is NULL", context ? "problem" : "context");
    }
    kw_status status = kw_problem_check(problem, err);
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
