/* test_row.c: rows and runs as lines, and their identity. */
#include "base/statistics/random.h"
#include "base/format/number.h"
#include "store/line.h"
#include "store/row.h"
#include "support/kw_test.h"
#include "support/rows/rows.h"
#include "support/scratch.h"

#include <locale.h>
#include <math.h>

/* Any finite double: bits at random. */
static double random_real(uint64_t *state) {
    for (;;) {
        uint64_t bits = kw_random(state);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) {
            return value;
        }
    }
}

static void random_text(char *text, size_t size, uint64_t *state) {
    static const char *const pieces[] = {
        "a", "Z", "0", " ", "\"", "\\", "\n", "\x01", "/", ",", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "=", "</script>"};
    size_t used = 0, wanted = 1 + kw_random(state) % (size - 1);
    memset(text, 0, size);
    for (;;) {
        const char *piece = pieces[kw_random(state) % (sizeof pieces / sizeof *pieces)];
        if (used + strlen(piece) > wanted) {
            break;
        }
        memcpy(text + used, piece, strlen(piece));
        used += strlen(piece);
    }
    text[0] = text[0] ? text[0] : 'x';
}

static void random_row(kw_row *row, uint64_t *state) {
    memset(row, 0, sizeof *row);
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        void *at = (char *)row + field->offset;
        double real = random_real(state);
        bool can_be_negative = field->flags & KW_FIELD_SIGNED;
        switch (field->kind) {
        case KW_FIELD_TEXT:
            random_text(at, field->size, state);
            break;
        case KW_FIELD_BOOL:
            kw_row_field_set_int(field, row, (int64_t)(kw_random(state) & 1));
            break;
        case KW_FIELD_INT32:
            kw_row_field_set_int(field, row, (int64_t)(kw_random(state) & INT32_MAX));
            break;
        case KW_FIELD_INT64:
        case KW_FIELD_UINT64:
            kw_row_field_set_int(field, row, can_be_negative ? (int64_t)kw_random(state) : (int64_t)(kw_random(state) >> 1));
            break;
        case KW_FIELD_REAL:
            kw_row_field_set_real(field, row, can_be_negative ? real : fabs(real));
            break;
        case KW_FIELD_OUTCOME:
            row->record.outcome = (kw_outcome)(kw_random(state) % KW_OUTCOME_COUNT);
            break;
        }
    }
}

static void every_field_of_random_rows_returns_exactly(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int i = 0; i < 500; i++) {
        kw_row row, back;
        char *line = NULL;
        kw_error err = {0};
        random_row(&row, &seed);
        assert_int_equal(kw_row_print(&line, &row, &err), KW_OK);
        assert_null(strchr(line, '\n'));
        if (kw_row_parse(&back, line, strlen(line), &err)) {
            fail_msg("%s: %s", err.text, line);
        }
        assert_true(rows_equal(&row, &back));
        free(line);
    }
}

/* A text has a zero behind it: what is as long as the field is refused and changes nothing. */
static void texts_fit_with_their_end_or_are_refused(void **state) {
    (void)state;
    static char text[1 << 16];
    memset(text, 'x', sizeof text);
    kw_row row;
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        if (field->kind != KW_FIELD_TEXT) {
            continue;
        }
        assert_true(field->size > 1 && field->size < sizeof text);
        memset(&row, 0, sizeof row);
        const char *at = (const char *)&row + field->offset;
        assert_true(kw_row_field_set_text(field, &row, (kw_word){text, field->size - 1}));
        assert_int_equal(strnlen(at, field->size), field->size - 1);
        assert_false(kw_row_field_set_text(field, &row, (kw_word){text, field->size}));
        assert_false(kw_row_field_set_text(field, &row, (kw_word){text, sizeof text}));
        assert_int_equal(strnlen(at, field->size), field->size - 1);
    }
}

/* rows_equal is written by hand, so a field that the table forgot would be caught by these two together. */
static void every_byte_of_a_row_belongs_to_a_field_or_is_padding(void **state) {
    (void)state;
    static unsigned char covered[sizeof(kw_row)];
    size_t bare = 0;
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        for (size_t i = 0; i < field->size; i++) {
            assert_int_equal(covered[field->offset + i], 0);
            covered[field->offset + i] = 1;
        }
    }
    for (size_t i = 0; i < sizeof covered; i++) {
        bare = covered[i] ? 0 : bare + 1;
        assert_true(bare < 8);
    }
    int count = 0;
    while (kw_row_fields[count].name) {
        count++;
    }
    assert_int_equal(count, KW_ROW_FIELD_COUNT);
}

