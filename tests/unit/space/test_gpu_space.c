/* test_gpu_space.c: properties of the sets of GPU architectures as they are, and how points are read. */
#include "base/os/file.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const sets[] = {"tiny", "default", "full-tests", "full"};
enum { SETS = sizeof sets / sizeof *sets, ARCHS_MOST = 16 };
enum { TINY, FULL_TESTS = 2, FULL }; /* of sets */

static bool add(void *user, const kw_config *config) {
    bool fresh;
    return !kw_catalog_add(user, config, &fresh, NULL) && fresh;
}

static kw_catalog take(const char *set, const char *arch) {
    kw_catalog catalog = {0};
    kw_error err = {0};
    if (kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .set = set, .arch = arch}, add, &catalog, &err)) {
        fail_msg("%s on %s: %s", set, arch, err.text);
    }
    return catalog;
}

/* The sets of each architecture, in the order of kw_gpu_archs; read by several tests, so taken once. */
static kw_catalog taken[ARCHS_MOST][SETS];

static int take_all(void **state) {
    (void)state;
    for (int arch = 0; kw_gpu_archs[arch].name; arch++) {
        assert_true(arch < ARCHS_MOST);
        for (int set = 0; set < SETS; set++) {
            taken[arch][set] = take(sets[set], kw_gpu_archs[arch].name);
        }
    }
    return 0;
}

static int drop_all(void **state) {
    (void)state;
    for (int arch = 0; arch < ARCHS_MOST; arch++) {
        for (int set = 0; set < SETS; set++) {
            kw_catalog_drop(&taken[arch][set]);
        }
    }
    return 0;
}

static void configs_run_and_survive_their_text(void **state) {
    (void)state;
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        for (int set = 0; set < SETS; set++) {
            const kw_catalog *catalog = &taken[arch - kw_gpu_archs][set];
            for (size_t i = 0; i < catalog->count; i++) {
                char text[KW_CONFIG_TEXT_MAX];
                kw_config read;
                kw_error err = {0};
                assert_true(kw_config_print(text, sizeof text, &catalog->configs[i]) < sizeof text);
                if (kw_config_parse(&read, text, &err) || kw_config_runs(&read, &arch->typical, &err)) {
                    fail_msg("%s %s: %s: %s", sets[set], arch->name, text, err.text);
                }
                assert_true(kw_catalog_has(catalog, &read));
            }
        }
    }
}

static bool is_narrow(const kw_config *config) {
    kw_word spec = kw_config_axis_word(config, "spec");
    return (!spec.size || kw_word_is(spec, "default")) && kw_config_axis(config, "vec_a", 0) == 1 &&
           kw_config_axis(config, "vec_b", 0) == 1 && kw_config_axis(config, "vec_c", 0) == 1;
}

/* What a problem with an odd count of channels asks for. */
static void every_set_serves_any_count_of_channels(void **state) {
    (void)state;
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        for (int set = 0; set < SETS; set++) {
            const kw_catalog *catalog = &taken[arch - kw_gpu_archs][set];
            for (int op = 0; op < KW_OP_COUNT; op++) {
                for (int dtype = 0; dtype <= KW_INT8; dtype++) {
                    bool plain = false, narrow = false, tiled = false;
                    for (size_t i = 0; i < catalog->count; i++) {
                        const kw_config *c = &catalog->configs[i];
                        bool same = c->op == (kw_op)op && c->dtype == (kw_dtype)dtype;
                        plain = plain || (same && !c->family->axis_count);
                        narrow = narrow || (same && c->family->axis_count && is_narrow(c));
                        tiled = tiled || (same && kw_config_axis(c, "vec_a", 0)); /* of a matrix product */
                    }
                    assert_true(plain);
                    if (tiled) {
                        assert_true(narrow);
                    }
                }
            }
        }
    }
}

static void thin_sets_are_parts_of_full(void **state) {
    (void)state;
    for (int arch = 0; kw_gpu_archs[arch].name; arch++) {
        const kw_catalog *full = &taken[arch][FULL], *fifth = &taken[arch][FULL_TESTS], *tiny = &taken[arch][TINY];
        for (size_t i = 0; i < fifth->count; i++) {
            assert_true(kw_catalog_has(full, &fifth->configs[i]));
        }
        for (size_t i = 0; i < tiny->count; i++) {
            assert_true(kw_catalog_has(fifth, &tiny->configs[i]));
        }
        assert_in_range(fifth->count, full->count / 6, full->count / 3);
    }
}

