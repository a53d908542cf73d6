/* call_workspace.c: memory that a plan works in. On a CPU one that stays, and one for the call where several threads run the plan at once. On a
 * GPU memory of the array's own library, whose allocator knows streams, where it has the exchange API; else one that stays for each stream. */
#include "call.h"

#include <stdlib.h>

enum { WORKSPACE_ALIGNMENT = 64 };

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
            call_raise(&err);
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

int call_find_workspace(call *c) {
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

void call_drop_workspace(runner *self) {
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
