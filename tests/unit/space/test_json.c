/* test_json.c: configs survive the way through JSON, and hostile JSON gets one line. */
#include "fake_families.h"
#include "space/catalog_json.h"
#include "support/kw_test.h"

static kw_status read_text(kw_catalog *catalog, const char *text, kw_error *err) {
    return kw_catalog_json_read(catalog, NULL, "file.json", text, strlen(text), err);
}

static void what_is_printed_is_read_again(void **state) {
    (void)state;
    static const char *const texts[] = {
        "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=6 order=band",
        "fake.tile conv_bwd_data bf16 isa=avx512 math=dp tile_h=3 tile_w=2 order=image",
        "fake.rows conv_fwd fp32 isa=avx2 math=fma rows=0",
        "fake.plain gemm int8",
    };
    enum { COUNT = sizeof texts / sizeof *texts };
    kw_catalog first = {0}, second = {0};
    for (int i = 0; i < COUNT; i++) {
        kw_config config;
        assert_int_equal(kw_config_parse(&config, texts[i], NULL), KW_OK);
        assert_int_equal(kw_catalog_add(&first, &config, NULL, NULL), KW_OK);
    }
    kw_text json = {0};
    kw_error err = {0};
    assert_int_equal(kw_catalog_json_print(&json, &first, &err), KW_OK);
    assert_non_null(strstr(json.data, "{\"family\": \"fake.tile\", \"op\": \"conv_fwd\", \"dtype\": \"fp32\", \"isa\": \"avx512\", "
                                      "\"math\": \"fma\", \"tile_h\": 1, \"tile_w\": 6, \"order\": \"band\"}"));
    assert_int_equal(kw_catalog_json_read(&second, NULL, "x", json.data, json.size, &err), KW_OK);
    assert_int_equal(second.count, COUNT);
    for (int i = 0; i < COUNT; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &second.configs[i]);
        assert_string_equal(text, texts[i]);
    }
    kw_text_drop(&json);
    kw_catalog_drop(&first);
    kw_catalog_drop(&second);
}

static void an_empty_registry_is_a_registry(void **state) {
    (void)state;
    kw_catalog catalog = {0};
    kw_text json = {0};
    assert_int_equal(kw_catalog_json_print(&json, &catalog, NULL), KW_OK);
    assert_int_equal(kw_catalog_json_read(&catalog, NULL, "x", json.data, json.size, NULL), KW_OK);
    assert_int_equal(catalog.count, 0);
    kw_text_drop(&json);
    kw_catalog_drop(&catalog);
}

#define WRAP(config) "{\"kernelwright\": 1, \"configs\": [" config "]}"
#define ROWS "\"family\": \"fake.rows\", \"op\": \"conv_fwd\", \"dtype\": \"fp32\", \"isa\": \"avx2\", \"math\": \"fma\""

static void faults_are_named(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
    } rows[] = {
        {"", "file.json:1:"},
        {"{", "file.json:1:"},
        {"nonsense", "file.json:1:"},
        {"{}\n{}", "file.json:2:"},
        {"[]", "is an array"},
        {"{\"kernelwright\": 1}", "\"configs\" must be an array"},
        {"{\"configs\": []}", "\"kernelwright\" must be 1"},
        {"{\"kernelwright\": 2, \"configs\": []}", "\"kernelwright\" must be 1"},
        {"{\"kernelwright\": 1, \"kernelwright\": 1, \"configs\": []}", "duplicate"},
        {"{\"kernelwright\": 1, \"configs\": [], \"extra\": 1}", "unknown key \"extra\""},
        {WRAP("7"), "configs[0] is an integer"},
        {WRAP("{}"), "configs[0] has no \"family\""},
        {WRAP("{\"family\": 7}"), "\"family\" is an integer; it must be a string"},
        {WRAP("{\"family\": \"x\", \"op\": \"gemm\", \"dtype\": \"fp32\"}"), "family \"x\" is not known"},
        {WRAP("{\"family\": \"fake.plain\", \"op\": \"gem\", \"dtype\": \"fp32\"}"), "op \"gem\" is not known"},
        {WRAP("{\"family\": \"fake.plain\", \"op\": \"gemm\", \"dtype\": \"fp33\"}"), "dtype \"fp33\" is not known"},
        {WRAP("{\"family\": \"fake.plain\", \"op\": \"gemm\", \"dtype\": \"bf16\"}"), "no kernels for bf16"},
        {WRAP("{\"family\": \"fake.plain\", \"op\": \"gemm\", \"dtype\": \"fp32\", \"rows\": 1}"), "has no axis \"rows\""},
        {WRAP("{" ROWS "}"), "configs[0] has no \"rows\""},
        {WRAP("{" ROWS ", \"rows\": \"1\"}"), "\"rows\" is a string; it must be an integer"},
        {WRAP("{" ROWS ", \"rows\": 1.0}"), "\"rows\" is a real number"},
        {WRAP("{" ROWS ", \"rows\": null}"), "\"rows\" is null"},
        {WRAP("{" ROWS ", \"rows\": 17}"), "rows 17 is outside 0..16"},
        {WRAP("{" ROWS ", \"rows\": -1}"), "rows -1 is outside 0..16"},
        {WRAP("{" ROWS ", \"rows\": 4294967297}"), "rows 4294967297 is outside"},
        {WRAP("{" ROWS ", \"rows\": 99999999999999999999}"), "file.json:1:"},
        {WRAP("{" ROWS ", \"rows\": 1, \"rows\": 1}"), "duplicate"},
        {WRAP("{" ROWS ", \"rows\": 1, \"isa\\u0000\": 1}"), "file.json:1:"},
        {WRAP("{" ROWS ", \"rows\": 1}, {\"family\": \"fake.rows\", \"op\": \"conv_fwd\", \"dtype\": \"fp32\", \"isa\": \"avx1\"}"),
         "configs[1]: isa \"avx1\" is not one of: avx2 avx512 avx512vl"},
        {WRAP("{\"family\": \"fake.tile\", \"op\": \"conv_fwd\", \"dtype\": \"fp32\", \"isa\": \"avx2\", \"math\": \"fma\", \"tile_h\": 7, "
              "\"tile_w\": 1, \"order\": \"band\"}"),
         "configs[0]: fake.tile: rule pixels: tile_h times tile_w must be at most 6"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_error err = {0};
        kw_catalog catalog = {0};
        kw_status status = read_text(&catalog, rows[i].text, &err);
        print_message("%s\n", err.text);
        assert_int_not_equal(status, KW_OK);
        assert_int_equal(status, err.status);
        assert_non_null(strstr(err.text, rows[i].fragment));
        kw_catalog_drop(&catalog);
    }
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    enum { DEPTH = 1 << 20 };
    char *text = malloc(DEPTH);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    kw_error err = {0};
    kw_catalog catalog = {0};
    assert_int_equal(kw_catalog_json_read(&catalog, NULL, "file.json", text, DEPTH, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "depth"));
    free(text);
    kw_catalog_drop(&catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_printed_is_read_again),
        cmocka_unit_test(an_empty_registry_is_a_registry),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(deep_nesting_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
