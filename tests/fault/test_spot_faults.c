/* test_spot_faults.c: kernels of backward data whose columns are the pixels of a spot make sums that are NaN anew, for the infinities of
 * other pixels' taps. A fault that gives NaN would be mended by that, slowly, and be seen by no check of numbers: so this one plays them
 * with a mending that gives NaN itself. */
#include "backend/backend.h"
#include "jit/jit.h"
#include "measure/measure.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>

#define TEXT "gpu/igemm/backward.h"
#define AXES                                                                                                                               \
    " tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 merge=1 "   \
    "split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 index=32 ndim=2 "

/* Sums that are stored at once, and those of a divided depth. */
static const struct {
    const char *config, *problem;
} kernels_of_spots[] = {
    {"conv.igemm conv_bwd_data bf16" AXES "pipe=cooperative wave_m=8 tile_m=128 stages=4 wave_groups=1 split_k=1",
     "conv_bwd_data bf16 n2 c1 k17 i15x14 f5x5 s2x2 p2x2"},
    {"conv.igemm conv_bwd_data fp16" AXES "pipe=pingpong wave_m=4 tile_m=64 stages=4 wave_groups=2 split_k=3",
     "conv_bwd_data fp16 n1 c5 k70 i9x10 f3x2 p1x0 s3x2 d2x3"},
};

/* In TEXT, text becomes other. */
typedef struct change {
    const char *text, *other;
} change;

static const change no_mending = {
    "KW_DEVICE float kw_spot_sum(const kw_gpu_args *a, kw_i64 at) {",
    "KW_DEVICE float kw_spot_sum(const kw_gpu_args *a, kw_i64 at) {\n    if (a->k) return __builtin_nanf(\"\");"};
static const change faults[] = {
    {"kw_u32 element = 0;", "kw_u32 element = 0;"}, /* none */
    {"for (int i = 0; i < KW_COPY_RUN; i++) {", "for (int i = 1; i < KW_COPY_RUN; i++) {"},
    {"kw_u32 element = 0;", "kw_u32 element = 0x7fff;"},
};

static void change_text(const char *kernels, const change *c) {
    char path[2 * SCRATCH_MAX];
    size_t size;
    scratch_path(path, kernels, TEXT);
    char *from = scratch_read(path, &size), *at = strstr(from, c->text);
    kw_text to = {0};
    if (!at) {
        fail_msg("%s has no '%s'", TEXT, c->text);
    }
    kw_text_add_bytes(&to, from, (size_t)(at - from));
    kw_text_addf(&to, "%s%s", c->other, at + strlen(c->text));
    scratch_write(path, kw_text_string(&to), to.size, 0600);
    kw_text_drop(&to);
    free(from);
}

static void verify(const char *config_text, const char *problem_text, kw_record *record) {
    const kw_backend *backend = NULL;
    kw_device *device = NULL;
    kw_problem problem;
    kw_config config;
    kw_compiler compiler;
    kw_code code;
    kw_blob blob;
    kw_jit_result result;
    kw_kernel *kernel = NULL;
    kw_bench *bench = NULL;
    kw_error err = {0};
    int index = 0;
    assert_ok(kw_backend_find(&backend, &index, "emu:sm_90", &err), &err);
    assert_ok(backend->open(&device, index, 1, &err), &err);
    assert_ok(kw_config_parse(&config, config_text, &err), &err);
    assert_ok(kw_problem_parse(&problem, problem_text, &err), &err);
    assert_ok(kw_code_for(&code, KW_BACKEND_EMU, backend->target(device)->arch, &err), &err);
    if (kw_compiler_find(&compiler, getenv("KW_TEST_CC"), code, &err)) {
        print_message("skipped: %s\n", err.text);
        backend->close(&device);
        skip();
    }
    kw_jit jit = {.code = code, .compiler = &compiler};
    assert_ok(kw_jit_blob(&jit, &config, &blob, &result, &err), &err);
    assert_ok(backend->load(device, &config, &blob, &kernel, &err), &err);
    kw_blob_drop(&blob);
    assert_ok(kw_bench_open(&bench, backend, device, &problem, 0, &err), &err);
    assert_ok(kw_bench_verify(bench, kernel, &config, record, &err), &err);
    kw_bench_close(&bench);
    backend->unload(device, &kernel);
    backend->close(&device);
}

static void mending_infinities_hides_no_fault(void **state) {
    (void)state;
    int unlike = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char folder[SCRATCH_MAX], kernels[2 * SCRATCH_MAX], command[4 * SCRATCH_MAX];
        scratch_make(folder);
        scratch_path(kernels, folder, "kernels");
        snprintf(command, sizeof command, "cp -r '%s' '%s'", KW_KERNEL_FOLDER, kernels);
        assert_int_equal(system(command), 0);
        change_text(kernels, &no_mending);
        change_text(kernels, &faults[i]);
        setenv("KW_KERNELS", kernels, 1);
        for (size_t k = 0; k < sizeof kernels_of_spots / sizeof *kernels_of_spots; k++) {
            kw_record record = {0};
            verify(kernels_of_spots[k].config, kernels_of_spots[k].problem, &record);
            if (record.outcome != (i ? KW_WRONG : KW_GOOD)) {
                print_message("%s, %s: %s %s\n", faults[i].other, kernels_of_spots[k].problem, kw_outcome_name(record.outcome),
                              record.detail);
                unlike++;
            }
        }
        unsetenv("KW_KERNELS");
        scratch_remove(folder);
    }
    assert_int_equal(unlike, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mending_infinities_hides_no_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
