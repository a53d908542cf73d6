/* artifacts.c: a model's folder. */
#include "learn/model/artifacts.h"

#include "base/format/csv.h"
#include "base/os/file.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "base/format/number.h"
#include "store/io/writer.h"
#include "learn/model/card.h"
#include "learn/model/forest_text.h"
#include "json/json_write.h"
#include "learn/data/trained_on.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096 };

static kw_status write_bytes(const kw_artifacts *a, const char *name, const void *data, size_t size, kw_error *err) {
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", a->options->out, name);
    return kw_file_replace(path, data, size, 0644, err);
}

/* Writes and drops a text. */
static kw_status write_text(const kw_artifacts *a, const char *name, kw_text *text, kw_error *err) {
    kw_status status = text->failed ? kw_fail_memory(err, name) : write_bytes(a, name, kw_text_string(text), text->size, err);
    kw_text_drop(text);
    return status;
}

/* As CK Tile's heuristics call what they predict. */
static const char *published_name(kw_model_quantity quantity) {
    const char *name = kw_model_quantity_name(quantity);
    return kw_word_starts((kw_word){name, strlen(name)}, "plain_") ? name + strlen("plain_") : name;
}

/* A name with the quantity in it, as the published artifacts have. */
static const char *named(char name[64], const kw_artifacts *a, const char *stem) {
    kw_model_quantity quantity = a->hyperparameters->quantity;
    snprintf(name, 64, "%s_%s.json", stem, a->trainer->dataset->published ? published_name(quantity) : kw_model_quantity_name(quantity));
    return name;
}

static bool is_published(const kw_artifacts *a) {
    return a->trainer->dataset->published;
}

/* The forest's file: as published with published features, else our own name for the first, which then no line of the spec says. */
static const char *forest_file(char name[64], const kw_artifacts *a) {
    if (!is_published(a) && !a->beside) {
        return NULL;
    }
    snprintf(name, 64, "model_%s.lgbm.gz", published_name(a->hyperparameters->quantity));
    return name;
}

/* --- feature_spec.json -------------------------------------------------------------------------------------------- */

static uint32_t served_set(const kw_dataset *dataset, bool ops) {
    uint32_t seen = 0;
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        seen |= 1u << (ops ? (int)dataset->problem_groups[i].problem.op : (int)dataset->problem_groups[i].problem.dtype);
    }
    return seen;
}

static void add_served_names(kw_json_out *json, const kw_dataset *dataset, bool ops) {
    uint32_t seen = served_set(dataset, ops);
    kw_json_array(json, ops ? "op_type" : "dtype");
    for (int i = 0; i < 32; i++) {
        if (seen >> i & 1) {
            kw_json_text(json, NULL, ops ? kw_op_name((kw_op)i) : kw_dtype_name((kw_dtype)i));
        }
    }
    kw_json_end(json);
}

/* The different architectures; problem groups come sorted by target. */
static void add_arches(kw_json_out *json, const kw_dataset *dataset) {
    kw_json_array(json, "arch");
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        if (!i || strcmp(dataset->problem_groups[i].target.arch, dataset->problem_groups[i - 1].target.arch) != 0) {
            kw_json_text(json, NULL, dataset->problem_groups[i].target.arch);
        }
    }
    kw_json_end(json);
}

/* One word each, as the published loader takes them; lists where the rows are of several. */
static void add_published_identity(kw_json_out *json, const kw_dataset *dataset) {
    uint32_t dtypes = served_set(dataset, false);
    const kw_problem_group *first = &dataset->problem_groups[0];
    kw_json_text(json, "op_type", first->problem.op == KW_GEMM ? "gemm_universal" : "grouped_conv");
    kw_json_int(json, "feature_encoding_version", 1);
    if (dtypes & (dtypes - 1)) {
        add_served_names(json, dataset, false);
    } else {
        kw_json_text(json, "dtype", kw_dtype_name(first->problem.dtype));
    }
    if (strcmp(first->target.arch, dataset->problem_groups[dataset->problem_group_count - 1].target.arch) != 0) {
        add_arches(json, dataset);
    } else {
        kw_json_text(json, "arch", first->target.arch);
    }
}

/* Names of the folder's targets; logs: of those whose scores are logarithms. */
static void add_target_names(kw_json_out *json, const kw_artifacts *a, bool logs) {
    kw_scan scan = kw_scan_string(a->targets);
    kw_word word;
    kw_json_array(json, logs ? "log_targets" : "targets");
    while (kw_scan_word(&scan, &word)) {
        bool plain = kw_word_is(word, "rank") || kw_word_is(word, "latency") || kw_word_starts(word, "plain_");
        char name[32];
        if ((!logs || !plain) && kw_word_copy(name, sizeof name, word)) {
            kw_json_text(json, NULL, is_published(a) && !strncmp(name, "plain_", 6) ? name + 6 : name);
        }
    }
    kw_json_end(json);
}

