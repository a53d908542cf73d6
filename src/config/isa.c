/* isa.c: the table of CPU instruction sets, and questions to that of CPU architectures. */
#include "config/config.h"
#include "config/isa.h"

#include <string.h>

static const kw_isa isas[KW_ISA_COUNT] = {
#define KW_ISA_ROW(id, name, lanes, registers, march, march_dp) [KW_ISA_##id] = {name, lanes, registers, march, march_dp},
    KW_ISAS(KW_ISA_ROW, )
#undef KW_ISA_ROW
};

const kw_cpu_arch *kw_cpu_arch_find(const char *name) {
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        if (!strcmp(arch->name, name)) {
            return arch;
        }
    }
    return NULL;
}

const kw_isa *kw_config_isa(const kw_config *config) {
    return &isas[config->axis[KW_AXIS_ISA]];
}

kw_status kw_isa_valid(const kw_config *config, kw_error *why) {
    if (config->axis[KW_AXIS_MATH] == KW_MATH_DP) {
        if (config->dtype != KW_BF16) {
            return kw_fail(why, KW_ILLEGAL, "math=dp multiplies pairs of bf16; %s needs math=fma", kw_dtype_name(config->dtype));
        }
        if (!kw_config_isa(config)->march_dp) {
            return kw_fail(why, KW_ILLEGAL, "math=dp needs isa=avx512; with isa=%s use math=fma", kw_config_isa(config)->name);
        }
    }
    return KW_OK;
}

kw_status kw_config_runs(const kw_config *config, const kw_target *target, kw_error *err) {
    const kw_family *family = config->family;
    if (family->kind != kw_backends[target->backend].kind) {
        return kw_fail(err, KW_NO_KERNEL, "%s is a family of backend %s; the target is %s", family->name, kw_device_kind_name(family->kind),
                       kw_backends[target->backend].name);
    }
    if (family->runs) {
        return family->runs(config, target, err);
    }
    if (family->rules[KW_RUNS][0] || kw_target_is_gpu(target)) {
        return kw_rules_check(KW_RUNS, config, target, NULL, err);
    }
    if (!family->emit) {
        return KW_OK; /* compiled in: plain C */
    }
    const kw_cpu_arch *arch = kw_cpu_arch_find(target->arch);
    bool dp = config->axis[KW_AXIS_MATH] == KW_MATH_DP;
    if (!arch || !(arch->isas >> config->axis[KW_AXIS_ISA] & 1) || (dp && !arch->bf16)) {
        return kw_fail(err, KW_NO_KERNEL, "isa=%s math=%s needs more than the target's %s", kw_config_isa(config)->name, dp ? "dp" : "fma",
                       target->arch);
    }
    return KW_OK;
}
