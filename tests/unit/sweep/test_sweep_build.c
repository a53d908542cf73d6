/* test_sweep_build.c: what a sweep makes of kernels that do not compile, spill or are too large, and where it keeps them. */
#include "config/arch/gpu_arch.h"
#include "sweep/sweep_build.h"
#include "sweep_fixture.h"
#include "support/device/code_object.h"

#include <unistd.h>

static void a_kernel_that_does_not_compile_is_a_row_for_each_problem(void **state) {
    fixture *f = *state;
    fixture_write_compiler(f, "echo 'kernel.c:3:1: error: no such luck' >&2; exit 1");
    f->options.timing.verify_only = false;
    fixture_run_well(f);
    contents c = fixture_look(f, f->out, KW_UNCOMPILED);
    assert_true(c.matched > 0);
    assert_int_equal(c.matched, f->report.outcome[KW_UNCOMPILED]);
    assert_non_null(strstr(c.detail, "no such luck"));
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    assert_int_equal(f->report.built, 0);
    for (size_t i = 0; i < fake.count; i++) {
        assert_non_null(strstr(fake.asked[i].config, "reference")); /* these are compiled in */
        assert_false(fake.asked[i].has_control);
    }
    assert_true(fake.count > 0);
}

/* --- resources of GPU kernels ------------------------------------------------------------------------------------- */

/* What a compiler makes of each kernel: one is sound, one spills 7 registers, one wants more shared memory than there is. */
static const struct {
    const char *family, *file;
    unsigned counts[6];
} objects[] = {{"conv.reference_gpu", "sound.o", {120, 0, 40, 16384, 0, 0}},
               {"conv.depthwise_block", "spilling.o", {256, 0, 40, 0, 32, 7}},
               {"conv.igemm", "large.o", {100, 0, 40, 65537, 0, 0}}};
enum { OBJECTS = sizeof objects / sizeof *objects };

static bool add_one_of_each(void *user, const char *config) {
    fixture *f = user;
    for (size_t i = 0; i < f->config_count; i++) {
        if (!strncmp(f->texts[i], config, strcspn(config, " "))) {
            return true;
        }
    }
    return fixture_add_config(user, config);
}

/* A clang whose objects are those above, by the family that the source's first line names, for a device that is a gfx942. */
static void become_amd(fixture *f, kw_target *target) {
    char text[4 * SCRATCH_MAX + 1024], path[2 * SCRATCH_MAX];
    int size = snprintf(text, sizeof text,
                        "#!/bin/sh\n"
                        "if [ \"$1\" = -v ]; then echo 'clang version 19.1.0 (fake)'; echo 'Target: " MACHINE "-linux-gnu'; exit 0; fi\n"
                        "if [ \"$1\" = -print-prog-name=lld ]; then echo \"$0\"; exit 0; fi\n"
                        "if [ \"$3\" = --version ]; then echo 'LLD 19.1.0'; exit 0; fi\n"
                        "verb=$1; while [ \"$1\" != -o ]; do shift; done\n"
                        "if [ \"$verb\" = -flavor ]; then cp \"$3\" \"$2\"; exit; fi\n"
                        "case \"$(head -n 1 \"$3\")\" in\n");
    for (size_t i = 0; i < OBJECTS; i++) {
        kw_blob blob = code_object_of(objects[i].counts);
        scratch_path(path, f->folder, objects[i].file);
        scratch_write(path, blob.data, blob.size, 0600);
        kw_blob_drop(&blob);
        size += snprintf(text + size, sizeof text - (size_t)size, "*%s*) cp '%s' \"$2\";;\n", objects[i].family, path);
    }
    size += snprintf(text + size, sizeof text - (size_t)size, "*) exit 1;;\nesac\n");
    scratch_write(f->compiler, text, (size_t)size, 0700);
    while (f->config_count) {
        free(f->texts[--f->config_count]);
    }
    kw_space_options tiny = {.size = sizeof(kw_space_options),
                             .set = "tiny",
                             .arch = "gfx942",
                             .filter = "c.op == 'conv_fwd' and c.dtype == 'bf16' and (c.family == 'conv.reference_gpu' or (c.family == "
                                       "'conv.igemm' and c.tile_m == 16 and c.ndim == 2 and c.spec == 'default') or c.family == "
                                       "'conv.depthwise_block' and c.stride == 1 and c.order == 'last')"};
    assert_int_equal(kw_space_visit(&tiny, add_one_of_each, f, &f->err), KW_OK);
    assert_int_equal(f->config_count, OBJECTS);
    assert_int_equal(kw_problem_parse(&f->problems[0], "conv_fwd bf16 nhwgc n8 g16 c16 k16 i8x8 f3x3 p1x1", &f->err), KW_OK);
    assert_int_equal(kw_problem_parse(&f->problems[1], "conv_fwd bf16 nhwgc n1 c16 k16 i8x8 f3x3 p1x1", &f->err), KW_OK);
    f->options.problem_count = 2;
    f->options.config_count = OBJECTS;
    *target = kw_gpu_arch_find("gfx942")->typical;
    target->backend = KW_BACKEND_HIP;
    fake.target = target;
}

