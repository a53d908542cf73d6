/* fill.c: integer and real data.
 *
 * A tensor draws its elements from a table of TABLE_SIZE values in its own type, by a hash of (seed, tensor, index): the costly rounding
 * is done once a table, so filling runs at memory speed.
 *
 * Exactness. A dot product of P products of integers below a and b in magnitude has partial sums of at most P a b. An fp32 accumulator
 * holds integers exactly up to 2^24, an int32 one far beyond 2^30; a and b are halved in turn until the bound holds. When it does not
 * hold even for a = b = 1, the first operand is thinned so that the expected count of non-zeros is half the bound; with counts above
 * 2^23 a binomial count is then thousands of standard deviations away from breaking it. fp16 results overflow above 65504, where nothing
 * more could be told apart, so there eight standard deviations of the sum must stay below it too. */
#include "measure/data/fill.h"

#include "base/math.h"
#include "problem/epilogue/epilogue.h"
#include "problem/reference.h"
#include "problem/view.h"

#include <math.h>
#include <string.h>

enum { TABLE_BITS = 12, TABLE_SIZE = 1 << TABLE_BITS };

#define FAST_EXACT 8192.0 /* of sums that an instruction cuts below their 13th bit */
#define FP32_EXACT 16777216.0
#define INT_EXACT 1073741824.0 /* 2^30, so that no result can equal the poison of an int32, 0x7f7f7f7f or 0x80808080 */

/* The largest integer up to which the type holds all, kept small enough for short sums to stay far from the accumulator's end. */
static const int32_t integer_range[KW_DTYPE_COUNT] = {
    [KW_FP32] = 63, [KW_BF16] = 63, [KW_FP16] = 63, [KW_FP8] = 15, [KW_BF8] = 7, [KW_INT8] = 127, [KW_INT32] = 127, [KW_UINT8] = 127};

static bool is_integer(kw_dtype dtype) {
    return dtype == KW_INT8 || dtype == KW_INT32 || dtype == KW_UINT8;
}

/* Mean square of an integer drawn evenly from +-1..+-a. */
static double variance_of_range(int32_t a) {
    return (a + 1.0) * (2.0 * a + 1.0) / 6.0;
}

/* Zero points are so far at most from the middle of its values. */
enum { ZERO_MOST = 16 };

/* The same of an input as it is multiplied: of uint8 1 + a is added to each, which makes it 1..2a + 1. */
static double square_of_input(const kw_problem *problem, kw_tensor tensor, int32_t a) {
    if (tensor == KW_X && kw_epilogue_zero_x(&problem->epilogue)) {
        return variance_of_range(a) + ZERO_MOST * ZERO_MOST / 3.0;
    }
    if (tensor == KW_W && kw_epilogue_zero_w(&problem->epilogue) >= 0) {
        return variance_of_range(a) + ZERO_MOST * ZERO_MOST / 3.0;
    }
    return variance_of_range(a) + (kw_problem_dtype(problem, tensor) == KW_UINT8 ? (a + 1.0) * (a + 1.0) : 0);
}

static double most_of_input(const kw_problem *problem, kw_tensor tensor, int32_t a) {
    if (tensor == KW_X && kw_epilogue_zero_x(&problem->epilogue)) {
        return a + ZERO_MOST;
    }
    if (tensor == KW_W && kw_epilogue_zero_w(&problem->epilogue) >= 0) {
        return a + ZERO_MOST;
    }
    return kw_problem_dtype(problem, tensor) == KW_UINT8 ? 2.0 * a + 1 : a;
}

static bool multiplies(const kw_epilogue_step *step) {
    const kw_epilogue_info *info = kw_epilogue_info_of(step->op);
    return info->shape != KW_EXTRA_NONE && !info->adds;
}

/* The first step that multiplies by a tensor; -1: none does. */
static int first_scale(const kw_problem *problem) {
    for (int i = 0; i < problem->epilogue.count; i++) {
        if (multiplies(&problem->epilogue.step[i])) {
            return i;
        }
    }
    return -1;
}

