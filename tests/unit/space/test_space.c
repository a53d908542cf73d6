/* test_space.c: properties of the rules as they are: every set of every architecture, over the real families. */
#include "base/clock.h"
#include "base/hash.h"
#include "config/catalog.h"
#include "config/isa.h"
#include "space/enumerate.h"
#include "space/rule_files.h"
#include "space/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const sets[] = {"tiny", "tests", "default", "full"};
enum { SETS = 4, FULL = 3 };

static bool add(void *user, const kw_config *config) {
    bool added;
    return !kw_catalog_add(user, config, &added, NULL) && added; /* stops at a config that comes twice */
}

static bool count_one(void *user, const kw_config *config) {
    (void)config;
    ++*(size_t *)user;
    return true;
}

static void enumerate(kw_catalog *catalog, const char *set, const char *arch) {
    kw_error err = {0};
    *catalog = (kw_catalog){0};
    if (kw_enumerate(&(kw_space_options){.set = set, .arch = arch}, add, catalog, &err)) {
        fail_msg("%s %s: %s", set, arch, err.text);
    }
}

static bool same(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype && !memcmp(a->axis, b->axis, sizeof a->axis);
}

static void every_config_is_one_of_its_kind_runs_and_survives_its_text(void **state) {
    (void)state;
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        kw_target target = {.backend = "cpu", .units = 1, .lanes = arch->lanes, .registers = arch->registers};
        strncpy(target.arch, arch->name, sizeof target.arch - 1);
        for (int set = 0; set < SETS; set++) {
            kw_catalog catalog;
            size_t visited = 0;
            enumerate(&catalog, sets[set], arch->name);
            assert_int_equal(kw_enumerate(&(kw_space_options){.set = sets[set], .arch = arch->name}, count_one, &visited, NULL), KW_OK);
            assert_int_equal(visited, catalog.count);
            for (size_t i = 0; i < catalog.count; i++) {
                char text[KW_CONFIG_TEXT_MAX];
                kw_error err = {0};
                kw_config again = {0};
                assert_true(kw_config_print(text, sizeof text, &catalog.configs[i]) < sizeof text);
                if (kw_config_parse(&again, text, &err) || kw_config_runs(&again, &target, &err)) {
                    fail_msg("%s %s: %s: %s", sets[set], arch->name, text, err.text);
                }
                assert_true(same(&again, &catalog.configs[i]));
            }
            kw_catalog_drop(&catalog);
        }
    }
}

static void the_order_is_the_same_each_time(void **state) {
    (void)state;
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        kw_catalog first, second;
        enumerate(&first, "full", arch->name);
        enumerate(&second, "full", arch->name);
        assert_int_equal(first.count, second.count);
        for (size_t i = 0; i < first.count; i++) {
            assert_true(same(&first.configs[i], &second.configs[i]));
        }
        kw_catalog_drop(&first);
        kw_catalog_drop(&second);
    }
}

/* How many configs of the catalog have the kernel's family, op and dtype. */
static size_t count_like(const kw_catalog *catalog, const kw_config *like) {
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        const kw_config *config = &catalog->configs[i];
        count += config->family == like->family && config->op == like->op && config->dtype == like->dtype;
    }
    return count;
}

static void sets_are_parts_of_full_and_have_their_sizes(void **state) {
    (void)state;
    static const size_t most[SETS] = {2, 64, 24, SIZE_MAX};
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        kw_catalog full;
        enumerate(&full, "full", arch->name);
        for (int set = 0; set < FULL; set++) {
            kw_catalog part;
            enumerate(&part, sets[set], arch->name);
            for (size_t i = 0; i < part.count; i++) {
                assert_true(kw_catalog_has(&full, &part.configs[i]));
            }
            for (size_t i = 0; i < full.count; i++) {
                const kw_config *config = &full.configs[i];
                size_t count = count_like(&part, config);
                if (!count || count > most[set]) {
                    fail_msg("%s %s: %zu configs of %s %s %s; from 1 to %zu are wanted", sets[set], arch->name, count, config->family->name,
                             kw_op_name(config->op), kw_dtype_name(config->dtype), most[set]);
                }
            }
            kw_catalog_drop(&part);
        }
        kw_catalog_drop(&full);
    }
}

/* Whether some config of the family in the catalog has the value on the axis. */
static bool covered(const kw_catalog *catalog, const kw_family *family, int axis, int32_t value) {
    for (size_t i = 0; i < catalog->count; i++) {
        if (catalog->configs[i].family == family && catalog->configs[i].axis[axis] == value) {
            return true;
        }
    }
    return false;
}

