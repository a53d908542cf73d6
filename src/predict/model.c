/* model.c: opening a model, which is mostly reasons to refuse it, and what it says of itself. What comes out is whole: the spec read to
 * its last line, the forest the one it names by digest, every feature known by its name and in its place. */
#include "predict/model_parts.h"

#include "base/os/file.h"
#include "base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The forest's features are the spec's, in its order, and columns of our table: those that a tree asks about must be there. */
static kw_status match_features(kw_model *model, const char *name, kw_error *err) {
    const kw_model_spec *spec = &model->spec;
    size_t count = kw_forest_describe(model->forest).features;
    kw_error why = {0};
    if (count != spec->feature_count) {
        return kw_fail(err, KW_MALFORMED, "%.200s names %zu features and the forest has %zu", name, spec->feature_count, count);
    }
    for (size_t i = 0; i < count; i++) {
        char numbered[32];
        snprintf(numbered, sizeof numbered, "Column_%zu", i);
        if (strcmp(spec->features[i], kw_forest_feature(model->forest, i)) &&
            !(spec->ck && !strcmp(numbered, kw_forest_feature(model->forest, i)))) {
            return kw_fail(err, KW_MALFORMED, "%.200s: feature %zu is %.80s, and %.80s in the forest", name, i, spec->features[i],
                           kw_forest_feature(model->forest, i));
        }
    }
    char units[KW_HASH_TEXT];
    kw_feature_units_hash(units, model->table, spec->features, count);
    if (*spec->units && strcmp(spec->units, units) != 0) {
        return kw_fail(
            err, KW_MALFORMED,
            "%.200s: features were in other units when the model was trained than they are here (units %s, here %s); train it again", name,
            spec->units, units);
    }
    for (size_t i = 0; i < count; i++) {
        model->column[i] = kw_feature_find(model->table, spec->features[i]);
        if (model->column[i] < 0 && kw_forest_feature_splits(model->forest, i)) {
            (void)kw_feature_match(&model->column[i], model->table, &spec->features[i], 1, &why);
            return kw_fail(err, why.status, "%.200s: %.280s", name, why.text);
        }
    }
    return KW_OK;
}

/* Words of an axis are known by name: those of training may have stood in another order. */
static kw_status match_codes(kw_model *model, kw_error *err) {
    const kw_model_spec *spec = &model->spec;
    model->codes = kw_arena_array(&model->spec.arena, spec->feature_count + 1, sizeof *model->codes);
    if (!model->codes) {
        return kw_fail_memory(err, "a model");
    }
    for (size_t i = 0; i < spec->feature_count; i++) {
        const char *ours = model->column[i] < 0 ? NULL : model->table->features[model->column[i]].words;
        const char *theirs = kw_model_spec_codes(spec, spec->features[i]);
        if (!ours || !theirs || !strcmp(ours, theirs)) {
            continue;
        }
        kw_scan scan = kw_scan_string(ours);
        kw_word word;
        size_t count = 0;
        model->codes[i] = kw_arena_array(&model->spec.arena, strlen(ours) + 1, sizeof **model->codes);
        if (!model->codes[i]) {
            return kw_fail_memory(err, "a model");
        }
        while (kw_scan_word(&scan, &word)) {
            int code = kw_word_position(word, theirs);
            model->codes[i][count++] = code < 0 ? (double)NAN : (double)code;
        }
    }
    return KW_OK;
}

double kw_model_value(const kw_model *model, size_t feature, double value) {
    const double *codes = model->codes[feature];
    return codes && value >= 0 ? codes[(size_t)value] : value;
}

/* Codes are positions in the list of families of the library that trained; ours may be another. */
static kw_status match_families(kw_model *model, const char *name, kw_error *err) {
    const kw_model_spec *spec = &model->spec;
    size_t families = 0;
    while (kw_family_table[families]) {
        families++;
    }
    model->family_column = kw_feature_find(model->table, "family");
    model->family_codes = calloc(families + 1, sizeof *model->family_codes);
    if (!model->family_codes) {
        return kw_fail_memory(err, "a model");
    }
    for (size_t i = 0; i < families; i++) {
        model->family_codes[i] = NAN;
        for (size_t code = 0; code < spec->family_count; code++) {
            if (!strcmp(spec->families[code], kw_family_table[i]->name)) {
                model->family_codes[i] = (double)code;
            }
        }
    }
    for (size_t i = 0; i < spec->feature_count && !spec->family_count && model->family_column >= 0; i++) {
        if (model->column[i] == model->family_column) {
            return kw_fail(err, KW_MALFORMED, "%.200s: feature family is used, but no line says family, so its codes mean nothing", name);
        }
    }
    return KW_OK;
}

