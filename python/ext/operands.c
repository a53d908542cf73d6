/* operands.c: the views of a problem's tensors, and what its epilogue and its groups read. */
#include "operands.h"

#include <string.h>

enum { ALIGNMENT_GPU = 16 };

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

void operands_of(operands *out, const kw_problem *problem, dl_device device, bool gpu) {
    static const char *const names[KW_TENSOR_COUNT] = {"x", "w", "y"};
    kw_extra extra[KW_EXTRA_MAX];
    kw_tensor result = kw_problem_result(problem);
    out->ends = 0;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        lend_wanted *wanted = &out->each[t];
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
        lend_wanted *wanted = &out->each[KW_TENSOR_COUNT + i];
        bool whole = !strcmp(extra[i].name, "add") || !strcmp(extra[i].name, "multiply");
        if (whole) {
            *wanted = out->each[result];
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
    out->count = KW_TENSOR_COUNT + extras;
    if (problem->op == KW_GEMM && problem->gemm.groups) {
        out->ends = out->count++;
        out->each[out->ends] = (lend_wanted){.name = "ends", .dtype = KW_INT32};
        add_flat(&out->each[out->ends], problem->gemm.groups);
    }
    for (int i = 0; i < out->count; i++) {
        bool whole_lines = gpu && (!out->ends || i != out->ends);
        out->each[i].alignment = whole_lines ? ALIGNMENT_GPU : kw_dtype_size(out->each[i].dtype);
        out->each[i].device = device;
    }
}

PyObject *operands_view(const lend_view *view) {
    PyObject *extent = PyTuple_New(view->ndim), *stride = PyTuple_New(view->ndim), *pair;
    for (int32_t i = 0; extent && stride && i < view->ndim; i++) {
        PyTuple_SetItem(extent, i, PyLong_FromLongLong(view->extent[i]));
        PyTuple_SetItem(stride, i, PyLong_FromLongLong(view->stride[i]));
    }
    pair = extent && stride ? PyTuple_Pack(2, extent, stride) : NULL;
    Py_XDECREF(extent);
    Py_XDECREF(stride);
    return pair;
}

PyObject *operands_list(const operands *all) {
    PyObject *list = PyList_New(0);
    for (int i = 0; list && i < all->count; i++) {
        const lend_wanted *wanted = &all->each[i];
        PyObject *views = PyList_New(0), *entry = NULL;
        for (int32_t v = 0; views && v < wanted->view_count; v++) {
            PyObject *pair = operands_view(&wanted->view[v]);
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
