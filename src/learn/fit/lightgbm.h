/* lightgbm.h: LightGBM, the library that grows trees, found with dlopen when somebody trains and not before. Parameters go in as text, a
 * model's text comes out, which is read back by our own reader (predict/forest), so nothing of LightGBM is needed to predict. */
#ifndef KW_LEARN_FIT_LIGHTGBM_H
#define KW_LEARN_FIT_LIGHTGBM_H

#include "predict/features/features.h"

typedef struct kw_lightgbm kw_lightgbm;             /* the library */
typedef struct kw_lightgbm_table kw_lightgbm_table; /* all rows, cut into bins once */

/* path: of lib_lightgbm.so; NULL: KW_LIGHTGBM, else the one in lightgbm/ beside the running program, where make lightgbm puts it, else
 * wherever the loader finds one. KW_ENVIRONMENT says how to get it. */
kw_status kw_lightgbm_open(kw_lightgbm **library, const char *path, kw_error *err);
/* The library itself stays loaded: its threads outlive its last call. */
void kw_lightgbm_close(kw_lightgbm **library);
const char *kw_lightgbm_path(const kw_lightgbm *library);
/* "4.7.0", or "" where no file beside the library says. */
const char *kw_lightgbm_version(const kw_lightgbm *library);

/* rows: count rows of the table's columns, needed during the call only; features and library outlive the table. */
kw_status kw_lightgbm_table_make(kw_lightgbm_table **table, kw_lightgbm *library, const double *rows, size_t count,
                                 const kw_feature_table *features, kw_error *err);
void kw_lightgbm_table_free(kw_lightgbm_table **table);

/* Rows of the table by their numbers, ascending; what else is given stands beside row[i] at i. */
typedef struct kw_lightgbm_subset {
    const int32_t *row;
    const float *label, *weight; /* weight may be NULL */
    const double *start;         /* raw score to start from; NULL: the average */
    size_t count;
    const int32_t *group; /* for ranking: sizes of the groups, one after the other */
    size_t group_count;
} kw_lightgbm_subset;

typedef struct kw_lightgbm_job {
    const char *parameters;                  /* "key=value ..." */
    const kw_lightgbm_subset *train, *valid; /* valid: training stops when it gets no better there; NULL: trees are all made */
    int32_t trees, patience;                 /* at most so many; without progress for so many it ends */
    bool more_is_better;                     /* of the metric that parameters name */
    const char *before;                      /* a model's text whose trees come first; train->start must be its scores. NULL: none */
    const kw_stop *stop;                     /* KW_FAILED at the next tree; may be NULL */
} kw_lightgbm_job;

/* *text: the model, freed by the caller with free; *trees: how many new ones it has, up to the best on the validation rows. */
kw_status kw_lightgbm_train(char **text, int32_t *trees, kw_lightgbm_table *table, const kw_lightgbm_job *job, kw_error *err);

#endif
