/* call.h: a plan that Python calls, and one call of it: arrays are lent, a stream and workspace found, the plan run. */
#ifndef KW_PYTHON_CALL_H
#define KW_PYTHON_CALL_H

#include "operands.h"

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
    bool gpu, lets_go; /* lets_go: a call lets the interpreter's lock go */
    bool asked;        /* whether it joins others (kw_plans_join) */
    operands operands;
    void *workspace;
    int64_t workspace_bytes;
    bool workspace_taken;
    stream_memory *streams;
} runner;

typedef struct call {
    runner *self;
    lend lent[OPERANDS_MAX];
    int begun;
    kw_tensors tensors;
    const dl_exchange *exchange; /* of the arrays, where they have it */
    PyObject *stream_word;       /* for __dlpack__(stream=); NULL: none */
    void *stream;
    bool waits;    /* it has no stream, and returns when the result is written */
    void *own;     /* workspace of this call alone */
    int32_t timed; /* so many runs, of which the time is taken; 0: one, of which it is not */
    double ns;     /* of one of them */
    dl_versioned *lent_workspace;
    bool took;
} call;

/* What fails returns -1 with an exception set, and call_end ends what began. */
void call_begin(call *c, runner *self);
void call_end(call *c);
/* Lends the plan an operand's array. */
int call_take(call *c, int operand, PyObject *array);
/* Which stream: said, or the arrays' own. stream: NULL or None where it is not said. (call_stream.c) */
int call_find_stream(call *c, PyObject *stream, PyObject *const arrays[]);
/* Memory that the plan works in, until call_end, and for good (call_workspace.c). */
int call_find_workspace(call *c);
void call_drop_workspace(runner *self);
int call_launch(call *c);
/* Calls of plans of one context, whose arrays are lent, in one. */
int call_launch_together(call *calls, Py_ssize_t count);

/* Runs the plan; the exception of a failure is set. */
int call_run(runner *self, const kw_tensors *tensors, void *stream);
/* What raises: called with status and text, it gives the exception to raise. Set once. */
extern PyObject *call_failure;
/* Sets the exception of a failure; NULL. */
PyObject *call_raise(const kw_error *err);

#endif
