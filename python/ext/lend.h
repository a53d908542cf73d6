/* lend.h: arrays of any library as memory that a plan may use, for as long as a call lasts. Four ways, tried in this order: the buffer
 * protocol (NumPy, memoryview, array, JAX on a CPU), DLPack's C exchange API (PyTorch), __dlpack__ (CuPy, JAX), and for what exports neither
 * because Python has no letter for its type (ml_dtypes in NumPy) its view as unsigned integers. Nothing is copied. */
#ifndef KW_PYTHON_LEND_H
#define KW_PYTHON_LEND_H

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include "dlpack.h"

#include <kernelwright.h>
#include <stdbool.h>

enum { LEND_AXES_MAX = 8, LEND_VIEWS_MAX = 4 };

/* A way to index memory: extents, and elements from one position to the next. */
typedef struct lend_view {
    int32_t ndim;
    int64_t extent[LEND_AXES_MAX], stride[LEND_AXES_MAX];
} lend_view;

/* What a plan wants of an operand. Views are ways to index the same memory; an array has to be one of them, where extents of 1 have no
 * stride that matters. */
typedef struct lend_wanted {
    const char *name; /* "x", or of a step of the epilogue: "bias" */
    kw_dtype dtype;
    bool written;
    size_t alignment;
    dl_device device;
    int32_t view_count;
    lend_view view[LEND_VIEWS_MAX];
} lend_wanted;

typedef struct lend {
    char *data;
    size_t bytes;                /* from data on, that the array's elements span */
    int32_t view;                /* of wanted, that the array is */
    const dl_exchange *exchange; /* of its library, or NULL */
    dl_device device;
    Py_buffer buffer;
    bool buffered;
    dl_managed *managed;
    dl_versioned *versioned;
    PyObject *held;
} lend;

/* 0, or -1 with an exception set. lend_end ends what began, also after -1. stream: of __dlpack__(stream=), or NULL for none. */
int lend_begin(lend *lent, PyObject *array, const lend_wanted *wanted, PyObject *stream);
void lend_end(lend *lent);

/* The exchange API of an array's library, or NULL. */
const dl_exchange *lend_exchange(PyObject *array);

/* A new array of a library with the exchange API, laid out as the view says. *data: its memory. */
PyObject *lend_allocate(const dl_exchange *exchange, dl_device device, kw_dtype dtype, const lend_view *view, char **data);

/* What is raised for an array that a plan cannot use; set once. */
extern PyObject *lend_error;

#endif
