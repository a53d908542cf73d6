/* expected_bias.h: what the gradient of the bias must be beside that of weights (KW_EPILOGUE_BIAS_GRADIENT): of each channel the sum of y in
 * double, and how far off a kernel's may be. */
#ifndef KW_MEASURE_DATA_EXPECTED_BIAS_H
#define KW_MEASURE_DATA_EXPECTED_BIAS_H

#include "measure/data/buffers.h"
#include "measure/data/fill.h"

/* A zeroed one expects nothing. */
typedef struct kw_expected_bias {
    kw_dtype dtype;
    int64_t channels;
    double *value, *bound; /* 0: the value, rounded, must be met */
} kw_expected_bias;

/* y: of the host. Expects nothing of a problem without the step. */
kw_status kw_expected_bias_make(kw_expected_bias *expected, const kw_problem *problem, const kw_fill *fill, const void *y, kw_error *err);
void kw_expected_bias_drop(kw_expected_bias *expected);
/* KW_FAILED with the first channel that differs. */
kw_status kw_expected_bias_check(const kw_expected_bias *expected, const kw_buffer *result, kw_error *err);

#endif
