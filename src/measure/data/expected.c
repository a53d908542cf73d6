/* expected.c: expected values, the sample, the comparison.
 *
 * Budget. The reference costs 2 to 10 ns a product, so PRODUCTS_WANTED products are about 10 ms; a problem whose whole result costs more
 * is checked at a sample of that cost (but never below SAMPLE_MIN elements unless these alone cost PRODUCTS_MOST). The sample holds
 * corners (first and last place of every axis combined), a sweep along every axis (each place of it, or the first and the last places
 * and random ones between where there are many, the other axes at random), and random elements. A fault that shows at one place of one
 * axis only (a missing last tile, a swapped group, a wrong last channel) is therefore met for certain up to SWEEP_MOST places an axis.
 * That every element was written is asked of all elements always, by the poison.
 *
 * Bound for real data. With u = 2^-24, a sum of n products accumulated in fp32 in any order differs from the exact one by at most n u M
 * / (1 - n u), M the sum of the products' magnitudes (N. Higham, Accuracy and Stability of Numerical Algorithms, section 3.1). That
 * worst case grows with n while the error grows with its root; n is replaced by 16 sqrt(n) from n = 256 on (N. Higham and T. Mary, A New
 * Approach to Probabilistic Rounding Error Analysis, 2019: lambda sqrt(n) u M fails with probability 2 n exp(-lambda^2 / 2), below 1e-45
 * for n < 2^40). vdpbf16ps rounds each of its additions to nearest even and flushes denormals, of which the data have none; it adds no
 * term. A kernel whose sums are coarser says by what share of M (kw_family.sum_error). Storing rounds once: half a unit in the last place of the output type, or half its least denormal. */
#include "measure/data/expected.h"

#include "base/math.h"
#include "base/order.h"
#include "base/statistics/random.h"
#include "problem/epilogue/epilogue.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"
#include "problem/reference.h"
#include "problem/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRODUCTS_WANTED 2e6
#define PRODUCTS_MOST 1.6e7
enum { SAMPLE_MIN = 256, SAMPLE_LEAST = 24, SAMPLE_MOST = 1 << 20, SWEEP_MOST = 64 };

static int add_filter_axes(kw_tensor_axis all[KW_TENSOR_AXES], const kw_problem *problem) {
    static const char *const letters[KW_FILTER_ORDER_COUNT] = {
        [KW_FILTER_KRSC] = "gkzyxc", [KW_FILTER_KCRS] = "gkczyx", [KW_FILTER_CRSK] = "czyxgk", [KW_FILTER_RSCK] = "zyxcgk"};
    const kw_conv_dims *conv = &problem->conv;
    const kw_tensor_axis axes[] = {{'g', conv->g},         {'k', conv->k / conv->g}, {'c', conv->c / conv->g},
                                   {'z', conv->filter[0]}, {'y', conv->filter[1]},   {'x', conv->filter[2]}};
    int count = 0;
    for (const char *letter = letters[kw_filter_order_of(problem)]; *letter; letter++) {
        for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
            if (axes[i].letter == *letter) {
                all[count++] = axes[i];
            }
        }
    }
    return count;
}

int kw_tensor_axes(kw_tensor_axis axes[KW_TENSOR_AXES], const kw_problem *problem, kw_tensor tensor) {
    kw_tensor_axis all[KW_TENSOR_AXES] = {0};
    int count = 0;
    if (problem->op == KW_GEMM) {
        const kw_gemm_dims *gemm = &problem->gemm;
        static const char letters[KW_TENSOR_COUNT][2] = {{'m', 'k'}, {'k', 'n'}, {'m', 'n'}};
        int64_t extents[KW_TENSOR_COUNT][2] = {{gemm->m, gemm->k}, {gemm->k, gemm->n}, {gemm->m, gemm->n}};
        bool column = (tensor == KW_X && (problem->layout == KW_CRR || problem->layout == KW_CCR)) ||
                      (tensor == KW_W && (problem->layout == KW_RCR || problem->layout == KW_CCR));
        all[count++] = (kw_tensor_axis){'b', gemm->batch};
        all[count++] = (kw_tensor_axis){letters[tensor][column], extents[tensor][column]};
        all[count++] = (kw_tensor_axis){letters[tensor][!column], extents[tensor][!column]};
    } else if (tensor == KW_W) {
        count = add_filter_axes(all, problem);
    } else {
        const kw_conv_dims *conv = &problem->conv;
        int64_t out[3];
        kw_problem_output(out, problem);
        const int64_t *space = tensor == KW_X ? conv->in : out;
        kw_tensor_axis group = {'g', conv->g}, channel = {tensor == KW_Y ? 'k' : 'c', (tensor == KW_Y ? conv->k : conv->c) / conv->g};
        bool last = problem->layout == KW_CHANNELS_LAST;
        all[count++] = (kw_tensor_axis){'n', conv->n};
        if (!last) {
            all[count++] = group;
            all[count++] = channel;
        }
        for (int axis = 0; axis < 3; axis++) {
            all[count++] = (kw_tensor_axis){"dhw"[axis], space[axis]};
        }
        if (last) {
            all[count++] = group;
            all[count++] = channel;
        }
    }
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (all[i].extent > 1) {
            axes[kept++] = all[i];
        }
    }
    return kept;
}

