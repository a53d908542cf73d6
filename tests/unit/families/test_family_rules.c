/* test_family_rules.c: each rule of each family by a config that is legal but for it: the refusal names the rule. A rule without an example fails the
 * test, so that a new one comes with its own (rules/examples.h). */
#include "unit/families/rules/examples.h"

#include "config/pool.h"
#include "config/arch/gpu_arch.h"
#include "problem/wants.h"
#include "support/kw_test.h"

static const rule_examples *const all_examples[] = {&any_groups_rule_examples,
                                                    &any_groups_weight_rule_examples,
                                                    &interleaved_rule_examples,
                                                    &interleaved_weight_rule_examples,
                                                    &gemm_tiled_rule_examples,
                                                    &gemm_dot_rule_examples,
                                                    &direct_rule_examples,
                                                    &direct_1st_rule_examples,
                                                    &pointwise_rule_examples,
                                                    &bwd_weight_rule_examples,
                                                    &depthwise_rule_examples,
                                                    &depthwise_weight_rule_examples,
                                                    &merged_rule_examples,
                                                    &merged_weight_rule_examples,
                                                    &any_merged_rule_examples,
                                                    &any_merged_weight_rule_examples,
                                                    &igemm_rule_examples,
                                                    &gemm_mma_rule_examples,
                                                    &depthwise_block_rule_examples,
                                                    &direct_block_rule_examples,
                                                    &direct_1st_block_rule_examples,
                                                    &gemm_stream_rule_examples,
                                                    &conv_point_block_rule_examples,
                                                    &depthwise_planes_rule_examples,
                                                    &depthwise_rows_rule_examples,
                                                    &depthwise_lines_rule_examples,
                                                    &depthwise_lines_weight_rule_examples,
                                                    &depthwise_pixels_weight_rule_examples};
enum { FAMILIES = sizeof all_examples / sizeof *all_examples, RULES_MAX = 1024 };

/* Rules that an example broke. */
static const kw_rule *broken_rules[RULES_MAX];
static int broken_count;

