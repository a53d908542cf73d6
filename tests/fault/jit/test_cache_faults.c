/* test_cache_faults.c: what the cache must survive: damaged entries, folders that cannot be trusted or used, a full disk. Any doubt is a
 * miss, and never a load. */

#include "base/hash.h"
#include "jit/cache/cache.h"
#include "support/kw_test.h"
#include "support/device/fake_family.h"
#include "support/scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char key[] = "ab12cd-34";
static const char payload[] = "the bytes of a kernel, as good as any others for this";

enum { NOBODY = 65534 };

static kw_cache *open_cache(const char *folder, const char *want_note) {
    kw_cache *cache = NULL;
    char note[256];
    kw_error err = {0};
    assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    if (*want_note ? !strstr(note, want_note) : *note) {
        print_error("note: %s\n", note);
        fail();
    }
    return cache;
}

static kw_status put(kw_cache *cache, kw_error *err) {
    char copy[sizeof payload];
    memcpy(copy, payload, sizeof copy);
    kw_blob blob = {copy, sizeof copy};
    return kw_cache_put(cache, key, &blob, err);
}

static bool hit(kw_cache *cache) {
    kw_blob blob;
    kw_error err = {0};
    assert_int_equal(kw_cache_get(cache, key, &blob, &err), KW_OK);
    bool found = blob.data;
    if (found) {
        assert_int_equal(blob.size, sizeof payload);
        assert_memory_equal(blob.data, payload, sizeof payload);
    }
    kw_blob_drop(&blob);
    return found;
}

static kw_text good_entry(void) {
    kw_text bytes = {0};
    char copy[sizeof payload];
    memcpy(copy, payload, sizeof copy);
    kw_blob blob = {copy, sizeof copy};
    assert_int_equal(kw_entry_write(&bytes, key, &blob, NULL), KW_OK);
    return bytes;
}

/* On exact heap memory, so that a sanitizer sees every byte read beyond the end. */
static kw_status read_copy(const char *bytes, size_t count, const char *wanted) {
    const char *found = NULL;
    size_t size = 0;
    char *copy = malloc(count ? count : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, count);
    kw_status status = kw_entry_read(&found, &size, copy, count, wanted, NULL);
    free(copy);
    return status;
}

static void every_flipped_bit_and_every_length_is_found(void **state) {
    (void)state;
    kw_text bytes = good_entry();
    assert_int_equal(read_copy(bytes.data, bytes.size, key), KW_OK);
    for (size_t i = 0; i < bytes.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
            assert_int_equal(read_copy(bytes.data, bytes.size, key), KW_MALFORMED);
            bytes.data[i] = (char)(bytes.data[i] ^ 1 << bit);
        }
        assert_int_equal(read_copy(bytes.data, i, key), KW_MALFORMED);
    }
    kw_text_add(&bytes, "x");
    assert_int_equal(read_copy(bytes.data, bytes.size, key), KW_MALFORMED);
    assert_int_equal(read_copy(bytes.data, bytes.size - 1, "ab12cd-35"), KW_MALFORMED);
    assert_int_equal(read_copy(bytes.data, bytes.size - 1, "ab12cd-3"), KW_MALFORMED);
    assert_int_equal(read_copy(bytes.data, bytes.size - 1, key), KW_OK);
    kw_text_drop(&bytes);
}

/* Entries that are whole, digest and all, but were written for something else: by another version, or on a machine whose numbers stand the
 * other way round (only the digest would be the same). */
static void entries_of_another_format_abi_or_byte_order_are_refused(void **state) {
    (void)state;
    enum { FORMAT = 8, ABI = 12, KEY_BYTES = 16, DIGEST_BYTES = KW_HASH_TEXT - 1 };
    static const struct { int at, bytes; } turned[] = {{FORMAT, 4}, {ABI, 4}, {KEY_BYTES, 8}, {KEY_BYTES + 8, 8}};
    kw_text good = good_entry(), bytes = good_entry();
    size_t body = good.size - DIGEST_BYTES;
    char digest[KW_HASH_TEXT];
    for (int row = -2; row < (int)(sizeof turned / sizeof *turned); row++) {
        memcpy(bytes.data, good.data, body);
        if (row < 0) {
            bytes.data[row == -2 ? FORMAT : ABI]++;
        } else {
            for (int i = 0; i < turned[row].bytes; i++) {
                bytes.data[turned[row].at + i] = good.data[turned[row].at + turned[row].bytes - 1 - i];
            }
        }
        kw_hash_text(digest, bytes.data, body);
        memcpy(bytes.data + body, digest, DIGEST_BYTES);
        assert_int_equal(read_copy(bytes.data, bytes.size, key), KW_MALFORMED);
    }
    memcpy(bytes.data, good.data, body);
    kw_hash_text(digest, bytes.data, body);
    memcpy(bytes.data + body, digest, DIGEST_BYTES);
    assert_int_equal(read_copy(bytes.data, bytes.size, key), KW_OK);
    kw_text_drop(&good);
    kw_text_drop(&bytes);
}

