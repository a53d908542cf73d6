/* fuzz_extract.c: any bytes as a log: every line is counted in one way, and what is found is legal. */
#include "fuzz/accepted.h"
#include "space/logs/extract.h"

typedef struct seen {
    int64_t problems;
} seen;

static bool check(void *user, const char *name, const kw_problem *problem) {
    require(name && !strchr(name, '\n'));
    check_accepted(problem);
    ((seen *)user)->problems++;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    seen found = {0};
    kw_extract_count lines;
    char *copy = malloc(size ? size : 1); /* exactly as large, so that a step beyond the end is seen */
    require(copy != NULL);
    if (size) {
        memcpy(copy, data, size);
    }
    require(kw_extract_text((kw_word){copy, size}, check, &found, &lines, NULL) == KW_OK);
    require(lines.problems == found.problems);
    require(lines.options >= 0 && lines.skipped >= 0 && lines.options + lines.skipped <= lines.lines);
    require(found.problems > 0 || lines.options + lines.skipped == lines.lines);
    free(copy);
    return 0;
}
