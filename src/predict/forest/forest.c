/* forest.c: what a forest says of itself, and the plain evaluator, the definition that the fast one is held to. */
#include "predict/forest/forest.h"

#include "predict/forest/forest_model.h"

#include <stdlib.h>

void kw_forest_drop(kw_forest **forest) {
    kw_forest *f = *forest;
    if (f) {
        free(f->words);
        free(f->tree_leaf);
        free(f->values);
        free(f->splits);
        kw_arena_drop(&f->arena);
        free(f);
        *forest = NULL;
    }
}

kw_forest_facts kw_forest_describe(const kw_forest *forest) {
    size_t leaves = forest->tree_leaf[forest->trees], splits = leaves - forest->trees;
    size_t bytes = sizeof *forest + leaves * sizeof *forest->values + (forest->trees + 1) * sizeof *forest->tree_leaf;
    bytes += splits * sizeof *forest->splits + forest->word_count * sizeof *forest->words;
    bytes += forest->condition_count * sizeof *forest->conditions + forest->threshold_count * sizeof *forest->thresholds;
    bytes += forest->features * (sizeof *forest->columns + sizeof *forest->names);
    return (kw_forest_facts){.features = forest->features,
                             .trees = forest->trees,
                             .leaves = leaves,
                             .conditions = forest->condition_count,
                             .bytes = bytes,
                             .objective = forest->objective};
}

const char *kw_forest_feature(const kw_forest *forest, size_t i) {
    return forest->names[i];
}

size_t kw_forest_feature_splits(const kw_forest *forest, size_t i) {
    return forest->columns[i].splits;
}

static bool goes_left(const kw_forest *forest, const kw_forest_condition *condition, double value) {
    if (condition->missing == KW_MISSING_CATEGORY) {
        return kw_forest_in_set(forest, condition, kw_forest_category(value));
    }
    value = kw_forest_flush(value);
    if (isnan(value)) {
        if (condition->missing == KW_MISSING_NAN) {
            return condition->left;
        }
        value = 0;
    }
    if (condition->missing == KW_MISSING_ZERO && value == 0) {
        return condition->left;
    }
    return value <= condition->threshold;
}

static double leaf_of(const kw_forest *forest, size_t tree, const double *row) {
    size_t leaf = forest->tree_leaf[tree], split = leaf - tree, leaves = forest->tree_leaf[tree + 1] - leaf;
    while (leaves > 1) {
        const kw_forest_split *at = &forest->splits[split];
        const kw_forest_condition *condition = &forest->conditions[kw_forest_split_condition(at)];
        size_t left = at->left;
        if (goes_left(forest, condition, row[condition->feature])) {
            split += 1;
            leaves = left;
        } else {
            split += left;
            leaf += left;
            leaves -= left;
        }
    }
    return forest->values[leaf];
}

void kw_forest_score(const kw_forest *forest, const double *rows, size_t row_count, double *scores) {
    for (size_t i = 0; i < row_count; i++) {
        double score = 0;
        for (size_t tree = 0; tree < forest->trees; tree++) {
            score += leaf_of(forest, tree, rows + i * forest->features);
        }
        scores[i] = score;
    }
}
