/* json_read.c: see json_read.h. */
#include "json/json_read.h"

kw_status kw_json_read(json_t **root, const char *name, const char *text, size_t size, kw_error *err) {
    json_error_t fault;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    if (*root) {
        return KW_OK;
    }
    if (json_error_code(&fault) == json_error_out_of_memory || !*fault.text) { /* jansson does not say so everywhere */
        return kw_fail_memory(err, name);
    }
    return kw_fail(err, KW_MALFORMED, "%s:%d: %s", name, fault.line, fault.text);
}
