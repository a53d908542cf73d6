/* card.c: the model card. Figures are those held out; the worst families are named, because a mean hides them. */
#include "learn/model/card.h"

#include <stdlib.h>
#include <string.h>

enum { WORST_SHOWN = 8 };

/* --- families by what is lost in them --------------------------------------------------------------------------------- */

typedef struct family {
    const char *bucket;
    int64_t problem_groups;
    double sum; /* of efficiencies */
} family;

static int by_family_bucket(const void *left, const void *right) {
    return strcmp(((const family *)left)->bucket, ((const family *)right)->bucket);
}

static int by_mean(const void *left, const void *right) {
    const family *a = left, *b = right;
    double x = a->sum / (double)a->problem_groups, y = b->sum / (double)b->problem_groups;
    return x < y ? -1 : x > y ? 1 : by_family_bucket(left, right);
}

/* One entry a family, the worst first, of selections held out with their families; the caller frees. */
static kw_status find_families(family **families, size_t *count, const kw_artifacts *a, kw_error *err) {
    const kw_trainer *t = a->trainer;
    const double *ns = t->folds[KW_BY_FAMILY] > 1 ? a->cv->ns[KW_BY_FAMILY] : NULL;
    family *made = calloc(t->dataset->problem_group_count + 1, sizeof *made);
    *families = made;
    *count = 0;
    if (!made) {
        return kw_fail_memory(err, "the model card");
    }
    size_t evaluated = 0;
    for (size_t c = 0; ns && c < t->dataset->problem_group_count; c++) {
        kw_selection selection;
        if (kw_selection_make(&selection, t->dataset, c, &t->oracles[c], ns)) {
            made[evaluated++] = (family){t->dataset->problem_groups[c].bucket, 1, selection.efficiency};
        }
    }
    qsort(made, evaluated, sizeof *made, by_family_bucket);
    for (size_t i = 0; i < evaluated; i++) {
        if (*count && !strcmp(made[*count - 1].bucket, made[i].bucket)) {
            made[*count - 1].problem_groups++;
            made[*count - 1].sum += made[i].sum;
        } else {
            made[(*count)++] = made[i];
        }
    }
    qsort(made, *count, sizeof *made, by_mean);
    return KW_OK;
}

/* --- for people ------------------------------------------------------------------------------------------------------- */

static void add_figures(kw_text *text, const char *what, const kw_train_metrics *f) {
    if (f->problem_groups) {
        kw_text_addf(text, "| %s | %lld | %.2f %% | %.2f %% | %.2f %% | %.2f %% | %.2f %% | %.1f %% | %lld |\n", what,
                     (long long)f->problem_groups, 100 * f->mean, 100 * f->median, 100 * f->p10, 100 * f->worst, 100 * f->regret,
                     100 * f->top1, (long long)f->failed);
    }
}

static void add_served_line(kw_text *text, const kw_dataset *dataset) {
    int64_t problem_groups[KW_OP_COUNT][KW_DTYPE_COUNT] = {{0}};
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        problem_groups[dataset->problem_groups[i].problem.op][dataset->problem_groups[i].problem.dtype]++;
    }
    kw_text_add(text, "\n| operation | type | problems |\n|---|---|---|\n");
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (problem_groups[op][dtype]) {
                kw_text_addf(text, "| %s | %s | %lld |\n", kw_op_name((kw_op)op), kw_dtype_name((kw_dtype)dtype),
                             (long long)problem_groups[op][dtype]);
            }
        }
    }
}

