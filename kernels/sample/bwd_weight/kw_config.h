/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.direct_bwd_weight conv_bwd_weight bf16 isa=avx512 math=dp lanes=c tile=2 vecs=1 copy=1 merge=0 box=0 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 1
#define KW_MATH 1
#define KW_PAIR 2
#define KW_BACKWARD 0
#define KW_OUT 1
#define KW_X_UNSIGNED 0
#define KW_CHANNELS_FIRST 0
#define KW_X_ZERO 0
#define KW_W_ZERO 0
#define KW_EPILOGUE_WHOLE 0
#define KW_EPILOGUE 0
#define KW_EPILOGUE_LONG 0
#define KW_EPILOGUE_PLACED 0
#define KW_ROW_GROUPS 0
#include "prelude/cpu.h"
#define KW_LANES_C 1
#define KW_TILE 2
#define KW_VECS 1
#define KW_COPY 1
#define KW_MERGE 0
#define KW_OWN 0
#define KW_WAYS 0
#define KW_EACH_ROW(DO) DO(0) DO(1)
#define KW_EACH_VECTOR(DO, row) DO(row, 0)
#define KW_EACH_BUT_LAST(DO, row)
#define KW_LAST_VECTOR(DO, row) DO(row, 0)
#endif
