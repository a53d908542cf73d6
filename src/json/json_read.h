/* json_read.h: JSON texts of others, read by jansson. Depth is bounded by jansson (2048, then an error), length by the caller. */
#ifndef KW_JSON_JSON_READ_H
#define KW_JSON_JSON_READ_H

#include "base/status.h"

#include <jansson.h>

/* The whole text as one value, in which no key stands twice; the caller drops it with json_decref. KW_MALFORMED names the text, the line and what
 * is wrong there; want of memory is KW_NO_MEMORY where jansson tells it apart. *root
 * is NULL after a failure. */
kw_status kw_json_read(json_t **root, const char *name, const char *text, size_t size, kw_error *err);

#endif
