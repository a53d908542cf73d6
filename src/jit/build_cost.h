/* build_cost.h: what a build cost, for the reports. */
#ifndef KW_JIT_BUILD_COST_H
#define KW_JIT_BUILD_COST_H

#include <kernelwright.h>

/* From the processor times of count kernels, which it sorts. */
kw_build_cost kw_build_cost_of(double *ns, size_t count);

#endif
