/* stats.h: the few statistics that figures are made of. Values that are not finite never reach a figure: callers put them aside and
 * count them. Random numbers come from a fixed seed, so a store gives the same report every time. */
#ifndef KW_BASE_STATISTICS_STATS_H
#define KW_BASE_STATISTICS_STATS_H

#include <stddef.h>
#include <stdint.h>

typedef struct kw_interval {
    double low, high;
} kw_interval;

void kw_stat_sort(double *values, size_t count);
/* Of ascending values, linear between neighbours: 0 gives the first, 1 the last. 0 when there are none. */
double kw_stat_quantile(const double *sorted, size_t count, double at);
double kw_stat_mean(const double *values, size_t count);
/* Of positive values; 0 when there are none. */
double kw_stat_geomean(const double *values, size_t count);
/* The 95 % interval of the geometric mean by 1,000 bootstrap resamples; both ends 0 when there are no values. */
kw_interval kw_stat_geomean_interval(const double *values, size_t count);
/* Of how many ascending values it can be said that they are at most limit. */
size_t kw_stat_at_most(const double *sorted, size_t count, double limit);

#endif
