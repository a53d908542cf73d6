/* status.h: how a failure travels. The function that finds the fault fills the caller's kw_error in one line (value, rule, way out)
 * and returns the status; everyone above passes the status on. */
#ifndef KW_BASE_STATUS_H
#define KW_BASE_STATUS_H

#include <kernelwright.h>

/* Fills err (may be NULL) and returns status, so that a failing function ends in one statement. A newline in the text
 * becomes a blank: an error is one line. */
kw_status kw_fail(kw_error *err, kw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same for want of memory; what names the thing that did not fit. */
/* KW_FAILED: a kw_stop was requested. */
kw_status kw_fail_stopped(kw_error *err);
kw_status kw_fail_memory(kw_error *err, const char *what);

#endif
