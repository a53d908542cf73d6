/* forest_tree.c: one tree of a LightGBM text model, checked and laid out in pre-order (forest_model.h). A tree is believed when every
 * split and every leaf was reached exactly once from split 0: then there is no cycle, nothing shared and nothing left over. */
#include "predict/forest/read/forest_read.h"

#include "base/container/array.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum tree_key {
    LEAVES,
    CATEGORIES,
    FEATURE,
    THRESHOLD,
    DECISION,
    LEFT,
    RIGHT,
    VALUE,
    LINEAR,
    CAT_BOUNDS,
    CAT_WORDS,
    PASSED_OVER, /* from here on */
    TREE_KEYS = PASSED_OVER + 7
};

/* In the order of tree_key. */
static const char *const tree_keys[TREE_KEYS] = {"num_leaves",      "num_cat",        "split_feature", "threshold",  "decision_type",
                                                 "left_child",      "right_child",    "leaf_value",    "is_linear",  "cat_boundaries",
                                                 "cat_threshold",   "split_gain",     "leaf_weight",   "leaf_count", "internal_value",
                                                 "internal_weight", "internal_count", "shrinkage"};

typedef struct tree_text {
    kw_word value[TREE_KEYS];
    unsigned seen;
    size_t leaves, sets; /* sets: categorical splits */
} tree_text;

static kw_scan open_tree_list(kw_forest_reader *reader, const tree_text *text, enum tree_key key) {
    reader->key = tree_keys[key];
    return (kw_scan){text->value[key].at, text->value[key].at + text->value[key].size};
}

static kw_status read_tree_lines(kw_forest_reader *reader, tree_text *text) {
    kw_word line;
    char head[32];
    int length = snprintf(head, sizeof head, "Tree=%lld", (long long)reader->tree);
    if (!kw_scan_line(&reader->scan, &line) || line.size != (size_t)length || memcmp(line.at, head, line.size)) {
        return kw_forest_fail(reader, KW_MALFORMED, "does not begin with the line \"%s\"", head);
    }
    while (kw_scan_line(&reader->scan, &line) && line.size) {
        kw_forest_pair pair = kw_forest_split_line(line);
        size_t key = kw_forest_find_key(tree_keys, TREE_KEYS, pair.key);
        if (key == TREE_KEYS) {
            return kw_forest_fail(reader, KW_ILLEGAL, "key %.*s is not known", KW_WORD(pair.key));
        }
        reader->key = tree_keys[key];
        if (!pair.has_value || text->seen >> key & 1) {
            return kw_forest_fail(reader, KW_MALFORMED, "%s", pair.has_value ? "comes twice" : "has no value");
        }
        text->seen |= 1u << key;
        text->value[key] = pair.value;
    }
    reader->key = NULL;
    if (!kw_scan_line(&reader->scan, &line) || line.size) {
        return kw_forest_fail(reader, KW_MALFORMED, "does not end with two empty lines");
    }
    return KW_OK;
}

static kw_status read_count(kw_forest_reader *reader, const tree_text *text, enum tree_key key, int64_t high, int64_t *value) {
    kw_scan list = open_tree_list(reader, text, key);
    kw_status status = kw_forest_integer(reader, &list, 0, 0, high, value);
    return status ? status : kw_forest_list_end(reader, &list, 1);
}

/* The keys that must be there, and the counts. */
static kw_status read_counts(kw_forest_reader *reader, tree_text *text) {
    int64_t leaves = 0, sets = 0, linear = 0;
    for (size_t key = 0; key < CAT_BOUNDS; key++) {
        if (!(text->seen >> key & 1) && key != LINEAR) {
            return kw_forest_fail(reader, KW_MALFORMED, "lacks %s", tree_keys[key]);
        }
    }
    kw_status status = read_count(reader, text, LEAVES, KW_FOREST_MAX_TREE_LEAVES, &leaves);
    if (!status && !leaves) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "0; a tree has a leaf");
    }
    status = status ? status : read_count(reader, text, CATEGORIES, leaves - 1, &sets);
    if (!status && text->seen >> LINEAR & 1) {
        status = read_count(reader, text, LINEAR, 1, &linear);
    }
    if (!status && linear) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "linear trees are not supported; train with linear_tree=false");
    }
    reader->key = status ? reader->key : NULL;
    unsigned both = 1u << CAT_BOUNDS | 1u << CAT_WORDS;
    if (!status && (text->seen & both) != (sets ? both : 0)) {
        status = kw_forest_fail(reader, KW_MALFORMED, "num_cat is %lld: cat_boundaries and cat_threshold %s", (long long)sets,
                                sets ? "must be there" : "must not be there");
    }
    text->leaves = (size_t)leaves;
    text->sets = (size_t)sets;
    return status;
}

