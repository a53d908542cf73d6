/* test_rules.c: enumeration from a folder of rule files, over two small families: what comes out, in which order, and which faults in the
 * files are named. Every test writes the folder anew and spoils at most one file. */
#include "base/os/file.h"
#include "fake_families.h"
#include "space/enumerate.h"
#include "space/rules/rule_files.h"
#include "support/kw_test.h"

#include <unistd.h>

typedef struct rule_file {
    const char *name, *text;
} rule_file;

#define TILE_HEAD "return {family='fake.tile', ops={'conv_fwd', 'conv_bwd_data'}, dtypes={'bf16', 'fp32'}, "
#define TILE_AXES                                                                                                                          \
    "axes=function(arch, op, dtype) return {isa=arch.isa, math=arch.math[dtype], tile_h={1, 2}, tile_w={2, 6, 3}, order={'band'}} end, "
#define ROWS_HEAD                                                                                                                          \
    "return {family='fake.rows', ops={'conv_fwd'}, dtypes={'fp32'}, axes=function() return {isa={'avx512'}, math={'fma'}, rows={1, 2, "    \
    "3}} end, rules={}, "
#define TILE_RULES "rules={{'small tiles waste registers', function(c, arch) return c.tile_h * c.tile_w >= 3 end}}}"

static const rule_file good_files[] = {
    {"arch/a.lua", "return {backend='cpu', isa={'avx512', 'avx2'}, math={fp32={'fma'}, bf16={'dp', 'fma'}}, lanes=16, registers=32}"},
    {"sets/s.lua", "return {about='x', families={['fake.tile']=function(c, arch) return c.isa == arch.isa[1] end, ['fake.plain']=true}}"},
    {"families/fake.tile.lua", TILE_HEAD TILE_AXES TILE_RULES},
    {"families/fake.plain.lua", "return {family='fake.plain', ops={'gemm'}, dtypes={'int8'}, axes=function() return {} end, rules={}}"},
    {"families/fake.rows.lua", ROWS_HEAD "}"},
};
enum { GOOD_COUNT = sizeof good_files / sizeof *good_files };

static char folder[64];

static void write_rules(const char *spoilt, const char *text) {
    char path[128];
    for (int i = 0; i < GOOD_COUNT; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, good_files[i].name);
        const char *content = spoilt && !strcmp(spoilt, good_files[i].name) ? text : good_files[i].text;
        assert_int_equal(kw_file_replace(path, content, strlen(content), 0600, NULL), KW_OK);
    }
}

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/kw-rules-XXXXXX");
    if (!mkdtemp(folder)) {
        return -1;
    }
    static const char *const kinds[] = {"arch", "families", "sets"};
    for (int i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", folder, kinds[i]);
        if (kw_folder_make(path, NULL)) {
            return -1;
        }
    }
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    char path[128];
    for (int i = 0; i < GOOD_COUNT; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, good_files[i].name);
        unlink(path);
    }
    static const char *const kinds[] = {"arch", "families", "sets"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, kinds[i]);
        rmdir(path);
    }
    return rmdir(folder);
}

static bool collect(void *user, const kw_config *config) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(user, "%s\n", text);
    return true;
}

static kw_status enumerate(const char *set, const char *arch, const char *filter, kw_text *lines, kw_error *err) {
    return kw_enumerate(
        &(kw_space_options){.size = sizeof(kw_space_options), .set = set, .arch = arch, .filter = filter, .rules_dir = folder}, collect,
        lines, err);
}

static void the_product_comes_in_order_without_what_is_not_wanted(void **state) {
    (void)state;
    /* bf16: dp and fma; fp32: fma. Values in the order that the rules give; 2 x 6 has too many pixels for C, 1 x 2 is not wanted. */
    static const char expected[] = "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=6 order=band\n"
                                   "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=3 order=band\n"
                                   "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=2 tile_w=2 order=band\n"
                                   "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=2 tile_w=3 order=band\n"
                                   "fake.tile conv_fwd bf16 isa=avx512 math=dp tile_h=1 tile_w=6 order=band\n"
                                   "fake.tile conv_fwd bf16 isa=avx512 math=dp tile_h=1 tile_w=3 order=band\n"
                                   "fake.tile conv_fwd bf16 isa=avx512 math=dp tile_h=2 tile_w=2 order=band\n"
                                   "fake.tile conv_fwd bf16 isa=avx512 math=dp tile_h=2 tile_w=3 order=band\n"
                                   "fake.tile conv_fwd bf16 isa=avx512 math=fma tile_h=1 tile_w=6 order=band\n";
    write_rules(NULL, NULL);
    kw_text lines = {0};
    kw_error err = {0};
    assert_int_equal(enumerate("s", "a", NULL, &lines, &err), KW_OK);
    assert_int_equal(strncmp(lines.data, expected, strlen(expected)), 0);
    assert_non_null(strstr(lines.data, "\nfake.plain gemm int8\n"));
    int count = 0;
    for (const char *c = lines.data; *c; c++) {
        count += *c == '\n';
    }
    assert_int_equal(count, 2 * (4 + 8) + 1);
    kw_text again = {0};
    assert_int_equal(enumerate("s", "a", "c.family == 'fake.plain' or c.tile_w > 0", &again, &err), KW_OK);
    assert_string_equal(lines.data, again.data);
    kw_text_drop(&again);
    kw_text_drop(&lines);
}

