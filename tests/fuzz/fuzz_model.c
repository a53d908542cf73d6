/* fuzz_model.c: any lines as the text of a model, beside a forest that is sound: refused in one line, or opened, and what was opened says
 * the same of itself as its text. The input's lines stand between the first line and the digest, so that a mutation gets past both. */
#include "base/hash.h"
#include "fuzz/fuzz.h"
#include "predict/model_spec.h"

static const char forest_text[] =
    "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\nobjective=regression\n"
    "feature_names=log2_gk family\nfeature_infos=[0:9] -1:0:1:2\ntree_sizes=247\n\nTree=0\nnum_leaves=2\nnum_cat=0\nsplit_feature=0\n"
    "split_gain=1\nthreshold=8.5\ndecision_type=8\nleft_child=-1\nright_child=-2\nleaf_value=0.25 0.5\nleaf_weight=1 1\nleaf_count=1 1\n"
    "internal_value=0\ninternal_weight=0\ninternal_count=2\nis_linear=0\nshrinkage=1\n\n\nend of trees\n";

static void frame(kw_text *text, const uint8_t *data, size_t size) {
    char digest[KW_HASH_TEXT];
    kw_text_add(text, KW_MODEL_SPEC_HEADER "\n");
    kw_text_add_bytes(text, data, size);
    kw_hash_text(digest, forest_text, sizeof forest_text - 1);
    kw_text_addf(text, "%sdigest %s\n", size && data[size - 1] != '\n' ? "\n" : "", digest);
}

static void check_spec(const kw_model_spec *spec) {
    require(spec->target_count && spec->feature_count && spec->feature_count <= KW_FOREST_MAX_FEATURES);
    require(!spec->target_texts[spec->target_count] && !spec->features[spec->feature_count]);
    for (size_t i = 0; i < spec->target_count; i++) {
        char text[KW_TARGET_TEXT_MAX];
        kw_target_print(text, sizeof text, &spec->targets[i]);
        require(!strcmp(text, spec->target_texts[i]));
    }
    require(strlen(spec->digest) == 32 && spec->rows >= 0 && spec->problems >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_model_spec spec;
    kw_model *model = NULL;
    kw_text text = {0};
    kw_error err = {0};
    kw_status status = kw_model_spec_read(&spec, "raw", (const char *)data, size, &err);
    require(status == err.status && (!status || (*err.text && !strchr(err.text, '\n'))));
    if (!status) {
        check_spec(&spec);
    }
    kw_model_spec_drop(&spec);
    frame(&text, data, size);
    status = text.failed ? KW_NO_MEMORY : kw_model_parse(&model, text.data, text.size, forest_text, sizeof forest_text - 1, NULL);
    require(!status == (model != NULL));
    if (model) {
        require(kw_model_describe(model)->features == 2 && kw_model_describe(model)->targets[0]);
        require(kw_model_distance(model, &(kw_target){.backend = KW_BACKEND_CPU}) >= -1);
    }
    kw_model_close(&model);
    kw_text_drop(&text);
    return 0;
}
