/* test_cpu_target.c: devices by name, and the facts of this machine's CPU. */
#include "backend/backend.h"
#include "config/arch/isa.h"
#include "support/kw_test.h"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static void devices_are_found_by_name(void **state) {
    (void)state;
    static const struct {
        const char *device;
        kw_status status;
        const char *why;
    } cases[] = {
        {"cpu", KW_OK, ""},
        {"cpu:0", KW_OK, ""},
        {"cpu:1", KW_MISSING, "cpu:1"},
        {"cpu:", KW_MALFORMED, "number"},
        {"cpu:x", KW_MALFORMED, "number"},
        {"cpu:0:0", KW_MALFORMED, "number"},
        {"cuda:9999", KW_MISSING, "cuda:9999"},
        {"hip:9999", KW_MISSING, "hip:9999"},
        {"", KW_MISSING, "known: cpu"},
        {"CPU", KW_MISSING, "known: cpu"},
        {"cpu0", KW_MISSING, "known: cpu"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const kw_backend *backend = NULL;
        int index = -1;
        kw_error err = {0};
        assert_int_equal(kw_backend_find(&backend, &index, cases[i].device, &err), cases[i].status);
        assert_non_null(strstr(err.text, cases[i].why));
    }
}

static void facts_are_those_of_this_machine(void **state) {
    (void)state;
    kw_target all, three, read;
    char text[KW_TARGET_TEXT_MAX], brand[KW_BRAND_MAX];
    kw_error err = {0};
    cpu_set_t set;
    kw_cpu_target(&all, 0);
    kw_cpu_target(&three, 3);
    assert_int_equal(sched_getaffinity(0, sizeof set, &set), 0);
    assert_int_equal(all.units, CPU_COUNT(&set));
    assert_int_equal(three.units, 3);
    const kw_cpu_arch *arch = kw_cpu_arch_find(all.arch);
    assert_non_null(arch);
    assert_int_equal(all.lanes, arch->lanes);
    assert_int_equal(all.registers, arch->registers);
    const char *masked = getenv("KW_CPU_ARCH");
    if (masked) {
        assert_string_equal(all.arch, masked);
    }
#ifdef __x86_64__
    __builtin_cpu_init();
    bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    assert_true(avx512 || !(arch->isas >> KW_ISA_AVX512 & 1)); /* no more than this CPU has, and all of it where nothing is masked */
    assert_true(avx2 || !(arch->isas >> KW_ISA_AVX2 & 1));
    assert_true(masked || avx512 == (arch->isas >> KW_ISA_AVX512 & 1));
    assert_true(masked || avx2 == (arch->isas >> KW_ISA_AVX2 & 1));
#endif
    assert_in_range(all.l1, 4 << 10, 4 << 20);
    assert_in_range(all.l2, 32 << 10, 1 << 30);
    assert_true(all.l3 >= all.l2);
    kw_target_print(text, sizeof text, &all);
    assert_int_equal(kw_target_parse(&read, text, &err), KW_OK);
    assert_memory_equal(&read, &all, sizeof all);
    kw_cpu_brand(brand);
    assert_in_range(strlen(brand), 1, KW_BRAND_MAX - 1);
}

static void a_weaker_architecture_can_be_asked_for(void **state) {
    (void)state;
    kw_target target;
    kw_device *device = NULL;
    const kw_backend *backend = NULL;
    int index = -1;
    kw_error err = {0};
    const char *masked = getenv("KW_CPU_ARCH");
    char before[64] = "";
    snprintf(before, sizeof before, "%s", masked ? masked : "");
    setenv("KW_CPU_ARCH", kw_cpu_archs[0].name, 1);
    kw_cpu_target(&target, 1);
    assert_string_equal(target.arch, kw_cpu_archs[0].name);
    assert_int_equal(target.lanes, kw_cpu_archs[0].lanes);
    assert_int_equal(kw_backend_find(&backend, &index, "cpu", &err), KW_OK);
    assert_int_equal(backend->open(&device, index, 1, &err), KW_OK);
    assert_string_equal(backend->target(device)->arch, kw_cpu_archs[0].name);
    backend->close(&device);
    setenv("KW_CPU_ARCH", "x86-64-v9", 1);
    assert_int_equal(backend->open(&device, index, 1, &err), KW_ENVIRONMENT);
    assert_null(device);
    assert_non_null(strstr(err.text, "KW_CPU_ARCH=x86-64-v9: this CPU runs x86-64"));
    if (masked) {
        setenv("KW_CPU_ARCH", before, 1);
    } else {
        unsetenv("KW_CPU_ARCH");
    }
}

static void cores_are_those_the_process_may_use(void **state) {
    (void)state;
    pid_t child = fork();
    if (!child) {
        cpu_set_t set;
        kw_target target;
        size_t first = 0;
        sched_getaffinity(0, sizeof set, &set);
        while (!CPU_ISSET(first, &set)) {
            first++;
        }
        CPU_ZERO(&set);
        CPU_SET(first, &set);
        sched_setaffinity(0, sizeof set, &set);
        kw_cpu_target(&target, 0);
        _exit(target.units == 1 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_found_by_name),
        cmocka_unit_test(facts_are_those_of_this_machine),
        cmocka_unit_test(a_weaker_architecture_can_be_asked_for),
        cmocka_unit_test(cores_are_those_the_process_may_use),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
