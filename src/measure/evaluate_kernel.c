/* evaluate_kernel.c: the classification stands in the header; each function below is one row of it. */
#include "measure/evaluate_kernel.h"

#include "config/config.h"
#include "problem/names/outcome.h"

kw_outcome kw_load_outcome(kw_status status) {
    switch (status) {
    case KW_NO_KERNEL:
        return KW_TOO_MUCH_LDS;
    case KW_NO_MEMORY:
        return KW_UNLAUNCHED;
    case KW_IO:
        return KW_UNTRIED;
    default:
        return KW_UNCOMPILED;
    }
}

kw_status kw_evaluate_load(const kw_kernel_load *kernel, kw_record *record, kw_error *err) {
    kw_error why = {0};
    kw_status status = kernel->problem ? kw_config_fits(kernel->config, kernel->problem, kernel->target, &why)
                                       : kw_config_runs(kernel->config, kernel->target, &why);
    if (status) {
        kw_record_fail(record, KW_UNFIT, &why);
        return kw_fail(err, status, "%s", why.text);
    }
    status = kernel->load(kernel->user, kernel->config, &why);
    if (status) {
        kw_record_fail(record, kw_load_outcome(status), &why);
        return kw_fail(err, status, "%s", why.text);
    }
    return KW_OK;
}

kw_status kw_evaluate_fail_launch(kw_record *record, const kw_error *why, kw_error *err) {
    bool lost = why->status == KW_ENVIRONMENT;
    kw_record_fail(record, lost ? KW_CRASHED : KW_UNLAUNCHED, why);
    return lost ? kw_fail(err, KW_ENVIRONMENT, "%s", why->text) : KW_OK;
}

kw_status kw_evaluate_time(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, const kw_timing_options *timing,
                           kw_record *record, kw_error *err) {
    kw_error why = {0};
    kw_status status = kw_bench_time(bench, &kernel, &config, 1, timing, record, &why);
    return status ? kw_evaluate_fail_launch(record, &why, err) : KW_OK;
}

kw_status kw_evaluate_run(kw_bench *bench, const kw_kernel *kernel, const kw_config *config, const kw_timing_options *timing,
                          kw_record *record, kw_error *err) {
    kw_error why = {0};
    kw_status status = kw_bench_verify(bench, kernel, config, record, &why);
    if (status) {
        return kw_evaluate_fail_launch(record, &why, err);
    }
    return timing && record->outcome == KW_GOOD ? kw_evaluate_time(bench, kernel, config, timing, record, err) : KW_OK;
}
