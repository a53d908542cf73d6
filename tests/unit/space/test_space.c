/* test_space.c: properties of the rules as they are: every set of every architecture, over the real families. */
#include "base/os/clock.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"
#include "config/arch/isa.h"
#include "space/enumerate.h"
#include "space/rules/rule_files.h"
#include "space/rules/rules.h"
#include "support/kw_test.h"

enum { TINY, TESTS, DEFAULT, FULL, SETS, ARCHES = 4 };
static const char *const sets[SETS] = {"tiny", "tests", "default", "full"};

/* Every set of every architecture, enumerated once. */
typedef struct spaces {
    kw_catalog of[ARCHES][SETS];
} spaces;

static bool add(void *user, const kw_config *config) {
    bool added;
    return !kw_catalog_add(user, config, &added, NULL) && added; /* stops at a config that comes twice */
}

static bool count_one(void *user, const kw_config *config) {
    (void)config;
    ++*(size_t *)user;
    return true;
}

static int enumerate_all(void **state) {
    spaces *all = calloc(1, sizeof *all);
    *state = all;
    for (int arch = 0; arch < ARCHES; arch++) {
        for (int set = 0; set < SETS; set++) {
            kw_error err = {0};
            kw_space_options options = {.size = sizeof(kw_space_options), .set = sets[set], .arch = kw_cpu_archs[arch].name};
            if (!all || kw_enumerate(&options, add, &all->of[arch][set], &err)) {
                print_error("%s %s: %s\n", options.set, options.arch, err.text);
                return -1;
            }
        }
    }
    return 0;
}

static int drop_all(void **state) {
    spaces *all = *state;
    for (int i = 0; all && i < ARCHES * SETS; i++) {
        kw_catalog_drop(&all->of[i / SETS][i % SETS]);
    }
    free(all);
    return 0;
}

static bool same(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype && !memcmp(a->axis, b->axis, sizeof a->axis);
}

static bool same_kind(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype;
}

static void configs_run_and_survive_their_text(void **state) {
    const spaces *all = *state;
    enum { STRIDE = 7 }; /* of the full set, every seventh */
    for (int arch = 0; arch < ARCHES; arch++) {
        const kw_cpu_arch *facts = &kw_cpu_archs[arch];
        kw_target target = {.backend = KW_BACKEND_CPU, .units = 1, .lanes = facts->lanes, .registers = facts->registers};
        strncpy(target.arch, facts->name, sizeof target.arch - 1);
        for (int set = 0; set < SETS; set++) {
            const kw_catalog *catalog = &all->of[arch][set];
            for (size_t i = 0; i < catalog->count; i += set == FULL ? STRIDE : 1) {
                char text[KW_CONFIG_TEXT_MAX];
                kw_error err = {0};
                kw_config again = {0};
                assert_true(kw_config_print(text, sizeof text, &catalog->configs[i]) < sizeof text);
                if (kw_config_parse(&again, text, &err) || kw_config_runs(&again, &target, &err)) {
                    fail_msg("%s %s: %s: %s", sets[set], facts->name, text, err.text);
                }
                assert_true(same(&again, &catalog->configs[i]));
            }
        }
    }
}

typedef struct replay {
    const kw_catalog *catalog;
    size_t next;
} replay;

static bool follow(void *user, const kw_config *config) {
    replay *r = user;
    return r->next < r->catalog->count && same(config, &r->catalog->configs[r->next++]);
}

/* Together with add(), which stops at a config that comes twice: each config comes once, in the same order. */
static void the_order_is_the_same_each_time(void **state) {
    const spaces *all = *state;
    for (int set = 0; set < SETS; set++) {
        replay r = {.catalog = &all->of[ARCHES - 1][set]};
        kw_space_options options = {.size = sizeof(kw_space_options), .set = sets[set], .arch = kw_cpu_archs[ARCHES - 1].name};
        assert_int_equal(kw_enumerate(&options, follow, &r, NULL), KW_OK);
        assert_int_equal(r.next, r.catalog->count);
        size_t count = 0;
        assert_int_equal(kw_enumerate(&options, count_one, &count, NULL), KW_OK);
        assert_int_equal(count, r.catalog->count);
    }
}

