/* test_cache_race.c: 32 processes build the same 50 keys at once, for KW_RACE_SECONDS, while one of them damages entries. Every hit must be
 * whole and right, and nothing but the entries may be left. */

#include "base/os/clock.h"
#include "jit/cache/cache.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 32, KEYS = 50, PAYLOAD_MAX = 20000 };

/* KW_RACE_SECONDS, or 1.5 s. */
static int64_t run_ns(void) {
    const char *seconds = getenv("KW_RACE_SECONDS");
    return (int64_t)((seconds ? atof(seconds) : 1.5) * 1e9);
}

static void make_key(char key[16], int number) {
    snprintf(key, 16, "%02x77-%02x", (unsigned)number % 7, (unsigned)number & 255);
}

/* Every key has its own bytes. */
static size_t fill(unsigned char payload[PAYLOAD_MAX], int number) {
    size_t size = (size_t)(1000 + number * 379);
    for (size_t i = 0; i < size; i++) {
        payload[i] = (unsigned char)((size_t)number * 31 + i * 7 + (i >> 8));
    }
    return size;
}

static void damage(const char *folder, const char *key, unsigned *seed) {
    char path[2 * SCRATCH_MAX];
    snprintf(path, sizeof path, "%s/%.2s/%s", folder, key, key);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        if (rand_r(seed) % 2 || pwrite(fd, "????", 4, rand_r(seed) % 900) != 4) {
            (void)!ftruncate(fd, rand_r(seed) % 900);
        }
        close(fd);
    }
}

/* Exit codes: 0 all well, 1 no cache, 2 an error, 3 wrong bytes, 4 nothing was ever found. */
static int work(const char *folder, unsigned seed) {
    static unsigned char expected[PAYLOAD_MAX];
    char note[256], key[16];
    kw_cache *cache = NULL;
    int hits = 0;
    bool vandal = seed == 1;
    if (kw_cache_open(&cache, folder, note, NULL) || !cache) {
        return 1;
    }
    for (int64_t end = kw_clock_ns() + run_ns(); kw_clock_ns() < end;) {
        int number = rand_r(&seed) % KEYS;
        size_t size = fill(expected, number);
        kw_blob found;
        make_key(key, number);
        if (kw_cache_get(cache, key, &found, NULL)) {
            return 2;
        }
        if (found.data) {
            if (found.size != size || memcmp(found.data, expected, size)) {
                return 3;
            }
            hits++;
            kw_blob_drop(&found);
        } else {
            kw_blob mine = {expected, size};
            if (kw_cache_put(cache, key, &mine, NULL)) {
                return 2;
            }
        }
        if (vandal && rand_r(&seed) % 4 == 0) {
            damage(folder, key, &seed);
        }
    }
    kw_cache_close(&cache);
    return hits ? 0 : 4;
}

static void processes_that_race_only_ever_read_whole_entries(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], key[16], note[256];
    pid_t children[PROCESSES];
    kw_cache *cache = NULL;
    kw_error err = {0};
    scratch_make(folder);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (!children[i]) {
            _exit(work(folder, (unsigned)i + 1));
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    static unsigned char expected[PAYLOAD_MAX];
    for (int i = 0; i < KEYS; i++) {
        kw_blob found;
        size_t size = fill(expected, i);
        make_key(key, i);
        assert_int_equal(kw_cache_get(cache, key, &found, &err), KW_OK);
        if (found.data) { /* the last one may be a damaged one */
            assert_int_equal(found.size, size);
            assert_memory_equal(found.data, expected, size);
        }
        kw_blob_drop(&found);
    }
    kw_cache_stats stats;
    assert_int_equal(kw_cache_scan(cache, &stats, &err), KW_OK);
    assert_in_range(stats.entries, KEYS / 2, KEYS);
    assert_int_equal(scratch_count(folder, "tmp-"), 0);
    assert_true(scratch_count(folder, ".bad") > 0);
    kw_cache_close(&cache);
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_that_race_only_ever_read_whole_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
