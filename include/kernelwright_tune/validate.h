/* validate.h: selections and the fastest kernels of an evaluation, measured again.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_VALIDATE_H
#define KERNELWRIGHT_TUNE_VALIDATE_H

#include "evaluate.h"
#include "sweep.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A zeroed member asks for its default. */
typedef struct kw_validate_options {
    size_t size;     /* sizeof(kw_validate_options) */
    size_t limit;    /* at most so many problem groups, drawn from the seed; 0: 50 */
    const char *out; /* a store for the new rows, which must not be there yet; NULL: none is kept */
    uint64_t seed;
    int32_t batches;     /* as in a sweep */
    const char *command; /* as in a sweep */
    kw_sweep_workers workers;
    kw_sweep_build_options build;
    const kw_stop *stop; /* as in a sweep */
    void (*progress)(void *user, const kw_sweep_progress *progress);
    void (*log)(void *user, const char *line);
    void *user;
} kw_validate_options;

typedef struct kw_validate_report {
    int64_t problem_groups, failed; /* failed: without a new time of both kernels */
    kw_metric old_efficiency;       /* mean efficiency by the old rows, of the problem groups that were measured anew */
    kw_metric new_efficiency;       /* by the new ones: time of the best kernel over that of the selection, at most 1; a tie counts as 1 */
    double new_p10;
    double drift;      /* median of the best kernels' new times over their old ones */
    double worst_loss; /* by how much new_efficiency falls short of old_efficiency at worst, in efficiency */
    char worst[KW_PROBLEM_TEXT_MAX];
} kw_validate_report;

/* Measures the selection and the best kernel of problem groups of an evaluation again, both of a problem interleaved, and says whether
 * what the old rows claim still holds. Problem groups timed hot with packed weights on this machine's target alone are drawn from;
 * KW_FAILED when there is none. */
KW_API kw_status kw_validate(const kw_evaluation *evaluation, const kw_validate_options *options, kw_validate_report *report,
                             kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
