/* test_kernel_folder.c: KW_KERNELS=DIR: kernel texts from a folder. A whole copy gives the sources that the compiled-in texts give; a changed text
 * gives another source and another key in the cache; a file that is missing is one error that names it. */

#include "families/source.h"
#include "jit/jit.h"
#include "support/scratch.h"
#include "support/kw_test.h"

#include <unistd.h>

#define CPU_CONFIG "conv.direct_bwd_weight conv_bwd_weight fp32 isa=avx512 math=fma lanes=c tile=8 vecs=2 copy=1 merge=0 box=0"

typedef struct copy_of_kernels {
    char folder[SCRATCH_MAX], kernels[2 * SCRATCH_MAX];
} copy_of_kernels;

static int make_copy(void **state) {
    copy_of_kernels *c = calloc(1, sizeof *c);
    char command[4 * SCRATCH_MAX];
    unsetenv("KW_KERNELS");
    scratch_make(c->folder);
    scratch_path(c->kernels, c->folder, "kernels");
    snprintf(command, sizeof command, "cp -r '%s' '%s'", KW_KERNEL_FOLDER, c->kernels);
    *state = c;
    return system(command);
}

static int drop_copy(void **state) {
    copy_of_kernels *c = *state;
    unsetenv("KW_KERNELS");
    scratch_remove(c->folder);
    free(c);
    return 0;
}

static kw_status make_source(kw_text *source, const kw_config *config, kw_code code, kw_error *err) {
    *source = (kw_text){0};
    return kw_source_make(source, config, code, err);
}

/* With every axis at its lowest value: what valid() says of it does not matter to its text. */
static kw_config lowest_config(const kw_family *family) {
    kw_config config = {.family = family};
    while (!(family->ops >> config.op & 1)) {
        config.op++;
    }
    while (!(family->dtypes >> config.dtype & 1)) {
        config.dtype++;
    }
    for (int i = 0; i < family->axis_count; i++) {
        config.axis[i] = family->axes[i].words ? 0 : family->axes[i].low;
    }
    return config;
}

static kw_config parsed(const char *text) {
    kw_config config;
    assert_int_equal(kw_config_parse(&config, text, NULL), KW_OK);
    return config;
}

static void a_whole_copy_gives_the_same_sources(void **state) {
    const copy_of_kernels *c = *state;
    int count = 0;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        kw_config config = lowest_config(*family);
        bool gpu = (*family)->kind == KW_KIND_GPU;
        for (int dialect = 0; (*family)->emit && !kw_config_check(&config, NULL) && dialect < KW_DIALECT_COUNT; dialect++) {
            kw_code code = {(kw_dialect)dialect,
                            dialect == KW_DIALECT_CPU ? NULL : kw_gpu_arch_find(dialect == KW_DIALECT_PTX ? "sm_90" : "gfx942")};
            kw_text compiled_in, read;
            if (gpu == (dialect == KW_DIALECT_CPU)) {
                continue;
            }
            unsetenv("KW_KERNELS");
            assert_int_equal(make_source(&compiled_in, &config, code, NULL), KW_OK);
            setenv("KW_KERNELS", c->kernels, 1);
            assert_int_equal(make_source(&read, &config, code, NULL), KW_OK);
            assert_string_equal(read.data, compiled_in.data);
            kw_text_drop(&compiled_in);
            kw_text_drop(&read);
            count++;
        }
    }
    assert_true(count >= 3);
}

/* The text of a file of the copy that stands in the source of a config. */
static void touched_path(char path[4 * SCRATCH_MAX], const copy_of_kernels *c, const kw_config *config) {
    snprintf(path, 4 * SCRATCH_MAX, "%s/%s", c->kernels, config->family->kernel);
}

/* Under which key a kernel would be kept. */
static void compile_key(char key[KW_CACHE_KEY_MAX + 1], const kw_jit *jit, const kw_config *config) {
    kw_blob blob = {0};
    kw_jit_result result;
    assert_int_equal(kw_jit_blob(jit, config, &blob, &result, NULL), KW_OK);
    memcpy(key, result.key, sizeof result.key);
    kw_blob_drop(&blob);
}

static void a_changed_text_gives_another_kernel(void **state) {
    const copy_of_kernels *c = *state;
    kw_config config = parsed(CPU_CONFIG);
    char path[4 * SCRATCH_MAX], before[KW_CACHE_KEY_MAX + 1], after[KW_CACHE_KEY_MAX + 1];
    kw_compiler compiler;
    kw_text source;
    touched_path(path, c, &config);
    setenv("KW_KERNELS", c->kernels, 1);
    assert_int_equal(kw_compiler_find(&compiler, NULL, (kw_code){0}, NULL), KW_OK);
    kw_jit jit = {.compiler = &compiler};
    compile_key(before, &jit, &config);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "/* another kernel */\n");
    fclose(file);
    assert_int_equal(make_source(&source, &config, jit.code, NULL), KW_OK);
    assert_non_null(strstr(source.data, "/* another kernel */"));
    compile_key(after, &jit, &config);
    assert_string_not_equal(after, before);
    kw_text_drop(&source);
}