static void describe_facts(kw_model *model) {
    kw_forest_facts forest = kw_forest_describe(model->forest);
    model->facts = (kw_model_facts){
        .quantity = model->spec.quantity,
        .targets = model->spec.target_texts,
        .features = forest.features,
        .trees = forest.trees,
        .leaves = forest.leaves,
        .bytes = forest.bytes,
        .rows = (size_t)model->spec.rows,
        .problems = (size_t)model->spec.problems,
    };
    memcpy(model->facts.digest, model->spec.digest, sizeof model->facts.digest);
}

/* The two parts as bytes and how messages call them. */
typedef struct source {
    const char *spec_name, *forest_name;
    const char *spec;
    size_t spec_size;
    const void *forest;
    size_t forest_size;
} source;

static kw_status parse_source(kw_model **model, const source *from, kw_error *err) {
    *model = NULL;
    kw_model *made = calloc(1, sizeof *made);
    if (!made) {
        return kw_fail_memory(err, "a model");
    }
    kw_status status = kw_model_spec_read(&made->spec, from->spec_name, from->spec, from->spec_size, err);
    status = status ? status : kw_model_spec_check(&made->spec, from->spec_name, from->forest, from->forest_size, err);
    status = status ? status : kw_forest_parse(&made->forest, from->forest_name, from->forest, from->forest_size, err);
    status = status || made->spec.ck ? status : kw_native_features_open(&made->own, err);
    if (!status) {
        made->table = made->spec.ck ? made->spec.ck : kw_native_features_table(made->own);
        made->column = calloc(made->spec.feature_count, sizeof *made->column);
        status = made->column ? match_features(made, from->spec_name, err) : kw_fail_memory(err, "a model");
    }
    status = status ? status : match_codes(made, err);
    status = status ? status : match_families(made, from->spec_name, err);
    if (status) {
        kw_model_close(&made);
        return status;
    }
    describe_facts(made);
    *model = made;
    return KW_OK;
}

kw_status kw_model_parse(kw_model **model, const char *spec, size_t spec_size, const void *forest, size_t forest_size, kw_error *err) {
    return parse_source(model, &(source){"model.spec", "model.lgbm.gz", spec, spec_size, forest, forest_size}, err);
}

kw_status kw_model_open(kw_model **model, const char *path, kw_error *err) {
    kw_arena arena = {0};
    char *spec = NULL, *forest = NULL;
    source from = {.spec_name = kw_model_spec_path(&arena, path)};
    kw_model_spec read = {0};
    *model = NULL;
    kw_status status = from.spec_name ? KW_OK : kw_fail_memory(err, "a model");
    status = status ? status : kw_file_read(&arena, from.spec_name, KW_MODEL_MAX_SPEC, &spec, &from.spec_size, err);
    status = status ? status : kw_model_spec_read(&read, from.spec_name, spec, from.spec_size, err);
    status = status ? status : kw_model_spec_forest(&arena, &from.forest_name, &forest, &from.forest_size, &read, path, err);
    if (!status) {
        from.spec = spec;
        from.forest = forest;
        status = parse_source(model, &from, err);
    }
    kw_model_spec_drop(&read);
    kw_arena_drop(&arena);
    return status;
}

void kw_model_close(kw_model **model) {
    if (!*model) {
        return;
    }
    kw_model *closing = *model;
    kw_forest_drop(&closing->forest);
    kw_native_features_close(&closing->own);
    kw_model_spec_drop(&closing->spec);
    free(closing->column);
    free(closing->family_codes);
    free(closing);
    *model = NULL;
}

const kw_model_facts *kw_model_describe(const kw_model *model) {
    return &model->facts;
}

double kw_model_rate_ns(kw_model_quantity quantity, double score, double flops, double bytes) {
    double rate = quantity == KW_PREDICTS_TFLOPS || quantity == KW_PREDICTS_BANDWIDTH ? expm1(score) : score;
    if (!(rate > 0)) {
        return INFINITY;
    }
    return quantity == KW_PREDICTS_LATENCY                                          ? rate * 1e6
           : quantity == KW_PREDICTS_TFLOPS || quantity == KW_PREDICTS_PLAIN_TFLOPS ? flops / (1e3 * rate)
                                                                                    : bytes / rate;
}

bool kw_model_serves(const kw_model *model, kw_op op, kw_dtype dtype) {
    return kw_model_spec_serves(&model->spec, op, dtype);
}

int kw_model_distance(const kw_model *model, const kw_target *target) {
    return kw_model_spec_distance(&model->spec, target);
}
