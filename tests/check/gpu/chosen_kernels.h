/* chosen_kernels.h: which of its kernels a test checks. All, unless the environment says otherwise: KW_CHECK_KERNELS=FILE takes those whose
 * "ARCH CONFIG" is a line of the file; KW_CHECK_LIST=1 none, and prints "kernel ARCH FLOPS CONFIG" for each instead, with what its problems
 * take together. tools/mutate asks for both. */
#ifndef KW_TESTS_CHECK_GPU_CHOSEN_KERNELS_H
#define KW_TESTS_CHECK_GPU_CHOSEN_KERNELS_H

#include "config/config.h"

/* Whether some kernels are left out, so that what all of them reach together says nothing. */
bool chosen_kernels_are_some(void);
/* Whether to check the kernel. flops: of all its problems. */
bool chosen_kernels_has(const char *arch, const kw_config *config, double flops);

#endif
