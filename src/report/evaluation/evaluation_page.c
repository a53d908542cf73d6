/* evaluation_page.c: the page about an evaluation. */
#include "report/evaluation/evaluation_page.h"

#include "base/sized.h"
#include "base/os/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- whose selections are shown -------------------------------------------------------------------------------------------- */

static kw_status refuse_different_rows(const kw_evaluation *const evaluations[], size_t count, kw_error *err) {
    if (!count || count > KW_EVALUATION_SELECTORS_MAX) {
        return kw_fail(err, KW_ILLEGAL, "a page shows 1 to %d evaluations, not %zu", KW_EVALUATION_SELECTORS_MAX, count);
    }
    for (size_t i = 0; i < count; i++) {
        const kw_dataset *first = &evaluations[0]->dataset, *here = &evaluations[i]->dataset;
        if (strcmp(first->digest, here->digest) != 0 || first->pair_count != here->pair_count) {
            return kw_fail(err, KW_ILLEGAL, "%.100s and %.100s were evaluated on different rows; give all the same stores",
                           evaluations[0]->by, evaluations[i]->by);
        }
    }
    return KW_OK;
}

static const kw_group_evaluation *find_group_evaluation(const kw_evaluation *e, size_t problem_group, size_t *from) {
    while (*from < e->count && e->group_evaluations[*from].problem_group < problem_group) {
        ++*from;
    }
    return *from < e->count && e->group_evaluations[*from].problem_group == problem_group ? &e->group_evaluations[*from] : NULL;
}

/* The problem groups that all evaluate; evaluations lie in the order of problem groups. */
static kw_status join_evaluations(kw_evaluation_page *view, const kw_evaluation *const evaluations[], size_t count, kw_error *err) {
    size_t from[KW_EVALUATION_SELECTORS_MAX] = {0};
    view->selector_count = count;
    for (size_t p = 0; p < count; p++) {
        view->selectors[p].evaluation = evaluations[p];
        view->selectors[p].group_evaluations = calloc(evaluations[0]->count + 1, sizeof *view->selectors[p].group_evaluations);
        if (!view->selectors[p].group_evaluations) {
            return kw_fail_memory(err, "an evaluation's page");
        }
    }
    for (size_t i = 0; i < evaluations[0]->count; i++) {
        size_t evaluating = 0;
        for (size_t p = 0; p < count; p++) {
            const kw_group_evaluation *evaluation_of_group =
                find_group_evaluation(evaluations[p], evaluations[0]->group_evaluations[i].problem_group, &from[p]);
            view->selectors[p].group_evaluations[view->count] = evaluation_of_group;
            evaluating += evaluation_of_group != NULL;
        }
        view->count += evaluating == count;
        view->alone += evaluating != count;
    }
    return view->count ? KW_OK : kw_fail(err, KW_FAILED, "%.100s and the others evaluate no problem group in common", evaluations[0]->by);
}

/* --- the page --------------------------------------------------------------------------------------------------------- */

typedef struct request {
    const kw_evaluation *const *evaluations;
    size_t count;
    const char *title;
} request;

static void add_summary(kw_evaluation_page *view, kw_error *err) {
    char *text = NULL;
    if (kw_evaluation_text(&text, view->selectors[0].evaluation, err)) {
        view->page.out.failed = true;
        return;
    }
    kw_text_add(&view->page.out, "<pre id=\"summary\">");
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        kw_text piece = {0};
        kw_text_add_bytes(&piece, line, length);
        kw_escape_add(&view->page.out, kw_text_string(&piece), KW_ESCAPE_HTML);
        kw_text_add(&view->page.out, "\n");
        kw_escape_drop(&piece, &view->page.out);
        line += length + (line[length] != 0);
    }
    kw_text_add(&view->page.out, "</pre>\n");
    kw_free(text);
}

static kw_status render_evaluations(kw_text *out, void *user, const char *script, kw_error *err) {
    const request *r = user;
    const char *title = r->title && *r->title ? r->title : "Kernelwright evaluation";
    kw_evaluation_page view = {0};
    kw_status status = join_evaluations(&view, r->evaluations, r->count, err);
    if (!status) {
        char source[80];
        kw_text_add(&view.page.out, "<h1>");
        kw_escape_add(&view.page.out, title, KW_ESCAPE_HTML);
        kw_text_add(&view.page.out, "</h1>\n<nav>");
#define CONTENTS(id, name) kw_text_add(&view.page.out, "<a href=\"#" #id "\">" name "</a> ");
        KW_EVALUATION_CHARTS(CONTENTS)
#undef CONTENTS
        kw_text_add(&view.page.out, "</nav>\n");
        add_summary(&view, err);
#define MAKE(id, name) kw_evaluation_chart_##id(&view);
        KW_EVALUATION_CHARTS(MAKE)
#undef MAKE
        snprintf(source, sizeof source, "%zu pairs of kernel and problem", r->evaluations[0]->dataset.pair_count);
        kw_page_finish(out, &view.page, title, source, script);
    }
    for (size_t p = 0; p < view.selector_count; p++) {
        free(view.selectors[p].group_evaluations);
    }
    return status;
}

kw_status kw_evaluations_html(const char *path, const kw_evaluation *const evaluations[], size_t count, const kw_report_options *options,
                              kw_error *err) {
    kw_report_options own;
    kw_status status = KW_SIZED_READ(&own, kw_report_options, script, options, err);
    request r = {evaluations, count, own.title};
    kw_text page = {0};
    status = status ? status : refuse_different_rows(evaluations, count, err);
    status = status ? status : kw_render(&page, render_evaluations, &r, own.script, err);
    status = status ? status : kw_file_replace(path, kw_text_string(&page), page.size, 0644, err);
    kw_text_drop(&page);
    return status;
}
