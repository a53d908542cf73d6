/* describe.c: families for people, from the same structs that the parser and the emitters read. */
#include "config/config.h"

#include "problem/names/names.h"

#include <stdio.h>
#include <string.h>

static void describe_axis(kw_text *text, const kw_axis *axis) {
    kw_text_addf(text, "  %-12s ", axis->name);
    if (axis->words) {
        kw_text_addf(text, "%-14s", axis->words);
    } else {
        char range[32];
        kw_text_addf(text, "%-14s", (snprintf(range, sizeof range, "%d..%d", axis->low, axis->high), range));
    }
    kw_text_addf(text, " %s\n", axis->meaning);
}

static void describe_family(kw_text *text, const kw_family *family) {
    kw_text_addf(text, "%s: %s\noperations:", family->name, family->summary);
    for (int op = 0; op < KW_OP_COUNT; op++) {
        if (family->ops >> op & 1) {
            kw_text_addf(text, " %s", kw_op_name((kw_op)op));
        }
    }
    kw_text_add(text, "\ntypes:");
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        if (family->dtypes >> dtype & 1) {
            kw_text_addf(text, " %s", kw_dtype_name((kw_dtype)dtype));
        }
    }
    kw_text_addf(text, "\n%s kernels/%s\n", family->emit ? "generated; text:" : "compiled in; text:", family->kernel);
    if (family->axis_count) {
        kw_text_add(text, "axes:\n");
    }
    for (int i = 0; i < family->axis_count; i++) {
        describe_axis(text, &family->axes[i]);
    }
}

kw_status kw_family_describe(char **text, const char *family, kw_error *err) {
    kw_text built = {0};
    if (family) {
        const kw_family *found = kw_family_find((kw_word){family, strlen(family)});
        if (!found) {
            return kw_family_fail_unknown((kw_word){family, strlen(family)}, err);
        }
        describe_family(&built, found);
    }
    for (const kw_family *const *each = kw_family_table; !family && *each; each++) {
        kw_text_addf(&built, "%-24s %s\n", (*each)->name, (*each)->summary);
    }
    *text = kw_text_take(&built);
    return *text ? KW_OK : kw_fail_memory(err, "a family's description");
}

kw_status kw_config_info_read(kw_config_info *info, const char *config, kw_error *err) {
    kw_scan scan = kw_scan_string(config);
    kw_word family, op, dtype;
    *info = (kw_config_info){.op = KW_OP_COUNT, .dtype = KW_DTYPE_COUNT};
    if (!kw_scan_word(&scan, &family) || family.size >= sizeof info->family || !kw_scan_word(&scan, &op) || !kw_op_of_word(&info->op, op) ||
        !kw_scan_word(&scan, &dtype) || !kw_dtype_of_word(&info->dtype, dtype)) {
        return kw_fail(err, KW_MALFORMED, "config \"%.120s\" does not begin with family, operation and type", config);
    }
    memcpy(info->family, family.at, family.size);
    return KW_OK;
}
