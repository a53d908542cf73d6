/* trainer.h: models of a data set, held out and final. Held out: for each fold, the trees are counted with the next fold as judge and both left
 * out, then as many are made of all but the fold, which then is scored: what counted trees never scores them. The final model has the median
 * count of the folds over shapes. */
#ifndef KW_LEARN_FIT_TRAINER_H
#define KW_LEARN_FIT_TRAINER_H

#include "predict/forest/forest.h"
#include "learn/data/folds.h"
#include "learn/fit/gbm.h"
#include "learn/data/oracle.h"
#include "learn/data/labels.h"

enum { KW_FOLDS_MAX = 64 };

/* All that stays the same while models of one data set are made; borrowed. */
typedef struct kw_trainer {
    kw_gbm_table *table;
    kw_gbm_kind kind; /* of its library */
    const kw_dataset *dataset;
    const kw_feature_table *features;
    const double *rows;  /* of all pairs */
    const double *times; /* kw_label_times */
    const kw_mark *marks;
    const int32_t *fold[KW_GROUPINGS];
    int32_t folds[KW_GROUPINGS]; /* that got contests; below 2: nothing can be held out */
    const volatile int *stop;
    void (*progress)(void *user, const kw_train_progress *progress);
    void *user;
} kw_trainer;

/* What a model is made by. */
typedef struct kw_recipe {
    kw_model_quantity quantity;
    int32_t trees, leaves, patience, threads;
    double learning_rate;
    uint64_t seed;
    const double *emphasis; /* a factor for each contest; NULL: 1 */
} kw_recipe;

/* The parameters of a recipe, as the library has them: "key=value ..."; the caller frees. */
char *kw_recipe_text(const kw_recipe *recipe, const kw_feature_table *features, kw_gbm_kind kind);

typedef struct kw_held_out {
    double *ns[KW_GROUPINGS]; /* of each pair, by a model that did not see its group; NAN where nothing was held out */
    kw_train_figures total[KW_GROUPINGS], fold[KW_GROUPINGS][KW_FOLDS_MAX];
    int32_t trees[KW_GROUPINGS][KW_FOLDS_MAX];
} kw_held_out;

kw_status kw_hold_out(kw_held_out *held, const kw_trainer *trainer, const kw_recipe *recipe, kw_error *err);
void kw_held_out_drop(kw_held_out *held);
/* What one recipe is compared with another by: the mean of mean and P10 efficiency, over both kinds of folds. */
double kw_held_out_worth(const kw_held_out *held);
/* How many trees the final model gets; all where nothing was held out. */
int32_t kw_held_out_trees(const kw_held_out *held, const kw_trainer *trainer, const kw_recipe *recipe);

/* Trains on everything: exactly so many trees behind those of the text before (may be NULL), whose scores of all pairs are start. */
typedef struct kw_warm {
    const char *before;
    const double *start;
} kw_warm;
kw_status kw_final_model(char **text, const kw_trainer *trainer, const kw_recipe *recipe, int32_t trees, const kw_warm *warm,
                         kw_error *err);

#endif
