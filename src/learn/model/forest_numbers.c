/* forest_numbers.c: the head's lists are laid out anew; of each tree the features of its splits are replaced and its sets of categories made
 * again, all else is copied. kw_forest_text_compact then counts the bytes of the trees. */
#include "learn/model/forest_numbers.h"

#include "base/container/arena.h"
#include "learn/model/forest_text.h"

#include <string.h>

typedef struct numbers {
    const kw_feature_number *old;
    const char *const *names;
    size_t old_count, count;
    kw_word *old_names; /* of the text */
    kw_arena arena;     /* of a tree */
    kw_text *out;
    kw_error *err;
} numbers;

/* What stands behind the key, or nothing where the line has another. */
static bool value_of(kw_word *value, kw_word line, const char *key) {
    size_t size = strlen(key);
    bool has = kw_word_starts(line, key);
    *value = has ? (kw_word){line.at + size, line.size - size} : (kw_word){line.at, 0};
    return has;
}

static kw_scan scan_of(kw_word list) {
    return (kw_scan){list.at, list.at + list.size};
}

static size_t count_words(kw_word list) {
    kw_scan scan = scan_of(list);
    kw_word word;
    size_t count = 0;
    while (kw_scan_word(&scan, &word)) {
        count++;
    }
    return count;
}

/* --- the head ------------------------------------------------------------------------------------------------------- */

static kw_status read_old_names(numbers *n, kw_arena *arena, kw_word list) {
    n->old_count = count_words(list);
    n->old_names = kw_arena_array(arena, n->old_count + 1, sizeof *n->old_names);
    kw_scan scan = scan_of(list);
    for (size_t i = 0; n->old_names && i < n->old_count; i++) {
        kw_scan_word(&scan, &n->old_names[i]);
    }
    return n->old_names ? KW_OK : kw_fail_memory(n->err, "the features of a model");
}

/* What the text says of each feature's values, where the feature stands now. */
static kw_status add_infos(numbers *n, kw_arena *arena, kw_word list) {
    kw_word *infos = kw_arena_array(arena, n->count + 1, sizeof *infos), word;
    kw_scan scan = scan_of(list);
    if (!infos) {
        return kw_fail_memory(n->err, "the features of a model");
    }
    for (size_t i = 0; i < n->old_count && kw_scan_word(&scan, &word); i++) {
        if (n->old[i].position >= 0 && !n->old[i].codes) {
            infos[n->old[i].position] = word;
        }
    }
    kw_text_add(n->out, "feature_infos=");
    for (size_t i = 0; i < n->count; i++) {
        kw_text_add(n->out, i ? " " : "");
        kw_text_add_bytes(n->out, infos[i].size ? infos[i].at : "none", infos[i].size ? infos[i].size : 4);
    }
    kw_text_add(n->out, "\n");
    return KW_OK;
}

static void add_names(numbers *n) {
    kw_text_add(n->out, "feature_names=");
    for (size_t i = 0; i < n->count; i++) {
        kw_text_addf(n->out, "%s%s", i ? " " : "", n->names[i]);
    }
    kw_text_add(n->out, "\n");
}

/* Up to the first tree, whose line is left in *line. */
static kw_status renumber_head(numbers *n, kw_arena *arena, kw_scan *scan, kw_word *line) {
    kw_word value, infos = {"", 0};
    kw_status status = KW_OK;
    bool more;
    while (!status && (more = kw_scan_line(scan, line)) && !kw_word_starts(*line, "Tree=")) {
        if (value_of(&value, *line, "feature_names=")) {
            status = read_old_names(n, arena, value);
            add_names(n);
        } else if (value_of(&value, *line, "max_feature_idx=")) {
            kw_text_addf(n->out, "max_feature_idx=%zu\n", n->count - 1);
        } else if (value_of(&value, *line, "feature_infos=")) {
            infos = value;
        } else if (line->size && !kw_word_starts(*line, "tree_sizes=") && !kw_word_starts(*line, "monotone_constraints=")) {
            kw_text_add_bytes(n->out, line->at, line->size);
            kw_text_add(n->out, "\n");
        }
    }
    status = status ? status : add_infos(n, arena, infos);
    kw_text_add(n->out, "\n");
    return status;
}