static void add_params(kw_json_out *json, const kw_artifacts *a) {
    const kw_hyperparameters *hyperparameters = a->hyperparameters;
    kw_json_object(json, "params");
    char *text = kw_hyperparameters_text(hyperparameters, a->trainer->features);
    kw_scan scan = kw_scan_string(text ? text : "");
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        const char *equals = memchr(word.at, '=', word.size);
        char key[64], value[64];
        /* threads decide nothing; the long lists follow from the quantity and the features */
        if (!equals || kw_word_starts(word, "num_threads") || kw_word_starts(word, "label_gain") || kw_word_starts(word, "monotone")) {
            continue;
        }
        snprintf(key, sizeof key, "%.*s", (int)(equals - word.at), word.at);
        snprintf(value, sizeof value, "%.*s", (int)(word.at + word.size - equals - 1), equals + 1);
        kw_json_text(json, key, value);
    }
    kw_json_int(json, "n_estimators", a->report->trees);
    kw_json_end(json);
    free(text);
}

static kw_status write_feature_spec(const kw_artifacts *a, kw_error *err) {
    kw_json_out json = {0};
    const kw_feature_table *table = a->trainer->features;
    char hash[33];
    kw_schema_hash(hash, table);
    kw_json_object(&json, NULL);
    if (is_published(a)) {
        add_published_identity(&json, a->trainer->dataset);
    } else {
        add_served_names(&json, a->trainer->dataset, true);
        kw_json_text(&json, "feature_engine", "kernelwright own");
        kw_json_text(&json, "feature_encoding_version", hash);
        add_served_names(&json, a->trainer->dataset, false);
        add_arches(&json, a->trainer->dataset);
    }
    kw_json_array(&json, "feature_names");
    for (size_t i = 0; i < table->count; i++) {
        kw_json_text(&json, NULL, table->features[i].name);
    }
    kw_json_end(&json);
    kw_json_array(&json, "categorical_features");
    for (size_t i = 0; i < table->count; i++) {
        if (kw_feature_is_code(&table->features[i])) {
            kw_json_text(&json, NULL, table->features[i].name);
        }
    }
    kw_json_end(&json);
    add_target_names(&json, a, false);
    add_target_names(&json, a, true);
    add_params(&json, a);
    kw_json_array(&json, "features");
    for (size_t i = 0; i < table->count; i++) {
        const kw_feature *feature = &table->features[i];
        kw_json_object(&json, NULL);
        kw_json_text(&json, "name", feature->name);
        kw_json_text(&json, "group", feature->group);
        kw_json_text(&json, "unit", feature->unit);
        kw_json_text(&json, "formula", feature->formula);
        kw_json_end(&json);
    }
    kw_json_end(&json);
    kw_json_end(&json);
    return write_text(a, "feature_spec.json", &json.text, err);
}

/* --- cv_metrics, feature_importances ------------------------------------------------------------------------------ */

static kw_status write_cv_metrics(const kw_artifacts *a, kw_error *err) {
    kw_json_out json = {0};
    char name[64];
    kw_json_array(&json, NULL);
    for (int g = 0; g < KW_GROUPINGS; g++) {
        for (int32_t f = 0; f < a->trainer->folds[g] && a->trainer->folds[g] > 1; f++) {
            kw_json_object(&json, NULL);
            kw_json_text(&json, "left_out", kw_grouping_name((kw_grouping)g));
            kw_json_int(&json, "fold", f);
            kw_json_int(&json, "trees", a->cv->trees[g][f]);
            kw_metrics_json(&json, &a->cv->fold[g][f]);
            kw_json_end(&json);
        }
    }
    kw_json_end(&json);
    return write_text(a, named(name, a, "cv_metrics"), &json.text, err);
}

static kw_status write_importances(const kw_artifacts *a, kw_error *err) {
    kw_json_out json = {0};
    char name[64];
    kw_json_object(&json, NULL);
    for (size_t i = 0; i < kw_forest_describe(a->forest).features; i++) {
        kw_json_int(&json, kw_forest_feature(a->forest, i), (int64_t)kw_forest_feature_splits(a->forest, i));
    }
    kw_json_end(&json);
    return write_text(a, named(name, a, "feature_importances"), &json.text, err);
}

/* --- train_manifest.json ------------------------------------------------------------------------------------------ */

