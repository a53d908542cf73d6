/* backend.c: the list of backends. To add one: its file, its line here. */
#include "backend/backend.h"

#include "backend/cpu/cpu.h"
#include "backend/gpu/cuda.h"
#include "backend/emu/emu.h"
#include "backend/gpu/hip.h"

#include <string.h>

const kw_backend *const kw_backend_table[] = {&kw_cpu_backend, &kw_cuda_backend, &kw_hip_backend, &kw_emu_backend, NULL};

static kw_status fail_unknown_device(const char *device, kw_error *err) {
    kw_text known = {0};
    for (const kw_backend *const *entry = kw_backend_table; *entry; entry++) {
        kw_text_addf(&known, " %s", (*entry)->name);
    }
    kw_status status = kw_fail(err, KW_MISSING, "device %.80s is not known; known:%s", device, kw_text_string(&known));
    kw_text_drop(&known);
    return status;
}

/* What stands after the colon is neither a number nor a name. */
static kw_status fail_unnamed(const kw_backend *backend, const char *device, int count, kw_error *err) {
    kw_text known = {0};
    for (int i = 0; backend->device_name && i < count; i++) {
        kw_text_addf(&known, " %s", backend->device_name(i));
    }
    kw_status status = kw_fail(err, backend->device_name ? KW_MISSING : KW_MALFORMED, "device %.80s: after the colon stands %s%s", device,
                               known.size ? "one of:" : "a number, as in cpu:0", kw_text_string(&known));
    kw_text_drop(&known);
    return status;
}

kw_status kw_backend_find(const kw_backend **backend, int *index, const char *device, kw_error *err) {
    const char *colon = strchr(device, ':');
    kw_word name = {device, colon ? (size_t)(colon - device) : strlen(device)};
    int64_t number = 0;
    const kw_backend *const *entry = kw_backend_table;
    while (*entry && !kw_word_is(name, (*entry)->name)) {
        entry++;
    }
    if (!*entry) {
        return fail_unknown_device(device, err);
    }
    char why[256] = "";
    int count = (*entry)->probe(why);
    if (colon && !kw_word_int((kw_word){colon + 1, strlen(colon + 1)}, 0, 65535, &number)) {
        for (number = 0; (*entry)->device_name && number < count && strcmp((*entry)->device_name((int)number), colon + 1);) {
            number++;
        }
        if (!(*entry)->device_name || number == count) {
            return fail_unnamed(*entry, device, count, err);
        }
    }
    if (!count) {
        const char *played = !strcmp((*entry)->name, "cuda")  ? "; without a GPU emu:sm_90 plays one"
                             : !strcmp((*entry)->name, "hip") ? "; without a GPU emu:gfx942 plays one"
                                                              : "";
        return kw_fail(err, KW_MISSING, "device %.80s: there is none: %s%s", device, *why ? why : "no reason is known", played);
    }
    if (number >= count) {
        return kw_fail(err, KW_MISSING, "device %.80s: %s has %d of them%s%s, counted from 0", device, (*entry)->name, count,
                       *why ? ": " : "", why);
    }
    *backend = *entry;
    *index = (int)number;
    return KW_OK;
}
