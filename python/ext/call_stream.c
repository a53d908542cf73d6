/* call_stream.c: the stream that a call works in. A host has none. */
#include "call.h"

/* A stream by its number, or as PyTorch's, CuPy's or another library's object: 0, or -1 with an exception set. */
static int stream_number(const runner *self, PyObject *stream, void **out) {
    static const char *const devices[] = {"device_index", "device_id"}, *const numbers[] = {"cuda_stream", "ptr"};
    PyObject *number = PyLong_Check(stream) ? Py_NewRef(stream) : NULL;
    for (size_t i = 0; i < 2 && !number; i++) {
        PyObject *device = PyObject_HasAttrString(stream, numbers[i]) ? PyObject_GetAttrString(stream, devices[i]) : NULL;
        long id = device && PyLong_Check(device) ? PyLong_AsLong(device) : -1;
        Py_XDECREF(device);
        PyErr_Clear();
        if (id >= 0 && id != self->device.id) {
            PyErr_Format(lend_error, "stream: is of device %ld, and the plan is for %d; give one of that device", id, (int)self->device.id);
            return -1;
        }
        number = PyObject_GetAttrString(stream, numbers[i]);
        PyErr_Clear();
    }
    bool known = number && PyLong_Check(number);
    *out = known ? PyLong_AsVoidPtr(number) : NULL;
    Py_XDECREF(number);
    if (!known || (!*out && PyErr_Occurred()) || (intptr_t)*out < 0) {
        PyErr_Clear();
        PyErr_Format(lend_error, "stream: %R is no stream; give its number, or PyTorch's or CuPy's object", stream);
        return -1;
    }
    return 0;
}

/* What the arrays' library works in now: asked by the exchange API, or of Python, which says None where the call has to wait itself. */
static int current_stream(call *c, PyObject *const arrays[]) {
    runner *self = c->self;
    PyObject *list = PyTuple_New(self->operands.count), *answer = NULL;
    for (int i = 0; i < self->operands.count; i++) {
        const dl_exchange *exchange = arrays[i] ? lend_exchange(arrays[i]) : NULL;
        if (exchange) {
            Py_XDECREF(list);
            return exchange->current_stream(self->device.type, self->device.id, &c->stream);
        }
        if (list) {
            PyTuple_SetItem(list, i, Py_NewRef(arrays[i] ? arrays[i] : Py_None));
        }
    }
    answer = list ? PyObject_CallFunctionObjArgs(self->stream_of, list, NULL) : NULL;
    Py_XDECREF(list);
    c->waits = answer == Py_None;
    int failed = !answer || (!c->waits && stream_number(self, answer, &c->stream)) ? -1 : 0;
    Py_XDECREF(answer);
    return failed;
}

/* Which stream: said, or the arrays' own. The default one has a number of its own here, and what is asked by __dlpack__ is to be ready in it. */
int call_find_stream(call *c, PyObject *stream, PyObject *const arrays[]) {
    runner *self = c->self;
    bool said = stream && stream != Py_None;
    if (self->device.type == DL_CPU) {
        if (said) {
            PyErr_SetString(lend_error, "stream: the plan runs on the host, which has none; leave it out");
        }
        return said ? -1 : 0;
    }
    if (said ? stream_number(self, stream, &c->stream) : current_stream(c, arrays)) {
        return -1;
    }
    if (!c->waits) {
        c->stream = c->stream ? c->stream : (void *)1;
        c->stream_word = PyLong_FromVoidPtr(self->device.type == DL_ROCM && c->stream == (void *)1 ? NULL : c->stream);
    }
    return c->waits || c->stream_word ? 0 : -1;
}
