/* prune.c: kw_prune: a cover for each operation and type, what it keeps on problems that did not choose it, and the catalog. */
#include "base/sized.h"
#include "base/os/file.h"
#include "base/text.h"
#include "prune/set_cover.h"
#include "learn/data/split/folds.h"

#include <kernelwright_tune.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FOLDS = 5 };

typedef struct session {
    const kw_prune_options *options;
    kw_prune_report *report;
    double keep, worst;
    kw_dataset dataset;
    kw_group_oracle *oracles;
    int32_t *fold, folds; /* folds below 2: nothing can be left out */
    kw_text lines;        /* of the catalog */
    kw_error *err;
} session;

/* --- one group -------------------------------------------------------------------------------------------------------- */

static const kw_set_cover_subset everything = {0};

static kw_status fill_curve(session *s, kw_prune_group *group, const kw_set_cover *cover, const size_t *order, size_t count) {
    kw_status status = KW_OK;
    for (int i = 0; i < KW_PRUNE_CURVE; i++) {
        kw_set_cover_score score;
        size_t first = (size_t)1 << i;
        group->curve[i] = NAN;
        if (first <= count && !status) {
            status = kw_set_cover_evaluate(&score, cover, &everything, order, first, s->err);
            group->curve[i] = score.sum / (double)score.problem_groups;
        }
    }
    return status;
}

/* Each fold is evaluated by what the others choose. order has room for all kernels. */
static kw_status evaluate_held_out(session *s, kw_prune_group *group, const kw_set_cover *cover, size_t *order) {
    double sum = 0;
    size_t problem_groups = 0;
    kw_status status = KW_OK;
    group->held_out = group->held_out_worst = NAN;
    for (int32_t f = 0; f < s->folds && s->folds > 1 && !status; f++) {
        kw_set_cover_subset others = {s->fold, f, true}, own = {s->fold, f, false};
        kw_set_cover_score score = {0};
        size_t count = 0;
        status = kw_set_cover_select(order, &count, cover, &others, s->keep, s->worst, s->err);
        status = status ? status : kw_set_cover_evaluate(&score, cover, &own, order, count, s->err);
        if (!status && score.problem_groups) {
            sum += score.sum;
            problem_groups += score.problem_groups;
            group->held_out_worst = fmin(isnan(group->held_out_worst) ? 1 : group->held_out_worst, score.worst);
        }
    }
    group->held_out = problem_groups ? sum / (double)problem_groups : NAN;
    return status;
}

static void add_lines(session *s, const kw_prune_group *group, const kw_set_cover *cover, const size_t *order, size_t count) {
    kw_text_addf(&s->lines, "# %s %s: %zu of %lld kernels keep %.2f %%, %.2f %% at worst, on %lld problem groups\n", kw_op_name(group->op),
                 kw_dtype_name(group->dtype), count, (long long)group->kernels, 100 * group->share, 100 * group->worst,
                 (long long)group->problem_groups);
    for (size_t i = 0; i < count; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &kw_set_cover_kernels(cover)->configs[order[i]]);
        kw_text_addf(&s->lines, "%s\n", text);
    }
}

static kw_status prune_group(session *s, kw_prune_group *group) {
    kw_set_cover *cover = NULL;
    size_t *order = NULL, *other = NULL, count = 0;
    kw_set_cover_score score;
    kw_status status = kw_set_cover_open(&cover, &s->dataset, s->oracles, group->op, group->dtype, s->err);
    if (status) {
        return status;
    }
    group->kernels = (int64_t)kw_set_cover_kernels(cover)->count;
    group->problem_groups = (int64_t)kw_set_cover_problem_groups(cover);
    order = calloc((size_t)group->kernels + 1, sizeof *order);
    other = calloc((size_t)group->kernels + 1, sizeof *other);
    status = order && other ? KW_OK : kw_fail_memory(s->err, "a choice of kernels");
    status = status ? status : kw_set_cover_select(order, &count, cover, &everything, s->keep, s->worst, s->err);
    status = status ? status : kw_set_cover_evaluate(&score, cover, &everything, order, count, s->err);
    if (!status) {
        group->chosen = (int64_t)count;
        group->share = score.sum / (double)score.problem_groups;
        group->worst = score.worst;
        add_lines(s, group, cover, order, count);
        status = fill_curve(s, group, cover, order, count);
    }
    status = status ? status : evaluate_held_out(s, group, cover, other);
    free(order);
    free(other);
    kw_set_cover_close(&cover);
    return status;
}

/* --- all groups ------------------------------------------------------------------------------------------------------- */

static bool has_good_group(const session *s, kw_op op, kw_dtype dtype) {
    for (size_t c = 0; c < s->dataset.problem_group_count; c++) {
        const kw_problem *problem = &s->dataset.problem_groups[c].problem;
        if (problem->op == op && problem->dtype == dtype && s->oracles[c].oracle_ns > 0) {
            return true;
        }
    }
    return false;
}