/* --- a tree --------------------------------------------------------------------------------------------------------- */

typedef struct tree {
    kw_word features, thresholds, decisions, bounds, sets;
    int64_t *owner; /* the feature that each set of categories belongs to */
    size_t set_count;
} tree;

enum { CATEGORICAL = 1 }; /* of a decision */

/* Which feature each set belongs to. The text has been read strictly, so the lists are as long as one another and a set has one split. */
static kw_status find_owners(numbers *n, tree *t) {
    kw_scan features = scan_of(t->features), thresholds = scan_of(t->thresholds), decisions = scan_of(t->decisions);
    kw_word word[3];
    size_t bounds = count_words(t->bounds);
    t->set_count = bounds ? bounds - 1 : 0;
    t->owner = kw_arena_array(&n->arena, t->set_count + 1, sizeof *t->owner);
    if (!t->owner) {
        return kw_fail_memory(n->err, "a tree");
    }
    while (kw_scan_word(&features, &word[0]) && kw_scan_word(&thresholds, &word[1]) && kw_scan_word(&decisions, &word[2])) {
        int64_t feature = 0, set = 0, decision = 0;
        if (!kw_word_int(word[0], 0, (int64_t)n->old_count - 1, &feature) || !kw_word_int(word[2], 0, INT32_MAX, &decision)) {
            return kw_fail(n->err, KW_MALFORMED, "split on feature %.*s, decision %.*s: not of this model", KW_WORD(word[0]),
                           KW_WORD(word[2]));
        }
        if (n->old[feature].position < 0) {
            return kw_fail(n->err, KW_ILLEGAL, "its trees ask about feature %.*s, which is no more", KW_WORD(n->old_names[feature]));
        }
        if (decision & CATEGORICAL && kw_word_int(word[1], 0, (int64_t)t->set_count - 1, &set)) {
            t->owner[set] = feature;
        }
    }
    return KW_OK;
}

static void add_features(numbers *n, kw_word list) {
    kw_scan scan = scan_of(list);
    kw_word word;
    const char *blank = "";
    kw_text_add(n->out, "split_feature=");
    while (kw_scan_word(&scan, &word)) {
        int64_t feature = 0;
        kw_word_int(word, 0, (int64_t)n->old_count - 1, &feature);
        kw_text_addf(n->out, "%s%d", blank, (int)n->old[feature].position);
        blank = " ";
    }
    kw_text_add(n->out, "\n");
}

/* One set in its new codes; to has room for them. Returns its words, at least one. */
static size_t recode_set(uint32_t *to, const uint32_t *from, size_t words, const kw_feature_number *feature) {
    size_t used = 1;
    to[0] = 0;
    for (size_t code = 0; code < words * 32 && code < feature->code_count; code++) {
        int32_t now = feature->codes[code];
        if (from[code / 32] >> code % 32 & 1 && now >= 0) {
            for (; used <= (size_t)now / 32; used++) {
                to[used] = 0;
            }
            to[now / 32] |= 1u << now % 32;
        }
    }
    return used;
}

static size_t most_words(const numbers *n) {
    size_t most = 1;
    for (size_t i = 0; i < n->old_count; i++) {
        for (size_t j = 0; n->old[i].codes && j < n->old[i].code_count; j++) {
            size_t words = n->old[i].codes[j] < 0 ? 1 : (size_t)n->old[i].codes[j] / 32 + 1;
            most = words > most ? words : most;
        }
    }
    return most;
}

