/* facts.c: see facts.h. Of libraries with the exchange API or the buffer protocol alone: a look at both costs less than 100 ns, one at
 * attributes of Python several times that. Extents of 1 keep the stride that they have, which costs at most a second entry of a table. */
#include "facts.h"

#include <string.h>

enum { ARRAYS_MAX = 4, WORDS = 3 + 2 * LEND_AXES_MAX };

typedef struct facts {
    int64_t word[ARRAYS_MAX * WORDS];
    size_t count;
} facts;

static void put(facts *f, int64_t word) {
    f->word[f->count++] = word;
}

static void put_axes(facts *f, int ndim, const int64_t extent[], const int64_t stride[]) {
    put(f, ndim);
    for (int i = 0; i < ndim; i++) {
        put(f, extent[i]);
        put(f, stride ? stride[i] : -1); /* C order */
    }
}

static bool put_tensor(facts *f, const dl_exchange *exchange, PyObject *array) {
    dl_tensor t;
    if (!exchange->borrow || exchange->borrow(array, &t)) {
        return false;
    }
    if (t.ndim > LEND_AXES_MAX) {
        return false;
    }
    put(f, (int64_t)t.dtype.code << 32 | (int64_t)t.dtype.lanes << 8 | t.dtype.bits);
    put(f, (int64_t)t.device.type << 32 | (uint32_t)t.device.id);
    put_axes(f, t.ndim, t.shape, t.strides);
    return true;
}

/* The letters of module struct that name an element: at most 8 of them are compared as one word. */
static bool put_buffer(facts *f, PyObject *array) {
    Py_buffer buffer;
    if (!PyObject_CheckBuffer(array) || PyObject_GetBuffer(array, &buffer, PyBUF_RECORDS_RO)) {
        return false;
    }
    const char *format = buffer.format ? buffer.format : "B";
    size_t letters = strlen(format);
    bool known = letters <= sizeof(int64_t) && buffer.ndim <= LEND_AXES_MAX;
    if (known) {
        int64_t word = 0;
        memcpy(&word, format, letters);
        put(f, word);
        put(f, -1 - buffer.itemsize); /* no device has a number below 0 */
        put(f, buffer.ndim);
        for (int i = 0; i < buffer.ndim; i++) {
            put(f, buffer.shape[i]);
            put(f, buffer.strides[i]);
        }
    }
    PyBuffer_Release(&buffer);
    return known;
}

PyObject *facts_of(PyObject *module, PyObject *const *arrays, Py_ssize_t count) {
    facts f;
    f.count = 0;
    (void)module;
    if (count > ARRAYS_MAX) {
        return PyErr_Format(PyExc_TypeError, "facts() takes up to %d arrays, and got %zd", ARRAYS_MAX, count);
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        if (arrays[i] == Py_None) {
            put(&f, -1);
            continue;
        }
        const dl_exchange *exchange = lend_exchange(arrays[i]);
        if (exchange ? !put_tensor(&f, exchange, arrays[i]) : !put_buffer(&f, arrays[i])) {
            PyErr_Clear();
            return Py_NewRef(Py_None);
        }
    }
    return PyBytes_FromStringAndSize((const char *)f.word, (Py_ssize_t)(f.count * sizeof *f.word));
}
