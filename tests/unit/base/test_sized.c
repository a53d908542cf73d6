/* test_sized.c: structs of older and newer headers, read as today's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/sized.h"

#include <string.h>

/* What one type was in three releases. */
typedef struct first_release {
    size_t size;
    int64_t a;
    const char *b;
} first_release;

typedef struct today {
    size_t size;
    int64_t a;
    const char *b;
    double c;
} today;

typedef struct next_release {
    size_t size;
    int64_t a;
    const char *b;
    double c;
    int64_t d;
} next_release;

static void an_older_struct_has_defaults_for_what_it_does_not_know(void **state) {
    (void)state;
    struct {
        first_release given;
        double beyond;
    } memory = {{.size = sizeof(first_release), .a = 7, .b = "b"}, 5};
    today own;
    memset(&own, 0x55, sizeof own);
    assert_int_equal(KW_SIZED_READ(&own, today, b, &memory, NULL), KW_OK);
    assert_true(own.size == sizeof own && own.a == 7 && !strcmp(own.b, "b") && own.c == 0);
}

static void todays_struct_is_read_whole(void **state) {
    (void)state;
    today own, given = {.size = sizeof given, .a = 7, .c = 2.5};
    assert_int_equal(KW_SIZED_READ(&own, today, b, &given, NULL), KW_OK);
    assert_memory_equal(&own, &given, sizeof own);
}

static void no_struct_is_one_with_every_default(void **state) {
    (void)state;
    today own, defaults = {.size = sizeof defaults};
    memset(&own, 0x55, sizeof own);
    assert_int_equal(KW_SIZED_READ(&own, today, b, NULL, NULL), KW_OK);
    assert_memory_equal(&own, &defaults, sizeof own);
}

static void a_newer_struct_is_read_while_what_is_newer_asks_for_nothing(void **state) {
    (void)state;
    today own;
    kw_error err = {0};
    next_release given = {.size = sizeof given, .a = 7, .c = 2.5};
    assert_int_equal(KW_SIZED_READ(&own, today, b, &given, &err), KW_OK);
    assert_true(own.size == sizeof own && own.a == 7 && own.c == 2.5);
    given.d = (int64_t)1 << 56; /* its last byte alone */
    assert_int_equal(KW_SIZED_READ(&own, today, b, &given, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "today.size is 40 and byte 39 is set"));
}

static void a_size_that_no_header_gives_is_refused(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, sizeof(size_t), sizeof(first_release) - 1, sizeof(first_release) + 1, (size_t)1 << 40};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        today own, given = {.size = sizes[i]};
        kw_error err = {0};
        assert_int_equal(KW_SIZED_READ(&own, today, b, &given, &err), KW_ILLEGAL);
        assert_non_null(strstr(err.text, "set it to sizeof(today), which is 32 today"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_older_struct_has_defaults_for_what_it_does_not_know),
        cmocka_unit_test(todays_struct_is_read_whole),
        cmocka_unit_test(no_struct_is_one_with_every_default),
        cmocka_unit_test(a_newer_struct_is_read_while_what_is_newer_asks_for_nothing),
        cmocka_unit_test(a_size_that_no_header_gives_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
