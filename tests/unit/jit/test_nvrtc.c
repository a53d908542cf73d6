/* test_nvrtc.c: CUDA's compiler, and what a CUBIN says of itself. Where there is no NVRTC the tests that need it are skipped; no GPU is. */

#include "config/config.h"
#include "jit/toolchain/nvrtc.h"
#include "support/kw_test.h"
#include "unit/jit/nvrtc_setup.h"

/* Two kernels; the first asks for shared memory and multiplies a matrix, the second spills when it may have few registers. */
static const char text[] = "KW_KERNEL(kw_stage0, 64) {\n"
                           "    KW_LDS(100000);\n"
                           "    kw_async16(kw_lds, args.x + 16 * kw_lane(), kw_lane() < 3);\n"
                           "    kw_async4(kw_lds + 512, args.x + 4 * kw_lane(), 1);\n"
                           "    kw_async_commit();\n"
                           "    kw_async_wait(0, 2);\n"
                           "    kw_barrier();\n"
                           "    kw_frag_a a; kw_frag_b b; kw_acc c;\n"
                           "    for (int i = 0; i < KW_A_WORDS; i++) a.w[i] = ((const kw_u32 *)kw_lds)[kw_lane() + 32 * i];\n"
                           "    for (int i = 0; i < KW_B_WORDS; i++) b.w[i] = ((const kw_u32 *)kw_lds)[kw_lane() + 32 * i + 7];\n"
                           "    for (int i = 0; i < KW_ACC_N; i++) c.e[i] = 0;\n"
                           "    kw_mma(&c, &a, &b);\n"
                           "    for (int i = 0; i < KW_ACC_N; i++) ((kw_sum *)args.y)[kw_lane() * KW_ACC_N + i] = c.e[i];\n"
                           "}\n"
                           "KW_KERNEL(kw_stage1, 64) {\n"
                           "    ((kw_u32 *)args.y)[kw_thread()] = (kw_u32)kw_block();\n"
                           "}\n";

