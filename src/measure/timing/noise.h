/* noise.h: which of several measured kernels wins when some are equally fast. */
#ifndef KW_MEASURE_TIMING_NOISE_H
#define KW_MEASURE_TIMING_NOISE_H

#include "base/status.h"

/* Which of count good records wins: times within the noise of the least are equal, and of equal ones the first by config text wins, so that
 * processes that measure the same kernels choose alike. The noise is the two kernels' combined spread, at least floor (a fraction) and at
 * most twice that; *noise (may be NULL) gets the runner-up's. count > 0. */
size_t kw_noise_select(const kw_record *const records[], size_t count, double floor, double *noise);

#endif
