/* page.h: the parts that every figure of a report has: what it shows, where its data come from, its charts, its table. Internal to this
 * folder.
 *
 * The page is one file that loads nothing: styles and scripts stand in it, and a Content-Security-Policy allows these alone, by a nonce
 * made of the page's own contents, which no name in a store can know. */
#ifndef KW_REPORT_PAGE_PAGE_H
#define KW_REPORT_PAGE_PAGE_H

#include "report/page/svg.h"

#include <kernelwright_tune.h>

#include "base/container/arena.h"

typedef struct kw_report_data kw_report_data;

typedef struct kw_page {
    kw_text out;
    kw_arena scratch;                  /* of the figure being made */
    const kw_report_data *report_data; /* what is reported; NULL on a page of an evaluation */
    const kw_report_data *baseline;    /* NULL: none */
} kw_page;

/* All positions whose memory could not be had set out.failed; asked for once, at the end. */
void *kw_page_array(kw_page *page, size_t count, size_t size);

/* meaning: how the figure is to be read, in our own words; HTML. */
void kw_page_begin(kw_page *page, const char *id, const char *title, const char *meaning);
void kw_page_end(kw_page *page);
/* In place of a chart: why there is none. */
void kw_page_empty(kw_page *page, const char *why);
/* The line below a chart: target (KW_NOWHERE: all), how many of what, and what was left out and why (may be NULL). */
void kw_page_note(kw_page *page, size_t target, size_t count, const char *what, const char *left_out);

/* A chart with its caption; the spec as for kw_svg_open. */
void kw_page_chart(kw_page *page, kw_svg *svg, const char *caption, const kw_svg_spec *spec);
void kw_page_chart_end(kw_page *page, kw_svg *svg);

/* A table of rows in order; cell writes one cell's plain text, which is made harmless here. Long tables show their first and last rows,
 * long CSV files end early; both say so. */
typedef struct kw_table {
    const char *name;           /* of the CSV file, without ending */
    const char *const *columns; /* ended by NULL */
    size_t rows;
    void (*cell)(const void *user, size_t row, size_t column, kw_text *out);
    const void *user;
} kw_table;
void kw_page_table(kw_page *page, const kw_table *table);

/* The empirical distribution of ascending values as a line: a step at each; count > 0. */
void kw_draw_distribution(kw_svg *svg, const double *sorted, size_t count, int series, const char *name);

/* The document around what was made: title, one line on what it was made from, a chart library (NULL: none). Frees page->out. */
void kw_page_finish(kw_text *out, kw_page *page, const char *title, const char *source, const char *script);

/* Makes a text: reads the chart library that was asked for (kw_report_options.script; NULL where there is none), makes in the neutral
 * locale, and asks for want of memory at the end. */
typedef kw_status kw_render_function(kw_text *out, void *user, const char *script, kw_error *err);
kw_status kw_render(kw_text *out, kw_render_function *make, void *user, const char *script_path, kw_error *err);

/* Panels: the targets and types, or other groups, that get a chart each, the largest first. */
enum { KW_PANELS_MAX = 8 };

#endif