/* Both lists of the sets, cat_boundaries and cat_threshold. */
static kw_status add_sets(numbers *n, const tree *t) {
    size_t words = count_words(t->sets);
    uint32_t *from = kw_arena_array(&n->arena, words + 1, sizeof *from), *to = kw_arena_array(&n->arena, most_words(n), sizeof *to);
    kw_scan bounds = scan_of(t->bounds), sets = scan_of(t->sets);
    kw_text lists[2] = {{0}, {0}};
    kw_word word;
    if (!from || !to) {
        return kw_fail_memory(n->err, "a tree");
    }
    for (size_t i = 0; kw_scan_word(&sets, &word); i++) {
        int64_t value = 0;
        kw_word_int(word, 0, UINT32_MAX, &value);
        from[i] = (uint32_t)value;
    }
    size_t done = 0;
    int64_t start = 0, end = 0;
    kw_scan_word(&bounds, &word);
    kw_text_add(&lists[0], "cat_boundaries=0");
    kw_text_add(&lists[1], "cat_threshold=");
    for (size_t set = 0; set < t->set_count && kw_scan_word(&bounds, &word); set++, start = end) {
        if (!kw_word_int(word, start, (int64_t)words, &end)) {
            break;
        }
        const kw_feature_number *feature = &n->old[t->owner[set]];
        size_t size = (size_t)(end - start);
        const uint32_t *made = from + start;
        if (feature->codes) {
            size = recode_set(to, made, size, feature);
            made = to;
        }
        for (size_t i = 0; i < size; i++, done++) {
            kw_text_addf(&lists[1], "%s%u", done ? " " : "", made[i]);
        }
        kw_text_addf(&lists[0], " %zu", done);
    }
    kw_text_addf(n->out, "%s\n%s\n", kw_text_string(&lists[0]), kw_text_string(&lists[1]));
    bool failed = lists[0].failed || lists[1].failed;
    kw_text_drop(&lists[0]);
    kw_text_drop(&lists[1]);
    return failed ? kw_fail_memory(n->err, "a tree") : KW_OK;
}

/* From the line "Tree=N" on; *line is left at the next tree's or at the end. */
static kw_status renumber_tree(numbers *n, kw_scan *scan, kw_word *line) {
    kw_scan again = *scan;
    kw_word first = *line, value;
    tree t = {.features = {"", 0}};
    bool more;
    while ((more = kw_scan_line(scan, line)) && line->size) {
        t.features = value_of(&value, *line, "split_feature=") ? value : t.features;
        t.thresholds = value_of(&value, *line, "threshold=") ? value : t.thresholds;
        t.decisions = value_of(&value, *line, "decision_type=") ? value : t.decisions;
        t.bounds = value_of(&value, *line, "cat_boundaries=") ? value : t.bounds;
        t.sets = value_of(&value, *line, "cat_threshold=") ? value : t.sets;
    }
    kw_status status = find_owners(n, &t);
    kw_text_add_bytes(n->out, first.at, first.size);
    kw_text_add(n->out, "\n");
    while (!status && kw_scan_line(&again, line) && line->size) {
        if (value_of(&value, *line, "split_feature=")) {
            add_features(n, value);
        } else if (value_of(&value, *line, "cat_boundaries=")) {
            status = add_sets(n, &t);
        } else if (!kw_word_starts(*line, "cat_threshold=")) {
            kw_text_add_bytes(n->out, line->at, line->size);
            kw_text_add(n->out, "\n");
        }
    }
    kw_text_add(n->out, "\n\n");
    kw_arena_drop(&n->arena);
    while (more && !line->size) {
        more = kw_scan_line(scan, line);
    }
    return status;
}

kw_status kw_forest_text_renumber(kw_text *out, const char *text, const kw_feature_number *old, const char *const *names, size_t count,
                                  kw_error *err) {
    kw_text made = {0};
    kw_arena arena = {0};
    numbers n = {.old = old, .names = names, .count = count, .out = &made, .err = err};
    kw_scan scan = kw_scan_string(text);
    kw_word line = {"", 0};
    kw_status status = renumber_head(&n, &arena, &scan, &line);
    while (!status && kw_word_starts(line, "Tree=")) {
        status = renumber_tree(&n, &scan, &line);
    }
    kw_text_add(&made, "end of trees\n");
    if (!status && made.failed) {
        status = kw_fail_memory(err, "the model's text");
    }
    status = status ? status : kw_forest_text_compact(out, made.data, INT64_MAX, err);
    kw_arena_drop(&arena);
    kw_text_drop(&made);
    return status;
}
