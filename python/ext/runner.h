/* runner.h: the type Runner: a plan that Python calls. */
#ifndef KW_PYTHON_RUNNER_H
#define KW_PYTHON_RUNNER_H

#include "lend.h"

/* A new reference, or NULL with an exception set. */
PyObject *runner_type(void);
/* run_together(((plan, x, w, y, ...), ...), stream) */
PyObject *runner_run_together(PyObject *module, PyObject *args);
/* Live objects of the type. */
size_t runner_count(void);

#endif
