/* test_wisdom_trust.c: whose wisdom is believed, how long, and when the file is read again. */
#include "base/os/clock.h"
#include "dispatch/wisdom/wisdom.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

typedef struct fixture {
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], log[1024];
    kw_settings settings;
    kw_wisdom *wisdom;
} fixture;

static void keep_line(void *user, const char *line) {
    snprintf(user, 1024, "%s", line);
}

static int set_up(void **state) {
    fixture *f = calloc(1, sizeof *f);
    scratch_path(f->path, scratch_make(f->folder), "wisdom.txt");
    f->settings = (kw_settings){.wisdom = f->path, .system_wisdom = "", .log = keep_line, .user = f->log};
    *state = f;
    return kw_wisdom_open(&f->wisdom, &f->settings, "t", NULL) != KW_OK;
}

static int tear_down(void **state) {
    fixture *f = *state;
    kw_wisdom_close(&f->wisdom);
    scratch_remove(f->folder);
    free(f);
    return 0;
}

static void write_wisdom(const fixture *f, const char *config) {
    char text[512];
    int size = snprintf(text, sizeof text,
                        "# kernelwright wisdom 1\nshortlist\tt\tp\tpacked\t%s\t1200.5\t3.0\t8\t2026-11-21\t1300.0\tother\tcc\t2026-11-21\n",
                        config);
    scratch_write(f->path, text, (size_t)size, 0600);
}

static bool says(fixture *f, const char *config) {
    kw_wisdom_value value = {0};
    kw_wisdom_refresh(f->wisdom);
    return kw_wisdom_find(f->wisdom, KW_LAYER_USER, "p\tpacked", &value) && !strcmp(value.config, config);
}

static void a_file_of_another_user_is_not_believed(void **state) {
    fixture *f = *state;
    write_wisdom(f, "mine");
    assert_true(says(f, "mine"));
    if (geteuid()) {
        print_message("only root can give a file away\n");
        skip();
    }
    unlink(f->path);
    write_wisdom(f, "theirs");
    assert_int_equal(chown(f->path, NOBODY, NOBODY), 0);
    assert_false(says(f, "theirs"));
    assert_non_null(strstr(f->log, "its owner"));
    assert_int_equal(chown(f->path, 0, 0), 0);
    struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}}; /* a change of the owner alone is not looked for */
    assert_int_equal(utimensat(AT_FDCWD, f->path, times, 0), 0);
    assert_true(says(f, "theirs"));
}

/* Same file, same size: the time alone tells that it is another text. */
static void a_text_changed_in_place_is_read_again(void **state) {
    fixture *f = *state;
    struct timespec first[2] = {{.tv_sec = 1000, .tv_nsec = 1}, {.tv_sec = 1000, .tv_nsec = 1}}, second[2], third[2];
    memcpy(second, first, sizeof first);
    memcpy(third, first, sizeof first);
    second[1].tv_nsec = 2;
    third[1].tv_sec = 1001;
    write_wisdom(f, "one");
    assert_int_equal(utimensat(AT_FDCWD, f->path, first, 0), 0);
    assert_true(says(f, "one"));
    write_wisdom(f, "two");
    assert_int_equal(utimensat(AT_FDCWD, f->path, second, 0), 0);
    assert_true(says(f, "two"));
    write_wisdom(f, "six");
    assert_int_equal(utimensat(AT_FDCWD, f->path, third, 0), 0);
    assert_true(says(f, "six"));
    uint64_t generation = kw_wisdom_generation(f->wisdom);
    assert_int_equal(kw_wisdom_refresh(f->wisdom), generation); /* and not again while nothing changes */
}

static void a_verification_lasts_so_many_days_and_not_one_more(void **state) {
    fixture *f = *state;
    static const struct {
        int days;
        bool old;
    } cases[] = {{0, false}, {KW_WISDOM_DAYS - 1, false}, {KW_WISDOM_DAYS, false}, {KW_WISDOM_DAYS + 1, true}};
    char today[11], later[11];
    do { /* the day may change between the two */
        kw_clock_date_before(today, 0);
        kw_wisdom_close(&f->wisdom);
        assert_int_equal(kw_wisdom_open(&f->wisdom, &f->settings, "t", NULL), KW_OK);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            kw_wisdom_value value = {.builder = "cc"};
            kw_clock_date_before(value.date, cases[i].days);
            bool needs = kw_wisdom_needs_verification(f->wisdom, &value, "cc");
            snprintf(value.checked, sizeof value.checked, "%s", value.date);
            snprintf(value.date, sizeof value.date, "2020-01-01");
            bool again = kw_wisdom_needs_verification(f->wisdom, &value, "cc");
            kw_clock_date_before(later, 0);
            assert_true(strcmp(today, later) != 0 || (needs == cases[i].old && again == cases[i].old));
        }
    } while (strcmp(today, later) != 0);
    kw_wisdom_value value = {.builder = "cc"};
    kw_clock_date_before(value.date, 0);
    assert_true(kw_wisdom_needs_verification(f->wisdom, &value, "another"));
    *value.builder = 0;
    assert_true(kw_wisdom_needs_verification(f->wisdom, &value, ""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_of_another_user_is_not_believed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_changed_in_place_is_read_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_verification_lasts_so_many_days_and_not_one_more, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
