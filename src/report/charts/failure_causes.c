/* failure_causes.c: failures grouped by what they say. Two details that differ only in numbers say the same. */
#include "report/charts/figures.h"

#include "base/container/array.h"
#include "base/container/string_table.h"

#include <stdlib.h>
#include <string.h>

static void print_failure_rule(kw_text *rule, const char *detail) {
    for (const char *c = detail; *c;) {
        size_t digits = strspn(c, "0123456789");
        if (digits) {
            kw_text_add(rule, "#");
            c += digits;
        } else {
            kw_text_add_bytes(rule, c, 1);
            c++;
        }
    }
}

static int compare_cause(const void *a, const void *b) {
    const kw_failure_cause *x = a, *y = b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    if (x->outcome != y->outcome) {
        return x->outcome > y->outcome ? 1 : -1;
    }
    int order = strcmp(x->rule, y->rule);
    return order ? order : (x->family > y->family) - (x->family < y->family);
}

/* The key of a cause as one text, its rule behind the first two words. */
static bool print_cause_key(kw_text *key, const kw_report_data *report_data, const kw_report_entry *entry) {
    kw_text_addf(key, "%d %u ", (int)entry->outcome, report_data->configs[entry->config].family_number);
    print_failure_rule(key, report_data->details.text[entry->detail]);
    return !key->failed;
}

kw_failure_cause *kw_failure_causes(const kw_report_data *report_data, kw_arena *arena, bool unfit, size_t *count) {
    kw_string_table keys = {0};
    kw_failure_cause *causes = NULL;
    size_t room = 0;
    kw_text key = {0};
    bool good = true;
    for (size_t i = 0; i < report_data->entry_count && good; i++) {
        const kw_report_entry *entry = &report_data->entries[i];
        bool added;
        if (unfit ? entry->outcome != KW_UNFIT : !kw_outcome_is_failure(entry->outcome)) {
            continue;
        }
        key.size = 0;
        uint32_t number =
            print_cause_key(&key, report_data, entry) ? kw_string_table_add(&keys, arena, kw_text_string(&key), &added) : UINT32_MAX;
        good = number != UINT32_MAX && KW_ARENA_RESERVE(arena, causes, room, (size_t)number + 1);
        if (good) {
            if (added) {
                const char *rule = strchr(strchr(keys.text[number], ' ') + 1, ' ') + 1;
                causes[number] = (kw_failure_cause){entry->outcome, report_data->configs[entry->config].family_number, rule, 0, entry};
            }
            causes[number].count++;
        }
    }
    kw_text_drop(&key);
    size_t found = keys.count;
    kw_string_table_drop(&keys);
    *count = good ? found : 0;
    if (good && *count) {
        qsort(causes, *count, sizeof *causes, compare_cause);
    }
    return !good ? NULL : causes ? causes : kw_arena_alloc(arena, 1);
}

void kw_failure_cause_command(kw_text *out, const kw_report_data *report_data, const kw_failure_cause *cause) {
    const char *problem = report_data->problems[cause->example->problem].text, *config = report_data->configs[cause->example->config].text;
    const char *verb = cause->outcome == KW_UNCOMPILED ? "build --config "
                       : cause->outcome == KW_UNFIT    ? "show --why-not "
                                                       : "check --config ";
    bool unfit = cause->outcome == KW_UNFIT;
    kw_text_add(out, "kwright ");
    kw_text_add(out, verb);
    kw_escape_quote(out, unfit ? problem : config);
    kw_target_add_options(out, report_data->targets[cause->example->target].text);
    if (cause->outcome != KW_UNCOMPILED) {
        kw_text_add(out, " ");
        kw_escape_quote(out, unfit ? config : problem);
    }
}
