/* hyperparameters.c: hyperparameters as LightGBM's parameters. */
#include "learn/fit/trainer.h"

#include <string.h>

/* A time can only grow with the estimate of it; the other quantities have it in their label or know no direction. */
static void add_constraints(kw_text *text, const kw_feature_table *features) {
    for (size_t i = 0; i < features->count; i++) {
        kw_text_addf(text, "%s%d", i ? "," : "", !strcmp(features->features[i].name, "log2_estimate"));
    }
}

char *kw_hyperparameters_text(const kw_hyperparameters *hyperparameters, const kw_feature_table *features) {
    kw_text text = {0};
    if (hyperparameters->quantity == KW_PREDICTS_RANK) {
        kw_text_add(&text, "objective=lambdarank metric=ndcg eval_at=1 lambdarank_truncation_level=12 label_gain=0");
        for (int level = 1; level < KW_RANK_LEVELS; level++) {
            kw_text_addf(&text, ",%d", level);
        }
    } else {
        kw_text_add(&text, "objective=regression metric=l2");
    }
    kw_text_addf(&text,
                 " num_leaves=%d learning_rate=%.6g min_data_in_leaf=8 feature_fraction=0.8 bagging_fraction=0.8 bagging_freq=1"
                 " lambda_l2=1 cat_l2=2 cat_smooth=4 min_data_per_group=8 max_cat_to_onehot=8 feature_pre_filter=false deterministic=true"
                 " force_row_wise=true num_threads=%d seed=%llu verbosity=-1",
                 (int)hyperparameters->leaves, hyperparameters->learning_rate, (int)hyperparameters->threads,
                 (unsigned long long)(hyperparameters->seed % INT32_MAX));
    if (hyperparameters->quantity == KW_PREDICTS_TIME) {
        kw_text_add(&text, " monotone_constraints=");
        add_constraints(&text, features);
    }
    return kw_text_take(&text);
}
