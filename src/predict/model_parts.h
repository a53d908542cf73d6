/* model_parts.h: what a model is made of; for model.c and ranking.c. Constant once opened: any number of rankings share it. */
#ifndef KW_PREDICT_MODEL_PARTS_H
#define KW_PREDICT_MODEL_PARTS_H

#include "predict/model_spec.h"

struct kw_model {
    kw_model_spec spec;
    const kw_feature_table *table; /* own's, or the spec's published one */
    kw_native_features *own;       /* NULL: of published features */
    kw_forest *forest;
    int32_t *column;      /* of the table, one a feature of the forest; -1: none, and no tree asks about it */
    double **codes;       /* one a feature of the forest: NULL, or what each code of ours was in training, NaN where it was not there */
    double *family_codes; /* one a family of this library: its code in training, NaN where it was not there */
    int32_t family_column;
    kw_model_facts facts;
};

/* A config's column as a feature of the forest takes it. */
double kw_model_value(const kw_model *model, size_t feature, double value);

#endif