static void words_lists_the_words_of_an_axis(void **state) {
    (void)state;
    write_rules("families/fake.tile.lua",
                TILE_HEAD "axes=function(arch, op, dtype, words) return {isa={'avx512'}, math={'fma'}, tile_h={1}, "
                          "tile_w={3}, order=words('order')} end, rules={}}");
    kw_text lines = {0};
    kw_error err = {0};
    assert_int_equal(enumerate("s", "a", "c.family == 'fake.tile' and c.op == 'conv_fwd' and c.dtype == 'fp32'", &lines, &err), KW_OK);
    assert_string_equal(lines.data, "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=3 order=band\n"
                                    "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=3 order=image\n");
    kw_text_drop(&lines);
    write_rules("families/fake.tile.lua", TILE_HEAD "axes=function(arch, op, dtype, words) return {tile_h=words('tile_h')} end, rules={}}");
    assert_int_equal(enumerate("s", "a", NULL, &lines, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "fake.tile has no axis 'tile_h' whose values are words"));
    kw_text_drop(&lines);
}

static bool stop(void *user, const kw_config *config) {
    (void)config;
    return ++*(int *)user < 3;
}

static void the_visitor_may_stop(void **state) {
    (void)state;
    write_rules(NULL, NULL);
    int count = 0;
    kw_space_options options = {.size = sizeof(kw_space_options), .set = "s", .arch = "a", .rules_dir = folder};
    assert_int_equal(kw_enumerate(&options, stop, &count, NULL), KW_OK);
    assert_int_equal(count, 3);
}