/* What is listed for problems, held against what the whole list has for them, in its order. */
typedef struct part_of_whole {
    const kw_catalog *whole;
    const kw_problem *problems;
    size_t count, next, listed;
} part_of_whole;

static void pass_over_others(part_of_whole *p) {
    for (; p->next < p->whole->count; p->next++) {
        const kw_config *config = &p->whole->configs[p->next];
        for (size_t i = 0; i < p->count; i++) {
            if (config->op == p->problems[i].op && config->dtype == p->problems[i].dtype) {
                return;
            }
        }
    }
}

static bool follow_part(void *user, const kw_config *config) {
    part_of_whole *p = user;
    pass_over_others(p);
    p->listed++;
    return p->next < p->whole->count && same(config, &p->whole->configs[p->next++]);
}

static size_t check_part(const kw_catalog *whole, kw_space_options options, const kw_problem *problems, size_t count) {
    part_of_whole p = {.whole = whole, .problems = problems, .count = count};
    options.problems = problems;
    options.problem_count = count;
    assert_int_equal(kw_enumerate(&options, follow_part, &p, NULL), KW_OK);
    pass_over_others(&p);
    assert_int_equal(p.next, whole->count); /* no further one */
    return p.listed;
}

static void check_parts(const kw_catalog *whole, kw_space_options options) {
    size_t listed = 0;
    assert_true(whole->count);
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            listed += check_part(whole, options, &(kw_problem){.op = (kw_op)op, .dtype = (kw_dtype)dtype}, 1);
        }
    }
    assert_int_equal(listed, whole->count);
    const kw_problem three[] = {
        {.op = KW_GEMM, .dtype = KW_FP32}, {.op = KW_CONV_FWD, .dtype = KW_BF16}, {.op = KW_GEMM, .dtype = KW_FP32}};
    assert_true(check_part(whole, options, three, 3) < listed);
}

static void kernels_for_problems_are_those_of_the_whole_list(void **state) {
    const spaces *all = *state;
    static const char *const gpus[] = {"sm_90", "gfx942"};
    check_parts(&all->of[ARCHES - 1][TINY], (kw_space_options){.set = "tiny", .arch = kw_cpu_archs[ARCHES - 1].name});
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        kw_catalog whole = {0};
        kw_space_options options = {.set = "default", .arch = gpus[i]};
        assert_int_equal(kw_enumerate(&options, add, &whole, NULL), KW_OK);
        check_parts(&whole, options);
        kw_catalog_drop(&whole);
    }
}

static void problems_without_an_operation_are_refused(void **state) {
    (void)state;
    kw_error err = {0};
    size_t count = 0;
    const kw_problem none = {.op = KW_OP_COUNT};
    kw_space_options options = {.set = "tiny", .arch = "x86-64-v3", .problems = &none, .problem_count = 1};
    assert_int_equal(kw_enumerate(&options, count_one, &count, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "no such operation or type"));
}

/* How many configs of the catalog have the kernel's family, op and dtype. */
static size_t count_like(const kw_catalog *catalog, const kw_config *like) {
    size_t count = 0;
    for (size_t i = 0; i < catalog->count; i++) {
        count += same_kind(&catalog->configs[i], like);
    }
    return count;
}

static void sets_are_parts_of_full_and_have_their_sizes(void **state) {
    const spaces *all = *state;
    static const size_t most[FULL] = {2, 64, 128};
    for (int i = 0; i < ARCHES * FULL; i++) {
        int arch = i / FULL, set = i % FULL;
        const kw_catalog *part = &all->of[arch][set], *full = &all->of[arch][FULL];
        for (size_t j = 0; j < part->count; j++) {
            assert_true(kw_catalog_has(full, &part->configs[j]));
        }
        for (size_t j = 0; j < full->count; j++) {
            const kw_config *config = &full->configs[j];
            if (j && same_kind(config, config - 1)) {
                continue;
            }
            size_t count = count_like(part, config);
            if (!count || count > most[set]) {
                fail_msg("%s %s: %zu configs of %s %s %s; from 1 to %zu are wanted", sets[set], kw_cpu_archs[arch].name, count,
                         config->family->name, kw_op_name(config->op), kw_dtype_name(config->dtype), most[set]);
            }
        }
    }
}

