/* fuzz_filter.c: any bytes as a filter expression: answered or refused in one line, within its limits, never a crash. */
#include "base/arena.h"
#include "config/family.h"
#include "space/filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_arena arena = {0};
    char *expression = kw_arena_copy(&arena, (const char *)data, size);
    kw_filter *filter = NULL;
    kw_error err = {0};
    if (expression && !kw_filter_open(&filter, expression, &err)) {
        for (const kw_family *const *family = kw_family_table; *family; family++) {
            kw_config config = {.family = *family};
            bool selected;
            for (int i = 0; i < config.family->axis_count; i++) {
                config.axis[i] = config.family->axes[i].low;
            }
            kw_status status = kw_filter_test(filter, &config, &selected, &err);
            if (status && (!*err.text || strchr(err.text, '\n') || selected)) {
                abort();
            }
        }
    }
    kw_filter_close(&filter);
    kw_arena_drop(&arena);
    return 0;
}