void kw_element_name(char text[128], const kw_problem *problem, kw_tensor tensor, int64_t index) {
    index = kw_problem_index(problem, tensor, index);
    kw_tensor_axis axes[KW_TENSOR_AXES];
    int count = kw_tensor_axes(axes, problem, tensor);
    int64_t place[KW_TENSOR_AXES] = {0};
    for (int i = count - 1; i >= 0; i--) {
        place[i] = index % axes[i].extent;
        index /= axes[i].extent;
    }
    size_t size = (size_t)snprintf(text, 128, "%c[", "xwy"[tensor]);
    for (int i = 0; i < count && size < 100; i++) {
        size += (size_t)snprintf(text + size, 128 - size, "%s%c%lld", i ? " " : "", axes[i].letter, (long long)place[i]);
    }
    snprintf(text + size, 128 - size, "]");
}

/* --- the sample --- */

typedef struct sample {
    kw_tensor_axis axes[KW_TENSOR_AXES];
    int axis_count;
    int64_t *index;
    size_t count, capacity;
    uint64_t state;
} sample;

static void random_place(sample *s, int64_t place[KW_TENSOR_AXES]) {
    for (int i = 0; i < s->axis_count; i++) {
        place[i] = (int64_t)kw_random_below(&s->state, (uint64_t)s->axes[i].extent);
    }
}

static void sample_next(sample *s, const int64_t place[KW_TENSOR_AXES]) {
    int64_t index = 0;
    for (int i = 0; i < s->axis_count; i++) {
        index = index * s->axes[i].extent + place[i];
    }
    if (s->count < s->capacity) {
        s->index[s->count++] = index;
    }
}

static void take_corners(sample *s, size_t most) {
    size_t corners = (size_t)1 << s->axis_count, step = corners > most ? corners / most : 1;
    for (size_t corner = 0; corner < corners; corner += step) {
        int64_t place[KW_TENSOR_AXES] = {0};
        for (int i = 0; i < s->axis_count; i++) {
            place[i] = (corner >> i & 1) ? s->axes[i].extent - 1 : 0;
        }
        sample_next(s, place);
    }
}

/* Up to most places of one axis: all of them, else the first and last third of most and random ones between. */
static void take_sweep(sample *s, int axis, int64_t most) {
    int64_t extent = s->axes[axis].extent, edge = kw_max(1, most / 3);
    for (int64_t i = 0; i < kw_min(extent, most); i++) {
        int64_t place[KW_TENSOR_AXES] = {0};
        random_place(s, place);
        if (extent <= most || i < edge) {
            place[axis] = i;
        } else if (i < 2 * edge) {
            place[axis] = extent - 1 - (i - edge);
        }
        sample_next(s, place);
    }
}

/* The first and last row of groups, as many as half of the room takes, at any column. */
static void take_group_edges(sample *s, const kw_problem *problem, const int32_t *ends) {
    int64_t groups = problem->gemm.groups, most = (int64_t)((s->capacity - s->count) / 4), step = kw_max(1, groups / kw_max(1, most));
    for (int64_t g = 0; g < groups; g += step) {
        for (int64_t row = ends[g] - 1; row <= ends[g]; row++) {
            int64_t col = (int64_t)kw_random_below(&s->state, (uint64_t)problem->gemm.n);
            if (row >= 0 && row < problem->gemm.m && s->count < s->capacity) {
                s->index[s->count++] = row * problem->gemm.n + col;
            }
        }
    }
}