static void a_line_with_any_byte_changed_or_missing_is_refused(void **state) {
    (void)state;
    kw_row row, back;
    char *line = NULL;
    rows_make(&row, 4, 7);
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_OK);
    size_t size = strlen(line);
    for (size_t i = 0; i < size; i++) {
        kw_error err = {0};
        char kept = line[i];
        line[i] = (char)(kept ^ 1);
        assert_int_not_equal(kw_row_parse(&back, line, size, &err), KW_OK);
        assert_int_not_equal(err.text[0], 0);
        line[i] = kept;
        assert_int_not_equal(kw_row_parse(&back, line, i, NULL), KW_OK);
    }
    assert_int_equal(kw_row_parse(&back, line, size, NULL), KW_OK);
    free(line);
}

/* Lines with a right checksum and a wrong content. */
static void lines_that_are_no_rows_are_refused_with_the_reason(void **state) {
    (void)state;
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"{\"schema\":1,\"line\":\"row\"", "no \"run\""},
        {"{\"schema\":1,\"line\":\"run\",\"id\":\"x\"", "not a row"},
        {"{\"schema\":2,\"line\":\"row\"", "schema 2"},
        {"{\"line\":\"row\"", "not one of ours"},
        {"[1", "line:"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"good\",\"bogus\":1",
         "not known"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":0,\"cold\":false,"
         "\"outcome\":\"good\"",
         "packed"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"fine\"",
         "outcome"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"good\",\"time_ns\":-1",
         "negative"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"good\",\"time_ns\":null",
         "time_ns"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"good\",\"samples\":3000000000",
         "samples"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"\",\"packed\":false,\"cold\":false,"
         "\"outcome\":\"good\"",
         "config is empty"},
        {"{\"schema\":1,\"line\":\"row\",\"run\":\"r\",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,"
         "\"cold\":false,\"outcome\":\"good\"",
         "duplicate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[512];
        kw_row row;
        kw_error err = {0};
        snprintf(line, sizeof line, "%s,\"sum\":\"%016llx\"}", cases[i].text,
                 (unsigned long long)kw_hash64(cases[i].text, strlen(cases[i].text)));
        assert_int_not_equal(kw_row_parse(&row, line, strlen(line), &err), KW_OK);
        if (!strstr(err.text, cases[i].reason)) {
            fail_msg("%s: %s", line, err.text);
        }
    }
}

/* A line with just the fields that must be there, but for one of them. */
static size_t print_without(char *line, size_t room, const char *kind, const kw_row_field fields[], const kw_row_field *left_out) {
    kw_line out = {line, room, 0};
    kw_line_addf(&out, "{\"schema\":1,\"line\":\"%s\"", kind);
    for (const kw_row_field *field = fields; field->name; field++) {
        if (field != left_out && field->flags & (KW_FIELD_ALWAYS | KW_FIELD_NEEDED)) {
            const char *value = field->kind == KW_FIELD_TEXT ? "\"x\"" : field->kind == KW_FIELD_OUTCOME ? "\"good\"" : "false";
            kw_line_addf(&out, ",\"%s\":%s", field->name, value);
        }
    }
    kw_line_addf(&out, ",\"sum\":\"%016llx\"}", (unsigned long long)kw_hash64(line, strlen(line)));
    return strlen(line);
}

static kw_status parse_line(const char *kind, const char *line, size_t size, kw_error *err) {
    kw_row row;
    kw_run run;
    return strcmp(kind, "row") ? kw_run_parse(&run, line, size, err) : kw_row_parse(&row, line, size, err);
}

/* Each field that must be there, left out of a line that is right otherwise. */
static void each_field_that_must_be_there_is_asked_for(void **state) {
    (void)state;
    static const struct {
        const char *kind;
        const kw_row_field *fields;
        int least;
    } kinds[] = {{"row", kw_row_fields, 7}, {"run", kw_run_fields, 1}};
    for (int i = 0; i < 2; i++) {
        char line[512], reason[80];
        int asked = 0;
        kw_error err = {0};
        size_t size = print_without(line, sizeof line, kinds[i].kind, kinds[i].fields, NULL);
        assert_ok(parse_line(kinds[i].kind, line, size, &err), &err);
        for (const kw_row_field *field = kinds[i].fields; field->name; field++) {
            if (field->flags & (KW_FIELD_ALWAYS | KW_FIELD_NEEDED)) {
                size = print_without(line, sizeof line, kinds[i].kind, kinds[i].fields, field);
                assert_int_equal(parse_line(kinds[i].kind, line, size, &err), KW_MALFORMED);
                snprintf(reason, sizeof reason, "no \"%s\"", field->name);
                assert_non_null(strstr(err.text, reason));
                asked++;
            }
        }
        assert_true(asked >= kinds[i].least);
    }
}

