/* filter_copies.h: kernels know filters in the order of their layout. What a problem has in another order (kw_problem.filter_order) is
 * copied, by stages of their own around the kernel's. */
#ifndef KW_CONFIG_LAUNCH_FILTER_COPIES_H
#define KW_CONFIG_LAUNCH_FILTER_COPIES_H

#include "config/family.h"
#include "problem/tensors/filter.h"

enum { KW_FILTER_COPY_ROWS = 16 }; /* output channels of a unit */

/* Adds the stages to a launch of a CPU. */
void kw_filter_copies_add(kw_launch *launch, const kw_problem *problem);

/* A tensor of w's shape: a kw_tensor, or KW_TENSOR_COUNT and the number of one of the epilogue's. */
typedef struct kw_filter_tensor {
    int32_t tensor, bytes; /* of an element */
} kw_filter_tensor;
/* Those that are read before the kernel's own stages: w, or of a weight gradient what its epilogue reads of the result's shape. */
int kw_filter_tensors_in(kw_filter_tensor tensors[KW_EXTRA_MAX], const kw_problem *problem);

#endif
