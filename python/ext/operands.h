/* operands.h: what the arrays of a problem have to look like, worked out once, so that a call compares. */
#ifndef KW_PYTHON_OPERANDS_H
#define KW_PYTHON_OPERANDS_H

#include "lend.h"

enum { OPERANDS_MAX = KW_TENSOR_COUNT + KW_EXTRA_MAX + 1 };

/* x, w and y, then the epilogue's tensors in the order of its steps, then where groups of rows end. */
typedef struct operands {
    int count, ends; /* ends: which of them says where groups of rows end; 0: none, it is one product */
    lend_wanted each[OPERANDS_MAX];
} operands;

/* gpu: kernels are a GPU's, which read from whole multiples of 16 bytes on. */
void operands_of(operands *out, const kw_problem *problem, dl_device device, bool gpu);

/* Below: a new reference, or NULL with an exception set. */
/* A view as a pair of tuples, extents and strides. */
PyObject *operands_view(const lend_view *view);
/* For each its name, type, whether it is written, and its views. */
PyObject *operands_list(const operands *all);

#endif