/* By processor time, which other programs do not lengthen as they do the time that passes. */
static void a_full_set_takes_a_tenth_of_a_second(void **state) {
    (void)state;
    double best = 1e9;
    size_t count = 0;
    for (int i = 0; i < 3; i++) {
        clock_t start = clock();
        kw_catalog full = take("full", "gfx942");
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        best = seconds < best ? seconds : best;
        count = full.count;
        kw_catalog_drop(&full);
    }
    print_message("full on gfx942: %zu configs in %.1f ms\n", count, best * 1e3);
    assert_true(best < 1); /* 0.1 when all is well; an instrumented build has several times that */
}

/* --- points, by a folder of rules of our own --- */

static const char small_arch[] =
    "return {backend='hip', features={}, waves={'2x2x1'}, tiles={fp16={'32x32x16'}}, preshuffle={}, typical={}}";

static void write_at(const char *folder, const char *file, const char *text) {
    char path[512];
    kw_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder, file);
    assert_int_equal(kw_file_replace(path, text, strlen(text), 0644, &err), KW_OK);
}

static void copy_family(const char *folder, const char *file) {
    kw_arena arena = {0};
    char path[512], *text;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", KW_RULES_FOLDER, file);
    assert_int_equal(kw_file_read(&arena, path, 1 << 20, &text, &size, NULL), KW_OK);
    write_at(folder, file, text);
    kw_arena_drop(&arena);
}

static void make_rules(char *folder, const char *set, const char *table) {
    static const char *const parts[] = {"", "/arch", "/families", "/sets", "/tables"};
    assert_non_null(mkdtemp(folder));
    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s%s", folder, parts[i]);
        assert_int_equal(mkdir(path, 0755), 0);
    }
    write_at(folder, "arch/gfx942.lua", small_arch);
    write_at(folder, "arch/gfx1.lua", small_arch);
    copy_family(folder, "families/conv.igemm.lua");
    copy_family(folder, "tables/arch.lua");
    write_at(folder, "sets/s.lua", set);
    write_at(folder, "tables/t.lua", table);
}

static void remove_rules(const char *folder) {
    static const char *const files[] = {"arch/gfx942.lua",
                                        "arch/gfx1.lua",
                                        "families/conv.igemm.lua",
                                        "tables/arch.lua",
                                        "sets/s.lua",
                                        "tables/t.lua",
                                        "arch",
                                        "families",
                                        "sets",
                                        "tables"};
    char path[512];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        remove(path);
    }
    rmdir(folder);
}

static kw_status enumerate_own(const char *set, const char *table, const char *arch, kw_catalog *catalog, kw_error *err) {
    char folder[] = "/tmp/kw-points-XXXXXX";
    make_rules(folder, set, table);
    kw_space_options options = {.size = sizeof(kw_space_options),
                                .set = "s",
                                .arch = arch,
                                .rules_dir = folder,
                                .filter = "c.op == 'conv_fwd' and c.dtype == 'fp16'"};
    kw_status status = kw_enumerate(&options, add, catalog, err);
    remove_rules(folder);
    return status;
}

#define POINTS(body) "return {about='x', families={['conv.igemm']={points=function(arch, op, dtype, legal) " body " end}}}"

