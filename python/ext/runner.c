/* runner.c: a plan that Python calls. The object owns the plan and holds what the plan stands on (its context's handle), so that both end in
 * this order whoever lets go last. */
#include "runner.h"

#include "call.h"

#include <stdlib.h>

static const int64_t LONG_FLOPS = 2000000;
static size_t live;
static PyObject *runner_type_known; /* borrowed: the module has it */

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
    operands_of(&self->operands, &self->problem, self->device, self->gpu);
    live++;
    return 0;
}

static void runner_dealloc(PyObject *object) {
    runner *self = (runner *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->plan) {
        call_drop_workspace(self);
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

static bool is_made(const runner *self) {
    if (!self->plan) {
        PyErr_SetString(PyExc_TypeError, "this plan was not made by Context.plan, which makes them");
    }
    return self->plan;
}

/* run(x, w, y, *extras, stream=None), or so many times, timed: the time of one goes to *ns. */
static int run_arrays(runner *self, PyObject *const *args, Py_ssize_t count, PyObject *stream, int32_t timed, double *ns) {
    call c;
    if (count != self->operands.count) {
        PyErr_Format(PyExc_TypeError, "the plan takes %d arrays, x, w, y%s, and got %zd", self->operands.count,
                     self->operands.count > KW_TENSOR_COUNT ? " and those of the epilogue in its order" : "", count);
        return -1;
    }
    call_begin(&c, self);
    c.timed = timed;
    int failed = call_find_stream(&c, stream, args);
    for (int i = 0; i < self->operands.count && !failed; i++) {
        failed = call_take(&c, i, args[i]);
    }
    failed = failed || call_launch(&c) ? -1 : 0;
    *ns = c.ns;
    call_end(&c);
    return failed;
}

/* One of run_together: (plan, x, w, y, ...). It is to be ended whether it fails or not. */
static int begin_one(call *c, PyObject *item, PyObject *stream) {
    PyObject *given[OPERANDS_MAX];
    runner *self = (runner *)PyTuple_GetItem(item, 0);
    call_begin(c, self);
    if (PyTuple_Size(item) != self->operands.count + 1) {
        PyErr_Format(PyExc_TypeError, "a plan takes %d arrays, x, w, y and those of the epilogue in its order, and got %zd",
                     self->operands.count, PyTuple_Size(item) - 1);
        return -1;
    }
    for (int i = 0; i < self->operands.count; i++) {
        given[i] = PyTuple_GetItem(item, i + 1);
    }
    int failed = call_find_stream(c, stream, given);
    for (int i = 0; i < self->operands.count && !failed; i++) {
        failed = call_take(c, i, given[i]);
    }
    return failed;
}

PyObject *runner_run_together(PyObject *module, PyObject *args) {
    PyObject *items, *stream, *type = runner_type_known;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!O", &PyTuple_Type, &items, &stream)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_Size(items), begun = 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyTuple_GetItem(items, i), *plan = PyTuple_Check(item) && PyTuple_Size(item) ? PyTuple_GetItem(item, 0) : NULL;
        if (!plan || PyObject_IsInstance(plan, type) != 1 || !is_made((runner *)plan)) {
            PyErr_Format(PyExc_TypeError, "item %zd is not a plan with its arrays, (plan, x, w, y)", i);
            return NULL;
        }
    }
    call *calls = calloc((size_t)count + 1, sizeof *calls);
    int failed = 0;
    if (!calls) {
        return PyErr_NoMemory();
    }
    while (begun < count && !failed) {
        failed = begin_one(&calls[begun], PyTuple_GetItem(items, begun), stream);
        begun++;
    }
    failed = failed || call_launch_together(calls, count);
    while (begun > 0) {
        call_end(&calls[--begun]);
    }
    free(calls);
    return failed ? NULL : Py_NewRef(Py_None);
}

static PyObject *runner_run(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    runner *self = (runner *)object;
    Py_ssize_t named = keywords ? PyTuple_Size(keywords) : 0;
    PyObject *stream = NULL;
    double ns;
    for (Py_ssize_t i = 0; i < named; i++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(keywords, i), "stream")) {
            PyErr_Format(PyExc_TypeError, "run() takes x, w, y, tensors of the epilogue and stream=, and no %R",
                         PyTuple_GetItem(keywords, i));
            return NULL;
        }
        stream = args[count + i];
    }
    return !is_made(self) || run_arrays(self, args, count, stream, 0, &ns) ? NULL : Py_NewRef(Py_None);
}

/* _time(calls, x, w, y, *extras) */
static PyObject *runner_time(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    runner *self = (runner *)object;
    double ns = 0;
    long calls = count ? PyLong_AsLong(args[0]) : 0;
    if (calls < 1 || calls > INT32_MAX) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "calls: is not at least 1");
        }
        return NULL;
    }
    return !is_made(self) || run_arrays(self, args + 1, count - 1, NULL, (int32_t)calls, &ns) ? NULL : PyFloat_FromDouble(ns);
}

/* _pack(w): whether the kernel wants it. What still writes w is waited for before, by Python. None: the plan reads w again. */
static PyObject *runner_pack(PyObject *object, PyObject *array) {
    runner *self = (runner *)object;
    const lend_wanted *wanted = &self->operands.each[KW_W];
    kw_error err;
    kw_status status;
    lend lent;
    if (!is_made(self)) {
        return NULL;
    }
    if (wanted->written) {
        PyErr_SetString(lend_error, "w: is what the plan writes; weights that are read can be packed");
        return NULL;
    }
    if (array == Py_None) {
        return kw_plan_use_packed(self->plan, NULL, 0, &err) ? call_raise(&err) : PyBool_FromLong(kw_plan_wants_packing(self->plan));
    }
    if (lend_begin(&lent, array, wanted, NULL)) {
        lend_end(&lent);
        return NULL;
    }
    PyThreadState *state = PyEval_SaveThread();
    status = kw_plan_pack_weights(self->plan, lent.data, &err);
    PyEval_RestoreThread(state);
    lend_end(&lent);
    return status ? call_raise(&err) : PyBool_FromLong(kw_plan_wants_packing(self->plan));
}

