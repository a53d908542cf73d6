/* estimate.h: the parts of the analytic estimate by kind of target. */
#ifndef KW_PREDICT_ESTIMATE_H
#define KW_PREDICT_ESTIMATE_H

#include "predict/predict.h"

/* The parts of an estimate, nanoseconds. */
typedef struct kw_estimate {
    double multiply_adds, loads, tensors; /* which overlap */
    double rereads;                       /* of a CPU: they too; of a GPU: what lanes copy or gather themselves, behind the others */
    double copies, start;                 /* of a GPU: tensors turned; starting, further stages and what each tile costs */
    double ns;                            /* of all */
} kw_estimate;

/* bytes: kw_problem_bytes, which who asks about many kernels works out once. */
kw_estimate kw_estimate_cpu(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                            const kw_launch *launch);

/* Above 0 and finite whatever facts the target lacks. */
kw_estimate kw_estimate_gpu(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                            const kw_launch *launch);

/* Of either kind. */
kw_estimate kw_estimate_of(const kw_config *config, const kw_problem *problem, double bytes, const kw_target *target,
                           const kw_launch *launch);

#endif
