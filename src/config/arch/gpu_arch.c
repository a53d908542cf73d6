/* gpu_arch.c: questions to the table of GPU architectures. */
#include "config/arch/gpu_arch.h"

#include <string.h>

const kw_gpu_arch *kw_gpu_arch_find(const char *name) {
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        if (!strcmp(arch->name, name)) {
            return arch;
        }
    }
    return NULL;
}

kw_status kw_gpu_arch_target(kw_target *target, const char *name, kw_error *err) {
    const char *colon = strchr(name, ':');
    const kw_gpu_arch *arch = kw_gpu_arch_find(colon ? colon + 1 : name);
    kw_backend_id backend = arch ? arch->backend : KW_BACKEND_COUNT;
    bool good = arch && (!colon || kw_backend_id_find(&backend, (kw_word){name, (size_t)(colon - name)}));
    if (!good || (backend != arch->backend && !kw_backends[backend].emulated)) {
        return kw_fail(err, KW_MISSING, "target %.80s is neither a target's whole text nor an architecture, as gfx950 or emu:gfx950", name);
    }
    *target = arch->typical;
    target->backend = backend;
    if (!kw_backends[backend].emulated) {
        strcpy(target->model, "any");
    }
    return KW_OK;
}

bool kw_gpu_arch_has(const kw_gpu_arch *arch, kw_gpu_feature feature) {
    return arch->features >> feature & 1;
}

bool kw_gpu_arch_has_tile(const kw_gpu_arch *arch, kw_dtype a, kw_dtype b, const int32_t shape[3]) {
    for (int32_t i = 0; i < arch->tile_count; i++) {
        const kw_gpu_tile *tile = &arch->tiles[i];
        if (tile->a == a && tile->b == b && tile->m == shape[0] && tile->n == shape[1] && tile->k == shape[2]) {
            return true;
        }
    }
    return false;
}

bool kw_gpu_arch_has_waves(const kw_gpu_arch *arch, const int32_t waves[3]) {
    for (int32_t i = 0; i < arch->wave_count; i++) {
        if (arch->waves[i][0] == waves[0] && arch->waves[i][1] == waves[1] && arch->waves[i][2] == waves[2]) {
            return true;
        }
    }
    return false;
}
