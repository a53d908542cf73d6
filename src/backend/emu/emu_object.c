/* emu_object.c: the blob of a kernel for the emulator, mapped as a CPU kernel's is. */
#include "backend/emu/emu.h"

#include "backend/cpu/cpu.h"
#include "base/os/process/fork.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes from the object's first to its last, once mapped. The blob is a whole one. */
static size_t mapped_size(const kw_blob *blob) {
    Elf64_Ehdr head;
    size_t size = 0;
    memcpy(&head, blob->data, sizeof head);
    for (int i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, (const char *)blob->data + head.e_phoff + (size_t)i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > size) {
            size = part.p_vaddr + part.p_memsz;
        }
    }
    return size;
}

kw_status kw_emu_object_open(kw_emu_object *object, const kw_blob *blob, kw_error *err) {
    kw_kernel_stage *stage[KW_STAGE_MAX] = {0};
    *object = (kw_emu_object){0};
    kw_loader_lock();
    kw_status status = kw_cpu_load(&object->handle, stage, blob, err);
    for (int i = 0; !status && i < KW_STAGE_MAX && stage[i]; i++) {
        char name[24];
        Dl_info info;
        void *found = dlsym(object->handle, (snprintf(name, sizeof name, "kw_stage%d", i), name));
        snprintf(name, sizeof name, "kw_stage%d_threads", i);
        const int *threads = dlsym(object->handle, name);
        if (!threads || !dladdr(found, &info)) {
            status = kw_fail(err, KW_FAILED, "cannot load a kernel: kw_stage%d is not written with KW_KERNEL", i);
            break;
        }
        memcpy(&object->stage[i], &found, sizeof found);
        object->threads[i] = *threads;
        object->base = info.dli_fbase;
    }
    const int *optimised = status ? NULL : dlsym(object->handle, "kw_emu_optimised");
    object->optimised = optimised && *optimised;
    kw_loader_unlock();
    object->size = status ? 0 : mapped_size(blob);
    status = status ? status : kw_emu_lines_keep(object, blob, err);
    if (status) {
        kw_emu_object_close(object);
    }
    return status;
}

void kw_emu_object_close(kw_emu_object *object) {
    kw_cpu_unload(&object->handle);
    free(object->lines);
    object->lines = NULL;
}
