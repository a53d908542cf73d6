/* choose.h: from a request to one kernel. Known answers come from wisdom; new ones from a
 * model, the analytic estimate or a race (race.h). */
#ifndef KW_DISPATCH_CHOOSE_CHOOSE_H
#define KW_DISPATCH_CHOOSE_CHOOSE_H

#include "dispatch/context.h"

/* What is asked for, with every default filled in. */
typedef struct kw_request {
    kw_context *context;
    const kw_registry *registry;
    kw_problem problem;
    char text[KW_PROBLEM_TEXT_MAX];     /* the problem's, canonical */
    char wisdom_key[KW_WISDOM_KEY_MAX]; /* what wisdom is asked: the problem and what of its weights */
    kw_mode mode;
    int64_t workspace_max; /* bytes; INT64_MAX: no limit */
    int32_t shortlist;
    bool frozen_is_error, remeasure, fresh_weights;
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_request;

/* The answer. A zeroed one is empty. */
typedef struct kw_choice {
    kw_loaded_kernel *loaded; /* to be put back on the context's shelf; NULL while there is no answer */
    kw_text explanation;      /* where it came from: lines for kw_plan_explain */
    kw_record *records;       /* what was measured, best first */
    size_t record_count;
    bool stale;    /* wisdom had an entry that today's rules refuse, or whose kernel is wrong now; a new one may replace it */
    bool in_doubt; /* wisdom has an answer that is to be verified first */
} kw_choice;

/* A winner of old is verified on the problem before it is used again; it is not timed. *good: it may be used, and *renewed says whether
 * wisdom may say so too (false when there was no way to verify it). The explanation tells. The caller holds the measuring lock. */
void kw_reverify(kw_choice *choice, const kw_request *request, bool *good, bool *renewed);

/* Answers that need no measuring lock: wisdom's and, where nothing may be measured, the model's or estimate's or the generic kernel. KW_OK
 * without choice->loaded: a race is needed or, with choice->in_doubt, a verification. */
kw_status kw_choose_known(kw_choice *choice, const kw_request *request, kw_error *err);
/* The verification or the race; the caller holds the context's measuring lock and has asked kw_choose_known under it. */
kw_status kw_choose_measured(kw_choice *choice, const kw_request *request, kw_error *err);
void kw_choice_drop(kw_choice *choice, kw_context *context);

/* Bytes of workspace that the config needs on the problem, which it fits. */
int64_t kw_request_workspace(const kw_request *request, const kw_config *config);
/* Generated kernels of the registry that fit the problem, at most so many. */
size_t kw_request_fitting(const kw_request *request, size_t most);
/* One line a family: why none of its kernels in the registry serves the problem. */
void kw_explain_rejections(kw_text *text, const kw_registry *registry, const kw_problem *problem);
/* "8.41 ms" */
void kw_time_print(char text[32], double ns);

#endif
