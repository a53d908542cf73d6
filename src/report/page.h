/* page.h: the parts that every figure of a report has: what it shows, where its data come from, its charts, its table. Internal to this
 * folder.
 *
 * The page is one file that loads nothing: styles and scripts stand in it, and a Content-Security-Policy allows these alone, by a nonce
 * made of the page's own contents, which no name in a store can know. */
#ifndef KW_REPORT_PAGE_H
#define KW_REPORT_PAGE_H

#include "report/ledger.h"
#include "report/svg.h"

typedef struct kw_page {
    kw_text out;
    kw_arena scratch;          /* of the figure being made */
    const kw_ledger *ledger;   /* what is reported */
    const kw_ledger *baseline; /* NULL: none */
} kw_page;

/* All positions whose memory could not be had set out.failed; asked for once, at the end. */
void *kw_page_array(kw_page *page, size_t count, size_t size);

/* meaning: how the figure is to be read, in our own words; HTML. */
void kw_page_begin(kw_page *page, const char *id, const char *title, const char *meaning);
void kw_page_end(kw_page *page);
/* In place of a chart: why there is none. */
void kw_page_nothing(kw_page *page, const char *why);
/* The line below a chart: target (KW_NOWHERE: all), how many of what, and what was left out and why (may be NULL). */
void kw_page_facts(kw_page *page, size_t target, size_t count, const char *what, const char *left_out);

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

/* Panels: the targets and types, or other groups, that get a chart each, the largest first. */
enum { KW_PANELS_MAX = 8 };

#endif
