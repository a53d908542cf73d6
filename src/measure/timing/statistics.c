/* statistics.c: quartiles, medians, halves, and the oracle that is scored by other samples than chose it.
 *
 * Disturbances only ever add time, so the lower quartile stands for a kernel: it ignores up to three quarters of disturbed samples and,
 * other than the least, does not fall with the number of samples. */
#include "measure/timing/statistics.h"

#include "base/statistics/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void kw_quartiles(double *samples, size_t count, double *lower, double *range) {
    *lower = *range = 0;
    if (!count) {
        return;
    }
    kw_stat_sort(samples, count);
    *lower = kw_stat_quantile(samples, count, 0.25);
    *range = kw_stat_quantile(samples, count, 0.75) - *lower;
}

double kw_median(double *samples, size_t count) {
    if (!count) {
        return 0;
    }
    kw_stat_sort(samples, count);
    return kw_stat_quantile(samples, count, 0.5);
}

/* The lower quartile of every other sample from first on. */
static double half_quartile(const double *samples, size_t count, size_t first, double *room) {
    double lower, range;
    size_t kept = 0;
    for (size_t i = first; i < count; i += 2) {
        room[kept++] = samples[i];
    }
    kw_quartiles(room, kept, &lower, &range);
    return lower;
}

void kw_timed_fill(kw_timed *timed, double *samples, size_t count, double *room) {
    timed->samples = (int32_t)count;
    timed->half_ns[0] = half_quartile(samples, count, 0, room);
    timed->half_ns[1] = half_quartile(samples, count, count > 1 ? 1 : 0, room);
    kw_quartiles(samples, count, &timed->time_ns, &timed->spread_ns);
    timed->median_ns = kw_median(samples, count);
    timed->least_ns = count ? samples[0] : 0;
    for (size_t i = 0; i < count; i++) {
        room[i] = fabs(samples[i] - timed->median_ns);
    }
    timed->mad_ns = kw_median(room, count);
}

static bool is_record_timed(const kw_record *record) {
    return record->outcome == KW_GOOD && record->samples > 0 && record->half_ns[0] > 0 && record->half_ns[1] > 0;
}

double kw_record_score(const kw_record *record) {
    return is_record_timed(record) ? (record->half_ns[0] + record->half_ns[1]) / 2 : 0;
}

bool kw_oracle(const kw_record records[], size_t count, size_t *index, double *time_ns) {
    size_t by_half[2] = {count, count};
    *index = count;
    *time_ns = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_record_timed(&records[i])) {
            continue;
        }
        *index = *index == count || records[i].time_ns < records[*index].time_ns ? i : *index;
        for (int h = 0; h < 2; h++) {
            by_half[h] = by_half[h] == count || records[i].half_ns[h] < records[by_half[h]].half_ns[h] ? i : by_half[h];
        }
    }
    if (*index == count) {
        return false;
    }
    *time_ns = (records[by_half[0]].half_ns[1] + records[by_half[1]].half_ns[0]) / 2;
    return true;
}
