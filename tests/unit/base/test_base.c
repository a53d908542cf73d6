/* test_base.c: the small tools that everything stands on. */

#include "base/container/arena.h"
#include "base/os/clock.h"
#include "base/os/file.h"
#include "base/os/parallel.h"
#include "base/hash.h"
#include "base/math.h"
#include "base/os/process/process.h"
#include "base/nearest.h"
#include "base/text.h"
#include "support/kw_test.h"

#include <unistd.h>

static void arena_gives_zeroed_aligned_memory(void **state) {
    (void)state;
    kw_arena arena = {0};
    for (size_t size = 0; size < 5000; size += 7) {
        char *memory = kw_arena_alloc(&arena, size);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(memory[i], 0);
        }
        memset(memory, 0xff, size);
    }
    assert_null(kw_arena_alloc(&arena, SIZE_MAX - 3));
    assert_null(kw_arena_array(&arena, SIZE_MAX / 2, 3));
    assert_string_equal(kw_arena_format(&arena, "%d-%s", 7, "x"), "7-x");
    kw_arena_drop(&arena);
    assert_null(arena.last);
}

static void scanner_reads_integers_within_limits(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t low, high;
        bool good;
        int64_t value;
    } cases[] = {
        {"12", 0, 100, true, 12},
        {"-5", -10, 10, true, -5},
        {"-5", 0, 10, false, 0},
        {"101", 0, 100, false, 0},
        {"", 0, 9, false, 0},
        {"-", -9, 9, false, 0},
        {"9223372036854775807", 0, INT64_MAX, true, INT64_MAX},
        {"9223372036854775808", 0, INT64_MAX, false, 0},
        {"-9223372036854775808", INT64_MIN, 0, true, INT64_MIN},
        {"7x", 0, 9, false, 0},
        {"+7", 0, 9, false, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t value = 0;
        kw_word word = {cases[i].text, strlen(cases[i].text)};
        assert_int_equal(kw_word_int(word, cases[i].low, cases[i].high, &value), cases[i].good);
        assert_int_equal(value, cases[i].value);
    }
}

static void scanner_splits_words_lines_and_fields(void **state) {
    (void)state;
    kw_scan scan = kw_scan_string("  one\ttwo \n");
    kw_word word;
    assert_true(kw_scan_word(&scan, &word) && kw_word_is(word, "one"));
    assert_true(kw_scan_word(&scan, &word) && kw_word_starts(word, "tw"));
    assert_false(kw_scan_word(&scan, &word));
    scan = kw_scan_string("a\r\n\nlast");
    assert_true(kw_scan_line(&scan, &word) && kw_word_is(word, "a"));
    assert_true(kw_scan_line(&scan, &word) && kw_word_is(word, ""));
    assert_true(kw_scan_line(&scan, &word) && kw_word_is(word, "last"));
    assert_false(kw_scan_line(&scan, &word));
    scan = kw_scan_string("x,,");
    assert_true(kw_scan_field(&scan, ',', &word) && kw_word_is(word, "x"));
    assert_true(kw_scan_field(&scan, ',', &word) && kw_word_is(word, ""));
    assert_true(kw_scan_field(&scan, ',', &word) && kw_word_is(word, ""));
    assert_false(kw_scan_field(&scan, ',', &word));
}

static void errors_are_one_line(void **state) {
    (void)state;
    kw_error err = {0};
    assert_int_equal(kw_fail(&err, KW_MALFORMED, "bad\nline %d\t", 3), KW_MALFORMED);
    assert_string_equal(err.text, "bad line 3 ");
    assert_int_equal(kw_fail(NULL, KW_IO, "x"), KW_IO);
}

static void sizes_are_checked(void **state) {
    (void)state;
    bool good = true;
    assert_int_equal(kw_mul(1LL << 31, 1LL << 31, &good), 1LL << 62);
    assert_true(good);
    kw_mul(1LL << 32, 1LL << 32, &good);
    assert_false(good);
    assert_int_equal(kw_floor_div(-1, 2), -1);
    assert_int_equal(kw_floor_div(-4, 2), -2);
    assert_int_equal(kw_ceil_div(5, 2), 3);
    assert_int_equal(kw_gcd(12, 18), 6);
}

static void files_are_replaced_whole(void **state) {
    (void)state;
    char folder[] = "/tmp/kw-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    kw_arena arena = {0};
    kw_error err = {0};
    char *path = kw_arena_format(&arena, "%s/a/b/file", folder);
    char *data;
    size_t size;
    assert_int_equal(kw_file_read(&arena, path, 100, &data, &size, &err), KW_MISSING);
    assert_int_equal(kw_folder_make(kw_arena_format(&arena, "%s/a/b", folder), &err), KW_OK);
    assert_int_equal(kw_file_replace(path, "hello", 5, 0600, &err), KW_OK);
    assert_int_equal(kw_file_read(&arena, path, 100, &data, &size, &err), KW_OK);
    assert_int_equal(size, 5);
    assert_string_equal(data, "hello");
    assert_int_equal(kw_file_read(&arena, path, 4, &data, &size, &err), KW_ILLEGAL);
    assert_int_equal(kw_file_read(&arena, folder, 100, &data, &size, &err), KW_IO);
    unlink(path);
    rmdir(kw_arena_format(&arena, "%s/a/b", folder));
    rmdir(kw_arena_format(&arena, "%s/a", folder));
    rmdir(folder);
    kw_arena_drop(&arena);
}

