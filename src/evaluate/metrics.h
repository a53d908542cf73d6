/* metrics.h: from evaluations to figures with intervals. Problem groups of one shape share their luck, so a resample draws shapes and takes
 * each with all its problem groups; drawing problem groups would make the intervals too narrow. */
#ifndef KW_EVALUATE_METRICS_H
#define KW_EVALUATE_METRICS_H

#include "evaluate/group_evaluation.h"

#include <kernelwright_tune.h>

/* Of the evaluations at which[0..count-1]. */
kw_status kw_evaluation_metrics_compute(kw_evaluation_metrics *metrics, const kw_group_evaluation *group_evaluations, const size_t *which,
                                        size_t count, kw_error *err);
/* The mean of one value an evaluation, which share shapes likewise. */
kw_status kw_mean_metric(kw_metric *figure, const kw_group_evaluation *group_evaluations, const double *values, size_t count,
                         kw_error *err);

#endif
