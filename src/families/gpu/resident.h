/* resident.h: blocks that a multiprocessor has at a time, for launches that share work among as many as there are. */
#ifndef KW_FAMILIES_GPU_RESIDENT_H
#define KW_FAMILIES_GPU_RESIDENT_H

#include "base/math.h"

/* As many as shared memory and registers leave room for, one at least; no registers where they are not known. CUDA takes 1 KiB of each block's. */
static inline int64_t kw_gpu_resident_blocks(int64_t unit_lds, int64_t block_lds, int64_t unit_registers, int64_t block_registers) {
    enum { RESERVED_LDS = 1024 };
    int64_t blocks = unit_lds / (block_lds + RESERVED_LDS);
    return kw_max(1, unit_registers ? kw_min(blocks, unit_registers / kw_max(1, block_registers)) : blocks);
}

#endif