static void runs_return_exactly(void **state) {
    (void)state;
    kw_run run, back;
    char *line = NULL;
    rows_run(&run);
    assert_int_equal(kw_run_print(&line, &run, NULL), KW_OK);
    assert_int_equal(kw_run_parse(&back, line, strlen(line), NULL), KW_OK);
    assert_memory_equal(&run, &back, sizeof run);
    kw_row row;
    assert_int_not_equal(kw_row_parse(&row, line, strlen(line), NULL), KW_OK);
    free(line);
}

static void bytes_that_are_not_utf8_and_errors_beyond_bounds_are_settled(void **state) {
    (void)state;
    static const struct {
        const char *given, *kept;
    } cases[] = {{"a\xff"
                  "b",
                  "a?b"},
                 {"\xc0\x80", "??"},
                 {"\xed\xa0\x80", "???"},
                 {"cut \xe2\x82", "cut ??"},
                 {"\xf4\x90\x80\x80", "????"},
                 {"\xe2\x82\xac", "\xe2\x82\xac"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_row row, back;
        char *line = NULL;
        rows_make(&row, 0, 1);
        snprintf(row.record.detail, sizeof row.record.detail, "%s", cases[i].given);
        row.record.error = (double)INFINITY;
        row.drift = -0.0;
        assert_int_equal(kw_row_print(&line, &row, NULL), KW_OK);
        assert_int_equal(kw_row_parse(&back, line, strlen(line), NULL), KW_OK);
        assert_string_equal(back.record.detail, cases[i].kept);
        assert_true(isnan(back.record.error));
        assert_false(signbit(back.drift));
        free(line);
    }
}

static void rows_that_cannot_be_are_not_printed(void **state) {
    (void)state;
    kw_row good, row;
    char *line = NULL;
    rows_make(&good, 0, 1);
    row = good;
    row.record.time_ns = -1;
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_ILLEGAL);
    row = good;
    row.record.spread_ns = (double)NAN;
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_ILLEGAL);
    row = good;
    row.record.outcome = (kw_outcome)99;
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_ILLEGAL);
    row = good;
    row.target[0] = 0;
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_ILLEGAL);
    row = good;
    memset(row.record.detail, 'x', sizeof row.record.detail);
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_ILLEGAL);
    assert_null(line);
}

static void a_digest_depends_on_every_field(void **state) {
    (void)state;
    kw_row row;
    char base[KW_HASH_TEXT], digest[KW_HASH_TEXT];
    rows_make(&row, 3, 7);
    assert_int_equal(kw_row_digest(base, &row, NULL), KW_OK);
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        kw_row other = row;
        if (field->kind == KW_FIELD_TEXT) {
            kw_row_field_set_text(field, &other, (kw_word){"other", 5});
        } else if (field->kind == KW_FIELD_OUTCOME) {
            other.record.outcome = KW_TIMED_OUT;
        } else if (field->kind == KW_FIELD_REAL) {
            kw_row_field_set_real(field, &other, nextafter(kw_row_field_real(field, &row), 1e300));
        } else {
            kw_row_field_set_int(field, &other, !kw_row_field_int(field, &row));
        }
        assert_int_equal(kw_row_digest(digest, &other, NULL), KW_OK);
        if (!strcmp(base, digest)) {
            fail_msg("%s does not count", field->name);
        }
    }
}

/* The digest is what rows are known by for good, so it is a constant of the format. */
static void the_digest_of_a_row_is_what_it_always_was(void **state) {
    (void)state;
    kw_row row = {.run = "r", .target = "t", .problem = "p", .record = {.config = "c", .outcome = KW_GOOD, .time_ns = 0.1}};
    char digest[KW_HASH_TEXT], text[KW_HASH_TEXT];
    static const char members[] = ",\"run\":\"r\",\"target\":\"t\",\"problem\":\"p\",\"config\":\"c\",\"packed\":false,\"cold\":false,"
                                  "\"outcome\":\"good\",\"time_ns\":0.1";
    kw_hash_text(text, members, sizeof members - 1);
    assert_int_equal(kw_row_digest(digest, &row, NULL), KW_OK);
    assert_string_equal(digest, text);
}

static void lines_in_this_locale(void) {
    kw_row row, back;
    char *line = NULL;
    rows_make(&row, 7, 20);
    assert_int_equal(kw_row_print(&line, &row, NULL), KW_OK);
    assert_int_equal(kw_row_parse(&back, line, strlen(line), NULL), KW_OK);
    assert_true(rows_equal(&row, &back));
    free(line);
}

/* A locale with a decimal comma, made on the spot where the system has none and localedef is there. */
static void make_comma_locale(const char *folder) {
    char command[512];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (!system(command)) {
        setenv("LOCPATH", folder, 1);
    }
}

