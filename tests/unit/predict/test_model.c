/* test_model.c: a model is read as it stands or refused by the line that is wrong. */

#include "predict/forest/forest.h"
#include "predict/predict.h"
#include "sample_model.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <math.h>

static void a_model_says_what_it_is_for(void **state) {
    (void)state;
    kw_model *model = open_stumps(&plain);
    const kw_model_facts *facts = kw_model_describe(model);
    assert_int_equal(facts->quantity, KW_PREDICTS_TIME);
    assert_string_equal(kw_model_quantity_name(facts->quantity), "time");
    assert_string_equal(facts->targets[0], TARGET);
    assert_null(facts->targets[1]);
    assert_int_equal(facts->features, 7);
    assert_int_equal(facts->trees, 7);
    assert_int_equal(facts->leaves, 14);
    assert_int_equal(facts->rows, 1000);
    assert_int_equal(facts->problems, 50);
    assert_int_equal(strlen(facts->digest), 32);
    assert_true(facts->bytes > 0);
    assert_true(kw_model_serves(model, KW_CONV_FWD, KW_FP32));
    assert_true(kw_model_serves(model, KW_GEMM, KW_BF16));
    assert_false(kw_model_serves(model, KW_GEMM, KW_FP32));
    assert_false(kw_model_serves(model, KW_CONV_BWD_DATA, KW_FP32));
    assert_false(kw_model_serves(model, (kw_op)99, KW_FP32));
    kw_model_close(&model);
    assert_null(model);
    kw_model_close(&model);
}

static void the_nearest_target_counts(void **state) {
    static const char *const targets[] = {
        "cpu:x86-64-v4 model=a units=1 lanes=16 registers=32 l1=1 l2=2 l3=3",
        "cpu:x86-64-v3 model=a units=1 lanes=8 registers=16 l1=1 l2=2 l3=3",
        NULL,
    };
    static const struct {
        const char *target;
        int distance;
    } cases[] = {
        {"cpu:x86-64-v4 model=a units=1 lanes=16 registers=32 l1=1 l2=2 l3=3", 0},
        {"cpu:x86-64-v3 model=a units=1 lanes=8 registers=16 l1=1 l2=2 l3=3", 0},
        {"cpu:x86-64-v4 model=a units=2 lanes=16 registers=32 l1=1 l2=2 l3=3", 1},
        {"cpu:x86-64-v3 model=b units=1 lanes=8 registers=16 l1=1 l2=2 l3=9", 1},
        {"cpu:x86-64-v4-amx model=a units=1 lanes=16 registers=32 l1=1 l2=2 l3=3", 2},
        {"cpu:generic model=a units=1 lanes=4 registers=16 l1=1 l2=2 l3=3", 3},
        {"cuda:x86-64-v4 model=a units=1 lanes=16 registers=32 l2=2 lds=1 unit_lds=1 unit_registers=1 unit_waves=1 clock=1 bandwidth=1",
         -1},
    };
    (void)state;
    stumps model_of_two = plain;
    model_of_two.targets = targets;
    kw_model *model = open_stumps(&model_of_two);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_target target;
        assert_int_equal(kw_target_parse(&target, cases[i].target, NULL), KW_OK);
        if (kw_model_distance(model, &target) != cases[i].distance) {
            fail_msg("%s: %d", cases[i].target, kw_model_distance(model, &target));
        }
    }
    kw_model_close(&model);
}

/* --- refusals --------------------------------------------------------------------------------------------------------- */

/* text with the first find replaced, on the heap. */
static char *replaced(const char *text, const char *find, const char *by, size_t *size) {
    const char *at = strstr(text, find);
    assert_non_null(at);
    kw_text out = {0};
    kw_text_add_bytes(&out, text, (size_t)(at - text));
    kw_text_add(&out, by);
    kw_text_add(&out, at + strlen(find));
    *size = out.size;
    return kw_text_take(&out);
}

