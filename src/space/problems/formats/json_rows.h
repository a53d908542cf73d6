/* json_rows.h: problems out of what our verbs print for machines (--json) and databases export: one JSON object a line, each with "schema".
 *
 *     {"schema": 1, "name": "conv1", "problem": "conv_fwd fp32 nhwgc n1 g1 c3 k64 i224x224 f7x7 s2x2 p3x3 d1x1", "flops": 232429056}
 *
 * A line without "problem" (a run's, a summary's) is passed over. */
#ifndef KW_SPACE_PROBLEMS_FORMATS_JSON_ROWS_H
#define KW_SPACE_PROBLEMS_FORMATS_JSON_ROWS_H

#include "space/problems/problems.h"

#include <stddef.h>

/* Whether the first line is such an object. */
bool kw_json_rows_are(const char *text, size_t size);
/* As kw_list_read. KW_MALFORMED where no line has a problem. */
kw_status kw_json_rows_read(const kw_list_reader *how, const char *source, const char *text, size_t size, kw_error *err);

#endif