static void choose_sample(kw_expected *expected, size_t wanted, uint64_t seed, const int32_t *ends) {
    sample s = {.index = expected->index, .capacity = wanted, .state = seed};
    s.axis_count = kw_tensor_axes(s.axes, &expected->problem, kw_problem_result(&expected->problem));
    take_corners(&s, wanted / 4);
    int64_t sweep = kw_max(2, kw_min(SWEEP_MOST, (int64_t)(wanted / 2) / kw_max(1, s.axis_count)));
    for (int axis = 0; axis < s.axis_count; axis++) {
        take_sweep(&s, axis, sweep);
    }
    if (ends) {
        take_group_edges(&s, &expected->problem, ends);
    }
    while (s.count < wanted) {
        int64_t place[KW_TENSOR_AXES] = {0};
        random_place(&s, place);
        sample_next(&s, place);
    }
    qsort(s.index, s.count, sizeof *s.index, kw_order_int64_items);
    size_t kept = 0;
    for (size_t i = 0; i < s.count; i++) {
        if (!kept || s.index[kept - 1] != s.index[i]) {
            s.index[kept++] = s.index[i];
        }
    }
    expected->count = kept;
}

static size_t sample_size(const kw_problem *problem) {
    double products = (double)kw_max(1, kw_problem_view(problem).gk);
    double wanted = fmax(PRODUCTS_WANTED / products, fmin(SAMPLE_MIN, PRODUCTS_MOST / products));
    return (size_t)fmin(fmax(wanted, SAMPLE_LEAST), SAMPLE_MOST);
}

/* --- values and bounds --- */

/* Digits of the significand with the hidden one; the least positive number. */
static const struct {
    int digits, least;
} float_types[KW_DTYPE_COUNT] = {
    [KW_FP32] = {24, -149}, [KW_BF16] = {8, -133}, [KW_FP16] = {11, -24}, [KW_FP8] = {4, -9}, [KW_BF8] = {3, -16}};

double kw_sum_bound(int64_t products, double magnitude) {
    double n = (double)products, u = ldexp(1, -24);
    double terms = n <= 256 ? n : 16 * sqrt(n);
    return terms * u / (1 - terms * u) * magnitude;
}

double kw_store_bound(kw_dtype output, double value, double bound) {
    if (!float_types[output].digits) {
        return 0.5;
    }
    return fmax(ldexp(fabs(value) + bound, -float_types[output].digits), ldexp(1, float_types[output].least - 1));
}

static bool is_whole(kw_dtype dtype) {
    return !float_types[dtype].digits;
}

/* The type's range is the value's too where it ends in whole numbers. */
static double within_range(kw_dtype output, double value) {
    double most = output == KW_INT8 ? 127 : output == KW_UINT8 ? 255 : INT32_MAX, least = output == KW_UINT8 ? 0 : -most - 1;
    return is_whole(output) ? fmin(fmax(value, least), most) : value;
}

static double rounded_value(kw_dtype output, double value) {
    _Alignas(8) unsigned char rounded[8];
    kw_dtype_store(output, rounded, 0, value);
    return kw_dtype_load(output, rounded, 0);
}

/* An element of a grouped product is one of its group's. */
typedef struct owner {
    kw_problem problem;
    kw_group_memory memory;
    int64_t group, begin; /* in the result's memory */
} owner;

static const owner *owner_of(owner *own, const kw_problem *problem, const kw_group_memory *memory, const int32_t *ends, int64_t place) {
    int64_t group = ends ? kw_group_of(problem, ends, place) : 0;
    if (group != own->group) {
        own->group = group;
        own->begin = kw_group_product(&own->problem, &own->memory, problem, ends, group, memory);
    }
    return own;
}

/* One element: what the sum becomes by the epilogue, and how far off a kernel may be. */
static void expect_element(kw_expected *e, size_t i, const owner *own, const kw_epilogue_value *sum, bool exact_data) {
    int64_t index = (e->index ? e->index[i] : (int64_t)i) - own->begin;
    kw_dtype output = kw_problem_dtype(&e->problem, kw_problem_result(&e->problem));
    kw_epilogue_value v = *sum;
    bool bare = kw_epilogue_is_bare(&e->problem.epilogue);
    if (!bare && is_whole(e->problem.dtype) && (double)(float)v.value != v.value) {
        v.bound += ldexp(fabs(v.value), -24); /* whole sums become fp32 first */
    }
    if (!bare) {
        kw_epilogue_apply(&v, &own->problem, own->memory.extra, index);
    }
    if (e->exact || (exact_data && v.bound == 0) || (bare && is_whole(output))) {
        e->value[i] = e->exact || exact_data ? rounded_value(output, v.value) : v.value;
        return;
    }
    v.value = within_range(output, v.value);
    e->value[i] = v.value;
    e->bound[i] = (float)(v.bound + kw_store_bound(output, v.value, v.bound)) * (1 + 1e-6f);
    e->magnitude[i] = exact_data ? 0 : (float)v.magnitude;
}

