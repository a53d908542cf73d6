/* runner.c: a plan that Python calls. The object owns the plan and holds what the plan stands on (its context's handle), so that both end in
 * this order whoever lets go last. What an array has to look like is worked out once, when the object is made; a call then compares.
 *
 * Workspace: on a CPU one that stays, and one for the call where several threads run the plan at once. On a GPU memory of the array's own
 * library, whose allocator knows streams, where it has the exchange API; else one that stays for each stream.
 *
 * The interpreter's lock is let go while a CPU works (or plays a GPU) on what takes longer than some 20 us: taking it again costs 70 ns. */
#include "runner.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OPERANDS_MAX = KW_TENSOR_COUNT + KW_EXTRA_MAX + 1, ALIGNMENT_GPU = 16, WORKSPACE_ALIGNMENT = 64 };
static const int64_t LONG_FLOPS = 2000000;

PyObject *runner_failure;
static size_t live;

typedef struct stream_memory {
    struct stream_memory *next;
    void *stream, *memory;
} stream_memory;

typedef struct runner {
    PyObject_HEAD kw_plan *plan;
    kw_context *context;
    PyObject *owner;
    PyObject *allocate, *finish, *stream_of; /* of Python, for libraries without the exchange API: result arrays, the stream to work in */
    kw_problem problem;
    dl_device device;
    bool gpu, lets_go;
    int operands, ends; /* ends: which of them says where groups of rows end; 0: none, it is one product */
    lend_wanted operand[OPERANDS_MAX];
    void *workspace;
    int64_t workspace_bytes;
    bool workspace_taken;
    stream_memory *streams;
} runner;

/* --- what arrays have to look like ----------------------------------------------------------------------------- */

static void add_view(lend_wanted *wanted, const lend_view *view) {
    wanted->view[wanted->view_count++] = *view;
}

static void add_flat(lend_wanted *wanted, int64_t elements) {
    add_view(wanted, &(lend_view){.ndim = 1, .extent = {elements}, .stride = {1}});
}

/* A batch that is one matrix, or one for all, need not be an axis. */
static void add_matrix_views(lend_wanted *wanted, const lend_view *axes) {
    add_view(wanted, axes);
    if (axes->extent[0] == 1 || !axes->stride[0]) {
        add_view(wanted,
                 &(lend_view){.ndim = 2, .extent = {axes->extent[1], axes->extent[2]}, .stride = {axes->stride[1], axes->stride[2]}});
    }
    if (axes->extent[0] > 1 && !axes->stride[0]) {
        lend_view one = *axes;
        one.extent[0] = 1;
        add_view(wanted, &one);
    }
}

/* As frameworks count axes, (N, C, H, W); as channels-last memory lies, (N, H, W, C); and with the groups as an axis of its own, which both x
 * and y have before their channels, and w before all. */
static void add_conv_views(lend_wanted *wanted, const lend_view *axes, const kw_problem *problem, kw_tensor tensor) {
    int64_t g = problem->conv.g;
    bool last = problem->layout == KW_CHANNELS_LAST;
    lend_view memory = *axes, grouped = {.ndim = axes->ndim + 1};
    add_view(wanted, axes);
    if (last) {
        for (int32_t i = 2; i < axes->ndim; i++) {
            memory.extent[i - 1] = axes->extent[i];
            memory.stride[i - 1] = axes->stride[i];
        }
        memory.extent[axes->ndim - 1] = axes->extent[1];
        memory.stride[axes->ndim - 1] = axes->stride[1];
        add_view(wanted, &memory);
    }
    int32_t split = tensor == KW_W ? 0 : last ? memory.ndim - 1 : 1; /* the axis that has the groups */
    for (int32_t i = 0, at = 0; i < memory.ndim; i++, at++) {
        if (i == split) {
            grouped.extent[at] = g;
            grouped.stride[at] = memory.stride[i] * (memory.extent[i] / g);
            at++;
        }
        grouped.extent[at] = i == split ? memory.extent[i] / g : memory.extent[i];
        grouped.stride[at] = memory.stride[i];
    }
    add_view(wanted, &grouped);
}