static int operand_named(const runner *self, PyObject *name) {
    for (int i = 0; i < self->operands.count; i++) {
        if (!PyUnicode_CompareWithASCIIString(name, self->operands.each[i].name)) {
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
        if (at >= self->operands.count) {
            PyErr_Format(PyExc_TypeError, "the plan reads %d arrays, and got %zd", self->operands.count - 1, count);
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
    for (int i = 0; i < self->operands.count; i++) {
        if (i != result && !given[i] && i != KW_W) {
            PyErr_Format(PyExc_TypeError, "%s is missing; the plan reads %d arrays", self->operands.each[i].name, self->operands.count - 1);
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
    const lend_wanted *wanted = &self->operands.each[kw_problem_result(&self->problem)];
    if (self->problem.op != KW_GEMM) {
        return view;
    }
    for (int32_t i = 0; i < wanted->view_count; i++) {
        if (wanted->view[i].ndim == self->operands.each[operand].view[view].ndim) {
            return i;
        }
    }
    return 0;
}

/* An array like the first that is read, indexed as that one is. */
static PyObject *new_result(call *c, PyObject *like, int like_operand) {
    runner *self = c->self;
    int result = (int)kw_problem_result(&self->problem);
    const lend_wanted *wanted = &self->operands.each[result];
    int32_t view = view_like(self, like_operand, c->lent[like_operand].view);
    if (c->lent[like_operand].exchange) {
        char *data = NULL;
        return lend_allocate(c->lent[like_operand].exchange, self->device, wanted->dtype, &wanted->view[view], &data);
    }
    PyObject *axes = operands_view(&wanted->view[view]), *array = NULL;
    if (axes) {
        array = PyObject_CallFunction(self->allocate, "OOOs", like, PyTuple_GetItem(axes, 0), PyTuple_GetItem(axes, 1),
                                      kw_dtype_name(wanted->dtype));
    }
    Py_XDECREF(axes);
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
    failed = call_find_stream(&c, stream, given);
    like = given[like] == Py_None ? KW_Y : like;
    for (int i = 0; i < self->operands.count && !failed; i++) {
        failed = i == result ? 0 : call_take(&c, i, given[i]);
    }
    if (!failed && !given[result]) {
        given[result] = made = new_result(&c, given[like], like);
        failed = !made;
    }
    failed = failed || call_take(&c, result, given[result]) || call_launch(&c);
    call_end(&c);
    if (!failed) {
        answer = made && Py_TYPE(made) != Py_TYPE(given[like]) ? PyObject_CallFunctionObjArgs(self->finish, made, given[like], NULL)
                                                               : Py_NewRef(given[result]);
    }
    Py_XDECREF(made);
    return answer;
}

static PyObject *runner_address(PyObject *object, void *unused) {
    (void)unused;
    return PyLong_FromVoidPtr(((runner *)object)->plan);
}

/* run_at(x, w, y, *extras, workspace=0, stream=0): addresses as they are. */
static PyObject *runner_run_at(PyObject *object, PyObject *const *args, Py_ssize_t count) {
    runner *self = (runner *)object;
    kw_tensors tensors = {.size = sizeof tensors};
    void *at[OPERANDS_MAX + 2] = {0};
    if (!is_made(self)) {
        return NULL;
    }
    if (count < self->operands.count || count > self->operands.count + 2) {
        PyErr_Format(PyExc_TypeError, "run_at() takes %d addresses, then workspace and stream", self->operands.count);
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
    int extras = (self->operands.ends ? self->operands.ends : self->operands.count) - KW_TENSOR_COUNT;
    for (int i = 0; i < extras; i++) {
        tensors.extra[i] = at[KW_TENSOR_COUNT + i];
    }
    tensors.ends = self->operands.ends ? at[self->operands.ends] : NULL;
    tensors.workspace = at[self->operands.count];
    return call_run(self, &tensors, at[self->operands.count + 1]) ? NULL : Py_NewRef(Py_None);
}

static PyObject *runner_operands(PyObject *object, PyObject *unused) {
    (void)unused;
    return operands_list(&((runner *)object)->operands);
}

PyObject *runner_type(void) {
    static PyMethodDef methods[] = {
        {"run", (PyCFunction)(void (*)(void))runner_run, METH_FASTCALL | METH_KEYWORDS,
         "run($self, /, *arrays, stream=None)\n--\n\nRun into arrays that are there: x, w, y, then those of the epilogue."},
        {"run_at", (PyCFunction)(void (*)(void))runner_run_at, METH_FASTCALL,
         "run_at($self, /, *addresses)\n--\n\nThe same with addresses, unchecked: x, w, y, those of the epilogue, workspace, stream."},
        {"_pack", runner_pack, METH_O, "_pack($self, w, /)\n--\n\nKeep weights in the kernel's order; None: no more."},
        {"_time", (PyCFunction)(void (*)(void))runner_time, METH_FASTCALL,
         "_time($self, calls, /, *arrays)\n--\n\nRun so many times: the nanoseconds of one."},
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
    return runner_type_known = PyType_FromSpec(&spec);
}

size_t runner_count(void) {
    return live;
}
