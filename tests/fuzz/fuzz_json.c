/* fuzz_json.c: any bytes as a registry's JSON: refused in one line, or read; what was read prints and reads again as the same. */
#include "space/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_catalog first = {0}, second = {0};
    kw_text json = {0}, again = {0};
    kw_error err = {0};
    if (kw_json_read(&first, "input", (const char *)data, size, &err)) {
        if (!*err.text || strchr(err.text, '\n')) {
            abort();
        }
    } else if (kw_json_print(&json, &first, &err) || kw_json_read(&second, "output", json.data, json.size, &err) ||
               kw_json_print(&again, &second, &err) || strcmp(json.data, again.data)) {
        abort();
    }
    kw_text_drop(&json);
    kw_text_drop(&again);
    kw_catalog_drop(&first);
    kw_catalog_drop(&second);
    return 0;
}