static void a_bad_line_is_named(void **state) {
    static const struct {
        const char *find, *by;
        kw_status status;
        const char *part;
    } cases[] = {
        {"kernelwright-model 1\n", "kernelwright-model 2\n", KW_MALFORMED, "model.spec:1: \"kernelwright-model 2\" is not"},
        {"kernelwright-model 1\n", "", KW_MALFORMED, "model.spec:1: \"target"},
        {"predicts time\n", "predicts warmth\n", KW_MISSING, "predicts warmth is not known"},
        {"predicts time\n", "predicts time\npredicts rank\n", KW_MALFORMED, "said before"},
        {"predicts time\n", "", KW_MALFORMED, "no line says predicts"},
        {"predicts time\n", "PREDICTS time\n", KW_MALFORMED, "\"PREDICTS\" is not known"},
        {"predicts time\n", "predicts time\n\n", KW_MALFORMED, "\"\" is not known"},
        {"predicts time\n", "predicts  time\n", KW_MISSING, "predicts  time"},
        {"target cpu", "target  cpu", KW_MALFORMED, "not in canonical form"},
        {"units=1 ", "", KW_MALFORMED, "model.spec:2: target: fact units is missing"},
        {"units=1 ", "units=1 cores=4 ", KW_MISSING, "\"cores\" is not known"},
        {"target " TARGET "\n", "", KW_MALFORMED, "no line says target"},
        {"target " TARGET "\n", "target " TARGET "\ntarget " TARGET "\n", KW_MALFORMED, "model.spec:3: target"},
        {"serves conv_fwd fp32\n", "serves conv_fwd\n", KW_MALFORMED, "serves \"conv_fwd\""},
        {"serves conv_fwd fp32\n", "serves conv_fwd fp32 bf16\n", KW_MALFORMED, "is not an operation and a type"},
        {"serves conv_fwd fp32\n", "serves conv_sideways fp32\n", KW_MISSING, "operation conv_sideways"},
        {"serves conv_fwd fp32\n", "serves conv_fwd fp33\n", KW_MISSING, "type fp33"},
        {"serves conv_fwd fp32\n", "serves gemm bf16\n", KW_MALFORMED, "serves gemm bf16 is said twice"},
        {"serves conv_fwd fp32\nserves gemm bf16\n", "", KW_MALFORMED, "no line says serves"},
        {"family conv.pointwise\n", "family gemm.tiled\n", KW_MALFORMED, "family gemm.tiled is named twice"},
        {"family conv.pointwise\n", "family two words\n", KW_MISSING, "family two: operation words is not known"},
        {"family conv.pointwise\n", "family \n", KW_MALFORMED, "family \"\" is not one word"},
        {"feature tile_w\n", "feature log2_gk\n", KW_MALFORMED, "feature log2_gk is named twice"},
        {"feature tile_w\n", "feature tile_q\n", KW_MALFORMED, "feature 1 is tile_q, and tile_w in the forest"},
        {"feature tile_w\n", "", KW_MALFORMED, "names 6 features and the forest has 7"},
        {"rows 1000 problems 50\n", "rows 1000\n", KW_MALFORMED, "reads rows COUNT problems COUNT"},
        {"rows 1000 problems 50\n", "rows -1 problems 50\n", KW_MALFORMED, "rows -1"},
        {"rows 1000 problems 50\n", "rows 1000 problems 99999999999999999999\n", KW_MALFORMED, "reads rows"},
        {"rows 1000 problems 50\n", "rows 1 problems 1\nrows 1 problems 1\n", KW_MALFORMED, "said before"},
        {"rows 1000 problems 50\n", "", KW_MALFORMED, "no line says rows"},
        {"digest ", "digest 0", KW_MALFORMED, "it has 32 hexadecimal digits"},
        {"digest ", "digest 00000000000000000000000000000000\ndigest ", KW_MALFORMED, "said before"},
        {"digest ", "forest \ndigest ", KW_MALFORMED, "is not the name of a file"},
        {"digest ", "forest ../model.lgbm\ndigest ", KW_MALFORMED, "is not the name of a file"},
        {"digest ", "forest a/b.lgbm\ndigest ", KW_MALFORMED, "is not the name of a file"},
        {"digest ", "forest a.lgbm\nforest a.lgbm\ndigest ", KW_MALFORMED, "said before"},
        {"digest ", "hardware 1 2 3 4 5 6 7 8 9 10\ndigest ", KW_MALFORMED, "eleven numbers"},
        {"digest ", "hardware 1 2 3 4 5 6 7 8 9 10 11 12\ndigest ", KW_MALFORMED, "eleven numbers"},
        {"digest ", "hardware 1 2 3 4 0 6 7 8 9 10 11\ndigest ", KW_MALFORMED, "eleven numbers"},
        {"digest ", "hardware 1 2 3 4 5 6 7 8 9 10 11\nhardware 1 2 3 4 5 6 7 8 9 10 11\ndigest ", KW_MALFORMED, "said before"},
        {"digest ", "units 00000000000000000000000000000000\ndigest ", KW_MALFORMED, "in other units"},
        {"digest ", "units 0\ndigest ", KW_MALFORMED, "32 hexadecimal digits"},
        {"digest ", "table ck-gemm-71\ndigest ", KW_MISSING, "table ck-gemm-71"},
        {"digest ", "table ck-gemm-72\ndigest ", KW_ILLEGAL, "no features of conv_fwd"},
    };
    (void)state;
    kw_text spec = {0}, forest = {0};
    stumps_write(&plain, &spec, &forest);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t size;
        char *text = replaced(spec.data, cases[i].find, cases[i].by, &size);
        kw_model *model = NULL;
        kw_error err = {0};
        if (kw_model_parse(&model, text, size, forest.data, forest.size, &err) != cases[i].status || model ||
            !strstr(err.text, cases[i].part)) {
            fail_msg("case %zu, %s: %s: %s", i, cases[i].by, kw_status_name(err.status), err.text);
        }
        free(text);
    }
    kw_text_drop(&spec);
    kw_text_drop(&forest);
}

