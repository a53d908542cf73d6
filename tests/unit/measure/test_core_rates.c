/* test_core_rates.c: a machine's rates are measured within what machines can do, kept, read back and only ever raised; files of other versions are
 * left alone. */

#include "base/os/settings.h"
#include "measure/rates/rates.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>

static const kw_target one_core = {.backend = KW_BACKEND_CPU,
                                   .arch = "x86-64-v3",
                                   .model = "vendor-1-2-3",
                                   .units = 1,
                                   .lanes = 8,
                                   .registers = 16,
                                   .l1 = 32768,
                                   .l2 = 1 << 20,
                                   .l3 = 8 << 20};

static void a_machine_is_measured(void **state) {
    (void)state;
    kw_target target = one_core;
    kw_rates_measure(&target, KW_RATES_ALL);
    const kw_rates *r = &target.rates;
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
        assert_true(r->fma256 == 0 && r->ram == 0); /* the defaults stand for it */
        return;
    }
    assert_true(r->fma256 > 0.05 && r->fma256 < 50);
    assert_true(r->load256 > 0.05 && r->load256 < 50);
    assert_true(r->wide256 > 0.05 && r->wide256 < 50);
    assert_true((r->fma512 > 0) == (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")));
    assert_true((r->dp512 > 0) == !!__builtin_cpu_supports("avx512bf16"));
    assert_true((r->bytes512 > 0) == !!__builtin_cpu_supports("avx512vnni"));
    assert_true(r->l2 > 0.1 && r->l2 < 2000 && r->l3 > 0.1 && r->l3_full > 0.1);
    assert_true(r->ram > 0.01 && r->ram < 1000 && r->ram_all >= r->ram);
}

static void they_are_kept_by_machine(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_error err = {0};
    size_t size;
    kw_settings settings = {.data = scratch_make(folder)};
    kw_target first = one_core, other = one_core, read = one_core;
    snprintf(other.arch, sizeof other.arch, "x86-64-v4");
    assert_int_equal(kw_rates_recall(&read, &settings), 0);
    first.rates = (kw_rates){.fma256 = 7, .ram = 25};
    other.rates = (kw_rates){.fma512 = 4};
    assert_int_equal(kw_rates_keep(&first, &settings, &err), KW_OK);
    assert_int_equal(kw_rates_keep(&other, &settings, &err), KW_OK);
    first.rates.ram = 26;
    assert_int_equal(kw_rates_keep(&first, &settings, &err), KW_OK); /* in place of its line before */
    assert_int_equal(kw_rates_recall(&read, &settings), 2);
    assert_true(read.rates.fma256 == 7 && read.rates.ram == 26 && read.rates.fma512 == 0);
    read = other;
    read.rates = (kw_rates){0};
    assert_int_equal(kw_rates_recall(&read, &settings), 1);
    assert_true(read.rates.fma512 == 4 && read.rates.fma256 == 0 && read.rates.ram == 26); /* memory is the processor model's */
    snprintf(read.model, sizeof read.model, "vendor-1-2-4");
    assert_int_equal(kw_rates_recall(&read, &settings), 0);
    scratch_path(path, folder, "rates.txt");
    char *text = scratch_read(path, &size);
    assert_string_equal(text, "# kernelwright rates 1\nx86-64-v4 vendor-1-2-3 fma512=4\nx86-64-v3 vendor-1-2-3 fma256=7 ram=26 looks=2\n");
    free(text);
    /* another version's */
    const char later[] = "# kernelwright rates 2\nx86-64-v3 vendor-1-2-3 fma256=1\n";
    scratch_write(path, later, strlen(later), 0644);
    assert_false(kw_rates_recall(&read, &settings));
    assert_int_equal(kw_rates_keep(&first, &settings, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "remove the file"));
    text = scratch_read(path, &size);
    assert_string_equal(text, later);
    free(text);
    settings.data = "";
    assert_int_equal(kw_rates_keep(&first, &settings, &err), KW_ENVIRONMENT);
    assert_false(kw_rates_recall(&first, &settings));
    scratch_remove(folder);
}

static void what_is_kept_is_only_raised(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    kw_settings settings = {.data = scratch_make(folder)};
    kw_target target = one_core, read = one_core;
    target.rates = (kw_rates){.fma256 = 4000, .ram = 1e-6};
    assert_int_equal(kw_rates_keep(&target, &settings, NULL), KW_OK);
    kw_rates_renew(&target, &settings);
    assert_true(kw_rates_recall(&read, &settings));
    assert_true(read.rates.fma256 == 4000);
    assert_true(!__builtin_cpu_supports("avx2") || read.rates.ram > 0.01);
    scratch_remove(folder);
}

/* A first choice looks again where the machine was looked at once or twice, but not at once. */
static void a_first_look_does_not_stand_for_ever(void **state) {
    (void)state;
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    kw_settings settings = {.data = scratch_make(folder)};
    kw_target target = one_core, read = one_core;
    const struct timespec long_ago[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    scratch_path(path, folder, "rates.txt");
    target.rates = (kw_rates){.fma256 = 1e-6, .l2 = 1e-6, .l3 = 1e-6};
    assert_int_equal(kw_rates_keep(&target, &settings, NULL), KW_OK);
    for (int looks = 1; looks <= KW_RATES_LOOKS; looks++) {
        kw_rates_learn(&read, &settings);
        assert_int_equal(kw_rates_recall(&read, &settings), __builtin_cpu_supports("avx2") ? looks : 1);
        assert_true((read.rates.l3 > 0.1) == (looks > 1) || !__builtin_cpu_supports("avx2"));
        assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
        kw_rates_learn(&read, &settings);
    }
    scratch_remove(folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_is_measured),
        cmocka_unit_test(they_are_kept_by_machine),
        cmocka_unit_test(what_is_kept_is_only_raised),
        cmocka_unit_test(a_first_look_does_not_stand_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