static void fill_operands(runner *self) {
    static const char *const names[KW_TENSOR_COUNT] = {"x", "w", "y"};
    kw_extra extra[KW_EXTRA_MAX];
    const kw_problem *problem = &self->problem;
    kw_tensor result = kw_problem_result(problem);
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        lend_wanted *wanted = &self->operand[t];
        lend_view axes = {0};
        *wanted = (lend_wanted){.name = names[t], .dtype = kw_problem_dtype(problem, (kw_tensor)t), .written = (kw_tensor)t == result};
        axes.ndim = kw_problem_axes(axes.extent, axes.stride, problem, (kw_tensor)t);
        if (problem->op == KW_GEMM) {
            add_matrix_views(wanted, &axes);
        } else {
            add_conv_views(wanted, &axes, problem, (kw_tensor)t);
        }
        if (wanted->view_count < LEND_VIEWS_MAX) {
            add_flat(wanted, kw_problem_elements(problem, (kw_tensor)t));
        }
    }
    int extras = kw_problem_extras(extra, problem);
    for (int i = 0; i < extras; i++) {
        lend_wanted *wanted = &self->operand[KW_TENSOR_COUNT + i];
        bool whole = !strcmp(extra[i].name, "add") || !strcmp(extra[i].name, "multiply");
        if (whole) {
            *wanted = self->operand[result];
        } else {
            add_flat(wanted, extra[i].elements);
            add_view(wanted, &(lend_view){.ndim = 2, .extent = {1, extra[i].elements}, .stride = {extra[i].elements, 1}});
            add_view(wanted, &(lend_view){.ndim = 2, .extent = {extra[i].elements, 1}, .stride = {1, 1}});
            if (extra[i].elements == 1) {
                add_view(wanted, &(lend_view){0});
            } else if (problem->op == KW_GEMM && problem->gemm.groups && extra[i].elements % problem->gemm.groups == 0) {
                int64_t each = extra[i].elements / problem->gemm.groups;
                add_view(wanted, &(lend_view){.ndim = 2, .extent = {problem->gemm.groups, each}, .stride = {each, 1}});
            }
        }
        wanted->name = extra[i].name;
        wanted->dtype = extra[i].dtype;
        wanted->written = false;
    }
    self->operands = KW_TENSOR_COUNT + extras;
    if (problem->op == KW_GEMM && problem->gemm.groups) {
        self->ends = self->operands++;
        self->operand[self->ends] = (lend_wanted){.name = "ends", .dtype = KW_INT32};
        add_flat(&self->operand[self->ends], problem->gemm.groups);
    }
    for (int i = 0; i < self->operands; i++) {
        bool whole_lines = self->gpu && (!self->ends || i != self->ends);
        self->operand[i].alignment = whole_lines ? ALIGNMENT_GPU : kw_dtype_size(self->operand[i].dtype);
        self->operand[i].device = self->device;
    }
}

/* --- life ------------------------------------------------------------------------------------------------------ */

static PyObject *raise_failure(const kw_error *err) {
    PyObject *exception = PyObject_CallFunction(runner_failure, "is", (int)err->status, err->text);
    if (exception) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

static int runner_init(PyObject *object, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"plan", "context", "problem", "device", "owner", "allocate", "finish", "stream_of", NULL};
    runner *self = (runner *)object;
    unsigned long long plan = 0, context = 0, problem = 0;
    int type = 0, id = 0;
    PyObject *owner = NULL, *allocate = NULL, *finish = NULL, *stream_of = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "KKK(ii)OOOO", names, &plan, &context, &problem, &type, &id, &owner, &allocate, &finish,
                                     &stream_of)) {
        return -1;
    }
    if (self->plan) {
        PyErr_SetString(PyExc_TypeError, "a plan is made once");
        return -1;
    }
    self->plan = (kw_plan *)(uintptr_t)plan;
    self->context = (kw_context *)(uintptr_t)context;
    self->problem = *(const kw_problem *)(uintptr_t)problem;
    self->device = (dl_device){type, id};
    self->owner = Py_NewRef(owner);
    self->allocate = Py_NewRef(allocate);
    self->finish = Py_NewRef(finish);
    self->stream_of = Py_NewRef(stream_of);
    self->gpu = kw_context_is_gpu(self->context);
    self->lets_go = type == DL_CPU && (self->gpu || kw_problem_flops(&self->problem) > LONG_FLOPS);
    fill_operands(self);
    live++;
    return 0;
}

static void drop_workspace(runner *self) {
    free(self->workspace);
    self->workspace = NULL;
    self->workspace_bytes = 0;
    while (self->streams) {
        stream_memory *next = self->streams->next;
        kw_device_free(self->context, self->streams->memory);
        free(self->streams);
        self->streams = next;
    }
}

