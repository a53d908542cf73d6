/* status.h: how a call went, a request to stop, texts that are handed out.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_STATUS_H
#define KERNELWRIGHT_STATUS_H

#include "version.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kw_status {
    KW_OK = 0,
    KW_MALFORMED,   /* text that does not follow its grammar */
    KW_ILLEGAL,     /* well-formed, but no such thing can be: an impossible size, an axis outside its range */
    KW_MISSING,     /* a name that is not known: file, device, family, set, architecture */
    KW_NO_KERNEL,   /* no kernel serves the request under its conditions (frozen miss, workspace limit) */
    KW_FAILED,      /* the work itself failed: a kernel was wrong, a criterion was missed */
    KW_IO,          /* a file could not be read or written */
    KW_ENVIRONMENT, /* a compiler, driver or device is absent or broken */
    KW_NO_MEMORY,
    KW_STATUS_COUNT
} kw_status;

/* text is always terminated; it is empty while status is KW_OK. */
typedef struct kw_error {
    kw_status status;
    char text[508];
} kw_error;

KW_API const char *kw_status_name(kw_status status);

/* A request to end what is under way. One thread makes it, or a signal handler, and others see it; each function that takes one says what
 * it leaves behind. A zeroed kw_stop requests nothing. It is read and set by the functions below only: in C++, which has no _Atomic, its
 * member is a plain int of the same size. */
typedef struct kw_stop {
#ifdef __cplusplus
    int requested;
#else
    _Atomic int requested;
#endif
} kw_stop;

/* May be called from a signal handler. */
KW_API void kw_stop_request(kw_stop *stop);
/* false where stop is NULL. */
KW_API bool kw_stop_requested(const kw_stop *stop);

/* Ends a text that a function handed out for the caller to free. */
KW_API void kw_free(void *memory);
/* Copies a text from outside so that it can be shown on a terminal: control characters, bytes that are no UTF-8 and characters that are
 * invisible or turn the direction of writing become \x1b or \u{202e}. text is terminated, cut at a whole character; returns its size. */
KW_API size_t kw_printable(char *text, size_t capacity, const char *from);

#ifdef __cplusplus
}
#endif
#endif