static void add_target_list(kw_json_out *json, const kw_dataset *dataset) {
    kw_json_array(json, "targets");
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        if (!i || !kw_target_is_same(&dataset->problem_groups[i].target, &dataset->problem_groups[i - 1].target)) {
            char text[KW_TARGET_TEXT_MAX];
            kw_target_print(text, sizeof text, &dataset->problem_groups[i].target);
            kw_json_text(json, NULL, text);
        }
    }
    kw_json_end(json);
}

static void add_text_list(kw_json_out *json, const char *key, const char *const *items, size_t count) {
    kw_json_array(json, key);
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(items[i], '/');
        kw_json_text(json, NULL, slash ? slash + 1 : items[i]);
    }
    kw_json_end(json);
}

static kw_status write_manifest(const kw_artifacts *a, kw_error *err) {
    const kw_train_options *o = a->options;
    const kw_train_report *r = a->report;
    const kw_dataset *dataset = a->trainer->dataset;
    kw_json_out json = {0};
    char schema[33];
    kw_schema_hash(schema, a->trainer->features);
    kw_json_object(&json, NULL);
    kw_json_text(&json, "tool", "kernelwright");
    kw_json_text(&json, "tool_version", kw_version());
    kw_json_text(&json, "command", o->command ? o->command : "");
    kw_json_text(&json, "warm_start_from", o->warm_start ? o->warm_start : "");
    kw_json_int(&json, "prev_n_estimators", r->trees - a->new_trees);
    kw_json_int(&json, "new_n_estimators", a->new_trees);
    kw_json_int(&json, "total_n_estimators", r->trees);
    add_text_list(&json, "data", o->stores, o->store_count);
    kw_json_text(&json, "data_digest", dataset->digest);
    add_text_list(&json, "holdout", o->holdout, o->holdout_count);
    add_target_list(&json, dataset);
    kw_json_int(&json, "data_rows", r->pairs + r->foreign + r->untimed + dataset->outcome[KW_UNFIT]);
    kw_json_int(&json, "valid_rows", r->pairs);
    kw_json_int(&json, "good_rows", r->good);
    kw_json_int(&json, "slow_rows", r->slow);
    kw_json_int(&json, "failed_rows", r->failed);
    kw_json_int(&json, "unfit_rows_left_out", dataset->outcome[KW_UNFIT]);
    kw_json_int(&json, "foreign_rows_left_out", r->foreign);
    kw_json_int(&json, "untimed_rows_left_out", r->untimed);
    kw_json_int(&json, "problem_groups", r->problem_groups);
    kw_json_int(&json, "unique_problems", r->problems);
    kw_json_int(&json, "unique_shapes", r->problems);
    kw_json_int(&json, "problem_families", r->families);
    kw_json_text(&json, "quantity", r->quantity);
    kw_json_int(&json, "seed", (int64_t)o->seed);
    kw_json_int(&json, "folds_by_shape", a->trainer->folds[KW_BY_SHAPE]);
    kw_json_int(&json, "folds_by_family", a->trainer->folds[KW_BY_FAMILY]);
    kw_json_int(&json, "hard_mining_rounds", r->rounds);
    kw_json_text(&json, "feature_schema_hash", schema);
    kw_json_text(&json, "trainer", a->library);
    kw_json_text(&json, "trainer_version", a->library_version);
    add_params(&json, a);
    kw_json_text(&json, "model_digest", r->digest);
    kw_json_int(&json, "model_bytes", r->bytes);
    kw_json_int(&json, "model_memory_bytes", r->memory_bytes);
    kw_json_end(&json);
    return write_text(a, "train_manifest.json", &json.text, err);
}

/* --- oof.csv.gz --------------------------------------------------------------------------------------------------- */

/* The texts have blanks but neither commas nor quotes. */
static void add_prediction(kw_text *text, const kw_artifacts *a, size_t c, size_t i) {
    const kw_trainer *t = a->trainer;
    const kw_problem_group *problem_group = &t->dataset->problem_groups[c];
    const kw_pair *pair = &t->dataset->pairs[i];
    char target[KW_TARGET_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX], config[KW_CONFIG_TEXT_MAX];
    kw_target_print(target, sizeof target, &problem_group->target);
    kw_problem_print(problem, sizeof problem, &problem_group->problem);
    kw_config_print(config, sizeof config, &pair->config);
    kw_text_addf(text, "%s,%s,%s,%d,%d,%s", target, problem, config, problem_group->packed, problem_group->cold,
                 kw_outcome_name(pair->outcome));
    kw_csv_add_number(text, pair->time_ns, false);
    kw_csv_add_number(text, pair->estimate_ns, false);
    for (int g = 0; g < KW_GROUPINGS; g++) {
        kw_text_addf(text, ",%d", (int)t->fold[g][c]);
        kw_csv_add_number(text, a->cv->ns[g] ? a->cv->ns[g][i] : NAN, false);
    }
    kw_text_add(text, "\n");
}

