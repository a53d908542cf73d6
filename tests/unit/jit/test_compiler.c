/* test_compiler.c: finding a compiler and running it once. */

#include "jit/toolchain/cc.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <sys/stat.h>
#include <unistd.h>

static const char good_source[] = "__attribute__((visibility(\"default\"))) void kw_stage0(char *to, char *from) {\n"
                                  "    __builtin_memcpy(to, from, 5000);\n}\n";

static void need_compiler(kw_compiler *compiler) {
    kw_error err = {0};
    if (kw_compiler_find(compiler, NULL, (kw_code){0}, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
}

static void a_compiler_says_who_it_is(void **state) {
    (void)state;
    kw_compiler first, again;
    kw_error err = {0};
    need_compiler(&first);
    assert_true(!strcmp(first.kind, "gcc") || !strcmp(first.kind, "clang"));
    assert_true(first.version[0] >= '0' && first.version[0] <= '9');
    assert_non_null(strstr(first.identity, first.version));
    assert_int_equal(first.path[0], '/');
    assert_int_equal(kw_compiler_find(&again, first.path, (kw_code){0}, &err), KW_OK);
    assert_string_equal(again.identity, first.identity);
}

static void what_is_no_compiler_is_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *script, *why;
    } cases[] = {
        {"#!/bin/sh\nexit 3\n", "exit code 3"},
        {"#!/bin/sh\nkill -SEGV $$\n", "signal 11"},
        {"#!/bin/sh\necho hello\n", "neither gcc nor clang"},
        {"#!/bin/sh\necho 'Target: riscv64-linux-gnu'; echo 'gcc version 12.2.0'\n", "riscv64"},
        {"#!/nowhere/sh\n", "cannot start"},
    };
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    scratch_path(path, scratch_make(folder), "mycc");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_compiler compiler;
        kw_error err = {0};
        scratch_write(path, cases[i].script, strlen(cases[i].script), 0700);
        assert_int_equal(kw_compiler_find(&compiler, path, (kw_code){0}, &err), KW_ENVIRONMENT);
        assert_non_null(strstr(err.text, path));
        assert_non_null(strstr(err.text, cases[i].why));
        assert_string_equal(compiler.path, "");
    }
    static const char *const nothing[] = {"", "/", "/nowhere/gcc", "no-such-compiler", "./no-such-compiler", "gcc -O2"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++) {
        kw_compiler compiler;
        kw_error err = {0};
        assert_int_equal(kw_compiler_find(&compiler, nothing[i], (kw_code){0}, &err), KW_ENVIRONMENT);
        assert_non_null(strstr(err.text, nothing[i]));
    }
    scratch_remove(folder);
}

/* A path that does not fit is refused, also where what is left of it is a program: by its path, from here, and on PATH. */
static void a_path_that_does_not_fit_is_refused(void **state) {
    (void)state;
    enum { ROOM = sizeof((kw_compiler){0}.path) };
    char folder[SCRATCH_MAX], path[ROOM + 2], *search = strdup(getenv("PATH")), *here = getcwd(NULL, 0);
    char script[3 * SCRATCH_MAX], ran[2 * SCRATCH_MAX];
    size_t start = strlen(scratch_make(folder)) + 1;
    scratch_path(ran, folder, "ran");
    snprintf(script, sizeof script, "#!/bin/sh\n: >%s\nexit 3\n", ran);
    /* Names of 100 letters below the folder, so that all has as many characters as there is room for. */
    snprintf(path, sizeof path, "%s/", folder);
    memset(path + start, 'a', ROOM - 1 - start);
    path[ROOM - 1] = 0;
    for (size_t i = start + 100; i + 1 < ROOM - 1; i += 101) {
        path[i] = 0;
        assert_int_equal(mkdir(path, 0700), 0);
        path[i] = '/';
    }
    char *name = path + start, *last = strrchr(path, '/') + 1, deepest[ROOM];
    snprintf(deepest, sizeof deepest, "%.*s", (int)(last - 1 - path), path);
    assert_int_equal(chdir(folder), 0);
    setenv("PATH", deepest, 1);
    for (int longer = 0; longer < 2; longer++) {
        const char *const wanted[] = {path, name, last};
        scratch_write(path, script, strlen(script), 0700);
        for (size_t i = 0; i < 3; i++) {
            kw_compiler compiler;
            kw_error err = {0};
            assert_int_equal(kw_compiler_find(&compiler, wanted[i], (kw_code){0}, &err), KW_ENVIRONMENT);
            assert_int_equal(unlink(ran), longer ? -1 : 0);
        }
        strcat(path, "a");
    }
    assert_int_equal(chdir(here), 0);
    setenv("PATH", search, 1);
    free(search);
    free(here);
    scratch_remove(folder);
}

