/* test_traits.c: trait files allow what they list, and a file that means nothing is refused in one line that says what there is. */
#include "fake_families.h"
#include "space/ck/traits.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

static const char *const configs[] = {
    "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=6 order=band",
    "fake.tile conv_bwd_data bf16 isa=avx512 math=dp tile_h=2 tile_w=3 order=image",
    "fake.rows conv_fwd fp32 isa=avx2 math=fma rows=3",
    "fake.plain gemm int8",
};
enum { CONFIGS = sizeof configs / sizeof *configs };

/* Which of the configs the text allows, as "1011". */
static kw_status allowed(char answer[CONFIGS + 1], const char *text, kw_error *err) {
    kw_traits traits = {0};
    kw_status status = kw_traits_read(&traits, "file", text, strlen(text), err);
    for (int i = 0; !status && i < CONFIGS; i++) {
        kw_config config;
        assert_int_equal(kw_config_parse(&config, configs[i], NULL), KW_OK);
        answer[i] = kw_traits_allow(&traits, &config) ? '1' : '0';
    }
    answer[status ? 0 : CONFIGS] = 0;
    kw_traits_drop(&traits);
    return status;
}

static void a_file_allows_what_it_lists(void **state) {
    (void)state;
    static const struct {
        const char *text, *allows;
    } rows[] = {
        {"{\"trait_config\": {}}", "1111"},
        {"{\"variant\": \"forward\", \"trait_config\": {}}", "1010"},
        {"{\"variant\": \"fwd\", \"trait_config\": {}}", "1010"},
        {"{\"variant\": \"bwd_data\", \"trait_config\": {}}", "0100"},
        {"{\"variant\": \"backward_data\", \"trait_config\": {}}", "0100"},
        {"{\"variant\": \"bwd_weight\", \"trait_config\": {}}", "0000"},
        {"{\"variant\": \"gemm\", \"trait_config\": {}}", "0001"},
        {"{\"trait_config\": {\"data_type\": {\"values\": [\"bf16\"]}}}", "0100"},
        {"{\"trait_config\": {\"dtype\": {\"values\": [\"fp32\", \"int8\"]}}}", "1011"},
        {"{\"trait_config\": {\"family\": {\"values\": [\"fake.rows\", \"fake.plain\"]}}}", "0011"},
        {"{\"trait_config\": {\"ndim_spatial\": {\"values\": [2]}}}", "1111"},
        /* of families that lack an axis none is allowed, as in a filter */
        {"{\"trait_config\": {\"tile_w\": {\"values\": [6]}}}", "1000"},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [3, 6]}}}", "1100"},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [\"*\"]}}}", "1100"},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [-1]}, \"order\": {\"values\": [\"band\"]}}}", "1000"},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [3]}, \"tile_h\": {\"values\": [1]}}}", "0000"},
        {"{\"trait_config\": {\"order\": {\"values\": [\"image\"]}}}", "0100"},
        {"{\"trait_config\": {\"isa\": {\"values\": [\"avx2\"]}}}", "0010"},
        {"{\"trait_config\": {\"rows\": {\"values\": [true, 3]}}}", "0010"},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [64]}}}", "0000"},
        {"{\"trait_config\": {\"variant\": {\"values\": [\"fwd\", \"gemm\"]}}}", "1011"},
        {"{\"trait_config\": {\"layout\": {\"values\": [\"nhwgc\"]}}}", "1110"},
        {"{\"trait_config\": {\"layout\": {\"values\": [\"ccr\"]}}}", "0001"},
        {"{\"trait_config\": {\"family\": {\"values\": [\"*\"]}}}", "1111"},
        /* names that no family of the kind has */
        {"{\"trait_config\": {\"pipeline\": {\"values\": [\"compv3\"]}, \"two_stage\": {\"values\": [true, false]}}}", "1111"},
        /* the other members of the tile engine's and the code generator's files */
        {"{\"trait_config\": {\"tile_w\": {\"min\": 3, \"max\": 8, \"step\": 3}}}", "1100"},
        {"{\"trait_config\": {\"tile_w\": {\"min\": 4, \"max\": 8, \"step\": 2}}}", "1000"},
        {"{\"_comment\": [1], \"kernel_set_name\": \"x\", \"k_block_per_cu\": 1, \"trait_config\": {\"_comment2\": null}}", "1111"},
        {"{\"variant\": \"forward\", \"tile_config\": {\"tile_w\": {\"values\": [6]}}}", "1000"},
        {"{\"tile_config\": {}, \"occupancy_config\": {\"block_per_cu\": {\"values\": [1]}}}", "0001"},
        {"{\"datatype\": \"bf16\", \"trait_config\": {}}", "0100"},
        {"{\"datatype\": {\"a\": \"int8\", \"b\": \"int8\", \"acc\": \"int32\"}, \"ndim\": 2, \"trait_config\": {}}", "0001"},
        {"{\"layout\": [\"ccr\"], \"gpu_targets\": [\"gfx942\", \"gfx90a\"], \"trait_config\": {}}", "0001"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char answer[CONFIGS + 1];
        kw_error err = {0};
        if (allowed(answer, rows[i].text, &err) || strcmp(answer, rows[i].allows)) {
            fail_msg("%s: allows %s instead of %s %s", rows[i].text, answer, rows[i].allows, err.text);
        }
    }
}

