/* by_rates.h: sets list kernels of bf16 and int8 by dot products alone where an architecture has them; whether a core gains by these is a matter
 * of its rates (docs/kernels/cpu-rates.md). */
#ifndef KW_CONFIG_ARCH_BY_RATES_H
#define KW_CONFIG_ARCH_BY_RATES_H

#include "config/config.h"

/* Whether this core was measured to get no more products done by config's dot products than by the instruction for cores that have none; other
 * is the same kernel by that one. */
bool kw_config_by_rates(kw_config *other, const kw_config *config, const kw_rates *rates);
/* Whether bf16 is multiplied as fast in singles as in pairs here; other is fp32's kernel for it: the best tiles of pairs are not those of widened
 * elements, which are fp32's. */
bool kw_config_as_widened(kw_config *other, const kw_config *config, const kw_rates *rates);

#endif
