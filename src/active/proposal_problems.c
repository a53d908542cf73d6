/* proposal_problems.c: which problems are measured next. Places are given out one by one, each to the family to which one more problem is
 * worth most: its regret over the problems it was given already and those that wait for a training (d'Hondt's rule, so shares are in
 * proportion to regret). A family's problems come from the lists first, in a drawn order, then from the neighbourhood of its own
 * problems, mostly of those that lose most. */
#include "active/proposal.h"

#include "base/hash.h"
#include "base/statistics/random.h"
#include "base/statistics/stats.h"
#include "active/perturb.h"

#include <stdlib.h>
#include <string.h>

enum { TRIES = 200 };
static const double growth = 2; /* a perturbed problem has at most so many times the operations of its source */

/* A problem of a list that may be proposed. */
typedef struct ticket {
    size_t family;
    uint64_t order;
    size_t position;
} ticket;

typedef struct problem_draw {
    kw_proposal *p;
    ticket *tickets; /* by family and order */
    size_t count;
    size_t *next, *end; /* of each family: its tickets that are left */
    size_t *source;     /* of each family: its first loss; the last family's end stands behind */
} problem_draw;

uint64_t kw_proposal_seed(const kw_proposal *p, const char *what, const char *text) {
    char line[KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX + 80];
    kw_line out = {.data = line, .capacity = sizeof line};
    kw_line_addf(&out, "%llu %llu %s %s", (unsigned long long)p->options.seed, (unsigned long long)p->round, what, text);
    return kw_hash64(line, strlen(line));
}

/* --- what may be proposed --------------------------------------------------------------------------------------------- */

static bool is_free(const kw_proposal *p, const kw_problem *problem) {
    const kw_proposal_options *o = &p->options;
    kw_problem plain = *problem;
    plain.dtype = KW_FP32;
    return (!o->by_op || problem->op == o->op) && (!o->by_dtype || problem->dtype == o->dtype) &&
           (!(o->max_gflop > 0) || (double)kw_problem_flops(problem) <= o->max_gflop * 1e9) &&
           (!(o->max_mb > 0) || (double)kw_problem_bytes(problem) <= o->max_mb * 1e6) &&
           kw_distinct_find(&p->forbidden, &plain) == SIZE_MAX && kw_distinct_find(&p->known, problem) == SIZE_MAX &&
           kw_distinct_find(&p->tried, problem) == SIZE_MAX && kw_distinct_find(&p->chosen, problem) == SIZE_MAX;
}

/* Whether a kernel of the catalog serves it. */
static bool is_served(const kw_proposal *p, const kw_problem *problem) {
    for (size_t i = 0; i < p->configs.count; i++) {
        const kw_config *config = &p->configs.configs[i];
        if (config->op == problem->op && config->dtype == problem->dtype && !kw_config_fits(config, problem, &p->target, NULL)) {
            return true;
        }
    }
    return false;
}

static int by_ticket_order(const void *left, const void *right) {
    const ticket *a = left, *b = right;
    int order = (a->family > b->family) - (a->family < b->family);
    order = order ? order : (a->order > b->order) - (a->order < b->order);
    return order ? order : (a->position > b->position) - (a->position < b->position);
}

static kw_status open_problem_draw(problem_draw *d, kw_error *err) {
    const kw_proposal *p = d->p;
    size_t families = p->need_count;
    d->tickets = calloc(p->options.problem_count + 1, sizeof *d->tickets);
    d->next = calloc(families + 1, sizeof *d->next);
    d->end = calloc(families + 1, sizeof *d->end);
    d->source = calloc(families + 1, sizeof *d->source);
    if (!d->tickets || !d->next || !d->end || !d->source) {
        return kw_fail_memory(err, "the next problems");
    }
    for (size_t i = 0; i < p->options.problem_count; i++) {
        const kw_problem *problem = &p->options.problems[i];
        size_t family = kw_proposal_family_of(p, problem);
        if (family != SIZE_MAX && is_free(p, problem)) {
            char text[KW_PROBLEM_TEXT_MAX];
            kw_problem_print(text, sizeof text, problem);
            d->tickets[d->count++] = (ticket){family, kw_proposal_seed(p, "problem", text), i};
        }
    }
    qsort(d->tickets, d->count, sizeof *d->tickets, by_ticket_order);
    for (size_t f = 0, t = 0, l = 0; f <= families; f++) {
        d->source[f] = l;
        d->next[f] = t;
        while (f < families && t < d->count && d->tickets[t].family == f) {
            t++;
        }
        while (f < families && l < p->loss_count && p->losses[l].family == f) {
            l++;
        }
        d->end[f] = t;
    }
    return KW_OK;
}

