/* explanation.c: the list of records, its prose, and why families do not serve a problem. */
#include "dispatch/explanation.h"

#include "base/container/array.h"
#include "dispatch/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record of the text that is about to be added. */
static void begin_explanation(kw_explanation_list *list, kw_explanation_kind kind, const char *family) {
    if (list->texts.failed || !KW_ARRAY_RESERVE(list->items, list->capacity, list->count + 1)) {
        list->texts.failed = true;
        return;
    }
    list->items[list->count++] = (kw_explanation_item){.kind = kind, .family = family, .at = list->texts.size};
}

static void explain_text(kw_explanation_list *list, kw_explanation_kind kind, const char *family, kw_word text) {
    size_t before = list->count;
    begin_explanation(list, kind, family);
    kw_text_add_bytes(&list->texts, text.at, text.size);
    kw_text_add_bytes(&list->texts, "", 1);
    list->count = list->texts.failed ? before : list->count;
}

void kw_explain(kw_explanation_list *list, kw_explanation_kind kind, const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    size_t before = list->count;
    begin_explanation(list, kind, NULL);
    if (length >= 0 && kw_text_reserve(&list->texts, (size_t)length + 1)) {
        vsnprintf(list->texts.data + list->texts.size, (size_t)length + 1, format, again);
        list->texts.size += (size_t)length + 1;
    }
    list->count = list->texts.failed ? before : list->count;
    va_end(again);
    va_end(arguments);
}

void kw_explain_lines(kw_explanation_list *list, kw_explanation_kind kind, const char *text) {
    kw_scan scan = kw_scan_string(text);
    kw_word line;
    while (kw_scan_line(&scan, &line)) {
        while (line.size && *line.at == ' ') {
            line = (kw_word){line.at + 1, line.size - 1};
        }
        explain_text(list, kind, NULL, line);
    }
}

kw_explanation kw_explanation_at(const kw_explanation_list *list, size_t i) {
    const kw_explanation_item *item = &list->items[i];
    return (kw_explanation){.kind = item->kind, .family = item->family, .text = list->texts.data + item->at};
}

void kw_explanation_list_print(kw_text *text, const kw_explanation_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        kw_explanation e = kw_explanation_at(list, i);
        if (e.family) {
            kw_text_addf(text, "  refused: %s (%s)\n", e.family, e.text);
        } else {
            kw_text_addf(text, "  %s\n", e.text);
        }
    }
    if (list->texts.failed) {
        kw_text_add(text, "  there was no memory for the rest of the explanation\n");
    }
}

void kw_explanation_list_drop(kw_explanation_list *list) {
    kw_text_drop(&list->texts);
    free(list->items);
    *list = (kw_explanation_list){0};
}

void kw_time_print(char text[32], double ns) {
    double scale = ns < 1e3 ? 1 : ns < 1e6 ? 1e3 : ns < 1e9 ? 1e6 : 1e9;
    const char *unit = ns < 1e3 ? "ns" : ns < 1e6 ? "us" : ns < 1e9 ? "ms" : "s";
    snprintf(text, 32, "%.4g %s", ns / scale, unit);
}

/* --- rejections ---------------------------------------------------------------------------------------------------- */

/* The reason without the family's name in front, which the line has already. */
static const char *bare_reason(const kw_error *why, const kw_family *family) {
    size_t length = strlen(family->name);
    const char *text = why->text;
    if (!strncmp(text, family->name, length) && (text[length] == ' ' || text[length] == ':')) {
        text += length + 1;
    }
    return *text == ' ' ? text + 1 : text;
}

/* One record for a family that has kernels for the operation, none of which serves the problem; the first kernel's reason stands for all.
 */
static void explain_family(kw_explanation_list *list, const kw_family *family, const kw_registry *registry, const kw_problem *problem) {
    const kw_target *target = registry->context->target;
    kw_error why = {0};
    if (family->kind != kw_backends[target->backend].kind) {
        return; /* no kernel of it could ever run here */
    }
    if (!(family->dtypes >> problem->dtype & 1)) {
        char reason[64];
        snprintf(reason, sizeof reason, "has no kernels for %s", kw_dtype_name(problem->dtype));
        explain_text(list, KW_EXPLAIN_REJECTED, family->name, (kw_word){reason, strlen(reason)});
        return;
    }
    for (size_t i = 0; i < registry->catalog.count; i++) {
        const kw_config *config = &registry->catalog.configs[i];
        if (config->family != family || config->op != problem->op || config->dtype != problem->dtype) {
            continue;
        }
        kw_error reason = {0};
        kw_config special;
        if (!kw_config_serves(&special, config, problem, target, &reason)) {
            return;
        }
        why = why.status ? why : reason;
    }
    const char *reason = why.status ? bare_reason(&why, family) : "the registry has no such kernel";
    explain_text(list, KW_EXPLAIN_REJECTED, family->name, (kw_word){reason, strlen(reason)});
}

void kw_explain_rejections(kw_explanation_list *list, const kw_registry *registry, const kw_problem *problem) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        if ((*family)->emit && (*family)->ops >> problem->op & 1) {
            explain_family(list, *family, registry, problem);
        }
    }
}
