/* config_supported.c: why a config is not had: the first rule that refuses it, by name. */
#include "families/source.h"
#include "base/nearest.h"
#include "config/arch/isa.h"

#include <kernelwright_tune.h>
#include <stdio.h>
#include <string.h>

/* A target of the architecture as far as rules ask it. KW_MISSING names the architectures. */
static kw_status target_of(kw_target *target, const char *name, kw_error *err) {
    const kw_gpu_arch *gpu = kw_gpu_arch_find(name);
    if (gpu) {
        *target = gpu->typical;
        return KW_OK;
    }
    if (kw_cpu_arch_find(name)) {
        *target = (kw_target){.backend = KW_BACKEND_CPU};
        snprintf(target->arch, sizeof target->arch, "%s", name);
        return KW_OK;
    }
    kw_text known = {0};
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        kw_text_addf(&known, " %s", arch->name);
    }
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        kw_text_addf(&known, " %s", arch->name);
    }
    char hint[KW_HINT_MAX];
    kw_status status = kw_fail(err, KW_MISSING, "architecture '%.60s' is not known%s; known:%s", name,
                               kw_nearest_hint(hint, name, kw_text_string(&known)), kw_text_string(&known));
    kw_text_drop(&known);
    return status;
}

kw_status kw_config_supported(const char *config, const char *arch, kw_error *why) {
    kw_config parsed;
    kw_target target;
    if (!config || !arch) {
        return kw_fail(why, KW_ILLEGAL, "kw_config_supported: %s is NULL", config ? "arch" : "config");
    }
    kw_status status = target_of(&target, arch, why);
    status = status ? status : kw_config_parse(&parsed, config, why);
    return status ? status : kw_config_runs(&parsed, &target, why);
}
