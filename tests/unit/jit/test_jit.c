/* test_jit.c: config -> blob, through compiler and cache. */

#include "jit/cache/cache.h"
#include "support/kw_test.h"
#include "support/device/fake_family.h"
#include "support/scratch.h"

#include <unistd.h>

typedef struct jit_setup {
    char folder[SCRATCH_MAX], cache_folder[2 * SCRATCH_MAX], log_folder[2 * SCRATCH_MAX];
    kw_compiler compiler;
    kw_jit jit;
} jit_setup;

static void open_setup(jit_setup *setup) {
    char note[256];
    kw_error err = {0};
    kw_cache *cache = NULL;
    if (kw_compiler_find(&setup->compiler, NULL, (kw_code){0}, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    scratch_make(setup->folder);
    scratch_path(setup->cache_folder, setup->folder, "cache");
    scratch_path(setup->log_folder, setup->folder, "log");
    assert_int_equal(kw_cache_open(&cache, setup->cache_folder, note, &err), KW_OK);
    setup->jit = (kw_jit){.compiler = &setup->compiler, .cache = cache, .log_folder = setup->log_folder};
}

static void close_setup(jit_setup *setup) {
    kw_cache_close(&setup->jit.cache);
    scratch_remove(setup->folder);
}

/* A blob that must come, and whether it came from the cache. */
static bool blob_is_cached(const kw_jit *jit, const kw_config *config) {
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    assert_int_equal(kw_jit_blob(jit, config, &blob, &result, &err), KW_OK);
    assert_non_null(blob.data);
    assert_true(result.cached ? result.cpu_ns == 0 : result.cpu_ns > 0);
    kw_blob_drop(&blob);
    return result.cached;
}

static void a_config_is_compiled_once(void **state) {
    (void)state;
    jit_setup setup;
    kw_blob first, second;
    kw_jit_result result;
    kw_error err = {0};
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD), other = fake_config(6, FAKE_GOOD);
    assert_int_equal(kw_jit_blob(&setup.jit, &config, &first, &result, &err), KW_OK);
    assert_false(result.cached);
    assert_int_equal(kw_jit_blob(&setup.jit, &config, &second, &result, &err), KW_OK);
    assert_true(result.cached);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_false(blob_is_cached(&setup.jit, &other));
    kw_blob_drop(&first);
    kw_blob_drop(&second);
    close_setup(&setup);
}

static void another_compiler_compiles_again(void **state) {
    (void)state;
    jit_setup setup;
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD);
    kw_compiler other = setup.compiler;
    snprintf(other.identity, sizeof other.identity, "%.100s upgraded", setup.compiler.identity);
    kw_jit with_other = {.compiler = &other, .cache = setup.jit.cache};
    assert_false(blob_is_cached(&setup.jit, &config));
    assert_false(blob_is_cached(&with_other, &config));
    assert_true(blob_is_cached(&setup.jit, &config));
    assert_true(blob_is_cached(&with_other, &config));
    close_setup(&setup);
}

static void without_a_compiler_the_cache_answers(void **state) {
    (void)state;
    jit_setup setup;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD), other = fake_config(6, FAKE_GOOD);
    kw_jit alone = {.cache = setup.jit.cache};
    assert_int_equal(kw_jit_blob(&alone, &config, &blob, &result, &err), KW_MISSING);
    assert_non_null(strstr(err.text, "value=5"));
    assert_null(blob.data);
    assert_false(blob_is_cached(&setup.jit, &config));
    assert_true(blob_is_cached(&alone, &config));
    assert_int_equal(kw_jit_blob(&alone, &other, &blob, &result, &err), KW_MISSING);
    close_setup(&setup);
}

/* Who made the blob is the same to a new compile, to the cache and without a compiler, and another for another compiler. */
static void a_blob_says_who_made_it(void **state) {
    (void)state;
    jit_setup setup;
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD), builtin = {.family = &fake_builtin_family};
    kw_compiler other = setup.compiler;
    snprintf(other.identity, sizeof other.identity, "%.100s upgraded", setup.compiler.identity);
    const kw_jit jits[] = {setup.jit, setup.jit, {.cache = setup.jit.cache}, {.compiler = &other, .cache = setup.jit.cache}};
    char builders[4][KW_BUILDER_DIGITS + 1];
    kw_jit_result result;
    kw_blob blob;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(kw_jit_blob(&jits[i], &config, &blob, &result, NULL), KW_OK);
        memcpy(builders[i], result.builder, sizeof builders[i]);
        kw_blob_drop(&blob);
    }
    assert_int_equal(strlen(builders[0]), KW_BUILDER_DIGITS);
    assert_string_equal(builders[1], builders[0]);
    assert_string_equal(builders[2], builders[0]);
    assert_string_not_equal(builders[3], builders[0]);
    for (size_t i = 0; i < 4; i += 3) { /* either one's when it is asked for, any where it is not known */
        assert_int_equal(kw_jit_known(&setup.jit, &config, builders[i], &blob, &result, NULL), KW_OK);
        assert_true(result.cached);
        assert_string_equal(result.builder, builders[i]);
        kw_blob_drop(&blob);
    }
    static const char *const strangers[] = {"0123456789abcdef", "../../../../../x", "0123456789ABCDEF", "", "-"};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        assert_int_equal(kw_jit_known(&setup.jit, &config, strangers[i], &blob, &result, NULL), KW_OK);
        assert_non_null(blob.data);
        kw_blob_drop(&blob);
    }
    config = fake_config(6, FAKE_GOOD);
    assert_int_equal(kw_jit_known(&setup.jit, &config, builders[0], &blob, &result, NULL), KW_MISSING);
    assert_int_equal(kw_jit_blob(&setup.jit, &builtin, &blob, &result, NULL), KW_OK);
    assert_string_equal(result.builder, "");
    close_setup(&setup);
}

