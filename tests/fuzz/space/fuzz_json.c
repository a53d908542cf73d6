/* fuzz_json.c: any text as a registry's JSON: refused in one line, or read; what was read prints and reads again as the same. */
#include "fuzz/fuzz.h"
#include "space/catalog_json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_catalog first = {0}, second = {0};
    kw_text json = {0}, again = {0};
    kw_error err = {0};
    kw_status status = kw_catalog_json_read(&first, NULL, "input", (const char *)data, size, &err);
    require(status == err.status);
    if (status) {
        require(*err.text && !strchr(err.text, '\n'));
    } else {
        require(!kw_catalog_json_print(&json, &first, NULL) && !kw_catalog_json_read(&second, NULL, "output", json.data, json.size, NULL));
        require(!kw_catalog_json_print(&again, &second, NULL) && !strcmp(json.data, again.data));
    }
    kw_text_drop(&json);
    kw_text_drop(&again);
    kw_catalog_drop(&first);
    kw_catalog_drop(&second);
    return 0;
}
