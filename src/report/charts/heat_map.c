/* heat_map.c: which kernel shape suits which class of problems.
 *
 * A shape is a family with those axes that cut its tile. Within a problem a shape stands for its best kernel, since the other axes are
 * chosen afterwards; a shape whose kernels all failed counts as 0. Classes overlap: every problem is in one column of each group. */
#include "report/charts/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES_MAX = 16, ROWS_MAX = 26, GROUPS = 3 };

/* Columns of a convolution and of a GEMM, in groups of which a problem is in one column each. */
typedef struct class_list {
    const char *groups[GROUPS];
    int start[GROUPS + 1];
    const char *names[CLASSES_MAX], *labels[CLASSES_MAX]; /* in the table, and below the group's name */
} class_list;

static const class_list conv_classes = {
    {"filter", "channels per group", "width of the output"},
    {0, 4, 9, 14},
    {"filter 1x1", "filter 3x3", "filter 5x5 and up", "other filters", "depthwise", "c/g < 16", "c/g < 64", "c/g < 256", "c/g >= 256",
     "width <= 7", "width <= 14", "width <= 28", "width <= 56", "width > 56"},
    {"1x1", "3x3", "5x5+", "other", "1", "< 16", "< 64", "< 256", "256+", "1-7", "8-14", "15-28", "29-56", "57+"},
};
static const class_list gemm_classes = {
    {"m", "n", "k"},
    {0, 5, 8, 11},
    {"m = 1", "m <= 16", "m <= 128", "m <= 1024", "m > 1024", "n <= 128", "n <= 1024", "n > 1024", "k <= 128", "k <= 1024", "k > 1024"},
    {"1", "2-16", "17-128", "129-1k", "> 1k", "1-128", "129-1k", "> 1k", "1-128", "129-1k", "> 1k"},
};

static int size_class(int64_t value, const int64_t limits[], int count) {
    int i = 0;
    while (i < count && value > limits[i]) {
        i++;
    }
    return i;
}

static void gemm_columns(const kw_gemm_dims *dims, int columns[GROUPS]) {
    columns[0] = size_class(dims->m, (const int64_t[]){1, 16, 128, 1024}, 4);
    columns[1] = 5 + size_class(dims->n, (const int64_t[]){128, 1024}, 2);
    columns[2] = 8 + size_class(dims->k, (const int64_t[]){128, 1024}, 2);
}

static void conv_columns(const kw_problem *problem, int columns[GROUPS]) {
    const kw_conv_dims *dims = &problem->conv;
    int64_t out[3], height = problem->ndim > 1 ? dims->filter[1] : dims->filter[2], width = dims->filter[2];
    kw_problem_output(out, problem);
    bool square = height == width;
    columns[0] = !square ? 3 : width == 1 ? 0 : width == 3 ? 1 : width >= 5 ? 2 : 3;
    columns[1] = dims->c == dims->g ? 4 : 5 + size_class(dims->c / dims->g, (const int64_t[]){15, 63, 255}, 3);
    columns[2] = 9 + size_class(out[2], (const int64_t[]){7, 14, 28, 56}, 4);
}

typedef struct heat_row {
    uint32_t shape;
    size_t pairs, wins;
    double total; /* of its shares over all problems */
    double sum[CLASSES_MAX];
    size_t count[CLASSES_MAX];
} heat_row;

typedef struct heat_map {
    const kw_report_data *report_data;
    const class_list *classes;
    heat_row *rows;
    size_t count;
} heat_map;

/* The best share of each shape of one problem group; best has a place for each shape, negative where it has no kernel, and is left so. */
static void add_group_to_map(const heat_map *map, const kw_report_group *problem_group, double *best) {
    const kw_report_data *report_data = map->report_data;
    const kw_problem *problem = &report_data->problems[problem_group->problem].value;
    int columns[GROUPS];
    if (problem->op == KW_GEMM) {
        gemm_columns(&problem->gemm, columns);
    } else {
        conv_columns(problem, columns);
    }
    for (size_t e = problem_group->first; e < problem_group->first + problem_group->count; e++) {
        const kw_report_entry *entry = &report_data->entries[e];
        if (entry->score_ns > 0 || kw_outcome_is_failure(entry->outcome)) {
            double *share = &best[report_data->configs[entry->config].shape];
            *share = fmax(*share, fmin(kw_report_entry_share(problem_group, entry), 1));
        }
    }
    for (size_t e = problem_group->first; e < problem_group->first + problem_group->count; e++) {
        uint32_t shape = report_data->configs[report_data->entries[e].config].shape;
        heat_row *row = &map->rows[shape];
        row->wins += e == problem_group->best;
        for (int g = 0; g < GROUPS && best[shape] >= 0; g++) {
            row->sum[columns[g]] += best[shape];
            row->count[columns[g]]++;
        }
        row->pairs += best[shape] >= 0;
        row->total += fmax(best[shape], 0);
        best[shape] = -1;
    }
}

