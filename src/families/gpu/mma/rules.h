/* rules.h: the rules of conv.igemm and gemm.mma, by name: those that hold whatever the architecture (valid) and those that ask it (runs),
 * first what both families share, then each family's own. Which problems a config serves is asked by the rules beside each family. */
#ifndef KW_FAMILIES_GPU_MMA_RULES_H
#define KW_FAMILIES_GPU_MMA_RULES_H

#include "families/gpu/mma/mma.h"

extern const kw_rule kw_mma_valid_rules[], kw_mma_runs_rules[];
extern const kw_rule kw_igemm_valid_rules[];
extern const kw_rule kw_gemm_mma_valid_rules[], kw_gemm_mma_runs_rules[];

#endif
