/* set_cover.c: the matrix of kernels and problem groups, sparse, and the greedy choice over it. Steps are taken by plain efficiencies;
 * whether enough is kept is asked of times that did not choose (kw_oracle over the set). */
#include "prune/set_cover.h"

#include "evaluate/group_evaluation.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel in a problem group. */
typedef struct cell {
    uint32_t problem_group; /* number in the cover */
    uint32_t kernel;
    double efficiency; /* a tie with the best is 1 */
    size_t pair;
} cell;

struct kw_set_cover {
    const kw_dataset *dataset;
    const kw_group_oracle *oracles;
    kw_catalog kernels;
    size_t *problem_groups; /* of the data set */
    size_t problem_group_count;
    cell *cells;   /* by problem group */
    size_t *first; /* of each group's cells; one more at the end */
    double *base;  /* of each problem group: what the compiled-in kernels keep */
};

/* --- the matrix ------------------------------------------------------------------------------------------------------- */

static double pair_efficiency(const kw_set_cover *cover, size_t problem_group, size_t pair) {
    const kw_group_oracle *oracle = &cover->oracles[problem_group];
    const kw_pair *p = &cover->dataset->pairs[pair];
    kw_record record = kw_pair_record(p);
    double time = p->outcome == KW_SLOW ? p->time_ns : kw_record_score(&record);
    if (pair == oracle->best || kw_pair_tied(&cover->dataset->pairs[oracle->best], p, &kw_noise_credit)) {
        return 1;
    }
    return time > 0 ? fmin(1, oracle->oracle_ns / time) : 0;
}

static kw_status add_group_cells(kw_set_cover *cover, size_t number, size_t *cells, kw_error *err) {
    size_t c = cover->problem_groups[number];
    const kw_problem_group *problem_group = &cover->dataset->problem_groups[c];
    kw_status status = KW_OK;
    cover->first[number] = *cells;
    for (size_t i = problem_group->first; i < problem_group->first + problem_group->count && !status; i++) {
        const kw_config *config = &cover->dataset->pairs[i].config;
        double efficiency = pair_efficiency(cover, c, i);
        if (!config->family->emit) {
            cover->base[number] = fmax(cover->base[number], efficiency);
        } else if (efficiency > 0) {
            kw_config plain = kw_config_plain(config); /* one kernel of the set, whatever problems want in its text */
            status = kw_catalog_add(&cover->kernels, &plain, NULL, err);
            if (!status) {
                cover->cells[(*cells)++] = (cell){(uint32_t)number, (uint32_t)kw_catalog_find(&cover->kernels, &plain), efficiency, i};
            }
        }
    }
    cover->first[number + 1] = *cells;
    return status;
}

static kw_status fill_cells(kw_set_cover *cover, kw_op op, kw_dtype dtype, kw_error *err) {
    const kw_dataset *dataset = cover->dataset;
    cover->problem_groups = calloc(dataset->problem_group_count + 1, sizeof *cover->problem_groups);
    cover->first = calloc(dataset->problem_group_count + 2, sizeof *cover->first);
    cover->base = calloc(dataset->problem_group_count + 1, sizeof *cover->base);
    cover->cells = calloc(dataset->pair_count + 1, sizeof *cover->cells);
    if (!cover->problem_groups || !cover->first || !cover->base || !cover->cells) {
        return kw_fail_memory(err, "kernels and problem groups");
    }
    for (size_t c = 0; c < dataset->problem_group_count; c++) {
        const kw_problem *problem = &dataset->problem_groups[c].problem;
        if (problem->op == op && problem->dtype == dtype && cover->oracles[c].oracle_ns > 0) {
            cover->problem_groups[cover->problem_group_count++] = c;
        }
    }
    kw_status status = KW_OK;
    size_t cells = 0;
    for (size_t i = 0; i < cover->problem_group_count && !status; i++) {
        status = add_group_cells(cover, i, &cells, err);
    }
    if (!status && !cover->problem_group_count) {
        status = kw_fail(err, KW_FAILED, "%s %s: no problem group has a good kernel", kw_op_name(op), kw_dtype_name(dtype));
    }
    return status;
}

kw_status kw_set_cover_open(kw_set_cover **cover, const kw_dataset *dataset, const kw_group_oracle *oracles, kw_op op, kw_dtype dtype,
                            kw_error *err) {
    kw_set_cover *made = calloc(1, sizeof *made);
    *cover = made;
    if (!made) {
        return kw_fail_memory(err, "kernels and problem groups");
    }
    made->dataset = dataset;
    made->oracles = oracles;
    kw_status status = fill_cells(made, op, dtype, err);
    if (status) {
        kw_set_cover_close(cover);
    }
    return status;
}

