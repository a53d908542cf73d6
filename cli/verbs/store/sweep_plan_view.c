/* sweep_plan_view.c: a sweep that a model's errors choose: which families of problems need more, what of it is measured, and whether the target
 * is met. Measured rows stay, so the same command goes on; training with them is the caller's next step. */
#include "evaluation_options.h"
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FAMILIES_SHOWN = 12 };

/* --- options ------------------------------------------------------------------------------------------------------ */

static int read_timing_kind(kw_proposal_options *o, const cli_args *args) {
    return cli_op(args, OPT_OP, &o->by_op, &o->op) && cli_dtype(args, &o->by_dtype, &o->dtype) ? CLI_DONE : CLI_USAGE;
}

static int read_proposal_numbers(kw_proposal_options *o, const cli_args *args) {
    int64_t least, best, explore, limit;
    if (!cli_number(args, OPT_MIN_SHAPES, 1, 1000000, 0, &least) || !cli_number(args, OPT_EXPLOIT, 1, 100000, 0, &best) ||
        !cli_number(args, OPT_EXPLORE, 0, 100000, -1, &explore) || !cli_number(args, OPT_LIMIT, 1, 1000000, 0, &limit) ||
        !cli_share(args, OPT_REGRET, 0, &o->regret)) {
        return CLI_USAGE;
    }
    o->least = (int32_t)least;
    o->best = (int32_t)best;
    o->explore = explore < 0 ? 0 : explore ? (int32_t)explore : -1;
    o->limit = (size_t)limit;
    o->max_gflop = args->value[OPT_MAX_GFLOP] ? strtod(args->value[OPT_MAX_GFLOP], NULL) : 0; /* the problem list has checked them */
    o->max_mb = args->value[OPT_MAX_MB] ? strtod(args->value[OPT_MAX_MB], NULL) : 0;
    return read_timing_kind(o, args);
}

/* The stores, and the one that is written where it is there already. */
static int read_stores(cli_words *stores, const cli_args *args) {
    const char *out = args->value[OPT_OUT];
    int code = cli_words_read(stores, args, OPT_STORES);
    if (!code && out && !access(out, F_OK)) {
        if (stores->count == CLI_LISTS_MAX) {
            return cli_usage("--stores names %d files, and --out is one more than can be read", CLI_LISTS_MAX);
        }
        stores->items[stores->count++] = out;
    }
    return code;
}

static void log_proposal_remark(void *user, const char *line) {
    sweep_progress_log(user, line);
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

static const char *state_name(kw_family_state state) {
    return state == KW_FAMILY_ABOVE ? "above" : state == KW_FAMILY_UNKNOWN ? "unknown" : "within";
}

static void print_families(const kw_proposal_facts *facts) {
    int64_t open = (int64_t)facts->family_count - facts->count[KW_FAMILY_WITHIN];
    if (open) {
        printf("%-8s %8s %7s %8s %9s  %s\n", "state", "regret %", "shapes", "untrained", "proposed", "family of problems");
    }
    for (int64_t i = 0; i < open && i < FAMILIES_SHOWN; i++) {
        const kw_proposal_family *f = &facts->families[i];
        char regret[16] = "-";
        if (!isnan(f->regret)) {
            snprintf(regret, sizeof regret, "%.2f", 100 * f->regret);
        }
        printf("%-8s %8s %7lld %8lld %9lld  %s%s\n", state_name(f->state), regret, (long long)f->shapes, (long long)f->untrained,
               (long long)f->proposed, f->key, f->exhausted ? "  (no more problems of it are found)" : "");
    }
    if (open > FAMILIES_SHOWN) {
        printf("... and %lld more; --json has all\n", (long long)(open - FAMILIES_SHOWN));
    }
}

static void print_proposal_text(const kw_proposal_facts *facts, double target, const kw_proposal_report *report) {
    print_families(facts);
    if (!isnan(facts->regret)) {
        printf("regret %.2f %% in all, of %lld problem groups\n", 100 * facts->regret, (long long)facts->problem_groups);
    }
    printf("of %zu families %lld are within %.4g %%, %lld over it, %lld not known yet\n", facts->family_count,
           (long long)facts->count[KW_FAMILY_WITHIN], 100 * target, (long long)facts->count[KW_FAMILY_ABOVE],
           (long long)facts->count[KW_FAMILY_UNKNOWN]);
    if (report) {
        int64_t rows = 0;
        for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
            rows += report->outcome[i];
        }
        printf("measured %lld rows in %.1f s (%lld of %lld pairs good, %lld left)\n", (long long)rows, report->wall_s,
               (long long)report->outcome[KW_GOOD], (long long)report->pairs, (long long)report->outcome[KW_UNTRIED]);
    } else if (facts->pairs) {
        printf("proposed: %lld pairs on %lld problems, %lld of them from the lists\n", (long long)facts->pairs, (long long)facts->problems,
               (long long)facts->drawn);
    }
    if (facts->met) {
        printf("the target is met in every family%s\n", report && report->rounds ? "" : "; nothing is measured");
    } else if (!facts->pairs) {
        printf("nothing is left to propose: give lists (--problems) with more problems of these families\n");
    }
}

