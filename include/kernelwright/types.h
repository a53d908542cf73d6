/* types.h: operations and element types, and their names.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_TYPES_H
#define KERNELWRIGHT_TYPES_H

#include "version.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kw_op { KW_GEMM = 0, KW_CONV_FWD, KW_CONV_BWD_DATA, KW_CONV_BWD_WEIGHT, KW_OP_COUNT } kw_op;

/* The type of x and w. y (the output of GEMM and forward; the gradient tensors of the backward directions alike) has the
 * type kw_dtype_output(): fp8 and bf8 give fp16, int8 gives int32, all others keep theirs; an epilogue may name another. In the
 * backward directions the two tensors that are read have the problem's type and the one that is written has the output type. */
typedef enum kw_dtype {
    KW_FP32 = 0,
    KW_BF16,
    KW_FP16,
    KW_FP8, /* e4m3 (finite only, as in OCP FP8) */
    KW_BF8, /* e5m2 */
    KW_INT8,
    KW_INT32, /* as an output only */
    KW_UINT8, /* of x where w is int8, and as an output */
    KW_DTYPE_COUNT
} kw_dtype;

KW_API const char *kw_op_name(kw_op op);
KW_API const char *kw_dtype_name(kw_dtype dtype);
/* By name; false where there is none. A type is one that a problem can have. */
KW_API bool kw_op_find(kw_op *op, const char *name);
KW_API bool kw_dtype_find(kw_dtype *dtype, const char *name);
/* All names that the two find, separated by blanks. */
KW_API const char *kw_op_names(void);
KW_API const char *kw_dtype_names(void);
KW_API size_t kw_dtype_size(kw_dtype dtype);
KW_API kw_dtype kw_dtype_output(kw_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
