/* training_table.c: what a model learns from, for a trainer of one's own: the pairs, features and labels of kw_train and no others, because the
 * same functions make them. */
#include "base/sized.h"
#include "base/text.h"
#include "learn/data/split/folds.h"
#include "learn/data/labels.h"
#include "learn/fit/quantities.h"

#include <kernelwright_tune/learn.h>

#include <stdlib.h>

struct kw_training_table {
    kw_dataset dataset;
    kw_native_features *native;
    kw_training_view view;
    kw_training_column *column;
    double *values, *times;
    float *label;
    int64_t *group;
    uint64_t *shape;
    kw_outcome *outcome;
};

void kw_training_table_close(kw_training_table **table) {
    kw_training_table *t = *table;
    if (!t) {
        return;
    }
    kw_dataset_close(&t->dataset);
    kw_native_features_close(&t->native);
    free(t->column);
    free(t->values);
    free(t->times);
    free(t->label);
    free(t->group);
    free(t->shape);
    free(t->outcome);
    free(t);
    *table = NULL;
}

static kw_status make_room(kw_training_table *t, size_t columns, kw_error *err) {
    size_t pairs = t->dataset.pair_count + 1;
    t->column = calloc(columns, sizeof *t->column);
    t->times = calloc(pairs, sizeof *t->times);
    t->label = calloc(pairs, sizeof *t->label);
    t->group = calloc(pairs, sizeof *t->group);
    t->shape = calloc(pairs, sizeof *t->shape);
    t->outcome = calloc(pairs, sizeof *t->outcome);
    bool good = t->column && t->times && t->label && t->group && t->shape && t->outcome;
    return good ? KW_OK : kw_fail_memory(err, "the training table");
}

static void fill(kw_training_table *t, const kw_feature_table *features) {
    for (size_t i = 0; i < features->count; i++) {
        const kw_feature *f = &features->features[i];
        t->column[i] = (kw_training_column){f->name, f->group, f->unit, f->formula};
    }
    for (size_t g = 0; g < t->dataset.problem_group_count; g++) {
        const kw_problem_group *group = &t->dataset.problem_groups[g];
        for (size_t i = group->first; i < group->first + group->count; i++) {
            t->group[i] = (int64_t)g;
            t->shape[i] = kw_fold_group(group, KW_BY_SHAPE);
            t->outcome[i] = t->dataset.pairs[i].outcome;
        }
    }
    t->view = (kw_training_view){.pairs = t->dataset.pair_count,
                                 .columns = features->count,
                                 .groups = t->dataset.problem_group_count,
                                 .column = t->column,
                                 .values = t->values,
                                 .time_ns = t->times,
                                 .label = t->label,
                                 .group = t->group,
                                 .shape = t->shape,
                                 .outcome = t->outcome};
}

kw_status kw_training_table_open(kw_training_table **table, const kw_training_options *given, kw_error *err) {
    kw_training_options o;
    kw_model_quantity quantity = KW_PREDICTS_RATIO;
    *table = NULL;
    kw_status status = KW_SIZED_READ(&o, kw_training_options, quantity, given, err);
    if (!status && o.quantity) {
        kw_scan scan = kw_scan_string(o.quantity);
        kw_word word = {0};
        kw_scan_word(&scan, &word);
        status = kw_quantity_find(&quantity, word, err);
    }
    if (status) {
        return status;
    }
    kw_training_table *t = calloc(1, sizeof *t);
    if (!t) {
        return kw_fail_memory(err, "the training table");
    }
    kw_dataset_filter filter = {.by_op = o.by_op, .by_dtype = o.by_dtype, .op = o.op, .dtype = o.dtype};
    status = kw_dataset_open(&t->dataset, o.stores, o.store_count, &filter, err);
    status = status ? status : kw_native_features_open(&t->native, err);
    status = status ? status : kw_dataset_features(&t->values, &t->dataset, t->native, err);
    status = status ? status : make_room(t, kw_native_features_table(t->native)->count, err);
    if (status) {
        kw_training_table_close(&t);
        return status;
    }
    kw_label_times(t->times, &t->dataset);
    kw_labels_make(t->label, &t->dataset, t->times, quantity);
    fill(t, kw_native_features_table(t->native));
    *table = t;
    return KW_OK;
}

const kw_training_view *kw_training_table_view(const kw_training_table *table) {
    return &table->view;
}

kw_status kw_training_pair_text(char problem[KW_PROBLEM_TEXT_MAX], char config[KW_CONFIG_TEXT_MAX], const kw_training_table *table,
                                size_t pair, kw_error *err) {
    if (pair >= table->dataset.pair_count) {
        return kw_fail(err, KW_ILLEGAL, "pair %zu: the table has %zu; count from 0", pair, table->dataset.pair_count);
    }
    kw_problem_print(problem, KW_PROBLEM_TEXT_MAX, &table->dataset.problem_groups[table->group[pair]].problem);
    kw_config_print(config, KW_CONFIG_TEXT_MAX, &table->dataset.pairs[pair].config);
    return KW_OK;
}
