/* math.h: the integer arithmetic of sizes. Products and sums of sizes that come from outside are checked: each function that can
 * overflow clears *good and returns 0; good is set to true by the caller and asked once. */
#ifndef KW_BASE_MATH_H
#define KW_BASE_MATH_H

#include <stdbool.h>
#include <stdint.h>

static inline int64_t kw_mul(int64_t a, int64_t b, bool *good) {
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product)) {
        *good = false;
        return 0;
    }
    return product;
}

static inline int64_t kw_add(int64_t a, int64_t b, bool *good) {
    int64_t sum;
    if (__builtin_add_overflow(a, b, &sum)) {
        *good = false;
        return 0;
    }
    return sum;
}

/* For b > 0 and a >= 0. */
static inline int64_t kw_ceil_div(int64_t a, int64_t b) {
    return a / b + (a % b != 0);
}

static inline int64_t kw_round_up(int64_t a, int64_t b) {
    return kw_ceil_div(a, b) * b;
}

/* Rounded towards minus infinity, for b > 0. */
static inline int64_t kw_floor_div(int64_t a, int64_t b) {
    return a / b - (a % b < 0);
}

static inline int64_t kw_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t kw_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static inline int64_t kw_gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
