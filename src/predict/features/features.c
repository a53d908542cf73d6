/* features.c: looking columns up by name. */
#include "predict/features/features.h"

#include "base/text.h"

#include <string.h>

bool kw_feature_is_code(const kw_feature *feature) {
    return !strcmp(feature->unit, "code");
}

int kw_feature_find(const kw_feature_table *table, const char *name) {
    for (size_t i = 0; i < table->count; i++) {
        if (!strcmp(table->features[i].name, name)) {
            return (int)i;
        }
    }
    return -1;
}

kw_status kw_feature_match(int32_t *column, const kw_feature_table *table, const char *const *names, size_t count, kw_error *err) {
    for (size_t i = 0; i < count; i++) {
        column[i] = kw_feature_find(table, names[i]);
        if (column[i] < 0) {
            return kw_fail(err, KW_MISSING, "feature %.80s is not among the %zu of table %s; the model was made for another version",
                           names[i], table->count, table->name);
        }
    }
    return KW_OK;
}

/* A chain, so that any number of names needs no memory. */
void kw_feature_units_hash(char hash[KW_HASH_TEXT], const kw_feature_table *table, const char *const *names, size_t count) {
    hash[0] = 0;
    for (size_t i = 0; i < count; i++) {
        char link[512];
        int column = kw_feature_find(table, names[i]);
        kw_line line = {.data = link, .capacity = sizeof link};
        kw_line_addf(&line, "%s %s %s", hash, names[i], column < 0 ? "" : table->features[column].unit);
        kw_hash_text(hash, link, line.size < sizeof link ? line.size : sizeof link - 1);
    }
}
