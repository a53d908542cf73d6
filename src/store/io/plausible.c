/* plausible.c: what no kernel can have done. The bounds are generous: they are for files that were edited, mixed up or written in other
 * units, not for judging measurements. */
#include "store/io/plausible.h"

#include "base/format/escape.h"
#include "problem/target/target.h"

#include <string.h>

static const double hertz_max = 6e9, unknown_peak = 1e17;

double kw_plausible_peak(const char *text, kw_dtype dtype) {
    kw_target target;
    if (kw_target_parse(&target, text, NULL) || kw_target_is_gpu(&target) || !target.units || !target.lanes) {
        return unknown_peak;
    }
    return (double)target.units * (double)target.lanes * 2 * 2 * hertz_max * (4.0 / (double)kw_dtype_size(dtype));
}

/* Names stand in lists, one a line, and on terminals. */
static kw_status check_visible(const char *what, const char *text, kw_error *err) {
    char shown[KW_CONFIG_TEXT_MAX];
    size_t size = kw_escape_copy(shown, sizeof shown, text, false);
    if (size == strlen(text) && !strcmp(shown, text)) {
        return KW_OK;
    }
    return kw_fail(err, KW_ILLEGAL, "the %s \"%.200s\" has a control or hidden character or no UTF-8; a name is one visible line", what,
                   text);
}

static kw_status check_texts(const kw_row *row, kw_problem *problem, kw_error *err) {
    kw_op op;
    kw_dtype dtype;
    kw_target target;
    kw_status status = kw_target_parse(&target, row->target, err);
    status = status ? status : kw_row_problem(problem, row->problem, err);
    if (status) {
        return status;
    }
    status = check_visible("target", row->target, err);
    status = status ? status : check_visible("config", row->record.config, err);
    if (status) {
        return status;
    }
    if (!kw_config_is_foreign(row->record.config, &op, &dtype) && (op != problem->op || dtype != problem->dtype)) {
        return kw_fail(err, KW_ILLEGAL, "the config is of %s %s, the problem of %s %s", kw_op_name(op), kw_dtype_name(dtype),
                       kw_op_name(problem->op), kw_dtype_name(problem->dtype));
    }
    return KW_OK;
}

/* Whether an outcome can come with a time at all. */
static bool has_run(kw_outcome outcome) {
    return outcome == KW_GOOD || outcome == KW_SLOW || outcome == KW_MISTRUSTED || outcome == KW_WRONG;
}

kw_status kw_row_plausible(const kw_row *row, kw_error *err) {
    const kw_record *record = &row->record;
    kw_problem problem;
    kw_status status = check_texts(row, &problem, err);
    if (status) {
        return status;
    }
    if (record->time_ns > 0 && !has_run(record->outcome)) {
        return kw_fail(err, KW_ILLEGAL, "the outcome is %s, but there is a time of %g ns", kw_outcome_name(record->outcome),
                       record->time_ns);
    }
    if (record->samples > 0 && record->time_ns == 0) {
        return kw_fail(err, KW_ILLEGAL, "there are %d samples, but no time", record->samples);
    }
    double slack = record->time_ns * 1e-9; /* other programs round */
    if (record->samples > 0 &&
        (record->least_ns > record->time_ns + slack || (record->median_ns > 0 && record->median_ns < record->time_ns - slack))) {
        return kw_fail(err, KW_ILLEGAL, "least %g, lower quartile %g and median %g ns do not ascend", record->least_ns, record->time_ns,
                       record->median_ns);
    }
    if (record->outcome == KW_GOOD && record->error > 1) {
        return kw_fail(err, KW_ILLEGAL, "the outcome is good, but the error is %g times its bound", record->error);
    }
    double fastest = record->least_ns > 0 && record->least_ns < record->time_ns ? record->least_ns : record->time_ns;
    double peak = kw_plausible_peak(row->target, problem.dtype),
           rate = fastest > 0 ? (double)kw_problem_flops(&problem) / fastest * 1e9 : 0;
    if (rate > peak) {
        return kw_fail(err, KW_ILLEGAL, "%g ns would be %.4g FLOP/s; the target's peak is below %.4g", fastest, rate, peak);
    }
    return KW_OK;
}
