/* estimate.h: the parts of the analytic estimate by kind of target. */
#ifndef KW_PREDICT_ESTIMATE_H
#define KW_PREDICT_ESTIMATE_H

#include "predict/predict.h"

/* Nanoseconds on a GPU, above 0 and finite whatever facts the target lacks. */
double kw_predict_gpu_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch);

#endif