/* A spec cut anywhere, and one with a zero byte anywhere, is refused. */
static void no_part_of_a_spec_is_a_spec(void **state) {
    (void)state;
    kw_text spec = {0}, forest = {0};
    stumps_write(&plain, &spec, &forest);
    for (size_t size = 0; size < spec.size; size++) {
        kw_model *model = NULL;
        char *copy = malloc(spec.size);
        assert_non_null(copy);
        memcpy(copy, spec.data, spec.size);
        kw_status cut = kw_model_parse(&model, copy, size, forest.data, forest.size, NULL);
        if (cut == KW_OK && size + 1 < spec.size) { /* the last line's end alone may be missing */
            fail_msg("the first %zu of %zu bytes are read", size, spec.size);
        }
        kw_model_close(&model);
        copy[size] = 0;
        assert_int_not_equal(kw_model_parse(&model, copy, spec.size, forest.data, forest.size, NULL), KW_OK);
        free(copy);
    }
    kw_text_drop(&spec);
    kw_text_drop(&forest);
}

static void refuse(const stumps *what, const char *part) {
    kw_text spec = {0}, forest = {0};
    kw_model *model = NULL;
    kw_error err = {0};
    stumps_write(what, &spec, &forest);
    assert_int_not_equal(kw_model_parse(&model, spec.data, spec.size, forest.data, forest.size, &err), KW_OK);
    assert_null(model);
    if (!strstr(err.text, part)) {
        fail_msg("\"%s\" is not in \"%s\"", part, err.text);
    }
    kw_text_drop(&spec);
    kw_text_drop(&forest);
}

static void a_feature_that_is_not_ours_is_refused_by_name(void **state) {
    static const stump trees[] = {{"log2_gk", 1, 1, 2, false}, {"moon_phase", 1, 1, 2, false}, {NULL, 0, 0, 0, false}};
    (void)state;
    stumps what = plain;
    what.trees = trees;
    refuse(&what, "moon_phase");
}

static void codes_of_families_need_their_names(void **state) {
    static const char *const none[] = {NULL};
    (void)state;
    stumps what = plain;
    what.families = none;
    refuse(&what, "no line says family");
}

static void a_forest_that_is_not_the_specs_is_refused(void **state) {
    (void)state;
    kw_text spec = {0}, forest = {0}, broken = {0}, its_spec = {0};
    kw_model *model = NULL;
    kw_error err = {0};
    stumps_write(&plain, &spec, &forest);
    forest.data[forest.size / 2] ^= 1;
    assert_int_equal(kw_model_parse(&model, spec.data, spec.size, forest.data, forest.size, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "digest"));
    kw_text_add_bytes(&broken, forest.data, forest.size / 3); /* with its own digest, but no forest */
    stumps_write_spec(&plain, &its_spec, &broken);
    err = (kw_error){0};
    assert_int_not_equal(kw_model_parse(&model, its_spec.data, its_spec.size, broken.data, broken.size, &err), KW_OK);
    assert_non_null(strstr(err.text, "model.lgbm.gz"));
    kw_text_drop(&spec);
    kw_text_drop(&forest);
    kw_text_drop(&broken);
    kw_text_drop(&its_spec);
}

