/* lend.c: see lend.h. */
#include "lend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

PyObject *lend_error;

/* A type as other libraries write it: letters of module struct, DLPack's code, and what NumPy calls it where Python has no letter for it. */
static const struct {
    const char *letters;
    uint8_t code;
    const char *of_numpy;
} types[] = {
    [KW_FP32] = {"f", DL_FLOAT, NULL},        [KW_BF16] = {"H", DL_BFLOAT, "bfloat16"},
    [KW_FP16] = {"e", DL_FLOAT, NULL},        [KW_FP8] = {"B", DL_E4M3FN, "float8_e4m3fn"},
    [KW_BF8] = {"B", DL_E5M2, "float8_e5m2"}, [KW_INT8] = {"b", DL_INT, NULL},
    [KW_INT32] = {"il", DL_INT, NULL},        [KW_UINT8] = {"B", DL_UINT, NULL},
};
_Static_assert(sizeof types / sizeof *types == KW_DTYPE_COUNT, "each type has its words");

/* What is known of an array before it is held against what is wanted. Strides in bytes. */
typedef struct facts {
    int32_t ndim;
    int64_t extent[LEND_AXES_MAX], stride[LEND_AXES_MAX];
    int64_t item; /* bytes of an element */
    bool read_only;
    char type[32]; /* for people */
} facts;

/* --- messages -------------------------------------------------------------------------------------------------- */

static void put_list(char *text, size_t capacity, int32_t ndim, const int64_t values[], int64_t unit) {
    size_t at = (size_t)snprintf(text, capacity, "(");
    for (int32_t i = 0; i < ndim && at < capacity; i++) {
        at += (size_t)snprintf(text + at, capacity - at, i + 1 < ndim ? "%lld, " : "%lld", (long long)(values[i] / unit));
    }
    if (at < capacity) {
        snprintf(text + at, capacity - at, ndim == 1 ? ",)" : ")");
    }
}

static const char *type_name(PyObject *object, char *text, size_t capacity) {
    PyObject *name = PyType_GetName(Py_TYPE(object));
    const char *utf8 = name ? PyUnicode_AsUTF8AndSize(name, NULL) : NULL;
    snprintf(text, capacity, "%s", utf8 ? utf8 : "?");
    PyErr_Clear();
    Py_XDECREF(name);
    return text;
}

static int fail_type(const lend_wanted *wanted, const char *type) {
    PyErr_Format(lend_error, "%s: elements are %s, and the problem has %s; convert it with astype, or name the type in the problem",
                 wanted->name, type, kw_dtype_name(wanted->dtype));
    return -1;
}

static int fail_view(const lend_wanted *wanted, const facts *f) {
    char extent[256], stride[256], views[768];
    size_t at = 0;
    put_list(extent, sizeof extent, f->ndim, f->extent, 1);
    put_list(stride, sizeof stride, f->ndim, f->stride, f->item);
    for (int32_t i = 0; i < wanted->view_count && at < sizeof views; i++) {
        char a[256], b[256];
        const lend_view *view = &wanted->view[i];
        put_list(a, sizeof a, view->ndim, view->extent, 1);
        put_list(b, sizeof b, view->ndim, view->stride, 1);
        at += (size_t)snprintf(views + at, sizeof views - at, "%s%s by %s", i ? " or " : "", a, b);
    }
    PyErr_Format(lend_error, "%s: shape %s with strides of %s elements is not how the problem lays it out: %s", wanted->name, extent,
                 stride, views);
    return -1;
}

/* --- does it fit ------------------------------------------------------------------------------------------------ */

static bool fits(const lend_view *view, const facts *f) {
    if (view->ndim != f->ndim) {
        return false;
    }
    for (int32_t i = 0; i < view->ndim; i++) {
        if (view->extent[i] != f->extent[i] || (view->extent[i] > 1 && view->stride[i] * f->item != f->stride[i])) {
            return false;
        }
    }
    return true;
}

