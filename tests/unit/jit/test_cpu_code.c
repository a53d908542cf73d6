/* test_cpu_code.c: the machine code of CPU kernels holds the instructions that their config names: multiply-adds of whole vectors of its
 * instruction set, products of bf16 pairs where math=dp, and nothing wider than the set allows. */

#include "base/os/process/process.h"
#include "config/arch/isa.h"
#include "jit/jit.h"
#include "space/enumerate.h"
#include "support/kw_test.h"
#include "support/scratch.h"

enum { CASES_MAX = 64 };

/* One config of each family, instruction set and way of multiplying that set default has for the widest CPU architecture. */
typedef struct picks {
    kw_config config[CASES_MAX];
    size_t count;
} picks;

static bool pick_first_of_kind(void *user, const kw_config *config) {
    picks *p = user;
    if (config->family->builtin) {
        return true;
    }
    for (size_t i = 0; i < p->count; i++) {
        const kw_config *known = &p->config[i];
        if (known->family == config->family && known->axis[KW_AXIS_ISA] == config->axis[KW_AXIS_ISA] &&
            known->axis[KW_AXIS_MATH] == config->axis[KW_AXIS_MATH]) {
            return true;
        }
    }
    assert_true(p->count < CASES_MAX);
    p->config[p->count++] = *config;
    return true;
}

/* "" where the machine has no objdump. */
static void disassemble(kw_text *listing, const char *file) {
    const char *const argv[] = {"objdump", "-d", "--no-show-raw-insn", file, NULL};
    kw_process_result result;
    if (kw_process_run(argv, 0, listing, &result, NULL) || result.exit_code) {
        kw_text_drop(listing);
    }
}

/* Whether a line has both words. */
static bool has_line(const char *listing, const char *instruction, const char *registers) {
    for (const char *at = strstr(listing, instruction); at; at = strstr(at + 1, instruction)) {
        const char *end = at + strcspn(at, "\n"), *found = strstr(at, registers);
        if (found && found < end) {
            return true;
        }
    }
    return false;
}

static void check_code(const kw_config *config, const char *text, const char *listing) {
    bool wide = config->axis[KW_AXIS_ISA] == KW_ISA_AVX512;
    const char *pairs = config->dtype == KW_INT8 ? "vpdpbusd" : "vdpbf16ps";
    const char *instruction = config->axis[KW_AXIS_MATH] == KW_MATH_DP ? pairs : "vfmadd";
    if (!has_line(listing, instruction, wide ? "%zmm" : "%ymm")) {
        fail_msg("%s: multiplies no whole vectors", text);
    }
    bool narrow = config->axis[KW_AXIS_ISA] == KW_ISA_AVX2, many = kw_config_isa(config)->registers > 16;
    if (many && !wide && !strstr(listing, "%ymm16")) {
        fail_msg("%s: no register beyond those of avx2", text);
    }
    if (narrow && (strstr(listing, "%zmm") || strstr(listing, "%k1"))) {
        fail_msg("%s: code of a wider instruction set", text);
    }
    if (config->axis[KW_AXIS_MATH] == KW_MATH_FMA && strstr(listing, "vdpbf16ps")) {
        fail_msg("%s: a product of pairs without math=dp", text);
    }
}

static void the_instructions_that_a_config_names_are_in_the_code(void **state) {
    (void)state;
    picks *p = calloc(1, sizeof *p);
    kw_error err = {0};
    kw_compiler compiler = {0};
    kw_jit jit = {.compiler = &compiler};
    char folder[SCRATCH_MAX], path[2 * SCRATCH_MAX];
    assert_non_null(p);
    assert_ok(kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .set = "default", .arch = "x86-64-v4-bf16"},
                           pick_first_of_kind, p, &err),
              &err);
    assert_true(p->count >= 10);
    if (kw_compiler_find(&compiler, NULL, jit.code, &err)) {
        print_message("%s\n", err.text);
        free(p);
        skip();
    }
    scratch_make(folder);
    size_t looked_at = 0;
    for (size_t i = 0; i < p->count; i++) {
        kw_blob blob = {0};
        kw_jit_result result;
        kw_text listing = {0};
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &p->config[i]);
        assert_ok(kw_jit_blob(&jit, &p->config[i], &blob, &result, &err), &err);
        scratch_write(scratch_path(path, folder, "kernel.so"), blob.data, blob.size, 0600);
        disassemble(&listing, path);
        if (listing.size) {
            check_code(&p->config[i], text, kw_text_string(&listing));
            looked_at++;
        }
        kw_text_drop(&listing);
        kw_blob_drop(&blob);
    }
    scratch_remove(folder);
    print_message("%zu kernels disassembled\n", looked_at);
    bool none = !looked_at;
    free(p);
    if (none) {
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_instructions_that_a_config_names_are_in_the_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
