/* module.c: kernelwright._kw, what Python calls often: plans with arrays. All else goes through kernelwright._ffi. */
#include "call.h"
#include "facts.h"
#include "runner.h"

/* install(error, failure): what to raise for an array, and what makes the exception of a status and its line. */
static PyObject *install(PyObject *module, PyObject *args) {
    PyObject *error, *failure;
    (void)module;
    if (!PyArg_ParseTuple(args, "OO", &error, &failure)) {
        return NULL;
    }
    Py_XDECREF(lend_error);
    Py_XDECREF(call_failure);
    lend_error = Py_NewRef(error);
    call_failure = Py_NewRef(failure);
    return Py_NewRef(Py_None);
}

static PyObject *count(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromSize_t(runner_count());
}

PyMODINIT_FUNC PyInit__kw(void);
PyMODINIT_FUNC PyInit__kw(void) {
    static PyMethodDef methods[] = {
        {"install", install, METH_VARARGS, "install($module, error, failure, /)\n--\n\nWhat is raised."},
        {"count", count, METH_NOARGS, "count($module, /)\n--\n\nPlans that are alive."},
        {"facts", (PyCFunction)(void (*)(void))facts_of, METH_FASTCALL,
         "facts($module, /, *arrays)\n--\n\nWhat arrays look like, to be looked up by; None where that takes Python to tell."},
        {"run_together", runner_run_together, METH_VARARGS,
         "run_together($module, items, stream, /)\n--\n\nPlans, each with its arrays, in one call."},
        {NULL, NULL, 0, NULL},
    };
    static struct PyModuleDef definition = {
        .m_base = PyModuleDef_HEAD_INIT, .m_name = "kernelwright._kw", .m_doc = "Plans with arrays.", .m_size = -1, .m_methods = methods};
    PyObject *module = PyModule_Create(&definition), *type = runner_type();
    if (!module || !type || PyModule_AddObjectRef(module, "Runner", type) || PyModule_AddStringConstant(module, "version", kw_version())) {
        Py_CLEAR(module);
    }
    Py_XDECREF(type);
    return module;
}