static void numbers_return_exactly_in_any_locale(void **state) {
    (void)state;
    static const char *const locales[] = {"C", "de_DE.UTF-8", "tr_TR.UTF-8", "de_DE", "fr_FR.UTF-8"};
    static const double values[] = {
        0,   1,     0.1, 1e15, 123456789012345678.0, 1e16, 1e300, 5e-324, 1.7976931348623157e308, 1e-5, 0.00001234, 9007199254740993.0,
        0.3, 1234.5};
    int met = 0, commas = 0;
    char folder[SCRATCH_MAX];
    make_comma_locale(scratch_make(folder));
    for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
        uint64_t seed = 3;
        if (!setlocale(LC_ALL, locales[l])) {
            continue;
        }
        met++;
        commas += *localeconv()->decimal_point == ',';
        lines_in_this_locale();
        for (size_t i = 0; i < 2000; i++) {
            char text[KW_NUMBER_TEXT];
            double value = i < sizeof values / sizeof *values ? values[i] : random_real(&seed), back;
            size_t size = kw_number_print(text, value);
            assert_true(size < sizeof text && size == strlen(text));
            assert_null(strchr(text, ','));
            assert_true(kw_number_read((kw_word){text, size}, &back));
            assert_memory_equal(&value, &back, sizeof value);
        }
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    scratch_remove(folder);
    assert_true(met >= 1);
    print_message("%d locales, %d with a decimal comma%s\n", met, commas, commas ? "" : " (none installed and no localedef: skipped)");
}

static void numbers_are_short_and_words_are_none(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } good[] = {{0.1, "0.1"}, {1e21, "1e21"}, {1234567.25, "1234567.25"}, {-2.5e-7, "-2.5e-7"}, {42, "42"}, {0.00012, "0.00012"}};
    static const char *const bad[] = {"",    "-",     ".",  "1,5", "1e",    "1e+", "0x10",   "nan",
                                      "inf", "1e999", "1 ", " 1",  "1.2.3", "--1", "1e99999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[KW_NUMBER_TEXT];
        kw_number_print(text, good[i].value);
        assert_string_equal(text, good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value;
        assert_false(kw_number_read((kw_word){bad[i], strlen(bad[i])}, &value));
    }
}

static void configs_of_ours_are_told_from_foreign_names(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool foreign;
    } cases[] = {{"conv.direct conv_fwd fp32 isa=avx512 tile_w=14", false},
                 {"gemm.reference gemm fp32", false},
                 {"grouped_conv_forward_bf16_2d_128x128x64_compv3", true},
                 {"conv.direct conv_fwd", true},
                 {"conv.direct conv_fwd fp99 a=1", true},
                 {"conv.direct conv_fwd fp32 a=", true},
                 {"conv.direct conv_fwd fp32 avx512", true},
                 {"", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(kw_config_is_foreign(cases[i].text, NULL, NULL), cases[i].foreign);
    }
}

/* docs/measuring/store.md has the table as it is here. */
static void the_page_names_every_field(void **state) {
    (void)state;
    static char page[65536];
    FILE *file = fopen(KW_STORE_PAGE, "r");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = 0;
    fclose(file);
    for (const kw_row_field *field = kw_row_fields; field->name; field++) {
        char row[256];
        snprintf(row, sizeof row, "\n| `%s` | %s | %s |\n", field->name, field->unit, field->meaning);
        if (!strstr(page, row)) {
            fail_msg("docs/measuring/store.md lacks%s", row);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_random_rows_returns_exactly),
        cmocka_unit_test(texts_fit_with_their_end_or_are_refused),
        cmocka_unit_test(every_byte_of_a_row_belongs_to_a_field_or_is_padding),
        cmocka_unit_test(a_line_with_any_byte_changed_or_missing_is_refused),
        cmocka_unit_test(lines_that_are_no_rows_are_refused_with_the_reason),
        cmocka_unit_test(each_field_that_must_be_there_is_asked_for),
        cmocka_unit_test(runs_return_exactly),
        cmocka_unit_test(bytes_that_are_not_utf8_and_errors_beyond_bounds_are_settled),
        cmocka_unit_test(rows_that_cannot_be_are_not_printed),
        cmocka_unit_test(a_digest_depends_on_every_field),
        cmocka_unit_test(the_digest_of_a_row_is_what_it_always_was),
        cmocka_unit_test(numbers_return_exactly_in_any_locale),
        cmocka_unit_test(numbers_are_short_and_words_are_none),
        cmocka_unit_test(configs_of_ours_are_told_from_foreign_names),
        cmocka_unit_test(the_page_names_every_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