void kw_set_cover_close(kw_set_cover **cover) {
    if (*cover) {
        kw_catalog_drop(&(*cover)->kernels);
        free((*cover)->problem_groups);
        free((*cover)->first);
        free((*cover)->base);
        free((*cover)->cells);
        free(*cover);
        *cover = NULL;
    }
}

const kw_catalog *kw_set_cover_kernels(const kw_set_cover *cover) {
    return &cover->kernels;
}

size_t kw_set_cover_problem_groups(const kw_set_cover *cover) {
    return cover->problem_group_count;
}

/* --- evaluating a set ---------------------------------------------------------------------------------------------------- */

static bool is_in_subset(const kw_set_cover *cover, const kw_set_cover_subset *part, size_t number) {
    return !part->fold || (part->fold[cover->problem_groups[number]] == part->which) != part->others;
}

/* What the chosen kernels keep in one problem group: their best, chosen by one half of the samples and timed by the other. records has room
 * for the problem group. */
static double kept_share(const kw_set_cover *cover, size_t number, const bool *chosen, kw_record *records, size_t *pairs) {
    const kw_group_oracle *oracle = &cover->oracles[cover->problem_groups[number]];
    double rough = cover->base[number], ns;
    size_t count = 0, winner;
    for (size_t i = cover->first[number]; i < cover->first[number + 1]; i++) {
        const cell *at = &cover->cells[i];
        if (chosen[at->kernel]) {
            const kw_pair *pair = &cover->dataset->pairs[at->pair];
            rough = pair->outcome == KW_SLOW ? fmax(rough, at->efficiency) : rough;
            pairs[count] = at->pair;
            records[count++] = kw_pair_record(pair);
        }
    }
    if (!kw_oracle(records, count, &winner, &ns)) {
        return rough;
    }
    bool tied = pairs[winner] == oracle->best ||
                kw_pair_tied(&cover->dataset->pairs[oracle->best], &cover->dataset->pairs[pairs[winner]], &kw_noise_credit);
    return tied ? 1 : fmax(rough, fmin(1, oracle->oracle_ns / ns));
}

/* Memory for kept_share. */
typedef struct cover_arrays {
    kw_record *records;
    size_t *pairs;
    bool *chosen; /* of each kernel */
} cover_arrays;

static void cover_arrays_drop(cover_arrays *r) {
    free(r->records);
    free(r->pairs);
    free(r->chosen);
}

static kw_status cover_arrays_make(cover_arrays *r, const kw_set_cover *cover, kw_error *err) {
    size_t most = 1;
    for (size_t i = 0; i < cover->problem_group_count; i++) {
        size_t count = cover->first[i + 1] - cover->first[i];
        most = count > most ? count : most;
    }
    *r = (cover_arrays){calloc(most, sizeof *r->records), calloc(most, sizeof *r->pairs),
                        calloc(cover->kernels.count + 1, sizeof *r->chosen)};
    if (!r->records || !r->pairs || !r->chosen) {
        cover_arrays_drop(r);
        *r = (cover_arrays){0};
        return kw_fail_memory(err, "a choice of kernels");
    }
    return KW_OK;
}

static kw_set_cover_score subset_score(const kw_set_cover *cover, const kw_set_cover_subset *part, cover_arrays *r) {
    kw_set_cover_score score = {.worst = 1};
    for (size_t i = 0; i < cover->problem_group_count; i++) {
        if (is_in_subset(cover, part, i)) {
            double kept = kept_share(cover, i, r->chosen, r->records, r->pairs);
            assert(kept >= 0);
            score.sum += kept;
            score.worst = fmin(score.worst, kept);
            score.problem_groups++;
        }
    }
    return score;
}

kw_status kw_set_cover_evaluate(kw_set_cover_score *score, const kw_set_cover *cover, const kw_set_cover_subset *part, const size_t *order,
                                size_t count, kw_error *err) {
    cover_arrays r;
    kw_status status = cover_arrays_make(&r, cover, err);
    for (size_t i = 0; i < count && !status; i++) {
        r.chosen[order[i]] = true;
    }
    if (!status) {
        *score = subset_score(cover, part, &r);
    }
    cover_arrays_drop(&r);
    return status;
}

/* --- choosing --------------------------------------------------------------------------------------------------------- */

