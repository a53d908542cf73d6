/* warm_start.c: reads the model to continue from, checks that it predicts the same of the same targets, and gives its features and
 * categories the numbers that their names have here. */
#include "learn/fit/warm_start.h"

#include "base/os/file.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "predict/ck/ck_rows.h"
#include "learn/model/forest_numbers.h"

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

/* --- names to numbers ------------------------------------------------------------------------------------------------- */

/* Families are known by name: a code is a position in the list of the library that trained. */
static int32_t family_position(const char *name) {
    int32_t at = 0;
    while (kw_family_table[at] && strcmp(kw_family_table[at]->name, name) != 0) {
        at++;
    }
    return kw_family_table[at] ? at : -1;
}

static kw_status number_families(kw_feature_number *number, kw_arena *arena, const kw_model_spec *spec, kw_error *err) {
    int32_t *codes = kw_arena_array(arena, spec->family_count + 1, sizeof *codes);
    for (size_t code = 0; codes && code < spec->family_count; code++) {
        codes[code] = family_position(spec->families[code]);
    }
    number->codes = codes;
    number->code_count = spec->family_count;
    return codes ? KW_OK : kw_fail_memory(err, "a model");
}

static kw_status number_words(kw_feature_number *number, kw_arena *arena, const char *theirs, const char *ours, kw_error *err) {
    int32_t *codes = kw_arena_array(arena, strlen(theirs) + 1, sizeof *codes);
    kw_scan scan = kw_scan_string(theirs);
    kw_word word;
    while (codes && kw_scan_word(&scan, &word)) {
        codes[number->code_count++] = kw_word_position(word, ours);
    }
    number->codes = codes;
    return codes ? KW_OK : kw_fail_memory(err, "a model");
}

/* Where each feature of the model stands here, and what its categories' codes are here. */
static kw_status number_features(kw_feature_number *numbers, kw_arena *arena, const kw_model_spec *spec, const kw_feature_table *features,
                                 kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < spec->feature_count && !status; i++) {
        const char *theirs = kw_model_spec_codes(spec, spec->features[i]), *ours = NULL;
        numbers[i].position = kw_feature_find(features, spec->features[i]);
        ours = numbers[i].position < 0 ? NULL : features->features[numbers[i].position].words;
        if (!spec->ck && !strcmp(spec->features[i], "family")) {
            status = number_families(&numbers[i], arena, spec, err);
        } else if (theirs && ours && strcmp(theirs, ours) != 0) {
            status = number_words(&numbers[i], arena, theirs, ours, err);
        }
    }
    return status;
}

static kw_status check_same_units(const kw_model_spec *spec, const kw_feature_table *features, kw_error *err) {
    char units[KW_HASH_TEXT];
    kw_feature_units_hash(units, features, spec->features, spec->feature_count);
    return !*spec->units || !strcmp(spec->units, units)
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "warm start: the model's features were in other units (units %s, here %s); train a new one",
                         spec->units, units);
}

/* The model's text in the numbers of this library. */
static kw_status renumber_text(kw_warm_start_model *warm, const char *text, const kw_feature_table *features, kw_error *err) {
    kw_arena arena = {0};
    kw_error why = {0};
    kw_feature_number *numbers = kw_arena_array(&arena, warm->spec.feature_count + 1, sizeof *numbers);
    const char **names = kw_arena_array(&arena, features->count + 1, sizeof *names);
    kw_status status = numbers && names ? KW_OK : kw_fail_memory(err, "a model");
    for (size_t i = 0; i < features->count && !status; i++) {
        names[i] = features->features[i].name;
    }
    status = status ? status : number_features(numbers, &arena, &warm->spec, features, err);
    if (!status) {
        status = kw_forest_text_renumber(&warm->text, text, numbers, names, features->count, &why);
        status = status ? kw_fail(err, status, "warm start: %.300s; train a new one", why.text) : KW_OK;
    }
    kw_arena_drop(&arena);
    return status;
}

/* --- the model -------------------------------------------------------------------------------------------------------- */

static kw_status check_same_ground(const kw_model_spec *spec, const kw_dataset *dataset, const kw_feature_table *features,
                                   kw_model_quantity quantity, kw_error *err) {
    bool ck = features == kw_ck_table(KW_GEMM) || features == kw_ck_table(KW_CONV_FWD);
    if (spec->quantity != quantity) {
        return kw_fail(err, KW_ILLEGAL, "warm start: the model predicts %s, this one is to predict %s; they cannot be added",
                       kw_model_quantity_name(spec->quantity), kw_model_quantity_name(quantity));
    }
    if (spec->ck != (ck ? features : NULL)) {
        return kw_fail(err, KW_ILLEGAL, "warm start: the model sees %s features, this one is to see %s; train a new one",
                       spec->ck ? spec->ck->name : "our own", features->name);
    }
    if (!ck && !spec->family_count) {
        return kw_fail(err, KW_ILLEGAL, "warm start: the model names no family, so its codes mean nothing; train a new one");
    }
    kw_status status = check_same_units(spec, features, err);
    return status ? status : check_same_targets(spec, dataset, err);
}

/* The forest as it is must be one, and of so many features, before its numbers are replaced. */
static kw_status read_forest(kw_warm_start_model *warm, const char *folder, const kw_feature_table *features, kw_error *err) {
    kw_arena arena = {0};
    const char *path = NULL;
    char *data = NULL;
    size_t size = 0;
    kw_text plain = {0};
    kw_forest *as_it_is = NULL;
    kw_status status = kw_model_spec_forest(&arena, &path, &data, &size, &warm->spec, folder, err);
    status = status ? status : kw_gzip_unpack_any(&plain, data, size, KW_FOREST_MAX_TEXT, err);
    status = status ? status : kw_forest_parse(&as_it_is, path, plain.data, plain.size, err);
    if (!status && kw_forest_describe(as_it_is).features != warm->spec.feature_count) {
        status = kw_fail(err, KW_MALFORMED, "%.200s has %zu features and the model's spec names %zu", path,
                         kw_forest_describe(as_it_is).features, warm->spec.feature_count);
    }
    status = status ? status : renumber_text(warm, plain.data, features, err);
    status = status ? status : kw_forest_parse(&warm->forest, path, warm->text.data, warm->text.size, err);
    kw_forest_drop(&as_it_is);
    kw_text_drop(&plain);
    kw_arena_drop(&arena);
    warm->trees = status ? 0 : (int64_t)kw_forest_describe(warm->forest).trees;
    return status;
}

kw_status kw_warm_start_open(kw_warm_start_model *warm, const char *folder, const kw_dataset *dataset, const kw_feature_table *features,
                             kw_model_quantity quantity, kw_error *err) {
    kw_arena arena = {0};
    char *text = NULL;
    size_t size = 0;
    *warm = (kw_warm_start_model){0};
    const char *path = kw_model_spec_path(&arena, folder);
    kw_status status = path ? KW_OK : kw_fail_memory(err, "a model");
    status = status ? status : kw_file_read(&arena, path, KW_MODEL_MAX_SPEC, &text, &size, err);
    status = status ? status : kw_model_spec_read(&warm->spec, path, text, size, err);
    status = status ? status : check_same_ground(&warm->spec, dataset, features, quantity, err);
    status = status ? status : read_forest(warm, folder, features, err);
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
    kw_model_spec_drop(&warm->spec);
    kw_text_drop(&warm->text);
    kw_forest_drop(&warm->forest);
    free(warm->start);
    *warm = (kw_warm_start_model){0};
}
