/* costs.c: where the time of measuring went: compiling, by kernel; kernels and all else, by run. */
#include "report/charts/figures.h"
#include "base/statistics/stats.h"

#include <math.h>

enum { BINS = 24 };

typedef struct compile_cost {
    uint32_t family;
    double *ms; /* ascending */
    size_t count;
    int64_t bytes;
} compile_cost;

typedef struct cost_list {
    const kw_report_data *report_data;
    compile_cost *costs; /* the first is all families together */
    size_t count;
} cost_list;

static const char *const columns[] = {"family", "kernels compiled",   "P10 ms", "P50 ms", "P90 ms", "most ms",
                                      "sum s",  "largest code bytes", NULL};

static void cost_cell(const void *user, size_t row, size_t column, kw_text *out) {
    static const double at[] = {0, 0, 0.1, 0.5, 0.9, 1};
    const cost_list *list = user;
    const compile_cost *cost = &list->costs[row];
    if (column == 0) {
        kw_text_add(out, row ? list->report_data->families.text[cost->family] : "all");
    } else if (column == 1) {
        kw_text_addf(out, "%zu", cost->count);
    } else if (column < 6) {
        kw_text_addf(out, "%.1f", kw_stat_quantile(cost->ms, cost->count, at[column]));
    } else if (column == 6) {
        kw_text_addf(out, "%.2f", kw_stat_mean(cost->ms, cost->count) * (double)cost->count / 1e3);
    } else {
        kw_text_addf(out, "%lld", (long long)cost->bytes);
    }
}

static void add_compile_cost(compile_cost *cost, double compile_ns, int64_t bytes) {
    cost->ms[cost->count++] = compile_ns / 1e6;
    cost->bytes = bytes > cost->bytes ? bytes : cost->bytes;
}

/* A config's rows all tell what compiling it took; each config counts once, with the most that a row tells. */
static compile_cost *collect_costs(kw_page *page, size_t *count) {
    const kw_report_data *report_data = page->report_data;
    size_t configs = report_data->config_names.count, families = report_data->families.count, kept = 1;
    double *ns = kw_page_array(page, configs, sizeof *ns);
    int64_t *bytes = kw_page_array(page, configs, sizeof *bytes);
    compile_cost *costs = kw_page_array(page, families + 1, sizeof *costs);
    for (size_t i = 0; i < report_data->rows_in_order_count && ns && bytes; i++) {
        const kw_report_row *moment = &report_data->rows_in_order[i];
        ns[moment->config] = fmax(ns[moment->config], moment->compile_ns);
        bytes[moment->config] = moment->code_bytes > bytes[moment->config] ? moment->code_bytes : bytes[moment->config];
    }
    for (size_t c = 0; c < configs && ns && bytes && costs; c++) {
        costs[0].count += ns[c] > 0;
        costs[1 + report_data->configs[c].family_number].count += ns[c] > 0;
    }
    for (size_t f = 0; f <= families && costs; f++) {
        costs[f] = (compile_cost){.family = (uint32_t)(f - 1), .ms = kw_page_array(page, costs[f].count, sizeof(double))};
    }
    for (size_t c = 0; c < configs && !page->out.failed; c++) {
        if (ns[c] > 0) {
            add_compile_cost(&costs[0], ns[c], bytes[c]);
            add_compile_cost(&costs[1 + report_data->configs[c].family_number], ns[c], bytes[c]);
        }
    }
    for (size_t f = 0; f <= families && !page->out.failed; f++) {
        kw_stat_sort(costs[f].ms, costs[f].count);
        if (f && costs[f].count) {
            costs[kept++] = costs[f]; /* families without a compiled kernel have no line */
        }
    }
    *count = kept;
    return page->out.failed ? NULL : costs;
}

static void draw_costs(kw_page *page, const compile_cost *all) {
    double low = all->ms[0] / 1.2, high = fmax(all->ms[all->count - 1] * 1.2, low * 1.5), most = 0;
    size_t bins[BINS] = {0};
    for (size_t i = 0; i < all->count; i++) {
        int bin = (int)(BINS * log(all->ms[i] / low) / log(high / low));
        bin = bin < 0 ? 0 : bin >= BINS ? BINS - 1 : bin;
        most = fmax(most, (double)++bins[bin]);
    }
    kw_svg svg;
    kw_page_chart(page, &svg, "Processor time of compiling one kernel",
                  &(kw_svg_spec){
                      .label = "Histogram of compile time",
                      .height = 180,
                      .x = {.title = "time to compile one kernel", .low = low * 1e6, .high = high * 1e6, .log = true, .unit = KW_UNIT_TIME},
                      .y = {.title = "kernels", .high = most * 1.1}});
    for (int i = 0; i < BINS; i++) {
        double from = low * 1e6 * pow(high / low, (double)i / BINS), to = low * 1e6 * pow(high / low, (i + 0.94) / BINS);
        if (bins[i]) {
            kw_text title = {0};
            kw_text_addf(&title, "%zu kernels in %.0f to %.0f ms", bins[i], from / 1e6, to / 1e6);
            kw_svg_bar(&svg, (double[]){from, 0}, (double[]){to, (double)bins[i]}, 0, kw_text_string(&title));
            kw_escape_drop(&title, &page->out);
        }
    }
    char word[32];
    kw_unit_print(word, kw_stat_quantile(all->ms, all->count, 0.5) * 1e6, KW_UNIT_TIME);
    kw_svg_rule_x(&svg, kw_stat_quantile(all->ms, all->count, 0.5) * 1e6, word);
    kw_page_chart_end(page, &svg);
}