static void without_a_compiler_on_path_the_error_says_what_to_install(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    char *path = strdup(getenv("PATH"));
    kw_compiler compiler;
    kw_error err = {0};
    setenv("PATH", scratch_make(folder), 1);
    assert_int_equal(kw_compiler_find(&compiler, NULL, (kw_code){0}, &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "apt install gcc"));
    setenv("PATH", path, 1);
    free(path);
    scratch_remove(folder);
}

static void a_compile_gives_a_whole_object_and_leaves_nothing_behind(void **state) {
    (void)state;
    static const char *const names[] = {"gcc", "clang"};
    char folder[SCRATCH_MAX];
    setenv("TMPDIR", scratch_make(folder), 1);
    for (size_t i = 0; i < 2; i++) {
        kw_compiler compiler;
        kw_error err = {0};
        if (kw_compiler_find(&compiler, names[i], (kw_code){0}, &err)) {
            print_message("%s is not tried: %s\n", names[i], err.text);
            continue;
        }
        kw_compile compile = {&compiler, good_source, strlen(good_source), "-O1  -g0 ", "abc.c"};
        kw_compile_result result;
        assert_int_equal(kw_compile_run(&compile, &result, &err), KW_OK);
        assert_int_equal(kw_blob_check(&result.blob, &err), KW_OK);
        assert_true(result.cpu_ns > 0);
        assert_string_equal(kw_text_string(&result.messages), "");
        assert_non_null(strstr(kw_text_string(&result.command), "abc.c"));
        assert_null(strstr(kw_text_string(&result.command), folder));
        kw_compile_result_drop(&result);
        assert_int_equal(scratch_count(folder, ""), 0);
    }
    unsetenv("TMPDIR");
    scratch_remove(folder);
}

static void a_refused_source_gives_its_first_error_line(void **state) {
    (void)state;
    static const char source[] = "int fine;\nint wrong wrong;\n";
    char folder[SCRATCH_MAX];
    kw_compiler compiler;
    kw_error err = {0};
    need_compiler(&compiler);
    setenv("TMPDIR", scratch_make(folder), 1);
    kw_compile compile = {&compiler, source, strlen(source), "", "abc.c"};
    kw_compile_result result;
    assert_int_equal(kw_compile_run(&compile, &result, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "abc.c:2:"));
    assert_non_null(strstr(err.text, "error:"));
    assert_non_null(strstr(err.text, compiler.path));
    assert_null(strstr(kw_text_string(&result.messages), folder));
    assert_null(result.blob.data);
    kw_compile_result_drop(&result);
    assert_int_equal(scratch_count(folder, ""), 0);
    unsetenv("TMPDIR");
    scratch_remove(folder);
}

static void a_folder_that_cannot_be_written_does_not_stop_a_compile(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_error err = {0};
    need_compiler(&compiler);
    setenv("TMPDIR", "/nowhere/at/all", 1);
    kw_compile compile = {&compiler, good_source, strlen(good_source), "", "abc.c"};
    kw_compile_result result;
    kw_status status = kw_compile_run(&compile, &result, &err);
    unsetenv("TMPDIR");
    kw_compile_result_drop(&result);
    assert_int_equal(status, KW_OK);
}

static void an_object_cut_short_anywhere_is_refused(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_error err = {0};
    need_compiler(&compiler);
    kw_compile compile = {&compiler, good_source, strlen(good_source), "", "abc.c"};
    kw_compile_result result;
    assert_int_equal(kw_compile_run(&compile, &result, &err), KW_OK);
    /* Section headers and what only they name may be missing: the loader does not read them. */
    const unsigned char *bytes = result.blob.data;
    size_t mapped = 0;
    for (int i = 0; i < bytes[56]; i++) {
        uint64_t type = 0, offset, size;
        memcpy(&type, bytes + 64 + 56 * i, 4);
        memcpy(&offset, bytes + 64 + 56 * i + 8, 8);
        memcpy(&size, bytes + 64 + 56 * i + 32, 8);
        mapped = type == 1 && offset + size > mapped ? (size_t)(offset + size) : mapped;
    }
    assert_in_range(mapped, 200, result.blob.size);
    for (size_t size = 0; size < mapped; size++) {
        kw_blob part = {result.blob.data, size};
        assert_int_equal(kw_blob_check(&part, &err), KW_MALFORMED);
    }
    kw_compile_result_drop(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiler_says_who_it_is),
        cmocka_unit_test(what_is_no_compiler_is_refused_by_name),
        cmocka_unit_test(a_path_that_does_not_fit_is_refused),
        cmocka_unit_test(without_a_compiler_on_path_the_error_says_what_to_install),
        cmocka_unit_test(a_compile_gives_a_whole_object_and_leaves_nothing_behind),
        cmocka_unit_test(a_refused_source_gives_its_first_error_line),
        cmocka_unit_test(a_folder_that_cannot_be_written_does_not_stop_a_compile),
        cmocka_unit_test(an_object_cut_short_anywhere_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
