/* reference.h: the host reference, one output element at a time and by the definition of the operation, in double. It shares no code
 * with any kernel. On small-integer data every sum is exact, so a kernel that accumulates exactly must agree bit for bit. */
#ifndef KW_PROBLEM_REFERENCE_H
#define KW_PROBLEM_REFERENCE_H

#include "base/status.h"

/* Element index of a tensor of this type, as a double. Exact for every type. */
double kw_dtype_load(kw_dtype dtype, const void *tensor, int64_t index);
/* Rounds to nearest even and stores; fp32, bf16, fp16, fp8, bf8 overflow as their formats say (fp8 e4m3: to NaN); integers saturate. */
void kw_dtype_store(kw_dtype dtype, void *tensor, int64_t index, double value);

/* Zero points of int8 problems: what is subtracted from each element of x, and from those of w that the element's channel has
 * (kw_epilogue_zero_of_x, kw_epilogue_zero_of_w). */
typedef struct kw_zeros {
    double x, w;
} kw_zeros;
/* One element (flat index into the result tensor in its memory order) of the result, unrounded. products, where not NULL, gets the
 * number of products summed and magnitude the sum of their absolute values, for error bounds. */
double kw_reference_at(const kw_problem *problem, const void *const tensors[KW_TENSOR_COUNT], kw_zeros zero, int64_t index,
                       int64_t *products, double *magnitude);
kw_zeros kw_zeros_of(const kw_problem *problem, const void *const extras[KW_EXTRA_MAX], int64_t index);

#endif
