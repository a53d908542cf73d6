/* embedded.h: a file that was compiled in (tools/embed.cmake). Tables of them end with a NULL name. */
#ifndef KW_BASE_EMBEDDED_H
#define KW_BASE_EMBEDDED_H

#include <stddef.h>

typedef struct kw_embedded {
    const char *name, *text; /* text is terminated beyond its size */
    size_t size;
} kw_embedded;

#endif
