/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4. conv.direct conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 vecs=1 band=0 edge=skip */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 0
#define KW_MATH 0
#define KW_PAIR 1
#define KW_BACKWARD 0
#define KW_OUT 0
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
#define KW_MERGE 0
#define KW_TILE_ROWS 1
#define KW_TILE_COLS 2
#define KW_TILE_VECS 1
#define KW_TILE_ODD 0
#define KW_TILE_SKIP 1
#define KW_TILE_AHEAD 0
#define KW_TILE_SUMS 0
#define KW_TILE_OWN 0
#define KW_EACH_PIXEL(DO) DO(0, 0, p0, 0) DO(1, 1, p0, s1)
#define KW_TILE_GROUP 1
#define KW_FIRST_COLUMN 0x1u
#define KW_GROUP_0(DO) DO(0, 0, p0, 0)
#define KW_GROUP_1(DO) DO(1, 1, p0, s1)
#define KW_EACH_GROUP(DO) DO(0x1u, KW_GROUP_0) DO(0x2u, KW_GROUP_1)
#define KW_EACH_BASE(DO) DO(p0, 0, 0)
#define KW_EACH_VECTOR(DO, pixel) DO(pixel, 0)
#define KW_EACH_BUT_LAST(DO, pixel)
#define KW_EACH_PAIR(DO, TWO, pixel) DO(pixel, 0)
#endif
