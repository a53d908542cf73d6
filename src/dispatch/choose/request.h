/* request.h: what is asked for, and the answer: what every part of choosing shares. */
#ifndef KW_DISPATCH_CHOOSE_REQUEST_H
#define KW_DISPATCH_CHOOSE_REQUEST_H

#include "dispatch/context.h"
#include "dispatch/explanation.h"

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

/* The answer. A zeroed one is empty. loaded or in_doubt, one of them at most, is to be put back into the context's kernel cache. */
typedef struct kw_choice {
    kw_loaded_kernel *loaded;        /* NULL while there is no answer */
    kw_loaded_kernel *in_doubt;      /* wisdom's answer, which is to be verified before it is used; NULL: it has none */
    kw_launch launch;                /* of either, on the request's problem */
    kw_wisdom_value value;           /* the wisdom that either came from */
    int layer;                       /* and its place */
    uint64_t wisdom_generation;      /* of the wisdom that was asked; 0: it was not */
    kw_explanation_list explanation; /* where the answer came from */
    kw_record *records;              /* what was measured, best first */
    size_t record_count;
    size_t wanting; /* candidates that could not be tried for a passing want of the environment: no wisdom comes of such a race */
    bool stale;     /* wisdom had an entry that today's rules refuse, or whose kernel is wrong now; a new one may replace it */
} kw_choice;

void kw_choice_drop(kw_choice *choice, kw_context *context);

/* Bytes of workspace that a launch takes. */
int64_t kw_request_workspace(const kw_request *request, const kw_launch *launch);
/* Generated kernels of the registry that fit the problem, at most so many. */
size_t kw_request_fitting(const kw_request *request, size_t most);

#endif
