/* evaluation_features.c: which features a model asks for, by the number of its splits: feature_importances_QUANTITY.json beside the
 * model, or beside the held-out predictions of its training. */
#include "report/evaluation/evaluation_page.h"

#include "base/os/file.h"
#include "json/json_read.h"
#include "predict/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, FILE_MAX = 1 << 20 };

typedef struct feature {
    const char *name;
    double splits;
} feature;

typedef struct feature_list {
    feature *features; /* most splits first */
    size_t count;
    double all;
} feature_list;

static const char *const columns[] = {"feature", "splits", "share", NULL};

static void feature_cell(const void *user, size_t row, size_t column, kw_text *out) {
    const feature_list *list = user;
    const feature *f = &list->features[row];
    if (column == 0) {
        kw_text_add(out, f->name);
    } else if (column == 1) {
        kw_text_addf(out, "%.0f", f->splits);
    } else {
        kw_text_addf(out, "%.4f", f->splits / list->all);
    }
}

static int by_splits(const void *left, const void *right) {
    const feature *a = left, *b = right;
    return a->splits != b->splits ? (a->splits < b->splits) - (a->splits > b->splits) : strcmp(a->name, b->name);
}

/* In the folder of a model, or of a file of predictions; its name ends in what the model predicts. NULL: there is no such file, or it
 * cannot be read. */
static json_t *read_importances(kw_page *page, const char *by, bool model) {
    const char *slash = strrchr(by, '/'), *dot = strrchr(by, '.');
    bool folder = model && (!dot || strcmp(dot, ".spec") != 0);
    size_t size = folder ? strlen(by) : slash ? (size_t)(slash - by) : 0, bytes;
    char *text = NULL;
    kw_status status = KW_MISSING;
    for (int quantity = 0; quantity < KW_PREDICTS_COUNT && status; quantity++) {
        kw_text path = {0};
        kw_text_add_bytes(&path, by, size);
        kw_text_addf(&path, "%sfeature_importances_%s.json", size ? "/" : "", kw_model_quantity_name((kw_model_quantity)quantity));
        status = kw_file_read(&page->scratch, kw_text_string(&path), FILE_MAX, &text, &bytes, NULL);
        kw_escape_drop(&path, &page->out);
    }
    json_t *json = NULL;
    if (!status) {
        kw_json_read(&json, "importances", text, bytes, NULL);
    }
    return json;
}

static void read_feature_list(kw_page *page, feature_list *list, json_t *json) {
    const char *name;
    json_t *value;
    list->features = kw_page_array(page, json_object_size(json), sizeof *list->features);
    if (list->features) {
        json_object_foreach(json, name, value) {
            double splits = json_number_value(value);
            if (splits > 0 && splits < HUGE_VAL) {
                list->features[list->count++] = (feature){name, splits};
                list->all += splits;
            }
        }
        qsort(list->features, list->count, sizeof *list->features, by_splits);
    }
}

static void draw_features(kw_page *page, const feature_list *list) {
    size_t bars = list->count < SHOWN ? list->count : SHOWN;
    kw_svg svg;
    kw_page_chart(
        page, &svg, "Features with the most splits",
        &(kw_svg_spec){.label = "Splits by feature",
                       .height = 32 * (double)bars,
                       .left = 14,
                       .x = {.title = "share of all splits", .high = 1.05 * list->features[0].splits / list->all, .unit = KW_UNIT_PERCENT},
                       .y = {.title = "", .low = -(double)bars, .hidden = true}});
    for (size_t i = 0; i < bars; i++) {
        const feature *f = &list->features[i];
        double y = -(double)i, at[2];
        kw_text title = {0};
        kw_escape_add_truncated(&title, f->name, KW_ESCAPE_TERMINAL, 60);
        kw_text_addf(&title, ": %.0f, %.1f %%", f->splits, 100 * f->splits / list->all);
        kw_svg_bar(&svg, (double[]){0, y - 0.62}, (double[]){f->splits / list->all, y - 0.92}, 2, kw_text_string(&title));
        kw_svg_map(&svg, 0, y - 0.48, at);
        kw_svg_text(&svg, (double[]){at[0] + 6, at[1]}, "word", "start", kw_text_string(&title));
        kw_escape_drop(&title, &page->out);
    }
    kw_page_chart_end(page, &svg);
}

void kw_evaluation_chart_features(kw_evaluation_page *view) {
    const kw_evaluation *e = view->selectors[0].evaluation;
    kw_page *page = &view->page;
    feature_list list = {0};
    kw_page_begin(page, "features", "Features that count",
                  "How many of the model's splits ask for a feature. Features that say nearly the same share their splits, so a low bar "
                  "does not mean "
                  "that the feature could go.");
    json_t *json = e->scores.kind == KW_SCORES_MODEL ? read_importances(page, e->by, kw_scorer_is_model(e->by)) : NULL;
    if (json_is_object(json)) {
        read_feature_list(page, &list, json);
    }
    if (list.count) {
        draw_features(page, &list);
        kw_evaluation_page_note(view, list.count, "features", "features without a split");
        kw_page_table(page, &(kw_table){"features", columns, list.count, feature_cell, &list});
    } else {
        kw_page_empty(page, e->scores.kind == KW_SCORES_MODEL
                                ? "There is no list of importances (feature_importances_*.json) beside the model."
                                : "No model selected here, so there are no features.");
    }
    kw_page_end(page);
    json_decref(json);
}