static void add_family(cli_json *json, const kw_proposal_family *f) {
    cli_json_object(json, NULL);
    cli_json_text(json, "family", f->key);
    cli_json_text(json, "state", state_name(f->state));
    cli_json_int(json, "shapes", f->shapes);
    cli_json_int(json, "problem_groups", f->problem_groups);
    cli_json_int(json, "untrained", f->untrained);
    if (!isnan(f->regret)) {
        cli_json_real(json, "regret", f->regret);
    }
    cli_json_int(json, "proposed", f->proposed);
    cli_json_bool(json, "exhausted", f->exhausted);
    cli_json_end(json);
}

static void print_proposal_json(const kw_proposal_facts *facts, double target, const kw_proposal_report *report) {
    cli_json json;
    cli_json_start(&json);
    cli_json_bool(&json, "met", facts->met);
    cli_json_real(&json, "target", target);
    if (!isnan(facts->regret)) {
        cli_json_real(&json, "regret", facts->regret);
    }
    cli_json_int(&json, "problem_groups", facts->problem_groups);
    cli_json_int(&json, "families_within", facts->count[KW_FAMILY_WITHIN]);
    cli_json_int(&json, "families_above", facts->count[KW_FAMILY_ABOVE]);
    cli_json_int(&json, "families_unknown", facts->count[KW_FAMILY_UNKNOWN]);
    if (report) {
        cli_json_int(&json, "rounds", report->rounds);
        cli_json_int(&json, "pairs", report->pairs);
        for (int i = KW_GOOD; i < KW_OUTCOME_COUNT; i++) {
            cli_json_int(&json, kw_outcome_name((kw_outcome)i), report->outcome[i]);
        }
        cli_json_int(&json, "left", report->outcome[KW_UNTRIED]);
        cli_json_bool(&json, "stopped", report->stopped);
        cli_json_bool(&json, "spent", report->spent);
        cli_json_real(&json, "wall_s", report->wall_s);
    }
    cli_json_int(&json, "proposed_problems", facts->problems);
    cli_json_int(&json, "proposed_pairs", facts->pairs);
    cli_json_list(&json, "families");
    for (size_t i = 0; i < facts->family_count; i++) {
        add_family(&json, &facts->families[i]);
    }
    cli_json_end(&json);
    cli_json_print(&json, stdout);
}

/* --- the sweep ---------------------------------------------------------------------------------------------------- */

static int run_proposal(const cli_args *args, kw_proposal *proposal, const kw_sweep_options *options) {
    kw_error err = {0};
    kw_proposal_report report = {0};
    const kw_proposal_facts *facts = kw_proposal_describe(proposal);
    double target;
    bool look = args->value[OPT_COUNT_ONLY] || args->value[OPT_NEXT];
    cli_share(args, OPT_REGRET, 0.01, &target);
    if (args->value[OPT_NEXT] && facts->pairs && kw_proposal_write(proposal, args->value[OPT_NEXT], &err)) {
        return cli_fail(&err);
    }
    if (!look && !options->out) {
        return cli_usage("a sweep needs a place for its rows; for example --out results.db");
    }
    if (!look && kw_proposal_measure(proposal, options, &report, &err)) {
        return cli_fail(&err);
    }
    if (!look) {
        kw_sweep_report all = {.stopped = report.stopped};
        memcpy(all.outcome, report.outcome, sizeof all.outcome);
        sweep_progress_end(options->user, &all);
    }
    (args->value[OPT_JSON] ? print_proposal_json : print_proposal_text)(facts, target > 0 ? target : 0.01, look ? NULL : &report);
    if (report.stopped) {
        return CLI_STOPPED;
    }
    if (report.outcome[KW_WRONG]) {
        fprintf(stderr, "kwright: %lld results are wrong; a kernel that is wrong on one problem is to be trusted on none\n",
                (long long)report.outcome[KW_WRONG]);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

int sweep_plan_view(const cli_args *args, const kw_sweep_options *options) {
    kw_error err = {0};
    kw_proposal *proposal = NULL;
    cli_words stores = {0}, holdout = {0};
    kw_proposal_options o = {.size = sizeof(kw_proposal_options),
                             .by = args->value[OPT_WHERE],
                             .folds = args->value[OPT_LEFT_OUT],
                             .threads = options->workers.threads,
                             .cold = options->timing.cold,
                             .fresh_weights = options->timing.fresh_weights,
                             .problems = options->problems,
                             .problem_count = options->problem_count,
                             .configs = options->configs,
                             .config_count = options->config_count,
                             .seed = options->timing.seed,
                             .log = log_proposal_remark,
                             .user = options->user};
    int code = read_proposal_numbers(&o, args);
    code = code ? code : read_stores(&stores, args);
    code = code ? code : cli_words_read(&holdout, args, OPT_HOLDOUT);
    o.stores = stores.items;
    o.store_count = stores.count;
    o.holdout = holdout.items;
    o.holdout_count = holdout.count;
    if (!code) {
        code = kw_proposal_open(&proposal, &o, &err) ? cli_fail(&err) : run_proposal(args, proposal, options);
    }
    kw_proposal_close(&proposal);
    cli_words_drop(&stores);
    cli_words_drop(&holdout);
    return code;
}
