/* check.c: which problems are legal. A legal problem has sizes in their ranges, at least one output, whole groups, and 63 bits hold
 * everything that is ever derived from it. The last rule is asked once, here, of the largest quantities (the tensors' bytes, the
 * operations counted over padded extents), so that all code behind it may multiply sizes without checks. */
#include "base/math.h"
#include "problem/text/dims.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static kw_status check_kind(const kw_problem *problem, kw_error *err) {
    if ((size_t)problem->op >= KW_OP_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: operation %d is not one of kw_op; use KW_GEMM or KW_CONV_*", (int)problem->op);
    }
    if ((size_t)problem->dtype >= KW_DTYPE_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: dtype %d is not one of kw_dtype; use KW_FP32 to KW_INT8", (int)problem->dtype);
    }
    if (problem->dtype == KW_UINT8) {
        return kw_fail(err, KW_ILLEGAL, "problem: uint8 is a type of x and of outputs; use int8 x=uint8, whose weights are int8");
    }
    if (!kw_dtype_is_input(problem->dtype)) {
        return kw_fail(err, KW_ILLEGAL, "problem: int32 is a type of outputs only; use int8, whose output is int32, or fp32");
    }
    bool gemm = problem->op == KW_GEMM;
    if (gemm ? problem->ndim != 0 : problem->ndim < 1 || problem->ndim > 3) {
        return kw_fail(err, KW_ILLEGAL, "problem: %d spatial axes are not possible for %s; use %s", (int)problem->ndim,
                       kw_op_name(problem->op), gemm ? "0" : "1, 2 or 3");
    }
    if (!kw_layout_name(problem->layout, problem->ndim)) {
        return kw_fail(err, KW_ILLEGAL, "problem: layout %d does not belong to %s; use %s", (int)problem->layout, kw_op_name(problem->op),
                       gemm ? "KW_RCR, KW_RRR, KW_CRR or KW_CCR" : "KW_CHANNELS_LAST or KW_CHANNELS_FIRST");
    }
    return KW_OK;
}

static kw_status check_dim(const kw_problem *problem, const kw_dim *dim, kw_error *err) {
    const int64_t *values = kw_dim_value(problem, dim->offset);
    if (!dim->spatial) {
        return *values >= dim->low ? KW_OK
                                   : kw_fail(err, KW_ILLEGAL, "problem: %c=%" PRId64 " (%s) is below %d; use e.g. %c%s", dim->letter,
                                             *values, dim->meaning, (int)dim->low, dim->letter, dim->sample);
    }
    for (int axis = 0; axis < 3; axis++) {
        if (axis < 3 - problem->ndim) {
            if (values[axis] != dim->low || (dim->back && kw_dim_value(problem, dim->back)[axis] != 0)) {
                return kw_fail(err, KW_ILLEGAL, "problem: %c (%s) of the unused axis %s is %" PRId64 "; with %d spatial axes set it to %d",
                               dim->letter, dim->meaning, kw_axis_name(axis), values[axis], (int)problem->ndim, (int)dim->low);
            }
        } else if (values[axis] < dim->low) {
            return kw_fail(err, KW_ILLEGAL, "problem: %c=%" PRId64 " (%s, %s) is below %d; use e.g. %c%s", dim->letter, values[axis],
                           dim->meaning, kw_axis_name(axis), (int)dim->low, dim->letter, dim->sample);
        }
    }
    return KW_OK;
}

static kw_status fail_overflow(const char *what, kw_error *err) {
    return kw_fail(err, KW_ILLEGAL, "%s would not fit 63 bits", what);
}

/* An overflow is no single word's fault, so the message names them all. */
static kw_status name_problem(const kw_problem *problem, kw_error *err) {
    char text[KW_PROBLEM_TEXT_MAX], what[128];
    kw_problem_print(text, sizeof text, problem);
    snprintf(what, sizeof what, "%.100s", err->text);
    return kw_fail(err, KW_ILLEGAL, "problem: %s in %.250s; use smaller sizes", what, text);
}

static kw_status check_group(char letter, int64_t channels, int64_t g, kw_error *err) {
    int64_t rest = channels % g, lower = channels - rest;
    if (rest == 0) {
        return KW_OK;
    }
    char down[32] = "";
    kw_line line = {down, sizeof down, 0};
    if (lower) {
        kw_line_addf(&line, "%c%" PRId64 " or ", letter, lower);
    }
    bool good = true;
    int64_t upper = kw_add(lower, g, &good);
    return kw_fail(err, KW_ILLEGAL,
                   "problem: %c=%" PRId64 " is not a multiple of g=%" PRId64 "; %c counts all groups together, so use %s%c%" PRId64
                   ", or g1",
                   letter, channels, g, letter, down, letter, good ? upper : g);
}

