/* stumps.c: see stumps.h. */
#include "support/rows/stumps.h"

#include "base/os/file.h"
#include "base/hash.h"
#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES_MAX = 64 };

/* The features of the trees, each once. */
static size_t list_features(const stumps *model, const char *features[FEATURES_MAX]) {
    size_t count = 0;
    for (const stump *tree = model->trees; tree->feature; tree++) {
        size_t i = 0;
        while (i < count && strcmp(features[i], tree->feature)) {
            i++;
        }
        if (i == count && count < FEATURES_MAX) {
            features[count++] = tree->feature;
        }
    }
    return count;
}

static void write_tree(const stumps *model, const stump *tree, kw_text *text) {
    const char *features[FEATURES_MAX];
    size_t feature = 0;
    list_features(model, features);
    while (strcmp(features[feature], tree->feature)) {
        feature++;
    }
    kw_text_addf(text, "Tree=%d\nnum_leaves=2\nnum_cat=%d\nsplit_feature=%zu\nsplit_gain=1\n", (int)(tree - model->trees), tree->is_code,
                 feature);
    kw_text_addf(text, "threshold=%.17g\ndecision_type=%d\nleft_child=-1\nright_child=-2\n", tree->is_code ? 0 : tree->threshold,
                 tree->is_code ? 1 : 8);
    kw_text_addf(text, "leaf_value=%.17g %.17g\nleaf_weight=1 1\nleaf_count=1 1\n", tree->left, tree->right);
    kw_text_add(text, "internal_value=0\ninternal_weight=0\ninternal_count=2\n");
    if (tree->is_code) {
        kw_text_addf(text, "cat_boundaries=0 1\ncat_threshold=%u\n", (unsigned)tree->threshold);
    }
    kw_text_add(text, "is_linear=0\nshrinkage=1\n\n\n");
}

static void write_forest(const stumps *model, kw_text *forest) {
    const char *features[FEATURES_MAX];
    size_t count = list_features(model, features);
    kw_text trees = {0}, sizes = {0};
    for (const stump *tree = model->trees; tree->feature; tree++) {
        size_t before = trees.size;
        write_tree(model, tree, &trees);
        kw_text_addf(&sizes, " %zu", trees.size - before);
    }
    kw_text_addf(forest, "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=%zu\n", count - 1);
    kw_text_add(forest, "objective=regression\nfeature_names=");
    for (size_t i = 0; i < count; i++) {
        kw_text_addf(forest, "%s%s", i ? " " : "", features[i]);
    }
    kw_text_add(forest, "\nfeature_infos=");
    for (size_t i = 0; i < count; i++) {
        kw_text_addf(forest, "%s[0:1]", i ? " " : "");
    }
    kw_text_addf(forest, "\ntree_sizes=%s\n\n%send of trees\n", kw_text_string(&sizes) + 1, kw_text_string(&trees));
    kw_text_drop(&trees);
    kw_text_drop(&sizes);
}

static void write_list(kw_text *spec, const char *key, const char *const *words) {
    for (; *words; words++) {
        kw_text_addf(spec, "%s %s\n", key, *words);
    }
}

void stumps_write_spec(const stumps *model, kw_text *spec, const kw_text *forest) {
    const char *features[FEATURES_MAX + 1] = {0};
    char digest[KW_HASH_TEXT];
    features[list_features(model, features)] = NULL;
    kw_hash_text(digest, forest->data, forest->size);
    kw_text_add(spec, "kernelwright-model 1\n");
    write_list(spec, "target", model->targets);
    write_list(spec, "serves", model->serves);
    kw_text_addf(spec, "predicts %s\n", model->predicts);
    write_list(spec, "family", model->families);
    write_list(spec, "feature", features);
    kw_text_addf(spec, "rows 1000 problems 50\ndigest %s\n", digest);
}

void stumps_write(const stumps *model, kw_text *spec, kw_text *forest) {
    write_forest(model, forest);
    stumps_write_spec(model, spec, forest);
}

void stumps_save(const stumps *model, const char *folder) {
    char path[2 * SCRATCH_MAX];
    kw_text spec = {0}, forest = {0};
    kw_error err = {0};
    stumps_write(model, &spec, &forest);
    if (kw_folder_make(folder, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(1);
    }
    scratch_write(scratch_path(path, folder, "model.spec"), spec.data, spec.size, 0600);
    scratch_write(scratch_path(path, folder, "model.lgbm.gz"), forest.data, forest.size, 0600);
    kw_text_drop(&spec);
    kw_text_drop(&forest);
}