static void a_key_names_the_entry_before_and_after_it_is_made(void **state) {
    (void)state;
    jit_setup setup;
    kw_blob blob;
    kw_jit_result first = {0}, again = {0};
    kw_error err = {0};
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD), other = fake_config(6, FAKE_GOOD);
    kw_config builtin = {.family = &fake_builtin_family};
    kw_jit alone = {.cache = setup.jit.cache};
    assert_int_equal(kw_jit_blob(&alone, &config, &blob, &first, &err), KW_MISSING);
    assert_string_equal(first.key, "");
    int emitted = fake_emitted;
    assert_int_equal(kw_jit_blob(&setup.jit, &config, &blob, &first, &err), KW_OK);
    assert_int_equal(fake_emitted, emitted + 1); /* the source is made once for key and blob */
    kw_blob_drop(&blob);
    assert_false(first.cached);
    assert_true(kw_cache_has(setup.jit.cache, first.key));
    assert_non_null(strstr(first.key, first.builder));
    assert_int_equal(kw_jit_blob(&alone, &config, &blob, &again, &err), KW_OK);
    kw_blob_drop(&blob);
    assert_string_equal(again.key, first.key);
    assert_int_equal(kw_jit_blob(&setup.jit, &other, &blob, &again, &err), KW_OK);
    kw_blob_drop(&blob);
    assert_string_not_equal(again.key, first.key);
    assert_int_equal(kw_jit_blob(&setup.jit, &builtin, &blob, &again, &err), KW_OK);
    assert_string_equal(again.key, "");
    close_setup(&setup);
}

static void without_a_compiler_a_bad_entry_gives_way_to_an_older_one(void **state) {
    (void)state;
    jit_setup setup;
    char path[4 * SCRATCH_MAX], young[KW_CACHE_KEY_MAX + 1];
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD);
    kw_compiler other = setup.compiler;
    snprintf(other.identity, sizeof other.identity, "other");
    kw_jit with_other = {.compiler = &other, .cache = setup.jit.cache}, alone = {.cache = setup.jit.cache};
    assert_false(blob_is_cached(&setup.jit, &config));
    usleep(20000);
    assert_false(blob_is_cached(&with_other, &config));
    char prefix[3] = "00";
    bool found = false;
    for (int i = 0; i < 256 && !found; i++) {
        snprintf(prefix, sizeof prefix, "%02x", (unsigned)i & 255);
        found = kw_cache_youngest(setup.jit.cache, prefix, young);
    }
    assert_true(found);
    snprintf(path, sizeof path, "%s/%s/%s", setup.cache_folder, prefix, young);
    assert_int_equal(truncate(path, 100), 0);
    assert_true(blob_is_cached(&alone, &config));
    assert_int_equal(scratch_count(setup.cache_folder, ".bad"), 1);
    assert_int_equal(scratch_count(setup.cache_folder, ""), 2);
    close_setup(&setup);
}

static void without_a_cache_every_call_compiles(void **state) {
    (void)state;
    jit_setup setup;
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_GOOD);
    kw_jit plain = {.compiler = &setup.compiler};
    assert_false(blob_is_cached(&plain, &config));
    assert_false(blob_is_cached(&plain, &config));
    assert_int_equal(scratch_count(setup.folder, ""), 0);
    close_setup(&setup);
}

static void a_failed_compile_keeps_source_and_messages(void **state) {
    (void)state;
    jit_setup setup;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    open_setup(&setup);
    kw_config config = fake_config(5, FAKE_SYNTAX_ERROR);
    assert_int_equal(kw_jit_blob(&setup.jit, &config, &blob, &result, &err), KW_FAILED);
    assert_null(blob.data);
    assert_non_null(strstr(err.text, "error:"));
    const char *see = strstr(err.text, "; see ");
    assert_non_null(see);
    FILE *log = fopen(see + strlen("; see "), "r");
    assert_non_null(log);
    char text[4096];
    text[fread(text, 1, sizeof text - 1, log)] = 0;
    fclose(log);
    assert_non_null(strstr(text, setup.compiler.path));
    assert_non_null(strstr(text, "error:"));
    assert_int_equal(scratch_count(setup.log_folder, ".c"), 1);
    assert_int_equal(scratch_count(setup.log_folder, ".log"), 1);
    kw_jit silent = {.compiler = &setup.compiler, .cache = setup.jit.cache};
    assert_int_equal(kw_jit_blob(&silent, &config, &blob, &result, &err), KW_FAILED);
    assert_null(strstr(err.text, "; see "));
    close_setup(&setup);
}

static void a_compiled_in_family_needs_nothing(void **state) {
    (void)state;
    kw_jit nothing = {0};
    kw_config config = {.family = &fake_builtin_family, .op = KW_GEMM, .dtype = KW_FP32};
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    assert_int_equal(kw_jit_blob(&nothing, &config, &blob, &result, &err), KW_OK);
    assert_true(result.cached);
    assert_null(blob.data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_config_is_compiled_once),
        cmocka_unit_test(another_compiler_compiles_again),
        cmocka_unit_test(without_a_compiler_the_cache_answers),
        cmocka_unit_test(a_blob_says_who_made_it),
        cmocka_unit_test(a_key_names_the_entry_before_and_after_it_is_made),
        cmocka_unit_test(without_a_compiler_a_bad_entry_gives_way_to_an_older_one),
        cmocka_unit_test(without_a_cache_every_call_compiles),
        cmocka_unit_test(a_failed_compile_keeps_source_and_messages),
        cmocka_unit_test(a_compiled_in_family_needs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
