/* warm_start.c: reads the model to continue from and checks that it was made for the same features and targets. */
#include "learn/fit/warm_start.h"

#include "base/os/file.h"
#include "base/format/gzip.h"
#include "predict/model_spec.h"
#include "learn/model/forest_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the target of each problem group is one that the model was trained on. */
static kw_status check_same_targets(const kw_model_spec *spec, const kw_dataset *dataset, kw_error *err) {
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        char text[KW_TARGET_TEXT_MAX];
        bool known = false;
        kw_target_print(text, sizeof text, &dataset->problem_groups[c].target);
        for (size_t i = 0; i < spec->target_count && !known; i++) {
            known = !strcmp(spec->target_texts[i], text);
        }
        if (!known) {
            return kw_fail(err, KW_ILLEGAL, "warm start: the model was not trained on %.200s; train a new one", text);
        }
    }
    return KW_OK;
}

/* NULL: there is no such. */
static kw_status check_same_name(const char *what, size_t number, const char *had, const char *has, kw_error *err) {
    return had && has && !strcmp(had, has)
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "warm start: %s %zu of the model is %.80s, here it is %.80s; train a new one", what, number,
                         had ? had : "(none)", has ? has : "(none)");
}

static kw_status check_same_schema(const kw_model_spec *spec, const kw_dataset *dataset, const kw_feature_table *features,
                                   kw_model_quantity quantity, kw_error *err) {
    if (spec->quantity != quantity) {
        return kw_fail(err, KW_ILLEGAL, "warm start: the model predicts %s, this one is to predict %s; they cannot be added",
                       kw_model_quantity_name(spec->quantity), kw_model_quantity_name(quantity));
    }
    kw_status status = KW_OK;
    for (size_t i = 0; !status && (i < features->count || i < spec->feature_count); i++) {
        status = check_same_name("feature", i, i < spec->feature_count ? spec->features[i] : NULL,
                                 i < features->count ? features->features[i].name : NULL, err);
    }
    for (size_t i = 0; !status && !spec->ck && (kw_family_table[i] || i < spec->family_count); i++) {
        status = check_same_name("family", i, i < spec->family_count ? spec->families[i] : NULL,
                                 kw_family_table[i] ? kw_family_table[i]->name : NULL, err);
    }
    return status ? status : check_same_targets(spec, dataset, err);
}

static kw_status read_forest(kw_warm_start_model *warm, const kw_model_spec *spec, const char *folder, kw_error *err) {
    kw_arena arena = {0};
    const char *path = NULL;
    char *data = NULL;
    size_t size = 0;
    kw_status status = kw_model_spec_forest(&arena, &path, &data, &size, spec, folder, err);
    status = status ? status : kw_gzip_unpack_any(&warm->text, data, size, KW_FOREST_MAX_TEXT, err);
    status = status ? status : kw_forest_parse(&warm->forest, path, warm->text.data, warm->text.size, err);
    kw_arena_drop(&arena);
    warm->trees = status ? 0 : (int64_t)kw_forest_describe(warm->forest).trees;
    return status;
}

kw_status kw_warm_start_open(kw_warm_start_model *warm, const char *folder, const kw_dataset *dataset, const kw_feature_table *features,
                             kw_model_quantity quantity, kw_error *err) {
    kw_arena arena = {0};
    kw_model_spec spec = {0};
    char *text = NULL;
    size_t size = 0;
    *warm = (kw_warm_start_model){0};
    const char *path = kw_model_spec_path(&arena, folder);
    kw_status status = path ? KW_OK : kw_fail_memory(err, "a model");
    status = status ? status : kw_file_read(&arena, path, KW_MODEL_MAX_SPEC, &text, &size, err);
    status = status ? status : kw_model_spec_read(&spec, path, text, size, err);
    status = status ? status : check_same_schema(&spec, dataset, features, quantity, err);
    status = status ? status : read_forest(warm, &spec, folder, err);
    kw_model_spec_drop(&spec);
    kw_arena_drop(&arena);
    if (status) {
        kw_warm_start_close(warm);
    }
    return status;
}

kw_status kw_warm_start_score(kw_warm_start_model *warm, const double *rows, size_t count, kw_error *err) {
    warm->start = calloc(count + 1, sizeof *warm->start);
    if (!warm->start) {
        return kw_fail_memory(err, "the scores to go on from");
    }
    kw_forest_score(warm->forest, rows, count, warm->start);
    return KW_OK;
}

void kw_warm_start_close(kw_warm_start_model *warm) {
    kw_text_drop(&warm->text);
    kw_forest_drop(&warm->forest);
    free(warm->start);
    *warm = (kw_warm_start_model){0};
}