static void close_problem_draw(problem_draw *d) {
    free(d->tickets);
    free(d->next);
    free(d->end);
    free(d->source);
}

/* --- one problem of a family ------------------------------------------------------------------------------------------ */

static bool draw_listed(problem_draw *d, size_t family, kw_problem *problem) {
    while (d->next[family] < d->end[family]) {
        *problem = d->p->options.problems[d->tickets[d->next[family]++].position];
        if (is_free(d->p, problem) && is_served(d->p, problem)) {
            return true;
        }
    }
    return false;
}

/* The number-th problem of the family that is measured, by falling loss, or behind them of the lists; false: there are not so many. */
static const kw_problem *find_draw_source(const problem_draw *d, size_t family, size_t number) {
    const kw_proposal *p = d->p;
    size_t measured = d->source[family + 1] - d->source[family];
    if (number < measured) {
        return &p->dataset.problem_groups[p->losses[d->source[family] + number].problem_group].problem;
    }
    for (size_t i = 0; i < p->options.problem_count; i++) {
        if (kw_proposal_family_of(p, &p->options.problems[i]) == family && number-- == measured) {
            return &p->options.problems[i];
        }
    }
    return NULL;
}

static size_t count_sources(const problem_draw *d, size_t family) {
    size_t count = d->source[family + 1] - d->source[family];
    for (size_t i = 0; i < d->p->options.problem_count && !count; i++) {
        count += kw_proposal_family_of(d->p, &d->p->options.problems[i]) == family;
    }
    return count;
}

static bool draw_perturbed(problem_draw *d, size_t family, kw_problem *problem) {
    kw_proposal *p = d->p;
    size_t sources = count_sources(d, family);
    char number[32];
    kw_line line = {.data = number, .capacity = sizeof number};
    kw_line_addf(&line, "%lld ", (long long)p->needs[family].facts.proposed);
    uint64_t state = kw_proposal_seed(p, number, p->needs[family].facts.key);
    for (int i = 0; i < TRIES && sources; i++) {
        /* The square of a number between 0 and 1: the first fourth gets half of the draws. */
        double at = kw_random_unit(&state);
        const kw_problem *from = find_draw_source(d, family, (size_t)(at * at * (double)sources));
        if (from && kw_problem_perturb(problem, from, &state) && kw_proposal_family_of(p, problem) == family &&
            (double)kw_problem_flops(problem) <= growth * (double)kw_problem_flops(from) && is_free(p, problem) && is_served(p, problem)) {
            return true;
        }
    }
    return false;
}

/* --- whose turn it is ------------------------------------------------------------------------------------------------- */

/* The family to which one more problem is worth most; the first of equals. SIZE_MAX: none wants one. */
static size_t highest_value_family(const kw_proposal *p) {
    size_t best = SIZE_MAX;
    double most = 0;
    for (size_t f = 0; f < p->need_count; f++) {
        const kw_family_need *need = &p->needs[f];
        double priority = need->facts.exhausted ? 0 : need->priority / (double)(1 + need->facts.untrained + need->facts.proposed);
        if (priority > most) {
            most = priority;
            best = f;
        }
    }
    return best;
}

kw_status kw_proposal_select_problems(kw_proposal *p, kw_error *err) {
    problem_draw d = {.p = p};
    size_t limit = p->options.limit;
    kw_status status = open_problem_draw(&d, err);
    while (!status && p->chosen.count < limit) {
        kw_problem problem;
        size_t place, family = highest_value_family(p);
        if (family == SIZE_MAX) {
            break;
        }
        bool listed = draw_listed(&d, family, &problem);
        if (!listed && !draw_perturbed(&d, family, &problem)) {
            p->needs[family].facts.exhausted = true;
            continue;
        }
        if (!kw_distinct_add(&p->chosen, &problem, &place) || !kw_distinct_add(&p->tried, &problem, &place)) {
            status = kw_fail_memory(err, "the next problems");
        }
        p->facts.drawn += listed;
        p->needs[family].facts.proposed++;
    }
    p->facts.problems = (int64_t)p->chosen.count;
    close_problem_draw(&d);
    return status;
}