static void children_are_run_and_timed_out(void **state) {
    (void)state;
    kw_error err = {0};
    kw_text output = {0};
    kw_process_result result;
    assert_int_equal(kw_process_run((const char *[]){"sh", "-c", "echo out; echo err >&2; exit 3", NULL}, 0, &output, &result, &err),
                     KW_OK);
    assert_int_equal(result.exit_code, 3);
    assert_string_equal(kw_text_string(&output), "out\nerr\n");
    kw_text_drop(&output);
    assert_int_equal(kw_process_run((const char *[]){"sh", "-c", "sleep 20", NULL}, 50000000, &output, &result, &err), KW_OK);
    assert_true(result.timed_out);
    assert_int_equal(result.signal, 9);
    kw_stop stop = {1};
    int64_t begin = kw_clock_ns();
    assert_int_equal(kw_process_run_job(&(kw_process_job){.argv = (const char *[]){"sh", "-c", "sleep 20", NULL}, .stop = &stop}, &output,
                                        &result, &err),
                     KW_OK);
    assert_int_equal(result.signal, 9);
    assert_true(kw_clock_ns() - begin < 5000000000);
    kw_text_drop(&output);
}

static void a_program_that_is_not_there_is_a_status(void **state) {
    (void)state;
    kw_error err = {0};
    kw_text output = {0};
    kw_process_result result;
    skip_under_valgrind("a child that shares no memory with its parent cannot say why it was not started");
    assert_int_equal(kw_process_run((const char *[]){"/nonexistent/cc", NULL}, 0, &output, &result, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "/nonexistent/cc"));
    kw_text_drop(&output);
}

/* Days since 1970 of a date, by counting. */
static int64_t day_number(const char *date) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    assert_int_equal(sscanf(date, "%4d-%2d-%2d", &year, &month, &day), 3);
    int64_t days = day - 1;
    for (int y = 1970; y < year; y++) {
        days += 365 + (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0));
    }
    for (int m = 1; m < month; m++) {
        days += lengths[m - 1] + (m == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    }
    return days;
}

static void dates_go_back_by_days(void **state) {
    static const int days[] = {0, 1, 31, 90, 366, 1461, 10000};
    char today[11], then[11];
    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        char later[11];
        do { /* midnight may fall between the calls */
            kw_clock_date(today);
            kw_clock_date_before(then, days[i]);
            kw_clock_date(later);
        } while (strcmp(today, later));
        assert_int_equal(day_number(today) - day_number(then), days[i]);
        assert_true(days[i] ? strcmp(then, today) < 0 : !strcmp(then, today)); /* as text, too */
    }
}

static void hashes_are_stable(void **state) {
    (void)state;
    char text[KW_HASH_TEXT];
    kw_hash_text(text, "kernelwright", 12);
    assert_int_equal(strlen(text), 32);
    char again[KW_HASH_TEXT];
    kw_hash_text(again, "kernelwright", 12);
    assert_string_equal(text, again);
}

static void a_mistyped_name_finds_the_one_that_was_meant(void **state) {
    (void)state;
    static const struct {
        const char *wrong, *names, *meant; /* NULL: none */
    } cases[] = {
        {"tun", "run tune train", "tune"},
        {"-V", "db run", NULL},
        {"x", "db run", NULL},
        {"deflt", "default full tiny", "default"},
        {"ful", "default, full, full-tests", "full"},
        {"gfx94", "gfx908\ngfx942\ngfx950\n", "gfx942"},
        {"fp64", "fp32 fp16", NULL},
        {"", "fp32", NULL},
        {"nearly", "", NULL},
        {"a-name-that-is-longer-than-any-is-near-nothing", "a-name-that-is-longer-than-any-is-near-nothing-at-all", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[KW_NEAREST_MAX] = "";
        bool near = kw_nearest(name, (kw_word){cases[i].wrong, strlen(cases[i].wrong)}, cases[i].names);
        assert_int_equal(near, cases[i].meant != NULL);
        assert_string_equal(name, near ? cases[i].meant : "");
    }
    char hint[KW_HINT_MAX];
    assert_string_equal(kw_nearest_hint(hint, "tun", "run tune"), "; did you mean tune");
    assert_string_equal(kw_nearest_hint(hint, "xyz", "run tune"), "");
}

static void cores_are_those_of_the_process(void **state) {
    (void)state;
    int cores[64] = {-1}, first[1] = {-1};
    size_t count = kw_cores_list(cores, 64);
    assert_true(count >= 1);
    assert_int_equal(kw_cores_list(NULL, 0), count);
    assert_int_equal(kw_cores_list(first, 1), count);
    assert_int_equal(first[0], cores[0]);
    for (size_t i = 1; i < count && i < 64; i++) {
        assert_true(cores[i] > cores[i - 1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mistyped_name_finds_the_one_that_was_meant),
        cmocka_unit_test(arena_gives_zeroed_aligned_memory),
        cmocka_unit_test(scanner_reads_integers_within_limits),
        cmocka_unit_test(scanner_splits_words_lines_and_fields),
        cmocka_unit_test(errors_are_one_line),
        cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(files_are_replaced_whole),
        cmocka_unit_test(children_are_run_and_timed_out),
        cmocka_unit_test(a_program_that_is_not_there_is_a_status),
        cmocka_unit_test(dates_go_back_by_days),
        cmocka_unit_test(hashes_are_stable),
        cmocka_unit_test(cores_are_those_of_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
