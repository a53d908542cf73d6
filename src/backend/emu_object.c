/* emu_object.c: the blob of a kernel for the emulator, mapped as a CPU kernel's is. */
#include "backend/emu.h"

#include "backend/cpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

kw_status kw_emu_object_open(kw_emu_object *object, const kw_blob *blob, kw_error *err) {
    kw_cpu_stage *stage[KW_STAGE_MAX] = {0};
    *object = (kw_emu_object){0};
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
    if (status) {
        kw_emu_object_close(object);
    }
    return status;
}

void kw_emu_object_close(kw_emu_object *object) {
    kw_cpu_unload(&object->handle);
}

void kw_emu_place(const kw_emu_run *run, const void *place, char text[80]) {
    snprintf(text, 80, "code + 0x%zx", (size_t)((const char *)place - run->object->base));
}
