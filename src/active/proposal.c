/* proposal.c: kw_proposal. One look makes a proposal from what is known; measuring alternates with looking, so that a family that turned
 * out well gives its share of the time to the others. */
#include "active/proposal.h"

#include "base/sized.h"
#include "backend/backend.h"
#include "base/os/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 5, BEST = 4, EXPLORE = 4, LIMIT = 16, BATCH = 4, PATH_SIZE = 4096 };
static const double regret = 0.01;

/* --- opening ---------------------------------------------------------------------------------------------------------- */

static kw_status check_proposal_options(const kw_proposal_options *o, kw_error *err) {
    if (!o->store_count && !o->problem_count) {
        return kw_fail(err, KW_ILLEGAL, "a proposal needs stores or problem lists: there is nothing to start from");
    }
    if (!o->config_count) {
        return kw_fail(err, KW_ILLEGAL, "a proposal needs kernels to choose from");
    }
    if (!(o->regret >= 0 && o->regret < 1) || o->least < 0 || o->best < 0 || o->threads < 0) {
        return kw_fail(err, KW_ILLEGAL,
                       "regret %g, %d shapes, %d kernels, %d threads: regret is a share below 1, the others are not negative", o->regret,
                       (int)o->least, (int)o->best, (int)o->threads);
    }
    return KW_OK;
}

static void set_options(kw_proposal *p, const kw_proposal_options *options) {
    kw_proposal_options *o = &p->options;
    *o = *options;
    o->by = o->by ? o->by : "estimate";
    o->regret = o->regret > 0 ? o->regret : regret;
    o->least = o->least ? o->least : LEAST;
    o->best = o->best ? o->best : BEST;
    o->explore = o->explore ? (o->explore > 0 ? o->explore : 0) : EXPLORE;
    o->limit = o->limit ? o->limit : LIMIT;
}

static kw_status read_candidate_configs(kw_proposal *p, kw_error *err) {
    kw_status status = KW_OK;
    for (size_t i = 0; i < p->options.config_count && !status; i++) {
        kw_config config;
        status = kw_config_parse(&config, p->options.configs[i], err);
        status = status ? status : kw_catalog_add(&p->configs, &config, NULL, err);
    }
    return status;
}

static kw_status read_holdout(kw_proposal *p, kw_error *err) {
    kw_status status = kw_holdout_read(&p->holdout, p->options.holdout, p->options.holdout_count, err);
    for (size_t i = 0; i < p->holdout.count && !status; i++) {
        kw_problem plain = p->holdout.problems[i];
        size_t place;
        plain.dtype = KW_FP32;
        status = kw_distinct_add(&p->forbidden, &plain, &place) ? KW_OK : kw_fail_memory(err, "the held-out problems");
    }
    return status;
}

static kw_status read_proposal_target(kw_proposal *p, kw_error *err) {
    kw_status status = KW_OK;
    if (p->options.target) {
        status = kw_target_parse(&p->target, p->options.target, err);
    } else {
        kw_cpu_target(&p->target, p->options.threads > 0 ? p->options.threads : 1);
    }
    kw_target_print(p->target_text, sizeof p->target_text, &p->target);
    return status;
}

/* --- a look ----------------------------------------------------------------------------------------------------------- */

static void drop_round(kw_proposal *p) {
    kw_dataset_close(&p->dataset);
    free(p->losses);
    free(p->needs);
    free(p->listed);
    kw_distinct_drop(&p->known);
    kw_distinct_drop(&p->chosen);
    kw_manifest_drop(&p->manifest);
    p->losses = NULL;
    p->needs = NULL;
    p->listed = NULL;
    p->loss_count = p->need_count = 0;
    p->facts = (kw_proposal_facts){.regret = NAN};
}

/* Over, unknown, met; the greatest regret first. */
static int by_state(const void *left, const void *right) {
    const kw_proposal_family *a = left, *b = right;
    double x = isnan(a->regret) ? -1 : a->regret, y = isnan(b->regret) ? -1 : b->regret;
    int order = (a->state > b->state) - (a->state < b->state);
    order = order ? order : (x < y) - (x > y);
    return order ? order : strcmp(a->key, b->key);
}

static kw_status list_proposal_families(kw_proposal *p, kw_error *err) {
    p->listed = calloc(p->need_count + 1, sizeof *p->listed);
    if (!p->listed) {
        return kw_fail_memory(err, "the families of problems");
    }
    for (size_t i = 0; i < p->need_count; i++) {
        p->listed[i] = p->needs[i].facts;
    }
    qsort(p->listed, p->need_count, sizeof *p->listed, by_state);
    p->facts.families = p->listed;
    return KW_OK;
}

static kw_status refresh_proposal(kw_proposal *p, kw_error *err) {
    drop_round(p);
    kw_status status = kw_proposal_evaluate(p, err);
    status = status ? status : kw_proposal_select_problems(p, err);
    status = status ? status : kw_proposal_select_kernels(p, err);
    return status ? status : list_proposal_families(p, err);
}

