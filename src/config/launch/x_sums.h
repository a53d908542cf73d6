/* x_sums.h: weights with zero points on a CPU. The sum of (x - zx) (w - zw) is that of (x - zx) w, which kernels form as they do without, less zw
 * times the sum of x - zx over the same products. That is one number for each pixel or row and group of the result, whatever its channel: stages
 * in front of the kernel's own make them, of x as it is, and the kernel takes zw times them off as it stores (prelude/epilogue_cpu.h). So
 * packed weights are the same for all zero points. */
#ifndef KW_CONFIG_LAUNCH_X_SUMS_H
#define KW_CONFIG_LAUNCH_X_SUMS_H

#include "config/family.h"

enum { KW_X_SUMS_ROWS = 64 }; /* pixels or rows of a unit */

/* Whether a filter takes more than one pixel, or not each: then a second stage adds the sums of its taps. */
bool kw_x_sums_have_windows(const kw_problem *problem);
void kw_x_sums_add(kw_launch *launch, const kw_problem *problem);

#endif