/* Whether some config of the family in the catalog has the value on the axis. */
static bool covered(const kw_catalog *catalog, const kw_config *config, int axis) {
    for (size_t i = 0; i < catalog->count; i++) {
        if (catalog->configs[i].family == config->family && catalog->configs[i].axis[axis] == config->axis[axis]) {
            return true;
        }
    }
    return false;
}

static void set_tests_has_every_value_of_every_axis(void **state) {
    const spaces *all = *state;
    for (int arch = 0; arch < ARCHES; arch++) {
        const kw_catalog *full = &all->of[arch][FULL];
        for (size_t i = 0; i < full->count; i++) {
            const kw_config *config = &full->configs[i];
            for (int axis = 0; axis < config->family->axis_count; axis++) {
                bool seen = i && config->family == config[-1].family && config->axis[axis] == config[-1].axis[axis];
                if (!seen && !covered(&all->of[arch][TESTS], config, axis)) {
                    fail_msg("%s: set tests has no config of %s with %s number %d", kw_cpu_archs[arch].name, config->family->name,
                             config->family->axes[axis].name, config->axis[axis]);
                }
            }
        }
    }
}

static void every_family_of_cpus_has_rules_and_a_place_in_every_set(void **state) {
    const spaces *all = *state;
    for (int set = 0; set < SETS; set++) {
        const kw_catalog *catalog = &all->of[ARCHES - 1][set];
        for (const kw_family *const *family = kw_family_table; *family; family++) {
            size_t i = 0;
            while (i < catalog->count && catalog->configs[i].family != *family) {
                i++;
            }
            if (i == catalog->count && (*family)->kind == KW_KIND_CPU) {
                fail_msg("set %s has nothing of %s", sets[set], (*family)->name);
            }
        }
    }
}

static void a_full_set_takes_well_under_a_second(void **state) {
    (void)state;
    int64_t start = kw_clock_thread_ns();
    size_t count = 0;
    assert_int_equal(kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .set = "full", .arch = "x86-64-v4-bf16"}, count_one,
                                  &count, NULL),
                     KW_OK);
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
    lua_getfield(state, 2, "features");
    lua_getfield(state, 2, "lanes");
    lua_getfield(state, 2, "registers");
    bool good = lists(state, 3, "avx2") == (arch->isas >> KW_ISA_AVX2 & 1) &&
                lists(state, 3, "avx512") == (arch->isas >> KW_ISA_AVX512 & 1) && lists(state, 5, "bf16") == !!(arch->has & KW_CPU_BF16) &&
                lists(state, 5, "amx") == !!(arch->has & KW_CPU_AMX) && lists(state, 5, "vnni") == !!(arch->has & KW_CPU_VNNI) &&
                lists(state, 5, "avx_vnni") == !!(arch->has & KW_CPU_AVX_VNNI) && lua_tointeger(state, 6) == arch->lanes &&
                lua_tointeger(state, 7) == arch->registers;
    if (!good) {
        kw_lua_raise(state, KW_FAILED, "%s and kw_cpu_archs differ", check->text.file);
    }
    return 0;
}

static void architectures_agree_with_the_table_in_c(void **state) {
    (void)state;
    int count = 0;
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
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        count++;
    }
    kw_text names = {0};
    assert_int_equal(kw_rule_names(&names, NULL, "arch", '\n', NULL), KW_OK);
    for (const char *c = names.data; *c; c++) {
        count -= *c == '\n';
    }
    kw_text_drop(&names);
    assert_int_equal(count, 0);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configs_run_and_survive_their_text),
        cmocka_unit_test(the_order_is_the_same_each_time),
        cmocka_unit_test(kernels_for_problems_are_those_of_the_whole_list),
        cmocka_unit_test(problems_without_an_operation_are_refused),
        cmocka_unit_test(sets_are_parts_of_full_and_have_their_sizes),
        cmocka_unit_test(set_tests_has_every_value_of_every_axis),
        cmocka_unit_test(every_family_of_cpus_has_rules_and_a_place_in_every_set),
        cmocka_unit_test(a_full_set_takes_well_under_a_second),
        cmocka_unit_test(architectures_agree_with_the_table_in_c),
    };
    return cmocka_run_group_tests(tests, enumerate_all, drop_all);
}
