/* backend.c: the functions of each backend. To add one: its file, its line in problem/target/backend_id.h and here. */
#include "backend/backend.h"

#include "backend/cpu/cpu.h"
#include "backend/gpu/cuda.h"
#include "backend/emu/emu.h"
#include "backend/gpu/hip.h"

#include <string.h>

const kw_backend *const kw_backend_table[KW_BACKEND_COUNT] = {
    [KW_BACKEND_CPU] = &kw_cpu_backend,
    [KW_BACKEND_CUDA] = &kw_cuda_backend,
    [KW_BACKEND_HIP] = &kw_hip_backend,
    [KW_BACKEND_EMU] = &kw_emu_backend,
};

const char *kw_backend_name(const kw_backend *backend) {
    return kw_backends[backend->id].name;
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
    int64_t number = 0;
    kw_backend_id id;
    if (!kw_backend_id_of_device(&id, device)) {
        return kw_fail(err, KW_MISSING, "device %.80s is not known; known:%s", device, kw_backend_names);
    }
    const kw_backend *found = kw_backend_table[id];
    char why[256] = "";
    int count = found->probe(why);
    if (colon && !kw_word_int((kw_word){colon + 1, strlen(colon + 1)}, 0, 65535, &number)) {
        for (number = 0; found->device_name && number < count && strcmp(found->device_name((int)number), colon + 1);) {
            number++;
        }
        if (!found->device_name || number == count) {
            return fail_unnamed(found, device, count, err);
        }
    }
    if (!count) {
        const char *player = kw_backends[id].played_by;
        return kw_fail(err, KW_MISSING, "device %.80s: there is none: %s%s%s%s", device, *why ? why : "no reason is known",
                       player ? "; without a GPU " : "", player ? player : "", player ? " plays one" : "");
    }
    if (number >= count) {
        return kw_fail(err, KW_MISSING, "device %.80s: %s has %d of them%s%s, counted from 0", device, kw_backend_name(found), count,
                       *why ? ": " : "", why);
    }
    *backend = found;
    *index = (int)number;
    return KW_OK;
}
