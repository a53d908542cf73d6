/* test_cache.c: the blob cache when nothing goes wrong; tests/fault has the rest. */

#include "jit/cache/cache.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static kw_cache *open_cache(const char *folder) {
    kw_cache *cache = NULL;
    char note[256];
    kw_error err = {0};
    assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    assert_string_equal(note, "");
    assert_non_null(cache);
    return cache;
}

static void what_was_put_comes_back_also_in_another_process_life(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], below[2 * SCRATCH_MAX], bytes[] = "any\0bytes";
    kw_blob blob = {bytes, sizeof bytes}, found;
    kw_error err = {0};
    scratch_path(below, scratch_make(folder), "made/on/the/way//");
    kw_cache *cache = open_cache(below);
    assert_int_equal(kw_cache_get(cache, "ab12", &found, &err), KW_OK);
    assert_null(found.data);
    assert_false(kw_cache_has(cache, "ab12"));
    assert_int_equal(kw_cache_put(cache, "ab12", &blob, &err), KW_OK);
    assert_true(kw_cache_has(cache, "ab12"));
    kw_cache_close(&cache);
    assert_null(cache);
    cache = open_cache(below);
    assert_int_equal(kw_cache_get(cache, "ab12", &found, &err), KW_OK);
    assert_int_equal(found.size, sizeof bytes);
    assert_memory_equal(found.data, bytes, sizeof bytes);
    kw_blob_drop(&found);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void keys_cannot_name_files_elsewhere(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], bytes[] = "x", longest[KW_CACHE_KEY_MAX + 2];
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = 0;
    const char *const keys[] = {"", "a", "ab", "ab1", "../ab12", "ab/12", "ab12/", "AB12", "a-12", "ab12.bad", "tmp-1234", longest};
    kw_blob blob = {bytes, 1}, found;
    kw_cache *cache = open_cache(scratch_make(folder));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        kw_error err = {0};
        assert_int_equal(kw_cache_put(cache, keys[i], &blob, &err), KW_ILLEGAL);
        assert_int_equal(kw_cache_get(cache, keys[i], &found, &err), KW_ILLEGAL);
        assert_false(kw_cache_has(cache, keys[i]));
    }
    assert_int_equal(scratch_count(folder, ""), 0);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void an_entry_is_its_owners_alone(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], bytes[] = "x";
    kw_blob blob = {bytes, 1};
    kw_error err = {0};
    struct stat info;
    mode_t before = umask(0);
    kw_cache *cache = open_cache(scratch_path(path, scratch_make(folder), "new"));
    assert_int_equal(kw_cache_put(cache, "ab12", &blob, &err), KW_OK);
    umask(before);
    static const char *const names[] = {"new", "new/ab", "new/ab/ab12"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(stat(scratch_path(path, folder, names[i]), &info), 0);
        assert_int_equal(info.st_mode & 077, 0);
    }
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void emptying_removes_entries_and_debris_and_nothing_else(void **state) {
    (void)state;
    static const char *const debris[] = {"12/tmp-0123", "12/1234ab.bad"}, *const foreign[] = {"notes.txt", "12/notes.txt", "1234ab"};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], bytes[1000] = "x";
    kw_blob blob = {bytes, sizeof bytes};
    kw_cache_stats stats;
    kw_error err = {0};
    int64_t removed = 0;
    kw_cache *cache = open_cache(scratch_make(folder));
    for (int i = 0; i < 40; i++) {
        char key[16];
        snprintf(key, sizeof key, "%02x34", i);
        assert_int_equal(kw_cache_put(cache, key, &blob, &err), KW_OK);
    }
    for (size_t i = 0; i < 2; i++) {
        scratch_write(scratch_path(path, folder, debris[i]), "x", 1, 0600);
    }
    for (size_t i = 0; i < 3; i++) {
        scratch_write(scratch_path(path, folder, foreign[i]), "x", 1, 0600);
    }
    assert_int_equal(kw_cache_scan(cache, &stats, &err), KW_OK);
    assert_int_equal(stats.entries, 40);
    assert_in_range(stats.bytes, 40 * 1000, 40 * 1200);
    assert_int_equal(kw_cache_remove_all(cache, &removed, &err), KW_OK);
    assert_int_equal(removed, 40);
    assert_int_equal(scratch_count(folder, ""), 3);
    assert_int_equal(kw_cache_scan(cache, &stats, &err), KW_OK);
    assert_int_equal(stats.entries, 0);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void the_youngest_of_a_prefix_is_found(void **state) {
    (void)state;
    static const struct {
        const char *key;
        int64_t time;
    } entries[] = {{"ab12-01", 100}, {"ab12-02", 300}, {"ab12-03", 200}, {"ab13-04", 900}};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], bytes[] = "x", found[KW_CACHE_KEY_MAX + 1];
    kw_blob blob = {bytes, 1};
    kw_error err = {0};
    kw_cache *cache = open_cache(scratch_make(folder));
    assert_false(kw_cache_youngest(cache, "ab12-", found));
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        char name[32];
        snprintf(name, sizeof name, "ab/%s", entries[i].key);
        assert_int_equal(kw_cache_put(cache, entries[i].key, &blob, &err), KW_OK);
        const struct timespec times[2] = {{.tv_sec = entries[i].time}, {.tv_sec = entries[i].time}};
        assert_int_equal(utimensat(-100, scratch_path(path, folder, name), times, 0), 0);
    }
    assert_true(kw_cache_youngest(cache, "ab12-", found));
    assert_string_equal(found, "ab12-02");
    assert_true(kw_cache_youngest(cache, "ab13-", found));
    assert_string_equal(found, "ab13-04");
    assert_false(kw_cache_youngest(cache, "ab14-", found));
    assert_false(kw_cache_youngest(cache, "..", found));
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void an_empty_name_switches_the_cache_off(void **state) {
    (void)state;
    kw_cache *cache = NULL;
    char note[256];
    kw_error err = {0};
    assert_int_equal(kw_cache_open(&cache, "", note, &err), KW_OK);
    assert_null(cache);
    assert_string_equal(note, "switched off");
    assert_int_equal(kw_cache_open(&cache, NULL, note, &err), KW_OK);
    assert_null(cache);
    assert_non_null(strstr(note, "KW_CACHE_DIR"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_put_comes_back_also_in_another_process_life),
        cmocka_unit_test(keys_cannot_name_files_elsewhere),
        cmocka_unit_test(an_entry_is_its_owners_alone),
        cmocka_unit_test(emptying_removes_entries_and_debris_and_nothing_else),
        cmocka_unit_test(the_youngest_of_a_prefix_is_found),
        cmocka_unit_test(an_empty_name_switches_the_cache_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
