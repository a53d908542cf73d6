/* fill.h: the data of a bench. Element i of a tensor depends on seed, tensor and i alone: not on order, threads or size. */
#ifndef KW_MEASURE_DATA_FILL_H
#define KW_MEASURE_DATA_FILL_H

#include "base/status.h"

/* How the tensors that are read get their values: exact: integers of 1..range in magnitude, either sign, and a share of zeros; real:
 * 1/64..1 in magnitude, evenly spread, either sign, so that no type meets a denormal and nothing is zero. */
typedef struct kw_fill {
    bool exact;
    int32_t range[KW_TENSOR_COUNT];
    double density; /* share of non-zeros in the first tensor that is read; 1 unless sums were too long */
    uint64_t seed;
} kw_fill;

/* Integers so small that every partial sum of the longest dot product is exact in the accumulator, in any order. */
kw_fill kw_fill_exact(const kw_problem *problem, uint64_t seed);
/* Real data; integers of the type's full range where the type is an integer type. */
kw_fill kw_fill_real(const kw_problem *problem, uint64_t seed);
/* Fills all of the tensor that step number step of the epilogue reads. What is added is like data, but small; what multiplies is a power of
 * two (exact) or lies in 1/2..1 (real), and the first of these brings results of int8 into their type's range. */
void kw_fill_extra(const kw_fill *fill, const kw_problem *problem, int step, void *memory);
/* Fills elements first..first+count-1 of a tensor into memory. */
void kw_fill_tensor(const kw_fill *fill, const kw_problem *problem, kw_tensor tensor, int64_t first, int64_t count, void *memory);

#endif
