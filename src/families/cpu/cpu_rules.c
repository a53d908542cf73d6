/* cpu_rules.c: rules that CPU families share. Sizes are counted in floating point, which cannot overflow, with the most that a kernel adds to
 * them: tiles of up to 96 pixels (SPARE_PIXELS) that step by the stride, and blocks of up to 6 vectors of 16 channels (SPARE_CHANNELS). */
#include "families/cpu/cpu_rules.h"

#include "base/math.h"
#include "problem/tensors/pitch.h"
#include "problem/epilogue/epilogue.h"
#include "problem/view.h"

enum { SPARE_PIXELS = 128, SPARE_CHANNELS = 128 };
#define MOST_ELEMENTS 281474976710656.0 /* 2^48: 1 PiB of fp32, for each of 2^10 threads */

/* Elements are stored in another order than in memory, or in a copy. What is the same for a whole channel, or for a pixel, is not moved by that; tensors
 * of the result's shape are turned as it is: so their elements are as large, and of a weight gradient, whose copy is the filter's, there are none. */
static bool first_has_channels(const kw_rule_case *c) {
    const kw_epilogue *epilogue = &c->problem->epilogue;
    size_t bytes = kw_dtype_size(kw_problem_dtype(c->problem, kw_problem_result(c->problem)));
    bool good = true;
    for (int32_t i = 0; i < epilogue->count; i++) {
        bool like = kw_epilogue_info_of(epilogue->step[i].op)->shape == KW_EXTRA_ALL;
        good &= !like || (c->problem->op != KW_CONV_BWD_WEIGHT && kw_dtype_size(epilogue->step[i].dtype) == bytes);
    }
    return good || c->problem->layout == KW_CHANNELS_LAST;
}

static bool walks_are_few(const kw_rule_case *c) {
    return kw_problem_walks_are_few(c->problem);
}

/* Positions that a tile's pixels and taps span beyond the image and its padding. */
static double padded_extent(const kw_conv_dims *d, int axis) {
    double behind = d->pad_back[axis] > 0 ? (double)d->pad_back[axis] : 0;
    double span = (double)(d->filter[axis] - 1) * (double)d->dilation[axis] + SPARE_PIXELS * (double)d->stride[axis];
    return (double)d->in[axis] + (double)d->pad[axis] + behind + span + SPARE_PIXELS;
}

static bool conv_extents_are_counted(const kw_rule_case *c) {
    const double most_extent = 1 << 30, most_taps = 1 << 20;
    const kw_conv_dims *d = &c->problem->conv;
    bool good = true;
    for (int axis = 0; axis < 3; axis++) {
        good &= padded_extent(d, axis) <= most_extent && (double)d->dilation[axis] <= most_extent && (double)d->filter[axis] <= most_taps;
    }
    return good;
}

static bool conv_sizes_are_counted(const kw_rule_case *r) {
    const kw_conv_dims *d = &r->problem->conv;
    double c = (double)(d->c / d->g) + SPARE_CHANNELS, k = (double)(d->k / d->g) + SPARE_CHANNELS, image = 1, taps = 1, pixels = 1;
    int64_t out[3];
    kw_problem_output(out, r->problem);
    for (int axis = 0; axis < 3; axis++) {
        image *= padded_extent(d, axis);
        taps *= (double)d->filter[axis];
        pixels *= (double)(d->in[axis] > out[axis] ? d->in[axis] : out[axis]);
    }
    double copy = image * (c > k ? c : k), weights = taps * c * k * (double)d->g,
           tensor = pixels * (double)d->n * (c > k ? c : k) * (double)d->g;
    double gaps = (double)kw_max(kw_problem_elements(r->problem, KW_X), kw_problem_elements(r->problem, KW_Y));
    return copy <= MOST_ELEMENTS && weights <= MOST_ELEMENTS && tensor <= MOST_ELEMENTS && gaps <= MOST_ELEMENTS;
}

const kw_rule kw_cpu_conv_rules[] = {
    {"first_channels",
     "of channels-first tensors a step's tensor of the result's shape has elements as large as the result's, and none of a weight gradient "
     "has "
     "any; take channels last",
     first_has_channels},
    {"few_phases", "a stride has too many phases: more than 4096 in all, or with the filter's taps more than 2^20", walks_are_few},
    {"extents_counted", "an extent with its padding, the dilated filter and 128 strides is at most 2^30, a filter 2^20",
     conv_extents_are_counted},
    {"sizes_counted", "tensors with their gaps, packed weights and padded images of a channel block are at most 2^48 elements",
     conv_sizes_are_counted},
    {0},
};

static bool gemm_sizes_are_counted(const kw_rule_case *r) {
    const kw_gemm_dims *d = &r->problem->gemm;
    double m = (double)d->m + SPARE_CHANNELS, n = (double)d->n + SPARE_CHANNELS, k = (double)d->k + SPARE_CHANNELS,
           batch = (double)d->batch;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        kw_matrix matrix = kw_problem_matrix(r->problem, (kw_tensor)t);
        if ((double)matrix.line_step * (double)matrix.lines > MOST_ELEMENTS || (double)matrix.batch_step * batch > MOST_ELEMENTS) {
            return false;
        }
    }
    return batch * m * k <= MOST_ELEMENTS && batch * k * n <= MOST_ELEMENTS && batch * m * n <= MOST_ELEMENTS;
}

const kw_rule kw_cpu_gemm_rules[] = {
    {"sizes_counted", "each matrix, rounded up to whole blocks, times the batch is at most 2^48 elements", gemm_sizes_are_counted},
    {0},
};