static void a_file_that_means_nothing_is_refused_with_what_there_is(void **state) {
    (void)state;
    static const struct {
        const char *text, *named;
        kw_status status;
    } rows[] = {
        {"", "file", KW_MALFORMED},
        {"[]", "variant", KW_MALFORMED},
        {"{\"variant\": \"forward\"}", "trait_config", KW_MALFORMED},
        {"{\"variant\": \"forwards\", \"trait_config\": {}}", "bwd_weight", KW_MISSING},
        {"{\"variant\": 3, \"trait_config\": {}}", "bwd_weight", KW_MISSING},
        {"{\"variants\": \"forward\", \"trait_config\": {}}", "variants", KW_MISSING},
        {"{\"trait_config\": []}", "object", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_ww\": {\"values\": [6]}}}", "did you mean tile_w", KW_MISSING},
        {"{\"trait_config\": {\"pipelin\": {\"values\": [\"mem\"]}}}", "did you mean pipeline", KW_MISSING},
        {"{\"trait_config\": {\"vector_sizes\": {\"values\": [4]}}}", "vector_size_a", KW_MISSING},
        {"{\"trait_config\": {\"layout\": {\"values\": [\"gnhwc\"]}}}", "nhwgc", KW_ILLEGAL},
        {"{\"trait_config\": {\"layout\": {\"values\": [\"nhwcg\"]}}}", "ngchw", KW_ILLEGAL},
        {"{\"trait_config\": {\"tile_w\": [6]}}", "values", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": []}}}", "one value", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": 6}}}", "values", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [6], \"step\": 2}}}", "values", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [6.5]}}}", "integer", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [null]}}}", "integer", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [65]}}}", "1 to 64", KW_ILLEGAL},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [4294967302]}}}", "1 to 64", KW_ILLEGAL},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [\"6\"]}}}", "1 to 64", KW_ILLEGAL},
        {"{\"trait_config\": {\"order\": {\"values\": [\"bands\"]}}}", "band image", KW_ILLEGAL},
        {"{\"trait_config\": {\"order\": {\"values\": [\"ban\\u0000d\"]}}}", "u0000", KW_MALFORMED},
        {"{\"trait_config\": {\"data_type\": {\"values\": [\"fp64\"]}}}", "bf16", KW_ILLEGAL},
        {"{\"trait_config\": {\"data_type\": {\"values\": [\"int32\"]}}}", "bf16", KW_ILLEGAL},
        {"{\"trait_config\": {\"ndim_spatial\": {\"values\": [4]}}}", "1 2 3", KW_ILLEGAL},
        {"{\"trait_config\": {\"family\": {\"values\": [\"fake.row\"]}}}", "fake.row", KW_ILLEGAL},
        {"{\"trait_config\": {\"tile_w\": {\"values\": [6]}, \"tile_w\": {\"values\": [3]}}}", "duplicate", KW_MALFORMED},
        {"{\"trait_config\": {}} x", "file:1", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"min\": 3, \"max\": 8}}}", "\"step\": S", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"min\": 3, \"max\": 8, \"step\": 0}}}", "\"step\": S", KW_MALFORMED},
        {"{\"trait_config\": {\"tile_w\": {\"min\": 0, \"max\": 1000000000, \"step\": 1}}}", "4096", KW_MALFORMED},
        {"{\"datatype\": {\"a\": \"fp8\", \"b\": \"bf8\"}, \"trait_config\": {}}", "one type", KW_ILLEGAL},
        {"{\"datatype\": {\"acc\": \"fp32\"}, \"trait_config\": {}}", "empty", KW_MALFORMED},
        {"{\"tile_confg\": {}, \"trait_config\": {}}", "tile_config", KW_MISSING},
        {"{\"layout\": null, \"trait_config\": {}}", "integer", KW_MALFORMED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char answer[CONFIGS + 1];
        kw_error err = {0};
        kw_status status = allowed(answer, rows[i].text, &err);
        if (status != rows[i].status || status != err.status || !strstr(err.text, rows[i].named) || strchr(err.text, '\n')) {
            fail_msg("%s: status %d: %s", rows[i].text, (int)status, err.text);
        }
        assert_int_equal(strncmp(err.text, "file", 4), 0);
    }
}

