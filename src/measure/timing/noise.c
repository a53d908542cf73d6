/* noise.c: the decision among measured kernels. Differences inside the noise mean nothing, so they must not decide: what decides then is the
 * name, which is the same in every process. */
#include "measure/timing/noise.h"

#include <math.h>
#include <string.h>

/* On a restless machine the spread would make everything equal; there time decides beyond so many times the floor. */
static const double ceiling = 2;

/* Twice the standard error of the difference of two lower quartiles. Of a normal sample the quartile's error is 1.36 sigma / sqrt(n) and
 * the interquartile range 1.35 sigma, so the range over sqrt(n) stands for it. */
static double noise_of(const kw_record *best, const kw_record *other, double floor) {
    double first = best->spread_ns * best->spread_ns / (best->samples > 0 ? best->samples : 1);
    double second = other->spread_ns * other->spread_ns / (other->samples > 0 ? other->samples : 1);
    double width = best->time_ns > 0 ? 2 * sqrt(first + second) / best->time_ns : 0;
    return width < floor ? floor : width > ceiling * floor ? ceiling * floor : width;
}

size_t kw_noise_select(const kw_record *const records[], size_t count, double floor, double *noise) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++) {
        best = records[i]->time_ns < records[best]->time_ns ? i : best;
    }
    size_t chosen = best, second = best;
    for (size_t i = 0; i < count; i++) {
        double edge = records[best]->time_ns * (1 + noise_of(records[best], records[i], floor));
        chosen = records[i]->time_ns <= edge && strcmp(records[i]->config, records[chosen]->config) < 0 ? i : chosen;
        second = i != best && (second == best || records[i]->time_ns < records[second]->time_ns) ? i : second;
    }
    if (noise) {
        *noise = noise_of(records[best], records[second], floor);
    }
    return chosen;
}
