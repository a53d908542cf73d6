/* args.h of cpu/rows: what launch() of conv.depthwise_rows hands to rows.c. */
#ifndef KW_ROWS_ARGS_H
#define KW_ROWS_ARGS_H

#include "cpu/lib/sizes.h"

typedef struct kw_rows_params {
    kw_i64 planes; /* groups over planes of a unit, rounded up */
} kw_rows_params;

KW_PARAMS_FIT(kw_rows_params);

#endif
