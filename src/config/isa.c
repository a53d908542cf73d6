/* isa.c: the table of CPU instruction sets, and questions to that of CPU architectures. */
#include "config/config.h"
#include "config/isa.h"

#include <assert.h>
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
    assert(config->family->kind == KW_KIND_CPU && (unsigned)config->axis[KW_AXIS_ISA] < KW_ISA_COUNT);
    return &isas[config->axis[KW_AXIS_ISA]];
}

static bool dp_multiplies_bf16(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] != KW_MATH_DP || c->config->dtype == KW_BF16;
}

static bool isa_has_dp(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] != KW_MATH_DP || kw_config_isa(c->config)->march_dp;
}

static bool arch_has_isa(const kw_rule_case *c) {
    const kw_cpu_arch *arch = kw_cpu_arch_find(c->target->arch);
    bool dp = c->config->axis[KW_AXIS_MATH] == KW_MATH_DP;
    return arch && arch->isas >> c->config->axis[KW_AXIS_ISA] & 1 && (!dp || arch->bf16);
}

const kw_rule kw_isa_valid_rules[] = {
    {"dp_type", "math=dp multiplies pairs of bf16; other types need math=fma", dp_multiplies_bf16},
    {"dp_isa", "math=dp needs isa=avx512; isa=avx2 has math=fma", isa_has_dp},
    {0},
};

const kw_rule kw_isa_runs_rules[] = {
    {"arch_isa", "isa and math need more than the target's architecture has", arch_has_isa},
    {0},
};

kw_status kw_config_runs(const kw_config *config, const kw_target *target, kw_error *err) {
    const kw_family *family = config->family;
    if (family->kind != kw_backends[target->backend].kind) {
        return kw_fail(err, KW_NO_KERNEL, "%s is a family of backend %s; the target is %s", family->name, kw_device_kind_name(family->kind),
                       kw_backends[target->backend].name);
    }
    return kw_rules_check(KW_RUNS, config, target, NULL, err);
}
