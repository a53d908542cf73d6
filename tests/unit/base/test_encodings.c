/* test_encodings.c: CSV, gzip, UTF-8 and random numbers. */

#include "base/format/csv.h"
#include "base/format/gzip.h"
#include "base/statistics/random.h"
#include "base/format/utf8.h"
#include "support/kw_test.h"

#include <math.h>

static void cells_are_read_as_they_were_written(void **state) {
    (void)state;
    static const char *const values[] = {"", "plain", "a,b", "say \"x\"", "two\nlines", "\"", ",", " blank ", "\r"};
    enum { COUNT = sizeof values / sizeof *values };
    kw_text text = {0};
    kw_word cells[COUNT + 1];
    int count;
    for (int i = 0; i < COUNT; i++) {
        kw_csv_add(&text, values[i], !i);
    }
    kw_csv_add_number(&text, 0.5, false);
    assert_false(kw_csv_is_open((kw_word){text.data, text.size}));
    assert_int_equal(kw_csv_split(cells, COUNT + 1, &count, text.data, text.size, NULL), KW_OK);
    assert_int_equal(count, COUNT + 1);
    for (int i = 0; i < COUNT; i++) {
        assert_true(kw_word_is(cells[i], values[i]));
    }
    assert_true(kw_word_is(cells[COUNT], "0.5"));
    kw_text_drop(&text);
    kw_csv_add_number(&text, (double)NAN, true);
    kw_csv_add_number(&text, -1, false);
    assert_string_equal(text.data, ",-1");
    kw_text_drop(&text);
}

static void bad_records_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *record;
        bool open;
        int count;       /* -1: refused */
        const char *why; /* part of the message */
    } cases[] = {
        {"", false, 1, NULL},
        {"a,", false, 2, NULL},
        {"a,b,c", false, 3, NULL},
        {"a,b,c,d", false, -1, "more than 3 cells"},
        {"\"a\"b,c", false, -1, "cell 1 goes on behind its closing quote"},
        {"x,\"a", true, 2, NULL},
        {"\"a\"\"\"", false, 1, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_word cells[3];
        char record[32];
        int count;
        kw_error err = {0};
        snprintf(record, sizeof record, "%s", cases[i].record);
        assert_int_equal(kw_csv_is_open((kw_word){record, strlen(record)}), cases[i].open);
        kw_status status = kw_csv_split(cells, 3, &count, record, strlen(record), &err);
        assert_int_equal(status, cases[i].count < 0 ? KW_MALFORMED : KW_OK);
        assert_true(cases[i].count < 0 ? strstr(err.text, cases[i].why) != NULL : count == cases[i].count);
    }
    assert_true(kw_word_is(kw_csv_trim((kw_word){" \ta b\t \r", 8}), "a b"));
}

static void gzip_gives_back_what_it_took(void **state) {
    (void)state;
    uint64_t random = 1;
    for (size_t size = 0; size < 400000; size = size * 3 + 1) {
        char *data = malloc(size + 1);
        kw_text packed = {0}, again = {0}, unpacked = {0};
        for (size_t i = 0; i < size; i++) {
            data[i] = (char)(i % 3 ? kw_random_below(&random, 256) : 'x');
        }
        kw_text_add(&unpacked, "head");
        assert_int_equal(kw_gzip_pack(&packed, data, size, NULL), KW_OK);
        assert_int_equal(kw_gzip_pack(&again, data, size, NULL), KW_OK);
        assert_true(kw_gzip_is(packed.data, packed.size) && packed.size == again.size && !memcmp(packed.data, again.data, packed.size));
        assert_int_equal(kw_gzip_unpack(&unpacked, packed.data, packed.size, size, NULL), KW_OK);
        assert_true(unpacked.size == size + 4 && !memcmp(unpacked.data + 4, data, size) && !unpacked.data[unpacked.size]);
        kw_error err = {0};
        if (size) {
            unpacked.size = 0;
            assert_int_equal(kw_gzip_unpack(&unpacked, packed.data, packed.size, size - 1, &err), KW_ILLEGAL);
            assert_non_null(strstr(err.text, "gzip data holds more than"));
        }
        kw_text_drop(&packed);
        kw_text_drop(&again);
        kw_text_drop(&unpacked);
        free(data);
    }
}

static void damaged_gzip_is_refused(void **state) {
    (void)state;
    static const char data[] = "the same line again and again, the same line again and again";
    kw_text packed = {0}, out = {0};
    kw_error err;
    assert_int_equal(kw_gzip_pack(&packed, data, sizeof data, NULL), KW_OK);
    for (size_t size = 0; size < packed.size; size++) {
        out.size = 0;
        assert_int_equal(kw_gzip_unpack(&out, packed.data, size, 1000, &err), KW_MALFORMED);
        assert_string_equal(err.text, "gzip data is cut short");
    }
    kw_text_add(&packed, "more");
    out.size = 0;
    assert_int_equal(kw_gzip_unpack(&out, packed.data, packed.size, 1000, &err), KW_MALFORMED);
    assert_string_equal(err.text, "4 bytes follow the gzip data");
    packed.data[packed.size - 10] ^= 1; /* in the checksum */
    out.size = 0;
    assert_int_equal(kw_gzip_unpack(&out, packed.data, packed.size - 4, 1000, &err), KW_MALFORMED);
    assert_string_equal(err.text, "gzip data is damaged");
    assert_false(kw_gzip_is("\x1f", 1) || kw_gzip_is("text", 4));
    kw_text_drop(&packed);
    kw_text_drop(&out);
}

