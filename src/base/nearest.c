/* nearest.c: edit distance (Levenshtein) to each of some names. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

enum { SHORTEST_BEGUN = 2 }; /* one letter alone begins too many names */

static size_t edit_distance(kw_word a, kw_word b) {
    size_t row[KW_NEAREST_MAX];
    for (size_t j = 0; j <= b.size; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.size; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size; j++) {
            size_t change = corner + (a.at[i - 1] != b.at[j - 1]);
            corner = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[b.size];
}

/* A letter of two to four, two of more: a name that differs further was not meant. */
static size_t distance_allowed(size_t size) {
    return size < 2 ? 0 : size < 5 ? 1 : 2;
}

static bool next_name(const char **names, kw_word *name) {
    static const char between[] = " ,\n";
    *names += strspn(*names, between);
    *name = (kw_word){*names, strcspn(*names, between)};
    *names += name->size;
    return name->size;
}

bool kw_nearest(char nearest[KW_NEAREST_MAX], kw_word wrong, const char *names) {
    kw_word name, best = {NULL, 0};
    size_t least = wrong.size < KW_NEAREST_MAX ? distance_allowed(wrong.size) + 1 : 0;
    while (least && next_name(&names, &name)) {
        if (name.size >= KW_NEAREST_MAX) {
            continue;
        }
        bool begun = wrong.size >= SHORTEST_BEGUN && name.size >= wrong.size && !memcmp(name.at, wrong.at, wrong.size);
        size_t distance = begun ? 0 : edit_distance(wrong, name);
        if (distance < least) {
            least = distance;
            best = name;
        }
    }
    return best.at && kw_word_copy(nearest, KW_NEAREST_MAX, best);
}

const char *kw_nearest_hint(char hint[KW_HINT_MAX], const char *wrong, const char *names) {
    char name[KW_NEAREST_MAX];
    bool near = kw_nearest(name, (kw_word){wrong, strlen(wrong)}, names);
    snprintf(hint, KW_HINT_MAX, near ? "; did you mean %s" : "%s", near ? name : "");
    return hint;
}
