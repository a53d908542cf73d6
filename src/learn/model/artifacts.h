/* artifacts.h: the files of a model's folder. Each is replaced whole or not at all; the forest and what names its digest (model.spec) come
 * last, so that a folder whose writing was cut off is refused rather than misread. Nothing in them depends on the clock. docs/selection/training.md
 * says what each is for. */
#ifndef KW_LEARN_MODEL_ARTIFACTS_H
#define KW_LEARN_MODEL_ARTIFACTS_H

#include "learn/fit/trainer.h"
#include "predict/model_spec.h"

/* What the files are made from; borrowed. */
typedef struct kw_artifacts {
    const kw_train_options *options;
    const kw_train_report *report;
    const kw_trainer *trainer;
    const kw_hyperparameters *hyperparameters;
    const kw_cross_validation *cv;
    const kw_forest *forest; /* as written */
    const void *packed;      /* model.lgbm.gz */
    size_t packed_size;
    const char *library, *library_version; /* what grew the trees */
    const char *targets;                   /* quantities of all models of the folder, with blanks between them; the first is model.spec */
    bool beside;                           /* not the first: forest, spec, folds and importances, beside what the first one wrote */
    int32_t new_trees;                     /* behind those of a warm start */
    const kw_model_spec *before;           /* of the warm start; NULL: none */
} kw_artifacts;

kw_status kw_artifacts_write(const kw_artifacts *artifacts, kw_error *err);

/* The text of model.spec; digests: of the forest, and of its text. forest: its file's name; NULL: model.lgbm.gz. before: the model that was
 * gone on with, whose targets, operations and types this one has too; NULL: none. */
kw_status kw_spec_print(kw_text *text, const kw_dataset *dataset, const kw_feature_table *features, kw_model_quantity quantity,
                        const kw_model_spec *before, const char *forest, const char *const digests[2], kw_error *err);
/* Hash of the features' names and order and of the families' codes: models with another one do not fit together. */
void kw_schema_hash(char hash[33], const kw_feature_table *features);
/* Different problems of a data set; families: different buckets. NULL where it is not asked for. */
kw_status kw_dataset_spread(int64_t *problems, int64_t *families, const kw_dataset *dataset, kw_error *err);

#endif
