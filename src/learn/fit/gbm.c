/* gbm.c: which of the two libraries it is. */
#include "learn/fit/gbm.h"

#include "learn/fit/lightgbm.h"
#include "learn/fit/xgboost.h"

#include <dlfcn.h>
#include <stdlib.h>

struct kw_gbm {
    kw_lightgbm *lightgbm; /* one of them */
    kw_xgboost *xgboost;
};

struct kw_gbm_table {
    kw_lightgbm_table *lightgbm;
    kw_xgboost_table *xgboost;
};

/* Whether the file is XGBoost's library. What was loaded to find out is loaded again for use. */
static bool is_xgboost(const char *path) {
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    bool is = loaded && dlsym(loaded, "XGBoosterCreate");
    if (loaded && !is) {
        dlclose(loaded);
    }
    return is;
}

kw_status kw_gbm_open(kw_gbm **gbm, const char *path, kw_error *err) {
    kw_gbm *made = calloc(1, sizeof *made);
    kw_error why = {0};
    *gbm = NULL;
    if (!made) {
        return kw_fail_memory(err, "a library that grows trees");
    }
    kw_status status;
    if (path && is_xgboost(path)) {
        status = kw_xgboost_open(&made->xgboost, path, err);
    } else {
        status = kw_lightgbm_open(&made->lightgbm, path, &why);
        if (status == KW_ENVIRONMENT && !path && !kw_xgboost_open(&made->xgboost, NULL, NULL)) {
            status = KW_OK;
        } else if (status) {
            kw_fail(err, status, "%s", why.text);
        }
    }
    if (status) {
        kw_gbm_close(&made);
    }
    *gbm = made;
    return status;
}

void kw_gbm_close(kw_gbm **gbm) {
    if (*gbm) {
        kw_lightgbm_close(&(*gbm)->lightgbm);
        kw_xgboost_close(&(*gbm)->xgboost);
    }
    free(*gbm);
    *gbm = NULL;
}

kw_gbm_kind kw_gbm_kind_of(const kw_gbm *gbm) {
    return gbm->xgboost ? KW_GBM_XGBOOST : KW_GBM_LIGHTGBM;
}

const char *kw_gbm_name(const kw_gbm *gbm) {
    return gbm->xgboost ? "XGBoost" : "LightGBM";
}

const char *kw_gbm_version(const kw_gbm *gbm) {
    return gbm->xgboost ? kw_xgboost_version(gbm->xgboost) : kw_lightgbm_version(gbm->lightgbm);
}

kw_status kw_gbm_table_make(kw_gbm_table **table, kw_gbm *gbm, const double *rows, size_t count, const kw_feature_table *features,
                            kw_error *err) {
    kw_gbm_table *made = calloc(1, sizeof *made);
    *table = NULL;
    if (!made) {
        return kw_fail_memory(err, "the table of rows");
    }
    kw_status status = gbm->xgboost ? kw_xgboost_table_make(&made->xgboost, gbm->xgboost, rows, count, features, err)
                                    : kw_lightgbm_table_make(&made->lightgbm, gbm->lightgbm, rows, count, features, err);
    if (status) {
        kw_gbm_table_free(&made);
    }
    *table = made;
    return status;
}

void kw_gbm_table_free(kw_gbm_table **table) {
    if (*table) {
        kw_lightgbm_table_free(&(*table)->lightgbm);
        kw_xgboost_table_free(&(*table)->xgboost);
    }
    free(*table);
    *table = NULL;
}

kw_status kw_gbm_train(char **text, int32_t *trees, kw_gbm_table *table, const kw_gbm_job *job, kw_error *err) {
    return table->xgboost ? kw_xgboost_train(text, trees, table->xgboost, job, err)
                          : kw_lightgbm_train(text, trees, table->lightgbm, job, err);
}
