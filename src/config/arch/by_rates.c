/* by_rates.c: which kernels a core's rates ask for besides those of a set. */
#include "config/arch/by_rates.h"

#include "config/arch/isa.h"

/* Products a nanosecond and lane; 0: not known. */
static double products_rate(const kw_config *config, const kw_rates *rates) {
    const kw_multiply *m = kw_config_multiply(config);
    return m ? m->pair * kw_multiply_rate(m->math, m->isa, config->dtype, rates) : 0;
}

bool kw_config_by_rates(kw_config *other, const kw_config *config, const kw_rates *rates) {
    const double same = 1.05; /* what two measurements of one rate may differ by */
    *other = *config;
    if (config->family->kind != KW_KIND_CPU || !config->family->emit || config->axis[KW_AXIS_MATH] != KW_MATH_DP) {
        return false;
    }
    other->axis[KW_AXIS_MATH] = config->dtype == KW_INT8 ? KW_MATH_WIDE : KW_MATH_FMA;
    double dots = products_rate(config, rates);
    return dots > 0 && dots <= same * products_rate(other, rates) && !kw_config_check(other, NULL);
}
