/* csv.h: problems from CSV files, line by line: the header says which column holds what, each row is one problem. Columns of a
 * convolution: N C K Hi Wi Y X stride_* pad_* dil_* and so on, of a GEMM: M N K; docs/problems/problem-text.md lists them. Columns that are not
 * known are passed over. */
#ifndef KW_PROBLEM_IMPORT_CSV_H
#define KW_PROBLEM_IMPORT_CSV_H

#include "base/status.h"
#include "base/text.h"

enum { KW_CSV_COLUMNS = 64 };

/* A value: which column of the file each known column is; it holds no text. */
typedef struct kw_csv {
    kw_op op;
    kw_dtype dtype;
    int count;                     /* columns of the file */
    int8_t column[KW_CSV_COLUMNS]; /* by the file's column: the known column, or -1 */
} kw_csv;

/* Reads the header line. op and dtype are those of every row; KW_OP_COUNT: conv_fwd or gemm, as the columns say, KW_DTYPE_COUNT: fp32.
 * KW_MALFORMED names a column that is missing or there twice. */
kw_status kw_csv_header(kw_csv *csv, kw_word line, kw_op op, kw_dtype dtype, kw_error *err);
/* Reads a row into a checked problem in channels last (gemm: rcr). name (may be NULL) points into the line, with size 0 where there is no
 * such column. Errors name the column; the caller adds file and line. */
kw_status kw_csv_row(kw_problem *problem, kw_word *name, const kw_csv *csv, kw_word line, kw_error *err);

#endif