static void runner_dealloc(PyObject *object) {
    runner *self = (runner *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->plan) {
        drop_workspace(self);
        kw_plan_destroy(&self->plan);
        live--;
    }
    Py_CLEAR(self->allocate);
    Py_CLEAR(self->finish);
    Py_CLEAR(self->stream_of);
    Py_CLEAR(self->owner);
    ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

/* --- a call ----------------------------------------------------------------------------------------------------- */

typedef struct call {
    runner *self;
    lend lent[OPERANDS_MAX];
    int begun;
    kw_tensors tensors;
    const dl_exchange *exchange; /* of the arrays, where they have it */
    PyObject *stream_word;       /* for __dlpack__(stream=); NULL: none */
    void *stream;
    bool waits; /* it has no stream, and returns when the result is written */
    void *own;  /* workspace of this call alone */
    dl_versioned *lent_workspace;
    bool took;
} call;

static void **place_of(call *c, int operand) {
    switch (operand) {
    case KW_X:
        return &c->tensors.x;
    case KW_W:
        return &c->tensors.w;
    case KW_Y:
        return &c->tensors.y;
    default:
        return c->self->ends == operand ? (void **)&c->tensors.ends : (void **)&c->tensors.extra[operand - KW_TENSOR_COUNT];
    }
}

static int take(call *c, int operand, PyObject *array) {
    runner *self = c->self;
    if (operand == KW_W && array == Py_None && !self->operand[KW_W].written) {
        return 0; /* packed weights; the library refuses if there are none */
    }
    lend *lent = &c->lent[operand];
    c->begun |= 1 << operand;
    if (lend_begin(lent, array, &self->operand[operand], c->stream_word)) {
        return -1;
    }
    *place_of(c, operand) = lent->data;
    c->exchange = c->exchange ? c->exchange : lent->exchange;
    return 0;
}

/* The result may share memory with a tensor that a step reads element by element, and then must be all of it. */
static int refuse_overlap(call *c) {
    runner *self = c->self;
    int result = (int)kw_problem_result(&self->problem);
    const lend *y = &c->lent[result];
    for (int i = 0; i < self->operands; i++) {
        const lend *t = &c->lent[i];
        if (i == result || !(c->begun & 1 << i) || t->data >= y->data + y->bytes || y->data >= t->data + t->bytes) {
            continue;
        }
        const lend_wanted *wanted = &self->operand[i];
        bool whole = i >= KW_TENSOR_COUNT && i != self->ends && t->data == y->data && t->bytes == y->bytes &&
                     wanted->dtype == self->operand[result].dtype;
        if (!whole) {
            PyErr_Format(lend_error, "%s: shares memory with %s, which the plan reads; give another array", self->operand[result].name,
                         wanted->name);
            return -1;
        }
    }
    return 0;
}

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
    PyObject *list = PyTuple_New(self->operands), *answer = NULL;
    for (int i = 0; i < self->operands; i++) {
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
static int find_stream(call *c, PyObject *stream, PyObject *const arrays[]) {
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

static void *stream_workspace(runner *self, void *stream, int64_t bytes) {
    stream_memory *m = self->streams;
    while (m && m->stream != stream) {
        m = m->next;
    }
    if (m) {
        return m->memory;
    }
    kw_error err = {0};
    m = calloc(1, sizeof *m);
    if (!m || kw_device_alloc(self->context, bytes, &m->memory, &err)) {
        free(m);
        if (err.status) {
            raise_failure(&err);
        } else {
            PyErr_NoMemory();
        }
        return NULL;
    }
    m->stream = stream;
    m->next = self->streams;
    self->streams = m;
    return m->memory;
}

static void workspace_failed(void *user, const char *kind, const char *message) {
    (void)user;
    PyErr_Format(PyExc_MemoryError, "workspace: %s: %s", kind, message);
}

static int find_workspace(call *c) {
    runner *self = c->self;
    int64_t bytes = kw_plan_workspace(self->plan);
    if (!bytes) {
        return 0;
    }
    if (self->device.type != DL_CPU) {
        if (c->exchange) {
            int64_t extent = bytes;
            dl_tensor prototype = {.device = self->device, .ndim = 1, .dtype = {DL_UINT, 8, 1}, .shape = &extent};
            if (c->exchange->allocate(&prototype, &c->lent_workspace, NULL, workspace_failed)) {
                return -1;
            }
            c->tensors.workspace = (char *)c->lent_workspace->tensor.data + c->lent_workspace->tensor.byte_offset;
            return 0;
        }
        c->tensors.workspace = stream_workspace(self, c->stream, bytes);
        return c->tensors.workspace ? 0 : -1;
    }
    size_t rounded = (size_t)(bytes + WORKSPACE_ALIGNMENT - 1) / WORKSPACE_ALIGNMENT * WORKSPACE_ALIGNMENT;
    if (!self->workspace_taken && self->workspace_bytes < bytes) {
        free(self->workspace);
        self->workspace = aligned_alloc(WORKSPACE_ALIGNMENT, rounded);
        self->workspace_bytes = self->workspace ? bytes : 0;
    }
    if (self->workspace_taken) {
        c->own = c->tensors.workspace = aligned_alloc(WORKSPACE_ALIGNMENT, rounded);
    } else {
        c->tensors.workspace = self->workspace;
        self->workspace_taken = c->took = true;
    }
    if (!c->tensors.workspace) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static int launch(call *c) {
    runner *self = c->self;
    kw_error err;
    kw_status status;
    err.status = KW_OK;
    if (refuse_overlap(c) || find_workspace(c)) {
        return -1;
    }
    c->tensors.size = sizeof c->tensors;
    if (self->lets_go) {
        PyThreadState *state = PyEval_SaveThread();
        status = kw_plan_run(self->plan, &c->tensors, c->stream, &err);
        PyEval_RestoreThread(state);
    } else {
        status = kw_plan_run(self->plan, &c->tensors, c->stream, &err);
    }
    if (status) {
        raise_failure(&err);
        return -1;
    }
    return 0;
}

static void call_end(call *c) {
    for (int i = 0; i < c->self->operands; i++) {
        if (c->begun & 1 << i) {
            lend_end(&c->lent[i]);
        }
    }
    if (c->took) {
        c->self->workspace_taken = false;
    }
    free(c->own);
    if (c->lent_workspace) {
        c->lent_workspace->deleter(c->lent_workspace);
    }
    Py_XDECREF(c->stream_word);
}

static void call_begin(call *c, runner *self) {
    c->self = self;
    c->begun = 0;
    memset(&c->tensors, 0, sizeof c->tensors);
    c->exchange = NULL;
    c->stream = NULL;
    c->waits = false;
    c->own = NULL;
    c->lent_workspace = NULL;
    c->took = false;
    c->stream_word = NULL;
}

static bool is_made(const runner *self) {
    if (!self->plan) {
        PyErr_SetString(PyExc_TypeError, "this plan was not made by Context.plan, which makes them");
    }
    return self->plan;
}

/* run(x, w, y, *extras, stream=None) */
static PyObject *runner_run(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    runner *self = (runner *)object;
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    PyObject *stream = NULL;
    call c;
    for (Py_ssize_t i = 0; i < named; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, i), "stream")) {
            PyErr_Format(PyExc_TypeError, "run() takes x, w, y, tensors of the epilogue and stream=, and no %R",
                         PyTuple_GetItem(keywords, i));
            return NULL;
        }
        stream = args[count + i];
    }
    if (!is_made(self)) {
        return NULL;
    }
    if (count != self->operands) {
        PyErr_Format(PyExc_TypeError, "run() takes %d arrays, x, w, y%s, and got %zd", self->operands,
                     self->operands > KW_TENSOR_COUNT ? " and those of the epilogue in its order" : "", count);
        return NULL;
    }
    call_begin(&c, self);
    int failed = find_stream(&c, stream, args);
    for (int i = 0; i < self->operands && !failed; i++) {
        failed = take(&c, i, args[i]);
    }
    failed = failed || launch(&c);
    call_end(&c);
    return failed ? NULL : Py_NewRef(Py_None);
}

static int operand_named(const runner *self, PyObject *name) {
    for (int i = 0; i < self->operands; i++) {
        if (!PyUnicode_CompareWithASCIIString(name, self->operand[i].name)) {
            return i;
        }
    }
    return -1;
}

/* Puts the call's arguments in their places: those that are read in the order x, w, y, then those of the epilogue. */
static int sort_arguments(runner *self, PyObject *args, PyObject *kwargs, PyObject *given[OPERANDS_MAX], PyObject **stream) {
    int result = (int)kw_problem_result(&self->problem), at = 0;
    Py_ssize_t count = PyTuple_Size(args), position = 0;
    PyObject *key, *value;
    for (Py_ssize_t i = 0; i < count; i++, at++) {
        at += at == result;
        if (at >= self->operands) {
            PyErr_Format(PyExc_TypeError, "the plan reads %d arrays, and got %zd", self->operands - 1, count);
            return -1;
        }
        given[at] = PyTuple_GetItem(args, i);
    }
    while (kwargs && PyDict_Next(kwargs, &position, &key, &value)) {
        int named = operand_named(self, key);
        if (!PyUnicode_CompareWithASCIIString(key, "stream")) {
            *stream = value;
        } else if (!PyUnicode_CompareWithASCIIString(key, "out")) {
            given[result] = value == Py_None ? NULL : value;
        } else if (named < 0 || given[named]) {
            PyErr_Format(PyExc_TypeError, "the plan has no operand %R that is not given already", key);
            return -1;
        } else {
            given[named] = value;
        }
    }
    for (int i = 0; i < self->operands; i++) {
        if (i != result && !given[i] && i != KW_W) {
            PyErr_Format(PyExc_TypeError, "%s is missing; the plan reads %d arrays", self->operand[i].name, self->operands - 1);
            return -1;
        }
    }
    if (!given[KW_W] && result != KW_W) {
        given[KW_W] = Py_None;
    }
    return 0;
}

/* The result's view that indexes as the one of an operand does: those of convolutions stand in one order, those of products differ by axes. */
static int32_t view_like(const runner *self, int operand, int32_t view) {
    const lend_wanted *wanted = &self->operand[kw_problem_result(&self->problem)];
    if (self->problem.op != KW_GEMM) {
        return view;
    }
    for (int32_t i = 0; i < wanted->view_count; i++) {
        if (wanted->view[i].ndim == self->operand[operand].view[view].ndim) {
            return i;
        }
    }
    return 0;
}

/* An array like the first that is read, indexed as that one is. */
static PyObject *new_result(call *c, PyObject *like, int like_operand) {
    runner *self = c->self;
    int result = (int)kw_problem_result(&self->problem);
    const lend_wanted *wanted = &self->operand[result];
    int32_t view = view_like(self, like_operand, c->lent[like_operand].view);
    if (c->lent[like_operand].exchange) {
        char *data = NULL;
        return lend_allocate(c->lent[like_operand].exchange, self->device, wanted->dtype, &wanted->view[view], &data);
    }
    const lend_view *v = &wanted->view[view];
    PyObject *extent = PyTuple_New(v->ndim), *stride = PyTuple_New(v->ndim), *array = NULL;
    for (int32_t i = 0; i < v->ndim && extent && stride; i++) {
        PyTuple_SetItem(extent, i, PyLong_FromLongLong(v->extent[i]));
        PyTuple_SetItem(stride, i, PyLong_FromLongLong(v->stride[i]));
    }
    if (extent && stride) {
        array = PyObject_CallFunction(self->allocate, "OOOs", like, extent, stride, kw_dtype_name(wanted->dtype));
    }
    Py_XDECREF(extent);
    Py_XDECREF(stride);
    return array;
}

/* plan(*read, *extras, out=None, stream=None) */
static PyObject *runner_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    runner *self = (runner *)object;
    PyObject *given[OPERANDS_MAX] = {0}, *stream = NULL, *made = NULL, *answer = NULL;
    int result = (int)kw_problem_result(&self->problem), like = result == KW_X ? KW_W : KW_X, failed = 0;
    call c;
    if (!is_made(self)) {
        return NULL;
    }
    if (sort_arguments(self, args, kwargs, given, &stream)) {
        return NULL;
    }
    call_begin(&c, self);
    failed = find_stream(&c, stream, given);
    like = given[like] == Py_None ? KW_Y : like;
    for (int i = 0; i < self->operands && !failed; i++) {
        failed = i == result ? 0 : take(&c, i, given[i]);
    }
    if (!failed && !given[result]) {
        given[result] = made = new_result(&c, given[like], like);
        failed = !made;
    }
    failed = failed || take(&c, result, given[result]) || launch(&c);
    call_end(&c);
    if (!failed) {
        answer = made && Py_TYPE(made) != Py_TYPE(given[like]) ? PyObject_CallFunctionObjArgs(self->finish, made, given[like], NULL)
                                                               : Py_NewRef(given[result]);
    }
    Py_XDECREF(made);
    return answer;
}