static void set_tests_has_every_value_of_every_axis(void **state) {
    (void)state;
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++) {
        kw_catalog full, tests;
        enumerate(&full, "full", arch->name);
        enumerate(&tests, "tests", arch->name);
        for (size_t i = 0; i < full.count; i++) {
            const kw_config *config = &full.configs[i];
            for (int axis = 0; axis < config->family->axis_count; axis++) {
                if (!covered(&tests, config->family, axis, config->axis[axis])) {
                    fail_msg("%s: set tests has no config of %s with %s number %d", arch->name, config->family->name,
                             config->family->axes[axis].name, config->axis[axis]);
                }
            }
        }
        kw_catalog_drop(&full);
        kw_catalog_drop(&tests);
    }
}

static void every_family_has_rules_and_a_place_in_every_set(void **state) {
    (void)state;
    for (int set = 0; set < SETS; set++) {
        kw_catalog catalog;
        enumerate(&catalog, sets[set], "x86-64-v4-bf16");
        for (const kw_family *const *family = kw_family_table; *family; family++) {
            size_t i = 0;
            while (i < catalog.count && catalog.configs[i].family != *family) {
                i++;
            }
            if (i == catalog.count) {
                fail_msg("set %s has nothing of %s", sets[set], (*family)->name);
            }
        }
        kw_catalog_drop(&catalog);
    }
}

static void a_full_set_takes_well_under_a_second(void **state) {
    (void)state;
    int64_t start = kw_clock_thread_ns();
    size_t count = 0;
    assert_int_equal(kw_enumerate(&(kw_space_options){.set = "full", .arch = "x86-64-v4-bf16"}, count_one, &count, NULL), KW_OK);
    double ms = (double)(kw_clock_thread_ns() - start) * 1e-6;
    print_message("full on x86-64-v4-bf16: %zu configs in %.1f ms\n", count, ms);
#ifdef __OPTIMIZE__
    assert_true(ms < 1000);
#endif
}

/* --- the architectures of the rules are those of C --- */

typedef struct arch_check {
    const kw_cpu_arch *arch;
    kw_rule_text text;
} arch_check;

static bool lists(lua_State *state, int table, const char *word) {
    bool found = false;
    for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(state, table); i++) {
        lua_rawgeti(state, table, i);
        found = found || !strcmp(lua_tostring(state, -1), word);
        lua_pop(state, 1);
    }
    return found;
}

static int check_arch(lua_State *state) {
    const arch_check *check = lua_touserdata(state, 1);
    const kw_cpu_arch *arch = check->arch;
    kw_lua_compile(state, check->text.file, check->text.text, check->text.size);
    lua_call(state, 0, 1);
    lua_getfield(state, 2, "isa");
    lua_getfield(state, 2, "math");
    lua_getfield(state, 4, "bf16");
    lua_getfield(state, 2, "lanes");
    lua_getfield(state, 2, "registers");
    bool good = lists(state, 3, "avx2") == arch->avx2 && lists(state, 3, "avx512") == arch->avx512 && lists(state, 5, "dp") == arch->bf16 &&
                lua_tointeger(state, 6) == arch->lanes && lua_tointeger(state, 7) == arch->registers;
    if (!good) {
        kw_lua_raise(state, KW_FAILED, "%s and kw_cpu_archs differ", check->text.file);
    }
    return 0;
}

static void architectures_agree_with_the_table_in_c(void **state) {
    (void)state;
    size_t count = 0;
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name; arch++, count++) {
        kw_arena arena = {0};
        kw_lua *lua = NULL;
        kw_error err = {0};
        arch_check check = {.arch = arch};
        assert_int_equal(kw_rule_file(&arena, NULL, (kw_rule_name){"arch", arch->name}, &check.text, &err), KW_OK);
        assert_int_equal(kw_lua_open(&lua, 1 << 20, &err), KW_OK);
        if (kw_lua_run(lua, check_arch, &check, "test", &err)) {
            fail_msg("%s", err.text);
        }
        kw_lua_close(&lua);
        kw_arena_drop(&arena);
    }
    kw_text names = {0};
    assert_int_equal(kw_rule_names(&names, NULL, "arch", '\n', NULL), KW_OK);
    for (const char *c = names.data; *c; c++) {
        count -= *c == '\n';
    }
    assert_int_equal(count, 0);
    kw_text_drop(&names);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_config_is_one_of_its_kind_runs_and_survives_its_text),
        cmocka_unit_test(the_order_is_the_same_each_time),
        cmocka_unit_test(sets_are_parts_of_full_and_have_their_sizes),
        cmocka_unit_test(set_tests_has_every_value_of_every_axis),
        cmocka_unit_test(every_family_has_rules_and_a_place_in_every_set),
        cmocka_unit_test(a_full_set_takes_well_under_a_second),
        cmocka_unit_test(architectures_agree_with_the_table_in_c),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