static void points_take_defaults_and_star_stands_for_every_legal_value(void **state) {
    (void)state;
    static const struct {
        const char *set;
        size_t count;
    } rows[] = {
        {POINTS("return {}"), 0},
        {POINTS("return {{}}"), 1},
        {POINTS("return {{}, {vec_a=4}, {tile_k=64}}"), 1},                 /* the same config three times */
        {POINTS("return {{ndim='*'}}"), 3},                                 /* 1, 2, 3 */
        {POINTS("return {{ndim=-1, vec_c='*'}}"), 15},                      /* all widths are legal there */
        {POINTS("return {{pipe='*'}}"), 6},                                 /* not compv4, comp_async: two stages; not compv5: two groups */
        {POINTS("return {{wave_m='*', wave_n=2}}"), 1},                     /* as the architecture file lists */
        {POINTS("return {{tile_m=100}}"), 0},                               /* C refuses it */
        {POINTS("return {{tile_m=legal({tile_m=100}) and 256 or 64}}"), 1}, /* legal() says so beforehand */
        {POINTS("local t = include 'tables/t' return {{ndim=t.n}, {ndim=t.n}}"), 1},
        {POINTS("local a, b, c = numbers '2x4-8' return {{vec_a=a, vec_b=b, vec_c=c}}"), 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        if (enumerate_own(rows[i].set, "return {n=3}", "gfx942", &catalog, &err)) {
            fail_msg("row %zu: %s", i, err.text);
        }
        if (catalog.count != rows[i].count) {
            fail_msg("%s: %zu configs, not %zu", rows[i].set, catalog.count, rows[i].count);
        }
        kw_catalog_drop(&catalog);
    }
}

static void faults_of_points_name_file_and_reason(void **state) {
    (void)state;
    static const struct {
        const char *set, *table, *arch, *fragment;
    } rows[] = {
        {POINTS("return 7"), "return 1", "gfx942", "sets/s.lua: points() must return a list, not a number"},
        {POINTS("return {7}"), "return 1", "gfx942", "sets/s.lua: a point is a table of axes"},
        {POINTS("return {{tile_q=1}}"), "return 1", "gfx942", "sets/s.lua: conv.igemm has no axis 'tile_q'"},
        {POINTS("return {{pipe='compv9'}}"), "return 1", "gfx942", "axis pipe has no value 'compv9'"},
        {POINTS("return {{tile_m=4096}}"), "return 1", "gfx942", "axis tile_m: 4096 is outside 1..1024"},
        {POINTS("return {{tile_m=1.5}}"), "return 1", "gfx942", "not a whole number"},
        {POINTS("return {{tile_m='*', tile_n='*', tile_k='*', pipe='*', sched='*', vec_a='*', vec_b='*', vec_c='*', epi='*', stages='*'}}"),
         "return 1", "gfx942", "stand for more than 4000000 configs"},
        {POINTS("return legal(3)"), "return 1", "gfx942", "table expected"},
        {POINTS("return include 'tables/u'"), "return 1", "gfx942", "'u' is not known; known: arch t"},
        {POINTS("return include 'sets/s'"), "return 1", "gfx942", "'sets/s' does not begin with tables/"},
        {POINTS("return include 'tables/../sets/s'"), "return 1", "gfx942", "is not known"},
        {POINTS("return include 'tables/t'"), "return include 'tables/t'", "gfx942", "tables/t includes itself"},
        {POINTS("return include 'tables/t'"), "local x = 1", "gfx942", "tables/t.lua: must return a value"},
        {POINTS("return numbers '99999999999'"), "return 1", "gfx942", "has a number beyond"},
        {"return {about='x', families={['conv.igemm']={}}}", "return 1", "gfx942", "a table gives 'points'"},
        {"return {about='x', families={['conv.igemm']={builder='tests'}}}", "return 1", "gfx942", "--builder-conf DIR"},
        {POINTS("return {}"), "return 1", "gfx1", "the library was built without this GPU"},
        {POINTS("return {}"), "return 1", "gfx943", "architecture 'gfx943' is not known; did you mean gfx942; known: gfx1 gfx942"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        assert_int_not_equal(enumerate_own(rows[i].set, rows[i].table, rows[i].arch, &catalog, &err), KW_OK);
        if (!strstr(err.text, rows[i].fragment)) {
            fail_msg("row %zu: '%s' says nothing of '%s'", i, err.text, rows[i].fragment);
        }
        kw_catalog_drop(&catalog);
    }
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_run_and_survive_their_text),
        cmocka_unit_test(every_set_serves_any_count_of_channels),
        cmocka_unit_test(thin_sets_are_parts_of_full),
        cmocka_unit_test(a_full_set_takes_a_tenth_of_a_second),
        cmocka_unit_test(points_take_defaults_and_star_stands_for_every_legal_value),
        cmocka_unit_test(faults_of_points_name_file_and_reason),
    };
    return cmocka_run_group_tests(tests, take_all, drop_all);
}
