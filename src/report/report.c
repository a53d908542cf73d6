/* report.c: the public functions. Numbers are printed and read as in the C locale, whatever the host program has set. */
#include "report/report.h"

#include "base/file.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SCRIPT_MAX = 4 << 20 };

/* Where Debian's libjs-chart.js puts it. */
static const char default_script[] = "/usr/share/javascript/chart.js/chart.min.js";

/* What would end the script element early is no script for a page. */
static bool is_inlinable(const char *text, size_t size) {
    if (strlen(text) != size || strstr(text, "<!--")) {
        return false;
    }
    for (const char *c = text; (c = strchr(c, '<')); c++) {
        if (!strncasecmp(c, "</script", 8) || !strncasecmp(c, "<script", 7)) {
            return false;
        }
    }
    return true;
}

static kw_status read_script(kw_arena *arena, const char **script, const char *path, kw_error *err) {
    char *text;
    size_t size;
    *script = NULL;
    if (path && !*path) {
        return KW_OK;
    }
    kw_status status = kw_file_read(arena, path ? path : default_script, SCRIPT_MAX, &text, &size, path ? err : NULL);
    if (status) {
        return path ? status : KW_OK;
    }
    if (is_inlinable(text, size)) {
        *script = text;
    } else if (path) {
        return kw_fail(err, KW_ILLEGAL, "%s: cannot be inlined: it has \"</script\", \"<script\", \"<!--\" or a zero byte in it", path);
    }
    return KW_OK;
}

typedef void make(kw_text *out, const kw_report *report);

/* Reads the stores, and has the text made. */
static kw_status report_with(kw_text *out, make *maker, const char *store, const kw_report_options *options, kw_error *err) {
    kw_ledger *ledger = NULL, *baseline = NULL;
    kw_arena arena = {0};
    kw_report report = {.title = options->title};
    kw_status status;
    locale_t neutral = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = neutral ? uselocale(neutral) : (locale_t)0;
    if (!neutral) {
        return kw_fail_memory(err, "the report");
    }
    status = read_script(&arena, &report.script, options->script, err);
    status = status ? status : kw_ledger_open(&ledger, store, err);
    if (!status && options->baseline) {
        status = kw_ledger_open(&baseline, options->baseline, err);
    }
    if (!status) {
        report.ledger = ledger;
        report.baseline = baseline;
        maker(out, &report);
        status = out->failed ? kw_fail_memory(err, "the report") : KW_OK;
    }
    uselocale(before);
    freelocale(neutral);
    kw_ledger_close(&ledger);
    kw_ledger_close(&baseline);
    kw_arena_drop(&arena);
    return status;
}

kw_status kw_report_html(const char *store, const char *path, const kw_report_options *options, kw_error *err) {
    kw_report_options none = {0};
    kw_text page = {0};
    kw_status status = report_with(&page, kw_report_page, store, options ? options : &none, err);
    status = status ? status : kw_file_replace(path, kw_text_string(&page), page.size, 0644, err);
    kw_text_drop(&page);
    return status;
}

kw_status kw_report_text(char **text, const char *store, const kw_report_options *options, kw_error *err) {
    kw_report_options plain = options ? *options : (kw_report_options){0};
    kw_text summary = {0};
    plain.script = "";
    kw_status status = report_with(&summary, kw_report_summary, store, &plain, err);
    if (!status) {
        *text = kw_text_take(&summary);
        status = *text ? KW_OK : kw_fail_memory(err, "the report");
    }
    kw_text_drop(&summary);
    return status;
}
