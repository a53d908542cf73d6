/* lines.h: problem lists line by line, our own and those of other tools. */
#ifndef KW_SPACE_PROBLEMS_FORMATS_LINES_H
#define KW_SPACE_PROBLEMS_FORMATS_LINES_H

#include "space/problems/problems.h"

/* As kw_list_read, of a text that is no JSON. */
kw_status kw_list_read_lines(const kw_list_reader *how, const char *source, char *text, size_t size, kw_error *err);

#endif
