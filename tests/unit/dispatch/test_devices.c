/* test_devices.c: what is told of devices that are there and of one that cannot be used, on a stand-in for AMD's driver that has one of
 * each (tests/support/fake_hip.c). */

#include "kernelwright.h"

#include "support/kw_test.h"

typedef struct seen {
    int usable, refused;
    char why[256];
} seen;

static void note_device(void *user, const kw_device_entry *entry) {
    seen *s = user;
    if (!strcmp(entry->device, "hip:0")) {
        s->usable++;
        assert_non_null(strstr(entry->target, "hip:gfx"));
        assert_true(*entry->about && !*entry->none);
    } else if (!strcmp(entry->device, "hip:1")) {
        s->refused++;
        assert_true(!*entry->target && !*entry->about);
        snprintf(s->why, sizeof s->why, "%s", entry->none);
    }
}

static void count_usable(void *user, const kw_device_entry *entry) {
    *(int *)user += *entry->target != 0;
}

static void a_device_that_cannot_be_opened_is_told_with_its_reason(void **state) {
    (void)state;
    seen s = {0};
    int usable = 0, counted = kw_devices_visit(note_device, &s);
    assert_int_equal(s.usable, 1);
    assert_int_equal(s.refused, 1);
    assert_non_null(strstr(s.why, "gfx9999"));
    assert_int_equal(kw_devices_visit(count_usable, &usable), counted);
    assert_true(counted > usable); /* GPUs that are played are one entry, and counted each */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_device_that_cannot_be_opened_is_told_with_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
