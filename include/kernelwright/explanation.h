/* explanation.h: what a plan says of how its kernel was chosen.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_EXPLANATION_H
#define KERNELWRIGHT_EXPLANATION_H

#include "plan.h"
#include "record.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The chosen config's text. */
KW_API const char *kw_plan_config(const kw_plan *plan);
/* What was measured to make this choice, best first, failures last; none (NULL, *count 0) when the answer came from elsewhere. */
KW_API const kw_record *kw_plan_records(const kw_plan *plan, size_t *count);
/* Several lines: the chosen config, where the choice came from, what it beat and by how much, which families were refused and why. */
KW_API const char *kw_plan_explain(const kw_plan *plan);

/* What a line of an explanation is about. */
typedef enum kw_explanation_kind {
    KW_EXPLAIN_WISDOM = 0, /* wisdom: its answer, or why it was not used, verified again, or written */
    KW_EXPLAIN_MEASURED,   /* the winner of what was measured now */
    KW_EXPLAIN_PREDICTED,  /* the winner by a model or by the analytic estimate */
    KW_EXPLAIN_REFERENCE,  /* the reference kernel answers, and why */
    KW_EXPLAIN_NEXT,       /* the runner-up, and by how much it lost */
    KW_EXPLAIN_FAILED,     /* kernels that failed, or were left out */
    KW_EXPLAIN_UNSAVED,    /* why the winner of what was measured now does not stand in the wisdom file */
    KW_EXPLAIN_MODEL,      /* who made the shortlist, which models were passed over and why */
    KW_EXPLAIN_REJECTED,   /* a family that has kernels for the operation, none of which serves the problem, and why */
    KW_EXPLAIN_THREADS,    /* on how many threads it runs: because that was the best measured, or the work is too small for all */
    KW_EXPLAIN_NOISE,      /* that the machine was busy while kernels were measured, and what becomes of it */
    KW_EXPLAIN_PASSES,     /* what of the problem is not done in the kernel's own stages, but by reading a tensor once more */
    KW_EXPLAIN_JOINED, /* of what kw_plans_join was last asked: with how many others it is one launch, and by which kernel; or why it is not */
    KW_EXPLAIN_TAILORED /* the kernel was made to the problem's measure: no set lists it */
} kw_explanation_kind;

typedef struct kw_explanation {
    kw_explanation_kind kind;
    const char *family; /* of KW_EXPLAIN_REJECTED; else NULL */
    const char *text;   /* of KW_EXPLAIN_REJECTED the reason alone */
} kw_explanation;

/* The same line by line, in the same order, without the config; texts live as long as the plan. visit returns false to stop. */
KW_API void kw_explanation_visit(const kw_plan *plan, bool (*visit)(void *user, const kw_explanation *explanation), void *user);

#ifdef __cplusplus
}
#endif
#endif
