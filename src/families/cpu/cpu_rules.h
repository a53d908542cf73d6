/* cpu_rules.h: rules that CPU families share (config/rule.h). Those of the isa and math axes are in config/arch/isa.h. */
#ifndef KW_FAMILIES_CPU_RULES_H
#define KW_FAMILIES_CPU_RULES_H

#include "config/arch/isa.h"

/* KW_TAKES of every generated family of convolutions, before any rule that multiplies sizes: sizes are such that 63 bits hold all that
 * launch() and the kernels make of them and no loop of launch() is long. What is beyond them no memory holds, or it is so odd that the
 * reference kernel is as good. */
extern const kw_rule kw_cpu_conv_rules[];
/* The same of a GEMM. */
extern const kw_rule kw_cpu_gemm_rules[];

#endif
