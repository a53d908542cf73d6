/* test_filter.c: filters select what they say, and cannot do anything else. */
#include "fake_families.h"
#include "space/filter/filter.h"

#include "base/os/clock.h"
#include "support/kw_test.h"

static const char tile_text[] = "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=6 order=band";
static const char rows_text[] = "fake.rows conv_fwd fp32 isa=avx2 math=fma rows=3";

static kw_config parse(const char *text) {
    kw_config config;
    assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
    return config;
}

/* 't', 'f' or 'e' (error) for one config. */
static char answer(const char *expression, const char *text, kw_error *err) {
    kw_config config = parse(text);
    kw_filter *filter = NULL;
    bool selected = false;
    kw_status status = kw_filter_open(&filter, expression, NULL, err);
    if (!status) {
        status = kw_filter_test(filter, &config, &selected, err);
    }
    kw_filter_close(&filter);
    return status ? 'e' : selected ? 't' : 'f';
}

static void good_expressions_select(void **state) {
    (void)state;
    /* expected for the tile config, then for the rows config */
    static const struct {
        const char *expression;
        char tile, rows;
    } rows[] = {
        {"true", 't', 't'},
        {"false", 'f', 'f'},
        {"c.tile_w >= 6 and c.family == 'fake.tile'", 't', 'f'},
        {"c.tile_w > 6", 'f', 'f'},
        {"c.family == \"fake.rows\" or c.tile_w == 6", 't', 't'},
        {"c.tile_w == 6 or c.family == 'fake.rows'", 't', 'f'}, /* touches an axis that fake.rows lacks */
        {"not (c.tile_w > 100)", 't', 'f'},
        {"c.rows == 3", 'f', 't'},
        {"c.isa == 'avx512'", 't', 'f'},
        {"c.order ~= 'image'", 't', 'f'},
        {"c.op == 'conv_fwd' and c.dtype == 'fp32'", 't', 't'},
        {"math.max(c.tile_h, 4) * 2 == 8", 't', 'f'},
        {"c.tile_h * c.tile_w % 4 == 2", 't', 'f'},
        {"math.floor(7 / 2) == 3 and math.type == nil", 'e', 'e'},
        {"c.family == 'fake.tile' -- with a comment", 't', 'f'},
        {"c.tile_h == 1\nand c.tile_w == 6", 't', 'f'},
        {"(function() for _, w in ipairs({4, 6}) do if c.tile_w == w then return true end end return false end)()", 't', 'f'},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_error err = {0};
        print_message("%s\n", rows[i].expression);
        assert_int_equal(answer(rows[i].expression, tile_text, &err), rows[i].tile);
        assert_int_equal(answer(rows[i].expression, rows_text, &err), rows[i].rows);
    }
}

