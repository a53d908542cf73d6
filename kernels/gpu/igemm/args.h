/* args.h of gpu/igemm: what launch() of conv.igemm hands to igemm.c. */
#ifndef KW_IGEMM_ARGS_H
#define KW_IGEMM_ARGS_H

#include "gpu/lib/work_params.h"

typedef struct kw_igemm_params {
    kw_work_params work;
    kw_i64 piece_rows; /* with split_image=1, positions of the result's first axis that a piece of the image has */
} kw_igemm_params;

KW_PARAMS_FIT(kw_igemm_params);

#endif
