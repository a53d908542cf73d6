/* gbm.h: a library that grows trees: LightGBM, or XGBoost where that is all there is. Either is found with dlopen when somebody trains and
 * not before; what comes of it is a model's text as LightGBM writes it, which is read back by our own reader (predict/forest.h), so nothing of
 * either is needed to predict. Everything is a value or text: parameters in, a model's text out. */
#ifndef KW_LEARN_FIT_GBM_H
#define KW_LEARN_FIT_GBM_H

#include "predict/features.h"

typedef enum kw_gbm_kind { KW_GBM_LIGHTGBM = 0, KW_GBM_XGBOOST } kw_gbm_kind;

typedef struct kw_gbm kw_gbm;             /* the library */
typedef struct kw_gbm_table kw_gbm_table; /* all rows */

/* path: of either library; NULL: LightGBM as kw_lightgbm_open finds it, else XGBoost as kw_xgboost_open does. KW_ENVIRONMENT says how to
 * get one. */
kw_status kw_gbm_open(kw_gbm **gbm, const char *path, kw_error *err);
/* The library itself stays loaded: its threads outlive its last call. */
void kw_gbm_close(kw_gbm **gbm);
kw_gbm_kind kw_gbm_kind_of(const kw_gbm *gbm);
/* "LightGBM" or "XGBoost". */
const char *kw_gbm_name(const kw_gbm *gbm);
/* "4.7.0", or "" where nothing says. */
const char *kw_gbm_version(const kw_gbm *gbm);

/* rows: count rows of the table's columns, needed during the call only; features and gbm outlive the table. */
kw_status kw_gbm_table_make(kw_gbm_table **table, kw_gbm *gbm, const double *rows, size_t count, const kw_feature_table *features,
                            kw_error *err);
void kw_gbm_table_free(kw_gbm_table **table);

/* Rows of the table by their numbers, ascending; what else is given stands beside row[i] at i. */
typedef struct kw_gbm_subset {
    const int32_t *row;
    const float *label, *weight; /* weight may be NULL */
    const double *start;         /* raw score to start from; NULL: the average */
    size_t count;
    const int32_t *group; /* for ranking: sizes of the groups, one after the other */
    size_t group_count;
} kw_gbm_subset;

typedef struct kw_gbm_job {
    const char *parameters;             /* "key=value ...", of the library */
    const kw_gbm_subset *train, *valid; /* judge: training stops when it gets no better there; NULL: trees are all made */
    int32_t trees, patience;            /* at most so many; without progress for so many it ends */
    bool more_is_better;                /* of the metric that parameters name */
    const char *before;                 /* a model's text whose trees come first; train->start must be its scores. NULL: none */
    const kw_stop *stop;                /* KW_FAILED at the next tree; may be NULL */
} kw_gbm_job;

/* *text: the model, freed by the caller with free; *trees: how many new ones it has, up to the best by the judge. */
kw_status kw_gbm_train(char **text, int32_t *trees, kw_gbm_table *table, const kw_gbm_job *job, kw_error *err);

#endif
