/* sizes.h: a problem's sizes as named numbers: the columns of the store's table problem, and of CSV files behind the row's own. The names are
 * the letters of the problem's text where it has one letter. */
#ifndef KW_STORE_SIZES_H
#define KW_STORE_SIZES_H

#include <kernelwright.h>

enum { KW_SIZE_COUNT = 30 };

extern const char *const kw_size_names[KW_SIZE_COUNT];

/* A size that the operation does not have (m of a convolution, in_h of a GEMM) is KW_SIZE_NONE. */
#define KW_SIZE_NONE INT64_MIN
void kw_sizes(int64_t values[KW_SIZE_COUNT], const kw_problem *problem);

#endif
