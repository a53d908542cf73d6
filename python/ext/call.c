/* call.c: arrays lent to a plan for a call, and its run. The interpreter's lock is let go while a CPU works (or plays a GPU) on what takes longer
 * than some 20 us: taking it again costs 70 ns. */
#include "call.h"

#include <stdlib.h>
#include <string.h>

PyObject *call_failure;

PyObject *call_raise(const kw_error *err) {
    PyObject *exception = PyObject_CallFunction(call_failure, "is", (int)err->status, err->text);
    if (exception) {
        PyErr_SetObject((PyObject *)Py_TYPE(exception), exception);
        Py_DECREF(exception);
    }
    return NULL;
}

static void **place_of(call *c, int operand) {
    switch (operand) {
    case KW_X:
        return &c->tensors.x;
    case KW_W:
        return &c->tensors.w;
    case KW_Y:
        return &c->tensors.y;
    default:
        return c->self->operands.ends == operand ? (void **)&c->tensors.ends : (void **)&c->tensors.extra[operand - KW_TENSOR_COUNT];
    }
}

int call_take(call *c, int operand, PyObject *array) {
    runner *self = c->self;
    if (operand == KW_W && array == Py_None && !self->operands.each[KW_W].written) {
        return 0; /* packed weights; the library refuses if there are none */
    }
    lend *lent = &c->lent[operand];
    c->begun |= 1 << operand;
    if (lend_begin(lent, array, &self->operands.each[operand], c->stream_word)) {
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
    for (int i = 0; i < self->operands.count; i++) {
        const lend *t = &c->lent[i];
        if (i == result || !(c->begun & 1 << i) || t->data >= y->data + y->bytes || y->data >= t->data + t->bytes) {
            continue;
        }
        const lend_wanted *wanted = &self->operands.each[i];
        bool whole = i >= KW_TENSOR_COUNT && i != self->operands.ends && t->data == y->data && t->bytes == y->bytes &&
                     wanted->dtype == self->operands.each[result].dtype;
        if (!whole) {
            PyErr_Format(lend_error, "%s: shares memory with %s, which the plan reads; give another array",
                         self->operands.each[result].name, wanted->name);
            return -1;
        }
    }
    return 0;
}

/* Takes the time of so many runs. */
static int time_runs(call *c) {
    kw_error err;
    kw_status status;
    err.status = KW_OK;
    PyThreadState *state = PyEval_SaveThread();
    status = kw_plan_time(&c->ns, c->self->plan, &c->tensors, c->timed, &err);
    PyEval_RestoreThread(state);
    if (status) {
        call_raise(&err);
        return -1;
    }
    return 0;
}

int call_run(runner *self, const kw_tensors *tensors, void *stream) {
    kw_error err;
    kw_status status;
    err.status = KW_OK;
    if (self->lets_go) {
        PyThreadState *state = PyEval_SaveThread();
        status = kw_plan_run(self->plan, tensors, stream, &err);
        PyEval_RestoreThread(state);
    } else {
        status = kw_plan_run(self->plan, tensors, stream, &err);
    }
    if (status) {
        call_raise(&err);
        return -1;
    }
    return 0;
}

int call_launch(call *c) {
    if (refuse_overlap(c) || call_find_workspace(c)) {
        return -1;
    }
    c->tensors.size = sizeof c->tensors;
    return c->timed ? time_runs(c) : call_run(c->self, &c->tensors, c->stream);
}

int call_launch_together(call *calls, Py_ssize_t count) {
    const kw_plan **plans = malloc((size_t)count * sizeof(kw_plan *) + 1);
    const kw_tensors **tensors = malloc((size_t)count * sizeof(kw_tensors *) + 1);
    kw_error err = {.status = KW_NO_MEMORY, .text = "there is no memory for a list of plans"};
    kw_status status = plans && tensors ? KW_OK : KW_NO_MEMORY;
    int failed = 0;
    bool asks = false;
    for (Py_ssize_t i = 0; i < count && !status && !failed; i++) {
        call *c = &calls[i];
        asks |= c->self->gpu && !c->self->asked;
        c->self->asked = true;
        failed = refuse_overlap(c) || call_find_workspace(c);
        if (!failed && c->stream != calls[0].stream) {
            PyErr_Format(lend_error, "plan %zd: its arrays are written in another stream than those of plan 0; give a stream", i);
            failed = 1;
        }
        c->tensors.size = sizeof c->tensors;
        plans[i] = c->self->plan;
        tensors[i] = &c->tensors;
    }
    if (!status && !failed && count) {
        PyThreadState *state = PyEval_SaveThread();
        status = asks ? kw_plans_join(NULL, plans, (size_t)count, &err) : KW_OK;
        status = status ? status : kw_plans_run(plans, tensors, (size_t)count, calls[0].stream, &err);
        PyEval_RestoreThread(state);
    }
    free(plans);
    free(tensors);
    if (status) {
        call_raise(&err);
    }
    return status || failed ? -1 : 0;
}

void call_end(call *c) {
    for (int i = 0; i < c->self->operands.count; i++) {
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

void call_begin(call *c, runner *self) {
    c->self = self;
    c->begun = 0;
    memset(&c->tensors, 0, sizeof c->tensors);
    c->exchange = NULL;
    c->stream = NULL;
    c->waits = false;
    c->own = NULL;
    c->timed = 0;
    c->lent_workspace = NULL;
    c->took = false;
    c->stream_word = NULL;
}