static void a_damaged_file_is_a_miss_and_put_aside(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_text bytes = good_entry();
    kw_cache *cache = open_cache(scratch_make(folder), "");
    scratch_path(path, folder, "ab/ab12cd-34");
    assert_int_equal(put(cache, &err), KW_OK);
    assert_true(hit(cache));
    for (size_t i = 0; i < bytes.size; i += 3) {
        bool shorten = i % 2;
        bytes.data[i] = (char)(bytes.data[i] ^ 0x40);
        scratch_write(path, bytes.data, shorten ? i : bytes.size, 0600);
        bytes.data[i] = (char)(bytes.data[i] ^ 0x40);
        assert_false(hit(cache));
        assert_int_equal(access(path, F_OK), -1);
        assert_false(kw_cache_has(cache, key));
        assert_false(hit(cache));
        assert_int_equal(put(cache, &err), KW_OK);
        assert_true(hit(cache));
    }
    assert_int_equal(scratch_count(folder, ".bad"), 1);
    assert_int_equal(scratch_count(folder, "tmp-"), 0);
    kw_text_drop(&bytes);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void what_is_no_regular_file_is_a_miss(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], other[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_text bytes = good_entry();
    kw_cache *cache = open_cache(scratch_make(folder), "");
    scratch_path(path, folder, "ab/ab12cd-34");
    scratch_write(scratch_path(other, folder, "good"), bytes.data, bytes.size, 0600);
    for (int kind = 0; kind < 4; kind++) {
        assert_int_equal(put(cache, &err), KW_OK);
        assert_int_equal(unlink(path), 0);
        int made = kind == 0   ? symlink(other, path)
                   : kind == 1 ? mkfifo(path, 0600)
                   : kind == 2 ? mkdir(path, 0700)
                               : symlink("/dev/zero", path);
        assert_int_equal(made, 0);
        assert_false(hit(cache));
        assert_int_equal(put(cache, &err), KW_OK);
        assert_true(hit(cache));
        scratch_remove(scratch_path(other, folder, "ab"));
        scratch_path(other, folder, "good");
    }
    kw_text_drop(&bytes);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void folders_that_cannot_be_trusted_switch_the_cache_off(void **state) {
    (void)state;
    static const unsigned loose[] = {0777, 0770, 0720, 0702, 01777};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], link[2 * SCRATCH_MAX];
    scratch_path(path, scratch_make(folder), "cache");
    scratch_path(link, folder, "link");
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < sizeof loose / sizeof *loose; i++) {
        assert_int_equal(chmod(path, loose[i]), 0);
        assert_null(open_cache(path, "others may write"));
    }
    assert_int_equal(chmod(path, 0755), 0);
    kw_cache *cache = open_cache(path, "");
    assert_non_null(cache);
    kw_cache_close(&cache);
    assert_int_equal(symlink(path, link), 0);
    assert_null(open_cache(link, "link"));
    strcat(link, "/");
    assert_null(open_cache(link, "link"));
    scratch_write(scratch_path(link, folder, "file"), "x", 1, 0600);
    assert_null(open_cache(link, "is not used"));
    strcat(link, "/below");
    assert_null(open_cache(link, "is not used"));
    if (!geteuid()) {
        assert_int_equal(chown(path, NOBODY, NOBODY), 0);
        assert_null(open_cache(path, "another user"));
    } else {
        assert_null(open_cache("/", "another user"));
    }
    scratch_remove(folder);
}

