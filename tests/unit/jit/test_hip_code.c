/* test_hip_code.c: kernels for AMD GPUs: finding the compiler, and what it makes of kernel text: the instructions that a config names are in the
 * machine code, nothing goes to scratch memory. Where there is no compiler for an architecture its cases are skipped; no GPU is needed. */

#include "base/os/process/process.h"
#include "config/config.h"
#include "jit/toolchain/hip.h"
#include "support/kw_test.h"
#include "support/scratch.h"

static kw_code code_of(const char *arch) {
    kw_code code = {0};
    assert_int_equal(kw_code_for(&code, KW_BACKEND_HIP, arch, NULL), KW_OK);
    return code;
}

static void what_will_not_do_is_refused_with_what_to_install(void **state) {
    (void)state;
    static const struct {
        const char *arch, *says, *lld, *why; /* what the compiler and its linker say of themselves */
    } cases[] = {
        {"gfx942", "gcc version 12.2.0", "", "needs clang 19"},
        {"gfx942", "clang version 18.1.8", "LLD 18.1.8", "apt install clang-19 lld-19"},
        {"gfx950", "clang version 19.1.7", "LLD 19.1.7", "apt install clang-22 lld-22"},
        {"gfx1250", "clang version 21.1.0", "LLD 21.1.0", "needs clang 22"},
        {"gfx942", "clang version 19.1.7", "LLD 14.0.6 (compatible with GNU linkers)", "apt install lld-19"},
        {"gfx942", "clang version 19.1.7", "", "apt install lld-19"},
        {"gfx942", "clang version 20.1.2", "LLD 20.1.2 (compatible with GNU linkers)", NULL},
    };
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], script[4 * SCRATCH_MAX];
    scratch_path(path, scratch_make(folder), "myclang");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_compiler compiler;
        kw_error err = {0};
        int length = snprintf(script, sizeof script,
                              "#!/bin/sh\ncase $1 in -v) echo '%s'; echo 'Target: x86_64-linux-gnu';; -print-prog-name=lld) echo $0;; "
                              "*) [ -z '%s' ] && exit 1; echo 'Debian %s';; esac\n",
                              cases[i].says, cases[i].lld, cases[i].lld);
        scratch_write(path, script, (size_t)length, 0700);
        kw_status status = kw_compiler_find(&compiler, path, code_of(cases[i].arch), &err);
        assert_int_equal(status, cases[i].why ? KW_ENVIRONMENT : KW_OK);
        if (cases[i].why) {
            assert_non_null(strstr(err.text, cases[i].why));
            assert_non_null(strstr(err.text, path));
        }
    }
    scratch_remove(folder);
}

static void without_a_compiler_on_path_the_error_says_what_to_install(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    char *path = strdup(getenv("PATH"));
    kw_compiler compiler;
    kw_error err = {0};
    setenv("PATH", scratch_make(folder), 1);
    assert_int_equal(kw_compiler_find(&compiler, NULL, code_of("gfx90a"), &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "clang-19 lld-19"));
    assert_int_equal(kw_compiler_find(&compiler, NULL, code_of("gfx950"), &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "clang-22 lld-22"));
    setenv("PATH", path, 1);
    free(path);
    scratch_remove(folder);
}

/* A clang that compiles anything, and an lld that links nothing. */
static void what_the_linker_refuses_is_told_in_its_name(void **state) {
    (void)state;
    static const char clang[] = "#!/bin/sh\ncase $1 in -v) echo 'clang version 20.1.2'; echo 'Target: x86_64-linux-gnu';; "
                                "-print-prog-name=lld) echo ${0}lld;; *) while [ $1 != -o ]; do shift; done; : >$2;; esac\n";
    static const char lld[] =
        "#!/bin/sh\n[ $3 = --version ] && echo 'LLD 20.1.2' && exit\necho 'lld: error: undefined symbol: f'\nexit 1\n";
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX], linker[2 * SCRATCH_MAX];
    kw_compiler compiler;
    kw_error err = {0};
    kw_compile_result result;
    setenv("TMPDIR", scratch_make(folder), 1);
    scratch_write(scratch_path(path, folder, "myclang"), clang, strlen(clang), 0700);
    scratch_write(scratch_path(linker, folder, "myclanglld"), lld, strlen(lld), 0700);
    assert_int_equal(kw_compiler_find(&compiler, path, code_of("gfx942"), &err), KW_OK);
    assert_string_equal(compiler.linker, linker);
    const kw_compile compile = {.compiler = &compiler, .source = "", .machine = "gfx942", .name = "abc.c"};
    assert_int_equal(kw_hip_toolchain.compile(&compile, &result, &err), KW_FAILED);
    assert_non_null(strstr(err.text, linker));
    assert_non_null(strstr(err.text, "undefined symbol"));
    assert_non_null(strstr(kw_text_string(&result.command), " && "));
    assert_null(result.blob.data);
    kw_compile_result_drop(&result);
    assert_int_equal(scratch_count(folder, ""), 2);
    unsetenv("TMPDIR");
    scratch_remove(folder);
}