static void a_missing_file_is_one_error(void **state) {
    const copy_of_kernels *c = *state;
    kw_config config = parsed(CPU_CONFIG);
    char path[4 * SCRATCH_MAX];
    kw_text source;
    kw_error err = {0};
    touched_path(path, c, &config);
    assert_int_equal(unlink(path), 0);
    setenv("KW_KERNELS", c->kernels, 1);
    assert_int_not_equal(make_source(&source, &config, (kw_code){0}, &err), KW_OK);
    assert_non_null(strstr(err.text, "KW_KERNELS="));
    assert_non_null(strstr(err.text, config.family->kernel));
    kw_text_drop(&source);
    setenv("KW_KERNELS", "/nowhere", 1);
    assert_int_not_equal(make_source(&source, &config, (kw_code){0}, &err), KW_OK);
    assert_non_null(strstr(err.text, "/nowhere/cpu/"));
    kw_text_drop(&source);
    setenv("KW_KERNELS", "", 1);
    assert_int_equal(make_source(&source, &config, (kw_code){0}, &err), KW_OK);
    kw_text_drop(&source);
}

static void a_header_that_the_library_reads_too_must_be_the_same(void **state) {
    const copy_of_kernels *c = *state;
    kw_config config = parsed(CPU_CONFIG);
    char path[4 * SCRATCH_MAX];
    kw_text source;
    kw_error err = {0};
    snprintf(path, sizeof path, "%s/cpu/bwd_weight/args.h", c->kernels);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fprintf(file, "/* one more number */\n");
    fclose(file);
    setenv("KW_KERNELS", c->kernels, 1);
    assert_int_equal(make_source(&source, &config, (kw_code){0}, &err), KW_ILLEGAL);
    assert_non_null(strstr(err.text, "cpu/bwd_weight/args.h is not what the library was built with"));
    kw_text_drop(&source);
}

static void a_file_that_includes_itself_is_an_error(void **state) {
    const copy_of_kernels *c = *state;
    kw_config config = parsed(CPU_CONFIG);
    char path[4 * SCRATCH_MAX], line[SCRATCH_MAX];
    kw_text source;
    kw_error err = {0};
    touched_path(path, c, &config);
    snprintf(line, sizeof line, "#include \"%s\"\n", config.family->kernel);
    scratch_write(path, line, strlen(line), 0644);
    setenv("KW_KERNELS", c->kernels, 1);
    assert_int_equal(make_source(&source, &config, (kw_code){0}, &err), KW_MALFORMED);
    assert_non_null(strstr(err.text, "nested deeper"));
    kw_text_drop(&source);
}

/* Files one in another, as many as may be and one more. */
static void includes_are_nested_sixteen_deep_at_most(void **state) {
    const copy_of_kernels *c = *state;
    kw_config config = parsed(CPU_CONFIG);
    for (int files = 16; files <= 17; files++) {
        kw_text source;
        kw_error err = {0};
        for (int i = 0; i < files; i++) {
            char path[4 * SCRATCH_MAX], line[64] = "";
            if (i) {
                snprintf(path, sizeof path, "%s/deep%d.h", c->kernels, i);
            } else {
                touched_path(path, c, &config);
            }
            if (i + 1 < files) {
                snprintf(line, sizeof line, "#include \"deep%d.h\"\n", i + 1);
            }
            scratch_write(path, line, strlen(line), 0644);
        }
        setenv("KW_KERNELS", c->kernels, 1);
        assert_int_equal(make_source(&source, &config, (kw_code){0}, &err), files > 16 ? KW_MALFORMED : KW_OK);
        kw_text_drop(&source);
    }
}

/* The emulator's reports name lines: those behind an include that the compiler passes over, too. */
static void lines_are_told_again_behind_a_condition(void **state) {
    const copy_of_kernels *c = *state;
    static const char text[] = "#if 0\n#include \"line.h\"\n#else\nint other;\n#endif\nint here;\n";
    const kw_family *family = kw_family_find((kw_word){"gemm.reference_gpu", strlen("gemm.reference_gpu")});
    kw_config config = lowest_config(family);
    kw_code code = {KW_DIALECT_EMU, kw_gpu_arch_find("gfx942")};
    char path[4 * SCRATCH_MAX], told[2 * SCRATCH_MAX];
    kw_text source;
    touched_path(path, c, &config);
    scratch_write(path, text, strlen(text), 0644);
    snprintf(path, sizeof path, "%s/line.h", c->kernels);
    scratch_write(path, "int line;\n", strlen("int line;\n"), 0644);
    setenv("KW_KERNELS", c->kernels, 1);
    assert_int_equal(make_source(&source, &config, code, NULL), KW_OK);
    snprintf(told, sizeof told, "#else\n#line 4 \"%s\"\nint other;\n#endif\n#line 6 \"%s\"\nint here;\n", family->kernel, family->kernel);
    assert_non_null(strstr(source.data, told));
    kw_text_drop(&source);
}

/* Without them a text would read its arguments as words without names. */
static void each_text_names_its_params(void **state) {
    (void)state;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        const char *text = (*family)->emit ? kw_kernel_file((*family)->kernel) : NULL;
        const char *params = text ? strstr(text, "\n#define KW_KERNEL_PARAMS kw_") : NULL;
        const char *config = text ? strstr(text, "\n#include \"kw_config.h\"\n") : NULL;
        if ((*family)->emit && (!params || !config || params > config)) {
            fail_msg("%s: kernels/%s does not name its params before it includes kw_config.h", (*family)->name, (*family)->kernel);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_text_names_its_params),
        cmocka_unit_test_setup_teardown(a_whole_copy_gives_the_same_sources, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(a_changed_text_gives_another_kernel, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(a_missing_file_is_one_error, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(a_header_that_the_library_reads_too_must_be_the_same, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(a_file_that_includes_itself_is_an_error, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(includes_are_nested_sixteen_deep_at_most, make_copy, drop_copy),
        cmocka_unit_test_setup_teardown(lines_are_told_again_behind_a_condition, make_copy, drop_copy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
