/* record.h: one kernel on one problem: what became of it, and its times.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_RECORD_H
#define KERNELWRIGHT_RECORD_H

#include "version.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kw_outcome {
    KW_UNTRIED = 0,
    KW_GOOD,         /* verified, and timed where a time was asked for */
    KW_UNFIT,        /* the kernel does not serve this problem, or needs more workspace than allowed */
    KW_UNCOMPILED,   /* the compiler refused the source or could not be run */
    KW_WRONG,        /* a result differs from the reference, or a guard zone was written */
    KW_MISTRUSTED,   /* right, but too many expected values are zero for that to mean much */
    KW_UNLAUNCHED,   /* could not be run: out of memory */
    KW_SLOW,         /* right, but so far behind that it was dropped after a few launches; time_ns is what they showed */
    KW_CRASHED,      /* ended its process: a signal, an exit, an answer that cannot be read */
    KW_TIMED_OUT,    /* still ran at its time limit and was killed */
    KW_SPILLS,       /* of a GPU: threads keep more bytes of registers in memory than is allowed; neither verified nor timed */
    KW_TOO_MUCH_LDS, /* of a GPU: a block wants more shared memory than the device gives */
    KW_OUTCOME_COUNT
} kw_outcome;

KW_API const char *kw_outcome_name(kw_outcome outcome);

enum { KW_CONFIG_TEXT_MAX = 1024 };

/* What is measured of a kernel. One list for the struct, a store's columns and the lines of worker processes: kind, type, member, flags of
 * src/store/row.h, unit, meaning. PAIR is an array of two, whose columns have names of their own; FLAG is true or false.
 *
 * A sample is a batch of calls, timed together; samples during which the processor was taken away are dropped. Times are of one call; 0 where
 * none was taken. half_ns: who wins by one half is scored by the other. docs/measuring/measuring.md has the method. */
#define KW_RECORD_FIELDS(NUMBER, PAIR, FLAG)                                                                                               \
    NUMBER(REAL, double, time_ns, 0, "ns", "of one call: lower quartile of the samples")                                                   \
    NUMBER(REAL, double, spread_ns, 0, "ns", "interquartile range")                                                                        \
    NUMBER(REAL, double, median_ns, 0, "ns", "median")                                                                                     \
    NUMBER(REAL, double, mad_ns, 0, "ns", "median absolute deviation")                                                                     \
    NUMBER(REAL, double, least_ns, 0, "ns", "fastest sample")                                                                              \
    PAIR(REAL, double, half_ns, half0_ns, half1_ns, 0, "ns", "lower quartile of the even samples", "lower quartile of the odd samples")    \
    NUMBER(INT32, int32_t, samples, 0, "", "kept")                                                                                         \
    NUMBER(INT32, int32_t, dropped, 0, "", "samples that were not counted")                                                                \
    NUMBER(INT32, int32_t, calls, 0, "", "of a sample")                                                                                    \
    NUMBER(INT32, int32_t, warmups, 0, "", "calls before the first sample")                                                                \
    FLAG(BOOL, bool, cold, ALWAYS, "", "each call on other copies of the tensors")                                                         \
    NUMBER(INT64, int64_t, workspace, 0, "bytes", "memory the kernel needs besides the tensors")                                           \
    NUMBER(REAL, double, error, LOOSE, "", "largest distance from the reference as a share of the bound")                                  \
    NUMBER(REAL, double, ulp, LOOSE, "", "the same in units of the last place")

typedef struct kw_record {
    kw_outcome outcome;
#define KW_RECORD_MEMBER(kind, type, member, flags, unit, meaning) type member;
#define KW_RECORD_PAIR(kind, type, member, first, second, flags, unit, meaning, meaning2) type member[2];
    KW_RECORD_FIELDS(KW_RECORD_MEMBER, KW_RECORD_PAIR, KW_RECORD_MEMBER)
#undef KW_RECORD_MEMBER
#undef KW_RECORD_PAIR
    char config[KW_CONFIG_TEXT_MAX];
    char detail[256]; /* why, when the outcome is not KW_GOOD; of a kernel that ended its worker first and was good alone, how it did */
} kw_record;

#ifdef __cplusplus
}
#endif
#endif
