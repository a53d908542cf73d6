/* prelude_walk.c: the walk functions of kernel text, compiled as kernels see them, for test_walk.c. The prelude and the library each
 * have a type kw_walk, so they meet as nine numbers. */
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 0
#define KW_MATH 0
#include "prelude/kernel_abi.h"
/* Kernel text is compiled without the library's warnings. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpsabi"
#include "prelude/cpu.h"
#pragma GCC diagnostic pop

#include "prelude_walk.h"

static void give(long long numbers[9], kw_walk walk) {
    numbers[0] = walk.pixels;
    numbers[1] = walk.out_start;
    numbers[2] = walk.out_step;
    numbers[3] = walk.src_start;
    numbers[4] = walk.src_step;
    numbers[5] = walk.taps;
    numbers[6] = walk.tap_src_step;
    numbers[7] = walk.tap_start;
    numbers[8] = walk.tap_step;
}

void prelude_walk_forward(long long numbers[9], const kw_kernel_args *args, int axis) {
    give(numbers, kw_walk_forward(args, axis));
}

long long prelude_walks_backward(const kw_kernel_args *args, int axis) {
    return kw_walks_backward(args, axis);
}

void prelude_walk_backward(long long numbers[9], const kw_kernel_args *args, int axis, long long phase) {
    give(numbers, kw_walk_backward(args, axis, phase));
}
