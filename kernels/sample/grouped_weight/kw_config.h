/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v3. conv.depthwise_weight conv_bwd_weight fp32 isa=avx2 math=fma tile_h=1 tile_w=1 taps_h=1 taps_w=3 stride=1 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 8
#define KW_MASKS 0
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
#define KW_TILE_H 1
#define KW_TILE_W 1
#define KW_TAPS_H 1
#define KW_TAPS_W 3
#define KW_STRIDE 1
#define KW_ROWS 1
#define KW_COLS 3
#define KW_SRC_GROUP 1
#define KW_DST_GROUP 1
#define KW_STAGED 0
#define KW_REACH 0
#define KW_LANES_C 0
#define KW_STEPS 1
#define KW_STEP_VECTORS 3
#define KW_MIXES 0
#define KW_EACH_SUM(DO) DO(a0_0, 0) DO(a0_1, 1) DO(a0_2, 2)
#define KW_MULTIPLY \
        kw_vf x; \
        kw_vf b0_0 = kw_load_x(dst + to[0]); \
        KW_KEEP(b0_0); \
        x = kw_load_x(src + from[1]) KW_LESS_ZERO; \
        a0_0 = kw_fma(a0_0, x, b0_0); \
        x = kw_load_x(src + from[2]) KW_LESS_ZERO; \
        a0_1 = kw_fma(a0_1, x, b0_0); \
        x = kw_load_x(src + from[3]) KW_LESS_ZERO; \
        a0_2 = kw_fma(a0_2, x, b0_0);
#endif
