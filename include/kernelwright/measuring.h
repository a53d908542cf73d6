/* measuring.h: one kernel verified and timed; what a device does at most.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_MEASURING_H
#define KERNELWRIGHT_MEASURING_H

#include "record.h"
#include "registry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kw_measure_options {
    size_t size;       /* sizeof(kw_measure_options) */
    bool time;         /* time it after verification */
    bool pack_weights; /* time with weights packed beforehand, as in inference */
    uint64_t seed;     /* of the data; 0: a fixed one */
} kw_measure_options;

/* Builds, verifies and, if asked, times one config of the registry. What goes wrong with the kernel is the record's outcome;
 * an error is returned only when the environment fails. options may be NULL: verify only. */
KW_API kw_status kw_measure(kw_record *record, kw_registry *registry, size_t index, const kw_problem *problem,
                            const kw_measure_options *options, kw_error *err);

/* What the context's device does at most, measured when first asked for: FLOP/s of the type, on a CPU with the context's threads; bytes a
 * second, on a CPU read by one thread, on a GPU read and written by a copy. 0 where it is unknown; a GPU that a CPU plays has none. For a
 * GPU a small kernel is compiled. */
KW_API double kw_context_peak(kw_context *context, kw_dtype dtype);
KW_API double kw_context_bandwidth(kw_context *context);
/* What one core of the CPU gets done in a nanosecond, as text ("fma256=7.31 fma512=3.66 ... ram=24.8": instructions, bytes; docs/kernels/cpu-rates.md).
 * It is measured, in one to three seconds, and the highest of each that was ever measured on this machine is given and kept in the user's data
 * folder. Contexts that are opened later expect times by them; one that is open goes on as it was. "" for a GPU. */
KW_API kw_status kw_context_rates(char *text, size_t capacity, kw_context *context, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
