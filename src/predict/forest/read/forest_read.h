/* forest_read.h: what the files that read a model share. A reader works through the text once, line by line; whatever it refuses it
 * refuses through kw_forest_fail, which names the model and the place. */
#ifndef KW_PREDICT_FOREST_READ_FOREST_READ_H
#define KW_PREDICT_FOREST_READ_FOREST_READ_H

#include "predict/forest/forest_model.h"

#include "base/container/hash_map.h"
#include "base/text.h"

#include <locale.h>

/* The distinct conditions while trees are read: in the order of their first use, found by a hash of their bytes. */
typedef struct kw_forest_index {
    kw_forest_condition *conditions;
    size_t count, capacity;
    kw_hash_map numbers; /* of each in conditions */
} kw_forest_index;

/* Arrays for one tree; grow with the largest one. */
typedef struct kw_forest_nodes {
    size_t capacity; /* leaves */
    double *value;
    double *threshold;
    uint32_t *feature, *leaves, *order, *stack;
    uint8_t *decision;
    int32_t *left, *right;
    uint8_t *seen;
    uint32_t *bounds; /* category sets of the tree */
    size_t bounds_capacity;
} kw_forest_nodes;

typedef struct kw_forest_reader {
    kw_forest *forest;
    const char *name; /* of the model */
    kw_scan scan;
    int64_t tree; /* being read; -1 in the head and behind the trees */
    const char *key;
    locale_t plain; /* numbers are read as in the C locale */
    kw_forest_index index;
    kw_forest_nodes nodes;
    size_t leaf_capacity, tree_capacity, word_capacity;
    kw_error *err;
} kw_forest_reader;

/* Fills the error: model, tree, key, and what is wrong; returns status. */
kw_status kw_forest_fail(const kw_forest_reader *reader, kw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
kw_status kw_forest_no_memory(const kw_forest_reader *reader);

/* The next number of a list of numbers; says which one (from 0) is bad. */
kw_status kw_forest_real(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value);
/* The same for a threshold, which may be inf (all numbers go left) or -inf (all but itself go right), too. */
kw_status kw_forest_threshold(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value);
kw_status kw_forest_integer(const kw_forest_reader *reader, kw_scan *list, size_t position, int64_t low, int64_t high, int64_t *value);
/* The list holds no more than count numbers. */
kw_status kw_forest_list_end(const kw_forest_reader *reader, kw_scan *list, size_t count);

/* One line as key and value; a line without '=' has an empty value and has_value false. */
typedef struct kw_forest_pair {
    kw_word key, value;
    bool has_value;
} kw_forest_pair;
kw_forest_pair kw_forest_split_line(kw_word line);

/* The place of key among count names, or count. */
size_t kw_forest_find_key(const char *const *names, size_t count, kw_word key);

/* Reads the head, up to the first empty line: features, names, sizes of the trees (into the arena). */
kw_status kw_forest_read_head(kw_forest_reader *reader, uint64_t **sizes);
/* Reads tree number reader->tree, whose first line comes next. */
kw_status kw_forest_read_tree(kw_forest_reader *reader);

/* Reads a whole text model; name stands in messages. */
kw_status kw_forest_read_text(kw_forest **out, const char *name, kw_scan text, kw_error *err);

/* The number of this condition in the index; adds it where it is new. */
kw_status kw_forest_index_put(kw_forest_reader *reader, const kw_forest_condition *condition, uint32_t *number);
/* Sorts the conditions, numbers thresholds, fills the forest's columns. */
kw_status kw_forest_index_close(kw_forest_reader *reader);

#endif