/* A matrix instruction: types (and what else is defined), depth, words of a and b, and what the PTX must have. */
static const struct {
    const char *type, *arch;
    int k, a_words, b_words;
    const char *wanted;
} instructions[] = {
    {"KW_BF16", "sm_90a", 16, 4, 2, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"},
    {"KW_BF16", "sm_80", 8, 2, 1, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"},
    {"KW_FP16", "sm_80", 16, 4, 2, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"},
    {"KW_FP16", "sm_90a", 8, 2, 1, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"},
    {"KW_INT8", "sm_80", 16, 2, 1, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32"},
    {"KW_INT8", "sm_90a", 32, 4, 2, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {"KW_INT8\n#define KW_X_UNSIGNED 1", "sm_80", 16, 2, 1, "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32"},
    {"KW_INT8\n#define KW_X_UNSIGNED 1", "sm_90a", 32, 4, 2, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32"},
    {"KW_FP8", "sm_89", 32, 4, 2, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"KW_BF8", "sm_90a", 32, 4, 2, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
    {"KW_FP32", "sm_90a", 8, 16, 16, "fma.rn.f32"},
    {"KW_FP32", "sm_80", 4, 8, 8, "fma.rn.f32"},
    {"KW_FP32\n#define KW_TF32 1", "sm_80", 4, 2, 1, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32"},
    {"KW_FP32\n#define KW_TF32 1", "sm_90a", 8, 4, 2, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"},
};

/* The prelude and a kernel on it; fragments are what gpu/matrix/fragment.h will say of this instruction. */
static void make_source(kw_text *source, size_t i) {
    kw_text_addf(source,
                 "#define KW_NVIDIA 1\n#define KW_PTX 1\n#define KW_WAVE 32\n#define KW_HAS_MMA 1\n#define KW_HAS_ASYNC4 1\n#define "
                 "KW_HAS_ASYNC16 1\n"
                 "#define KW_INST_M 16\n#define KW_INST_N 8\n#define KW_INST_K %d\n#define KW_A_WORDS %d\n#define KW_B_WORDS %d\n"
                 "#define KW_ACC_N 4\n",
                 instructions[i].k, instructions[i].a_words, instructions[i].b_words);
    kw_text_addf(source,
                 "#define KW_FP32 0\n#define KW_BF16 1\n#define KW_FP16 2\n#define KW_FP8 3\n#define KW_BF8 4\n#define KW_INT8 5\n"
                 "#define KW_IN %s\n#define KW_OUT KW_IN\n",
                 instructions[i].type);
    assert_int_equal(kw_source_add_file(source, "prelude/kernel_abi.h", NULL), KW_OK);
    kw_text_add(source, kw_kernel_file("prelude/gpu_ptx.h"));
    kw_text_add(source, kw_kernel_file("prelude/gpu.h"));
    kw_text_add(source,
                "typedef struct kw_acc { kw_sum e[KW_ACC_N]; } kw_acc;\ntypedef struct kw_frag_a { kw_u32 w[KW_A_WORDS]; } kw_frag_a;\n"
                "typedef struct kw_frag_b { kw_u32 w[KW_B_WORDS]; } kw_frag_b;\n");
    kw_text_add(source, kw_kernel_file("gpu/matrix/mma_ptx.h"));
    kw_text_add(source, text);
    assert_false(source->failed);
}

static kw_status compile_text(kw_compile_result *result, const kw_compiler *compiler, const char *source, const char *machine,
                              kw_error *err) {
    const kw_compile compile = {.compiler = compiler, .source = source, .size = strlen(source), .machine = machine, .name = "kernel.cu"};
    return compiler->toolchain->compile(&compile, result, err);
}

static void compile_number(kw_compile_result *result, const kw_compiler *compiler, size_t i) {
    kw_error err = {0};
    kw_text source = {0};
    make_source(&source, i);
    if (compile_text(result, compiler, source.data, instructions[i].arch, &err)) {
        fail_msg("%s: %s\n%s", instructions[i].wanted, err.text, kw_text_string(&result->messages));
    }
    kw_text_drop(&source);
}

static void what_is_not_there_is_an_error_that_says_where_to_get_it(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_error err = {0};
    assert_int_equal(kw_compiler_find(&compiler, "/nowhere/libnvrtc.so", nvrtc_code("sm_90"), &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "/nowhere/libnvrtc.so"));
    assert_non_null(strstr(err.text, "libnvrtc.so or of its folder"));
    assert_int_equal(setenv("KW_NVRTC", "/nowhere/else", 1), 0);
    assert_int_equal(kw_compiler_find(&compiler, NULL, nvrtc_code("sm_90"), &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "/nowhere/else"));
    unsetenv("KW_NVRTC");
    assert_int_equal(kw_compiler_find(&compiler, "libc.so.6", nvrtc_code("sm_90"), &err), KW_ENVIRONMENT);
    assert_non_null(strstr(err.text, "nvrtcVersion"));
}

static void the_compiler_says_who_it_is(void **state) {
    (void)state;
    kw_compiler compiler, again;
    nvrtc_need(&compiler);
    assert_string_equal(compiler.kind, "nvrtc");
    assert_true(atoi(compiler.version) >= 11);
    assert_non_null(strstr(compiler.identity, "size="));
    assert_int_equal(kw_compiler_find(&again, compiler.path, nvrtc_code("sm_80"), NULL), KW_OK);
    assert_string_equal(again.identity, compiler.identity);
}

/* The driver's cache is passed over by versions that would use it; older ones do not know the option. */
static void versions_with_a_cache_of_their_own_do_without_it(void **state) {
    (void)state;
    static const struct {
        const char *version;
        bool caches;
    } cases[] = {{"11.8", false}, {"12.8", false}, {"12.9", true}, {"13.0", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_compiler compiler = {.toolchain = &kw_nvrtc_toolchain};
        bool passed_over = false;
        memcpy(compiler.version, cases[i].version, strlen(cases[i].version));
        for (const char *const *option = kw_nvrtc_toolchain.options(&compiler); *option; option++) {
            passed_over |= !strcmp(*option, "--no-cache");
        }
        assert_true(passed_over == cases[i].caches);
    }
}

static void a_cubin_says_what_its_kernels_need(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_compile_result result;
    kw_blob_facts facts;
    kw_cubin cubin;
    nvrtc_need(&compiler);
    compile_number(&result, &compiler, 0);
    assert_true(result.cpu_ns > 0);
    assert_int_equal(kw_cubin_read(&cubin, &result.blob, NULL), KW_OK);
    assert_true(cubin.stage[0].present && cubin.stage[1].present && !cubin.stage[2].present);
    assert_int_equal(cubin.stage[0].requested_lds, 100000);
    assert_int_equal(cubin.stage[0].fixed_lds, 0);
    assert_int_equal(cubin.stage[1].requested_lds, 0);
    assert_int_equal(kw_blob_facts_read(&facts, &result.blob, nvrtc_code("sm_90"), NULL), KW_OK);
    assert_in_range(facts.registers, 8, 64);
    assert_int_equal(facts.lds, 100000);
    assert_int_equal(facts.spill_bytes, 0);
    assert_int_equal(facts.scratch, 0);
    kw_compile_result_drop(&result);
}

static void spilled_registers_are_counted(void **state) {
    (void)state;
    static const char many[] =
        "extern \"C\" __global__ void __launch_bounds__(1024, 2) kw_stage0(float *x, int n) {\n"
        "    float s[128];\n    for (int i = 0; i < 128; i++) s[i] = x[i * n];\n"
        "    for (int r = 0; r < n; r++)\n#pragma unroll\n        for (int i = 0; i < 128; i++) s[i] = s[i] * s[(i + 7) % 128] + r;\n"
        "    float t = 0;\n    for (int i = 0; i < 128; i++) t += s[i] * x[i];\n    x[threadIdx.x] = t;\n}\n";
    kw_compiler compiler;
    kw_compile_result result;
    kw_blob_facts facts;
    kw_error err = {0};
    nvrtc_need(&compiler);
    assert_int_equal(compile_text(&result, &compiler, many, "sm_90", &err), KW_OK);
    assert_int_equal(kw_blob_facts_read(&facts, &result.blob, nvrtc_code("sm_90"), NULL), KW_OK);
    assert_in_range(facts.registers, 16, 32);
    assert_true(facts.spill_bytes > 100);
    assert_true(facts.scratch > 100);
    kw_compile_result_drop(&result);
}

static void a_refusal_names_line_and_reason(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_compile_result result;
    kw_error err = {0};
    nvrtc_need(&compiler);
    assert_int_equal(
        compile_text(&result, &compiler, "__device__ int a;\nextern \"C\" __global__ void kw_stage0() { unknown(); }\n", "sm_90", &err),
        KW_FAILED);
    assert_null(result.blob.data);
    assert_non_null(strstr(err.text, "kernel.cu(2)"));
    assert_non_null(strstr(err.text, "unknown"));
    kw_compile_result_drop(&result);
    assert_int_equal(compile_text(&result, &compiler, "__device__ int a;\n", "sm_7", &err), KW_FAILED);
    assert_null(result.blob.data);
    kw_compile_result_drop(&result);
}

static void a_child_compiles_the_same(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_compile_result here, there;
    nvrtc_need(&compiler);
    compile_number(&here, &compiler, 0);
    assert_int_equal(setenv("KW_WORKER", KW_KWRIGHT, 1), 0);
    compile_number(&there, &compiler, 0);
    assert_int_equal(here.blob.size, there.blob.size);
    assert_memory_equal(here.blob.data, there.blob.data, here.blob.size);
    kw_compile_result_drop(&there);
    kw_error err = {0};
    assert_int_equal(compile_text(&there, &compiler, "wrong", "sm_90", &err), KW_FAILED);
    assert_non_null(strstr(err.text, "refused the source: kernel.cu(1)"));
    unsetenv("KW_WORKER");
    kw_compile_result_drop(&here);
    kw_compile_result_drop(&there);
}

static void the_text_holds_the_instructions(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i += KW_TEST_KERNELS_STEP) {
        kw_text source = {0};
        make_source(&source, i);
        char *ptx = nvrtc_ptx(&library, &source, instructions[i].arch);
        const char *const wanted[] = {instructions[i].wanted,  "cp.async.cg.shared.global", "cp.async.ca.shared.global",
                                      "cp.async.commit_group", "cp.async.wait_group",       "bar.sync"};
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++) {
            if (!strstr(ptx, wanted[j])) {
                fail_msg("%s: no %s in\n%s", instructions[i].wanted, wanted[j], ptx);
            }
        }
        free(ptx);
    }
}

/* Every file cut short and every byte changed is refused or read, never believed; the sanitizers see what is read beside it. */
static void damaged_files_are_read_within_their_bytes(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_compile_result result;
    kw_cubin cubin;
    nvrtc_need(&compiler);
    compile_number(&result, &compiler, 1);
    size_t size = result.blob.size;
    for (size_t cut = 0; cut < size; cut += 1 + cut / 64) {
        kw_blob part = {malloc(cut ? cut : 1), cut};
        assert_non_null(part.data);
        memcpy(part.data, result.blob.data, cut);
        kw_status status = kw_cubin_read(&cubin, &part, NULL);
        assert_true(status == KW_MALFORMED || (cut >= size - 16 && cubin.spill_bytes == -1));
        kw_blob_drop(&part);
    }
    kw_blob whole = {malloc(size), size};
    assert_non_null(whole.data);
    for (size_t at = 0; at < size; at++) {
        memcpy(whole.data, result.blob.data, size);
        ((unsigned char *)whole.data)[at] ^= at % 3 ? 0xff : 0x80;
        kw_cubin_read(&cubin, &whole, NULL);
    }
    kw_blob_drop(&whole);
    kw_compile_result_drop(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_there_is_an_error_that_says_where_to_get_it),
        cmocka_unit_test(the_compiler_says_who_it_is),
        cmocka_unit_test(versions_with_a_cache_of_their_own_do_without_it),
        cmocka_unit_test(a_cubin_says_what_its_kernels_need),
        cmocka_unit_test(spilled_registers_are_counted),
        cmocka_unit_test(a_refusal_names_line_and_reason),
        cmocka_unit_test(a_child_compiles_the_same),
        cmocka_unit_test(the_text_holds_the_instructions),
        cmocka_unit_test(damaged_files_are_read_within_their_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
