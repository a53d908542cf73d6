/* page.c: figures' frames, the line of facts, tables and their CSV. */
#include "report/page/page.h"

#include "report/data/report_data.h"

#include <string.h>

enum { TABLE_ROWS = 120, CSV_ROWS = 2000 };

void *kw_page_array(kw_page *page, size_t count, size_t size) {
    void *array = kw_arena_array(&page->scratch, count ? count : 1, size);
    if (!array) {
        page->out.failed = true;
    }
    return array;
}

void kw_page_begin(kw_page *page, const char *id, const char *title, const char *meaning) {
    kw_text_addf(&page->out, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n", id, title, meaning);
}

void kw_page_end(kw_page *page) {
    kw_text_add(&page->out, "</section>\n");
    kw_arena_drop(&page->scratch);
}

void kw_page_empty(kw_page *page, const char *why) {
    kw_text_add(&page->out, "<p class=\"nothing\">");
    kw_escape_add(&page->out, why, KW_ESCAPE_HTML);
    kw_text_add(&page->out, "</p>\n");
}

static void add_time_span(kw_text *out, const kw_report_data *report_data) {
    kw_text_add(out, *report_data->first ? " \xc2\xb7 " : " \xc2\xb7 no dates");
    kw_escape_add_truncated(out, report_data->first, KW_ESCAPE_HTML, 20);
    if (strcmp(report_data->first, report_data->last) != 0) {
        kw_text_add(out, " to ");
        kw_escape_add_truncated(out, report_data->last, KW_ESCAPE_HTML, 20);
    }
}

void kw_page_note(kw_page *page, size_t target, size_t count, const char *what, const char *left_out) {
    const kw_report_data *report_data = page->report_data;
    kw_text *out = &page->out;
    kw_text_add(out, "<p class=\"facts\">store ");
    kw_escape_add_truncated(out, report_data->id, KW_ESCAPE_HTML, 34);
    kw_text_add(out, " \xc2\xb7 ");
    if (target != KW_NOWHERE) {
        const kw_report_target *of = &report_data->targets[target];
        if (*of->device) {
            kw_escape_add_truncated(out, of->device, KW_ESCAPE_HTML, 60);
            kw_text_add(out, " \xc2\xb7 ");
        }
        kw_escape_add_truncated(out, of->label, KW_ESCAPE_HTML, 90);
    } else {
        kw_text_addf(out, "%zu target%s", report_data->target_names.count, report_data->target_names.count == 1 ? "" : "s");
    }
    add_time_span(out, report_data);
    kw_text_addf(out, " \xc2\xb7 n = %zu ", count);
    kw_escape_add(out, what, KW_ESCAPE_HTML);
    kw_text_add(out, " \xc2\xb7 left out: ");
    kw_escape_add(out, left_out && *left_out ? left_out : "nothing", KW_ESCAPE_HTML);
    kw_text_add(out, "</p>\n");
}

void kw_page_chart(kw_page *page, kw_svg *svg, const char *caption, const kw_svg_spec *spec) {
    kw_text_add(&page->out, "<figure><figcaption>");
    kw_escape_add_truncated(&page->out, caption, KW_ESCAPE_HTML, 160);
    kw_text_add(&page->out, "</figcaption>\n");
    kw_svg_open(svg, &page->out, spec);
}

void kw_page_chart_end(kw_page *page, kw_svg *svg) {
    kw_svg_close(svg);
    if (svg->told) {
        kw_text_add(&page->out, "<script type=\"application/json\">");
        kw_text_add(&page->out, kw_text_string(&svg->data));
        kw_text_add(&page->out, "</script>");
    }
    kw_text_add(&page->out, "</figure>\n");
    kw_escape_drop(&svg->data, &page->out);
}

/* --- tables --------------------------------------------------------------------------------------------------- */

static size_t column_count(const kw_table *table) {
    size_t count = 0;
    while (table->columns[count]) {
        count++;
    }
    return count;
}

static bool is_numeric(const char *text) {
    return *text && strspn(text, "0123456789.+-eE%x ") == strlen(text);
}

static void add_table_row(kw_page *page, const kw_table *table, size_t row, size_t columns) {
    kw_text cell = {0};
    kw_text_add(&page->out, "<tr>");
    for (size_t c = 0; c < columns; c++) {
        cell.size = 0;
        table->cell(table->user, row, c, &cell);
        const char *text = cell.size ? kw_text_string(&cell) : "";
        kw_text_add(&page->out, is_numeric(text) ? "<td class=\"n\">" : "<td>");
        kw_escape_add_truncated(&page->out, text, KW_ESCAPE_HTML, 600);
        kw_text_add(&page->out, "</td>");
    }
    kw_text_add(&page->out, "</tr>\n");
    kw_escape_drop(&cell, &page->out);
}

static void add_table_csv(kw_page *page, const kw_table *table, size_t columns) {
    kw_text csv = {0}, cell = {0};
    size_t rows = table->rows < CSV_ROWS ? table->rows : CSV_ROWS;
    for (size_t c = 0; c < columns; c++) {
        kw_text_add(&csv, c ? "," : "");
        kw_escape_add(&csv, table->columns[c], KW_ESCAPE_CSV);
    }
    kw_text_add(&csv, "\r\n");
    for (size_t row = 0; row < rows; row++) {
        for (size_t c = 0; c < columns; c++) {
            cell.size = 0;
            table->cell(table->user, row, c, &cell);
            kw_text_add(&csv, c ? "," : "");
            kw_escape_add(&csv, cell.size ? kw_text_string(&cell) : "", KW_ESCAPE_CSV);
        }
        kw_text_add(&csv, "\r\n");
    }
    kw_text_addf(&page->out, "<a download=\"%s.csv\" href=\"data:text/csv;charset=utf-8,", table->name);
    kw_escape_add_url(&page->out, kw_text_string(&csv), csv.size);
    kw_text_addf(&page->out, "\">%s.csv</a>", table->name);
    if (rows < table->rows) {
        kw_text_addf(&page->out, " (the first %zu of %zu rows; <code>kwright db export</code> gives all of a store)", rows, table->rows);
    }
    kw_escape_drop(&csv, &page->out);
    kw_escape_drop(&cell, &page->out);
}

void kw_page_table(kw_page *page, const kw_table *table) {
    size_t columns = column_count(table), shown = table->rows < TABLE_ROWS ? table->rows : TABLE_ROWS;
    kw_text_addf(&page->out, "<details><summary>Table, %zu row%s</summary>\n<p class=\"csv\">", table->rows, table->rows == 1 ? "" : "s");
    add_table_csv(page, table, columns);
    kw_text_add(&page->out, "</p>\n<div class=\"scroll\"><table><thead><tr>");
    for (size_t c = 0; c < columns; c++) {
        kw_text_add(&page->out, "<th>");
        kw_escape_add(&page->out, table->columns[c], KW_ESCAPE_HTML);
        kw_text_add(&page->out, "</th>");
    }
    kw_text_add(&page->out, "</tr></thead><tbody>\n");
    for (size_t row = 0; row < shown; row++) {
        if (row == shown / 2 && shown < table->rows) {
            kw_text_addf(&page->out,
                         "<tr><td colspan=\"%zu\" class=\"gap\">%zu rows between the first and the last are not shown</td></tr>\n", columns,
                         table->rows - shown);
        }
        add_table_row(page, table, row < shown / 2 || shown == table->rows ? row : table->rows - shown + row, columns);
    }
    kw_text_add(&page->out, "</tbody></table></div></details>\n");
}