static bool reserve_nodes(kw_forest_reader *reader, size_t leaves) {
    kw_forest_nodes *n = &reader->nodes;
    struct {
        void *array;
        size_t size;
    } parts[] = {{&n->value, sizeof *n->value},       {&n->threshold, sizeof *n->threshold}, {&n->feature, sizeof *n->feature},
                 {&n->leaves, sizeof *n->leaves},     {&n->order, sizeof *n->order},         {&n->stack, sizeof *n->stack},
                 {&n->decision, sizeof *n->decision}, {&n->left, sizeof *n->left},           {&n->right, sizeof *n->right},
                 {&n->seen, sizeof *n->seen}};
    size_t reached = n->capacity;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t capacity = n->capacity;
        if (!kw_array_reserve(parts[i].array, &capacity, leaves, parts[i].size)) {
            return false;
        }
        reached = capacity;
    }
    n->capacity = reached;
    return true;
}

static kw_status read_integers(kw_forest_reader *reader, const tree_text *text, enum tree_key key, int64_t low, int64_t high,
                               int32_t *into) {
    kw_scan list = open_tree_list(reader, text, key);
    kw_status status = KW_OK;
    for (size_t i = 0; i + 1 < text->leaves && !status; i++) {
        int64_t value = 0;
        status = kw_forest_integer(reader, &list, i, low, high, &value);
        into[i] = (int32_t)value;
    }
    return status ? status : kw_forest_list_end(reader, &list, text->leaves - 1);
}

static kw_status read_tree_values(kw_forest_reader *reader, const tree_text *text) {
    kw_scan list = open_tree_list(reader, text, VALUE);
    kw_status status = KW_OK;
    for (size_t i = 0; i < text->leaves && !status; i++) {
        status = kw_forest_real(reader, &list, i, &reader->nodes.value[i]);
    }
    return status ? status : kw_forest_list_end(reader, &list, text->leaves);
}

static kw_status read_thresholds(kw_forest_reader *reader, const tree_text *text) {
    kw_scan list = open_tree_list(reader, text, THRESHOLD);
    kw_status status = KW_OK;
    for (size_t i = 0; i + 1 < text->leaves && !status; i++) {
        status = kw_forest_threshold(reader, &list, i, &reader->nodes.threshold[i]);
    }
    return status ? status : kw_forest_list_end(reader, &list, text->leaves - 1);
}

/* Bits 0 categorical, 1 default left, 2-3 kind of missing value (0..2); a categorical split has no other bit than those of its kind. */
static kw_status read_decisions(kw_forest_reader *reader, const tree_text *text) {
    kw_scan list = open_tree_list(reader, text, DECISION);
    size_t sets = 0;
    for (size_t i = 0; i + 1 < text->leaves; i++) {
        int64_t value = 0;
        kw_status status = kw_forest_integer(reader, &list, i, 0, 15, &value);
        if (!status && value >> 2 == 3) {
            status = kw_forest_fail(reader, KW_ILLEGAL, "value %lld at position %zu: kind of missing value 3; there are 0 to 2",
                                    (long long)value, i);
        }
        if (status) {
            return status;
        }
        reader->nodes.decision[i] = (uint8_t)value;
        sets += (size_t)value & 1;
    }
    if (sets != text->sets) {
        return kw_forest_fail(reader, KW_ILLEGAL, "%zu categorical splits where num_cat says %zu", sets, text->sets);
    }
    return kw_forest_list_end(reader, &list, text->leaves - 1);
}

