/* report.c: the public functions. Numbers are printed and read as in the C locale, whatever the host program has set. */
#include "report/report.h"

#include "report/page/page.h"

#include "base/sized.h"
#include "base/os/file.h"

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

kw_status kw_render(kw_text *out, kw_render_function *render_report, void *user, const char *script_path, kw_error *err) {
    kw_arena arena = {0};
    const char *script = NULL;
    locale_t neutral = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = neutral ? uselocale(neutral) : (locale_t)0;
    if (!neutral) {
        return kw_fail_memory(err, "the report");
    }
    kw_status status = read_script(&arena, &script, script_path, err);
    status = status ? status : render_report(out, user, script, err);
    if (!status && out->failed) {
        status = kw_fail_memory(err, "the report");
    }
    uselocale(before);
    freelocale(neutral);
    kw_arena_drop(&arena);
    return status;
}

typedef struct request {
    const char *store;
    const kw_report_options *options;
    void (*add)(kw_text *out, const kw_report *report);
} request;

/* Reads the stores, and has the text made. */
static kw_status render_report(kw_text *out, void *user, const char *script, kw_error *err) {
    const request *r = user;
    kw_report_data *report_data = NULL, *baseline = NULL;
    kw_status status = kw_report_data_open(&report_data, r->store, err);
    if (!status && r->options->baseline) {
        status = kw_report_data_open(&baseline, r->options->baseline, err);
    }
    if (!status) {
        r->add(out, &(kw_report){.report_data = report_data, .baseline = baseline, .title = r->options->title, .script = script});
    }
    kw_report_data_close(&report_data);
    kw_report_data_close(&baseline);
    return status;
}

kw_status kw_report_html(const char *store, const char *path, const kw_report_options *options, kw_error *err) {
    kw_report_options own;
    kw_status status = KW_SIZED_READ(&own, kw_report_options, script, options, err);
    request r = {store, &own, kw_report_page};
    kw_text page = {0};
    status = status ? status : kw_render(&page, render_report, &r, r.options->script, err);
    status = status ? status : kw_file_replace(path, kw_text_string(&page), page.size, 0644, err);
    kw_text_drop(&page);
    return status;
}

kw_status kw_report_text(char **text, const char *store, const kw_report_options *options, kw_error *err) {
    kw_report_options own;
    kw_status status = KW_SIZED_READ(&own, kw_report_options, script, options, err);
    request r = {store, &own, kw_report_summary};
    kw_text summary = {0};
    status = status ? status : kw_render(&summary, render_report, &r, "", err);
    if (!status) {
        *text = kw_text_take(&summary);
        status = *text ? KW_OK : kw_fail_memory(err, "the report");
    }
    kw_text_drop(&summary);
    return status;
}