static void names_are_listed_and_unknown_ones_refused(void **state) {
    (void)state;
    write_rules(NULL, NULL);
    kw_text text = {0};
    assert_int_equal(kw_rule_names(&text, folder, "families", ' ', NULL), KW_OK);
    assert_string_equal(text.data, "fake.plain fake.rows fake.tile ");
    kw_text_drop(&text);
    static const struct {
        const char *set, *arch, *fragment;
    } rows[] = {
        {"s", "gfx9999", "'gfx9999' is not known; known: a (one file each"},
        {"t", "a", "'t' is not known; known: s (one file each"},
        {"../sets/s", "a", "'../sets/s' is not known"},
        {"", "a", "'' is not known"},
        {"s", "../../etc/passwd", "is not known"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_error err = {0};
        assert_int_equal(enumerate(rows[i].set, rows[i].arch, NULL, &text, &err), KW_MISSING);
        assert_non_null(strstr(err.text, rows[i].fragment));
    }
    kw_error err = {0};
    kw_space_options options = {.size = sizeof(kw_space_options), .set = "s", .arch = "a", .rules_dir = "/nonexistent/folder"};
    assert_int_not_equal(kw_enumerate(&options, collect, &text, &err), KW_OK);
    assert_non_null(strstr(err.text, "/nonexistent/folder"));
    kw_text_drop(&text);
}

static void a_family_may_say_itself_what_sets_take(void **state) {
    (void)state;
    kw_text lines = {0};
    kw_error err = {0};
    write_rules("families/fake.rows.lua", ROWS_HEAD "sets={s=function(c) return c.rows >= 2 end, t=true}}");
    assert_int_equal(enumerate("s", "a", "c.family == 'fake.rows'", &lines, &err), KW_OK);
    assert_string_equal(lines.data,
                        "fake.rows conv_fwd fp32 isa=avx512 math=fma rows=2\nfake.rows conv_fwd fp32 isa=avx512 math=fma rows=3\n");
    kw_text_drop(&lines);
    /* The set's own file comes first. */
    write_rules("sets/s.lua", "return {about='x', families={['fake.rows']=function(c) return c.rows == 1 end}}");
    assert_int_equal(enumerate("s", "a", NULL, &lines, &err), KW_OK);
    assert_string_equal(lines.data, "fake.rows conv_fwd fp32 isa=avx512 math=fma rows=1\n");
    kw_text_drop(&lines);
    /* Without a word of it, the family has no part. */
    write_rules(NULL, NULL);
    assert_int_equal(enumerate("s", "a", "c.family == 'fake.rows'", &lines, &err), KW_OK);
    assert_int_equal(lines.size, 0);
    kw_text_drop(&lines);
}

static void faults_name_file_and_reason(void **state) {
    (void)state;
    static const char tile[] = "families/fake.tile.lua", set[] = "sets/s.lua", arch[] = "arch/a.lua",
                      family_rows[] = "families/fake.rows.lua";
    static const struct {
        const char *file, *text, *fragment;
    } rows[] = {
        {arch, "return 7", "arch/a.lua: must return a table, not a number"},
        {arch, "return {backend='cpu'}", "arch/a.lua: 'isa' must be a table, not a nil"},
        {arch, "return {isa={}, math={}}", "arch/a.lua: 'backend' must be a string"},
        {arch, "return {backend='cpu', isa={}, math={}, lane=16}", "arch/a.lua: unknown key 'lane'"},
        {arch, "return {", "arch/a.lua:1:"},
        {arch, "\x1bLua", "binary chunk"},
        {arch, "os.execute('true')", "arch/a.lua:1: 'os' is not known"},
        {arch, "while true do end", "arch/a.lua:1: takes too many steps"},
        {arch, "local s = 'x' while true do s = s .. s end", "more than 65536 KiB"},
        {arch, "lanes = 3", "'lanes' cannot be assigned"},
        {arch, "return {backend='cpu', isa={}, math={}}", "fake.tile.lua: axis math must be a list such as {1, 2}, not nil"},
        {set, "return {families={}}", "sets/s.lua: 'about' must be a string"},
        {set, "return {about='x', families={['fake.tyle']=true}}", "sets/s.lua: no family is named 'fake.tyle'"},
        {set, "return {about='x', families={'fake.tile'}}", "sets/s.lua: no family is named 'number'"},
        {set, "return {about='x', families={['fake.tile']=false}}", "must be true, a function of c and arch, or a table that gives points"},
        {set, "return {about='x', families={['fake.tile']=function(c) return c.rows > 1 end}}",
         "sets/s.lua:1: fake.tile has no axis 'rows'"},
        {set, "return {about='x', families={['fake.tile']=function(c) return 1 end}}", "sets/s.lua: fake.tile yields a number"},
        {set, "return {about='x', families={['fake.tile']=function(c) while true do end end}}", "endless loop"},
        {set, "return {about='x', families={['fake.tile']=function(c, arch) arch.name = 'z' return true end}}",
         "'name' cannot be assigned"},
        {set, "return {about='x', families={['fake.tile']=function(c, arch) arch.isa[1] = 'z' return true end}}", "cannot be assigned"},
        {set, "return {about='x', families={['fake.tile']=function(c, arch) arch.new = 1 return true end}}", "'new' cannot be assigned"},
        {tile, TILE_HEAD "axes=function(arch) arch.math.fp32[2] = 'dp' return {} end, " TILE_RULES, "cannot be assigned"},
        {arch, "local a = {backend='cpu', isa={}, math={}} a.isa[1] = a.isa return a", "deep in each other"},
        {set, "return {about='x', catalog=7}", "sets/s.lua: 'catalog' must be a string with one config a line, not a number"},
        {set, "return {about='x', catalog=[[fake.plain gemm int8\nfake.plain gemm fp99\n]]}", "sets/s.lua: catalog:2: "},
        {family_rows, "return nothing at all, though no set names it", "families/fake.rows.lua:1:"},
        {family_rows, ROWS_HEAD "sets=7}", "families/fake.rows.lua: 'sets' must be a table"},
        {family_rows, ROWS_HEAD "sets={s=7}}", "families/fake.rows.lua: family fake.rows must be true, a function of c and arch"},
        {family_rows, ROWS_HEAD "sets={s={}}}", "families/fake.rows.lua: fake.rows: a table gives 'points'"},
        {tile, "return {family='fake.rows'}", "family is 'fake.rows', but the file is named fake.tile"},
        {tile, "return {family='fake.tile', ops={'gemm'}}", "ops: the family has no 'gemm'"},
        {tile, "return {family='fake.tile', ops={'conv_fwd'}, dtypes={'fp16'}}", "dtypes: the family has no 'fp16'"},
        {tile, "return {family='fake.tile', ops={'conv_fwd'}, dtypes={7}}", "dtypes: the family has no 'number'"},
        {tile, TILE_HEAD TILE_RULES, "'axes' must be a function"},
        {tile, TILE_HEAD TILE_AXES "}", "'rules' must be a table"},
        {tile, TILE_HEAD TILE_AXES "rules={function(c) return true end}}", "rule 1 must be {\"reason\", function"},
        {tile, TILE_HEAD TILE_AXES "rules={{'why', function(c) return c.tile_w end}}}", "why yields a number"},
        {tile, TILE_HEAD TILE_AXES "rules={{'why', function(c) return c.tilew end}}}", "fake.tile.lua:1: no family has an axis 'tilew'"},
        {tile, TILE_HEAD "axes=function() return 3 end, " TILE_RULES, "axes() must return a table"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx2'}} end, " TILE_RULES, "axis math must be a list"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx3'}} end, " TILE_RULES,
         "axis isa has no value 'avx3'; its values are: avx2 avx512 avx512vl"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx2'}, math={'fma', 'fma'}} end, " TILE_RULES, "axis math lists fma twice"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx2'}, math={'fma'}, tile_h={9}} end, " TILE_RULES,
         "axis tile_h: 9 is outside 1..8"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx2'}, math={'fma'}, tile_h={'1'}} end, " TILE_RULES, "not a whole number"},
        {tile, TILE_HEAD "axes=function() return {isa={'avx2'}, math={'fma'}, tile_h={1.5}} end, " TILE_RULES, "not a whole number"},
        {tile,
         TILE_HEAD
         "axes=function() return {isa={'avx2'}, math={'fma'}, tile_h={1}, tile_w={1}, order={'band'}, tile_d={1}} end, " TILE_RULES,
         "families/fake.tile.lua: the family has no axis 'tile_d'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_error err = {0};
        kw_text lines = {0};
        write_rules(rows[i].file, rows[i].text);
        assert_int_not_equal(enumerate("s", "a", NULL, &lines, &err), KW_OK);
        print_message("%s\n", err.text);
        assert_non_null(strstr(err.text, rows[i].fragment));
        assert_ptr_equal(strstr(err.text, folder), err.text);
        kw_text_drop(&lines);
    }
}