/* With an epilogue the sums pass through fp32 whatever they were formed in, and grow a little. */
static double exact_limit(const kw_problem *problem) {
    bool bare = kw_epilogue_is_bare(&problem->epilogue);
    return !bare ? FP32_EXACT / 4 : is_integer(problem->dtype) ? INT_EXACT : FP32_EXACT;
}

static kw_tensor first_input(const kw_problem *problem) {
    return kw_problem_result(problem) == KW_X ? KW_W : KW_X;
}

/* a, b: ranges of the first input and of the second, whose type is the problem's. */
static bool stays_exact(const kw_problem *problem, double products, int32_t a, int32_t b) {
    kw_tensor first = first_input(problem);
    kw_tensor second = first == KW_X && kw_problem_result(problem) == KW_Y ? KW_W : KW_Y;
    if (products * most_of_input(problem, first, a) * most_of_input(problem, second, b) > exact_limit(problem)) {
        return false;
    }
    kw_dtype output = kw_problem_dtype(problem, kw_problem_result(problem));
    double sigma = sqrt(products * square_of_input(problem, first, a) * square_of_input(problem, second, b));
    bool scaled = first_scale(problem) >= 0;
    if (problem->fpmath == KW_FPMATH_FAST_ACCUM && 8 * sigma > FAST_EXACT) {
        return false;
    }
    return output == KW_FP16               ? 8 * sigma <= 65504
           : output == KW_INT8 && !scaled  ? 3 * sigma <= 127
           : output == KW_UINT8 && !scaled ? 3 * sigma <= 255
           : output == KW_FP8 && !scaled   ? 8 * sigma <= 448
                                           : true;
}

kw_fill kw_fill_exact(const kw_problem *problem, uint64_t seed) {
    double products = (double)kw_max(1, kw_problem_view(problem).gk);
    int32_t range[2] = {integer_range[problem->dtype], integer_range[problem->dtype]};
    for (int turn = 0; !stays_exact(problem, products, range[0], range[1]) && (range[0] > 1 || range[1] > 1); turn ^= 1) {
        range[turn] = range[turn] > 1 ? range[turn] / 2 : 1;
    }
    kw_fill fill = {.exact = true, .density = 1, .seed = seed};
    if (!stays_exact(problem, products, range[0], range[1])) {
        fill.density = fmin(1, exact_limit(problem) / 2 / products);
    }
    int next = 0;
    for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        fill.range[tensor] = (kw_tensor)tensor == kw_problem_result(problem) ? 0 : range[next++];
    }
    return fill;
}

kw_fill kw_fill_real(const kw_problem *problem, uint64_t seed) {
    if (is_integer(problem->dtype)) {
        return kw_fill_exact(problem, seed + 1);
    }
    return (kw_fill){.exact = false, .density = 1, .seed = seed + 1};
}

/* A bijection of 64 bits in which each bit of the input moves about half of the output's (the finaliser of MurmurHash3). */
static uint64_t mix_bits(uint64_t h) {
    h ^= h >> 33;
    h *= 0xff51afd7ed558ccdULL;
    h ^= h >> 33;
    h *= 0xc4ceb9fe1a85ec53ULL;
    return h ^ h >> 33;
}

static void copy_element(unsigned char *to, const unsigned char *from, size_t width) {
    switch (width) {
    case 1:
        *to = *from;
        break;
    case 2:
        memcpy(to, from, 2);
        break;
    default:
        memcpy(to, from, 4);
        break;
    }
}

/* The value at a place of the table: places alternate in sign and step evenly through the magnitudes. */
static double table_value(const kw_fill *fill, int32_t range, double density, int place) {
    int magnitude = place >> 1;
    double sign = place & 1 ? -1 : 1;
    if (!fill->exact) {
        return sign * (1.0 / 64 + (63.0 / 64) * (magnitude + 0.5) / (TABLE_SIZE / 2));
    }
    int used = (int)ceil(density * TABLE_SIZE);
    return place < used ? sign * (1 + magnitude % range) : 0;
}