kw_status kw_proposal_open(kw_proposal **proposal, const kw_proposal_options *options, kw_error *err) {
    if (!proposal || !options) {
        return kw_fail(err, KW_ILLEGAL, "kw_proposal_open: %s is NULL", proposal ? "options" : "proposal");
    }
    *proposal = NULL;
    kw_proposal_options own;
    kw_status status = KW_SIZED_READ(&own, kw_proposal_options, user, options, err);
    if (status) {
        return status;
    }
    options = &own;
    status = check_proposal_options(options, err);
    kw_proposal *p = status ? NULL : calloc(1, sizeof *p);
    if (!p) {
        return status ? status : kw_fail_memory(err, "a proposal");
    }
    set_options(p, options);
    status = read_proposal_target(p, err);
    status = status ? status : read_candidate_configs(p, err);
    status = status ? status : read_holdout(p, err);
    status = status ? status : refresh_proposal(p, err);
    if (status) {
        kw_proposal_close(&p);
    }
    *proposal = p;
    return status;
}

void kw_proposal_close(kw_proposal **proposal) {
    kw_proposal *p = *proposal;
    if (p) {
        drop_round(p);
        kw_catalog_drop(&p->configs);
        kw_holdout_drop(&p->holdout);
        kw_distinct_drop(&p->forbidden);
        kw_distinct_drop(&p->tried);
        free(p);
        *proposal = NULL;
    }
}

const kw_proposal_facts *kw_proposal_describe(const kw_proposal *proposal) {
    return &proposal->facts;
}

kw_status kw_proposal_write(const kw_proposal *proposal, const char *path, kw_error *err) {
    if (!proposal->facts.pairs) {
        return kw_fail(err, KW_FAILED, "nothing is proposed: %s",
                       proposal->facts.met ? "the target is met" : "no new problem was found where one is wanted");
    }
    return kw_manifest_write(&proposal->manifest, path, err);
}

/* --- measuring -------------------------------------------------------------------------------------------------------- */

static void add_report(kw_proposal_report *all, const kw_sweep_report *one) {
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        all->outcome[i] += one->outcome[i];
    }
    all->wall_s += one->build_s + one->wall_s;
    all->stopped = one->stopped;
    all->spent = one->spent;
}

/* One proposal. The manifest is beside the store while it is measured. */
static kw_status measure_round(const kw_proposal *p, const kw_sweep_options *sweep, double budget_s, kw_proposal_report *report,
                               kw_error *err) {
    char path[PATH_SIZE];
    kw_sweep_report one = {0};
    if ((size_t)snprintf(path, sizeof path, "%s.proposal", sweep->out) >= sizeof path) {
        return kw_fail(err, KW_ILLEGAL, "the store's name is longer than %d characters", PATH_SIZE - 16);
    }
    kw_sweep_options options = *sweep;
    options.configs = NULL;
    options.problems = NULL;
    options.config_count = options.problem_count = 0;
    options.pairs = path;
    options.candidates = sweep->candidates ? sweep->candidates : "a proposal";
    options.list = sweep->list ? sweep->list : "a proposal";
    options.workers.threads = p->options.threads;
    options.timing.cold = p->options.cold;
    options.timing.fresh_weights = p->options.fresh_weights;
    options.overwrite = options.count_only = false;
    options.shard = (kw_shard){0};
    options.workers.batch = sweep->workers.batch ? sweep->workers.batch : BATCH; /* a budget ends between batches */
    options.limits.budget_s = budget_s;
    kw_status status = kw_proposal_write(p, path, err);
    status = status ? status : kw_sweep(&options, &one, err);
    unlink(path);
    if (!status) {
        report->rounds++;
        report->problems += p->facts.problems;
        report->pairs += one.pairs;
        add_report(report, &one);
    }
    return status;
}

kw_status kw_proposal_measure(kw_proposal *proposal, const kw_sweep_options *sweep, kw_proposal_report *report, kw_error *err) {
    kw_proposal *p = proposal;
    kw_proposal_report unasked = {0};
    report = report ? report : &unasked;
    *report = (kw_proposal_report){0};
    if (!p || !sweep || !sweep->out || !*sweep->out) {
        return kw_fail(err, KW_ILLEGAL, "kw_proposal_measure: %s", !p || !sweep ? "proposal or sweep is NULL" : "a store is needed");
    }
    kw_sweep_options own;
    kw_status status = KW_SIZED_READ(&own, kw_sweep_options, user, sweep, err);
    sweep = &own;
    const double budget_s = sweep->limits.budget_s;
    const int64_t start = kw_clock_ns();
    p->out = sweep->out;
    while (!status && !p->facts.met && p->facts.pairs && !report->stopped && !report->spent) {
        double left_s = budget_s > 0 ? budget_s - (double)(kw_clock_ns() - start) / 1e9 : 0;
        if (budget_s > 0 && left_s <= 0) {
            report->spent = true;
            break;
        }
        status = measure_round(p, sweep, left_s, report, err);
        p->round++;
        status = status ? status : refresh_proposal(p, err);
        if (!(budget_s > 0)) {
            break;
        }
    }
    p->out = NULL;
    return status;
}
