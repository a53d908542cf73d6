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

/* What several families ask of a convolution, each with its own reason. */
static inline bool kw_has_channels_last(const kw_rule_case *c) {
    return c->problem->layout == KW_CHANNELS_LAST;
}

static inline bool kw_has_several_groups(const kw_rule_case *c) {
    return c->problem->conv.g > 1;
}

/* So that the columns of a filter row and the channels are one run. */
static inline bool kw_has_dense_rows(const kw_rule_case *c) {
    const kw_conv_dims *d = &c->problem->conv;
    return d->dilation[2] == 1 || d->filter[2] == 1;
}

#endif
