/* spec_print.c: model.spec, and what else says which data and which features a model stands on. */
#include "learn/model/artifacts.h"

#include "base/hash.h"
#include "base/order.h"
#include "predict/ck/ck_rows.h"
#include "predict/model_spec.h"

#include <stdlib.h>
#include <string.h>

static int64_t distinct(uint64_t *values, size_t count) {
    int64_t found = 0;
    qsort(values, count, sizeof *values, kw_order_uint64_items);
    for (size_t i = 0; i < count; i++) {
        found += !i || values[i] != values[i - 1];
    }
    return found;
}

kw_status kw_dataset_spread(int64_t *problems, int64_t *families, const kw_dataset *dataset, kw_error *err) {
    uint64_t *values = calloc(dataset->problem_group_count + 1, sizeof *values);
    if (!values) {
        return kw_fail_memory(err, "counting problems");
    }
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        values[i] = dataset->problem_groups[i].hash;
    }
    if (problems) {
        *problems = distinct(values, dataset->problem_group_count);
    }
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        values[i] = kw_hash64(dataset->problem_groups[i].bucket, strlen(dataset->problem_groups[i].bucket));
    }
    if (families) {
        *families = distinct(values, dataset->problem_group_count);
    }
    free(values);
    return KW_OK;
}

/* Problem groups come sorted by target, so equal ones stand together. */
static void add_spec_targets(kw_text *text, const kw_dataset *dataset, const kw_model_spec *before) {
    char line[KW_TARGET_TEXT_MAX];
    for (size_t i = 0; before && i < before->target_count; i++) {
        kw_text_addf(text, "target %s\n", before->target_texts[i]);
    }
    if (before) {
        return; /* a warm start has no target that the model before did not have */
    }
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        bool same = i && kw_target_is_same(&dataset->problem_groups[i - 1].target, &dataset->problem_groups[i].target);
        if (!same) {
            kw_target_print(line, sizeof line, &dataset->problem_groups[i].target);
            kw_text_addf(text, "target %s\n", line);
        }
    }
}

static void add_spec_serves(kw_text *text, const kw_dataset *dataset, const kw_model_spec *before) {
    bool serves[KW_OP_COUNT][KW_DTYPE_COUNT] = {{false}};
    for (size_t i = 0; i < dataset->problem_group_count; i++) {
        serves[dataset->problem_groups[i].problem.op][dataset->problem_groups[i].problem.dtype] = true;
    }
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            if (serves[op][dtype] || (before && kw_model_spec_serves(before, (kw_op)op, (kw_dtype)dtype))) {
                kw_text_addf(text, "serves %s %s\n", kw_op_name((kw_op)op), kw_dtype_name((kw_dtype)dtype));
            }
        }
    }
}

/* Operations for which rows, or those of the model before, had a kernel of the family: bits 1 << kw_op. */
static uint32_t ops_with_rows(const kw_dataset *dataset, const kw_model_spec *before, const kw_family *family) {
    uint32_t ops = 0;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        bool saw = family->ops >> op & 1 && before && kw_model_spec_saw(before, family->name, (kw_op)op);
        ops |= saw ? 1u << op : 0;
    }
    for (size_t i = 0; i < dataset->pair_count; i++) {
        const kw_config *config = &dataset->pairs[i].config;
        ops |= config->family == family ? 1u << config->op : 0;
    }
    return ops;
}

/* A family without rows keeps its code and is named so that nobody takes it for one that was seen; of the others the operations that were
 * seen stand behind the name. dataset NULL: all count as seen. */
static void add_schema(kw_text *text, const kw_feature_table *features, const kw_dataset *dataset, const kw_model_spec *before) {
    bool ck = features == kw_ck_table(KW_GEMM) || features == kw_ck_table(KW_CONV_FWD);
    if (ck) {
        kw_text_addf(text, "table %s\n", features->name);
    }
    for (const kw_family *const *family = kw_family_table; *family && !ck; family++) {
        uint32_t ops = dataset ? ops_with_rows(dataset, before, *family) : 0;
        kw_text_addf(text, "family %s%s", ops || !dataset ? "" : KW_MODEL_UNSEEN, (*family)->name);
        for (int op = 0; op < KW_OP_COUNT; op++) {
            if (ops >> op & 1) {
                kw_text_addf(text, " %s", kw_op_name((kw_op)op));
            }
        }
        kw_text_add(text, "\n");
    }
    for (size_t i = 0; i < features->count; i++) {
        kw_text_addf(text, "feature %s\n", features->features[i].name);
    }
}

/* Words of axes, so that a library that has others, or in another order, knows which was which. */
static void add_codes(kw_text *text, const kw_feature_table *features) {
    for (size_t i = 0; i < features->count; i++) {
        if (features->features[i].words) {
            kw_text_addf(text, "codes %s %s\n", features->features[i].name, features->features[i].words);
        }
    }
}

static void add_units(kw_text *text, const kw_feature_table *features) {
    char units[KW_HASH_TEXT];
    const char **names = calloc(features->count + 1, sizeof *names);
    for (size_t i = 0; names && i < features->count; i++) {
        names[i] = features->features[i].name;
    }
    if (names) {
        kw_feature_units_hash(units, features, names, features->count);
        kw_text_addf(text, "units %s\n", units);
    }
    text->failed = text->failed || !names;
    free(names);
}

kw_status kw_spec_print(kw_text *text, const kw_dataset *dataset, const kw_feature_table *features, kw_model_quantity quantity,
                        const kw_model_spec *before, const char *forest, const char *const digests[2], kw_error *err) {
    int64_t problems = 0;
    kw_status status = kw_dataset_spread(&problems, NULL, dataset, err);
    if (status) {
        return status;
    }
    kw_text_add(text, KW_MODEL_SPEC_HEADER "\n");
    add_spec_targets(text, dataset, before);
    add_spec_serves(text, dataset, before);
    kw_text_addf(text, "predicts %s\n", kw_model_quantity_name(quantity));
    add_schema(text, features, dataset, before);
    add_codes(text, features);
    add_units(text, features);
    if (forest) {
        kw_text_addf(text, "forest %s\n", forest);
    }
    kw_text_addf(text, "rows %zu problems %lld\ndigest %s\nunpacked %s\n", dataset->pair_count, (long long)problems, digests[0],
                 digests[1]);
    return text->failed ? kw_fail_memory(err, "model.spec") : KW_OK;
}

void kw_schema_hash(char hash[33], const kw_feature_table *features) {
    kw_text text = {0};
    add_schema(&text, features, NULL, NULL);
    kw_hash_text(hash, kw_text_string(&text), text.size);
    kw_text_drop(&text);
}