typedef struct greedy_choice {
    const kw_set_cover *cover;
    const kw_set_cover_subset *part;
    double keep, worst;
    cover_arrays cover_arrays;
    double *best, *gain; /* of each problem group: by what is chosen; of each kernel: what it would add */
    size_t *order, count;
} greedy_choice;

static bool meets_targets(const greedy_choice *c, const kw_set_cover_score *score) {
    return score->sum >= (c->keep - 1e-12) * (double)score->problem_groups && score->worst >= c->worst - 1e-12;
}

/* The kernel that adds most to the sum over problem groups of min(efficiency, limit); the kernels' count when none adds anything. */
static size_t find_most_useful_kernel(greedy_choice *c, double limit) {
    const kw_set_cover *cover = c->cover;
    size_t kernels = cover->kernels.count, best = kernels;
    memset(c->gain, 0, kernels * sizeof *c->gain);
    for (size_t i = 0; i < cover->first[cover->problem_group_count]; i++) {
        const cell *at = &cover->cells[i];
        double had = fmin(limit, c->best[at->problem_group]), now = fmin(limit, at->efficiency);
        if (now > had && is_in_subset(cover, c->part, at->problem_group)) {
            c->gain[at->kernel] += now - had;
        }
    }
    for (size_t k = 0; k < kernels; k++) {
        best = c->gain[k] > 0 && !c->cover_arrays.chosen[k] && (best == kernels || c->gain[k] > c->gain[best]) ? k : best;
    }
    return best;
}

static void add_cover_kernel(greedy_choice *c, size_t kernel) {
    const kw_set_cover *cover = c->cover;
    c->cover_arrays.chosen[kernel] = true;
    c->order[c->count++] = kernel;
    for (size_t i = 0; i < cover->first[cover->problem_group_count]; i++) {
        const cell *at = &cover->cells[i];
        c->best[at->problem_group] = at->kernel == kernel ? fmax(c->best[at->problem_group], at->efficiency) : c->best[at->problem_group];
    }
}

/* First the mean, then the problem groups that are still below their bound. */
static void add_best_kernel(greedy_choice *c) {
    for (;;) {
        kw_set_cover_score score = subset_score(c->cover, c->part, &c->cover_arrays);
        if (meets_targets(c, &score)) {
            return;
        }
        bool mean_kept = score.sum >= (c->keep - 1e-12) * (double)score.problem_groups;
        size_t next = find_most_useful_kernel(c, mean_kept ? c->worst : 1);
        /* Where efficiencies say that nothing is missing but other samples disagree, anything that helps is taken. */
        next = next == c->cover->kernels.count && mean_kept ? find_most_useful_kernel(c, 1) : next;
        if (next == c->cover->kernels.count) {
            return;
        }
        add_cover_kernel(c, next);
    }
}

/* Later kernels may have made earlier ones needless. */
static void drop_redundant(greedy_choice *c) {
    kw_set_cover_score score = subset_score(c->cover, c->part, &c->cover_arrays);
    if (!meets_targets(c, &score)) {
        return;
    }
    for (size_t i = c->count; i-- > 0;) {
        size_t kernel = c->order[i];
        c->cover_arrays.chosen[kernel] = false;
        score = subset_score(c->cover, c->part, &c->cover_arrays);
        if (meets_targets(c, &score)) {
            memmove(&c->order[i], &c->order[i + 1], (c->count - i - 1) * sizeof *c->order);
            c->count--;
        } else {
            c->cover_arrays.chosen[kernel] = true;
        }
    }
}

kw_status kw_set_cover_select(size_t *order, size_t *count, const kw_set_cover *cover, const kw_set_cover_subset *part, double keep,
                              double worst, kw_error *err) {
    greedy_choice c = {.cover = cover, .part = part, .keep = keep, .worst = worst, .order = order};
    kw_status status = cover_arrays_make(&c.cover_arrays, cover, err);
    c.best = calloc(cover->problem_group_count + 1, sizeof *c.best);
    c.gain = calloc(cover->kernels.count + 1, sizeof *c.gain);
    if (!status && (!c.best || !c.gain)) {
        status = kw_fail_memory(err, "a choice of kernels");
    }
    if (!status) {
        memcpy(c.best, cover->base, cover->problem_group_count * sizeof *c.best);
        add_best_kernel(&c);
        drop_redundant(&c);
    }
    *count = c.count;
    free(c.best);
    free(c.gain);
    cover_arrays_drop(&c.cover_arrays);
    return status;
}
