/* tailor.h: what gemm.mma and conv.igemm say of a problem for which tiles are made (mma_tailor.c). */
#ifndef KW_FAMILIES_GPU_MMA_TAILOR_H
#define KW_FAMILIES_GPU_MMA_TAILOR_H

#include "families/gpu/mma/mma.h"

typedef struct kw_tailor_problem {
    const kw_problem *problem;
    const kw_target *target;
    kw_mma_grid (*grid)(const kw_mma *mma, const kw_problem *problem);
    int64_t cols[2]; /* of the result; and of the turned one */
    bool turns;      /* the turned product has tiles too */
    bool any_size;   /* rows of tensors are no whole runs of 16 bytes */
} kw_tailor_problem;

size_t kw_mma_tailor(const kw_family *family, const kw_tailor_problem *problem, kw_config configs[KW_TAILORED_MAX]);

#endif
