/* estimate.h: the parts of the analytic estimate by kind of target. */
#ifndef KW_PREDICT_ESTIMATE_H
#define KW_PREDICT_ESTIMATE_H

#include "predict/predict.h"

/* The parts of a CPU's estimate, nanoseconds. */
typedef struct kw_estimate {
    double multiply_adds, loads, tensors, rereads; /* which overlap */
    double copies, start;
    double ns; /* of all */
} kw_estimate;

kw_estimate kw_estimate_cpu(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch);

/* Nanoseconds on a GPU, above 0 and finite whatever facts the target lacks. */
double kw_predict_gpu_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch);

#endif