/* The highest set bit of a set stands at most at KW_FOREST_MAX_CATEGORY: longer sets are refused, empty tails as well. */
static kw_status read_sets(kw_forest_reader *reader, const tree_text *text) {
    kw_forest *forest = reader->forest;
    kw_forest_nodes *nodes = &reader->nodes;
    kw_scan list = open_tree_list(reader, text, CAT_BOUNDS);
    if (!KW_ARRAY_RESERVE(nodes->bounds, nodes->bounds_capacity, text->sets + 1)) {
        return kw_forest_no_memory(reader);
    }
    int64_t before = 0;
    for (size_t i = 0; i <= text->sets; i++) {
        int64_t value = 0, longest = (KW_FOREST_MAX_CATEGORY + 1) / 32;
        kw_status status = kw_forest_integer(reader, &list, i, i ? before + 1 : 0, i ? before + longest : 0, &value);
        if (status) {
            return status;
        }
        nodes->bounds[i] = (uint32_t)value;
        before = value;
    }
    size_t count = (size_t)before;
    kw_status status = kw_forest_list_end(reader, &list, text->sets + 1);
    list = open_tree_list(reader, text, CAT_WORDS);
    if (!status && forest->word_count + count > KW_FOREST_MAX_CATEGORY_WORDS) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "more than %d words of categories in all trees", KW_FOREST_MAX_CATEGORY_WORDS);
    }
    if (!status && !KW_ARRAY_RESERVE(forest->words, reader->word_capacity, forest->word_count + count)) {
        status = kw_forest_no_memory(reader);
    }
    for (size_t i = 0; i < count && !status; i++) {
        int64_t value = 0;
        status = kw_forest_integer(reader, &list, i, 0, UINT32_MAX, &value);
        forest->words[forest->word_count + i] = (uint32_t)value;
    }
    return status ? status : kw_forest_list_end(reader, &list, count);
}

static kw_status read_arrays(kw_forest_reader *reader, const tree_text *text) {
    kw_forest_nodes *nodes = &reader->nodes;
    int64_t splits = (int64_t)text->leaves - 1;
    kw_status status = read_integers(reader, text, FEATURE, 0, (int64_t)reader->forest->features - 1, (int32_t *)nodes->feature);
    status = status ? status : read_thresholds(reader, text);
    status = status ? status : read_decisions(reader, text);
    status = status ? status : read_integers(reader, text, LEFT, -(int64_t)text->leaves, splits - 1, nodes->left);
    status = status ? status : read_integers(reader, text, RIGHT, -(int64_t)text->leaves, splits - 1, nodes->right);
    status = status ? status : read_tree_values(reader, text);
    return status || !text->sets ? status : read_sets(reader, text);
}

/* Writes the splits in pre-order into nodes->order and the leaf values behind the forest's; each is met once. */
static kw_status walk_nodes(kw_forest_reader *reader, size_t leaves, double *values) {
    kw_forest_nodes *nodes = &reader->nodes;
    size_t depth = 0, splits = 0, reached = 0;
    memset(nodes->seen, 0, leaves);
    nodes->stack[depth++] = leaves > 1 ? 0 : UINT32_MAX; /* a child as in the file: split, or -1 - leaf */
    while (depth) {
        int32_t child = (int32_t)nodes->stack[--depth];
        size_t number = child < 0 ? (size_t)(-1 - (int64_t)child) : (size_t)child;
        uint8_t mark = child < 0 ? 2 : 1;
        if (nodes->seen[number] & mark) {
            return kw_forest_fail(reader, KW_ILLEGAL, "left_child, right_child: %s %zu is reached twice", mark == 1 ? "split" : "leaf",
                                  number);
        }
        nodes->seen[number] |= mark;
        if (mark == 2) {
            values[reached++] = nodes->value[number];
            continue;
        }
        nodes->order[splits++] = (uint32_t)number;
        nodes->stack[depth++] = (uint32_t)nodes->right[number];
        nodes->stack[depth++] = (uint32_t)nodes->left[number];
    }
    if (splits + 1 != leaves || reached != leaves) {
        return kw_forest_fail(reader, KW_ILLEGAL, "left_child, right_child: %zu of %zu splits and %zu of %zu leaves are reached", splits,
                              leaves - 1, reached, leaves);
    }
    return KW_OK;
}

