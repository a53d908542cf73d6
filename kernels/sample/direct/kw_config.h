/* kw_config.h: a sample for cpu/direct.c, forward, fp32. */
#define KW_BACKWARD 0
#define KW_MERGE 0
#include "../tile.h"
