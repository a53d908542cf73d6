/* lightgbm.h: LightGBM's C API, found with dlopen when somebody trains and not before. */
#ifndef KW_LEARN_FIT_LIGHTGBM_H
#define KW_LEARN_FIT_LIGHTGBM_H

#include "learn/fit/gbm.h"

typedef struct kw_lightgbm kw_lightgbm;             /* the library */
typedef struct kw_lightgbm_table kw_lightgbm_table; /* all rows, cut into bins once */

/* path: of lib_lightgbm.so; NULL: KW_LIGHTGBM, else the one in lightgbm/ beside the running program, where make lightgbm puts it, else wherever the
 * loader finds one. KW_ENVIRONMENT says how to get it. */
kw_status kw_lightgbm_open(kw_lightgbm **library, const char *path, kw_error *err);
/* The library itself stays loaded: its threads outlive its last call. */
void kw_lightgbm_close(kw_lightgbm **library);
const char *kw_lightgbm_path(const kw_lightgbm *library);
/* "4.7.0", or "" where no file beside the library says. */
const char *kw_lightgbm_version(const kw_lightgbm *library);

/* rows: count rows of the table's columns, needed during the call only. */
kw_status kw_lightgbm_table_make(kw_lightgbm_table **table, kw_lightgbm *library, const double *rows, size_t count,
                                 const kw_feature_table *features, kw_error *err);
void kw_lightgbm_table_free(kw_lightgbm_table **table);

/* As kw_gbm_train. */
kw_status kw_lightgbm_train(char **text, int32_t *trees, kw_lightgbm_table *table, const kw_gbm_job *job, kw_error *err);

#endif
