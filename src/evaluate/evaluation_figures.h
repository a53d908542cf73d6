/* evaluation_figures.h: from judgements to figures with intervals. Contests of one shape share their luck, so a resample draws shapes and takes
 * each with all its contests; drawing contests would make the intervals too narrow. */
#ifndef KW_EVALUATE_EVALUATION_FIGURES_H
#define KW_EVALUATE_EVALUATION_FIGURES_H

#include "evaluate/selection.h"

#include <kernelwright_tune.h>

/* Of the judgements at which[0..count-1]. */
kw_status kw_evaluation_figures_make(kw_evaluation_figures *figures, const kw_judgement *judgements, const size_t *which, size_t count,
                                     kw_error *err);
/* The mean of one value a judgement, which share shapes likewise. */
kw_status kw_mean_figure(kw_figure *figure, const kw_judgement *judgements, const double *values, size_t count, kw_error *err);

#endif
