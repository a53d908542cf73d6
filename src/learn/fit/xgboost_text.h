/* xgboost_text.h: XGBoost's models (JSON, gbtree, one output, splits by threshold) as LightGBM's text.
 *
 * XGBoost rounds a feature to a float and goes left when that is below the split's float; LightGBM goes left when the double is at most a
 * double. For each float there is a double that says the same of every double (kw_xgboost_threshold), so rows take the same leaves, but for
 * values within 1e-35 of 0, which are 0 to LightGBM's format. XGBoost adds up leaves as floats, this format as doubles: sums differ by the
 * rounding of floats. */
#ifndef KW_LEARN_FIT_XGBOOST_TEXT_H
#define KW_LEARN_FIT_XGBOOST_TEXT_H

#include "base/text.h"
#include "predict/features.h"

/* The greatest double that rounds to a float below split. */
double kw_xgboost_threshold(float split);

typedef struct kw_xgboost_model {
    const char *json;
    size_t size;
    int32_t trees;                    /* of it, from the first */
    const kw_feature_table *features; /* what its splits number */
    double base;                      /* its base_score: a tree of one leaf; 0: none */
    const char *before;               /* a model's text whose trees come first; NULL: none */
} kw_xgboost_model;

/* Appends the text. *splits (may be NULL): how many its trees have. */
kw_status kw_xgboost_text(kw_text *out, const kw_xgboost_model *model, int64_t *splits, kw_error *err);

#endif
