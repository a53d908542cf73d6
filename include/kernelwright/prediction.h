/* prediction.h: what is expected of kernels, without running anything; the models that say so.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_PREDICTION_H
#define KERNELWRIGHT_PREDICTION_H

#include "registry.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is expected of one kernel on one problem, without running anything. */
typedef struct kw_prediction {
    const char *config;
    double expected_ns;     /* by the model, INFINITY where it has none; by the analytic estimate where no model serves */
    double estimate_ns;     /* by the analytic estimate */
    int64_t workspace;      /* bytes */
    const char *model;      /* its name; NULL: the estimate stands alone */
    int32_t model_distance; /* of its training: 0 this very target, 1 its architecture, 2 vectors as wide, 3 its kind of device */
    const char *notes;      /* lines: models that were passed over, and why; "" for none */
} kw_prediction;

/* A model that dispatch knows of, whether it would be asked or not. */
typedef struct kw_model_info {
    const char *name, *folder;        /* folder: "" when it is compiled in */
    const char *const *targets;       /* whose rows it was trained on, ended by NULL */
    int32_t distance;                 /* from the nearest of them, as in kw_prediction; -1: none is this kind of device */
    int64_t rows, problems;           /* of its training */
    int64_t file_bytes, memory_bytes; /* of its forest: on disk, and once it is read */
    int64_t written;                  /* when the folder's text was written, seconds since 1970; 0: compiled in */
    bool serves[KW_OP_COUNT][KW_DTYPE_COUNT];
    bool asked[KW_OP_COUNT][KW_DTYPE_COUNT]; /* of what it serves: what dispatch asks it, and no nearer one, on this target */
    const char *fault;                       /* why it is not used at all; "": it can be */
} kw_model_info;

/* Calls visit with each model in the order in which they are preferred among equally near ones; reads the forests of all. What visit is
 * given lives during the call only, in which the context must not be asked anything. */
KW_API kw_status kw_models_visit(kw_context *context, void (*visit)(void *user, const kw_model_info *model), void *user, kw_error *err);

/* Calls visit with each kernel of the registry (NULL: the context's default one) that serves the problem, compiled-in ones left out, in the
 * order in which KW_PREDICT would take them. The prediction lives during the call only; visit returns false to stop. */
KW_API kw_status kw_predictions_visit(kw_context *context, const kw_problem *problem, const kw_registry *registry,
                                      bool (*visit)(void *user, const kw_prediction *prediction), void *user, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
