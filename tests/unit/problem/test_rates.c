/* test_rates.c: rates are read back from their text, what was not measured has a default, and the higher of two measurements counts. */

#include "problem/target/rates.h"
#include "support/kw_test.h"

static kw_word word_of(const char *text) {
    return (kw_word){text, strlen(text)};
}

static void printed_rates_are_read_back(void **state) {
    (void)state;
    char text[KW_RATES_TEXT_MAX], again[KW_RATES_TEXT_MAX];
    kw_rates rates = {0}, read = {0}, all = kw_rates_whole(&rates);
    assert_int_equal(kw_rates_print(text, sizeof text, &rates), 0);
    rates.fma512 = 7.6;
    rates.ram = 12.25;
    assert_true(kw_rates_print(text, sizeof text, &rates) > 0);
    assert_string_equal(text, "fma512=7.6 ram=12.2");
    assert_true(kw_rates_parse(&read, word_of(text)));
    kw_rates_print(again, sizeof again, &read);
    assert_string_equal(again, text);
    all.ram_all = 123456789;
    assert_in_range(kw_rates_print(text, sizeof text, &all), 1, sizeof text - 1); /* all of them have room */
}

static void roofs_beside_them_mean_nothing(void **state) {
    (void)state;
    kw_rates rates = {0};
    assert_false(kw_rates_parse(&rates, word_of("fp32=118223360904 memory=7219726594")));
    assert_true(kw_rates_parse(&rates, word_of("fp32=118223360904 memory=7219726594 l3=90.5 fma256=7.4")));
    assert_true(rates.l3 > 90 && rates.fma256 > 7 && rates.ram <= 0);
    const char *const wrong[] = {"", "fma256", "fma256=", "fma256=0", "fma256=-1", "fma256=nan", "fma256=inf", "fma256=7x", "fma25=7"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(kw_rates_parse(&rates, word_of(wrong[i])));
    }
}

static void what_was_not_measured_has_a_default(void **state) {
    (void)state;
    kw_rates rates = {.fma512 = 7.6};
    kw_rates whole = kw_rates_whole(&rates), none = kw_rates_whole(&(kw_rates){0});
    assert_true(whole.fma512 > 7.5 && whole.load512 > 7.5); /* as many ports for the one as for the other */
    assert_true(whole.fma256 == none.fma256 && whole.load256 == none.load256);
#define KW_POSITIVE(name, usual, meaning) assert_true(none.name > 0);
    KW_RATES(KW_POSITIVE)
#undef KW_POSITIVE
}

static void the_higher_of_two_measurements_counts(void **state) {
    (void)state;
    kw_rates a = {.fma256 = 7, .ram = 5}, b = {.fma256 = 6, .ram = 25, .l2 = 100};
    kw_rates_raise(&a, &b);
    assert_true(a.fma256 == 7 && a.ram == 25 && a.l2 == 100 && a.l3 == 0);
}

static void a_nearer_level_is_no_slower(void **state) {
    (void)state;
    kw_rates rates = {.l2 = 102, .l3 = 4.9, .l3_full = 6, .ram = 5.4}, caches = {.l2 = 20, .l3 = 25}, memory = {.ram = 12};
    kw_rates_order(&rates);
    assert_true(rates.l2 == 102 && rates.l3 == 6 && rates.l3_full == 6 && rates.ram == 5.4);
    kw_rates_order(&caches);
    assert_true(caches.l2 == 25 && caches.l3 == 25 && caches.l3_full == 0);
    kw_rates_order(&memory); /* what was not measured stays so */
    assert_true(memory.ram == 12 && memory.l2 == 0 && memory.l3 == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_rates_are_read_back),         cmocka_unit_test(roofs_beside_them_mean_nothing),
        cmocka_unit_test(what_was_not_measured_has_a_default), cmocka_unit_test(the_higher_of_two_measurements_counts),
        cmocka_unit_test(a_nearer_level_is_no_slower),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