/* "FAMILY KIND axis=value ...": the family's axes, those of changes changed. */
static void example_config(kw_config *config, const rule_examples *of, const rule_example *example) {
    char text[KW_CONFIG_TEXT_MAX], changes[256];
    kw_line line = {text, sizeof text, 0};
    kw_error err = {0};
    kw_scan scan = kw_scan_string(of->axes);
    kw_word word;
    snprintf(changes, sizeof changes, " %s", example->changes);
    kw_line_addf(&line, "%s %s", of->family, example->kind);
    while (kw_scan_word(&scan, &word)) {
        char axis[64];
        size_t name = (size_t)((const char *)memchr(word.at, '=', word.size) - word.at) + 1;
        snprintf(axis, sizeof axis, " %.*s", (int)name, word.at);
        const char *changed = strstr(changes, axis);
        if (changed) {
            kw_line_addf(&line, " %.*s", (int)strcspn(changed + 1, " "), changed + 1);
        } else {
            kw_line_addf(&line, " %.*s", KW_WORD(word));
        }
    }
    if (kw_config_read(config, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* Of an architecture that has no file only the name is known. */
static kw_target example_target(const kw_family *family, const char *name) {
    kw_target target = {0};
    const kw_gpu_arch *arch = name ? kw_gpu_arch_find(name) : NULL;
    if (arch) {
        return arch->typical;
    }
    target.backend = family->kind == KW_KIND_CPU ? KW_BACKEND_CPU : KW_BACKEND_EMU;
    snprintf(target.arch, sizeof target.arch, "%s", name ? name : "");
    return target;
}

static void example_problem(kw_problem *problem, const char *text) {
    kw_error err = {0};
    if (text && kw_problem_parse(problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* Whether the example breaks the rule that it is for, and the message names it. */
static bool example_is_right(const rule_examples *of, const rule_example *example) {
    kw_config config;
    kw_problem problem;
    kw_error err = {0};
    const kw_rule *rule = NULL;
    example_config(&config, of, example);
    kw_target target = example_target(config.family, example->arch);
    example_problem(&problem, example->problem);
    const kw_target *targets[KW_RULE_KINDS] = {NULL, &target, &target, &target};
    const kw_problem *problems[KW_RULE_KINDS] = {NULL, NULL, &problem, &problem};
    const bool asked[KW_RULE_KINDS] = {true, example->arch, example->problem, example->problem};
    for (kw_rule_kind kind = 0; !rule && kind < KW_RULE_KINDS; kind++) {
        if (asked[kind]) {
            rule = kw_rule_broken(kind, &config, targets[kind], problems[kind]);
            kw_rules_check(kind, &config, targets[kind], problems[kind], &err);
        }
    }
    char wanted[64];
    snprintf(wanted, sizeof wanted, "rule %s: ", example->rule);
    bool good = rule ? !strcmp(rule->name, example->rule) && strstr(err.text, wanted) : !*example->rule;
    if (!good) {
        print_error("%s %s %s %s: rule '%s' is wanted: %s\n", of->family, example->kind, example->changes,
                    example->problem ? example->problem : "", example->rule, err.text);
    }
    assert_true(broken_count < RULES_MAX);
    if (rule) {
        broken_rules[broken_count++] = rule;
    }
    return good;
}

static void each_rule_refuses_its_example_by_name(void **state) {
    (void)state;
    int failed = 0;
    for (int i = 0; i < FAMILIES; i++) {
        for (const rule_example *example = all_examples[i]->rows; example->rule; example++) {
            failed += !example_is_right(all_examples[i], example);
        }
    }
    assert_int_equal(failed, 0);
}

/* Whether a pool, which reads configs once and asks a family's own rules once, serves what kw_config_fits says of the example. */
static bool pool_agrees(const rule_examples *of, const rule_example *example) {
    kw_config config;
    kw_problem problem;
    kw_catalog catalog = {0};
    kw_pool *pool = NULL;
    kw_launch launch;
    example_config(&config, of, example);
    example_problem(&problem, example->problem);
    kw_target target = example_target(config.family, example->arch);
    if (!kw_config_is_plain(&config) || !kw_problem_is_plain(&problem)) {
        return true;
    }
    assert_int_equal(kw_catalog_add(&catalog, &config, NULL, NULL), KW_OK);
    assert_int_equal(kw_pool_open(&pool, &catalog, config.op, config.dtype, &target, NULL), KW_OK);
    assert_int_equal(pool->count, 1);
    bool serves = kw_family_takes(config.family, &problem, &target) && kw_pool_serves(pool, 0, &problem);
    if (serves && kw_target_is_gpu(&target)) {
        kw_config_launch(&config, &problem, &target, &launch);
        serves = kw_launch_is_counted(&launch);
    }
    kw_pool_close(&pool);
    kw_catalog_drop(&catalog);
    return serves == !kw_config_fits(&config, &problem, &target, NULL);
}

static void a_pool_serves_what_the_rules_say(void **state) {
    (void)state;
    for (int i = 0; i < FAMILIES; i++) {
        for (const rule_example *example = all_examples[i]->rows; example->rule; example++) {
            if (example->arch && example->problem && !pool_agrees(all_examples[i], example)) {
                fail_msg("%s %s %s on %s", all_examples[i]->family, example->kind, example->changes, example->problem);
            }
        }
    }
}

static int rules_without_example(const kw_family *family, const kw_rule *rule) {
    int missing = 0;
    for (; rule->name; rule++) {
        int i = 0;
        while (i < broken_count && broken_rules[i] != rule) {
            i++;
        }
        if (i == broken_count) {
            print_error("%s: rule %s has no example in tests/unit/families/rules\n", family->name, rule->name);
            missing++;
        }
    }
    return missing;
}

/* A table that families share needs one example of each rule, not one a family. */
static void each_rule_has_an_example(void **state) {
    (void)state;
    int missing = 0;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int kind = 0; kind < KW_RULE_KINDS; kind++) {
            for (int i = 0; (*family)->rules[kind][i]; i++) {
                missing += rules_without_example(*family, (*family)->rules[kind][i]);
            }
        }
    }
    assert_int_equal(missing, 0);
}

/* What a family says of axes that came later is itself read, with each of its axes once; the rest of a config stands before it. */
static void added_axes_have_their_values(void **state) {
    (void)state;
    for (int i = 0; i < FAMILIES; i++) {
        const rule_examples *of = all_examples[i];
        const kw_family *family = kw_family_find((kw_word){of->family, strlen(of->family)});
        const char *added = family->added ? family->added : "";
        char text[KW_CONFIG_TEXT_MAX], marked[KW_CONFIG_TEXT_MAX];
        kw_line line = {text, sizeof text, 0};
        kw_error err = {0};
        kw_scan scan = kw_scan_string(of->axes);
        kw_config config[2];
        snprintf(marked, sizeof marked, " %s", added);
        kw_line_addf(&line, "%s %s", of->family, of->rows[0].kind);
        for (kw_word word; kw_scan_word(&scan, &word);) {
            char axis[64];
            snprintf(axis, sizeof axis, " %.*s=", (int)((const char *)memchr(word.at, '=', word.size) - word.at), word.at);
            if (!strstr(marked, axis)) {
                kw_line_addf(&line, " %.*s", KW_WORD(word));
            }
        }
        assert_ok(kw_config_read(&config[0], text, &err), &err);
        kw_line_addf(&line, "%s", family->added ? marked : "");
        assert_ok(kw_config_read(&config[1], text, &err), &err);
        assert_true(kw_config_equal(&config[0], &config[1]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_refuses_its_example_by_name),
        cmocka_unit_test(added_axes_have_their_values),
        cmocka_unit_test(each_rule_has_an_example),
        cmocka_unit_test(a_pool_serves_what_the_rules_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
