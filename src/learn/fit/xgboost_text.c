/* xgboost_text.c: trees from arrays of nodes to LightGBM's arrays of splits and leaves, both numbered in pre-order. */
#include "learn/fit/xgboost_text.h"

#include "base/number.h"
#include "base/status.h"
#include "json/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 1 << 20, NAN_LEFT = 10, NAN_RIGHT = 8 }; /* NAN_*: decision_type of LightGBM */

double kw_xgboost_threshold(float split) {
    float below = nextafterf(split, -INFINITY);
    uint32_t bits;
    memcpy(&bits, &below, sizeof bits);
    if (isinf(below)) {
        return -0x1.ffffffp+127; /* from here on doubles round to the infinite float */
    }
    /* Exact: neighbours differ in their last bit. What lies between the two rounds to the even one. */
    double middle = ((double)below + (double)split) / 2;
    return bits & 1 ? nextafter(middle, -(double)INFINITY) : middle;
}

/* The arrays of one tree. */
typedef struct tree {
    const json_t *left, *right, *feature, *value, *to_left;
    size_t nodes;
} tree;

/* What is written of a tree, list by list. */
typedef struct lists {
    kw_text feature, threshold, decision, left, right, leaf;
    int64_t splits, leaves;
} lists;

static void drop_lists(lists *l) {
    kw_text *all[] = {&l->feature, &l->threshold, &l->decision, &l->left, &l->right, &l->leaf};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        kw_text_drop(all[i]);
    }
}

static void add_double(kw_text *text, double value) {
    char digits[KW_NUMBER_TEXT];
    kw_number_print(digits, value);
    kw_text_addf(text, "%s%s", text->size ? " " : "", digits);
}

static void add_int(kw_text *text, int64_t value) {
    kw_text_addf(text, "%s%lld", text->size ? " " : "", (long long)value);
}

static int64_t int_at(const json_t *list, size_t i) {
    const json_t *value = json_array_get(list, i);
    return json_is_boolean(value) ? json_is_true(value) : json_is_integer(value) ? json_integer_value(value) : INT64_MIN;
}

static bool open_tree(tree *t, const json_t *node) {
    *t = (tree){.left = json_object_get(node, "left_children"),
                .right = json_object_get(node, "right_children"),
                .feature = json_object_get(node, "split_indices"),
                .value = json_object_get(node, "split_conditions"),
                .to_left = json_object_get(node, "default_left")};
    t->nodes = json_array_size(t->left);
    return t->nodes && t->nodes <= NODES_MAX && json_array_size(t->right) == t->nodes && json_array_size(t->feature) == t->nodes &&
           json_array_size(t->value) == t->nodes && json_array_size(t->to_left) == t->nodes &&
           !json_array_size(json_object_get(node, "categories_nodes"));
}

/* A node whose number in its parent's list of children is still to be filled in. */
typedef struct pending_node {
    int64_t node;
    int64_t *slot; /* of the parent; NULL: the root */
} pending_node;

/* Numbers splits and leaves in pre-order. child: two slots a split. */
static bool walk_tree(const tree *t, lists *l, int64_t *child, pending_node *stack, size_t features) {
    size_t depth = 0, visited = 0;
    stack[depth++] = (pending_node){0, NULL};
    while (depth) {
        pending_node at = stack[--depth];
        if (at.node < 0 || (size_t)at.node >= t->nodes || ++visited > t->nodes) {
            return false;
        }
        size_t node = (size_t)at.node;
        int64_t left = int_at(t->left, node), right = int_at(t->right, node), feature = int_at(t->feature, node);
        float value = (float)json_number_value(json_array_get(t->value, node));
        if (left == -1) {
            if (at.slot) {
                *at.slot = -1 - l->leaves;
            }
            l->leaves++;
            add_double(&l->leaf, (double)value);
            continue;
        }
        if (feature < 0 || (size_t)feature >= features || isnan(value)) {
            return false;
        }
        if (at.slot) {
            *at.slot = l->splits;
        }
        int64_t *slots = child + 2 * l->splits++;
        add_int(&l->feature, feature);
        add_double(&l->threshold, kw_xgboost_threshold(value));
        add_int(&l->decision, int_at(t->to_left, node) ? NAN_LEFT : NAN_RIGHT);
        stack[depth++] = (pending_node){right, slots + 1};
        stack[depth++] = (pending_node){left, slots};
    }
    for (int64_t i = 0; i < l->splits; i++) {
        add_int(&l->left, child[2 * i]);
        add_int(&l->right, child[2 * i + 1]);
    }
    return true;
}

static void add_lightgbm_tree(kw_text *trees, kw_text *sizes, int64_t number, const lists *l) {
    size_t before = trees->size;
    kw_text_addf(trees, "Tree=%lld\nnum_leaves=%lld\nnum_cat=0\n", (long long)number, (long long)l->leaves);
    kw_text_addf(trees, "split_feature=%s\n", kw_text_string(&l->feature));
    kw_text_addf(trees, "threshold=%s\n", kw_text_string(&l->threshold));
    kw_text_addf(trees, "decision_type=%s\n", kw_text_string(&l->decision));
    kw_text_addf(trees, "left_child=%s\n", kw_text_string(&l->left));
    kw_text_addf(trees, "right_child=%s\n", kw_text_string(&l->right));
    kw_text_addf(trees, "leaf_value=%s\nis_linear=0\nshrinkage=1\n\n\n", kw_text_string(&l->leaf));
    kw_text_addf(sizes, "%s%zu", sizes->size ? " " : "", trees->size - before);
}

