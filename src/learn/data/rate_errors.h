/* rate_errors.h: R2, RMSE and MAE of predicted TFLOP/s, milliseconds and GB/s, which say how near the numbers are and nothing of the choice:
 * most of what R2 explains are differences between problems. For comparing with figures that are told so elsewhere. */
#ifndef KW_LEARN_DATA_RATE_ERRORS_H
#define KW_LEARN_DATA_RATE_ERRORS_H

#include "learn/data/dataset.h"

#include <kernelwright_tune.h>

/* Over good rows with a prediction in ns (one a pair) in problem groups whose fold is the given one; fold NULL: in all. */
void kw_rate_errors_compute(kw_rate_errors *errors, const kw_dataset *dataset, const double *ns, kw_rate rate, const int32_t *fold,
                            int32_t which);
/* "tflops", "latency", "bandwidth". */
const char *kw_rate_name(kw_rate rate);

#endif