/* --- runs ----------------------------------------------------------------------------------------------------- */

typedef struct run_cost {
    uint32_t run;
    size_t rows, good;
    double from, to, kernel_ns;
} run_cost;

typedef struct run_list {
    const kw_report_data *report_data;
    run_cost *runs;
    size_t count;
} run_list;

static const char *const run_columns[] = {"run",
                                          "started",
                                          "device",
                                          "shard",
                                          "version",
                                          "compiler",
                                          "kernels",
                                          "problems",
                                          "options",
                                          "rows",
                                          "good",
                                          "first to last row s",
                                          "inside kernels s",
                                          "ratio",
                                          NULL};

static void run_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const run_list *list = user;
    const run_cost *cost = &list->runs[row];
    const kw_run *run = &list->report_data->runs[cost->run];
    const char *const facts[] = {run->id,       run->started, run->device,   run->shard,  run->version,
                                 run->compiler, run->pool,    run->problems, run->options};
    double wall = cost->to - cost->from;
    if (column < 9) {
        kw_text_add(out, facts[column]);
    } else if (column < 11) {
        kw_text_addf(out, "%zu", column == 9 ? cost->rows : cost->good);
    } else if (column == 11) {
        kw_text_addf(out, "%.0f", wall);
    } else if (column == 12) {
        kw_text_addf(out, "%.1f", cost->kernel_ns / 1e9);
    } else if (wall > 0 && cost->kernel_ns > 0) {
        kw_text_addf(out, "%.2f", wall / (cost->kernel_ns / 1e9));
    }
}

static void add_run_costs(kw_page *page) {
    const kw_report_data *report_data = page->report_data;
    run_list list = {report_data, kw_page_array(page, report_data->run_names.count, sizeof *list.runs), report_data->run_names.count};
    for (size_t i = 0; i < list.count && list.runs; i++) {
        list.runs[i].run = (uint32_t)i;
    }
    for (size_t i = 0; i < report_data->rows_in_order_count && list.runs; i++) {
        const kw_report_row *moment = &report_data->rows_in_order[i];
        run_cost *cost = &list.runs[moment->run];
        cost->rows++;
        cost->good += moment->good;
        cost->kernel_ns += moment->kernel_ns;
        if (moment->second > 0) {
            cost->from = cost->from > 0 ? fmin(cost->from, moment->second) : moment->second;
            cost->to = fmax(cost->to, moment->second);
        }
    }
    if (list.count && list.runs) {
        kw_text_add(
            &page->out,
            "<h3>Runs</h3>\n<p>Inside kernels is an estimate from the samples: their number, calls and time. Verification, "
            "compiling and starting are the rest of the time from the first row to the last, which the clock of the day tells.</p>\n");
        kw_page_table(page, &(kw_table){"runs", run_columns, list.count, run_cell, &list});
    }
}

void kw_figure_costs(kw_page *page) {
    cost_list list = {.report_data = page->report_data};
    kw_page_begin(page, "costs", "What the measuring cost",
                  "How long compilers worked on a kernel, and what of a run's time was spent inside kernels.");
    list.costs = collect_costs(page, &list.count);
    size_t compiled = list.costs ? list.costs[0].count : 0;
    if (compiled) {
        draw_costs(page, &list.costs[0]);
    } else {
        kw_page_empty(page, "No row tells how long its kernel took to compile: all came from the cache, or there are none.");
    }
    kw_text left_out = {0};
    kw_text_addf(&left_out, "%zu kernels that came from the cache or are compiled in", page->report_data->config_names.count - compiled);
    kw_page_note(page, KW_NOWHERE, compiled, "kernels", kw_text_string(&left_out));
    kw_escape_drop(&left_out, &page->out);
    if (compiled) {
        kw_page_table(page, &(kw_table){"compile", columns, list.count, cost_cell, &list});
    }
    add_run_costs(page);
    kw_page_end(page);
}
