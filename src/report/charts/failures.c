/* failures.c: what failed and why, with the command that shows one of each again. */
#include "report/charts/figures.h"

enum { BARS_MAX = 24 };

typedef struct cause_list {
    const kw_report_data *report_data;
    const kw_failure_cause *failure_causes;
    size_t count;
} cause_list;

static const char *const columns[] = {"outcome", "family", "answers", "cause (# for a number)", "example", "to see it again", NULL};

static void failure_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const cause_list *list = user;
    const kw_failure_cause *cause = &list->failure_causes[row];
    switch (column) {
    case 0:
        kw_text_add(out, kw_outcome_name(cause->outcome));
        break;
    case 1:
        kw_text_add(out, list->report_data->families.text[cause->family]);
        break;
    case 2:
        kw_text_addf(out, "%zu", cause->count);
        break;
    case 3:
        kw_text_add(out, *cause->rule ? cause->rule : "(no reason given)");
        break;
    case 4:
        kw_text_add(out, list->report_data->details.text[cause->example->detail]);
        break;
    default:
        kw_failure_cause_command(out, list->report_data, cause);
    }
}

static void draw_failures(kw_page *page, const cause_list *list) {
    size_t bars = list->count < BARS_MAX ? list->count : BARS_MAX;
    kw_svg svg;
    kw_page_chart(page, &svg, "Failed answers by outcome, family and cause",
                  &(kw_svg_spec){.label = "Failures by cause",
                                 .height = 34 * (double)bars,
                                 .x = {.title = "answers", .high = (double)list->failure_causes[0].count * 1.05},
                                 .y = {.title = "", .low = -(double)bars, .hidden = true}});
    for (size_t i = 0; i < bars; i++) {
        const kw_failure_cause *cause = &list->failure_causes[i];
        double y = -(double)i, at[2];
        kw_text name = {0}, title = {0};
        kw_text_addf(&title, "%zu %s: %s", cause->count, kw_outcome_name(cause->outcome),
                     list->report_data->details.text[cause->example->detail]);
        kw_svg_bar(&svg, (double[]){0, y - 0.58}, (double[]){(double)cause->count, y - 0.92}, (int)cause->outcome % KW_SVG_SERIES,
                   kw_text_string(&title));
        kw_text_addf(&title, " ");
        kw_text_addf(&name, "%zu %s  %s: ", cause->count, kw_outcome_name(cause->outcome), list->report_data->families.text[cause->family]);
        kw_escape_add_truncated(&name, *cause->rule ? cause->rule : "(no reason given)", KW_ESCAPE_TERMINAL, 90);
        kw_text cut = {0};
        kw_escape_add_truncated(&cut, kw_text_string(&name), KW_ESCAPE_TERMINAL, 122);
        kw_svg_map(&svg, 0, y - 0.45, at);
        kw_svg_text(&svg, (double[]){at[0] + 6, at[1]}, "word", "start", kw_text_string(&cut));
        kw_escape_drop(&cut, &page->out);
        kw_escape_drop(&name, &page->out);
        kw_escape_drop(&title, &page->out);
    }
    kw_page_chart_end(page, &svg);
    if (bars < list->count) {
        kw_text_addf(&page->out, "<p>The %zu most frequent of %zu causes; the table has more of them.</p>\n", bars, list->count);
    }
}

void kw_figure_failures(kw_page *page) {
    const kw_report_data *report_data = page->report_data;
    cause_list failures = {report_data, NULL, 0}, refusals = {report_data, NULL, 0};
    size_t failed = 0, unfit = (size_t)report_data->outcome[KW_UNFIT];
    failures.failure_causes = kw_failure_causes(report_data, &page->scratch, false, &failures.count);
    refusals.failure_causes = kw_failure_causes(report_data, &page->scratch, true, &refusals.count);
    page->out.failed |= !failures.failure_causes || !refusals.failure_causes;
    for (size_t i = 0; i < failures.count; i++) {
        failed += failures.failure_causes[i].count;
    }
    kw_page_begin(page, "failures", "Failures by cause",
                  "Every pair of kernel and problem has an answer, and where that is no time it says why. Details that differ only in "
                  "numbers are one "
                  "cause. A kernel that does not serve a problem has not failed; the second table has those rules.");
    if (failures.count) {
        draw_failures(page, &failures);
    } else {
        kw_page_empty(page, report_data->entry_count ? "Nothing failed." : "The store has no rows.");
    }
    kw_text left_out = {0};
    kw_text_addf(
        &left_out,
        "%zu answers of kernels that do not serve the problem, %lld that were not tried; failures of which a later attempt is good", unfit,
        (long long)report_data->outcome[KW_UNTRIED]);
    kw_page_note(page, KW_NOWHERE, failed, "failed answers", kw_text_string(&left_out));
    kw_escape_drop(&left_out, &page->out);
    if (failures.count) {
        kw_page_table(page, &(kw_table){"failures", columns, failures.count, failure_cell, &failures});
    }
    if (refusals.count) {
        kw_text_add(&page->out, "<h3>Rules by which kernels do not serve problems</h3>\n");
        kw_page_table(page, &(kw_table){"refusals", columns, refusals.count, failure_cell, &refusals});
    }
    kw_page_end(page);
}