static bool same_device(dl_device have, dl_device want) {
    if (want.type == DL_CPU) {
        return have.type == DL_CPU || have.type == DL_CUDA_HOST || have.type == DL_ROCM_HOST;
    }
    return (have.type == want.type || (have.type == DL_CUDA_MANAGED && want.type == DL_CUDA)) && have.id == want.id;
}

static const char *device_name(dl_device device, char text[32]) {
    const char *name = device.type == DL_CPU ? "cpu" : device.type == DL_CUDA ? "cuda" : device.type == DL_ROCM ? "hip" : "type";
    snprintf(text, 32, device.type == DL_CPU ? "%s" : "%s:%d", name, (int)device.id);
    return text;
}

static int check_device(dl_device device, const lend_wanted *wanted) {
    char have[32], want[32];
    if (!same_device(device, wanted->device)) {
        PyErr_Format(lend_error, "%s: lies on device %s, and the plan is for %s; move it there", wanted->name, device_name(device, have),
                     device_name(wanted->device, want));
        return -1;
    }
    return 0;
}

static int check(lend *lent, const lend_wanted *wanted, const facts *f) {
    if (check_device(lent->device, wanted)) {
        return -1;
    }
    if (wanted->written && f->read_only) {
        PyErr_Format(lend_error, "%s: is read-only, and the plan writes it; give an array of your own", wanted->name);
        return -1;
    }
    for (lent->view = 0; lent->view < wanted->view_count; lent->view++) {
        if (fits(&wanted->view[lent->view], f)) {
            break;
        }
    }
    if (lent->view == wanted->view_count) {
        return fail_view(wanted, f);
    }
    if ((uintptr_t)lent->data % wanted->alignment) {
        PyErr_Format(lend_error, "%s: its memory begins at %p, which is no multiple of %zu bytes; copy it", wanted->name, lent->data,
                     wanted->alignment);
        return -1;
    }
    lent->bytes = (size_t)f->item;
    for (int32_t i = 0; i < f->ndim; i++) {
        lent->bytes += (size_t)((f->extent[i] - 1) * (f->extent[i] > 1 ? f->stride[i] : 0));
    }
    return 0;
}

static int too_many_axes(const lend_wanted *wanted, int ndim) {
    PyErr_Format(lend_error, "%s: has %d axes, and the problem at most %d", wanted->name, ndim, LEND_AXES_MAX);
    return -1;
}

/* --- the buffer protocol ---------------------------------------------------------------------------------------- */

/* bf16 and the floats of 8 bits have no letter; their bits come as unsigned integers. */
static bool letter_is(kw_dtype dtype, const char *format, Py_ssize_t item) {
    if (*format == '@' || *format == '=' || *format == '<') {
        format++;
    }
    return *format && !format[1] && strchr(types[dtype].letters, *format) && item == (Py_ssize_t)kw_dtype_size(dtype);
}

static int of_buffer(lend *lent, const lend_wanted *wanted) {
    const Py_buffer *buffer = &lent->buffer;
    facts f = {.ndim = buffer->ndim, .item = buffer->itemsize, .read_only = buffer->readonly};
    if (f.ndim > LEND_AXES_MAX) {
        return too_many_axes(wanted, buffer->ndim);
    }
    if (!letter_is(wanted->dtype, buffer->format ? buffer->format : "B", buffer->itemsize)) {
        snprintf(f.type, sizeof f.type, "'%.16s' of %d bytes", buffer->format ? buffer->format : "B", (int)buffer->itemsize);
        return fail_type(wanted, f.type);
    }
    for (int32_t i = 0; i < f.ndim; i++) {
        f.extent[i] = buffer->shape[i];
        f.stride[i] = buffer->strides[i];
    }
    lent->data = buffer->buf;
    lent->device = (dl_device){DL_CPU, 0};
    return check(lent, wanted, &f);
}