/* --- what the Python side asks ---------------------------------------------------------------------------------- */

static PyObject *runner_address(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((runner *)object)->plan);
}

/* run_at(x, w, y, *extras, workspace=0, stream=0): addresses as they are. */
static PyObject *runner_run_at(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    runner *self = (runner *)object;
    kw_tensors tensors = {.size = sizeof tensors};
    kw_error err;
    void *at[OPERANDS_MAX + 2] = {0};
    if (!is_made(self)) {
        return NULL;
    }
    if (count < self->operands || count > self->operands + 2) {
        PyErr_Format(PyExc_TypeError, "run_at() takes %d addresses, then workspace and stream", self->operands);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        at[i] = PyLong_AsVoidPtr(args[i]);
        if (!at[i] && PyErr_Occurred()) {
            return NULL;
        }
    }
    tensors.x = at[KW_X];
    tensors.w = at[KW_W];
    tensors.y = at[KW_Y];
    int extras = (self->ends ? self->ends : self->operands) - KW_TENSOR_COUNT;
    for (int i = 0; i < extras; i++) {
        tensors.extra[i] = at[KW_TENSOR_COUNT + i];
    }
    tensors.ends = self->ends ? at[self->ends] : NULL;
    tensors.workspace = at[self->operands];
    if (self->lets_go) {
        kw_status status;
        PyThreadState *state = PyEval_SaveThread();
        status = kw_plan_run(self->plan, &tensors, at[self->operands + 1], &err);
        PyEval_RestoreThread(state);
        return status ? raise_failure(&err) : Py_NewRef(Py_None);
    }
    return kw_plan_run(self->plan, &tensors, at[self->operands + 1], &err) ? raise_failure(&err) : Py_NewRef(Py_None);
}