static void bad_expressions_are_named(void **state) {
    (void)state;
    static const struct {
        const char *expression;
        kw_status status;
        const char *fragment;
    } rows[] = {
        {"", KW_MALFORMED, "yields nothing"},
        {"true, false", KW_MALFORMED, "yields list"},
        {"c.tile_w >=", KW_MALFORMED, "unexpected symbol"},
        {"c.tile_w >= 6 and", KW_MALFORMED, "near <eof>"},
        {"c.tile_w = 6", KW_MALFORMED, "expected"},
        {"true; os.exit(1)", KW_MALFORMED, "expected"},
        {"\x1bLua", KW_MALFORMED, "unexpected symbol"},
        {"c.tilew == 6", KW_MISSING, "no family has an axis 'tilew'"},
        {"c[1] == 6", KW_MISSING, "read by names"},
        {"c.tile_w", KW_MALFORMED, "yields number"},
        {"nil", KW_MALFORMED, "yields nil"},
        {"'false'", KW_MALFORMED, "yields string"},
        {"c.tile_w > '5'", KW_MALFORMED, "compare"},
        {"c.isa > 5", KW_MALFORMED, "compare"},
        {"os.execute('true')", KW_MISSING, "'os' is not known"},
        {"io.open('/etc/passwd')", KW_MISSING, "'io' is not known"},
        {"require('os')", KW_MISSING, "'require' is not known"},
        {"load('return 1')()", KW_MISSING, "'load' is not known"},
        {"loadstring('return 1')()", KW_MISSING, "'loadstring' is not known"},
        {"dofile('/etc/passwd')", KW_MISSING, "'dofile' is not known"},
        {"pcall(error)", KW_MISSING, "'pcall' is not known"},
        {"coroutine.create(error)", KW_MISSING, "'coroutine' is not known"},
        {"setmetatable({}, {})", KW_MISSING, "'setmetatable' is not known"},
        {"getmetatable(c)", KW_MISSING, "'getmetatable' is not known"},
        {"rawset(c, 1, 1)", KW_MISSING, "'rawset' is not known"},
        {"debug.getregistry()", KW_MISSING, "'debug' is not known"},
        {"string.rep('x', 1e9)", KW_MISSING, "'string' is not known"},
        {"_G.os", KW_MISSING, "'_G' is not known"},
        {"math.random()", KW_MISSING, "'random' is not known"},
        {"('x'):rep(1e9) == ''", KW_MALFORMED, "index a string value"},
        {"(function() math.max = 1 end)()", KW_ILLEGAL, "'max' cannot be assigned"},
        {"(function() x = 1 end)()", KW_ILLEGAL, "'x' cannot be assigned"},
        {"(function() c.tile_w = 1 end)()", KW_ILLEGAL, "c cannot be changed"},
        {"(function() while true do end end)()", KW_ILLEGAL, "endless loop"},
        {"(function() local t = {} while true do t[#t + 1] = {} end end)()", KW_ILLEGAL, "more than 4096 KiB"},
        {"(function() local s = 'x' while true do s = s .. s end end)()", KW_ILLEGAL, "more than 4096 KiB"},
        {"(function() local function f() return 1 + f() end return f() end)()", KW_ILLEGAL, "more than 4096 KiB"},
        {"error()", KW_MALFORMED, "without a text"},
        {"error({})", KW_MALFORMED, "without a text"},
        {"error('reasons')", KW_MALFORMED, "reasons"},
        {"assert(false)", KW_MALFORMED, "assertion failed"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_error err = {0};
        assert_int_equal(answer(rows[i].expression, tile_text, &err), 'e');
        print_message("%s\n", err.text);
        assert_int_equal(err.status, rows[i].status);
        assert_non_null(strstr(err.text, rows[i].fragment));
        assert_ptr_equal(strstr(err.text, "filter '"), err.text);
        assert_null(strchr(err.text, '\n'));
    }
}

static void long_and_deep_expressions_are_refused(void **state) {
    (void)state;
    size_t size = 10 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    text[size] = 0;
    kw_error err = {0};
    memset(text, '(', size);
    assert_int_equal(answer(text, tile_text, &err), 'e');
    assert_non_null(strstr(err.text, "at most 65536"));
    text[60000] = 0;
    assert_int_equal(answer(text, tile_text, &err), 'e');
    assert_non_null(strstr(err.text, "overflow"));
    free(text);
}

static void a_filter_survives_its_own_errors(void **state) {
    (void)state;
    kw_config tile = parse(tile_text), rows = parse(rows_text);
    kw_filter *filter = NULL;
    bool selected;
    assert_int_equal(kw_filter_open(&filter, "c.tile_w == 6", NULL, NULL), KW_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(kw_filter_test(filter, &rows, &selected, NULL), KW_OK);
        assert_false(selected);
        assert_int_equal(kw_filter_test(filter, &tile, &selected, NULL), KW_OK);
        assert_true(selected);
    }
    kw_filter_close(&filter);
    assert_int_equal(kw_filter_open(&filter, "c.isa == 'avx2' or c.nothing == 1", NULL, NULL), KW_OK);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(kw_filter_test(filter, &tile, &selected, NULL), KW_MISSING);
        assert_int_equal(kw_filter_test(filter, &rows, &selected, NULL), KW_OK);
        assert_true(selected);
    }
    kw_filter_close(&filter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_expressions_select),
        cmocka_unit_test(bad_expressions_are_named),
        cmocka_unit_test(long_and_deep_expressions_are_refused),
        cmocka_unit_test(a_filter_survives_its_own_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
