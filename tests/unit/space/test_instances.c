/* test_instances.c: lists of kernels of CK's dispatcher and instance builder (tests/data/ck has samples of our own): each instance is the config
 * it stands for, what the rules refuse is left out and told, and what is not known is named with the instance. */
#include "base/os/file.h"
#include "space/catalog_json.h"
#include "support/kw_test.h"

static kw_status read_sample(kw_catalog *catalog, char *remark, const char *file, kw_error *err) {
    kw_arena arena = {0};
    char *text = NULL, path[512];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", KW_CK_FOLDER, file);
    kw_status status = kw_file_read(&arena, path, 1 << 20, &text, &size, err);
    status = status ? status : kw_catalog_json_read(catalog, remark, "list", text, size, err);
    kw_arena_drop(&arena);
    return status;
}

static void expect_config(const kw_catalog *catalog, size_t index, const char *expected) {
    char text[KW_CONFIG_TEXT_MAX];
    assert_true(index < catalog->count);
    kw_config_print(text, sizeof text, &catalog->configs[index]);
    assert_string_equal(text, expected);
}

#define REST " index=32"

static void each_instance_is_the_config_it_stands_for(void **state) {
    (void)state;
    static const struct {
        const char *file;
        size_t index;
        const char *config;
    } rows[] = {
        {"instances_forward.json", 0,
         "conv.igemm conv_fwd bf16 ndim=2 tile_m=128 tile_n=64 tile_k=32 wave_m=2 wave_n=1 wave_k=1 inst_m=32 inst_n=32 inst_k=8 "
         "pipe=basic_v1 sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "
         "two_stage=0 spec=default streamk=off persistent=0 split_k=1" REST},
        {"instances_forward.json", 2,
         "conv.igemm conv_fwd bf16 ndim=2 tile_m=128 tile_n=32 tile_k=32 wave_m=2 wave_n=1 wave_k=2 inst_m=32 inst_n=32 inst_k=8 "
         "pipe=basic_v1 sched=interwave epi=cshuffle vec_a=4 vec_b=4 vec_c=4 stages=1 merge=8 wave_groups=1 split_image=0 explicit=0 "
         "two_stage=0 spec=filter3x3 streamk=off persistent=0 split_k=1" REST},
        {"kernels_forward.json", 1,
         "conv.igemm conv_fwd bf16 ndim=2 tile_m=16 tile_n=64 tile_k=64 wave_m=1 wave_n=4 wave_k=1 inst_m=16 inst_n=16 inst_k=32 "
         "pipe=compv4 sched=intrawave epi=cshuffle vec_a=4 vec_b=8 vec_c=8 stages=2 merge=1 wave_groups=1 split_image=1 explicit=0 "
         "two_stage=0 spec=default streamk=off persistent=0 split_k=1" REST},
        {"instances_depthwise.json", 1,
         "conv.depthwise_block conv_fwd fp32 ndim=2 tile_h=16 tile_w=16 filter=3 stride=2 pad=1 dilation=1 filter_d=1 stride_d=1 pad_d=0 "
         "batch=2 sub_h=1 sub_w=4 vec_in=8 vec_out=8 order=first path=lds waves=1 peers=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        char remark[KW_CATALOG_REMARK_MAX];
        if (read_sample(&catalog, remark, rows[i].file, &err)) {
            fail_msg("%s: %s", rows[i].file, err.text);
        }
        assert_string_equal(remark, "");
        expect_config(&catalog, rows[i].index, rows[i].config);
        kw_catalog_drop(&catalog);
    }
}

#define TILE "\"tile_m\": 64, \"tile_n\": 64, \"tile_k\": 32"
#define WAVES "\"warp_m\": 1, \"warp_n\": 1, \"warp_k\": 1, \"warp_tile_m\": 32, \"warp_tile_n\": 32, \"warp_tile_k\": 8"
#define VECTORS "\"vector_sizes\": [1, 1, 1], \"pipeline\": \"compv3\", \"scheduler\": \"intrawave\", \"epilogue\": \"cshuffle\""
#define GOOD TILE ", " WAVES ", " VECTORS
#define LIST(variant, instance)                                                                                                            \
    "{\"variant\": \"" variant "\", \"ndim_spatial\": 2, \"layout\": \"nhwgc\", \"datatype\": \"bf16\", \"instances\": [" instance "]}"

static void gradients_of_weights_divide_their_depth(void **state) {
    (void)state;
    static const char text[] = LIST("backward_weight", "{" GOOD "}");
    kw_catalog catalog = {0};
    kw_error err = {0};
    assert_int_equal(kw_catalog_json_read(&catalog, NULL, "list", text, sizeof text - 1, &err), KW_OK);
    assert_int_equal(kw_config_axis(&catalog.configs[0], "split_k", -1), 0);
    kw_catalog_drop(&catalog);
}

static void what_the_rules_refuse_is_left_out_and_told(void **state) {
    (void)state;
    static const char text[] = LIST("forward", "{" GOOD "}, {\"tile_m\": 96, \"tile_n\": 64, \"tile_k\": 7, " WAVES ", " VECTORS "}");
    kw_catalog catalog = {0};
    kw_error err = {0};
    char remark[KW_CATALOG_REMARK_MAX];
    assert_int_equal(kw_catalog_json_read(&catalog, remark, "list", text, sizeof text - 1, &err), KW_OK);
    assert_int_equal(catalog.count, 1);
    assert_non_null(
        strstr(remark, "list: 1 of 2 instances cannot be made here and are left out; instance 1: conv.igemm: rule tile_by_waves"));
    kw_catalog_drop(&catalog);
}

static void what_is_not_known_is_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
    } rows[] = {
        {LIST("forward", "7"), "instance 0: is no object"},
        {LIST("sideways", "{" GOOD "}"), "sideways is no variant"},
        {LIST("forward", "{" GOOD ", \"splt_image\": true}"), "splt_image is not known; did you mean split_image"},
        {LIST("forward", "{" GOOD ", \"wave_mode\": \"compv9\"}"), "wave_mode compv9 is what no kernel"},
        {LIST("forward", "{" GOOD ", \"layout\": \"ngchw\"}"), "layout ngchw is what no kernel"},
        {LIST("forward", "{" GOOD ", \"wave\": \"2x2\"}"), "wave is neither AxBxC nor three whole numbers"},
        {LIST("forward", "{" GOOD ", \"merge\": 1.5}"), "merge is no word, whole number, true or false"},
        {LIST("forward", "{" GOOD ", \"datatype\": \"fp65\"}"), "fp65 is no type"},
        {LIST("forward", "{\"tile_m\": 97, \"tile_n\": 64, \"tile_k\": 32, " WAVES ", " VECTORS "}"), "none of its 1 instances"},
        {LIST("forward", "{" GOOD ", \"stages\": 1, \"double_smem_buffer\": true}"), "its members contradict each other"},
        {"{\"instances\": [{" GOOD "}]}", "variant is not said"},
        {"{\"variant\": \"forward\", \"instances\": [{" GOOD "}]}", "datatype is not said"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        kw_status status = kw_catalog_json_read(&catalog, NULL, "list", rows[i].text, strlen(rows[i].text), &err);
        if (!status || !strstr(err.text, rows[i].named)) {
            fail_msg("%s: %s", rows[i].named, err.text);
        }
        kw_catalog_drop(&catalog);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_instance_is_the_config_it_stands_for),
        cmocka_unit_test(gradients_of_weights_divide_their_depth),
        cmocka_unit_test(what_the_rules_refuse_is_left_out_and_told),
        cmocka_unit_test(what_is_not_known_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