/* --- what comes out --- */

/* A convolution with these axes; the rest of the config is the same in all cases. */
typedef struct made {
    const char *arch, *op, *dtype;
    int inst_mn, inst_k, stages;
    const char *pipe, *sched;
    const char *wanted[3]; /* instructions, by the beginning of their names */
} made;

static const made cases[] = {
    {"gfx908", "conv_fwd", "bf16", 32, 8, 1, "basic_v1", "intrawave", {"v_mfma_f32_32x32x4bf16", "ds_read"}},
    {"gfx908", "conv_bwd_data", "int8", 16, 32, 1, "basic_v1", "intrawave", {"v_mfma_i32_16x16x16i8"}},
    {"gfx90a", "conv_fwd", "bf16", 32, 8, 1, "compv3", "intrawave", {"v_mfma_f32_32x32x8bf16_1k", "ds_read_b128"}},
    {"gfx90a", "conv_fwd", "fp8", 16, 32, 1, "mem", "interwave", {"v_mfma_f32_16x16x16f16", "v_perm_b32"}},
    {"gfx90a", "conv_bwd_weight", "fp32", 32, 4, 1, "basic_v1", "intrawave", {"v_mfma_f32_32x32x2f32"}},
    {"gfx942", "conv_fwd", "bf16", 16, 16, 2, "compv4", "intrawave", {"v_mfma_f32_16x16x16_bf16", "ds_read_b128"}},
    {"gfx942",
     "conv_fwd",
     "fp16",
     32,
     16,
     2,
     "comp_async",
     "intrawave",
     {"v_mfma_f32_32x32x8_f16", "global_load_lds_dword", "ds_read_b128"}},
    {"gfx942", "conv_fwd", "int8", 32, 16, 1, "basic_v1", "interwave", {"v_mfma_i32_32x32x16_i8", "s_setprio"}},
    {"gfx942", "conv_bwd_weight", "int8", 16, 32, 1, "mem", "intrawave", {"v_mfma_i32_16x16x32_i8", "v_perm_b32"}},
    {"gfx942", "conv_fwd", "fp8", 32, 32, 2, "compv4", "intrawave", {"v_mfma_f32_32x32x8_f16", "ds_read_b128"}},
    {"gfx942", "conv_bwd_data", "bf8", 16, 64, 1, "compv3", "intrawave", {"v_mfma_f32_16x16x16_f16"}},
    {"gfx950", "conv_fwd", "bf16", 32, 16, 2, "comp_async", "intrawave", {"v_mfma_f32_32x32x16_bf16", "global_load_lds_dwordx4"}},
    {"gfx950", "conv_fwd", "fp8", 16, 128, 1, "basic_v1", "intrawave", {"v_mfma_f32_16x16x128_f8f6f4"}},
    {"gfx950", "conv_bwd_weight", "bf8", 32, 64, 2, "compv4", "intrawave", {"v_mfma_f32_32x32x64_f8f6f4"}},
    {"gfx950", "conv_bwd_data", "fp8", 16, 32, 1, "compv3", "intrawave", {"v_mfma_f32_16x16x32_fp8_fp8"}},
    {"gfx950", "conv_bwd_data", "int8", 32, 32, 1, "basic_v1", "intrawave", {"v_mfma_i32_32x32x32_i8"}},
    {"gfx1100", "conv_fwd", "bf16", 16, 16, 1, "compv3", "intrawave", {"v_wmma_f32_16x16x16_bf16", "ds_load_b128"}},
    {"gfx1100", "conv_fwd", "int8", 16, 16, 1, "basic_v1", "intrawave", {"v_wmma_i32_16x16x16_iu8"}},
    {"gfx1201", "conv_fwd", "fp16", 16, 16, 1, "mem", "intrawave", {"v_wmma_f32_16x16x16_f16", "ds_load_b128"}},
    {"gfx1201", "conv_bwd_weight", "fp8", 16, 16, 1, "basic_v1", "intrawave", {"v_wmma_f32_16x16x16_fp8_fp8"}},
    {"gfx1201", "conv_bwd_data", "bf8", 16, 16, 2, "compv4", "intrawave", {"v_wmma_f32_16x16x16_bf8_bf8"}},
    {"gfx1201", "conv_fwd", "int8", 16, 16, 1, "compv3", "intrawave", {"v_wmma_i32_16x16x16_iu8"}},
    {"gfx1250", "conv_fwd", "bf16", 16, 32, 1, "compv3", "intrawave", {"v_wmma_f32_16x16x32_bf16"}},
    {"gfx1250", "conv_fwd", "fp8", 16, 128, 1, "basic_v1", "intrawave", {"v_wmma_f32_16x16x128_fp8_fp8"}},
    {"gfx1250", "conv_bwd_weight", "bf8", 16, 64, 1, "mem", "intrawave", {"v_wmma_f32_16x16x64_bf8_bf8"}},
    {"gfx1250", "conv_bwd_data", "int8", 16, 64, 1, "compv3", "intrawave", {"v_wmma_i32_16x16x64_iu8"}},
};