/* operands(): for each its name, type, whether it is written, and its views as pairs of extents and strides. */
static PyObject *runner_operands(PyObject *object, PyObject *unused) {
    runner *self = (runner *)object;
    PyObject *list = PyList_New(0);
    (void)unused;
    for (int i = 0; list && i < self->operands; i++) {
        const lend_wanted *wanted = &self->operand[i];
        PyObject *views = PyList_New(0), *entry = NULL;
        for (int32_t v = 0; views && v < wanted->view_count; v++) {
            PyObject *extent = PyTuple_New(wanted->view[v].ndim), *stride = PyTuple_New(wanted->view[v].ndim), *pair;
            for (int32_t a = 0; extent && stride && a < wanted->view[v].ndim; a++) {
                PyTuple_SetItem(extent, a, PyLong_FromLongLong(wanted->view[v].extent[a]));
                PyTuple_SetItem(stride, a, PyLong_FromLongLong(wanted->view[v].stride[a]));
            }
            pair = extent && stride ? PyTuple_Pack(2, extent, stride) : NULL;
            Py_XDECREF(extent);
            Py_XDECREF(stride);
            if (!pair || PyList_Append(views, pair)) {
                Py_CLEAR(views);
            }
            Py_XDECREF(pair);
        }
        entry = views ? Py_BuildValue("(ssNN)", wanted->name, kw_dtype_name(wanted->dtype), PyBool_FromLong(wanted->written), views) : NULL;
        if (!entry || PyList_Append(list, entry)) {
            Py_CLEAR(list);
        }
        Py_XDECREF(entry);
    }
    return list;
}