static int compare_row(const void *a, const void *b) {
    const heat_row *x = a, *y = b;
    if (x->wins != y->wins) {
        return x->wins < y->wins ? 1 : -1;
    }
    if (x->total != y->total) {
        return x->total < y->total ? 1 : -1;
    }
    return x->pairs != y->pairs ? (x->pairs < y->pairs ? 1 : -1) : (x->shape > y->shape) - (x->shape < y->shape);
}

/* --- the drawing ---------------------------------------------------------------------------------------------- */

static void heat_map_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const heat_map *map = user;
    const heat_row *of = &map->rows[row];
    if (column == 0) {
        kw_text_add(out, map->report_data->shapes.text[of->shape]);
    } else if (column < 3) {
        kw_text_addf(out, "%zu", column == 1 ? of->wins : of->pairs);
    } else if (of->count[column - 3]) {
        kw_text_addf(out, "%.3f (%zu)", of->sum[column - 3] / (double)of->count[column - 3], of->count[column - 3]);
    }
}

static void draw_cell(kw_svg *svg, const heat_map *map, size_t row, int column) {
    const heat_row *of = &map->rows[row];
    if (!of->count[column]) {
        return;
    }
    double share = of->sum[column] / (double)of->count[column], y = -(double)row, at[2];
    kw_text title = {0};
    char word[24];
    kw_text_addf(&title, "%s, %s: %.1f %% of the oracle in the mean of %zu problems", map->report_data->shapes.text[of->shape],
                 map->classes->names[column], 100 * share, of->count[column]);
    kw_svg_cell(svg, (double[]){column + 0.03, y - 0.03}, (double[]){column + 0.97, y - 0.97}, share, kw_text_string(&title));
    kw_escape_drop(&title, svg->out);
    kw_svg_map(svg, column + 0.5, y - 0.5, at);
    snprintf(word, sizeof word, "%.0f", 100 * share);
    const char *class = share < 0.6 ? "pale" : "dark";
    kw_svg_text(svg, (double[]){at[0], at[1] - 0.5}, class, "middle", word);
    snprintf(word, sizeof word, "n %zu", of->count[column]);
    kw_svg_text(svg, (double[]){at[0], at[1] + 9}, strcmp(class, "pale") ? "dark small" : "pale small", "middle", word);
}

static void draw_heat_map(kw_page *page, const heat_map *map, const char *caption) {
    int columns = map->classes->start[GROUPS];
    size_t rows = map->count < ROWS_MAX ? map->count : ROWS_MAX;
    kw_svg svg;
    kw_page_chart(page, &svg, caption,
                  &(kw_svg_spec){.label = "Mean share of the oracle by kernel shape and class of problems",
                                 .height = 24 * (double)rows,
                                 .left = 236,
                                 .top = 36,
                                 .x = {.title = "", .high = columns, .hidden = true},
                                 .y = {.title = "", .low = -(double)rows, .hidden = true}});
    for (int c = 0; c < columns; c++) {
        double at[2];
        kw_svg_map(&svg, c + 0.5, 0, at);
        kw_svg_text(&svg, (double[]){at[0], at[1] - 7}, "column", "middle", map->classes->labels[c]);
    }
    for (int g = 0; g < GROUPS; g++) {
        double at[2];
        kw_svg_map(&svg, 0.5 * (map->classes->start[g] + map->classes->start[g + 1]), 0, at);
        kw_svg_text(&svg, (double[]){at[0], at[1] - 23}, "name", "middle", map->classes->groups[g]);
        if (g) {
            kw_svg_rule_x(&svg, map->classes->start[g], "");
        }
    }
    for (size_t r = 0; r < rows; r++) {
        double at[2];
        kw_text name = {0};
        kw_escape_add_truncated(&name, map->report_data->shapes.text[map->rows[r].shape], KW_ESCAPE_TERMINAL, 40);
        kw_svg_map(&svg, 0, -(double)r - 0.5, at);
        kw_svg_text(&svg, (double[]){at[0] - 6, at[1] + 4}, "name", "end", kw_text_string(&name));
        kw_escape_drop(&name, &page->out);
        for (int c = 0; c < columns; c++) {
            draw_cell(&svg, map, r, c);
        }
    }
    kw_page_chart_end(page, &svg);
    kw_text_add(&page->out, "<p class=\"scale\">share of the oracle: ");
    for (int i = 0; i < 10; i++) {
        kw_text_addf(&page->out, "<span class=\"h%d %s\">%d-%d %%</span>", i, i < 6 ? "pale" : "dark", 10 * i, 10 * i + 10);
    }
    kw_text_add(&page->out, "</p>\n");
    if (rows < map->count) {
        kw_text_addf(&page->out, "<p>The %zu shapes that win most often of %zu; the table has more of them.</p>\n", rows, map->count);
    }
}