static void utf8_is_decoded_strictly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        uint32_t code;
    } cases[] = {
        {"", 1, 0},
        {"a", 1, 'a'},
        {"\x7f", 1, 0x7f},
        {"\xc3\xa4x", 2, 0xe4},
        {"\xe2\x82\xac", 3, 0x20ac},
        {"\xf0\x9f\x98\x80", 4, 0x1f600},
        {"\xf4\x8f\xbf\xbf", 4, 0x10ffff},
        {"\xed\x9f\xbf", 3, 0xd7ff},
        {"\xee\x80\x80", 3, 0xe000},
        {"\x80", 0, 0},                 /* begins with a continuation */
        {"\xc3", 0, 0},                 /* ends early */
        {"\xe2\x82", 0, 0},             /* the same */
        {"\xc0\xaf", 0, 0},             /* overlong */
        {"\xc1\xbf", 0, 0},             /* the same */
        {"\xe0\x9f\xbf", 0, 0},         /* the same */
        {"\xf0\x8f\xbf\xbf", 0, 0},     /* the same */
        {"\xed\xa0\x80", 0, 0},         /* a surrogate */
        {"\xed\xbf\xbf", 0, 0},         /* the same */
        {"\xf4\x90\x80\x80", 0, 0},     /* above U+10FFFF */
        {"\xf5\x80\x80\x80", 0, 0},     /* the same */
        {"\xf8\x88\x80\x80\x80", 0, 0}, /* five bytes */
        {"\xf8\x90\x80\x80", 0, 0},     /* the same, cut to four */
        {"\xff", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t code = 0;
        assert_int_equal(kw_utf8_decode(cases[i].text, &code), cases[i].length);
        assert_int_equal(code, cases[i].code);
        assert_int_equal(kw_utf8_decode(cases[i].text, NULL), cases[i].length);
    }
}

/* The first numbers of seed 1234567 as the published reference code gives them. */
static void random_numbers_are_those_of_splitmix64(void **state) {
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u, 4593380528125082431u};
    uint64_t seed = 1234567;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(kw_random(&seed) == expected[i]);
    }
    uint64_t seen = 0;
    for (int i = 0; i < 1000; i++) {
        double unit = kw_random_unit(&seed);
        uint64_t below = kw_random_below(&seed, 7);
        assert_true(unit >= 0 && unit < 1 && below < 7);
        seen |= (uint64_t)1 << below;
    }
    assert_int_equal(seen, 0x7f);
}

static void names_like_formulas_are_guarded_and_come_back(void **state) {
    (void)state;
    static const struct {
        const char *name, *cell;
    } cases[] = {{"=HYPERLINK(\"http://e\")", "\"'=HYPERLINK(\"\"http://e\"\")\""},
                 {"+1", "'+1"},
                 {"-x", "'-x"},
                 {"@a", "'@a"},
                 {"\tb", "'\tb"},
                 {"'=c", "''=c"},
                 {"''@d", "'''@d"},
                 {"'quoted'", "'quoted'"},
                 {"a=b", "a=b"},
                 {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text text = {0};
        kw_word cell[2];
        int count;
        kw_csv_add_guarded(&text, cases[i].name, true);
        assert_string_equal(kw_text_string(&text), cases[i].cell);
        kw_text_reserve(&text, 1);
        assert_int_equal(kw_csv_split(cell, 2, &count, text.data, text.size, NULL), KW_OK);
        kw_word back = count ? kw_csv_unguard(cell[0]) : (kw_word){"", 0};
        assert_int_equal(back.size, strlen(cases[i].name));
        assert_memory_equal(back.at, cases[i].name, back.size);
        kw_text_drop(&text);
    }
}

static void messages_and_printed_texts_show_what_they_hide(void **state) {
    (void)state;
    char text[64];
    kw_error err = {0};
    kw_fail(&err, KW_MALFORMED, "\x1b[31mred\r\ntwo\tthree \xff \xe2\x80\xae \xc3\xa9 \xc2\x9b");
    assert_string_equal(err.text, "\\x1b[31mred  two three \\xff \\u{202e} \xc3\xa9 \\u{9b}");
    kw_fail(&err, KW_MALFORMED, "%s", err.text); /* passed on it stays what it is */
    assert_string_equal(err.text, "\\x1b[31mred  two three \\xff \\u{202e} \xc3\xa9 \\u{9b}");
    assert_int_equal(kw_printable(text, sizeof text, "a\nb\x7f"), 10);
    assert_string_equal(text, "a\\x0ab\\x7f");
    assert_int_equal(kw_printable(text, 4, "ab\xc3\xa9"), 2); /* cut at a whole character */
    assert_string_equal(text, "ab");
    assert_int_equal(kw_printable(text, 1, "ab"), 0);
    assert_string_equal(text, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_like_formulas_are_guarded_and_come_back),
        cmocka_unit_test(messages_and_printed_texts_show_what_they_hide),
        cmocka_unit_test(cells_are_read_as_they_were_written),
        cmocka_unit_test(bad_records_are_refused),
        cmocka_unit_test(gzip_gives_back_what_it_took),
        cmocka_unit_test(damaged_gzip_is_refused),
        cmocka_unit_test(utf8_is_decoded_strictly),
        cmocka_unit_test(random_numbers_are_those_of_splitmix64),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
