/* filter_text.h: a filter's expression in the words that kernels have: what follows c.FIELD == or ~= is looked up as trait files do. */
#ifndef KW_SPACE_FILTER_TEXT_H
#define KW_SPACE_FILTER_TEXT_H

#include "base/status.h"
#include "base/text.h"

/* Adds the expression as Lua has to read it. "*" and -1 become "~= nil": any value, but there must be one. Other spellings of a value become
 * the kernels' own, != becomes ~=. where begins the message of a value that no kernel can have. */
kw_status kw_filter_text(kw_text *out, const char *expression, const char *where, kw_error *err);

#endif
