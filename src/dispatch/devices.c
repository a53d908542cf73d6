/* devices.c: what there is to run on and to compile with, for people who ask. Devices are opened and closed again, one after the other. */
#include "backend/backend.h"

#include <kernelwright.h>
#include <stdio.h>
#include <string.h>

typedef struct tour {
    void (*visit)(void *user, const kw_device_entry *entry);
    void *user;
    int count;
} tour;

/* The compiler for the first architecture of the backend, of which there is always one. */
static void ask_compiler(char found[600], kw_error *why, kw_backend_id backend) {
    kw_compiler compiler;
    kw_code code = {0};
    const kw_gpu_arch *arch = kw_gpu_archs;
    while (arch->name && !kw_backends[backend].emulated && arch->backend != backend) {
        arch++;
    }
    *found = 0;
    kw_status status = kw_code_for(&code, backend, arch->name, why);
    status = status ? status : kw_compiler_find(&compiler, NULL, code, why);
    if (!status) {
        snprintf(found, 600, "%s %s, %s", compiler.kind, compiler.version, compiler.path);
    }
}

/* of_backend: what all its devices have. */
static void visit_device(tour *t, const kw_backend *backend, int index, const kw_device_entry *of_backend) {
    char name[64], target[KW_TARGET_TEXT_MAX] = "";
    kw_error why = {0};
    kw_device *device = NULL;
    kw_device_entry entry = *of_backend;
    snprintf(name, sizeof name, "%s:%d", kw_backend_name(backend), index);
    entry.device = name;
    if (backend->open(&device, index, 0, &why)) {
        entry.none = why.text;
    } else {
        kw_target_print(target, sizeof target, backend->target(device));
        entry.target = target;
        entry.about = backend->about ? backend->about(device) : "";
        t->count++;
    }
    t->visit(t->user, &entry);
    backend->close(&device);
}

/* GPUs that are played are one entry, which names them all. */
static void show_played(tour *t, const kw_backend *backend, int count, kw_device_entry *entry) {
    kw_text names = {0};
    for (int i = 0; i < count; i++) {
        kw_text_addf(&names, "%s%s:%s", i ? " " : "", kw_backend_name(backend), backend->device_name(i));
    }
    entry->device = kw_backend_name(backend);
    entry->about = kw_text_string(&names);
    t->count += count;
    t->visit(t->user, entry);
    kw_text_drop(&names);
}

static void show_backend(tour *t, const kw_backend *backend) {
    char none[256] = "", compiler[600] = "";
    kw_error no_compiler = {0};
    int count = backend->probe(none);
    if (kw_backends[backend->id].kind == KW_KIND_GPU) {
        ask_compiler(compiler, &no_compiler, backend->id);
    }
    kw_device_entry entry = {.gpu = kw_backends[backend->id].kind == KW_KIND_GPU,
                             .device = kw_backend_name(backend),
                             .target = "",
                             .about = "",
                             .none = none,
                             .compiler = compiler,
                             .no_compiler = no_compiler.text};
    if (!count) {
        t->visit(t->user, &entry);
    } else if (backend->device_name) {
        show_played(t, backend, count, &entry);
    }
    for (int i = 0; i < count && !backend->device_name; i++) {
        visit_device(t, backend, i, &entry);
    }
}

int kw_devices_visit(void (*visit)(void *user, const kw_device_entry *entry), void *user) {
    tour t = {.visit = visit, .user = user};
    for (int id = 0; id < KW_BACKEND_COUNT && visit; id++) {
        show_backend(&t, kw_backend_table[id]);
    }
    return t.count;
}

kw_status kw_target_text(char *text, size_t capacity, const char *target, kw_error *err) {
    kw_target facts;
    if (!text || !capacity || !target) {
        return kw_fail(err, KW_ILLEGAL, "kw_target_text: %s is NULL", target ? "text" : "target");
    }
    kw_status status = strchr(target, ' ') ? kw_target_parse(&facts, target, err) : kw_gpu_arch_target(&facts, target, err);
    if (!status && kw_target_print(text, capacity, &facts) >= capacity) {
        return kw_fail(err, KW_ILLEGAL, "kw_target_text: the text does not fit %zu bytes", capacity);
    }
    return status;
}
