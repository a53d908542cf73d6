/* kw_config.h: a sample for cpu/gemm.c, a GEMM in fp32. */
#define KW_BACKWARD 0
#define KW_POINTWISE 0
#include "../tile.h"
