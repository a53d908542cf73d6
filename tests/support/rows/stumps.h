/* stumps.h: a small model whose trees have one split each, written as LightGBM writes it, with its spec: what a test wants a model to say
 * is said by a few thresholds. */
#ifndef KW_TESTS_STUMPS_H
#define KW_TESTS_STUMPS_H

#include "base/text.h"

#include <stdint.h>

typedef struct stump {
    const char *feature;
    double threshold; /* at or below it left, above it and missing right; of a code the set of codes that go left, as bits */
    double left, right;
    bool is_code;
} stump;

typedef struct stumps {
    const char *predicts;        /* "ratio" and the like */
    const char *const *targets;  /* canonical texts; all lists of words are ended by NULL */
    const char *const *serves;   /* "conv_fwd fp32" */
    const char *const *families; /* in the order of their codes */
    const stump *trees;          /* ended by one whose feature is NULL */
} stumps;

/* The features are those of the trees, each once, in the order of the trees. */
void stumps_write(const stumps *model, kw_text *spec, kw_text *forest);
/* The spec alone, for a forest of these bytes. */
void stumps_write_spec(const stumps *model, kw_text *spec, const kw_text *forest);
/* Writes folder/model.spec and folder/model.lgbm.gz; makes the folder. */
void stumps_save(const stumps *model, const char *folder);

#endif
