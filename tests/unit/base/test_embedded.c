/* test_embedded.c: files that are compiled in as they are: plain and packed ones, a damaged one, an empty one, and want of memory. */

#include "base/embedded.h"
#include "support/kw_test.h"
#include "support/memory_limit.h"

extern const kw_embedded kw_samples[];

static void a_plain_file_is_what_it_is(void **state) {
    (void)state;
    kw_text text = {0};
    const kw_embedded *file = kw_embedded_find(kw_samples, "samples/plain.txt");
    assert_non_null(file);
    assert_string_equal(file->text, "one \"line\" of text\n"); /* terminated */
    assert_int_equal(kw_embedded_size(file), strlen(file->text));
    assert_int_equal(kw_embedded_text(&text, file, NULL), KW_OK);
    assert_string_equal(text.data, file->text);
    kw_text_drop(&text);
    assert_null(kw_embedded_find(kw_samples, "plain.txt"));
}

static void a_packed_file_is_unpacked(void **state) {
    (void)state;
    kw_text text = {0};
    const char *last = "\n3000 a line that comes again and again\n";
    assert_int_equal(kw_embedded_text(&text, kw_embedded_find(kw_samples, "samples/packed.txt.gz"), NULL), KW_OK);
    assert_memory_equal(text.data, "1 a line", 8);
    assert_string_equal(text.data + text.size - strlen(last), last);
    kw_text_drop(&text);
}

static void a_damaged_file_is_an_error_and_an_empty_one_is_not(void **state) {
    (void)state;
    kw_text text = {0};
    kw_error err = {0};
    assert_int_equal(kw_embedded_text(&text, kw_embedded_find(kw_samples, "samples/damaged.gz"), &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "cut short"));
    kw_text_drop(&text);
    assert_int_equal(kw_embedded_text(&text, kw_embedded_find(kw_samples, "samples/empty"), &err), KW_OK);
    assert_int_equal(text.size, 0);
    kw_text_drop(&text);
}

static void want_of_memory_is_told(void **state) {
    (void)state;
    const kw_embedded *packed = kw_embedded_find(kw_samples, "samples/packed.txt.gz");
    int failures = 0;
    for (kw_status status = KW_NO_MEMORY; status; failures++) {
        kw_text text = {0};
        memory_granted = failures;
        status = kw_embedded_text(&text, packed, NULL);
        memory_granted = -1;
        assert_true(status == KW_OK || status == KW_NO_MEMORY);
        kw_text_drop(&text);
    }
    assert_true(failures > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file_is_what_it_is),
        cmocka_unit_test(a_packed_file_is_unpacked),
        cmocka_unit_test(a_damaged_file_is_an_error_and_an_empty_one_is_not),
        cmocka_unit_test(want_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
