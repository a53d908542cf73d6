/* test_tail_faults.c: blocks that stay whose last rows of tiles alone are divided in depth, on a device of few multiprocessors (KW_EMU_UNITS),
 * so that a small product has whole rounds and a tail; and faults planted where the text tells the two apart. */
#include "backend/backend.h"
#include "jit/jit.h"
#include "measure/measure.h"
#include "support/kw_test.h"
#include "support/scratch.h"

#include <stdlib.h>
#include <string.h>

#define LOOP "gpu/lib/overlap.h"
#define SLICES "gpu/lib/slices.h"
#define AXES "tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 "
#define CONV_AXES AXES "merge=1 split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=0 index=32 ndim=2 "
#define GEMM_AXES AXES "pad_m=1 pad_n=1 pad_k=1 preshuffle=0 streamk=off persistent=1 split_k=0 index=32 layout=rcr "
#define PINGPONG "pipe=pingpong wave_m=4 tile_m=64 stages=8 wave_groups=2"

/* Five blocks; six tiles in one column, or in three rows and two. */
static const struct {
    const char *config, *problem;
} kernels_with_tails[] = {
    {"gemm.mma gemm bf16 " GEMM_AXES PINGPONG, "gemm bf16 rcr m350 n64 k2048"},
    {"conv.igemm conv_fwd fp16 " CONV_AXES PINGPONG " epilogue=bias:fp32+relu",
     "conv_fwd fp16 n1 c256 k128 i13x14 f3x3 p1x1 epilogue=bias+relu"},
    {"gemm.mma gemm fp8 tile_k=128 wave_n=1 wave_k=1 inst_m=64 inst_k=32 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=16 "
     "vec_b=16 "
     "vec_c=8 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 streamk=off persistent=1 split_k=0 index=32 layout=rcr fpmath=fast_accum " PINGPONG,
     "gemm fp8 rcr m350 n64 k8192 fpmath=fast_accum"},
    {"conv.igemm conv_bwd_data bf16 " CONV_AXES PINGPONG, "conv_bwd_data bf16 n1 c64 k256 i19x18 f3x3 p1x1"},
};

/* In a file, text becomes other. */
typedef struct change {
    const char *file, *text, *other;
} change;

static const change faults[] = {
    {SLICES, "kw_tail_row(a) * KW_TILE_M", "kw_tail_row(a) * KW_TILE_M"}, /* none */
    {SLICES, "return kw_tail_row(a) * KW_TILE_M * row;", "return 0;"},
    {SLICES, "at += kw_tail_element(&args);", ""},
    {LOOP, "at -= tail;", ""},
    {LOOP, "first_row = work->divided ? kw_tail_row(a) : 0;", ""},
    {LOOP, "work->divided = at >= tail;", "work->divided = at > tail;"},
    {LOOP, "            splits = 1;", ""},
};

static void change_text(const char *kernels, const change *c) {
    char path[2 * SCRATCH_MAX];
    size_t size;
    scratch_path(path, kernels, c->file);
    char *from = scratch_read(path, &size), *at = strstr(from, c->text);
    kw_text to = {0};
    if (!at) {
        fail_msg("%s has no '%s'", c->file, c->text);
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

static void faults_at_a_tail_are_found(void **state) {
    (void)state;
    int unlike = 0;
    setenv("KW_EMU_UNITS", "5", 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        char folder[SCRATCH_MAX], kernels[2 * SCRATCH_MAX], command[4 * SCRATCH_MAX];
        scratch_make(folder);
        scratch_path(kernels, folder, "kernels");
        snprintf(command, sizeof command, "cp -r '%s' '%s'", KW_KERNEL_FOLDER, kernels);
        assert_int_equal(system(command), 0);
        change_text(kernels, &faults[i]);
        setenv("KW_KERNELS", kernels, 1);
        for (size_t k = 0; k < sizeof kernels_with_tails / sizeof *kernels_with_tails; k++) {
            kw_record record = {0};
            verify(kernels_with_tails[k].config, kernels_with_tails[k].problem, &record);
            if (record.outcome != (i ? KW_WRONG : KW_GOOD)) {
                print_message("%s -> %s, %s: %s %s\n", faults[i].text, faults[i].other, kernels_with_tails[k].problem,
                              kw_outcome_name(record.outcome), record.detail);
                unlike++;
            }
        }
        unsetenv("KW_KERNELS");
        scratch_remove(folder);
    }
    unsetenv("KW_EMU_UNITS");
    assert_int_equal(unlike, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_at_a_tail_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
