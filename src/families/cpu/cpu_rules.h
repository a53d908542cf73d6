/* cpu_rules.h: rules that CPU families share (config/rule.h). Those of the isa and math axes are in config/isa.h. */
#ifndef KW_FAMILIES_CPU_RULES_H
#define KW_FAMILIES_CPU_RULES_H

#include "config/isa.h"

/* KW_FITS: a pixel's channels lie side by side. */
extern const kw_rule kw_channels_last_rules[];

#endif
