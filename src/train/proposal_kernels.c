/* proposal_kernels.c: which kernels of a problem are measured: those that the model says are fastest, those that the estimate says, and
 * some of the others, so that what both overlook is found out as well. */
#include "train/proposal.h"

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
    uint64_t *order; /* drawn */
    bool *wanted;
    size_t count;
    kw_ranking *ranking; /* NULL: there is no model, or it does not serve them */
} table;

typedef struct pairing {
    kw_proposal *p;
    kw_model *model;
    table tables[KW_OP_COUNT][KW_DTYPE_COUNT];
    bool open[KW_OP_COUNT][KW_DTYPE_COUNT];
} pairing;

static void close_table(table *t) {
    kw_ranking_close(&t->ranking);
    free(t->configs);
    free(t->launches);
    free(t->fitting);
    free(t->estimates);
    free(t->predicted);
    free(t->order);
    free(t->wanted);
}

static kw_status open_table(pairing *g, kw_op op, kw_dtype dtype, kw_error *err) {
    table *t = &g->tables[op][dtype];
    const kw_catalog *all = &g->p->configs;
    size_t room = all->count + 1;
    g->open[op][dtype] = true;
    *t = (table){.configs = calloc(room, sizeof *t->configs),
                 .launches = calloc(room, sizeof *t->launches),
                 .fitting = calloc(room, sizeof *t->fitting),
                 .estimates = calloc(room, sizeof *t->estimates),
                 .predicted = calloc(room, sizeof *t->predicted),
                 .order = calloc(room, sizeof *t->order),
                 .wanted = calloc(room, sizeof *t->wanted)};
    if (!t->configs || !t->launches || !t->fitting || !t->estimates || !t->predicted || !t->order || !t->wanted) {
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

static void look(const pairing *g, table *t, const kw_problem *problem, const char *text) {
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
        config->family->launch(config, problem, target, &t->launches[i]);
        t->fitting[i] = &t->launches[i];
        t->estimates[i] = kw_predict_ns(config, problem, target, &t->launches[i]);
        kw_config_print(words, sizeof words, config);
        kw_line_addf(&out, "%s %s", text, words);
        t->order[i] = kw_proposal_draw(g->p, "kernel", line);
    }
    if (t->ranking) {
        kw_ranking_score(t->ranking, problem, target, t->fitting, t->estimates, t->predicted);
    }
}

/* Marks the count kernels with the least value; those that are marked already count where again says so. */
static void mark_least(table *t, const double *values, int32_t count, bool again) {
    bool *passed = t->wanted; /* one pass a mark: there are few */
    for (int32_t n = 0; n < count; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < t->count; i++) {
            if (t->fitting[i] && !passed[i] && (best == SIZE_MAX || values[i] < values[best])) {
                best = i;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        t->wanted[best] = true;
    }
    (void)again;
}

static void mark_drawn(table *t, int32_t count) {
    for (int32_t n = 0; n < count; n++) {
        size_t best = SIZE_MAX;
        for (size_t i = 0; i < t->count; i++) {
            if (t->fitting[i] && !t->wanted[i] && (best == SIZE_MAX || t->order[i] < t->order[best])) {
                best = i;
            }
        }
        if (best == SIZE_MAX) {
            return;
        }
        t->wanted[best] = true;
    }
}