static void a_folder_is_read_and_named_when_it_cannot_be(void **state) {
    (void)state;
    char root[SCRATCH_MAX], folder[2 * SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_model *model = NULL;
    kw_error err = {0};
    scratch_path(folder, scratch_make(root), "small");
    assert_int_equal(kw_model_open(&model, folder, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "small/model.spec"));
    stumps_save(&plain, folder);
    assert_int_equal(kw_model_open(&model, folder, NULL), KW_OK);
    assert_int_equal(kw_model_describe(model)->trees, 7);
    kw_model_close(&model);
    snprintf(path, sizeof path, "%.400s/model.spec", folder);
    scratch_write(path, "kernelwright-model 1\nnonsense\n", 30, 0600);
    err = (kw_error){0};
    assert_int_equal(kw_model_open(&model, folder, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "small/model.spec:2: \"nonsense\""));
    stumps_save(&plain, folder);
    snprintf(path, sizeof path, "%.400s/model.lgbm.gz", folder);
    remove(path);
    assert_int_equal(kw_model_open(&model, folder, &err), KW_MISSING);
    scratch_remove(root);
}

/* Who unpacks the forest has it read where the spec names the text's digest, and no other text. */
static void an_unpacked_forest_is_read(void **state) {
    (void)state;
    char root[SCRATCH_MAX], folder[2 * SCRATCH_MAX], path[2 * SCRATCH_MAX], digest[KW_HASH_TEXT];
    kw_text spec = {0}, forest = {0}, unpacked = {0};
    kw_model *model = NULL;
    kw_error err = {0};
    scratch_path(folder, scratch_make(root), "small");
    stumps_save(&plain, folder);
    stumps_write(&plain, &spec, &forest);
    assert_int_equal(kw_gzip_unpack_any(&unpacked, forest.data, forest.size, 1 << 20, &err), KW_OK);
    snprintf(path, sizeof path, "%.400s/model.lgbm.gz", folder);
    remove(path);
    snprintf(path, sizeof path, "%.400s/model.lgbm", folder);
    scratch_write(path, unpacked.data, unpacked.size, 0600);
    if (forest.size != unpacked.size) {
        assert_int_equal(kw_model_open(&model, folder, &err), KW_MALFORMED); /* the spec does not name it */
        assert_non_null(strstr(err.text, "not of one model"));
    }
    kw_hash_text(digest, unpacked.data, unpacked.size);
    kw_text_addf(&spec, "unpacked %s\n", digest);
    char spec_path[2 * SCRATCH_MAX];
    snprintf(spec_path, sizeof spec_path, "%.400s/model.spec", folder);
    scratch_write(spec_path, spec.data, spec.size, 0600);
    assert_int_equal(kw_model_open(&model, folder, &err), KW_OK);
    assert_int_equal(kw_model_describe(model)->trees, 7);
    kw_model_close(&model);
    unpacked.data[unpacked.size / 2] ^= 1;
    scratch_write(path, unpacked.data, unpacked.size, 0600);
    assert_int_equal(kw_model_open(&model, folder, &err), KW_MALFORMED);
    kw_text_drop(&spec);
    kw_text_drop(&forest);
    kw_text_drop(&unpacked);
    scratch_remove(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_says_what_it_is_for),
        cmocka_unit_test(the_nearest_target_counts),
        cmocka_unit_test(a_bad_line_is_named),
        cmocka_unit_test(no_part_of_a_spec_is_a_spec),
        cmocka_unit_test(a_feature_that_is_not_ours_is_refused_by_name),
        cmocka_unit_test(codes_of_families_need_their_names),
        cmocka_unit_test(a_forest_that_is_not_the_specs_is_refused),
        cmocka_unit_test(a_folder_is_read_and_named_when_it_cannot_be),
        cmocka_unit_test(an_unpacked_forest_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