static void make_config(kw_config *config, const made *m) {
    char text[512];
    kw_error err = {0};
    int deep = m->inst_k > 64                  ? 128
               : m->inst_mn * m->inst_k == 256 ? 32
                                               : 64,
        wide = 16 / (!strcmp(m->dtype, "fp32") ? 4
                     : strchr(m->dtype, '8')   ? 1
                                               : 2);
    snprintf(
        text, sizeof text,
        "conv.igemm %s %s ndim=2 tile_m=64 tile_n=64 tile_k=%d wave_m=2 wave_n=2 wave_k=1 inst_m=%d inst_n=%d inst_k=%d pipe=%s sched=%s "
        "epi=cshuffle vec_a=%d vec_b=%d vec_c=%d stages=%d merge=1 wave_groups=1 split_image=0 explicit=0 two_stage=0 spec=default "
        "streamk=off persistent=0 split_k=1 index=32",
        m->op, m->dtype, deep, m->inst_mn, m->inst_mn, m->inst_k, m->pipe, m->sched, wide, wide, wide > 4 ? 4 : wide, m->stages);
    if (kw_config_parse(config, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* The machine code as text, by the compiler's own disassembler; empty when it has none. */
static void disassemble(kw_text *listing, const kw_compiler *compiler, const char *file) {
    const char *const where[] = {compiler->path, "-print-prog-name=llvm-objdump", NULL};
    kw_process_result result;
    kw_text program = {0};
    assert_int_equal(kw_process_run(where, 0, &program, &result, NULL), KW_OK);
    assert_true(program.size > 0);
    program.data[strcspn(program.data, "\n")] = 0;
    const char *const argv[] = {program.data, "-d", "--no-show-raw-insn", file, NULL};
    if (strchr(program.data, '/') && (kw_process_run(argv, 0, listing, &result, NULL) || result.exit_code)) {
        kw_text_drop(listing);
    }
    kw_text_drop(&program);
}

/* Whether an instruction begins so. */
static bool has(const char *listing, const char *name) {
    kw_scan scan = kw_scan_string(listing);
    kw_word line, word;
    while (kw_scan_line(&scan, &line)) {
        kw_scan words = {line.at, line.at + line.size};
        if (kw_scan_word(&words, &word) && kw_word_starts(word, name)) {
            return true;
        }
    }
    return false;
}

static void check_case(const kw_compiler *compiler, const made *m, const char *folder) {
    kw_jit jit = {.code = code_of(m->arch), .compiler = compiler};
    kw_config config;
    kw_blob blob;
    kw_blob_facts facts;
    kw_jit_result result;
    kw_text listing = {0};
    kw_error err = {0};
    char path[2 * SCRATCH_MAX];
    make_config(&config, m);
    if (kw_jit_blob(&jit, &config, &blob, &result, &err)) {
        fail_msg("%s %s %s: %s", m->arch, m->dtype, m->pipe, err.text);
    }
    assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, &err), KW_OK);
    assert_true(facts.registers > 0 && facts.lds > 0);
    if (facts.spill_bytes || facts.scratch) {
        fail_msg("%s %s %s %s: %d bytes of spilled registers, %d of scratch memory", m->arch, m->op, m->dtype, m->pipe, facts.spill_bytes,
                 facts.scratch);
    }
    scratch_write(scratch_path(path, folder, "kernel.co"), blob.data, blob.size, 0600);
    disassemble(&listing, compiler, path);
    if (!listing.size) {
        print_message("%s: %s has no llvm-objdump; instructions are not looked at\n", m->arch, compiler->path);
    }
    for (size_t i = 0; listing.size && i < 3 && m->wanted[i]; i++) {
        if (!has(listing.data, m->wanted[i])) {
            fail_msg("%s %s %s %s: no %s", m->arch, m->op, m->dtype, m->pipe, m->wanted[i]);
        }
    }
    assert_false(listing.size && (has(listing.data, "scratch_") || has(listing.data, "flat_load") || has(listing.data, "flat_store")));
    kw_text_drop(&listing);
    kw_blob_drop(&blob);
}

static void the_instructions_that_a_config_names_are_in_the_code(void **state) {
    (void)state;
    char folder[SCRATCH_MAX];
    kw_compiler compiler = {0};
    int done = 0;
    scratch_make(folder);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += KW_TEST_KERNELS_STEP) {
        kw_error err = {0};
        if (kw_compiler_find(&compiler, NULL, code_of(cases[i].arch), &err)) {
            print_message("%s: %s\n", cases[i].arch, err.text);
            continue;
        }
        check_case(&compiler, &cases[i], folder);
        done++;
    }
    scratch_remove(folder);
    if (!done) {
        skip();
    }
}