static void note(void *user, const char *line) {
    char *all = user;
    strncat(all, line, 400 - strlen(all));
    strncat(all, "|", 400 - strlen(all));
}

static void a_trait_that_no_family_of_the_backend_has_gets_a_remark(void **state) {
    (void)state;
    static const char text[] = "{\"trait_config\": {\"pipeline\": {\"values\": [\"mem\"]}, \"tile_w\": {\"values\": [6]}, "
                               "\"data_type\": {\"values\": [\"bf16\"]}}}";
    char lines[401] = "";
    kw_traits traits = {0};
    assert_int_equal(kw_traits_read(&traits, "file", text, strlen(text), NULL), KW_OK);
    kw_traits_warn(&traits, KW_KIND_CPU, NULL, note, lines);
    assert_string_equal(lines, "file: trait pipeline is passed over: no kernel family for cpu has it|");
    *lines = 0;
    kw_traits_warn(&traits, KW_KIND_GPU, NULL, note, lines);
    assert_non_null(strstr(lines, "pipeline"));
    assert_non_null(strstr(lines, "tile_w"));
    kw_traits_drop(&traits);
}

static void spatial_axes_are_a_matter_of_problems(void **state) {
    (void)state;
    static const char text[] = "{\"trait_config\": {\"ndim_spatial\": {\"values\": [3, 2]}}}";
    kw_traits traits = {0};
    assert_int_equal(kw_traits_read(&traits, "file", text, strlen(text), NULL), KW_OK);
    assert_int_equal(traits.ndim, 1u << 2 | 1u << 3);
    kw_traits_drop(&traits);
}

/* In a sanitised build each piece of an arena is an allocation, so that each can be refused. */
static void want_of_memory_anywhere_is_told(void **state) {
    (void)state;
    static const char text[] = "{\"variant\": \"forward\", \"trait_config\": {\"data_type\": {\"values\": [\"bf16\", \"fp32\"]}, "
                               "\"tile_w\": {\"values\": [6, 7, 8]}, \"pipeline\": {\"values\": [\"compv3\"]}}}";
    kw_traits traits = {0};
    kw_error err = {0};
    memory_asked = 0;
    assert_ok(kw_traits_read(&traits, "file", text, strlen(text), &err), &err);
    kw_traits_drop(&traits);
    long all = memory_asked;
    assert_true(all > 0);
    for (long n = 0; n < all; n++) {
        memory_granted = n;
        kw_status status = kw_traits_read(&traits, "file", text, strlen(text), &err);
        memory_granted = -1;
        kw_traits_drop(&traits);
        if (status != KW_NO_MEMORY) {
            fail_msg("allocation %ld: %s: %s", n, kw_status_name(status), err.text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_allows_what_it_lists),
        cmocka_unit_test(a_file_that_means_nothing_is_refused_with_what_there_is),
        cmocka_unit_test(a_trait_that_no_family_of_the_backend_has_gets_a_remark),
        cmocka_unit_test(spatial_axes_are_a_matter_of_problems),
        cmocka_unit_test(want_of_memory_anywhere_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
