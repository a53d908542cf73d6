/* test_json_text.c: what is written is JSON that reads back, and what cannot be read says why, also when memory is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "json/json_read.h"
#include "json/json_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

static int granted = -1; /* allocations until one is refused; -1: none is */

void *__wrap_malloc(size_t size) {
    if (!granted) {
        return NULL;
    }
    granted -= granted > 0;
    return __real_malloc(size);
}

static void *counted_malloc(size_t size) {
    return malloc(size);
}

static void what_is_written_reads_back(void **state) {
    (void)state;
    kw_json_out out = {0};
    kw_error err = {0};
    json_t *root;
    kw_json_object(&out, NULL);
    kw_json_text(&out, "text", "a \"b\" \\ \n\x01 \xc3\xa4");
    kw_json_int(&out, "int", INT64_MIN);
    kw_json_real(&out, "real", 0.1);
    kw_json_real(&out, "none", (double)NAN);
    kw_json_array(&out, "list");
    kw_json_object(&out, NULL);
    kw_json_end(&out);
    kw_json_array(&out, NULL);
    kw_json_int(&out, NULL, 7);
    kw_json_end(&out);
    kw_json_end(&out);
    kw_json_end(&out);
    assert_int_equal(kw_json_read(&root, "out", out.text.data, out.text.size, &err), KW_OK);
    assert_string_equal(json_string_value(json_object_get(root, "text")), "a \"b\" \\ \n\x01 \xc3\xa4");
    assert_true(json_integer_value(json_object_get(root, "int")) == INT64_MIN);
    assert_true(json_real_value(json_object_get(root, "real")) == 0.1);
    assert_true(json_is_null(json_object_get(root, "none")));
    const json_t *list = json_object_get(root, "list");
    assert_int_equal(json_object_size(json_array_get(list, 0)), 0);
    assert_int_equal(json_integer_value(json_array_get(json_array_get(list, 1), 0)), 7);
    json_decref(root);
    assert_string_equal(strstr(out.text.data, "\"list\""), "\"list\": [\n    {},\n    [\n      7\n    ]\n  ]\n}\n");
    kw_text_drop(&out.text);
}

static void bad_texts_are_refused_by_name_and_line(void **state) {
    (void)state;
    static const char *const texts[] = {"", "{", "{\"a\": 1, \"a\": 2}", "[1,]", "nonsense", "{} {}", "[\"\xff\"]"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *root = NULL;
        kw_error err = {0};
        assert_int_equal(kw_json_read(&root, "file", texts[i], strlen(texts[i]), &err), KW_MALFORMED);
        assert_true(!root && !strncmp(err.text, "file:1: ", 8));
    }
}

/* Inside a string jansson takes it for a fault of the text. */
static void want_of_memory_is_a_status(void **state) {
    (void)state;
    static const char text[] = "{\"a\": [1, 2.5, \"three\", {\"b\": null}]}";
    bool read = false;
    int told = 0;
    json_set_alloc_funcs(counted_malloc, free);
    for (int count = 0; !read; count++) {
        json_t *root = NULL;
        kw_error err = {0};
        granted = count;
        kw_status status = kw_json_read(&root, "file", text, strlen(text), &err);
        read = !status;
        granted = -1;
        told += status == KW_NO_MEMORY;
        assert_true(read == (root != NULL) && (read || *err.text));
        json_decref(root);
        assert_true(count < 100);
    }
    assert_true(told > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(bad_texts_are_refused_by_name_and_line),
        cmocka_unit_test(want_of_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