static kw_status allocate_expected(kw_expected *expected, size_t wanted, bool all, kw_error *err) {
    expected->count = wanted;
    expected->value = calloc(wanted, sizeof *expected->value);
    expected->bound = expected->exact ? NULL : calloc(wanted, sizeof *expected->bound);
    expected->magnitude = expected->exact ? NULL : calloc(wanted, sizeof *expected->magnitude);
    expected->index = all ? NULL : calloc(wanted, sizeof *expected->index);
    if (!expected->value || (!expected->exact && (!expected->bound || !expected->magnitude)) || (!all && !expected->index)) {
        kw_expected_drop(expected);
        return kw_fail_memory(err, "expected values");
    }
    return KW_OK;
}

/* From dense indices, or of all elements, to places in memory. */
static void place_elements(kw_expected *expected, bool all) {
    for (size_t i = 0; i < expected->count; i++) {
        int64_t index = all ? (int64_t)i : expected->index[i];
        expected->index[i] = kw_problem_place(&expected->problem, kw_problem_result(&expected->problem), index);
    }
    qsort(expected->index, expected->count, sizeof *expected->index, kw_order_int64_items);
}

/* Without what lies behind the last group. Indices ascend. */
static void leave_rows_behind(kw_expected *expected) {
    while (expected->count && (expected->index ? expected->index[expected->count - 1] : (int64_t)expected->count - 1) >= expected->end) {
        expected->count--;
    }
}

kw_status kw_expected_make(kw_expected *expected, const kw_problem *problem, const kw_fill *fill, const kw_group_memory *memory,
                           const int32_t *ends, kw_error *err) {
    kw_tensor result = kw_problem_result(problem);
    int64_t elements = kw_problem_values(problem, result);
    size_t wanted = sample_size(problem);
    bool all = (int64_t)wanted >= elements, dense = kw_problem_is_dense(problem);
    owner own = {.problem = *problem, .memory = *memory};
    *expected = (kw_expected){.problem = *problem, .exact = fill->exact && kw_epilogue_is_bare(&problem->epilogue), .end = INT64_MAX};
    if (ends) {
        own.group = -1;
        expected->end = ends[problem->gemm.groups - 1] * kw_problem_matrix(problem, result).line_step;
    }
    kw_status status = allocate_expected(expected, all ? (size_t)elements : wanted, all && dense, err);
    if (status) {
        return status;
    }
    if (!all) {
        choose_sample(expected, wanted, fill->seed, ends);
    }
    if (!dense) {
        place_elements(expected, all);
    }
    leave_rows_behind(expected);
    for (size_t i = 0; i < expected->count; i++) {
        int64_t products = 0, index = expected->index ? expected->index[i] : (int64_t)i;
        kw_epilogue_value sum = {0};
        owner_of(&own, problem, memory, ends, index);
        kw_zeros zero = kw_zeros_of(&own.problem, own.memory.extra, index - own.begin);
        sum.value = kw_reference_at(&own.problem, own.memory.tensor, zero, index - own.begin, &products, &sum.magnitude);
        sum.bound = fill->exact || is_whole(problem->dtype) ? 0 : kw_sum_bound(products, sum.magnitude);
        expect_element(expected, i, &own, &sum, fill->exact);
        expected->nonzero += expected->value[i] != 0;
        expected->possible += products > 0;
    }
    return KW_OK;
}

void kw_expected_drop(kw_expected *expected) {
    free(expected->index);
    free(expected->value);
    free(expected->bound);
    free(expected->magnitude);
    *expected = (kw_expected){0};
}

/* benchdnn trusts a result with 30 % non-zeros. */
bool kw_expected_trusted(const kw_expected *expected) {
    return 10 * expected->nonzero >= 3 * expected->possible;
}

/* --- comparison --- */