static kw_status convert_tree(kw_text *trees, kw_text *sizes, int64_t number, const json_t *node, const kw_xgboost_model *model,
                              int64_t *splits, kw_error *err) {
    tree t;
    lists l = {0};
    if (!open_tree(&t, node)) {
        return kw_fail(err, KW_MALFORMED, "XGBoost's tree %lld is none of thresholds alone, or lacks an array", (long long)number);
    }
    int64_t *child = calloc(2 * t.nodes, sizeof *child);
    pending_node *stack = calloc(2 * t.nodes + 2, sizeof *stack);
    kw_status status = child && stack ? KW_OK : kw_fail_memory(err, "XGBoost's trees");
    if (!status && !walk_tree(&t, &l, child, stack, model->features->count)) {
        status = kw_fail(err, KW_MALFORMED, "XGBoost's tree %lld is no tree, or splits on a feature beyond %zu", (long long)number,
                         model->features->count);
    }
    const kw_text *all[] = {&l.feature, &l.threshold, &l.decision, &l.left, &l.right, &l.leaf};
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++) {
        status = all[i]->failed ? kw_fail_memory(err, "XGBoost's trees") : KW_OK;
    }
    if (!status) {
        add_lightgbm_tree(trees, sizes, number, &l);
        *splits += l.splits;
    }
    free(child);
    free(stack);
    drop_lists(&l);
    return status;
}

static void add_constant(kw_text *trees, kw_text *sizes, double value) {
    lists l = {.leaves = 1};
    add_double(&l.leaf, value);
    trees->failed |= l.leaf.failed;
    add_lightgbm_tree(trees, sizes, 0, &l);
    drop_lists(&l);
}

/* The trees of a text, with their sizes; returns how many there are. */
static int64_t add_before(kw_text *trees, kw_text *sizes, const char *before) {
    const char *at = strstr(before, "\nTree=0\n"), *end = at ? strstr(at, "\nend of trees") : NULL;
    int64_t count = 0;
    while (end && ++at < end) {
        const char *next = strstr(at, "\nTree=");
        const char *stop = next && next < end ? next : end;
        kw_text_add_bytes(trees, at, (size_t)(stop + 1 - at));
        kw_text_addf(sizes, "%s%zu", count++ ? " " : "", (size_t)(stop + 1 - at));
        at = stop;
    }
    return count;
}

static void add_model_head(kw_text *out, const kw_feature_table *features, const kw_text *sizes) {
    kw_text_addf(out, "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=%zu\nobjective=regression\n",
                 features->count - 1);
    kw_text_add(out, "feature_names=");
    for (size_t i = 0; i < features->count; i++) {
        kw_text_addf(out, "%s%s", i ? " " : "", features->features[i].name);
    }
    kw_text_add(out, "\nfeature_infos=");
    for (size_t i = 0; i < features->count; i++) {
        kw_text_add(out, i ? " none" : "none");
    }
    kw_text_addf(out, "\ntree_sizes=%s\n\n", kw_text_string(sizes));
}

kw_status kw_xgboost_text(kw_text *out, const kw_xgboost_model *model, int64_t *splits, kw_error *err) {
    kw_text trees = {0}, sizes = {0};
    int64_t count = 0, unasked = 0;
    splits = splits ? splits : &unasked;
    *splits = 0;
    json_t *root;
    kw_status status = kw_json_read(&root, "XGBoost's model", model->json, model->size, err);
    const json_t *list =
        json_object_get(json_object_get(json_object_get(json_object_get(root, "learner"), "gradient_booster"), "model"), "trees");
    if (!status && json_array_size(list) < (size_t)model->trees) {
        status = kw_fail(err, KW_MALFORMED, "XGBoost's model has not the %d trees that were trained", (int)model->trees);
    }
    if (!status && model->before) {
        count = add_before(&trees, &sizes, model->before);
    }
    if (!status && model->base != 0) {
        add_constant(&trees, &sizes, model->base);
        count++;
    }
    for (int32_t i = 0; i < model->trees && !status; i++) {
        status = convert_tree(&trees, &sizes, count++, json_array_get(list, (size_t)i), model, splits, err);
    }
    if (!status) {
        add_model_head(out, model->features, &sizes);
        kw_text_add_bytes(out, kw_text_string(&trees), trees.size);
        kw_text_add(out, "end of trees\n");
        status = trees.failed || sizes.failed || out->failed ? kw_fail_memory(err, "XGBoost's trees") : KW_OK;
    }
    json_decref(root);
    kw_text_drop(&trees);
    kw_text_drop(&sizes);
    return status;
}
