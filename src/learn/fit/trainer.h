/* trainer.h: models of a data set, held out and final. Held out: for each fold, the trees are counted with the next fold to validate
 * them and both left out, then as many are made of all but the fold, which then is scored: what counted trees never scores them. The
 * final model has the median count of the folds over shapes. */
#ifndef KW_LEARN_FIT_TRAINER_H
#define KW_LEARN_FIT_TRAINER_H

#include "predict/forest/forest.h"
#include "learn/data/split/folds.h"
#include "learn/fit/lightgbm.h"
#include "learn/data/selection.h"
#include "learn/data/labels.h"

enum { KW_FOLDS_MAX = 64 };

/* All that stays the same while models of one data set are made; borrowed. */
typedef struct kw_trainer {
    kw_lightgbm_table *table;
    const kw_dataset *dataset;
    const kw_feature_table *features;
    const double *rows;  /* of all pairs */
    const double *times; /* kw_label_times */
    const kw_group_oracle *oracles;
    const int32_t *fold[KW_GROUPINGS];
    int32_t folds[KW_GROUPINGS]; /* that got problem groups; below 2: nothing can be held out */
    const kw_stop *stop;
    void (*progress)(void *user, const kw_train_progress *progress);
    void *user;
} kw_trainer;

/* What a model is made by. */
typedef struct kw_hyperparameters {
    kw_model_quantity quantity;
    int32_t trees, leaves, patience, threads;
    double learning_rate;
    uint64_t seed;
    const double *emphasis; /* a factor for each problem group; NULL: 1 */
} kw_hyperparameters;

/* As LightGBM's parameters: "key=value ..."; the caller frees. */
char *kw_hyperparameters_text(const kw_hyperparameters *hyperparameters, const kw_feature_table *features);

typedef struct kw_cross_validation {
    double *ns[KW_GROUPINGS]; /* of each pair, by a model that did not see its group; NAN where nothing was held out */
    kw_train_metrics total[KW_GROUPINGS], fold[KW_GROUPINGS][KW_FOLDS_MAX];
    int32_t trees[KW_GROUPINGS][KW_FOLDS_MAX];
} kw_cross_validation;

kw_status kw_cross_validate(kw_cross_validation *cv, const kw_trainer *trainer, const kw_hyperparameters *hyperparameters, kw_error *err);
void kw_cross_validation_drop(kw_cross_validation *cv);
/* What one recipe is compared with another by: the mean of mean and P10 efficiency, over both kinds of folds. */
double kw_cross_validation_score(const kw_cross_validation *cv);
/* How many trees the final model gets; all where nothing was held out. */
int32_t kw_cross_validation_trees(const kw_cross_validation *cv, const kw_trainer *trainer, const kw_hyperparameters *hyperparameters);

/* Trains on everything: exactly so many trees behind those of the text before (may be NULL), whose scores of all pairs are start. */
typedef struct kw_warm_start {
    const char *before;
    const double *start;
} kw_warm_start;
kw_status kw_train_final_model(char **text, const kw_trainer *trainer, const kw_hyperparameters *hyperparameters, int32_t trees,
                               const kw_warm_start *warm, kw_error *err);

#endif