/* Bytes of no alphabet, a blank, a name of another script: names of folders are bytes. */
static void a_name_of_any_bytes_is_a_folder_like_others(void **state) {
    (void)state;
    static const char *const names[] = {"Zwischenspeicher \xc3\xa4\xc3\xb6", "\xe3\x82\xad\xe3\x83\xa3", "\xff\xfe\x80", " ", "%n%s"};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    scratch_make(folder);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        kw_cache *cache = open_cache(scratch_path(path, folder, names[i]), "");
        assert_non_null(cache);
        assert_int_equal(put(cache, NULL), KW_OK);
        assert_true(hit(cache));
        kw_cache_close(&cache);
    }
    scratch_remove(folder);
}

static void without_a_home_the_cache_is_off(void **state) {
    (void)state;
    assert_null(open_cache(NULL, "set KW_CACHE_DIR or HOME"));
    assert_null(open_cache("", "switched off"));
}

static void a_path_beyond_all_limits_switches_the_cache_off(void **state) {
    (void)state;
    char path[6000];
    memset(path, 'a', sizeof path);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    assert_null(open_cache(path, "is not used"));
}

static void a_loose_or_linked_shard_is_not_read(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], shard[2 * SCRATCH_MAX], other[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_cache *cache = open_cache(scratch_make(folder), "");
    scratch_path(shard, folder, "ab");
    scratch_path(other, folder, "elsewhere");
    assert_int_equal(put(cache, &err), KW_OK);
    assert_int_equal(chmod(shard, 0777), 0);
    assert_false(hit(cache));
    assert_int_equal(put(cache, &err), KW_IO);
    assert_int_equal(chmod(shard, 0700), 0);
    assert_true(hit(cache));
    assert_int_equal(rename(shard, other), 0);
    assert_int_equal(symlink(other, shard), 0);
    assert_false(hit(cache));
    assert_int_equal(put(cache, &err), KW_IO);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

/* An entry that others could write, or made, is a miss; what is compiled then takes its place. */
static void an_entry_of_others_is_not_read(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], entry[2 * SCRATCH_MAX];
    static const unsigned modes[] = {0666, 0620, 0602};
    kw_error err = {0};
    kw_cache *cache = open_cache(scratch_make(folder), "");
    snprintf(entry, sizeof entry, "%s/ab/%s", folder, key);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(put(cache, &err), KW_OK);
        assert_true(hit(cache));
        assert_int_equal(chmod(entry, modes[i]), 0);
        assert_false(hit(cache));
    }
    assert_int_equal(put(cache, &err), KW_OK);
    assert_true(hit(cache));
    if (!geteuid()) {
        assert_int_equal(chown(entry, NOBODY, NOBODY), 0);
        assert_false(hit(cache));
        assert_int_equal(put(cache, &err), KW_OK);
        assert_true(hit(cache));
    } else {
        print_message("only root can give a file away\n");
    }
    kw_cache_close(&cache);
    scratch_remove(folder);
}

static void a_folder_swapped_after_opening_changes_nothing(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], away[2 * SCRATCH_MAX];
    kw_error err = {0};
    scratch_path(path, scratch_make(folder), "cache");
    scratch_path(away, folder, "away");
    kw_cache *cache = open_cache(path, "");
    assert_int_equal(put(cache, &err), KW_OK);
    assert_int_equal(rename(path, away), 0);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_true(hit(cache));
    assert_int_equal(put(cache, &err), KW_OK);
    assert_int_equal(scratch_count(path, ""), 0);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

/* Runs check(folder) in a child without root's powers, which a folder's mode would not stop. 0: it held. */
static int as_nobody(const char *folder, int (*check)(const char *folder)) {
    int status = 0;
    pid_t child = fork();
    if (!child) {
        if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY))) {
            _exit(99);
        }
        _exit(check(folder));
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

static int reads_and_does_not_write(const char *folder) {
    kw_cache *cache = NULL;
    char note[256];
    kw_blob blob = {0};
    if (kw_cache_open(&cache, folder, note, NULL) || !cache || !strstr(note, "cannot be written")) {
        return 1;
    }
    kw_cache_get(cache, key, &blob, NULL);
    if (!blob.data || blob.size != sizeof payload) {
        return 2;
    }
    kw_blob other = {blob.data, 5};
    if (kw_cache_put(cache, key, &other, NULL) != KW_IO || kw_cache_put(cache, "cd12ab", &other, NULL) != KW_IO) {
        return 3;
    }
    kw_blob_drop(&blob);
    kw_cache_close(&cache);
    return 0;
}

