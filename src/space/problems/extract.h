/* extract.h: problems found in the text of a log. */
#ifndef KW_SPACE_PROBLEMS_EXTRACT_H
#define KW_SPACE_PROBLEMS_EXTRACT_H

#include "base/text.h"

#include <kernelwright_tune.h>

/* kw_problems_extract over text in memory, which may hold any bytes. KW_NO_MEMORY is the only failure. */
kw_status kw_extract_text(kw_word text, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                          kw_extract_count *lines, kw_error *err);

#endif
