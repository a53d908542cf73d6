/* by_rates.c: which kernels a core's rates ask for besides those of a set. */
#include "config/arch/by_rates.h"

#include "config/arch/isa.h"

/* Products a nanosecond and lane; 0: not known. */
static double products_rate(const kw_config *config, const kw_rates *rates) {
    const kw_multiply *m = kw_config_multiply(config);
    return m ? m->pair * kw_multiply_rate(m->math, m->isa, config->dtype, rates) : 0;
}

enum { NOT_GAINING = 105 }; /* per cent: what two measurements of one rate may differ by */

static bool gains_nothing(double dots, double singles) {
    return dots > 0 && 100 * dots <= NOT_GAINING * singles;
}

bool kw_config_by_rates(kw_config *other, const kw_config *config, const kw_rates *rates) {
    *other = *config;
    if (config->family->kind != KW_KIND_CPU || !config->family->emit || config->axis[KW_AXIS_MATH] != KW_MATH_DP) {
        return false;
    }
    other->axis[KW_AXIS_MATH] = config->dtype == KW_INT8 ? KW_MATH_WIDE : KW_MATH_FMA;
    return gains_nothing(products_rate(config, rates), products_rate(other, rates)) && !kw_config_check(other, NULL);
}

bool kw_config_as_widened(kw_config *other, const kw_config *config, const kw_rates *rates) {
    *other = *config;
    if (config->family->kind != KW_KIND_CPU || !config->family->emit || config->dtype != KW_FP32) {
        return false;
    }
    other->dtype = KW_BF16;
    kw_config pairs = *other, singles = *other;
    pairs.axis[KW_AXIS_MATH] = KW_MATH_DP;
    pairs.axis[KW_AXIS_ISA] = singles.axis[KW_AXIS_ISA] = KW_ISA_AVX512;
    return gains_nothing(products_rate(&pairs, rates), products_rate(&singles, rates)) && !kw_config_check(other, NULL);
}
