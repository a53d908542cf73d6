/* rules.h: the rules of conv.igemm and gemm.mma. Each stands once, as an entry of a table with a name and its reason: those that hold whatever
 * the architecture (valid) and those that ask it (runs). What a family and an architecture both leave open is for rules/families and for
 * fits(). A refusal names the rule, so that `kwright show --why-not` can say which it was. */
#ifndef KW_FAMILIES_GPU_MMA_RULES_H
#define KW_FAMILIES_GPU_MMA_RULES_H

#include "families/gpu/mma/mma.h"
#include "config/gpu_arch.h"

/* What a rule looks at. arch and target are NULL for rules that ask neither. */
typedef struct kw_mma_case {
    kw_mma mma;
    kw_op op;
    kw_dtype dtype;
    const kw_gpu_arch *arch;
    int64_t lanes, lds; /* threads of a wave; bytes of shared memory that a block may have */
} kw_mma_case;

typedef struct kw_mma_rule {
    const char *name, *reason;
    bool (*holds)(const kw_mma_case *c);
} kw_mma_rule;

/* Rules of both families, ended by a NULL name. */
extern const kw_mma_rule kw_mma_valid_rules[], kw_mma_runs_rules[];

/* Registers that a thread of an mma.sync kernel cannot do without, addresses not counted. */
int64_t kw_mma_thread_registers(const kw_mma_case *c);

/* The first rule of the lists that does not hold becomes the error; own may be NULL. */
kw_status kw_mma_check_valid(const kw_config *config, const kw_mma_rule *own, kw_error *why);
kw_status kw_mma_check_runs(const kw_config *config, const kw_target *target, const kw_mma_rule *own, kw_error *why);

kw_status kw_igemm_valid(const kw_config *config, kw_error *why);
kw_status kw_igemm_runs(const kw_config *config, const kw_target *target, kw_error *why);
kw_status kw_gemm_mma_valid(const kw_config *config, kw_error *why);
kw_status kw_gemm_mma_runs(const kw_config *config, const kw_target *target, kw_error *why);

#endif