static kw_status condition_of(kw_forest_reader *reader, const tree_text *text, size_t split, kw_forest_condition *condition) {
    const kw_forest_nodes *nodes = &reader->nodes;
    double threshold = nodes->threshold[split];
    uint8_t decision = nodes->decision[split];
    *condition = (kw_forest_condition){.feature = nodes->feature[split]};
    if (decision & 1) {
        if (!(threshold >= 0 && threshold < (double)text->sets)) {
            reader->key = tree_keys[THRESHOLD];
            return kw_forest_fail(reader, KW_ILLEGAL, "value %g at position %zu names no category set; there are %zu", threshold, split,
                                  text->sets);
        }
        size_t set = (size_t)threshold;
        condition->missing = KW_MISSING_CATEGORY;
        condition->bin = (uint32_t)(reader->forest->word_count + nodes->bounds[set]);
        condition->words = nodes->bounds[set + 1] - nodes->bounds[set];
        return KW_OK;
    }
    bool left = decision >> 1 & 1, zero_left = 0 <= threshold;
    condition->threshold = threshold + 0.0; /* no negative zero */
    condition->missing = decision >> 2;
    condition->zero_left = condition->missing == KW_MISSING_ZERO ? left : zero_left;
    condition->nan_left = condition->missing == KW_MISSING_NONE ? zero_left : left;
    condition->left = condition->missing == KW_MISSING_NONE ? 0 : left; /* does not matter: let them be equal */
    return KW_OK;
}

/* Leaf counts from the leaves up: in pre-order a split's children stand behind it. */
static kw_status lay_out_tree(kw_forest_reader *reader, const tree_text *text, size_t first) {
    kw_forest *forest = reader->forest;
    kw_forest_nodes *nodes = &reader->nodes;
    for (size_t i = text->leaves - 1; i-- > 0;) {
        size_t split = nodes->order[i];
        int32_t left = nodes->left[split], right = nodes->right[split];
        uint32_t left_leaves = left < 0 ? 1 : nodes->leaves[left];
        kw_forest_condition condition;
        uint32_t number = 0;
        kw_status status = condition_of(reader, text, split, &condition);
        status = status ? status : kw_forest_index_put(reader, &condition, &number);
        if (status) {
            return status;
        }
        nodes->leaves[split] = left_leaves + (right < 0 ? 1 : nodes->leaves[right]);
        assert(left_leaves < nodes->leaves[split] && nodes->leaves[split] <= text->leaves); /* a subtree of n leaves has n - 1 splits */
        forest->splits[first + i] = kw_forest_split_make(number, left_leaves);
    }
    return KW_OK;
}

static kw_status make_forest_room(kw_forest_reader *reader, size_t leaves) {
    kw_forest *forest = reader->forest;
    size_t capacity = reader->leaf_capacity, values = capacity;
    if (leaves > KW_FOREST_MAX_LEAVES) {
        return kw_forest_fail(reader, KW_ILLEGAL, "more than %d leaves in all trees", KW_FOREST_MAX_LEAVES);
    }
    if (!KW_ARRAY_RESERVE(forest->splits, capacity, leaves) || !KW_ARRAY_RESERVE(forest->values, values, leaves)) {
        return kw_forest_no_memory(reader);
    }
    reader->leaf_capacity = capacity;
    return KW_OK;
}

kw_status kw_forest_read_tree(kw_forest_reader *reader) {
    kw_forest *forest = reader->forest;
    size_t tree = (size_t)reader->tree, first = forest->tree_leaf[tree];
    tree_text text = {0};
    kw_status status = read_tree_lines(reader, &text);
    status = status ? status : read_counts(reader, &text);
    if (!status && !reserve_nodes(reader, text.leaves)) {
        status = kw_forest_no_memory(reader);
    }
    status = status ? status : make_forest_room(reader, first + text.leaves);
    status = status ? status : read_arrays(reader, &text);
    reader->key = status ? reader->key : NULL;
    status = status ? status : walk_nodes(reader, text.leaves, forest->values + first);
    status = status ? status : lay_out_tree(reader, &text, first - tree);
    if (!status) {
        forest->tree_leaf[tree + 1] = (uint32_t)(first + text.leaves);
        forest->word_count += text.sets ? reader->nodes.bounds[text.sets] : 0;
    }
    return status;
}
