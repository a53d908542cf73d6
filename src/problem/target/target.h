/* target.h: the facts of a machine or device, as a value. Enumeration, code generation and prediction need a target, never a device.
 *
 * Canonical text: "BACKEND:ARCH model=... units=2 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432". The text is wisdom's key, so
 * it holds what decides which kernel wins and nothing that changes from day to day. */
#ifndef KW_PROBLEM_TARGET_TARGET_H
#define KW_PROBLEM_TARGET_TARGET_H

#include "base/status.h"
#include "base/text.h"
#include "problem/target/backend_id.h"
#include "problem/target/rates.h"

/* Whose fact it is. A target's text has the facts of its kind of device and no others; the rest are 0. */
typedef enum kw_fact_scope { KW_OF_ALL, KW_OF_CPU, KW_OF_GPU } kw_fact_scope;

/* One list for the struct, the parser and the printer: name, scope, meaning. */
#define KW_TARGET_FACTS(X)                                                                                                                 \
    X(units, KW_OF_ALL, "threads (CPU) or multiprocessors (GPU) in use")                                                                   \
    X(lanes, KW_OF_ALL, "fp32 lanes of a vector register (CPU), threads of a wave (GPU)")                                                  \
    X(registers, KW_OF_ALL, "vector registers that a thread may have")                                                                     \
    X(l1, KW_OF_CPU, "bytes of first-level data cache of a core")                                                                          \
    X(l2, KW_OF_ALL, "bytes of second-level cache: of a core (CPU), of the device (GPU)")                                                  \
    X(l3, KW_OF_CPU, "bytes of last-level cache that the cores share")                                                                     \
    X(lds, KW_OF_GPU, "bytes of shared memory that one block may have")                                                                    \
    X(unit_lds, KW_OF_GPU, "bytes of shared memory of a multiprocessor")                                                                   \
    X(unit_registers, KW_OF_GPU, "32-bit vector registers of a multiprocessor")                                                            \
    X(unit_waves, KW_OF_GPU, "waves that a multiprocessor holds")                                                                          \
    X(clock, KW_OF_GPU, "highest clock of a multiprocessor, MHz")                                                                          \
    X(bandwidth, KW_OF_GPU, "of the device memory, by its clock and width, 10^9 bytes a second")

typedef struct kw_target {
    kw_backend_id backend;
    char arch[32];  /* a file of rules/arch, e.g. "x86-64-v4-bf16", "gfx942" */
    char model[48]; /* of the processor, one word: vendor-family-model-stepping */
#define KW_FACT(name, scope, meaning) int64_t name;
    KW_TARGET_FACTS(KW_FACT)
#undef KW_FACT
    kw_rates rates; /* of a CPU, as far as they were measured; not in the text */
} kw_target;

enum { KW_TARGET_TEXT_MAX = 384 };

/* Whether its kernels are those of a GPU. */
bool kw_target_is_gpu(const kw_target *target);

/* Whether both are one machine, whatever was measured of its rates. */
bool kw_target_is_same(const kw_target *a, const kw_target *b);

size_t kw_target_print(char *text, size_t capacity, const kw_target *target);
/* The options of the command line that mean a target: " --threads 2", " --device emu:gfx942"; nothing where its text cannot be read. */
void kw_target_add_options(kw_text *text, const char *target);
kw_status kw_target_parse(kw_target *target, const char *text, kw_error *err);

#endif
