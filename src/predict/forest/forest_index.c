/* forest_index.c: the distinct conditions of a forest. While trees are read they are numbered as they come; at the end they are sorted,
 * so that each feature's lie together by threshold, and the splits get the new numbers. Two categorical conditions are one only where
 * they name the same set of the same tree. */
#include "predict/forest/read/forest_read.h"

#include "base/container/array.h"
#include "base/hash.h"
#include "base/order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What tells conditions apart, without padding. */
typedef struct condition_key {
    uint64_t threshold;
    uint32_t feature, bin, words, kind;
} condition_key;

static condition_key condition_hash_key(const kw_forest_condition *c) {
    condition_key key = {.feature = c->feature, .bin = c->bin, .words = c->words};
    memcpy(&key.threshold, &c->threshold, sizeof key.threshold);
    key.kind = (uint32_t)c->missing << 8 | c->left;
    return key;
}

static bool is_condition(const kw_hash_map_key *key, uintptr_t value) {
    const kw_forest_index *index = key->owner;
    condition_key other = condition_hash_key(&index->conditions[value]);
    return !memcmp(key->key, &other, sizeof other);
}

kw_status kw_forest_index_put(kw_forest_reader *reader, const kw_forest_condition *condition, uint32_t *number) {
    kw_forest_index *index = &reader->index;
    condition_key bytes = condition_hash_key(condition);
    kw_hash_map_key key = {kw_hash64(&bytes, sizeof bytes), is_condition, index, &bytes};
    const uintptr_t *found = kw_hash_map_find(&index->numbers, &key);
    assert(index->count == index->numbers.count);
    if (found) {
        *number = (uint32_t)*found;
    } else if (index->count < UINT32_MAX && KW_ARRAY_RESERVE(index->conditions, index->capacity, index->count + 1) &&
               kw_hash_map_reserve(&index->numbers, index->count + 1)) {
        *number = (uint32_t)index->count;
        kw_hash_map_put(&index->numbers, key.hash, index->count);
        index->conditions[index->count++] = *condition;
    } else {
        return kw_forest_no_memory(reader);
    }
    reader->forest->columns[condition->feature].splits++;
    return KW_OK;
}

/* A condition and its number before sorting. */
typedef struct numbered {
    kw_forest_condition condition;
    uint32_t number;
} numbered;

static int compare_conditions(const void *left, const void *right) {
    const numbered *p = left, *q = right;
    const kw_forest_condition *a = &p->condition, *b = &q->condition;
    int order = kw_order_int(a->feature, b->feature);
    order = order ? order : (a->threshold > b->threshold) - (a->threshold < b->threshold);
    order = order ? order : kw_order_int(a->missing, b->missing);
    order = order ? order : kw_order_int(a->left, b->left);
    return order ? order : kw_order_int(p->number, q->number);
}

/* Bins of numeric feature i, whose conditions are sorted: each new threshold begins one. */
static kw_status number_thresholds(kw_forest_reader *reader, size_t i) {
    kw_forest *forest = reader->forest;
    kw_forest_column *column = &forest->columns[i];
    column->threshold = (uint32_t)forest->threshold_count;
    for (size_t k = column->condition; k < column->condition_end; k++) {
        kw_forest_condition *c = &forest->conditions[k];
        if (c->missing == KW_MISSING_CATEGORY) {
            return kw_forest_fail(reader, KW_ILLEGAL, "feature %.80s is split both by threshold and by category", forest->names[i]);
        }
        if (forest->threshold_count == column->threshold || c->threshold > forest->thresholds[forest->threshold_count - 1]) {
            forest->thresholds[forest->threshold_count++] = c->threshold;
        }
        c->bin = (uint32_t)(forest->threshold_count - column->threshold) - 1;
        column->splits_zero |= c->missing == KW_MISSING_ZERO;
    }
    size_t count = forest->threshold_count - column->threshold;
    column->regular = (uint32_t)count + 1;
    if (count > KW_FOREST_MAX_THRESHOLDS) {
        return kw_forest_fail(reader, KW_ILLEGAL, "feature %.80s has %zu distinct thresholds; at most %d are read", forest->names[i], count,
                              KW_FOREST_MAX_THRESHOLDS);
    }
    return KW_OK;
}

/* Categories up to the longest set's end, and "none of them". */
static kw_status number_categories(kw_forest_reader *reader, size_t i) {
    const kw_forest *forest = reader->forest;
    kw_forest_column *column = &reader->forest->columns[i];
    column->categorical = true;
    for (size_t k = column->condition; k < column->condition_end; k++) {
        const kw_forest_condition *c = &forest->conditions[k];
        if (c->missing != KW_MISSING_CATEGORY) {
            return kw_forest_fail(reader, KW_ILLEGAL, "feature %.80s is split both by threshold and by category", forest->names[i]);
        }
        if (c->words * 32 + 1 > column->regular) {
            column->regular = c->words * 32 + 1;
        }
    }
    return KW_OK;
}

static kw_status fill_columns(kw_forest_reader *reader) {
    kw_forest *forest = reader->forest;
    kw_status status = KW_OK;
    size_t k = 0;
    for (size_t i = 0; i < forest->features && !status; i++) {
        kw_forest_column *column = &forest->columns[i];
        column->condition = (uint32_t)k;
        while (k < forest->condition_count && forest->conditions[k].feature == i) {
            k++;
        }
        column->condition_end = (uint32_t)k;
        bool categorical = column->condition < k && forest->conditions[column->condition].missing == KW_MISSING_CATEGORY;
        status = categorical ? number_categories(reader, i) : number_thresholds(reader, i);
    }
    return status;
}

kw_status kw_forest_index_close(kw_forest_reader *reader) {
    kw_forest *forest = reader->forest;
    kw_forest_index *index = &reader->index;
    numbered *sorted = calloc(index->count + 1, sizeof *sorted);
    uint32_t *numbers = calloc(index->count + 1, sizeof *numbers);
    kw_status status = KW_OK;
    forest->conditions = kw_arena_array(&forest->arena, index->count, sizeof *forest->conditions);
    forest->thresholds = kw_arena_array(&forest->arena, index->count, sizeof *forest->thresholds);
    if (!sorted || !numbers || !forest->conditions || !forest->thresholds) {
        status = kw_forest_no_memory(reader);
        goto out;
    }
    for (size_t i = 0; i < index->count; i++) {
        sorted[i] = (numbered){index->conditions[i], (uint32_t)i};
    }
    qsort(sorted, index->count, sizeof *sorted, compare_conditions);
    for (size_t i = 0; i < index->count; i++) {
        forest->conditions[i] = sorted[i].condition;
        numbers[sorted[i].number] = (uint32_t)i;
    }
    forest->condition_count = index->count;
    size_t splits = forest->tree_leaf[forest->trees] - forest->trees;
    for (size_t k = 0; k < splits; k++) {
        kw_forest_split *split = &forest->splits[k];
        assert(kw_forest_split_condition(split) < index->count);
        *split = kw_forest_split_make(numbers[kw_forest_split_condition(split)], split->left);
    }
    status = fill_columns(reader);
out:
    free(sorted);
    free(numbers);
    return status;
}