static kw_status write_predictions(const kw_artifacts *a, kw_error *err) {
    char path[PATH_SIZE];
    kw_writer *writer = NULL;
    kw_text text = {0};
    const kw_dataset *dataset = a->trainer->dataset;
    snprintf(path, sizeof path, "%s/oof.csv.gz", a->options->out);
    kw_status status = kw_writer_open(&writer, path, err);
    if (status) {
        return status;
    }
    kw_text_add(&text, "target,problem,config,packed,cold,outcome,time_ns,estimate_ns,fold_by_shape,predicted_ns_by_shape,fold_by_family,"
                       "predicted_ns_by_family\n");
    for (size_t c = 0; c < dataset->problem_group_count && !status; c++) {
        for (size_t i = dataset->problem_groups[c].first; i < dataset->problem_groups[c].first + dataset->problem_groups[c].count; i++) {
            add_prediction(&text, a, c, i);
        }
        status = kw_writer_put(writer, &text, err);
    }
    status = kw_writer_close(&writer, status, err);
    kw_text_drop(&text);
    return status;
}

static kw_status write_trained_on(const kw_artifacts *a, kw_error *err) {
    kw_text plain = {0}, packed = {0};
    kw_status status = kw_trained_on_print(&plain, a->trainer->dataset, a->before ? a->options->warm_start : NULL, err);
    if (!status && !plain.size) { /* what a model of this name said before must not stand for this one */
        char path[PATH_SIZE];
        snprintf(path, sizeof path, "%s/trained_on.txt.gz", a->options->out);
        return remove(path) && errno != ENOENT ? kw_fail(err, KW_FAILED, "%.300s: %s", path, strerror(errno)) : KW_OK;
    }
    status = status ? status : kw_gzip_pack(&packed, plain.data, plain.size, err);
    status = status ? status : write_bytes(a, "trained_on.txt.gz", packed.data, packed.size, err);
    kw_text_drop(&plain);
    kw_text_drop(&packed);
    return status;
}

static kw_status write_spec(const kw_artifacts *a, kw_error *err) {
    kw_text text = {0}, plain = {0};
    char unpacked[KW_HASH_TEXT] = "", forest[64], name[64] = "model.spec";
    kw_status status = kw_gzip_unpack(&plain, a->packed, a->packed_size, KW_FOREST_MAX_TEXT, err);
    if (!status) {
        kw_hash_text(unpacked, plain.data, plain.size);
        status = kw_spec_print(&text, a->trainer->dataset, a->trainer->features, a->hyperparameters->quantity, a->before,
                               forest_file(forest, a), (const char *const[2]){a->report->digest, unpacked}, err);
    }
    kw_text_drop(&plain);
    if (status) {
        kw_text_drop(&text);
        return status;
    }
    if (a->beside) {
        snprintf(name, sizeof name, "model_%s.spec", published_name(a->hyperparameters->quantity));
    }
    return write_text(a, name, &text, err);
}

/* What the folder's first model says for all. */
static kw_status write_common(const kw_artifacts *a, kw_error *err) {
    kw_text card = {0}, card_json = {0};
    kw_status status = write_feature_spec(a, err);
    status = status ? status : write_manifest(a, err);
    status = status ? status : write_predictions(a, err);
    status = status ? status : write_trained_on(a, err);
    status = status ? status : kw_card_print(&card, &card_json, a, err);
    status = status ? status : write_text(a, "MODEL_CARD.md", &card, err);
    status = status ? status : write_text(a, "model_card.json", &card_json, err);
    kw_text_drop(&card);
    kw_text_drop(&card_json);
    return status;
}

kw_status kw_artifacts_write(const kw_artifacts *a, kw_error *err) {
    char name[64];
    if (strlen(a->options->out) > PATH_SIZE - 64) {
        return kw_fail(err, KW_ILLEGAL, "the folder's name is longer than %d characters", PATH_SIZE - 64);
    }
    const char *forest = forest_file(name, a);
    kw_status status = kw_folder_make(a->options->out, err);
    status = status || a->beside ? status : write_common(a, err);
    status = status ? status : write_cv_metrics(a, err);
    status = status ? status : write_importances(a, err);
    status = status ? status : write_bytes(a, forest ? forest : "model.lgbm.gz", a->packed, a->packed_size, err);
    return status ? status : write_spec(a, err);
}
