/* stats.c: quantiles, means and the bootstrap. */
#include "base/statistics/stats.h"

#include "base/order.h"
#include "base/statistics/random.h"

#include <math.h>
#include <stdlib.h>

enum { RESAMPLES = 1000 };

void kw_stat_sort(double *values, size_t count) {
    if (count) {
        qsort(values, count, sizeof *values, kw_order_real_items);
    }
}

double kw_stat_quantile(const double *sorted, size_t count, double at) {
    if (!count) {
        return 0;
    }
    double place = (at < 0 ? 0 : at > 1 ? 1 : at) * (double)(count - 1);
    size_t below = (size_t)place;
    double rest = place - (double)below;
    return below + 1 < count ? sorted[below] + rest * (sorted[below + 1] - sorted[below]) : sorted[count - 1];
}

double kw_stat_mean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return count ? sum / (double)count : 0;
}

double kw_stat_geomean(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += log(values[i]);
    }
    return count ? exp(sum / (double)count) : 0;
}

kw_interval kw_stat_geomean_interval(const double *values, size_t count) {
    double means[RESAMPLES];
    uint64_t state = 1;
    if (!count) {
        return (kw_interval){0};
    }
    for (int r = 0; r < RESAMPLES; r++) {
        /* Products of 16 keep within a double's range for ratios up to 1e19 and spare most of the logarithms. */
        double sum = 0, product = 1;
        for (size_t i = 0; i < count; i++) {
            product *= values[kw_random_below(&state, count)];
            if (i % 16 == 15) {
                sum += log(product);
                product = 1;
            }
        }
        means[r] = exp((sum + log(product)) / (double)count);
    }
    kw_stat_sort(means, RESAMPLES);
    return (kw_interval){kw_stat_quantile(means, RESAMPLES, 0.025), kw_stat_quantile(means, RESAMPLES, 0.975)};
}

size_t kw_stat_at_most(const double *sorted, size_t count, double limit) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (sorted[middle] <= limit) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