/* What NumPy cannot export has a view as unsigned integers of its size, if its name is that of the type. */
static int of_bits(lend *lent, PyObject *array, const lend_wanted *wanted) {
    const char *name = types[wanted->dtype].of_numpy;
    char text[64] = "objects";
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *dtype = PyObject_GetAttrString(array, "dtype");
    if (!dtype) {
        PyErr_Restore(type, value, trace); /* what the exporter said */
        return -1;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    PyObject *as_text = PyObject_Str(dtype);
    const char *utf8 = as_text ? PyUnicode_AsUTF8AndSize(as_text, NULL) : NULL;
    if (utf8) {
        snprintf(text, sizeof text, "%s", utf8);
    }
    PyErr_Clear();
    Py_XDECREF(as_text);
    Py_XDECREF(dtype);
    if (!name || strcmp(text, name)) {
        return fail_type(wanted, text);
    }
    lent->held = PyObject_CallMethod(array, "view", "s", wanted->dtype == KW_BF16 ? "uint16" : "uint8");
    if (!lent->held || PyObject_GetBuffer(lent->held, &lent->buffer, PyBUF_RECORDS_RO)) {
        return -1;
    }
    lent->buffered = true;
    return of_buffer(lent, wanted);
}

/* --- DLPack ----------------------------------------------------------------------------------------------------- */

static dl_dtype dtype_of(kw_dtype dtype) {
    return (dl_dtype){types[dtype].code, (uint8_t)(8 * kw_dtype_size(dtype)), 1};
}

static bool dtype_is(dl_dtype have, kw_dtype dtype) {
    dl_dtype want = dtype_of(dtype);
    bool bits = have.code == DL_UINT && types[dtype].of_numpy;
    return (have.code == want.code || bits) && have.bits == want.bits && have.lanes == 1;
}

static int of_tensor(lend *lent, const dl_tensor *tensor, bool read_only, const lend_wanted *wanted) {
    static const char *const names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    facts f = {.ndim = tensor->ndim, .item = (int64_t)kw_dtype_size(wanted->dtype), .read_only = read_only};
    if (tensor->ndim > LEND_AXES_MAX) {
        return too_many_axes(wanted, tensor->ndim);
    }
    if (!dtype_is(tensor->dtype, wanted->dtype)) {
        const char *name = tensor->dtype.code < sizeof names / sizeof *names ? names[tensor->dtype.code] : "float8 kind ";
        snprintf(f.type, sizeof f.type, "%s%d", name, tensor->dtype.code < 7 ? tensor->dtype.bits : tensor->dtype.code);
        return fail_type(wanted, f.type);
    }
    int64_t dense = f.item;
    for (int32_t i = f.ndim - 1; i >= 0; i--) {
        f.extent[i] = tensor->shape[i];
        f.stride[i] = tensor->strides ? tensor->strides[i] * f.item : dense;
        dense *= f.extent[i];
    }
    lent->data = (char *)tensor->data + tensor->byte_offset;
    lent->device = tensor->device;
    return check(lent, wanted, &f);
}

/* The table of a type, looked up once a type: types stay alive here, so their addresses stay theirs. */
/* What is known of a type of arrays: asked once, for a look at attributes of Python takes longer than the rest of a call. */
typedef struct array_type {
    PyTypeObject *type;
    const dl_exchange *exchange;
    bool masked;
} array_type;

static bool has_attribute(PyObject *object, const char *name) {
    PyObject *value = PyObject_GetAttrString(object, name);
    PyErr_Clear();
    Py_XDECREF(value);
    return value != NULL;
}

static const array_type *array_type_of(PyObject *array) {
    static array_type known[8];
    static size_t next;
    PyTypeObject *type = Py_TYPE(array);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].type == type) {
            return &known[i];
        }
    }
    PyObject *capsule = PyObject_GetAttrString((PyObject *)type, "__dlpack_c_exchange_api__");
    const dl_exchange *exchange = capsule ? PyCapsule_GetPointer(capsule, "dlpack_exchange_api") : NULL;
    Py_XDECREF(capsule);
    PyErr_Clear();
    while (exchange && exchange->version.major > 1) {
        exchange = exchange->older;
    }
    bool masked = has_attribute((PyObject *)type, "mask") && has_attribute((PyObject *)type, "filled");
    array_type *made = &known[next];
    next = (next + 1) % (sizeof known / sizeof *known);
    Py_INCREF((PyObject *)type);
    Py_XDECREF((PyObject *)made->type);
    *made = (array_type){type, exchange, masked};
    return made;
}