/* A power of two that brings sums of this data to where a type of a byte tells most of them apart; 1 for other results. */
static double scale_unit(const kw_fill *fill, const kw_problem *problem) {
    if (kw_dtype_size(kw_problem_dtype(problem, kw_problem_result(problem))) > 1) {
        return 1;
    }
    double variance = 0.33 * 0.33, products = (double)kw_max(1, kw_problem_view(problem).gk);
    if (fill->exact) {
        variance = fill->density;
        for (int tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
            variance *= fill->range[tensor] ? square_of_input(problem, (kw_tensor)tensor, fill->range[tensor]) : 1;
        }
    }
    return exp2(rint(log2(40 / sqrt(products * variance))));
}

void kw_fill_extra(const kw_fill *fill, const kw_problem *problem, int step, void *memory) {
    const kw_epilogue_step *of = &problem->epilogue.step[step];
    kw_extra extras[KW_EXTRA_MAX];
    int number = 0;
    for (int i = 0; i < step; i++) {
        number += kw_epilogue_step_has_tensor(&problem->epilogue.step[i]);
    }
    kw_problem_extras(extras, problem);
    bool scales = multiplies(of), whole = is_integer(of->dtype);
    double unit = step == first_scale(problem) && !whole ? scale_unit(fill, problem) : 1;
    uint64_t key = mix_bits(fill->seed * KW_TENSOR_COUNT + (uint64_t)(KW_TENSOR_COUNT + 1 + step) * 1000003);
    for (int64_t i = 0; i < extras[number].elements; i++) {
        uint64_t bits = mix_bits(key + (uint64_t)i);
        double sign = bits & 1 ? -1 : 1, value = 1 + (double)(bits >> 1 & 15);
        if (of->op == KW_EPILOGUE_ZERO_X) {
            bool is_unsigned = problem->mixed || of->dtype == KW_UINT8;
            value = problem->mixed ? 1 + fill->range[KW_X] + sign * (value - 1) : is_unsigned ? value : sign * value;
            value = fmax(value, is_unsigned ? 0 : INT8_MIN);
        } else if (step == kw_epilogue_zero_w(&problem->epilogue)) {
            value = of->dtype == KW_UINT8 ? value : sign * value;
        } else if (of->op == KW_EPILOGUE_ZERO_Y) { /* above 0, so that not most of uint8's results end there */
            value = 2 * value;
        } else if (scales) {
            value = unit * (whole ? 1 + (double)(bits >> 1 & 1) : fill->exact ? exp2(-(double)(bits >> 1 & 1)) : (value + 16) / 32);
        } else if (!fill->exact && !whole) {
            value = sign * value / 16;
        } else {
            value *= sign;
        }
        kw_dtype_store(of->dtype, memory, i, value);
    }
}

void kw_fill_tensor(const kw_fill *fill, const kw_problem *problem, kw_tensor tensor, int64_t first, int64_t count, void *memory) {
    _Alignas(8) unsigned char table[TABLE_SIZE * 4];
    kw_dtype dtype = kw_problem_dtype(problem, tensor);
    size_t width = kw_dtype_size(dtype);
    double density = tensor == first_input(problem) ? fill->density : 1;
    for (int place = 0; place < TABLE_SIZE; place++) {
        double value = table_value(fill, fill->range[tensor], density, place);
        kw_dtype_store(dtype, table, place, dtype == KW_UINT8 && value != 0 ? value + 1 + fill->range[tensor] : value);
    }
    uint64_t key = mix_bits(fill->seed * KW_TENSOR_COUNT + (uint64_t)tensor + 1);
    unsigned char *to = memory;
    /* One hash serves four neighbours; sixteen of its bits choose the place of each. */
    for (int64_t i = first; i < first + count; i++) {
        uint64_t bits = mix_bits(key + (uint64_t)(i >> 2));
        do {
            size_t place = (size_t)(bits >> (16 * (i & 3))) & (TABLE_SIZE - 1);
            copy_element(to, table + place * width, width);
            to += width;
        } while ((i & 3) != 3 && ++i < first + count);
    }
}
