/* order.h: which of two comes first: below 0, 0, above 0. A difference would overflow. */
#ifndef KW_BASE_ORDER_H
#define KW_BASE_ORDER_H

#include <stdint.h>

static inline int kw_order_int(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

static inline int kw_order_uint(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static inline int kw_order_real(double a, double b) {
    return (a > b) - (a < b);
}

/* The same for qsort and bsearch in arrays of these types. */
static inline int kw_order_int64_items(const void *a, const void *b) {
    return kw_order_int(*(const int64_t *)a, *(const int64_t *)b);
}

static inline int kw_order_uint64_items(const void *a, const void *b) {
    return kw_order_uint(*(const uint64_t *)a, *(const uint64_t *)b);
}

static inline int kw_order_real_items(const void *a, const void *b) {
    return kw_order_real(*(const double *)a, *(const double *)b);
}

#endif
