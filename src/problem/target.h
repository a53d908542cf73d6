/* target.h: the facts of a machine or device, as a value. Enumeration, code generation and prediction need a target, never a device.
 *
 * Canonical text: "BACKEND:ARCH model=... units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432". The text is wisdom's key, so
 * it holds what decides which kernel wins and nothing that changes from day to day. */
#ifndef KW_PROBLEM_TARGET_H
#define KW_PROBLEM_TARGET_H

#include "base/status.h"

/* One list for the struct, the parser and the printer: name, meaning. */
#define KW_TARGET_FACTS(X)                                                                                                                 \
    X(units, "threads (CPU) or multiprocessors (GPU) in use")                                                                              \
    X(lanes, "fp32 lanes of a vector register")                                                                                            \
    X(registers, "vector registers of a thread")                                                                                           \
    X(l1, "bytes of first-level data cache of a core")                                                                                     \
    X(l2, "bytes of second-level cache of a core")                                                                                         \
    X(l3, "bytes of last-level cache that the cores share")

typedef struct kw_target {
    char backend[8]; /* "cpu" */
    char arch[32];   /* a file of rules/arch, e.g. "x86-64-v4-bf16" */
    char model[48];  /* of the processor, one word: vendor-family-model-stepping */
#define KW_FACT(name, meaning) int64_t name;
    KW_TARGET_FACTS(KW_FACT)
#undef KW_FACT
} kw_target;

enum { KW_TARGET_TEXT_MAX = 384 };

size_t kw_target_print(char *text, size_t capacity, const kw_target *target);
kw_status kw_target_parse(kw_target *target, const char *text, kw_error *err);

#endif
