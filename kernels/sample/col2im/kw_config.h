/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.gemm_col2im conv_bwd_data bf16 isa=avx512 math=dp tile_w=2 vecs=1 band=0 out=fp8 epilogue=tanh,add:fp16,clamp:-1:1 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 1
#define KW_MATH 1
#define KW_PAIR 2
#define KW_BACKWARD 1
#define KW_OUT 3
#define KW_X_UNSIGNED 0
#define KW_CHANNELS_FIRST 0
#define KW_X_ZERO 0
#define KW_W_ZERO 0
#define KW_EPILOGUE_WHOLE 0
#define KW_EPILOGUE 1
#define KW_EPILOGUE_LONG 1
#define KW_EPILOGUE_PLACED 0
#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL) \
    v = F(tanh)(v); \
    v = v + ALL(fp16, 0); \
    v = F(clamp)(v, -1.0f, 1.0f);
#define KW_ROW_GROUPS 0
#include "prelude/cpu.h"
#include "prelude/epilogue_cpu.h"
#define KW_TILE_ROWS 1
#define KW_TILE_COLS 2
#define KW_TILE_VECS 1
#define KW_TILE_ODD 0
#define KW_TILE_SKIP 0
#define KW_TILE_AHEAD 1
#define KW_TILE_SUMS 1
#define KW_TILE_OWN 0
#define KW_EACH_PIXEL(DO) DO(0, 0, p0, 0) DO(1, 1, p0, s1)
#define KW_EACH_BASE(DO) DO(p0, 0, 0)
#define KW_EACH_VECTOR(DO, pixel) DO(pixel, 0)
#define KW_EACH_BUT_LAST(DO, pixel)
#define KW_EACH_PAIR(DO, TWO, pixel) DO(pixel, 0)
#endif
