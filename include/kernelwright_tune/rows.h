/* rows.h: a row is a measurement (kw_record) with all that is known of its making: run, target, problem, times of the control kernel beside it.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_ROWS_H
#define KERNELWRIGHT_TUNE_ROWS_H

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
    X(roofs, 512,                                                                                                                          \
      "measured when the run began: FLOP/s by type, bytes a second: fp32=1.17e11 memory=2.5e10; then kw_context_rates where they are "     \
      "kept")

typedef struct kw_run {
#define KW_RUN_FACT(name, size, meaning) char name[size];
    KW_RUN_FACTS(KW_RUN_FACT)
#undef KW_RUN_FACT
} kw_run;

/* What a row says besides its record: of its making (MADE) and of the measurement (TAKEN). Texts have a size, numbers a type; as in
 * KW_RECORD_FIELDS. */
#define KW_ROW_MADE(TEXT, NUMBER)                                                                                                          \
    TEXT(run, 33, NEEDED | SHARED, "", "id of the run")                                                                                    \
    NUMBER(INT64, int64_t, sequence, SIGNED, "", "ascends within a run")                                                                   \
    TEXT(time, 32, 0, "", "UTC, e.g. 2026-11-21T05:47:09Z")                                                                                \
    TEXT(target, 384, NEEDED | SHARED, "", "canonical text")                                                                               \
    TEXT(problem, KW_PROBLEM_TEXT_MAX, NEEDED | SHARED, "", "canonical text")
#define KW_ROW_TAKEN(TEXT, NUMBER)                                                                                                         \
    NUMBER(INT64, int64_t, seed, SIGNED, "", "of the data")                                                                                \
    NUMBER(REAL, double, compile_ns, 0, "ns", "processor time; 0: came from the cache")                                                    \
    NUMBER(INT64, int64_t, code_bytes, 0, "bytes", "of the compiled kernel")                                                               \
    TEXT(code_hash, 33, 0, "", "of the compiled kernel")                                                                                   \
    NUMBER(INT32, int32_t, registers, 0, "", "of a thread")                                                                                \
    NUMBER(INT32, int32_t, spilled_bytes, 0, "bytes", "registers kept in memory")                                                          \
    NUMBER(INT32, int32_t, shared_bytes, 0, "bytes", "shared memory")                                                                      \
    NUMBER(REAL, double, control_ns, 0, "ns", "the control kernel beside it")                                                              \
    NUMBER(REAL, double, drift, SIGNED, "", "of the control kernel, as a share")                                                           \
    NUMBER(REAL, double, clock_mhz, 0, "MHz", "of the device while it ran")                                                                \
    NUMBER(REAL, double, memory_mhz, 0, "MHz", "of its memory")                                                                            \
    NUMBER(REAL, double, temperature_c, SIGNED, "C", "of the device")                                                                      \
    NUMBER(REAL, double, power_w, 0, "W", "of the device")                                                                                 \
    NUMBER(INT64, int64_t, pid, 0, "", "of the process that measured")

/* A row: one kernel on one problem on one target, once. Its identity is all of it: two rows are the same when every field is. Nothing orders
 * rows by their time. Numbers that are not known are 0. */
typedef struct kw_row {
    kw_record record;
#define KW_ROW_TEXT(member, size, flags, unit, meaning) char member[size];
#define KW_ROW_NUMBER(kind, type, member, flags, unit, meaning) type member;
    KW_ROW_MADE(KW_ROW_TEXT, KW_ROW_NUMBER)
    bool packed; /* timed with weights packed beforehand */
    KW_ROW_TAKEN(KW_ROW_TEXT, KW_ROW_NUMBER)
#undef KW_ROW_TEXT
#undef KW_ROW_NUMBER
} kw_row;

#ifdef __cplusplus
}
#endif
#endif