static bool was_asked(const char *family) {
    bool asked = false;
    for (size_t i = 0; i < fake.count; i++) {
        asked |= !strncmp(fake.asked[i].config, family, strlen(family));
    }
    return asked;
}

static void a_kernel_that_spills_or_is_too_large_is_a_row_and_is_not_run(void **state) {
    fixture *f = *state;
    kw_target target;
    become_amd(f, &target);
    fixture_run_well(f);
    contents c = fixture_look(f, f->out, KW_SPILLS);
    assert_int_equal(c.matched, 1); /* the depthwise problem */
    assert_int_equal(f->report.outcome[KW_SPILLS], 1);
    assert_non_null(strstr(c.detail, "28 bytes"));
    assert_non_null(strstr(c.detail, "256 registers"));
    c = fixture_look(f, f->out, KW_TOO_MUCH_LDS);
    assert_int_equal(c.matched, 1); /* the other one */
    assert_int_equal(f->report.outcome[KW_TOO_MUCH_LDS], 1);
    assert_non_null(strstr(c.detail, "65537 bytes of shared memory; gfx942 gives 65536"));
    assert_int_equal(f->report.outcome[KW_GOOD], 2);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    assert_true(was_asked("conv.reference_gpu"));
    assert_false(was_asked("conv.depthwise_block"));
    assert_false(was_asked("conv.igemm"));
    fixture_run_well(f);
    assert_int_equal(f->report.skipped, f->report.pairs); /* they have rows */
}

static void spilling_kernels_are_run_when_so_many_bytes_are_allowed(void **state) {
    fixture *f = *state;
    static const int32_t limits[] = {28, -1, 27};
    kw_target target;
    become_amd(f, &target);
    f->options.overwrite = true;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        fake_reset();
        fake.target = &target;
        f->options.build.spill_limit = limits[i];
        fixture_run_well(f);
        assert_int_equal(was_asked("conv.depthwise_block"), limits[i] != 27);
        assert_int_equal(f->report.outcome[KW_SPILLS], limits[i] == 27);
        assert_int_equal(f->report.outcome[KW_TOO_MUCH_LDS], 1);
    }
    f->options.build.spill_limit = 0;
    assert_int_equal(setenv("KW_SPILL_LIMIT", "28", 1), 0);
    fixture_run_well(f);
    assert_int_equal(f->report.outcome[KW_SPILLS], 0);
    assert_int_equal(setenv("KW_SPILL_LIMIT", "much", 1), 0);
    assert_int_equal(fixture_run(f), KW_ILLEGAL);
    assert_non_null(strstr(f->err.text, "KW_SPILL_LIMIT=much"));
    unsetenv("KW_SPILL_LIMIT");
}

static void kernels_are_kept_beside_the_store_when_the_cache_is_of_no_use(void **state) {
    fixture *f = *state;
    char beside[3 * SCRATCH_MAX];
    snprintf(beside, sizeof beside, "%s.kernels", f->out);
    f->options.build.cache_dir = "/proc/nowhere";
    fixture_run_well(f);
    assert_int_equal(access(beside, F_OK), 0);
    assert_true(f->report.built > 0);
    assert_int_equal(fixture_rows(&f->report), f->report.pairs);
    unlink(f->out);
    fixture_run_well(f);
    assert_int_equal(f->report.built, 0);
    assert_true(f->report.cached > 0);
}

static void without_compiler_and_cache_the_environment_is_to_blame(void **state) {
    fixture *f = *state;
    f->options.build.compiler = "";
    assert_int_equal(fixture_run(f), KW_ENVIRONMENT);
    assert_non_null(strstr(f->err.text, "compiler"));
    assert_int_equal(fake.count, 0);
}

/* The fake worker's kernels are as slow as it takes somebody to clear the cache. */
static kw_outcome clear_the_cache(const char *problem, const char *config) {
    (void)problem;
    (void)config;
    const char *folder = getenv("KW_TEST_CACHE");
    for (unsigned i = 0; folder && i < 256; i++) {
        char path[2 * SCRATCH_MAX], digits[4];
        snprintf(digits, sizeof digits, "%02x", i & 255);
        scratch_remove(scratch_path(path, folder, digits));
    }
    return KW_GOOD;
}

static void a_kernel_that_left_the_cache_is_made_again(void **state) {
    fixture *f = *state;
    setenv("KW_TEST_CACHE", f->cache, 1);
    fake.outcome = clear_the_cache;
    f->options.workers.batch = 1;
    fixture_run_well(f);
    unsetenv("KW_TEST_CACHE");
    assert_int_equal(f->report.outcome[KW_GOOD], f->report.pairs - f->report.outcome[KW_UNFIT]);
    for (size_t i = 0; i < fake.count; i++) {
        assert_true(fake.asked[i].present);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH(a_kernel_that_does_not_compile_is_a_row_for_each_problem), WITH(a_kernel_that_spills_or_is_too_large_is_a_row_and_is_not_run),
        WITH(spilling_kernels_are_run_when_so_many_bytes_are_allowed),  WITH(kernels_are_kept_beside_the_store_when_the_cache_is_of_no_use),
        WITH(without_compiler_and_cache_the_environment_is_to_blame),   WITH(a_kernel_that_left_the_cache_is_made_again),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fake_drop();
    return failed;
}
