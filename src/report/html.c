/* html.c: the HTML document around the figures. */
#include "report/charts/figures.h"
#include "report/report.h"

#include "base/embedded.h"
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

extern const kw_embedded kw_report_files[];

static const char *embedded_file(const char *name) {
    return kw_embedded_find(kw_report_files, name)->text;
}

static void add_page_body(kw_page *page, const kw_report *report, const char *title) {
    kw_text summary = {0};
    kw_text_add(&page->out, "<h1>");
    kw_escape_add(&page->out, title, KW_ESCAPE_HTML);
    kw_text_add(&page->out, "</h1>\n<nav>");
#define CONTENTS(id, name) kw_text_add(&page->out, "<a href=\"#" #id "\">" name "</a> ");
    KW_FIGURES(CONTENTS)
#undef CONTENTS
    kw_text_add(&page->out, "</nav>\n<pre id=\"summary\">");
    kw_report_summary(&summary, report);
    for (const char *line = kw_text_string(&summary); *line;) {
        size_t length = strcspn(line, "\n");
        kw_text piece = {0};
        kw_text_add_bytes(&piece, line, length);
        kw_escape_add(&page->out, kw_text_string(&piece), KW_ESCAPE_HTML);
        kw_text_add(&page->out, "\n");
        kw_escape_drop(&piece, &page->out);
        line += length + (line[length] != 0);
    }
    kw_text_add(&page->out, "</pre>\n");
    kw_escape_drop(&summary, &page->out);
#define MAKE(id, name) kw_figure_##id(page);
    KW_FIGURES(MAKE)
#undef MAKE
}

static void add_script(kw_text *out, const char *nonce, const char *script) {
    kw_text_addf(out, "<script nonce=\"%s\">\n", nonce);
    kw_text_add(out, script);
    kw_text_add(out, "\n</script>\n");
}

void kw_page_finish(kw_text *out, kw_page *page, const char *title, const char *source, const char *script) {
    char nonce[KW_HASH_TEXT];
    kw_hash_text(nonce, kw_text_string(&page->out), page->out.size);
    kw_text_addf(out,
                 "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" "
                 "content=\"default-src "
                 "'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src data:; base-uri 'none'; form-action 'none'\">\n",
                 nonce, nonce);
    kw_text_add(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    kw_escape_add(out, title, KW_ESCAPE_HTML);
    kw_text_addf(out, "</title>\n<style nonce=\"%s\">\n", nonce);
    kw_text_add(out, embedded_file("page.css"));
    kw_text_add(out, "</style></head><body>\n");
    kw_text_add_bytes(out, kw_text_string(&page->out), page->out.size);
    kw_text_addf(out, "<p class=\"facts\">Made by Kernelwright %s from %s.</p>\n", kw_version(), source);
    if (script) {
        add_script(out, nonce, script);
        add_script(out, nonce, embedded_file("page.js"));
    }
    kw_text_add(out, "</body></html>\n");
    kw_escape_drop(&page->out, out);
}

void kw_report_page(kw_text *out, const kw_report *report) {
    const char *title = report->title && *report->title ? report->title : "Kernelwright report";
    kw_page page = {.report_data = report->report_data, .baseline = report->baseline};
    char source[40];
    snprintf(source, sizeof source, "%zu rows", report->report_data->rows_in_order_count);
    add_page_body(&page, report, title);
    kw_page_finish(out, &page, title, source, report->script);
}
