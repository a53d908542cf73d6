/* fuzz_filter.c: any text as a filter expression: answered, or refused in one line, within its limits. */
#include "base/container/arena.h"
#include "config/family.h"
#include "fuzz/fuzz.h"
#include "space/filter/filter.h"

static void ask_all(kw_filter *filter) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        kw_config config = {.family = *family};
        kw_error err = {0};
        bool selected;
        for (int i = 0; i < config.family->axis_count; i++) {
            config.axis[i] = config.family->axes[i].low;
        }
        kw_status status = kw_filter_test(filter, &config, &selected, &err);
        require(status == err.status);
        require(!status || (*err.text && !strchr(err.text, '\n') && !selected));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_arena arena = {0};
    char *expression = kw_arena_copy(&arena, (const char *)data, size);
    kw_filter *filter = NULL;
    kw_error err = {0};
    require(expression != NULL);
    if (!kw_filter_open(&filter, expression, NULL, &err)) {
        ask_all(filter);
    } else {
        require(*err.text && !strchr(err.text, '\n') && !filter);
    }
    kw_filter_close(&filter);
    kw_arena_drop(&arena);
    return 0;
}
