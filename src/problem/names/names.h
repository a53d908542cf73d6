/* names.h: the words of operations, types and layouts, and look-ups by word. One list each; what is named, read or refused by name anywhere
 * comes from it. To add an operation or a type: its enumerator in kernelwright/types.h, its line here. */
#ifndef KW_PROBLEM_NAMES_NAMES_H
#define KW_PROBLEM_NAMES_NAMES_H

#include "base/text.h"

#include <kernelwright.h>

/* Identifier, name; with a separator between the entries. */
#define KW_OPS(X, SEPARATOR)                                                                                                               \
    X(GEMM, "gemm")                                                                                                                        \
    SEPARATOR X(CONV_FWD, "conv_fwd") SEPARATOR X(CONV_BWD_DATA, "conv_bwd_data") SEPARATOR X(CONV_BWD_WEIGHT, "conv_bwd_weight")

/* Identifier, name, bytes, type of the result. A problem's type is one of these; KW_INT32 is a type of results only, KW_UINT8 one of results
 * and of x. */
#define KW_INPUT_DTYPES(X, SEPARATOR)                                                                                                      \
    X(FP32, "fp32", 4, FP32)                                                                                                               \
    SEPARATOR X(BF16, "bf16", 2, BF16)                                                                                                     \
    SEPARATOR X(FP16, "fp16", 2, FP16)                                                                                                     \
    SEPARATOR X(FP8, "fp8", 1, FP16)                                                                                                       \
    SEPARATOR X(BF8, "bf8", 1, FP16)                                                                                                       \
    SEPARATOR X(INT8, "int8", 1, INT32)
#define KW_DTYPES(X, SEPARATOR)                                                                                                            \
    KW_INPUT_DTYPES(X, SEPARATOR)                                                                                                          \
    SEPARATOR X(INT32, "int32", 4, INT32)                                                                                                  \
    SEPARATOR X(UINT8, "uint8", 1, INT32)

/* All words as one string literal, e.g. KW_OP_WORDS(", "). */
#define KW_NAME_OF(id, name, ...) name
#define KW_OP_NAME_OF(id, name) name
#define KW_OP_WORDS(separator) KW_OPS(KW_OP_NAME_OF, separator)
#define KW_DTYPE_WORDS(separator) KW_INPUT_DTYPES(KW_NAME_OF, separator)

bool kw_op_of_word(kw_op *op, kw_word word);
bool kw_dtype_of_word(kw_dtype *dtype, kw_word word);
/* What others call a type: float32, s8, fp64 ... KW_DTYPE_COUNT where no kernel here has it. plain: a problem's word may be that, since no
 * size looks so (s8 is a stride). */
bool kw_dtype_of_other_word(kw_dtype *dtype, bool *plain, kw_word word);
/* Whether a problem can have the type. */
bool kw_dtype_is_input(kw_dtype dtype);

/* The name of a layout, e.g. "nhwgc" for channels last with ndim 2; NULL when there is none. */
const char *kw_layout_name(kw_layout layout, int ndim);
/* Whether a layout is one of GEMM's. */
bool kw_layout_is_gemm(kw_layout layout);
/* The layout and its number of spatial axes; also by the names of frameworks, nchw for ngchw. */
bool kw_layout_of_word(kw_layout *layout, int32_t *ndim, kw_word word);
/* "depth", "height", "width" of axes 0 to 2. */
const char *kw_axis_name(int axis);

#endif
