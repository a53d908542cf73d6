/* statistics.h: from samples to numbers. Pure arithmetic: nothing here knows where a sample comes from. */
#ifndef KW_MEASURE_TIMING_STATISTICS_H
#define KW_MEASURE_TIMING_STATISTICS_H

#include "measure/timing/timing.h"

/* Sorts in place. 0 without samples. */
double kw_median(double *samples, size_t count);
/* Fills every time of timed, and samples, from count samples in the order in which they were taken; they are sorted in place. room: space
 * for count more. */
void kw_timed_fill(kw_timed *timed, double *samples, size_t count, double *room);

#endif
