/* expected_bias.c: all of y is summed. The bound is that of expected.c for sums of fp32; integers whose magnitudes sum up to at most 2^24 are
 * exact in any order. */
#include "measure/data/expected_bias.h"

#include "measure/data/expected.h"
#include "problem/epilogue/epilogue.h"
#include "problem/reference.h"
#include "problem/tensors/pitch.h"

#include <math.h>
#include <stdlib.h>

#define FP32_EXACT 16777216.0

static double rounded(kw_dtype dtype, double value) {
    float stored = 0;
    kw_dtype_store(dtype, &stored, 0, value);
    return kw_dtype_load(dtype, &stored, 0);
}

kw_status kw_expected_bias_make(kw_expected_bias *expected, const kw_problem *problem, const kw_fill *fill, const void *y, kw_error *err) {
    const kw_epilogue_step *step = kw_epilogue_bias_gradient(&problem->epilogue);
    *expected = (kw_expected_bias){0};
    if (!step) {
        return KW_OK;
    }
    int64_t channels = problem->conv.k, steps[KW_STEP_COUNT], out[3];
    expected->dtype = step->dtype;
    expected->channels = channels;
    expected->value = calloc((size_t)channels, sizeof *expected->value);
    expected->bound = calloc((size_t)channels, sizeof *expected->bound);
    if (!expected->value || !expected->bound) {
        kw_expected_bias_drop(expected);
        return kw_fail_memory(err, "expected values");
    }
    kw_problem_steps(steps, problem, KW_Y);
    kw_problem_output(out, problem);
    int64_t pixels = problem->conv.n * out[0] * out[1] * out[2];
    for (int64_t i = 0; i < pixels; i++) {
        int64_t w = i % out[2], h = i / out[2] % out[1], d = i / out[2] / out[1] % out[0], n = i / out[2] / out[1] / out[0];
        int64_t at = n * steps[0] + d * steps[1] + h * steps[2] + w * steps[3];
        for (int64_t c = 0; c < channels; c++) {
            double value = kw_dtype_load(problem->dtype, y, at + c * steps[4]);
            expected->value[c] += value;
            expected->bound[c] += fabs(value);
        }
    }
    for (int64_t c = 0; c < channels; c++) {
        bool exact = fill->exact && expected->bound[c] <= FP32_EXACT;
        expected->bound[c] = exact ? 0 : kw_sum_bound(pixels, expected->bound[c]);
    }
    return KW_OK;
}

void kw_expected_bias_drop(kw_expected_bias *expected) {
    free(expected->value);
    free(expected->bound);
    *expected = (kw_expected_bias){0};
}

kw_status kw_expected_bias_check(const kw_expected_bias *expected, const kw_buffer *result, kw_error *err) {
    if (!expected->channels) {
        return KW_OK;
    }
    size_t bytes = (size_t)expected->channels * kw_dtype_size(expected->dtype);
    void *got = malloc(bytes + 1);
    kw_status status = got ? kw_buffer_read(result, 0, got, bytes, err) : kw_fail_memory(err, "a gradient of the bias");
    for (int64_t c = 0; c < expected->channels && !status; c++) {
        double value = kw_dtype_load(expected->dtype, got, c), wanted = expected->value[c], bound = expected->bound[c];
        double allowed = bound > 0 ? bound + kw_store_bound(expected->dtype, wanted, bound) : 0;
        if (value != rounded(expected->dtype, wanted) && !(fabs(value - wanted) <= allowed)) {
            status = kw_fail(err, KW_FAILED, "the gradient of the bias, channel %lld, is %.9g, expected %.9g%s", (long long)c, value,
                             wanted, bound > 0 ? " within rounding" : "");
        }
    }
    free(got);
    return status;
}
