/* rate_errors.c: see rate_errors.h. Two passes, so that the mean is known before what differs from it is added. */
#include "learn/data/rate_errors.h"

#include <math.h>

const char *kw_rate_name(kw_rate rate) {
    static const char *const names[KW_RATES] = {
        [KW_RATE_TFLOPS] = "tflops", [KW_RATE_LATENCY] = "latency", [KW_RATE_BANDWIDTH] = "bandwidth"};
    return names[rate];
}

static double rate_of(kw_rate rate, double ns, const kw_group_work *work) {
    return rate == KW_RATE_TFLOPS ? work->flops / ns / 1e3 : rate == KW_RATE_LATENCY ? ns / 1e6 : work->bytes / ns;
}

typedef struct rate_sums {
    double measured, squares, absolute, spread;
    int64_t rows;
} rate_sums;

static void add_group_rates(rate_sums *sums, const kw_dataset *dataset, size_t group, const double *ns, kw_rate rate, double mean) {
    const kw_problem_group *of = &dataset->problem_groups[group];
    kw_group_work work = kw_problem_group_work(dataset, of);
    for (size_t i = of->first; i < of->first + of->count; i++) {
        const kw_pair *pair = &dataset->pairs[i];
        if (pair->outcome == KW_GOOD && pair->time_ns > 0 && ns[i] > 0 && isfinite(ns[i])) {
            double measured = rate_of(rate, pair->time_ns, &work), error = rate_of(rate, ns[i], &work) - measured;
            sums->rows++;
            sums->measured += measured;
            sums->squares += error * error;
            sums->absolute += fabs(error);
            sums->spread += (measured - mean) * (measured - mean);
        }
    }
}

void kw_rate_errors_compute(kw_rate_errors *errors, const kw_dataset *dataset, const double *ns, kw_rate rate, const int32_t *fold,
                            int32_t which) {
    rate_sums sums = {0};
    double mean = 0;
    for (int pass = 0; pass < 2; pass++) {
        sums = (rate_sums){0};
        for (size_t c = 0; c < dataset->problem_group_count; c++) {
            if (!fold || fold[c] == which) {
                add_group_rates(&sums, dataset, c, ns, rate, mean);
            }
        }
        mean = sums.rows ? sums.measured / (double)sums.rows : 0;
    }
    double rows = (double)sums.rows;
    *errors = (kw_rate_errors){.rows = sums.rows, .r2 = NAN, .rmse = NAN, .mae = NAN};
    if (sums.rows) {
        errors->r2 = sums.spread > 0 ? 1 - sums.squares / sums.spread : NAN;
        errors->rmse = sqrt(sums.squares / rows);
        errors->mae = sums.absolute / rows;
    }
}
