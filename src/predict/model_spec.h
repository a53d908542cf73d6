/* model_spec.h: the text beside a forest, read. The grammar stands in model.h. */
#ifndef KW_PREDICT_MODEL_SPEC_H
#define KW_PREDICT_MODEL_SPEC_H

#include "base/container/arena.h"
#include "predict/forest/forest.h"
#include "predict/ck/features_ck.h"
#include "predict/model.h"

#define KW_MODEL_SPEC_HEADER "kernelwright-model 1"
#define KW_MODEL_UNSEEN "unseen:" /* before the name of a family that has a code and no row */

/* What a spec may hold at most. */
enum { KW_MODEL_MAX_SPEC = 1 << 20, KW_MODEL_MAX_TARGETS = 256, KW_MODEL_MAX_FAMILIES = 1024 };

/* Everything lives in the arena. Names are terminated. */
typedef struct kw_model_spec {
    kw_arena arena;
    kw_target *targets;
    const char **target_texts; /* ended by NULL */
    const char **families, **features;
    uint32_t *family_ops;        /* one a family: operations of which its rows were, bits 1 << kw_op; 0: the line names none, so all */
    const char **coded, **codes; /* categories whose codes have names, and these names with blanks between them */
    size_t target_count, family_count, feature_count, coded_count;
    const kw_feature_table *ck;       /* of the published features (ck/ck_rows.h); NULL: ours */
    kw_ck_features_hardware hardware; /* of published features; arch NULL: as their table has it for the target's architecture */
    const char *forest;               /* its file's name; "model.lgbm.gz" where no line says it */
    uint32_t serves[KW_OP_COUNT];     /* bits 1 << kw_dtype */
    kw_model_quantity quantity;
    int64_t rows, problems;
    char digest[33], unpacked[33], units[33]; /* unpacked: of the forest's text; units: kw_feature_units_hash; "": not said */
} kw_model_spec;

/* Reads the whole text; name stands in messages, with the line. On failure the spec is empty. */
kw_status kw_model_spec_read(kw_model_spec *spec, const char *name, const char *text, size_t size, kw_error *err);
void kw_model_spec_drop(kw_model_spec *spec);
/* A model is named by its folder, or by one of the specs in it where it has several. NULL for want of memory. */
const char *kw_model_spec_path(kw_arena *arena, const char *model);
const char *kw_model_folder(kw_arena *arena, const char *model);
/* Reads the forest beside a model's spec, packed or unpacked, and holds it against the spec's digests. name is for messages; both live in the
 * arena. */
kw_status kw_model_spec_forest(kw_arena *arena, const char **name, char **data, size_t *size, const kw_model_spec *spec, const char *model,
                               kw_error *err);
/* KW_MALFORMED where the bytes are neither packed nor unpacked those that the spec names. */
kw_status kw_model_spec_check(const kw_model_spec *spec, const char *name, const void *forest, size_t size, kw_error *err);
/* As kw_model_serves and kw_model_distance, before the forest is read. */
bool kw_model_spec_serves(const kw_model_spec *spec, kw_op op, kw_dtype dtype);
/* Whether rows of the family had this operation: what it says of other kernels is a guess. One of published features, or without a list of
 * families, knows kernels by their fields alone: always. */
bool kw_model_spec_saw(const kw_model_spec *spec, const char *family, kw_op op);
/* Names of the feature's codes in training, blanks between them; NULL: the spec does not say them, and they are ours. */
const char *kw_model_spec_codes(const kw_model_spec *spec, const char *feature);
int kw_model_spec_distance(const kw_model_spec *spec, const kw_target *target);

#endif
