/* noise.c: see noise.h for the formula and the bands. */
#include "measure/timing/noise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const kw_noise_band kw_noise_decide = {0.003, 0.01};
const kw_noise_band kw_noise_credit = {0, 0.02};
const kw_noise_band kw_noise_differ = {0.01, INFINITY};

static double variance_of(const kw_noisy_time *time) {
    return time->spread_ns * time->spread_ns / (time->samples > 0 ? time->samples : 1);
}

double kw_noise_width(const kw_noisy_time *a, const kw_noisy_time *b, const kw_noise_band *band) {
    double lesser = fmin(a->ns, b->ns);
    double width = lesser > 0 ? 2 * sqrt(variance_of(a) + variance_of(b)) / lesser : 0;
    return fmin(fmax(width, band->least), band->most);
}

bool kw_noise_tied(const kw_noisy_time *a, const kw_noisy_time *b, const kw_noise_band *band) {
    return fabs(a->ns - b->ns) <= kw_noise_width(a, b, band) * fmin(a->ns, b->ns);
}

bool kw_noise_restless(double time_ns, double spread_ns, double limit) {
    return time_ns > 0 && spread_ns >= 0 && !(spread_ns <= limit * time_ns);
}

static kw_noisy_time time_of(const kw_record *record) {
    return (kw_noisy_time){record->time_ns, record->spread_ns, record->samples};
}

size_t kw_noise_select(const kw_record *const records[], size_t count, const kw_noise_band *band, double *noise) {
    size_t best = 0;
    assert(count > 0);
    for (size_t i = 1; i < count; i++) {
        best = records[i]->time_ns < records[best]->time_ns ? i : best;
    }
    kw_noisy_time least = time_of(records[best]);
    size_t chosen = best, second = best;
    for (size_t i = 0; i < count; i++) {
        kw_noisy_time time = time_of(records[i]);
        bool tied = kw_noise_tied(&least, &time, band);
        chosen = tied && strcmp(records[i]->config, records[chosen]->config) < 0 ? i : chosen;
        second = i != best && (second == best || records[i]->time_ns < records[second]->time_ns) ? i : second;
    }
    if (noise) {
        kw_noisy_time time = time_of(records[second]);
        *noise = kw_noise_width(&least, &time, band);
    }
    return chosen;
}
