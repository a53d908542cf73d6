/* proposal_kernels.c: which kernels of a problem are measured: those that the model says are fastest, those that the estimate says, and
 * some of the others, so that what both overlook is found out as well. */
#include "active/proposal.h"

#include "predict/model.h"
#include "predict/predict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kernels of one operation and type, and what is said of them for the problem under way. */
typedef struct table {
    const kw_config **configs;
    kw_launch *launches;
    const kw_launch **fitting; /* NULL: does not fit */
    double *estimates, *predicted;
    double *order; /* drawn */
    bool *open, *wanted;
    size_t count;
    kw_ranking *ranking; /* NULL: there is no model, or it does not serve them */
} table;

typedef struct kernel_selection {
    kw_proposal *p;
    kw_model *model;
    table tables[KW_OP_COUNT][KW_DTYPE_COUNT];
    bool opened[KW_OP_COUNT][KW_DTYPE_COUNT];
} kernel_selection;

static void close_table(table *t) {
    kw_ranking_close(&t->ranking);
    free(t->configs);
    free(t->launches);
    free(t->fitting);
    free(t->estimates);
    free(t->predicted);
    free(t->order);
    free(t->open);
    free(t->wanted);
}

static kw_status open_kernel_table(kernel_selection *g, kw_op op, kw_dtype dtype, kw_error *err) {
    table *t = &g->tables[op][dtype];
    const kw_catalog *all = &g->p->configs;
    size_t capacity = all->count + 1;
    g->opened[op][dtype] = true;
    *t = (table){.configs = calloc(capacity, sizeof *t->configs),
                 .launches = calloc(capacity, sizeof *t->launches),
                 .fitting = calloc(capacity, sizeof *t->fitting),
                 .estimates = calloc(capacity, sizeof *t->estimates),
                 .predicted = calloc(capacity, sizeof *t->predicted),
                 .order = calloc(capacity, sizeof *t->order),
                 .open = calloc(capacity, sizeof *t->open),
                 .wanted = calloc(capacity, sizeof *t->wanted)};
    if (!t->configs || !t->launches || !t->fitting || !t->estimates || !t->predicted || !t->order || !t->open || !t->wanted) {
        return kw_fail_memory(err, "the kernels to choose from");
    }
    for (size_t i = 0; i < all->count; i++) {
        if (all->configs[i].op == op && all->configs[i].dtype == dtype) {
            t->configs[t->count++] = &all->configs[i];
        }
    }
    bool serves = g->model && t->count && kw_model_serves(g->model, op, dtype) && kw_model_distance(g->model, &g->p->target) >= 0;
    return serves ? kw_ranking_open(&t->ranking, g->model, t->configs, t->count, err) : KW_OK;
}

static void load_kernel_table(const kernel_selection *g, table *t, const kw_problem *problem, const char *text) {
    const kw_target *target = &g->p->target;
    for (size_t i = 0; i < t->count; i++) {
        const kw_config *config = t->configs[i];
        char line[KW_PROBLEM_TEXT_MAX + KW_CONFIG_TEXT_MAX + 8], words[KW_CONFIG_TEXT_MAX];
        kw_line out = {.data = line, .capacity = sizeof line};
        t->wanted[i] = false;
        t->fitting[i] = NULL;
        t->estimates[i] = t->predicted[i] = INFINITY;
        if (kw_config_fits(config, problem, target, NULL)) {
            continue;
        }
        kw_config_launch(config, problem, target, &t->launches[i]);
        t->fitting[i] = &t->launches[i];
        t->estimates[i] = kw_predict_ns(config, problem, target, &t->launches[i]);
        kw_config_print(words, sizeof words, config);
        kw_line_addf(&out, "%s %s", text, words);
        t->order[i] = (double)(kw_proposal_seed(g->p, "kernel", line) >> 11);
    }
    if (t->ranking) {
        kw_ranking_score(t->ranking, problem, target, t->fitting, t->estimates, t->predicted);
    }
}

/* Marks the count kernels of least value, the first of equals; others: among those that are not marked yet. */
static void mark_best_kernels(table *t, const double *values, int32_t count, bool others) {
    for (size_t i = 0; i < t->count; i++) {
        t->open[i] = t->fitting[i] && !(others && t->wanted[i]);
    }
    for (size_t i = 0; i < t->count; i++) {
        int32_t before = 0;
        for (size_t j = 0; j < t->count && t->open[i]; j++) {
            bool first = values[j] < values[i] || (j < i && values[j] <= values[i]);
            before += first && t->open[j];
        }
        t->wanted[i] = t->wanted[i] || (t->open[i] && before < count);
    }
}

/* Marks the kernels of one problem in its table. */
static kw_status choose_kernels(kernel_selection *g, const kw_problem *problem, table **chosen, kw_error *err) {
    const kw_proposal_options *o = &g->p->options;
    table *t = &g->tables[problem->op][problem->dtype];
    char text[KW_PROBLEM_TEXT_MAX];
    kw_status status = g->opened[problem->op][problem->dtype] ? KW_OK : open_kernel_table(g, problem->op, problem->dtype, err);
    *chosen = t;
    if (status) {
        return status;
    }
    kw_problem_print(text, sizeof text, problem);
    load_kernel_table(g, t, problem, text);
    if (t->ranking) {
        mark_best_kernels(t, t->predicted, o->best, false);
    }
    mark_best_kernels(t, t->estimates, o->best, false);
    mark_best_kernels(t, t->order, o->explore, true);
    return KW_OK;
}

/* --- the manifest ----------------------------------------------------------------------------------------------------- */

/* The kernels of problem number i of the manifest; runs ascend by the kernel's place in it. */
static kw_status add_manifest_runs(kw_proposal *p, uint32_t i, const table *t, kw_error *err) {
    kw_manifest *m = &p->manifest;
    kw_status status = KW_OK;
    for (uint32_t k = 0, next = 0; k < m->configs.count && !status; k++) {
        /* Both lists are in the catalog's order. */
        while (next < t->count && kw_catalog_find(&m->configs, t->configs[next]) < k) {
            next++;
        }
        if (next < t->count && t->wanted[next] && kw_catalog_find(&m->configs, t->configs[next]) == k) {
            status = kw_manifest_add_run(m, (kw_manifest_run){i, k, k}, err);
            p->facts.pairs += !status;
        }
    }
    return status;
}

static kw_status make_proposal_manifest(kw_proposal *p, kw_error *err) {
    const kw_proposal_options *o = &p->options;
    kw_status status = kw_manifest_create(&p->manifest, o->configs, o->config_count, p->chosen.problems, p->chosen.count, err);
    p->manifest.cold = o->cold;
    p->manifest.fresh_weights = o->fresh_weights;
    return status;
}

kw_status kw_proposal_select_kernels(kw_proposal *p, kw_error *err) {
    kernel_selection *g = calloc(1, sizeof *g);
    if (!g) {
        return kw_fail_memory(err, "the kernels to choose from");
    }
    g->p = p;
    kw_status status = kw_scorer_is_model(p->options.by) ? kw_model_open(&g->model, p->options.by, err) : KW_OK;
    status = status || !p->chosen.count ? status : make_proposal_manifest(p, err);
    for (uint32_t i = 0; i < p->chosen.count && !status; i++) {
        table *t = NULL;
        status = choose_kernels(g, &p->chosen.problems[i], &t, err);
        status = status ? status : add_manifest_runs(p, i, t, err);
    }
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            close_table(&g->tables[op][dtype]);
        }
    }
    kw_model_close(&g->model);
    free(g);
    return status;
}
