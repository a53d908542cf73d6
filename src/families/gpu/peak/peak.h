/* peak.h: kernels that measure what a GPU does at most (kernels/gpu/peak/peak.c). The family is in no table: it serves no problem, so that
 * neither rules nor users meet it; whoever measures makes its config here. */
#ifndef KW_FAMILIES_GPU_PEAK_H
#define KW_FAMILIES_GPU_PEAK_H

#include "config/family.h"
#include "config/arch/gpu_arch.h"

/* Multiplies of a type: by the widest matrix instruction of the architecture (fp32 on NVIDIA: by multiply-adds, as its kernels do). false
 * where it has none. */
bool kw_peak_math(kw_config *config, const kw_gpu_arch *arch, kw_dtype dtype);
void kw_peak_copy(kw_config *config);
/* So many blocks; count: turns of the loop of matrix instructions, or pieces of 16 bytes to copy. */
kw_launch kw_peak_launch(int64_t blocks, int64_t count);
/* Operations of one block in so many turns. */
double kw_peak_flops(const kw_config *config, const kw_gpu_arch *arch, int64_t turns);

#endif
