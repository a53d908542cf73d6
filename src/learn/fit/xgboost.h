/* xgboost.h: XGBoost's C API (libxgboost0 of Debian, 1.7, and later ones), for where there is no LightGBM. It sees features as floats,
 * codes as numbers, and grows trees in one thread so that they come out the same. */
#ifndef KW_LEARN_FIT_XGBOOST_H
#define KW_LEARN_FIT_XGBOOST_H

#include "learn/fit/gbm.h"

typedef struct kw_xgboost kw_xgboost;             /* the library */
typedef struct kw_xgboost_table kw_xgboost_table; /* all rows, as floats */

/* path: of libxgboost.so; NULL: KW_XGBOOST, else wherever the loader finds one. */
kw_status kw_xgboost_open(kw_xgboost **library, const char *path, kw_error *err);
/* The library itself stays loaded. */
void kw_xgboost_close(kw_xgboost **library);
const char *kw_xgboost_version(const kw_xgboost *library);

kw_status kw_xgboost_table_make(kw_xgboost_table **table, kw_xgboost *library, const double *rows, size_t count,
                                const kw_feature_table *features, kw_error *err);
void kw_xgboost_table_free(kw_xgboost_table **table);
/* As kw_gbm_train. */
kw_status kw_xgboost_train(char **text, int32_t *trees, kw_xgboost_table *table, const kw_gbm_job *job, kw_error *err);

#endif
