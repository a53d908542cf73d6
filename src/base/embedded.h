/* embedded.h: a file that was compiled in (cmake/embed.cmake). Tables of them end with a NULL name. Large ones are kept as gzip and
 * unpacked by whoever needs the text, into memory of its own: nothing is shared, so threads need no lock. */
#ifndef KW_BASE_EMBEDDED_H
#define KW_BASE_EMBEDDED_H

#include "base/status.h"
#include "base/text.h"

typedef struct kw_embedded {
    const char *name, *text; /* a zero stands behind text */
    const char *end;         /* of text */
} kw_embedded;

static inline size_t kw_embedded_size(const kw_embedded *file) {
    return (size_t)(file->end - file->text);
}

/* The file of this name; NULL when there is none. */
const kw_embedded *kw_embedded_find(const kw_embedded table[], const char *name);
/* Appends the file's text, unpacked where it is gzip. */
kw_status kw_embedded_text(kw_text *out, const kw_embedded *file, kw_error *err);

#endif
