/* lines.c: a store's problems one by one, for programs and for gates: what is best, and how that stands to a baseline. */
#include "base/sized.h"
#include "report/charts/figures.h"
#include "report/report.h"

#include <math.h>

const char *kw_verdict_name(kw_verdict verdict) {
    static const char *const names[KW_VERDICT_COUNT] = {"", "SAME", "FAST", "SLOW", "LOST"};
    return (unsigned)verdict < KW_VERDICT_COUNT ? names[verdict] : "";
}

static kw_verdict judge(const kw_pairwise *pair, double slack) {
    bool same = pair->tie || fabs(pair->ratio - 1) <= slack;
    return same ? KW_VERDICT_SAME : pair->ratio > 1 ? KW_VERDICT_FAST : KW_VERDICT_SLOW;
}

static void hold_against(kw_report_line *line, const kw_report_data *data, const kw_report_group *group, const kw_report_data *baseline,
                         double slack) {
    uint32_t target = kw_pairwise_target(data, baseline, group->target);
    const kw_report_group *other = target == UINT32_MAX ? NULL : kw_pairwise_partner(data, baseline, group, target);
    if (!other || other->best == KW_NOWHERE) {
        return;
    }
    line->baseline_config = baseline->configs[baseline->entries[other->best].config].text;
    line->baseline_ns = other->oracle_ns;
    line->verdict = KW_VERDICT_LOST;
    if (group->best != KW_NOWHERE) {
        kw_pairwise pair = kw_pairwise_groups(data, group, baseline, other);
        line->ratio = pair.ratio;
        line->verdict = judge(&pair, slack);
    }
}

kw_status kw_report_visit(const char *store, const kw_report_options *options, void (*visit)(void *user, const kw_report_line *line),
                          void *user, kw_error *err) {
    kw_report_data *data = NULL, *baseline = NULL;
    if (!store || !visit) {
        return kw_fail(err, KW_ILLEGAL, "kw_report_visit: %s is NULL", store ? "visit" : "store");
    }
    kw_report_options own;
    kw_status status = KW_SIZED_READ(&own, kw_report_options, script, options, err);
    options = &own;
    status = status ? status : kw_report_data_open(&data, store, err);
    if (!status && options->baseline) {
        status = kw_report_data_open(&baseline, options->baseline, err);
    }
    for (size_t i = 0; !status && i < data->problem_group_count; i++) {
        const kw_report_group *group = &data->problem_groups[i];
        kw_report_line line = {.target = data->targets[group->target].text,
                               .problem = data->problems[group->problem].text,
                               .config = "",
                               .baseline_config = "",
                               .efficiency = kw_report_group_efficiency(group),
                               .good = group->good,
                               .failed = group->failed,
                               .unfit = group->unfit,
                               .packed = group->packed,
                               .cold = group->cold};
        if (group->best != KW_NOWHERE) {
            line.config = data->configs[data->entries[group->best].config].text;
            line.best_ns = group->oracle_ns;
        }
        if (baseline) {
            hold_against(&line, data, group, baseline, options->slack);
        }
        visit(user, &line);
    }
    kw_report_data_close(&data);
    kw_report_data_close(&baseline);
    return status;
}