/* Names of the table: three fixed ones before the classes. */
static const char **table_columns(kw_page *page, const class_list *classes) {
    const char **names = kw_page_array(page, CLASSES_MAX + 4, sizeof *names);
    if (names) {
        names[0] = "shape";
        names[1] = "best of its problem";
        names[2] = "problems";
        for (int i = 0; classes->names[i]; i++) {
            names[3 + i] = classes->names[i];
        }
    }
    return names;
}

static void add_heat_panel(kw_page *page, const kw_panel *panel) {
    const kw_report_data *report_data = page->report_data;
    size_t shapes = report_data->shapes.count, problems = 0, empty = 0;
    heat_map map = {report_data, panel->op == KW_GEMM ? &gemm_classes : &conv_classes, kw_page_array(page, shapes, sizeof *map.rows), 0};
    double *best = kw_page_array(page, shapes, sizeof *best);
    const char **names = table_columns(page, map.classes);
    if (!map.rows || !best || !names) {
        return;
    }
    for (size_t i = 0; i < shapes; i++) {
        map.rows[i].shape = (uint32_t)i;
        best[i] = -1;
    }
    for (size_t i = 0; i < report_data->problem_group_count; i++) {
        const kw_report_group *problem_group = &report_data->problem_groups[i];
        if (kw_panel_has(report_data, panel, problem_group)) {
            problems += problem_group->oracle_ns > 0;
            empty += problem_group->oracle_ns <= 0;
            if (problem_group->oracle_ns > 0) {
                add_group_to_map(&map, problem_group, best);
            }
        }
    }
    qsort(map.rows, shapes, sizeof *map.rows, compare_row);
    while (map.count < shapes && map.rows[map.count].pairs) {
        map.count++;
    }
    kw_text caption = {0}, left_out = {0};
    kw_panel_print(&caption, report_data, panel);
    if (map.count) {
        draw_heat_map(page, &map, kw_text_string(&caption));
        kw_text_addf(&left_out, "%zu problems without a good kernel, kernels that do not serve", empty);
        kw_page_note(page, panel->target, problems, "problems", kw_text_string(&left_out));
        kw_page_table(page, &(kw_table){"heat", names, map.count, heat_map_cell, &map});
    } else {
        kw_text_addf(&left_out, "%s: no problem has a good kernel.", kw_text_string(&caption));
        kw_page_empty(page, kw_text_string(&left_out));
    }
    kw_escape_drop(&caption, &page->out);
    kw_escape_drop(&left_out, &page->out);
}

void kw_figure_heat(kw_page *page) {
    kw_panel panels[KW_PANELS_MAX];
    size_t more, count = kw_panels(page->report_data, panels, true, true, &more);
    kw_page_begin(
        page, "heat", "Which shape for which problem",
        "A row is a kernel shape: a family with the axes that cut its tile. Each cell is the mean share of the oracle that the best kernel "
        "of the shape reaches on the problems of a class, and how many these are. Each problem is in one column of each group: filter, "
        "channels per group, width of the output (GEMM: m, n, k). The shapes that win most often come first, then those with the highest "
        "shares in all.");
    for (size_t i = 0; i < count; i++) {
        add_heat_panel(page, &panels[i]);
    }
    kw_panel_more(page, more);
    if (!count) {
        kw_page_empty(page, "The store has no rows with a problem that can be read.");
    }
    kw_page_end(page);
}