static void equal_sources_give_equal_objects(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_error err = {0};
    kw_jit jit = {.code = code_of("gfx942"), .compiler = &compiler};
    kw_blob blob[2];
    kw_config config;
    if (kw_compiler_find(&compiler, NULL, jit.code, &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    assert_int_equal(kw_config_parse(&config, "conv.reference_gpu conv_fwd bf16", &err), KW_OK);
    for (int i = 0; i < 2; i++) {
        kw_jit_result result;
        assert_int_equal(kw_jit_blob(&jit, &config, &blob[i], &result, &err), KW_OK);
    }
    assert_int_equal(blob[0].size, blob[1].size);
    assert_memory_equal(blob[0].data, blob[1].data, blob[0].size);
    kw_blob_drop(&blob[0]);
    kw_blob_drop(&blob[1]);
}

static void an_error_in_the_text_is_told_by_its_line(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_error err = {0};
    kw_compile_result result;
    static const char source[] = "extern \"C\" __attribute__((global)) void kw_stage0() {\n    nonsense;\n}\n";
    if (kw_compiler_find(&compiler, NULL, code_of("gfx942"), &err)) {
        print_message("skipped: %s\n", err.text);
        skip();
    }
    kw_compile compile = {.compiler = &compiler, .source = source, .size = sizeof source - 1, .machine = "gfx942", .name = "text.c"};
    assert_int_equal(compiler.toolchain->compile(&compile, &result, &err), KW_FAILED);
    assert_non_null(strstr(err.text, "text.c:2"));
    assert_non_null(strstr(kw_text_string(&result.command), "--offload-arch=gfx942"));
    kw_compile_result_drop(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_will_not_do_is_refused_with_what_to_install),
        cmocka_unit_test(without_a_compiler_on_path_the_error_says_what_to_install),
        cmocka_unit_test(what_the_linker_refuses_is_told_in_its_name),
        cmocka_unit_test(the_instructions_that_a_config_names_are_in_the_code),
        cmocka_unit_test(equal_sources_give_equal_objects),
        cmocka_unit_test(an_error_in_the_text_is_told_by_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
