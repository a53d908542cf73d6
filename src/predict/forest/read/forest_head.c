/* forest_head.c: the head of a LightGBM text model. Keys that scoring does not need are passed over by name; a key that is not in the
 * list is refused, because it may change what a score means (average_output and linear trees do). */
#include "predict/forest/read/forest_read.h"

#include <stdlib.h>
#include <string.h>

enum head_key { VERSION, NUM_CLASS, TREES_PER_ITERATION, MAX_FEATURE, OBJECTIVE, NAMES, SIZES, LABEL, INFOS, MONOTONE, HEAD_KEYS };
enum { REQUIRED_HEAD = (1 << OBJECTIVE | 1 << LABEL | 1 << INFOS | 1 << MONOTONE) ^ ((1 << HEAD_KEYS) - 1) };

/* In the order of head_key; from label_index on they are passed over. */
static const char *const head_keys[HEAD_KEYS] = {
    "version",    "num_class",   "num_tree_per_iteration", "max_feature_idx",     "objective", "feature_names",
    "tree_sizes", "label_index", "feature_infos",          "monotone_constraints"};

/* Objectives whose raw score is their prediction. */
static const char *const objectives[] = {"regression", "regression_l1", "huber", "fair", "quantile", "mape", "lambdarank", "rank_xendcg"};

static kw_status read_head_lines(kw_forest_reader *reader, kw_word value[HEAD_KEYS]) {
    unsigned seen = 0;
    kw_word line;
    while (kw_scan_line(&reader->scan, &line) && line.size) {
        kw_forest_pair pair = kw_forest_split_line(line);
        size_t key = kw_forest_find_key(head_keys, HEAD_KEYS, pair.key);
        if (key == HEAD_KEYS) {
            return kw_forest_fail(reader, KW_ILLEGAL, "key %.*s of the head is not known%s", KW_WORD(pair.key),
                                  kw_word_is(pair.key, "average_output") ? ": a random forest's averages are not supported" : "");
        }
        reader->key = head_keys[key];
        if (!pair.has_value || seen >> key & 1) {
            return kw_forest_fail(reader, KW_MALFORMED, "%s", pair.has_value ? "comes twice" : "has no value");
        }
        seen |= 1u << key;
        value[key] = pair.value;
    }
    reader->key = NULL;
    for (size_t key = 0; key < HEAD_KEYS; key++) {
        if ((REQUIRED_HEAD >> key & 1) && !(seen >> key & 1)) {
            return kw_forest_fail(reader, KW_MALFORMED, "the head lacks %s", head_keys[key]);
        }
    }
    return KW_OK;
}

static kw_status read_objective(kw_forest_reader *reader, kw_word text) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word = {0};
    size_t count = sizeof objectives / sizeof *objectives;
    reader->forest->objective = kw_arena_copy(&reader->forest->arena, text.at, text.size);
    if (!reader->forest->objective) {
        return kw_forest_no_memory(reader);
    }
    bool first = kw_scan_word(&scan, &word);
    if (first && kw_forest_find_key(objectives, count, word) == count) {
        return kw_forest_fail(reader, KW_ILLEGAL,
                              "%.*s is not supported; use a regression or ranking objective, whose raw score is the answer", KW_WORD(word));
    }
    while (kw_scan_word(&scan, &word)) {
        if (kw_word_is(word, "sqrt")) {
            return kw_forest_fail(reader, KW_ILLEGAL, "reg_sqrt is not supported: its raw score is not the answer");
        }
    }
    return KW_OK;
}