/* A group whose curve has ended keeps what it kept. */
static void sum_groups(kw_prune_report *report) {
    kw_prune_group *all = &report->all;
    double held_out = 0, held_out_groups = 0, problem_groups;
    *all = (kw_prune_group){.worst = 1, .held_out = NAN, .held_out_worst = NAN};
    for (int32_t i = 0; i < report->groups; i++) {
        const kw_prune_group *group = &report->group[i];
        problem_groups = (double)group->problem_groups;
        all->problem_groups += group->problem_groups;
        all->kernels += group->kernels;
        all->chosen += group->chosen;
        all->share += problem_groups * group->share;
        all->worst = fmin(all->worst, group->worst);
        for (int k = 0; k < KW_PRUNE_CURVE; k++) {
            all->curve[k] += problem_groups * (isnan(group->curve[k]) ? group->share : group->curve[k]);
        }
        if (!isnan(group->held_out)) {
            held_out += problem_groups * group->held_out;
            held_out_groups += problem_groups;
            all->held_out_worst = fmin(isnan(all->held_out_worst) ? 1 : all->held_out_worst, group->held_out_worst);
        }
    }
    problem_groups = (double)all->problem_groups;
    all->share /= problem_groups;
    all->held_out = held_out_groups > 0 ? held_out / held_out_groups : NAN;
    for (int k = 0; k < KW_PRUNE_CURVE; k++) {
        bool any = false;
        for (int32_t i = 0; i < report->groups; i++) {
            any = any || !isnan(report->group[i].curve[k]);
        }
        all->curve[k] = any ? all->curve[k] / problem_groups : NAN;
    }
}

static kw_status prune_all(session *s) {
    kw_prune_report *report = s->report;
    kw_status status = KW_OK;
    for (int op = 0; op < KW_OP_COUNT && !status; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT && !status; dtype++) {
            if (has_good_group(s, (kw_op)op, (kw_dtype)dtype)) {
                kw_prune_group *group = &report->group[report->groups++];
                *group = (kw_prune_group){.op = (kw_op)op, .dtype = (kw_dtype)dtype};
                status = prune_group(s, group);
            }
        }
    }
    if (!status && !report->groups) {
        status = kw_fail(s->err, KW_FAILED, "there is no good, timed row to choose from; kwright sweep makes rows");
    }
    if (!status) {
        sum_groups(report);
    }
    return status;
}

/* --- the file --------------------------------------------------------------------------------------------------------- */

/* The command on one line: what ends a line would end the comment that it stands in. */
static void add_origin(kw_text *text, const session *s, const char *oracle) {
    const char *command = s->options->command;
    kw_text_addf(text, "%s of rows %s%s", oracle, s->dataset.digest, command && *command ? ", by " : "");
    for (; command && *command; command++) {
        kw_text_addf(text, "%c", (unsigned char)*command < ' ' ? ' ' : *command);
    }
    kw_text_add(text, "\n");
}

static kw_status write_pruned_catalog(session *s) {
    const char *out = s->options->out;
    const kw_prune_group *all = &s->report->all;
    size_t size = out ? strlen(out) : 0;
    bool is_set = size > 4 && !strcmp(out + size - 4, ".lua");
    char about[160];
    kw_text text = {0};
    kw_line line = {.data = about, .capacity = sizeof about};
    if (!out) {
        return KW_OK;
    }
    kw_line_addf(&line, "%lld of %lld kernels that keep %.2f %% of the best, %.2f %% at worst, on %lld problem groups",
                 (long long)all->chosen, (long long)all->kernels, 100 * all->share, 100 * all->worst, (long long)all->problem_groups);
    if (is_set) {
        add_origin(&text, s, "--");
        kw_text_addf(&text, "return {\n    about = \"%s\",\n    catalog = [[\n", about);
    } else {
        kw_text_addf(&text, "# %s\n", about);
        add_origin(&text, s, "#");
    }
    kw_text_add(&text, kw_text_string(&s->lines));
    kw_text_add(&text, is_set ? "]],\n}\n" : "");
    kw_status status =
        text.failed || s->lines.failed ? kw_fail_memory(s->err, "a catalog") : kw_file_replace(out, text.data, text.size, 0644, s->err);
    kw_text_drop(&text);
    return status;
}

static kw_status prepare_prune(session *s) {
    const kw_prune_options *o = s->options;
    kw_dataset_filter filter = {.by_op = o->by_op, .by_dtype = o->by_dtype, .op = o->op, .dtype = o->dtype};
    kw_status status = kw_dataset_open(&s->dataset, o->stores, o->store_count, &filter, s->err);
    status = status ? status : kw_group_oracles_create(&s->oracles, &s->dataset, s->err);
    s->fold = calloc(s->dataset.problem_group_count + 1, sizeof *s->fold);
    if (!status && !s->fold) {
        status = kw_fail_memory(s->err, "folds");
    }
    return status ? status : kw_folds_draw(s->fold, &s->folds, &s->dataset, KW_BY_SHAPE, FOLDS, o->seed, s->err);
}

kw_status kw_prune(const kw_prune_options *options, kw_prune_report *report, kw_error *err) {
    if (!options || !report || !options->stores) {
        return kw_fail(err, KW_ILLEGAL, "kw_prune: %s is NULL", report ? "options or its stores" : "report");
    }
    *report = (kw_prune_report){0};
    kw_prune_options own;
    kw_status status = KW_SIZED_READ(&own, kw_prune_options, seed, options, err);
    if (status) {
        return status;
    }
    options = &own;
    session s = {.options = options,
                 .report = report,
                 .keep = options->keep > 0 ? fmin(1, options->keep) : 0.99,
                 .worst = options->worst > 0   ? fmin(1, options->worst)
                          : options->worst < 0 ? 0
                                               : 0.9,
                 .err = err};
    status = prepare_prune(&s);
    status = status ? status : prune_all(&s);
    status = status ? status : write_pruned_catalog(&s);
    kw_text_drop(&s.lines);
    kw_dataset_close(&s.dataset);
    free(s.oracles);
    free(s.fold);
    return status;
}
