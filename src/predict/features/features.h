/* features.h: what a model sees. A feature table is a list of columns, each with its name, group, unit and formula; a model names the
 * columns it was trained on, and one that a table does not have is refused by name.
 *
 * Two kinds of table. The published ones (published.h) compute what the CK Tile heuristics compute, mistakes included, so that their
 * models score as intended. Our own (own.h) sees configs of our families on our problems. */
#ifndef KW_PREDICT_FEATURES_FEATURES_H
#define KW_PREDICT_FEATURES_FEATURES_H

#include "base/hash.h"
#include "base/status.h"

#include <stddef.h>

typedef struct kw_feature {
    const char *name;
    const char *group;   /* "problem", "target", "config" or "pair"; the published tables have their own groups */
    const char *unit;    /* "" for counts and ratios; "code" for a category, which models must not take as a quantity */
    const char *formula; /* in terms of the source's variables */
    const char *words;   /* of a category: the names of codes 0, 1, ..., blanks between them; NULL where a code has no name */
} kw_feature;

typedef struct kw_feature_table {
    const char *name;
    const kw_feature *features;
    size_t count;
} kw_feature_table;

/* Whether the feature is a category. */
bool kw_feature_is_code(const kw_feature *feature);
/* Its position; -1 when the table has none of that name. */
int kw_feature_find(const kw_feature_table *table, const char *name);
/* column[i] becomes the position of names[i]. KW_MISSING names the first that the table does not have. */
kw_status kw_feature_match(int32_t *column, const kw_feature_table *table, const char *const *names, size_t count, kw_error *err);
/* A hash of the named features' names and units in their order, 32 hexadecimal digits: a column whose numbers came to mean something else has
 * another unit. A name that the table does not have counts without one. */
void kw_feature_units_hash(char hash[KW_HASH_TEXT], const kw_feature_table *table, const char *const *names, size_t count);

#endif