/* The output extent of an axis is at least 1. padded gets the largest extent that the axis can have for any kernel. */
static kw_status check_axis(const kw_conv_dims *conv, int axis, int64_t *padded, kw_error *err) {
    bool good = true;
    int64_t front = kw_add(conv->in[axis], conv->pad[axis], &good);
    int64_t edge = kw_add(front, conv->pad_back[axis], &good);
    int64_t span = kw_add(kw_mul(conv->dilation[axis], conv->filter[axis] - 1, &good), 1, &good);
    *padded = kw_max(front, edge);
    if (!good) {
        return fail_overflow("the padded input or the dilated filter", err);
    }
    if (edge < span) {
        return kw_fail(err, KW_ILLEGAL,
                       "problem: the output %s is below 1: the filter spans %" PRId64 " (f=%" PRId64 ", d=%" PRId64
                       ") and the padded input %" PRId64 " (i=%" PRId64 ", p=%" PRId64 ":%" PRId64
                       "); use more input or padding, or a smaller f or d",
                       kw_axis_name(axis), span, conv->filter[axis], conv->dilation[axis], edge, conv->in[axis], conv->pad[axis],
                       conv->pad_back[axis]);
    }
    return KW_OK;
}

static kw_status check_conv(const kw_conv_dims *conv, kw_error *err) {
    kw_status status = check_group('c', conv->c, conv->g, err);
    if (!status) {
        status = check_group('k', conv->k, conv->g, err);
    }
    bool good = true;
    int64_t image = 1, taps = 1;
    for (int axis = 0; axis < 3 && !status; axis++) {
        int64_t padded = 0;
        status = check_axis(conv, axis, &padded, err);
        image = kw_mul(image, padded, &good);
        taps = kw_mul(taps, conv->filter[axis], &good);
    }
    if (status) {
        return status;
    }
    /* 16 bytes an element leave room for three tensors of four bytes each and their sum. */
    kw_mul(16, kw_mul(kw_mul(image, conv->n, &good), kw_max(conv->c, conv->k), &good), &good);
    kw_mul(16, kw_mul(kw_mul(taps, conv->c / conv->g, &good), conv->k, &good), &good);
    if (!good) {
        return fail_overflow("a tensor's size in bytes (with padding)", err);
    }
    kw_mul(2, kw_mul(kw_mul(image, taps, &good), kw_mul(conv->n, kw_mul(conv->c / conv->g, conv->k, &good), &good), &good), &good);
    return good ? KW_OK : fail_overflow("the number of operations (counted over the padded input)", err);
}

static kw_status check_groups(const kw_problem *problem, kw_error *err) {
    const kw_gemm_dims *gemm = &problem->gemm;
    if (gemm->groups && gemm->batch != 1) {
        return kw_fail(err, KW_ILLEGAL, "problem: b=%" PRId64 " of a product with g=%" PRId64 " groups is not possible; use b1",
                       gemm->batch, gemm->groups);
    }
    if (gemm->groups && problem->layout != KW_RCR && problem->layout != KW_RRR) {
        return kw_fail(err, KW_ILLEGAL, "problem: layout %s with g=%" PRId64 " groups: a group is whole rows of A, so use rcr or rrr",
                       kw_layout_name(problem->layout, 0), gemm->groups);
    }
    if (gemm->groups && (gemm->m > INT32_MAX / 2 || gemm->groups > INT32_MAX / 2)) {
        return kw_fail(err, KW_ILLEGAL, "problem: m=%" PRId64 " rows of g=%" PRId64 " groups; both are counted in 30 bits, so use less",
                       gemm->m, gemm->groups);
    }
    return KW_OK;
}

static kw_status check_gemm(const kw_gemm_dims *gemm, kw_error *err) {
    bool good = true;
    int64_t weights = kw_max(gemm->batch, gemm->groups);
    kw_mul(16, kw_mul(gemm->batch, kw_mul(gemm->m, gemm->k, &good), &good), &good);
    kw_mul(16, kw_mul(weights, kw_mul(gemm->k, gemm->n, &good), &good), &good);
    kw_mul(16, kw_mul(gemm->batch, kw_mul(gemm->m, gemm->n, &good), &good), &good);
    if (!good) {
        return fail_overflow("a tensor's size in bytes", err);
    }
    kw_mul(2, kw_mul(kw_mul(gemm->batch, gemm->m, &good), kw_mul(gemm->n, gemm->k, &good), &good), &good);
    return good ? KW_OK : fail_overflow("the number of operations", err);
}

