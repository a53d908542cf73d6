/* rows.h: a row is a measurement (kw_record) with all that is known of its making: run, target, problem, times of the control kernel beside it.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_ROWS_H
#define KERNELWRIGHT_ROWS_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a process that measures says of itself once. One list for the struct, the store's columns and JSON: name, size, meaning. */
#define KW_RUN_FACTS(X)                                                                                                                    \
    X(id, 33, "32 hexadecimal digits at random")                                                                                           \
    X(started, 32, "UTC, e.g. 2026-11-21T05:47:09Z; informs, orders nothing")                                                              \
    X(version, 64, "of this library, with its commit where known")                                                                         \
    X(command, 1024, "the command line, or what the host program says")                                                                    \
    X(host, 128, "host name")                                                                                                              \
    X(kernel, 128, "operating system and release")                                                                                         \
    X(device, 96, "the device's name, or its UUID")                                                                                        \
    X(target, 384, "canonical text of the target")                                                                                         \
    X(compiler, 192, "identity of the compiler")                                                                                           \
    X(pool, 256, "where the kernels came from: set, architecture, filter")                                                                 \
    X(pool_hash, 33, "of the configs' texts")                                                                                              \
    X(problems, 256, "where the problems came from")                                                                                       \
    X(problems_hash, 33, "of the problems' texts")                                                                                         \
    X(shard, 24, "I/N, or empty")                                                                                                          \
    X(options, 256, "how it was timed: threads, batches, cold, exhaustive, seed")                                                          \
    X(clocks, 128, "governor and limits of the clocks, where readable")                                                                    \
    X(roofs, 192, "measured when the run began: FLOP/s by type and bytes a second, e.g. fp32=1.17e11 bf16=2.3e11 memory=2.5e10")

typedef struct kw_run {
#define KW_RUN_FACT(name, size, meaning) char name[size];
    KW_RUN_FACTS(KW_RUN_FACT)
#undef KW_RUN_FACT
} kw_run;

/* A row: one kernel on one problem on one target, once. Its identity is all of it: two rows are the same when every field is. */
typedef struct kw_row {
    kw_record record;
    char run[33];      /* kw_run.id */
    int64_t sequence;  /* ascends within a run, whatever the clock does */
    char time[32];     /* UTC; informs, orders nothing */
    char target[384];  /* canonical text */
    char problem[512]; /* canonical text */
    bool packed;       /* timed with weights packed beforehand */
    int64_t seed;      /* of the data */
    double compile_ns; /* processor time; 0: came from the cache */
    int64_t code_bytes;
    char code_hash[33];                                   /* of the compiled bytes */
    int32_t registers, spilled_bytes, shared_bytes;       /* of the compiled kernel, where its toolchain tells; else 0 */
    double control_ns, drift;                             /* the control kernel beside it; 0 where there was none */
    double clock_mhz, memory_mhz, temperature_c, power_w; /* of the device while it ran, where it tells; else 0 */
    int64_t pid;
} kw_row;

#ifdef __cplusplus
}
#endif
#endif
