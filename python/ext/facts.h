/* facts.h: what an array looks like, as bytes: what a plan that takes it depends on, so that a call finds its plan by one look-up. */
#ifndef KW_PYTHON_FACTS_H
#define KW_PYTHON_FACTS_H

#include "lend.h"

/* facts(*arrays): type, device, extents and strides of each as bytes that differ where any of that does, of None that it is None. A new reference;
 * None for arrays of which that cannot be told without asking Python; NULL with an exception set. */
PyObject *facts_of(PyObject *module, PyObject *const *arrays, Py_ssize_t count);

#endif
