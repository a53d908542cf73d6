/* test_epilogue_text.c: what a config's epilogue becomes in a kernel's text. */
#include "config/config.h"
#include "families/epilogue_text.h"
#include "families/source.h"
#include "support/kw_test.h"

#define POINTWISE "conv.pointwise conv_fwd bf16 isa=avx512 math=dp tile_m=2 vecs=1 band=0 ahead=0"

static kw_config config_of(const char *text) {
    kw_config config;
    kw_error err = {0};
    assert_ok(kw_config_parse(&config, text, &err), &err);
    return config;
}

static void a_statement_a_step(void **state) {
    static const struct {
        const char *config, *text;
    } rows[] = {
        {POINTWISE, "#define KW_X_ZERO 0\n#define KW_W_ZERO 0\n#define KW_EPILOGUE_WHOLE 0\n#define KW_EPILOGUE 0\n#define "
                    "KW_EPILOGUE_LONG 0\n#define KW_EPILOGUE_PLACED 0\n"},
        {POINTWISE " out=int8", "#define KW_X_ZERO 0\n#define KW_W_ZERO 0\n#define KW_EPILOGUE_WHOLE 0\n#define KW_EPILOGUE 1\n#define "
                                "KW_EPILOGUE_LONG 0\n#define KW_EPILOGUE_PLACED 0\n"
                                "#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL)\n"},
        {POINTWISE " epilogue=scale:fp32,add:bf16:0.5,multiply:int8,clamp:-1:6",
         "#define KW_X_ZERO 0\n#define KW_W_ZERO 0\n#define KW_EPILOGUE_WHOLE 0\n#define KW_EPILOGUE 1\n#define KW_EPILOGUE_LONG "
         "0\n#define KW_EPILOGUE_PLACED 0\n"
         "#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL) \\\n"
         "    v = v * ONE(fp32, 0); \\\n"
         "    v = v + 0.5f * ALL(bf16, 1); \\\n"
         "    v = v * ALL(int8, 2); \\\n"
         "    v = F(clamp)(v, -1.0f, 6.0f);\n"},
        {POINTWISE " epilogue=gelu,bias:fp16,scale_row:int32",
         "#define KW_X_ZERO 0\n#define KW_W_ZERO 0\n#define KW_EPILOGUE_WHOLE 0\n#define KW_EPILOGUE 1\n#define KW_EPILOGUE_LONG "
         "1\n#define KW_EPILOGUE_PLACED 1\n"
         "#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL) \\\n"
         "    v = F(gelu)(v); \\\n"
         "    v = v + CHANNEL(fp16, 0); \\\n"
         "    v = v * ROW(int32, 1);\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config = config_of(rows[i].config);
        kw_text text = {0};
        kw_epilogue_emit(&text, &config);
        assert_string_equal(kw_text_string(&text), rows[i].text);
        kw_text_drop(&text);
    }
}

/* Only a kernel that has one carries the words for it. */
static void a_source_has_the_words_it_needs(void **state) {
    static const struct {
        const char *config, *out;
        bool words;
    } rows[] = {{POINTWISE, "#define KW_OUT 1\n", false},
                {POINTWISE " out=fp8", "#define KW_OUT 3\n", true},
                {POINTWISE " epilogue=relu", "#define KW_OUT 1\n", true}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config = config_of(rows[i].config);
        kw_text source = {0};
        kw_error err = {0};
        assert_ok(kw_source_make(&source, &config, (kw_code){0}, &err), &err);
        assert_non_null(strstr(kw_text_string(&source), rows[i].out));
        assert_int_equal(strstr(kw_text_string(&source), "/* ---- prelude/epilogue_cpu.h ---- */") != NULL, rows[i].words);
        kw_text_drop(&source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_statement_a_step),
        cmocka_unit_test(a_source_has_the_words_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