static void print_markdown(kw_text *text, const kw_artifacts *a, const family *families, size_t count) {
    const kw_train_report *r = a->report;
    const kw_trainer *t = a->trainer;
    char target[KW_TARGET_TEXT_MAX], schema[33];
    kw_target_print(target, sizeof target, &t->dataset->problem_groups[0].target);
    kw_schema_hash(schema, t->features);
    kw_text_addf(text,
                 "# Model card\n\nRanks kernels for a problem by predicted time, for choosing one, or a few to measure. It predicts %s "
                 "(docs/selection/training.md) and is no guide to absolute times elsewhere than on its targets.\n\n",
                 r->quantity);
    kw_text_addf(text, "- Trained on `%s`%s.\n", target,
                 r->problem_groups && t->dataset->problem_groups[t->dataset->problem_group_count - 1].target.units &&
                         !kw_target_is_same(&t->dataset->problem_groups[0].target,
                                            &t->dataset->problem_groups[t->dataset->problem_group_count - 1].target)
                     ? " and others, see model.spec"
                     : "");
    kw_text_addf(
        text,
        "- Rows: %lld kernels on %lld problems of %lld families; %lld good, %lld dropped as slow, %lld failed. Left out: %lld that "
        "do not fit, %lld of kernels or problems that are not known any more, %lld without a time.\n",
        (long long)r->pairs, (long long)r->problems, (long long)r->families, (long long)r->good, (long long)r->slow, (long long)r->failed,
        (long long)t->dataset->outcome[KW_UNFIT], (long long)r->foreign, (long long)r->untimed);
    kw_text_addf(text, "- Forest: %lld trees, %lld leaves, %lld bytes compressed, %lld in memory. %s %s, seed %llu.\n", (long long)r->trees,
                 (long long)r->leaves, (long long)r->bytes, (long long)r->memory_bytes, a->library,
                 *a->library_version ? a->library_version : "(version unknown)", (unsigned long long)a->options->seed);
    kw_text_addf(text, "- Digests: model `%s`, data `%s`, feature schema `%s`.\n", r->digest, t->dataset->digest, schema);
    add_served_line(text, t->dataset);
    kw_text_add(
        text,
        "\n## Held out\n\nEfficiency of the first selection against the oracle of the measured kernels, which is chosen by one half of the "
        "samples and timed by the other. No fold was scored by a model that saw the shape (in any direction, type or layout), or, "
        "for families, any problem of its family.\n\n| left out | problems | mean | median | P10 | worst | time-weighted regret | "
        "top 1 | failed |\n|---|---|---|---|---|---|---|---|---|\n");
    add_figures(text, "shapes", &r->shapes);
    add_figures(text, "families", &r->unseen_families);
    add_figures(text, "(analytic estimate, no model)", &r->estimate);
    kw_text_add(
        text,
        "\n## Weakest families\n\nFamilies: operation, spatial axes, filter (1, to 3, beyond), stride, dilation, kind, extent (to 4, "
        "16, 64, beyond), channels (to 16, 64, 256, beyond); GEMM: classes of m, n, k.\n\n| family | problems | mean |\n|---|---|---|\n");
    for (size_t i = 0; i < count && i < WORST_SHOWN; i++) {
        kw_text_addf(text, "| %s | %lld | %.2f %% |\n", families[i].bucket, (long long)families[i].problem_groups,
                     100 * families[i].sum / (double)families[i].problem_groups);
    }
    kw_text_addf(
        text,
        "\n## Limits\n\nTimes are of %s weights and %s tensors. The candidates are what was measured: a kernel that was not among them is "
        "scored, but was never seen. Problems far outside the sizes trained on are extrapolated by constants, as trees do.\n\n"
        "## Again\n\n    %s\n\nLicence: that of Kernelwright.\n",
        t->dataset->problem_groups[0].packed ? "packed" : "fresh", t->dataset->problem_groups[0].cold ? "cold" : "hot",
        a->options->command ? a->options->command : "kwright train");
}

/* --- for machines ----------------------------------------------------------------------------------------------------- */

void kw_metrics_json(kw_json_out *json, const kw_train_metrics *metrics) {
    kw_json_int(json, "problem_groups", metrics->problem_groups);
    kw_json_real(json, "mean_efficiency", metrics->mean);
    kw_json_real(json, "median_efficiency", metrics->median);
    kw_json_real(json, "p10_efficiency", metrics->p10);
    kw_json_real(json, "worst_efficiency", metrics->worst);
    kw_json_real(json, "time_weighted_regret", metrics->regret);
    kw_json_real(json, "top1", metrics->top1);
    kw_json_int(json, "failed_selections", metrics->failed);
    kw_json_real(json, "r2", metrics->r2);
    kw_json_real(json, "rmse", metrics->rmse);
    kw_json_real(json, "mae", metrics->mae);
}

static void add_metrics_object(kw_json_out *json, const char *key, const kw_train_metrics *metrics) {
    kw_json_object(json, key);
    kw_metrics_json(json, metrics);
    kw_json_end(json);
}

static void print_card_json(kw_json_out *json, const kw_artifacts *a, const family *families, size_t count) {
    const kw_train_report *r = a->report;
    kw_json_object(json, NULL);
    kw_json_text(json, "predicts", r->quantity);
    kw_json_int(json, "rows", r->pairs);
    kw_json_int(json, "problems", r->problems);
    kw_json_int(json, "families", r->families);
    kw_json_int(json, "trees", r->trees);
    kw_json_int(json, "leaves", r->leaves);
    kw_json_int(json, "bytes", r->bytes);
    kw_json_int(json, "memory_bytes", r->memory_bytes);
    kw_json_text(json, "digest", r->digest);
    kw_json_text(json, "data_digest", a->trainer->dataset->digest);
    kw_json_object(json, "held_out");
    add_metrics_object(json, "shapes", &r->shapes);
    add_metrics_object(json, "families", &r->unseen_families);
    add_metrics_object(json, "estimate_alone", &r->estimate);
    kw_json_end(json);
    kw_json_array(json, "by_family");
    for (size_t i = 0; i < count; i++) {
        kw_json_object(json, NULL);
        kw_json_text(json, "family", families[i].bucket);
        kw_json_int(json, "problems", families[i].problem_groups);
        kw_json_real(json, "mean_efficiency", families[i].sum / (double)families[i].problem_groups);
        kw_json_end(json);
    }
    kw_json_end(json);
    kw_json_end(json);
}

kw_status kw_card_print(kw_text *markdown, kw_text *text, const kw_artifacts *a, kw_error *err) {
    family *families = NULL;
    size_t count = 0;
    kw_json_out json = {0};
    kw_status status = find_families(&families, &count, a, err);
    if (!status) {
        print_markdown(markdown, a, families, count);
        print_card_json(&json, a, families, count);
        *text = json.text;
    }
    free(families);
    return status;
}
