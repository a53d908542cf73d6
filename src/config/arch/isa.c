/* isa.c: the table of CPU instruction sets, and questions to that of CPU architectures. */
#include "config/config.h"
#include "config/arch/isa.h"

#include <assert.h>
#include <string.h>

static const kw_isa isas[KW_ISA_COUNT] = {
#define KW_ISA_ROW(id, name, lanes, registers) [KW_ISA_##id] = {name, lanes, registers},
    KW_ISAS(KW_ISA_ROW, )
#undef KW_ISA_ROW
};

/* x86-64-v4 has all of AVX-512 that the emitters use; gcc 12 knows no name for Zen 4. */
#define V3 "-march=x86-64-v3"
#define V4 "-march=x86-64-v4 -mprefer-vector-width=512"

enum { FLOATS = 1 << KW_FP32 | 1 << KW_BF16 | 1 << KW_FP16 | 1 << KW_FP8 | 1 << KW_BF8, BF16 = 1 << KW_BF16, INT8 = 1 << KW_INT8 };
static const kw_multiply multiplies[] = {
    {KW_MATH_FMA, FLOATS, KW_ISA_AVX2, 1, 0, V3},
    {KW_MATH_FMA, FLOATS, KW_ISA_AVX512, 1, 0, V4},
    {KW_MATH_FMA, 1 << KW_FP32, KW_ISA_AVX512VL, 1, 0, V4},
    {KW_MATH_FMA, INT8, KW_ISA_AVX2, 1, 0, V3}, /* of families with short_sums */
    {KW_MATH_FMA, INT8, KW_ISA_AVX512, 1, 0, V4},
    {KW_MATH_DP, BF16, KW_ISA_AVX512, 2, KW_CPU_BF16, V4 " -mavx512bf16"},
    {KW_MATH_DP, BF16, KW_ISA_AVX512VL, 2, KW_CPU_BF16, V4 " -mavx512bf16"},
    {KW_MATH_DP, INT8, KW_ISA_AVX2, 4, KW_CPU_AVX_VNNI, V3 " -mavxvnni"},
    {KW_MATH_DP, INT8, KW_ISA_AVX512, 4, KW_CPU_VNNI, V4 " -mavx512vnni"},
    {KW_MATH_WIDE, INT8, KW_ISA_AVX2, 2, 0, V3},
    {KW_MATH_WIDE, INT8, KW_ISA_AVX512, 2, 0, V4},
    {KW_MATH_AMX, BF16, KW_ISA_AVX512, 2, KW_CPU_AMX | KW_CPU_BF16, V4 " -mavx512bf16 -mamx-tile -mamx-bf16 -mprfchw"},
    {KW_MATH_AMX, INT8, KW_ISA_AVX512, 4, KW_CPU_AMX, V4 " -mamx-tile -mamx-int8 -mprfchw"},
};

const kw_cpu_arch *kw_cpu_arch_find(const char *name) {
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        if (!strcmp(arch->name, name)) {
            return arch;
        }
    }
    return NULL;
}

const kw_isa *kw_isa_at(int32_t isa) {
    assert((unsigned)isa < KW_ISA_COUNT);
    return &isas[isa];
}

const kw_isa *kw_config_isa(const kw_config *config) {
    assert(config->family->kind == KW_KIND_CPU);
    return kw_isa_at(config->axis[KW_AXIS_ISA]);
}

/* Most families of windows, not of whole products, make pairs by instructions of 512 bits. */
static bool family_lacks(const kw_config *config) {
    int32_t math = config->axis[KW_AXIS_MATH];
    return (math == KW_MATH_FMA && config->dtype == KW_INT8 && !config->family->short_sums) ||
           (math == KW_MATH_DP && config->axis[KW_AXIS_ISA] == KW_ISA_AVX512VL && !config->family->tiles && !config->family->narrow_pairs);
}

const kw_multiply *kw_config_multiply(const kw_config *config) {
    if (family_lacks(config)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof multiplies / sizeof *multiplies; i++) {
        const kw_multiply *m = &multiplies[i];
        if (m->math == config->axis[KW_AXIS_MATH] && m->dtypes >> config->dtype & 1 && m->isa == config->axis[KW_AXIS_ISA]) {
            return m;
        }
    }
    return NULL;
}

/* Of 256 bits it was not measured; they go as many at a time as multiply-adds of that width. */
static double pairs_rate(bool wide, const kw_rates *rates) {
    return wide || !(rates->fma512 > 0) ? rates->dp512 : rates->dp512 * rates->fma256 / rates->fma512;
}

double kw_multiply_rate(int32_t math, int32_t isa, kw_dtype dtype, const kw_rates *rates) {
    bool wide = isas[isa].lanes > 8, bytes = dtype == KW_INT8;
    switch (math) {
    case KW_MATH_AMX:
        return bytes ? rates->byte_tiles : rates->tiles;
    case KW_MATH_DP:
        return !bytes ? pairs_rate(wide, rates) : wide ? rates->bytes512 : rates->bytes256;
    case KW_MATH_WIDE:
        return wide ? rates->wide512 : rates->wide256;
    default:
        return wide ? rates->fma512 : rates->fma256;
    }
}

/* Of two bytes: an extension, which is a shuffle, and a shift or a conversion. Of one: these of one more step. */
double kw_widening_products(const kw_config *config) {
    if (config->dtype == KW_FP32 || config->axis[KW_AXIS_MATH] != KW_MATH_FMA) {
        return 0;
    }
    return kw_dtype_size(config->dtype) > 1 ? 2 : 4;
}

static bool math_serves_type(const kw_rule_case *c) {
    kw_config other = *c->config;
    bool good = false;
    for (int isa = 0; isa < KW_ISA_COUNT; isa++) {
        other.axis[KW_AXIS_ISA] = isa;
        good = good || kw_config_multiply(&other);
    }
    return good;
}

static bool isa_has_math(const kw_rule_case *c) {
    return kw_config_multiply(c->config);
}

static bool family_has_math(const kw_rule_case *c) {
    return c->config->axis[KW_AXIS_MATH] != KW_MATH_AMX || c->config->family->tiles;
}

static bool arch_has_isa(const kw_rule_case *c) {
    const kw_cpu_arch *arch = kw_cpu_arch_find(c->target->arch);
    return arch && arch->isas >> c->config->axis[KW_AXIS_ISA] & 1 && !(kw_config_multiply(c->config)->needs & ~arch->has);
}

const kw_rule kw_isa_valid_rules[] = {
    {"math_type", "math=fma multiplies all floats, and int8 in depthwise and merged groups, math=dp and amx bf16 and int8, math=wide int8",
     math_serves_type},
    {"math_family", "math=amx is for families of whole products; this one multiplies in vectors, by another math", family_has_math},
    {"math_isa",
     "math=amx needs isa=avx512, math=dp of bf16 that or, in families of whole products, isa=avx512vl, which multiplies fp32 besides; "
     "isa=avx2 "
     "has math=fma",
     isa_has_math},
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