const dl_exchange *lend_exchange(PyObject *array) {
    return array_type_of(array)->exchange;
}

static int of_exchange(lend *lent, PyObject *array, const lend_wanted *wanted) {
    if (lent->exchange->borrow) {
        dl_tensor tensor;
        if (lent->exchange->borrow(array, &tensor)) {
            return -1;
        }
        return of_tensor(lent, &tensor, false, wanted);
    }
    if (lent->exchange->from_object(array, &lent->versioned)) {
        return -1;
    }
    return of_tensor(lent, &lent->versioned->tensor, lent->versioned->flags & DL_READ_ONLY, wanted);
}

/* Asks for the versioned capsule, and those who do not know of it for the old one. */
static PyObject *capsule_of(PyObject *array, PyObject *stream) {
    PyObject *method = PyObject_GetAttrString(array, "__dlpack__");
    PyObject *none = PyTuple_New(0), *how = stream ? Py_BuildValue("{s(ii)sO}", "max_version", 1, 0, "stream", stream)
                                                   : Py_BuildValue("{s(ii)}", "max_version", 1, 0);
    PyObject *capsule = method && none && how ? PyObject_Call(method, none, how) : NULL;
    if (!capsule && method && none && how && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        if (!PyDict_DelItemString(how, "max_version")) {
            capsule = PyObject_Call(method, none, how);
        }
    }
    Py_XDECREF(how);
    Py_XDECREF(none);
    Py_XDECREF(method);
    return capsule;
}

static int of_capsule(lend *lent, PyObject *array, const lend_wanted *wanted, PyObject *stream) {
    PyObject *capsule = capsule_of(array, stream);
    if (!capsule) {
        return -1;
    }
    lent->held = capsule;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        lent->versioned = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        PyCapsule_SetName(capsule, "used_dltensor_versioned"); /* it is ours to delete from here on */
        if (lent->versioned->version.major > 1) {
            PyErr_Format(lend_error, "%s: speaks DLPack %d, and this package up to 1", wanted->name, (int)lent->versioned->version.major);
            return -1;
        }
        return of_tensor(lent, &lent->versioned->tensor, lent->versioned->flags & DL_READ_ONLY, wanted);
    }
    lent->managed = PyCapsule_GetPointer(capsule, "dltensor");
    if (!lent->managed) {
        return -1;
    }
    PyCapsule_SetName(capsule, "used_dltensor");
    return of_tensor(lent, &lent->managed->tensor, false, wanted);
}

/* Where an array says that it lies; false where it does not say. An exception that was set stays. */
static bool asked_device(PyObject *array, dl_device *device) {
    PyObject *type, *value, *trace;
    int kind = 0, id = 0;
    PyErr_Fetch(&type, &value, &trace);
    PyObject *answer = PyObject_CallMethod(array, "__dlpack_device__", NULL);
    bool said = answer && PyTuple_Check(answer) && PyTuple_Size(answer) == 2;
    if (said) {
        kind = (int)PyLong_AsLong(PyTuple_GetItem(answer, 0)); /* also where it is an enumerator */
        id = (int)PyLong_AsLong(PyTuple_GetItem(answer, 1));
        said = !PyErr_Occurred();
    }
    PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_XDECREF(answer);
    *device = (dl_device){kind, id};
    return said;
}

/* JAX's arrays never change, though not every release says so. */
static bool is_immutable(PyObject *array) {
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(array), "__module__");
    const char *name = module && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    bool immutable = name && !strncmp(name, "jax", 3);
    PyErr_Clear();
    Py_XDECREF(module);
    return immutable;
}

/* --- both ------------------------------------------------------------------------------------------------------- */

