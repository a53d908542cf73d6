/* prelude_walk.h: the prelude's walks as numbers, in the order of kw_walk's fields. */
#ifndef KW_TEST_PRELUDE_WALK_H
#define KW_TEST_PRELUDE_WALK_H

#include "prelude/kernel_abi.h"

void prelude_walk_forward(long long numbers[9], const kw_kernel_args *args, int axis);
long long prelude_walks_backward(const kw_kernel_args *args, int axis);
void prelude_walk_backward(long long numbers[9], const kw_kernel_args *args, int axis, long long phase);

#endif
