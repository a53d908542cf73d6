/* test_tune.c: kernelwright_tune.h against a real registry, through the public functions only. */
#include "support/kw_test.h"

#include <kernelwright_tune.h>

#include <unistd.h>

static kw_context *context;

static int open_context(void **state) {
    (void)state;
    unsetenv("KW_RULES");
    kw_context_options options = {.size = sizeof(kw_context_options),
                                  .threads = 1,
                                  .cache_dir = "/nonexistent",
                                  .data_dir = "/nonexistent",
                                  .wisdom_file = "",
                                  .compiler = ""};
    return (int)kw_context_open(&context, "cpu", &options, NULL);
}

static int close_context(void **state) {
    (void)state;
    kw_context_close(&context);
    return 0;
}

static kw_registry *make_registry(const kw_space_options *options) {
    kw_registry *registry = NULL;
    kw_error err = {0};
    if (kw_registry_create(&registry, context, &err) || (options && kw_registry_add_space(registry, options, &err))) {
        fail_msg("%s", err.text);
    }
    return registry;
}

static bool count_one(void *user, const char *config) {
    (void)config;
    ++*(size_t *)user;
    return true;
}

static void a_space_becomes_a_registry(void **state) {
    (void)state;
    kw_space_options options = {.size = sizeof(kw_space_options), .set = "tests", .arch = "x86-64-v4-bf16"};
    kw_registry *registry = make_registry(&options);
    size_t count = 0;
    assert_int_equal(kw_space_visit(&options, count_one, &count, NULL), KW_OK);
    assert_true(count >= 24);
    assert_int_equal(kw_registry_count(registry), count);
    kw_registry_destroy(&registry);
    /* defaults: this machine's architecture, set "default" */
    count = 0;
    assert_int_equal(kw_space_visit(NULL, count_one, &count, NULL), KW_OK);
    assert_true(count >= 24);
}

static void the_default_registry_is_set_default_of_this_machine(void **state) {
    (void)state;
    kw_registry *built_in = make_registry(NULL), *rules = make_registry(&(kw_space_options){.size = sizeof(kw_space_options)});
    kw_error err = {0};
    if (kw_registry_add_default(built_in, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(kw_registry_count(built_in), kw_registry_count(rules));
    for (size_t i = 0; i < kw_registry_count(rules); i++) {
        assert_string_equal(kw_registry_config(built_in, i), kw_registry_config(rules, i));
    }
    kw_registry_destroy(&built_in);
    kw_registry_destroy(&rules);
}

static void a_filter_keeps_what_it_selects_and_an_error_changes_nothing(void **state) {
    (void)state;
    kw_registry *registry = make_registry(&(kw_space_options){.size = sizeof(kw_space_options), .set = "full", .arch = "generic"});
    size_t count = kw_registry_count(registry);
    kw_error err = {0};
    assert_int_equal(kw_registry_filter(registry, "c.dtype == 'fp32' and c.nothing", &err), KW_MISSING);
    assert_non_null(strstr(err.text, "nothing"));
    assert_int_equal(kw_registry_count(registry), count);
    assert_int_equal(kw_registry_filter(registry, "c.dtype == 'int8' and c.op ~= 'gemm'", &err), KW_OK);
    assert_int_equal(kw_registry_count(registry), 3);
    assert_string_equal(kw_registry_config(registry, 0), "conv.reference conv_fwd int8");
    kw_registry_destroy(&registry);
}

static void a_registry_goes_through_json(void **state) {
    (void)state;
    kw_registry *first = make_registry(&(kw_space_options){.size = sizeof(kw_space_options), .set = "tests", .arch = "x86-64-v4-bf16"}),
                *second = make_registry(NULL);
    char *json = NULL;
    kw_error err = {0};
    assert_int_equal(kw_registry_print_json(&json, first, &err), KW_OK);
    char path[] = "/tmp/kw-json-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    size_t size = strlen(json);
    assert_int_equal(write(fd, json, size), size);
    if (kw_registry_load_json(second, path, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(kw_registry_count(first), kw_registry_count(second));
    for (size_t i = 0; i < kw_registry_count(first); i++) {
        assert_string_equal(kw_registry_config(first, i), kw_registry_config(second, i));
    }
    /* A fault in the last config adds nothing of the others. */
    kw_registry *third = make_registry(NULL);
    const char *last = NULL;
    for (const char *at = json; (at = strstr(at, "\"family\"")); at++) {
        last = at;
    }
    assert_int_equal(pwrite(fd, "\"famine\"", 8, last - json), 8);
    assert_int_not_equal(kw_registry_load_json(third, path, &err), KW_OK);
    assert_ptr_equal(strstr(err.text, path), err.text);
    assert_int_equal(kw_registry_count(third), 0);
    close(fd);
    unlink(path);
    assert_int_not_equal(kw_registry_load_json(third, path, &err), KW_OK);
    kw_free(json);
    kw_registry_destroy(&first);
    kw_registry_destroy(&second);
    kw_registry_destroy(&third);
}

static void names_are_listed(void **state) {
    (void)state;
    char *names = NULL;
    assert_int_equal(kw_space_names(&names, "arch", NULL, NULL), KW_OK);
    assert_string_equal(names,
                        "generic\ngfx1100\ngfx1200\ngfx1201\ngfx1250\ngfx908\ngfx90a\ngfx942\ngfx950\nsm_100\nsm_120\nsm_80\nsm_89\nsm_90\n"
                        "x86-64-v3\nx86-64-v3-vnni\nx86-64-v4\nx86-64-v4-amx\nx86-64-v4-bf16\nx86-64-v4-vnni\n");
    kw_free(names);
    assert_int_equal(kw_space_names(&names, "set", NULL, NULL), KW_OK);
    assert_string_equal(names, "default\nfull\nfull-tests\ngemm-sweep\nprofiler\ntests\ntiny\ntraits\n");
    kw_free(names);
    kw_error err = {0};
    assert_int_equal(kw_space_names(&names, "sets", NULL, &err), KW_MISSING);
    assert_null(names);
}

static void missing_arguments_are_named(void **state) {
    (void)state;
    kw_registry *registry = make_registry(NULL);
    char *text = NULL;
    kw_error err = {0};
    assert_int_equal(kw_space_visit(NULL, NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_add_space(NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_filter(registry, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_filter(NULL, "true", &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_print_json(NULL, registry, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_print_json(&text, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_registry_load_json(registry, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_problems_visit(NULL, KW_GEMM, KW_FP32, NULL, NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_problems_names(NULL, &err), KW_ILLEGAL);
    assert_int_equal(kw_space_names(NULL, "set", NULL, &err), KW_ILLEGAL);
    kw_registry_destroy(&registry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_space_becomes_a_registry),
        cmocka_unit_test(the_default_registry_is_set_default_of_this_machine),
        cmocka_unit_test(a_filter_keeps_what_it_selects_and_an_error_changes_nothing),
        cmocka_unit_test(a_registry_goes_through_json),
        cmocka_unit_test(names_are_listed),
        cmocka_unit_test(missing_arguments_are_named),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
