/* build_cost.c: sum, median and most of processor times. The median is the figure that compilers are held to (docs/devices/gpu-toolchains.md): it
 * does not move with the few widest tiles of a set, as a mean does. */
#include "jit/build_cost.h"

#include "base/statistics/stats.h"

kw_build_cost kw_build_cost_of(double *ns, size_t count) {
    kw_stat_sort(ns, count);
    return (kw_build_cost){.total_ns = kw_stat_mean(ns, count) * (double)count,
                           .median_ns = kw_stat_quantile(ns, count, 0.5),
                           .most_ns = kw_stat_quantile(ns, count, 1)};
}