PyObject *runner_type(void) {
    static PyMethodDef methods[] = {
        {"run", (PyCFunction)(void (*)(void))runner_run, METH_FASTCALL | METH_KEYWORDS,
         "run($self, /, *arrays, stream=None)\n--\n\nRun into arrays that are there: x, w, y, then those of the epilogue."},
        {"run_at", (PyCFunction)(void (*)(void))runner_run_at, METH_FASTCALL,
         "run_at($self, /, *addresses)\n--\n\nThe same with addresses, unchecked: x, w, y, those of the epilogue, workspace, stream."},
        {"operands", runner_operands, METH_NOARGS,
         "operands($self, /)\n--\n\nName, type, whether written, and ways to index, of each array."},
        {NULL, NULL, 0, NULL},
    };
    static PyGetSetDef attributes[] = {{"address", runner_address, NULL, "The C handle.", NULL}, {NULL, NULL, NULL, NULL, NULL}};
    static PyType_Slot slots[] = {
        {Py_tp_init, (void *)runner_init},
        {Py_tp_dealloc, (void *)runner_dealloc},
        {Py_tp_call, (void *)runner_call},
        {Py_tp_methods, methods},
        {Py_tp_getset, attributes},
        {Py_tp_doc, (void *)"A plan that can be called."},
        {Py_tp_new, (void *)PyType_GenericNew},
        {0, NULL},
    };
    static PyType_Spec spec = {
        .name = "kernelwright._kw.Runner", .basicsize = sizeof(runner), .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, .slots = slots};
    return PyType_FromSpec(&spec);
}

size_t runner_count(void) {
    return live;
}
