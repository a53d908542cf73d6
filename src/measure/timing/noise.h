/* noise.h: when are two times of one problem the same? One formula and one table of bands, for tuning, evaluation, pruning and reports.
 *
 * The noise of a comparison is twice the standard error of the difference of two lower quartiles, as a share of the lesser time. Of a
 * normal sample the quartile's error is 1.36 sigma / sqrt(n) and the interquartile range 1.35 sigma, so that the range over sqrt(n) stands
 * for it. Two times are tied when they differ by no more than the noise, which is held within a band; the band depends on what follows
 * from a tie, and each has its reason:
 *
 * - decide, 0.3 % to 1 %: which kernel a problem gets from now on. Where the samples cannot tell two apart the name decides, so that processes
 *   choose alike; a wider band gives speed away (of 831 problems 1 % to 2 % cost 0.45 % of it, this one 0.20 %) and they choose no more alike.
 * - credit, 0 % to 2 %: a selection that is tied with the best is scored 1. Credit needs evidence: samples without spread that differ are
 *   different, and no restlessness earns more than 2 %.
 * - differ, 1 % to all: what a report or a comparison calls faster or slower. To say so of times of two days, both the 1 % of a machine
 *   that is not the same tomorrow and all of the measured noise must be exceeded. */
#ifndef KW_MEASURE_TIMING_NOISE_H
#define KW_MEASURE_TIMING_NOISE_H

#include "base/status.h"

typedef struct kw_noise_band {
    double least, most; /* shares */
} kw_noise_band;

extern const kw_noise_band kw_noise_decide, kw_noise_credit, kw_noise_differ;

/* A time and how sure it is: of a record, a row, a pair. */
typedef struct kw_noisy_time {
    double ns, spread_ns; /* lower quartile, interquartile range */
    int32_t samples;
} kw_noisy_time;

/* The noise of comparing two times above 0, a share, within the band. */
double kw_noise_width(const kw_noisy_time *a, const kw_noisy_time *b, const kw_noise_band *band);
/* Whether they are the same. */
bool kw_noise_tied(const kw_noisy_time *a, const kw_noisy_time *b, const kw_noise_band *band);

/* Times of one kernel whose interquartile range is more than so much of their lower quartile were measured beside other work: on a
 * machine at rest it is 1 to 3 %, rarely 6 %. Such a time is no fact. limit: a share, above which is too much. */
#define KW_SPREAD_USUAL 0.1
bool kw_noise_restless(double time_ns, double spread_ns, double limit);

/* Which of count good records wins: of those tied with the least time the first by config text, so that processes that measure the same
 * kernels choose alike. *noise (may be NULL) gets the width of the runner-up. count > 0. */
size_t kw_noise_select(const kw_record *const records[], size_t count, const kw_noise_band *band, double *noise);

#endif
