/* test_noise.c: when two times are the same, for each of those who ask. */
#include "support/kw_test.h"

#include "measure/timing/noise.h"

/* Two times of 25 samples: the noise is 2 sqrt(2) / 5 of the spread, 0.566 of it. */
static void a_tie_depends_on_the_noise_and_on_what_follows_from_it(void **state) {
    (void)state;
    static const struct {
        double other, spread;
        bool decide, credit, differ;
    } cases[] = {
        {100, 0, true, true, true},      {100.2, 0, true, false, true}, /* what the name decides, however little they spread */
        {100.5, 0, false, false, true},  {100.5, 1, true, true, true},  /* noise */
        {101.1, 1, false, false, false}, {101.1, 2.1, false, true, true}, {102.1, 0, false, false, false},
        {102.1, 5, false, false, true},  {103.9, 50, false, false, true}, /* restless: only the bands hold */
        {105, 50, false, false, true},   {130, 50, false, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_noisy_time a = {100, cases[i].spread, 25}, b = {cases[i].other, cases[i].spread, 25};
        const kw_noise_band *const bands[] = {&kw_noise_decide, &kw_noise_credit, &kw_noise_differ};
        const bool wanted[] = {cases[i].decide, cases[i].credit, cases[i].differ};
        for (int k = 0; k < 3; k++) {
            if (kw_noise_tied(&a, &b, bands[k]) != wanted[k] || kw_noise_tied(&b, &a, bands[k]) != wanted[k]) {
                fail_msg("case %zu, band %d: wanted %d", i, k, wanted[k]);
            }
        }
    }
}

static void the_width_is_held_within_its_band(void **state) {
    (void)state;
    kw_noisy_time still = {100, 0, 25}, restless = {100, 80, 25}, none = {100, 5, 0};
    assert_true(kw_noise_width(&still, &still, &kw_noise_decide) == 0.003);
    assert_true(kw_noise_width(&still, &restless, &kw_noise_decide) == 0.01);
    assert_true(kw_noise_width(&still, &still, &kw_noise_credit) == 0);
    assert_true(kw_noise_width(&still, &restless, &kw_noise_differ) > 0.3);
    assert_true(kw_noise_width(&still, &none, &kw_noise_differ) == 0.1); /* no samples count as one */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tie_depends_on_the_noise_and_on_what_follows_from_it),
        cmocka_unit_test(the_width_is_held_within_its_band),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
