/* rows.h: rows to test with: any number of them, each another, the same again for the same number. */
#ifndef KW_TESTS_ROWS_H
#define KW_TESTS_ROWS_H

#include <kernelwright_tune.h>

extern const char rows_target[];

/* Row number i of a sweep of kernels (so many a problem); every field says something. Rows of one number are equal. */
void rows_make(kw_row *row, int64_t i, int64_t kernels);
/* The run that they name. */
void rows_run(kw_run *run);
/* Whether two rows say the same in every field. */
bool rows_equal(const kw_row *a, const kw_row *b);

#endif