static bool is_plain_name(kw_word word) {
    for (size_t i = 0; i < word.size; i++) {
        if ((unsigned char)word.at[i] < ' ' || word.at[i] == 0x7f) {
            return false;
        }
    }
    return word.size && word.size <= KW_FOREST_MAX_NAME;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Two features of one name could not be told apart by whoever fills them. */
static kw_status check_distinct(kw_forest_reader *reader) {
    kw_forest *forest = reader->forest;
    const char **sorted = malloc(forest->features * sizeof *sorted);
    kw_status status = KW_OK;
    if (!sorted) {
        return kw_forest_no_memory(reader);
    }
    memcpy(sorted, forest->names, forest->features * sizeof *sorted);
    qsort(sorted, forest->features, sizeof *sorted, compare_names);
    for (size_t i = 1; i < forest->features && !status; i++) {
        if (!strcmp(sorted[i - 1], sorted[i])) {
            status = kw_forest_fail(reader, KW_ILLEGAL, "%.80s stands twice", sorted[i]);
        }
    }
    free(sorted);
    return status;
}

static kw_status read_feature_names(kw_forest_reader *reader, kw_word text) {
    kw_forest *forest = reader->forest;
    kw_scan scan = {text.at, text.at + text.size};
    forest->names = kw_arena_array(&forest->arena, forest->features, sizeof *forest->names);
    forest->columns = kw_arena_array(&forest->arena, forest->features, sizeof *forest->columns);
    if (!forest->names || !forest->columns) {
        return kw_forest_no_memory(reader);
    }
    for (size_t i = 0; i < forest->features; i++) {
        kw_word word;
        if (!kw_scan_field(&scan, ' ', &word)) {
            return kw_forest_fail(reader, KW_MALFORMED, "%zu names where max_feature_idx asks for %zu", i, forest->features);
        }
        if (!is_plain_name(word)) {
            return kw_forest_fail(reader, KW_ILLEGAL, "name %zu is empty, longer than %d bytes, or has a control character", i,
                                  KW_FOREST_MAX_NAME);
        }
        forest->names[i] = kw_arena_copy(&forest->arena, word.at, word.size);
        if (!forest->names[i]) {
            return kw_forest_no_memory(reader);
        }
    }
    kw_status status = kw_forest_list_end(reader, &scan, forest->features);
    return status ? status : check_distinct(reader);
}

static size_t count_words(kw_word text) {
    size_t count = text.size != 0;
    for (size_t i = 0; i < text.size; i++) {
        count += text.at[i] == ' ';
    }
    return count;
}

static kw_status read_tree_sizes(kw_forest_reader *reader, kw_word text, uint64_t **sizes) {
    kw_forest *forest = reader->forest;
    kw_scan list = {text.at, text.at + text.size};
    forest->trees = count_words(text);
    if (!forest->trees || forest->trees > KW_FOREST_MAX_TREES) {
        return kw_forest_fail(reader, KW_ILLEGAL, "%zu trees; a model has 1 to %d", forest->trees, KW_FOREST_MAX_TREES);
    }
    *sizes = kw_arena_array(&forest->arena, forest->trees, sizeof **sizes);
    forest->tree_leaf = calloc(forest->trees + 1, sizeof *forest->tree_leaf);
    if (!*sizes || !forest->tree_leaf) {
        return kw_forest_no_memory(reader);
    }
    for (size_t i = 0; i < forest->trees; i++) {
        int64_t size = 0;
        kw_status status = kw_forest_integer(reader, &list, i, 1, KW_FOREST_MAX_TEXT, &size);
        if (status) {
            return status;
        }
        (*sizes)[i] = (uint64_t)size;
    }
    return kw_forest_list_end(reader, &list, forest->trees);
}

static kw_status read_integer(kw_forest_reader *reader, kw_word text, enum head_key key, int64_t high, int64_t *value) {
    kw_scan list = {text.at, text.at + text.size};
    reader->key = head_keys[key];
    kw_status status = kw_forest_integer(reader, &list, 0, 0, high, value);
    return status ? status : kw_forest_list_end(reader, &list, 1);
}

static kw_status check_head_value(kw_forest_reader *reader, kw_word text, enum head_key key) {
    int64_t value = 0;
    kw_status status = read_integer(reader, text, key, INT32_MAX, &value);
    if (!status && value != 1) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "%lld; models with one output are supported, so 1", (long long)value);
    }
    return status;
}

kw_status kw_forest_read_head(kw_forest_reader *reader, uint64_t **sizes) {
    kw_word value[HEAD_KEYS] = {[OBJECTIVE] = {"", 0}}; /* what is not required */
    int64_t last_feature = 0;
    kw_status status = read_head_lines(reader, value);
    if (status) {
        return status;
    }
    reader->key = head_keys[VERSION];
    if (!kw_word_is(value[VERSION], "v4")) {
        return kw_forest_fail(reader, KW_ILLEGAL, "%.*s is not supported; save the model with LightGBM 4, which writes v4",
                              KW_WORD(value[VERSION]));
    }
    status = check_head_value(reader, value[NUM_CLASS], NUM_CLASS);
    status = status ? status : check_head_value(reader, value[TREES_PER_ITERATION], TREES_PER_ITERATION);
    status = status ? status : read_integer(reader, value[MAX_FEATURE], MAX_FEATURE, KW_FOREST_MAX_FEATURES - 1, &last_feature);
    reader->forest->features = (size_t)last_feature + 1;
    reader->key = head_keys[OBJECTIVE];
    status = status ? status : read_objective(reader, value[OBJECTIVE]);
    reader->key = head_keys[NAMES];
    status = status ? status : read_feature_names(reader, value[NAMES]);
    reader->key = head_keys[SIZES];
    status = status ? status : read_tree_sizes(reader, value[SIZES], sizes);
    reader->key = status ? reader->key : NULL;
    return status;
}