static void a_set_with_a_catalog_is_what_the_catalog_and_the_rules_have_in_common(void **state) {
    (void)state;
    /* The second line is not wanted by the family's rules, the third not generated for this architecture. */
#define CATALOG                                                                                                                            \
    "catalog=[[# a comment\n"                                                                                                              \
    "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=2 tile_w=2 order=band\n"                                                           \
    "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 order=band\n"                                                           \
    "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=2 tile_w=2 order=image\n"                                                          \
    "fake.tile conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=3 order=band\n"                                                             \
    "fake.plain gemm int8\n]]"
#define FIRST "fake.tile conv_fwd fp32 isa=avx512 math=fma tile_h=2 tile_w=2 order=band\n"
#define SECOND "fake.tile conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=3 order=band\n"
    static const struct {
        const char *set, *lines;
    } rows[] = {
        {"return {about='x', " CATALOG "}", FIRST SECOND "fake.plain gemm int8\n"},
        {"return {about='x', " CATALOG ", families={['fake.tile']=true}}", FIRST SECOND},
        {"return {about='x', " CATALOG ", families={['fake.tile']=function(c, arch) return c.isa == arch.isa[1] end}}", FIRST},
        {"return {about='x', catalog='', families={['fake.tile']=true}}", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_text lines = {0};
        kw_error err = {0};
        write_rules("sets/s.lua", rows[i].set);
        if (enumerate("s", "a", NULL, &lines, &err)) {
            fail_msg("%s", err.text);
        }
        assert_string_equal(kw_text_string(&lines), rows[i].lines);
        kw_text_drop(&lines);
    }
}

static void a_filter_error_stops_the_enumeration(void **state) {
    (void)state;
    write_rules(NULL, NULL);
    kw_text lines = {0};
    kw_error err = {0};
    assert_int_equal(enumerate("s", "a", "c.tyle_w > 3", &lines, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "tyle_w"));
    assert_int_equal(lines.size, 0);
    kw_text_drop(&lines);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_product_comes_in_order_without_what_is_not_wanted),
        cmocka_unit_test(words_lists_the_words_of_an_axis),
        cmocka_unit_test(a_family_may_say_itself_what_sets_take),
        cmocka_unit_test(the_visitor_may_stop),
        cmocka_unit_test(names_are_listed_and_unknown_ones_refused),
        cmocka_unit_test(faults_name_file_and_reason),
        cmocka_unit_test(a_set_with_a_catalog_is_what_the_catalog_and_the_rules_have_in_common),
        cmocka_unit_test(a_filter_error_stops_the_enumeration),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
