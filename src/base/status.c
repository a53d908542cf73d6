/* status.c: status names, the one function that fills an error. */
#include "base/status.h"

#include "base/format/escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const status_names[] = {
    [KW_OK] = "ok",           [KW_MALFORMED] = "malformed",     [KW_ILLEGAL] = "illegal",
    [KW_MISSING] = "missing", [KW_NO_KERNEL] = "no kernel",     [KW_FAILED] = "failed",
    [KW_IO] = "io",           [KW_ENVIRONMENT] = "environment", [KW_NO_MEMORY] = "no memory",
};
_Static_assert(sizeof status_names / sizeof *status_names == KW_STATUS_COUNT, "each status has a name");

const char *kw_status_name(kw_status status) {
    return (size_t)status < KW_STATUS_COUNT ? status_names[status] : "unknown status";
}

const char *kw_version(void) {
    return KW_VERSION;
}

void kw_free(void *memory) {
    free(memory);
}

kw_status kw_fail(kw_error *err, kw_status status, const char *format, ...) {
    if (!err) {
        return status;
    }
    char text[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    kw_escape_copy(err->text, sizeof err->text, text, true);
    err->status = status;
    return status;
}

size_t kw_printable(char *text, size_t capacity, const char *from) {
    return kw_escape_copy(text, capacity, from, false);
}

kw_status kw_fail_memory(kw_error *err, const char *what) {
    return kw_fail(err, KW_NO_MEMORY, "out of memory for %s; free some or ask for less", what);
}

kw_status kw_fail_stopped(kw_error *err) {
    return kw_fail(err, KW_FAILED, "stopped, as was asked");
}
