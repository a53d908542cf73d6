/* special_values.h: what kernelwright.h promises of infinities, NaNs, zeros of either sign and denormals in the tensors that are read, asked
 * of a kernel: the reference is kw_reference_at, whose doubles follow IEEE 754 and have no denormals here. */
#ifndef KW_TESTS_CHECK_SPECIAL_VALUES_H
#define KW_TESTS_CHECK_SPECIAL_VALUES_H

#include "measure/measure.h"

/* Elements of results, so that a test can tell that it met what it is about. */
typedef struct special_tally {
    size_t finite;            /* with finite terms alone, and their sum */
    size_t kept, turned;      /* with an infinity or NaN among their terms: as IEEE 754 has it; NaN where that has an infinity */
    size_t spread;            /* with finite terms alone, and NaN all the same */
    size_t flushed, denormal; /* with denormal terms: another number than their sum; all of them */
} special_tally;

/* Such values for a bench's problem and what becomes of them. */
typedef struct special_values special_values;

/* The bench must outlive it. */
kw_status special_values_open(special_values **values, kw_bench *bench, kw_error *err);
/* With data of its own again, the bench is as before. */
void special_values_close(special_values **values);
/* Runs the kernel on them. KW_FAILED: what is wrong. */
kw_status special_values_check(special_values *values, const kw_kernel *kernel, const kw_config *config, special_tally *tally,
                               kw_error *err);

#endif