/* Weights are of the problem's type; uint8 times int8 is what CPUs and frameworks have. */
static kw_status check_mixed(const kw_problem *problem, kw_error *err) {
    if (!problem->mixed) {
        return KW_OK;
    }
    if (problem->x_dtype != KW_UINT8 || problem->dtype != KW_INT8) {
        return kw_fail(err, KW_ILLEGAL, "problem: x=%s with weights of %s; x has another type than w only as x=uint8 of int8",
                       kw_dtype_name(problem->x_dtype), kw_dtype_name(problem->dtype));
    }
    return problem->op == KW_GEMM || problem->op == KW_CONV_FWD
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "problem: x=%s is for gemm and conv_fwd, not for %s; leave it out",
                         kw_dtype_name(problem->x_dtype), kw_op_name(problem->op));
}

static kw_status check_fpmath(const kw_problem *problem, kw_error *err) {
    if ((unsigned)problem->fpmath >= KW_FPMATH_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: fpmath %d is not one of kw_fpmath; use KW_FPMATH_STRICT to KW_FPMATH_FAST_ACCUM",
                       (int)problem->fpmath);
    }
    bool bytes = problem->op == KW_GEMM && (problem->dtype == KW_FP8 || problem->dtype == KW_BF8);
    if (problem->fpmath == KW_FPMATH_FAST_ACCUM) {
        return bytes ? KW_OK
                     : kw_fail(err, KW_ILLEGAL, "problem: fpmath=fast_accum of %s in %s: it is for gemm in fp8 and bf8; leave it out",
                               kw_op_name(problem->op), kw_dtype_name(problem->dtype));
    }
    return !problem->fpmath || problem->dtype == KW_FP32
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "problem: fpmath=tf32 of %s: only elements of fp32 have more bits than tf32; leave it out",
                         kw_dtype_name(problem->dtype));
}

static kw_status check_filter_order(const kw_problem *problem, kw_error *err) {
    if ((unsigned)problem->filter_order >= KW_FILTER_ORDER_COUNT) {
        return kw_fail(err, KW_ILLEGAL, "problem: filter_order %d is not one of kw_filter_order; use KW_FILTER_OF_LAYOUT to KW_FILTER_RSCK",
                       (int)problem->filter_order);
    }
    return !problem->filter_order || problem->op != KW_GEMM
               ? KW_OK
               : kw_fail(err, KW_ILLEGAL, "problem: filter=%s: a gemm has no filter; its layout says how B lies",
                         kw_filter_order_name(problem->filter_order));
}

static kw_status check_reserved(const kw_problem *problem, kw_error *err) {
    for (size_t i = 0; i < sizeof problem->reserved; i++) {
        if (problem->reserved[i]) {
            return kw_fail(err, KW_ILLEGAL,
                           "problem: byte %zu of reserved is %d; begin with a zeroed kw_problem, or use the library that your header is of",
                           i, problem->reserved[i]);
        }
    }
    return KW_OK;
}

kw_status kw_problem_check(const kw_problem *problem, kw_error *err) {
    kw_status status = check_kind(problem, err);
    if (status) {
        return status;
    }
    for (const kw_dim *dim = kw_dims(problem->op); dim->letter; dim++) {
        status = check_dim(problem, dim, err);
        if (status) {
            return status;
        }
    }
    status = check_mixed(problem, err);
    status = status ? status : check_fpmath(problem, err);
    status = status ? status : check_filter_order(problem, err);
    status = status ? status : kw_epilogue_check(&problem->epilogue, problem->op, problem->dtype, err);
    status = status ? status : check_reserved(problem, err);
    if (status) {
        return status;
    }
    status = problem->op == KW_GEMM ? check_groups(problem, err) : KW_OK;
    if (!status) {
        status = problem->op == KW_GEMM ? check_gemm(&problem->gemm, err) : check_conv(&problem->conv, err);
    }
    status = status ? status : kw_pitches_check(problem, err);
    return status && err && strncmp(err->text, "problem:", 8) ? name_problem(problem, err) : status;
}
