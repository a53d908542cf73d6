/* json_read.c: see json_read.h. */
#include "json/json_read.h"

#include <stdlib.h>

enum { PROBE_MIN = 1 << 16, PROBE_RATIO = 8 }; /* more than a value takes whose text has size bytes */

kw_status kw_json_read(json_t **root, const char *name, const char *text, size_t size, kw_error *err) {
    json_error_t fault;
    *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault);
    /* Where it gets no memory jansson says that the text is wrong, or even leaves out a character. So a text is what it is twice. */
    json_t *again = *root ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault) : NULL;
    bool same = again && json_equal(*root, again);
    json_decref(again);
    if (same) {
        return KW_OK;
    }
    if (*root) {
        json_decref(*root);
        *root = NULL;
        return kw_fail_memory(err, name);
    }
    void *enough = malloc(PROBE_MIN + PROBE_RATIO * size);
    free(enough);
    *root = enough ? json_loadb(text, size, JSON_REJECT_DUPLICATES, &fault) : NULL;
    if (*root) {
        return KW_OK;
    }
    if (!enough || json_error_code(&fault) == json_error_out_of_memory || !*fault.text) {
        return kw_fail_memory(err, name);
    }
    return kw_fail(err, KW_MALFORMED, "%s:%d: %s", name, fault.line, fault.text);
}
