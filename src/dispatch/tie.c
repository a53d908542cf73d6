/* tie.c: the decision among measured kernels. Differences inside the noise mean nothing, so they must not decide: what decides then is the
 * name, which is the same in every process. */
#include "dispatch/tie.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double noise_ceiling = 0.05; /* a machine so restless that the band would be wider still decides by time */

/* Twice the standard error of the difference of two lower quartiles. Of a normal sample the quartile's error is 1.36 sigma / sqrt(n) and
 * the interquartile range 1.35 sigma, so the range over sqrt(n) stands for it. */
static double band(const kw_record *best, const kw_record *other, double floor) {
    double first = best->spread_ns * best->spread_ns / (best->samples > 0 ? best->samples : 1);
    double second = other->spread_ns * other->spread_ns / (other->samples > 0 ? other->samples : 1);
    double width = best->time_ns > 0 ? 2 * sqrt(first + second) / best->time_ns : 0;
    return width < floor ? floor : width > noise_ceiling ? noise_ceiling : width;
}

static int by_time(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return left < right ? -1 : left > right;
}

/* The slowest time of the tie with the best: the tie ends at the widest gap between two times that lies at one to two widths of noise
 * behind the best, because there a little more noise moves nobody over the edge. times is sorted. */
static double tie_edge(const double times[], size_t count, double width) {
    double low = times[0] * (1 + width), high = times[0] * (1 + (2 * width < noise_ceiling ? 2 * width : noise_ceiling));
    double edge = times[0], widest = 0;
    for (size_t i = 1; i <= count; i++) {
        double gap = i < count ? times[i] - times[i - 1] : HUGE_VAL;
        bool counts = (i == count || times[i] > low) && times[i - 1] <= high;
        if (counts && gap > widest) {
            edge = times[i - 1];
            widest = gap;
        }
    }
    return edge;
}

size_t kw_tie_decide(const kw_record *const records[], size_t count, double floor, double *noise) {
    double times[KW_TIE_MAX] = {0};
    size_t best = 0, second = count, used = count < KW_TIE_MAX ? count : KW_TIE_MAX;
    for (size_t i = 0; i < used; i++) {
        times[i] = records[i]->time_ns;
        best = times[i] < times[best] ? i : best;
    }
    for (size_t i = 0; i < used; i++) {
        second = i != best && (second == count || times[i] < times[second]) ? i : second;
    }
    double width = second < count ? band(records[best], records[second], floor) : floor;
    qsort(times, used, sizeof *times, by_time);
    double edge = tie_edge(times, used, width);
    size_t chosen = best;
    for (size_t i = 0; i < used; i++) {
        chosen = records[i]->time_ns <= edge && strcmp(records[i]->config, records[chosen]->config) < 0 ? i : chosen;
    }
    if (noise) {
        *noise = times[0] > 0 && edge / times[0] - 1 > width ? edge / times[0] - 1 : width;
    }
    return chosen;
}
