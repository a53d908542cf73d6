/* test_by_rates.c: kernels by the instruction of older cores where a core's dot products get no more done (kw_config_by_rates). */
#include "config/arch/by_rates.h"

#include "support/kw_test.h"

typedef struct by_rates_case {
    const char *config, *rates;
    const char *math; /* of the kernel besides; NULL: there is none */
} by_rates_case;

static void slow_dot_products_bring_kernels_without_them(void **state) {
    static const char bf16[] = "conv.direct conv_fwd bf16 isa=avx512 math=dp tile_h=1 tile_w=5 vecs=2 band=0 edge=skip";
    static const char int8[] = "conv.direct conv_fwd int8 isa=avx512 math=dp tile_h=1 tile_w=5 vecs=2 band=0 edge=pad";
    static const by_rates_case cases[] = {
        {bf16, "fma512=3.66 dp512=3.66", NULL}, /* twice the products */
        {bf16, "fma512=3.66 dp512=1.83", "fma"},
        {bf16, "fma512=3.66 dp512=1.90", "fma"}, /* within what two measurements differ by */
        {bf16, "fma512=3.66 dp512=2", NULL},
        {bf16, "fma512=3.66", NULL}, /* not measured */
        {bf16, "dp512=1.83", NULL},
        {int8, "wide512=3.66 bytes512=3.66 dp512=1 fma512=4", NULL},
        {int8, "wide512=3.66 bytes512=1.83", "wide"},
        {"conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=5 vecs=2 band=0 edge=skip", "fma512=3.66 dp512=1", NULL},
        {"conv.reference conv_fwd bf16", "fma512=3.66 dp512=1", NULL},
        {"conv.reference_gpu conv_fwd bf16", "fma512=3.66 dp512=1", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config, other, wanted;
        kw_rates rates = {0};
        assert_ok(kw_config_parse(&config, cases[i].config, &err), &err);
        assert_true(kw_rates_parse(&rates, (kw_word){cases[i].rates, strlen(cases[i].rates)}));
        assert_int_equal(kw_config_by_rates(&other, &config, &rates), cases[i].math != NULL);
        if (cases[i].math) {
            char text[KW_CONFIG_TEXT_MAX];
            snprintf(text, sizeof text, "%.*s math=%s%s", (int)(strstr(cases[i].config, " math=") - cases[i].config), cases[i].config,
                     cases[i].math, strstr(cases[i].config, " tile_h="));
            assert_ok(kw_config_parse(&wanted, text, &err), &err);
            kw_config_print(text, sizeof text, &other);
            char names[KW_CONFIG_TEXT_MAX];
            kw_config_print(names, sizeof names, &wanted);
            assert_string_equal(text, names);
        }
    }
}

static void slow_dot_products_bring_the_kernels_of_fp32(void **state) {
    static const by_rates_case cases[] = {
        {"conv.depthwise conv_fwd fp32 isa=avx512 math=fma tile_h=3 tile_w=5 taps_h=3 taps_w=3 stride=1 block=0", "fma512=5.4 dp512=1.34",
         "bf16"},
        {"conv.depthwise conv_fwd fp32 isa=avx2 math=fma tile_h=2 tile_w=4 taps_h=3 taps_w=3 stride=1 block=0", "fma512=5.4 dp512=1.34",
         "bf16"},
        {"conv.depthwise conv_fwd fp32 isa=avx512 math=fma tile_h=3 tile_w=5 taps_h=3 taps_w=3 stride=1 block=0", "fma512=3.66 dp512=3.66",
         NULL},
        {"conv.depthwise conv_fwd fp32 isa=avx512 math=fma tile_h=3 tile_w=5 taps_h=3 taps_w=3 stride=1 block=0", "fma512=5.4", NULL},
        {"conv.depthwise conv_fwd fp16 isa=avx512 math=fma tile_h=3 tile_w=5 taps_h=3 taps_w=3 stride=1 block=0", "fma512=5.4 dp512=1.34",
         NULL},
        /* vectors of 8 lanes with 32 registers multiply pairs alone */
        {"conv.direct conv_fwd fp32 isa=avx512vl math=fma tile_h=1 tile_w=5 vecs=3 band=0 edge=skip", "fma512=5.4 dp512=1.34", NULL},
        {"conv.reference conv_fwd fp32", "fma512=5.4 dp512=1.34", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_error err = {0};
        kw_config config, other;
        kw_rates rates = {0};
        assert_ok(kw_config_parse(&config, cases[i].config, &err), &err);
        assert_true(kw_rates_parse(&rates, (kw_word){cases[i].rates, strlen(cases[i].rates)}));
        assert_int_equal(kw_config_as_widened(&other, &config, &rates), cases[i].math != NULL);
        if (cases[i].math) {
            config.dtype = KW_BF16;
            assert_true(kw_config_equal(&other, &config));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_dot_products_bring_kernels_without_them),
        cmocka_unit_test(slow_dot_products_bring_the_kernels_of_fp32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
