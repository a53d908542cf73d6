/* evaluation_notes.c: what the charts of an evaluation share: names of problem groups and kernels, the line below a chart, groups of
 * charts. */
#include "report/evaluation/evaluation_page.h"

#include <stdio.h>

void kw_evaluation_page_group(kw_text *out, const kw_evaluation_page *view, const kw_group_evaluation *evaluation_of_group) {
    const kw_problem_group *problem_group = &view->selectors[0].evaluation->dataset.problem_groups[evaluation_of_group->problem_group];
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, &problem_group->problem);
    kw_text_addf(out, "%s %s", text, kw_problem_group_timing(problem_group));
}

void kw_evaluation_page_config(kw_text *out, const kw_evaluation_page *view, size_t pair) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, &view->selectors[0].evaluation->dataset.pairs[pair].config);
    kw_text_add(out, text);
}

void kw_evaluation_page_note(kw_evaluation_page *view, size_t count, const char *what, const char *left_out) {
    const kw_evaluation *e = view->selectors[0].evaluation;
    kw_text *out = &view->page.out;
    kw_text_addf(out, "<p class=\"facts\">rows %.12s \xc2\xb7 selections by ", e->dataset.digest);
    kw_escape_add_truncated(out, e->by, KW_ESCAPE_HTML, 80);
    kw_text_addf(out, " \xc2\xb7 n = %zu %s \xc2\xb7 left out: ", count, what);
    kw_escape_add(out, left_out && *left_out ? left_out : "nothing", KW_ESCAPE_HTML);
    kw_text_add(out, "</p>\n");
}

bool kw_evaluation_group_has(const kw_evaluation_page *view, const kw_evaluation_group *group,
                             const kw_group_evaluation *evaluation_of_group) {
    const kw_problem *problem = &view->selectors[0].evaluation->dataset.problem_groups[evaluation_of_group->problem_group].problem;
    return problem->op == group->op && problem->dtype == group->dtype;
}

size_t kw_evaluation_groups(const kw_evaluation_page *view, kw_evaluation_group groups[KW_PANELS_MAX], size_t *more) {
    bool there[KW_OP_COUNT][KW_DTYPE_COUNT] = {{false}};
    size_t count = 0;
    for (size_t i = 0; i < view->count; i++) {
        const kw_problem *problem =
            &view->selectors[0].evaluation->dataset.problem_groups[view->selectors[0].group_evaluations[i]->problem_group].problem;
        there[problem->op][problem->dtype] = true;
    }
    *more = 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (there[op][dtype] && count < KW_PANELS_MAX) {
                groups[count] = (kw_evaluation_group){.op = (kw_op)op, .dtype = (kw_dtype)dtype};
                snprintf(groups[count].name, sizeof groups[count].name, "%s %s", kw_op_name((kw_op)op), kw_dtype_name((kw_dtype)dtype));
                count++;
            } else {
                *more += there[op][dtype];
            }
        }
    }
    return count;
}