/* Elements that hold poison still, and gaps that do not. */
static void count_unwritten(kw_comparison *c, const unsigned char *piece, int64_t first, int64_t count) {
    const kw_problem *problem = &c->expected->problem;
    kw_tensor result = kw_problem_result(problem);
    size_t width = kw_dtype_size(kw_problem_dtype(problem, result));
    uint64_t poison = 0x0101010101010101ULL * c->poison;
    /* Of a type of one byte any may be a result: fp8's poison is its NaN, which is what too large a value becomes. */
    bool dense = kw_problem_is_dense(problem), any_byte = width == 1;
    if (dense && any_byte && c->expected->end >= first + count) {
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        bool poisoned = piece[(size_t)i * width] == c->poison && !memcmp(piece + (size_t)i * width, &poison, width);
        bool gap = first + i >= c->expected->end || (!dense && kw_problem_index(problem, result, first + i) < 0);
        if (gap ? !poisoned : poisoned && !any_byte) {
            int64_t *found = gap ? &c->strayed : &c->unwritten, *place = gap ? &c->first_strayed : &c->first_unwritten;
            if (!(*found)++) {
                *place = first + i;
            }
        }
    }
}

/* One over the unit in the last place of the type at value: the distance of its neighbours there. A whole number's is 1. */
static double ulps_of_one(kw_dtype output, double value) {
    if (!float_types[output].digits) {
        return 1;
    }
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1022; /* value is in [1/2, 1) times 2 to that; a denormal of double is far below any least */
    int place = exponent - float_types[output].digits;
    place = place > float_types[output].least ? place : float_types[output].least;
    bits = (uint64_t)(1023 - place) << 52;
    double inverse;
    memcpy(&inverse, &bits, sizeof inverse);
    return inverse;
}

static double at_most(double value) {
    return value < KW_ERROR_MOST ? value : KW_ERROR_MOST; /* also when value is not a number */
}

/* Whether what the kernel gave is what the type has for values beyond its range, and the value may lie there. */
static bool is_beyond_range(kw_dtype output, double got, double wanted, double allowed) {
    if (isfinite(got)) {
        return false;
    }
    double most = rounded_value(output, wanted + copysign(allowed, wanted));
    return isnan(most) ? isnan(got) : got == most;
}

static void compare_value(kw_comparison *c, kw_dtype output, int64_t index, double got) {
    const kw_expected *e = c->expected;
    double wanted = e->value[c->next], distance = fabs(got - wanted);
    double allowed = e->exact ? 0 : (double)e->bound[c->next];
    if (!e->exact && c->sum_error > 0) { /* times nothing where the data is exact */
        allowed += c->sum_error * (double)e->magnitude[c->next];
    }
    if (got == wanted || is_beyond_range(output, got, wanted, allowed)) {
        return;
    }
    c->error = fmax(c->error, at_most(distance / allowed));
    c->ulp = fmax(c->ulp, at_most(distance * ulps_of_one(output, wanted)));
    if (!(distance <= allowed)) { /* also when got is not a number */
        if (!c->wrong++) {
            c->first_wrong = index;
            c->got = got;
            c->wanted = wanted;
            c->allowed = allowed;
        }
    }
}

void kw_compare(kw_comparison *c, const void *piece, int64_t first, int64_t count) {
    const kw_expected *e = c->expected;
    kw_dtype output = kw_problem_dtype(&e->problem, kw_problem_result(&e->problem));
    count_unwritten(c, piece, first, count);
    for (; c->next < e->count; c->next++) {
        int64_t index = e->index ? e->index[c->next] : (int64_t)c->next;
        if (index >= first + count) {
            break;
        }
        compare_value(c, output, index, kw_dtype_load(output, piece, index - first));
    }
}

kw_status kw_comparison_check(const kw_comparison *c, kw_error *err) {
    const kw_expected *e = c->expected;
    kw_tensor result = kw_problem_result(&e->problem);
    char name[128];
    if (c->strayed) {
        return kw_fail(err, KW_FAILED,
                       "%lld elements between the result's lines or behind them were written, first number %lld of its memory",
                       (long long)c->strayed, (long long)c->first_strayed);
    }
    if (c->unwritten) {
        kw_element_name(name, &e->problem, result, c->first_unwritten);
        return kw_fail(err, KW_FAILED, "%lld of %lld elements left unwritten, first %s", (long long)c->unwritten,
                       (long long)kw_problem_elements(&e->problem, result), name);
    }
    if (c->wrong) {
        kw_element_name(name, &e->problem, result, c->first_wrong);
        return kw_fail(err, KW_FAILED, "%s is %.9g, expected %.9g%s; %zu of %zu compared elements differ", name, c->got, c->wanted,
                       e->exact ? "" : " within rounding", c->wrong, e->count);
    }
    return KW_OK;
}