int lend_begin(lend *lent, PyObject *array, const lend_wanted *wanted, PyObject *stream) {
    char name[64];
    dl_device device;
    memset(lent, 0, sizeof *lent);
    if (array_type_of(array)->masked) {
        PyErr_Format(lend_error, "%s: a masked array lends its elements without its mask; give .filled(0), or .data for all of them",
                     wanted->name);
        return -1;
    }
    lent->exchange = wanted->device.type == DL_CPU ? NULL : lend_exchange(array);
    if (!lent->exchange && PyObject_CheckBuffer(array)) {
        if (!PyObject_GetBuffer(array, &lent->buffer, PyBUF_RECORDS_RO)) {
            lent->buffered = true;
            return of_buffer(lent, wanted);
        }
        bool elsewhere = asked_device(array, &device) && device.type != DL_CPU; /* JAX: no buffer, for it lies on a GPU */
        if (!elsewhere) {
            return of_bits(lent, array, wanted);
        }
        PyErr_Clear();
        if (check_device(device, wanted)) {
            return -1;
        }
    }
    lent->exchange = lent->exchange ? lent->exchange : lend_exchange(array);
    if (lent->exchange) {
        return of_exchange(lent, array, wanted);
    }
    if (PyObject_HasAttrString(array, "__dlpack__")) {
        if (wanted->written && is_immutable(array)) {
            PyErr_Format(lend_error, "%s: arrays of JAX are read-only, and the plan writes it; leave the result to the plan", wanted->name);
            return -1;
        }
        return of_capsule(lent, array, wanted, stream);
    }
    PyErr_Format(lend_error, "%s: %s is no array; give one with the buffer protocol or __dlpack__: NumPy's, PyTorch's, CuPy's, JAX's",
                 wanted->name, type_name(array, name, sizeof name));
    return -1;
}

void lend_end(lend *lent) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace); /* deleters may run Python */
    if (lent->buffered) {
        PyBuffer_Release(&lent->buffer);
    }
    if (lent->managed && lent->managed->deleter) {
        lent->managed->deleter(lent->managed);
    }
    if (lent->versioned && lent->versioned->deleter) {
        lent->versioned->deleter(lent->versioned);
    }
    Py_XDECREF(lent->held);
    PyErr_Restore(type, value, trace);
}

static void allocation_failed(void *user, const char *kind, const char *message) {
    (void)user;
    PyErr_Format(PyExc_MemoryError, "%s: %s", kind, message);
}

/* The library lays a new array out densely in the order of its axes: it is asked for them in the order of memory, and is then told how the
 * view counts them. */
PyObject *lend_allocate(const dl_exchange *exchange, dl_device device, kw_dtype dtype, const lend_view *view, char **data) {
    int32_t order[LEND_AXES_MAX];
    int64_t extent[LEND_AXES_MAX];
    for (int32_t i = 0; i < view->ndim; i++) {
        int32_t at = i;
        for (; at > 0 && view->stride[order[at - 1]] < view->stride[i]; at--) {
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
    int64_t span = 1, all = 1;
    for (int32_t i = 0; i < view->ndim; i++) {
        extent[i] = view->extent[order[i]];
        all *= extent[i];
        span += (extent[i] - 1) * view->stride[order[i]];
    }
    if (span != all) {
        PyErr_SetString(lend_error, "the result lies in a larger matrix, which only you have; give it as out");
        return NULL;
    }
    dl_versioned *tensor = NULL;
    dl_tensor prototype = {.device = device, .ndim = view->ndim, .dtype = dtype_of(dtype), .shape = extent};
    if (exchange->allocate(&prototype, &tensor, NULL, allocation_failed)) {
        if (!PyErr_Occurred()) {
            PyErr_NoMemory();
        }
        return NULL;
    }
    *data = (char *)tensor->tensor.data + tensor->tensor.byte_offset;
    memcpy(tensor->tensor.shape, view->extent, sizeof(int64_t) * (size_t)view->ndim);
    if (tensor->tensor.strides) {
        memcpy(tensor->tensor.strides, view->stride, sizeof(int64_t) * (size_t)view->ndim);
    }
    void *object = NULL;
    return exchange->to_object(tensor, &object) ? NULL : object;
}
