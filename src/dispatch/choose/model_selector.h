/* model_selector.h: which model answers for a problem, and what it says. Models come from the user's folder (data/models/NAME), then from
 * those compiled in (models/ of the source); KW_MODEL or the context's option names one folder instead, "" none at all. Of those that
 * serve the operation and type the one trained nearest to this target answers; of equally near ones the first by place, then by name.
 *
 * Everything is read on first need. What a registry's kernels are in a model's eyes is worked out once for each registry, operation and
 * type. A model that fails is passed over, and every later answer says why. Many threads may use one selector: a lock is held while it
 * answers. */
#ifndef KW_DISPATCH_CHOOSE_MODEL_SELECTOR_H
#define KW_DISPATCH_CHOOSE_MODEL_SELECTOR_H

#include "base/os/settings.h"
#include "predict/model.h"

typedef struct kw_model_selector kw_model_selector;

/* settings and target outlive it. Of the target only what its text says counts; its rates come with each query. */
kw_status kw_model_selector_open(kw_model_selector **selector, const kw_settings *settings, const kw_target *target, kw_error *err);
void kw_model_selector_close(kw_model_selector **selector);

/* Tailored kernels that a query may have at most. */
enum { KW_SELECTOR_TAILORED = 20 };
/* Kernels that have the problem's operation and type: those of one registry, always the same ones in the same order for the same serial,
 * and behind them tailored ones, which are not asked about again. As for kw_ranking_score: launches[i] is NULL where a kernel does not
 * fit. launches, estimates and what is answered have places for all KW_SELECTOR_TAILORED; in those behind the last launches[i] is NULL. */
typedef struct kw_selector_query {
    uint64_t registry; /* its serial */
    const kw_problem *problem;
    const kw_target *target; /* the selector's, with the rates that are known by now */
    const kw_config *const *configs;
    const kw_launch *const *launches;
    const kw_estimate *estimates;
    size_t listed, count; /* of the registry; with the tailored ones */
} kw_selector_query;

typedef struct kw_selector_prediction {
    char model[64]; /* its name; "" when none answers */
    int distance;   /* kw_model_distance */
    bool published; /* its features are published ones: the architecture is all that it knows of a target */
    kw_text notes;  /* lines for kw_plan_explain: what was passed over and why */
} kw_selector_prediction;

/* ns[i] of each kernel, INFINITY for those that do not fit; at least one is finite. false: no model answers, and prediction->notes says
 * why. The caller drops the notes. */
bool kw_model_selector_predict(kw_model_selector *selector, const kw_selector_query *query, double ns[],
                               kw_selector_prediction *prediction);
/* Each model, faulty ones included; forests are read. visit must not ask the selector. */
void kw_model_selector_visit(kw_model_selector *selector, void (*visit)(void *user, const kw_model_info *model), void *user);
/* The registry is gone or another one now. */
void kw_model_selector_invalidate(kw_model_selector *selector, uint64_t registry);

#endif
