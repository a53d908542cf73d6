/* emu.c: how fast the emulator is: processor time of a kernel's compile, and GFLOP/s of one core with and without checks, for a
 * convolution by mma.sync and one by MFMA.
 *
 *   bench_emu [DEVICE CONFIG PROBLEM]
 *
 * A verification is two runs and the comparison of their results; the best of three counts, by processor time. Prints Markdown. */
#include "measure/measure.h"

#include "config/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct subject {
    const char *device, *config, *problem;
} subject;

static const subject usual[] = {
    {"emu:sm_90",
     "conv.igemm conv_fwd bf16 ndim=2 tile_m=128 tile_n=128 tile_k=32 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=16 pipe=compv3 "
     "sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 two_stage=0 "
     "spec=default "
     "streamk=off persistent=0 split_k=1 index=32",
     "conv_fwd bf16 nhwgc n1 g1 c128 k128 i14x14 f3x3 s1x1 p1x1 d1x1"},
    {"emu:gfx942",
     "conv.igemm conv_fwd bf16 ndim=2 tile_m=128 tile_n=128 tile_k=32 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 pipe=compv3 "
     "sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 two_stage=0 "
     "spec=default "
     "streamk=off persistent=0 split_k=1 index=32",
     "conv_fwd bf16 nhwgc n1 g1 c128 k128 i14x14 f3x3 s1x1 p1x1 d1x1"},
};

typedef struct loaded {
    const kw_backend *backend;
    kw_device *device;
    kw_config config;
    kw_problem problem;
    kw_kernel *kernel;
    double compile_ms;
} loaded;

static kw_status load(loaded *l, const subject *s, kw_error *err) {
    int index = 0;
    kw_compiler compiler;
    kw_code code;
    kw_blob blob = {0};
    kw_jit_result result;
    kw_status status = kw_backend_find(&l->backend, &index, s->device, err);
    status = status ? status : l->backend->open(&l->device, index, 1, err);
    status = status ? status : kw_config_parse(&l->config, s->config, err);
    status = status ? status : kw_problem_parse(&l->problem, s->problem, err);
    status = status ? status : kw_code_for(&code, l->backend->target(l->device)->backend, l->backend->target(l->device)->arch, err);
    status = status ? status : kw_compiler_find(&compiler, NULL, code, err);
    if (!status) {
        kw_jit jit = {.code = code, .compiler = &compiler};
        status = kw_jit_blob(&jit, &l->config, &blob, &result, err);
        l->compile_ms = (double)result.cpu_ns / 1e6;
    }
    status = status ? status : l->backend->load(l->device, &l->config, &blob, &l->kernel, err);
    kw_blob_drop(&blob);
    return status;
}

static void unload(loaded *l) {
    if (l->kernel) {
        l->backend->unload(l->device, &l->kernel);
    }
    if (l->device) {
        l->backend->close(&l->device);
    }
}

static double cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* GFLOP/s; 0 when the kernel is wrong. */
static kw_status measure(const loaded *l, double *best, kw_error *err) {
    *best = 0;
    for (int i = 0; i < 3; i++) {
        kw_bench *bench = NULL;
        kw_record record;
        kw_status status = kw_bench_open(&bench, l->backend, l->device, &l->problem, 0, err);
        double start = cpu_ns();
        status = status ? status : kw_bench_verify(bench, l->kernel, &l->config, &record, err);
        double rate = 2 * (double)kw_problem_flops(&l->problem) / (cpu_ns() - start);
        kw_bench_close(&bench);
        if (status || record.outcome != KW_GOOD) {
            return status ? status : kw_fail(err, KW_FAILED, "%s", record.detail);
        }
        *best = rate > *best ? rate : *best;
    }
    return KW_OK;
}

static kw_status run(const subject *s, kw_error *err) {
    double rate[2] = {0}, compile_ms = 0;
    kw_status status = KW_OK;
    for (int checks = 0; checks < 2 && !status; checks++) {
        loaded l = {0};
        setenv("KW_EMU_CHECKS", checks ? "1" : "0", 1);
        status = load(&l, s, err);
        status = status ? status : measure(&l, &rate[checks], err);
        compile_ms = l.compile_ms;
        unload(&l);
    }
    if (!status) {
        printf("| %s | %.0f | %.2f | %.2f |\n", s->device, compile_ms, rate[1], rate[0]);
    }
    return status;
}

int main(int count, char **words) {
    subject own = {count == 4 ? words[1] : NULL, count == 4 ? words[2] : NULL, count == 4 ? words[3] : NULL};
    kw_error err = {0};
    kw_status status = KW_OK;
    printf("| device | compile, ms | checked, GFLOP/s | unchecked, GFLOP/s |\n|---|---:|---:|---:|\n");
    for (size_t i = 0; i < sizeof usual / sizeof *usual && !status && !own.device; i++) {
        status = run(&usual[i], &err);
    }
    status = own.device ? run(&own, &err) : status;
    if (status) {
        fprintf(stderr, "bench_emu: %s\n", err.text);
    }
    return status ? 1 : 0;
}
