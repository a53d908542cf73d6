/* problems.h: problem lists as text. A line is "NAME: PROBLEM" or PROBLEM, where PROBLEM is our own text or another tool's; '#' starts a
 * comment at the line's start or after a blank. A list whose first line has commas is a CSV file with that line as its header; one that begins
 * with a bracket is JSON: a list (literals.h), or a row a line (json_rows.h). */
#ifndef KW_SPACE_PROBLEMS_PROBLEMS_H
#define KW_SPACE_PROBLEMS_PROBLEMS_H

#include "base/status.h"

/* How a list is read. op and dtype are those of CSV rows (KW_OP_COUNT, KW_DTYPE_COUNT: conv_fwd or gemm as the columns say, fp32). */
typedef struct kw_list_reader {
    kw_op op;
    kw_dtype dtype;
    bool (*visit)(void *user, const char *name, const kw_problem *problem);
    void *user;
} kw_list_reader;

/* source begins error messages. The text is changed while it is read: lines are ended in place, so that a long one is not copied. */
kw_status kw_list_read(const kw_list_reader *how, const char *source, char *text, size_t size, kw_error *err);

#endif
