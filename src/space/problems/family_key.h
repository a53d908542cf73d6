/* family_key.h: what makes problems a family. The classes of the published targeted sampling: filter 1, to 3, beyond; extent to 4, 16, 64,
 * beyond; the lesser channels to 16, 64, 256, beyond; dense, grouped or depthwise; and besides, what that sampling does not have: direction,
 * spatial axes, stride and dilation. GEMM: m, n and k each 1, to 32, to 512, beyond. Types and layouts play no part. */
#ifndef KW_SPACE_PROBLEMS_FAMILY_KEY_H
#define KW_SPACE_PROBLEMS_FAMILY_KEY_H

#include "base/text.h"

#include <kernelwright.h>

/* Fewer than 64 characters, as in "conv_fwd 2 f1 s0 d0 dense i3 c2". */
void kw_family_key(kw_line *key, const kw_problem *problem);

#endif