static void a_folder_that_cannot_be_written_still_answers(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], shard[2 * SCRATCH_MAX], file[2 * SCRATCH_MAX];
    kw_error err = {0};
    kw_cache *cache = open_cache(scratch_make(folder), "");
    assert_int_equal(put(cache, &err), KW_OK);
    kw_cache_close(&cache);
    scratch_path(shard, folder, "ab");
    scratch_path(file, folder, "ab/ab12cd-34");
    if (!geteuid()) {
        assert_false(chown(file, NOBODY, NOBODY) || chown(shard, NOBODY, NOBODY) || chown(folder, NOBODY, NOBODY));
    }
    assert_false(chmod(shard, 0500) || chmod(folder, 0500));
    assert_int_equal(as_nobody(folder, reads_and_does_not_write), 0);
    scratch_remove(folder);
}

static int cannot_be_made(const char *folder) {
    char path[2 * SCRATCH_MAX], note[256];
    kw_cache *cache = NULL;
    kw_status status = kw_cache_open(&cache, scratch_path(path, folder, "new/cache"), note, NULL);
    return status || cache || !strstr(note, "is not used") ? 1 : 0;
}

static void a_folder_that_cannot_be_made_switches_the_cache_off(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    scratch_make(folder);
    assert_false(chmod(folder, 0555));
    assert_int_equal(as_nobody(folder, cannot_be_made), 0);
    scratch_remove(folder);
}

/* A disk that is full after 64 bytes: no entry, no debris, and the kernel is there all the same. */
static void a_full_disk_costs_no_kernel(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    kw_error err = {0};
    struct rlimit before, tight = {64, 64};
    kw_cache *cache = open_cache(scratch_make(folder), "");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    kw_status status = put(cache, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, SIG_DFL);
    assert_int_equal(status, KW_IO);
    assert_non_null(strstr(err.text, "cache"));
    assert_int_equal(scratch_count(folder, ""), 0);
    assert_false(hit(cache));
    kw_cache_close(&cache);
    scratch_remove(folder);
}

/* Storing fails, because the place of the shard is taken; the compile does not. */
static void a_cache_that_cannot_store_costs_no_kernel(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    kw_compiler compiler;
    kw_blob blob;
    kw_jit_result result;
    kw_error err = {0};
    kw_config config = fake_config(1, FAKE_GOOD);
    kw_cache *cache = open_cache(scratch_make(folder), "");
    if (kw_compiler_find(&compiler, NULL, (kw_code){0}, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    for (int i = 0; i < 256; i++) {
        char path[2 * SCRATCH_MAX], name[3];
        snprintf(name, sizeof name, "%02x", (unsigned)i & 255);
        scratch_write(scratch_path(path, folder, name), "", 0, 0600);
    }
    kw_jit jit = {.compiler = &compiler, .cache = cache};
    for (int again = 0; again < 2; again++) {
        assert_int_equal(kw_jit_blob(&jit, &config, &blob, &result, &err), KW_OK);
        assert_false(result.cached);
        assert_non_null(blob.data);
        kw_blob_drop(&blob);
    }
    kw_cache_close(&cache);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit_and_every_length_is_found),
        cmocka_unit_test(entries_of_another_format_abi_or_byte_order_are_refused),
        cmocka_unit_test(a_damaged_file_is_a_miss_and_put_aside),
        cmocka_unit_test(what_is_no_regular_file_is_a_miss),
        cmocka_unit_test(folders_that_cannot_be_trusted_switch_the_cache_off),
        cmocka_unit_test(a_name_of_any_bytes_is_a_folder_like_others),
        cmocka_unit_test(without_a_home_the_cache_is_off),
        cmocka_unit_test(a_path_beyond_all_limits_switches_the_cache_off),
        cmocka_unit_test(a_loose_or_linked_shard_is_not_read),
        cmocka_unit_test(an_entry_of_others_is_not_read),
        cmocka_unit_test(a_folder_swapped_after_opening_changes_nothing),
        cmocka_unit_test(a_folder_that_cannot_be_written_still_answers),
        cmocka_unit_test(a_folder_that_cannot_be_made_switches_the_cache_off),
        cmocka_unit_test(a_full_disk_costs_no_kernel),
        cmocka_unit_test(a_cache_that_cannot_store_costs_no_kernel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
