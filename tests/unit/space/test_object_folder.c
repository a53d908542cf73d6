/* test_object_folder.c: kernels of a set compiled into a folder: a file of each and a line of it, of those that no compiler takes a remark; what
 * was compiled before comes from the cache. Sanitised builds see besides that all of it is given back. */
#include "base/os/file.h"
#include "config/catalog.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <kernelwright_tune.h>

static const char filter[] = "c.family == 'gemm.tiled'";

static char folder[SCRATCH_MAX];
static size_t wanted;

static bool count_config(void *user, const char *config) {
    (void)user;
    (void)config;
    wanted++;
    return true;
}

static int set_up(void **state) {
    (void)state;
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "tiny", .arch = "x86-64-v3", .filter = filter};
    scratch_make(folder);
    return kw_space_visit(&space, count_config, NULL, NULL) || !wanted;
}

static int tear_down(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static size_t seen;

static void note_progress(void *user, const kw_progress *progress) {
    (void)user;
    assert_true(progress->done == ++seen && progress->done <= progress->total && progress->current);
}

static kw_object_report build(const char *to, const char *compiler) {
    char out[2 * SCRATCH_MAX], cache[2 * SCRATCH_MAX];
    kw_object_report report;
    kw_error err = {0};
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "tiny", .arch = "x86-64-v3", .filter = filter};
    kw_object_options options = {.size = sizeof(kw_object_options),
                                 .space = &space,
                                 .folder = scratch_path(out, folder, to),
                                 .compiler = compiler,
                                 .cache_dir = scratch_path(cache, folder, compiler ? "other" : "cache"),
                                 .jobs = 2,
                                 .progress = note_progress};
    seen = 0;
    assert_ok(kw_objects_build(&report, &options, &err), &err);
    assert_int_equal(seen, wanted);
    return report;
}

/* How many lines of the folder's catalog begin so and name a file that is there; remarks name none. */
static size_t count_lines(const char *of, const char *beginning) {
    char path[3 * SCRATCH_MAX];
    size_t size, count = 0;
    snprintf(path, sizeof path, "%s/%s/catalog.txt", folder, of);
    char *text = scratch_read(path, &size);
    text = realloc(text, size + 1);
    assert_non_null(text);
    text[size] = 0;
    for (char *rest = NULL, *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *file = strstr(line, "# file=");
        count += !strncmp(line, beginning, strlen(beginning));
        if (file && *line != '#') {
            snprintf(path, sizeof path, "%s/%s", folder, of);
            file[strcspn(file, " \n")] = ' ';
            file += strlen("# file=");
            file[strcspn(file, " ")] = 0;
            assert_int_equal(scratch_count(path, file), 1);
        }
    }
    free(text);
    return count;
}

static void kernels_lie_in_the_folder_that_the_catalog_lists(void **state) {
    (void)state;
    kw_object_report first = build("first", NULL), again = build("again", NULL);
    assert_true(first.built == wanted && !first.cached && !first.failed && !first.refused);
    assert_true(!again.built && again.cached == wanted && !again.failed && !again.refused);
    assert_int_equal(count_lines("first", "gemm.tiled gemm "), wanted);
    assert_int_equal(count_lines("again", "gemm.tiled gemm "), wanted);
}

static void what_no_compiler_takes_is_a_remark(void **state) {
    (void)state;
    char compiler[2 * SCRATCH_MAX];
    static const char script[] = "#!/bin/sh\n[ \"$1\" = -v ] && exec cc -v\necho 'no such instruction' >&2\nexit 1\n";
    scratch_write(scratch_path(compiler, folder, "gcc"), script, sizeof script - 1, 0755);
    kw_object_report report = build("none", compiler);
    assert_true(!report.built && !report.cached && report.failed == wanted);
    assert_int_equal(count_lines("none", "gemm.tiled"), 0);
    assert_int_equal(count_lines("none", "# failed: gemm.tiled gemm "), wanted);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_lie_in_the_folder_that_the_catalog_lists),
        cmocka_unit_test(what_no_compiler_takes_is_a_remark),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
