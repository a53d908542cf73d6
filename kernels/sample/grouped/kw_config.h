/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4. conv.depthwise conv_fwd fp32 isa=avx512 math=fma tile_h=1 tile_w=2 taps_h=1 taps_w=3 stride=1 block=0 out=int8 epilogue=scale_channel:fp32,leaky_relu,multiply:int8 */
#ifndef KW_CONFIG_H
#define KW_CONFIG_H
#include "prelude/kernel_abi.h"
#define KW_LANES 16
#define KW_MASKS 1
#define KW_STORAGE 0
#define KW_MATH 0
#define KW_PAIR 1
#define KW_BACKWARD 0
#define KW_OUT 5
#define KW_X_UNSIGNED 0
#define KW_CHANNELS_FIRST 0
#define KW_X_ZERO 0
#define KW_W_ZERO 0
#define KW_EPILOGUE_WHOLE 0
#define KW_EPILOGUE 1
#define KW_EPILOGUE_LONG 0
#define KW_EPILOGUE_PLACED 1
#define KW_EPILOGUE_STEPS(v, F, ONE, CHANNEL, ROW, ALL) \
    v = v * CHANNEL(fp32, 0); \
    v = F(leaky_relu)(v, 0.01f); \
    v = v * ALL(int8, 1);
#define KW_ROW_GROUPS 0
#include "prelude/cpu.h"
#include "prelude/epilogue_cpu.h"
#define KW_TILE_H 1
#define KW_TILE_W 2
#define KW_TAPS_H 1
#define KW_TAPS_W 3
#define KW_STRIDE 1
#define KW_ROWS 1
#define KW_COLS 4
#define KW_SRC_GROUP 1
#define KW_DST_GROUP 1
#define KW_STAGED 0
#define KW_REACH 0
#define KW_LANES_C 0
#define KW_STEPS 1
#define KW_STEP_VECTORS 3
#define KW_MIXES 0
#define KW_EACH_SUM(DO) DO(a0_0, 0) DO(a0_1, 1)
#define KW_MULTIPLY \
        kw_vf x; \
        kw_vf b0_0 = kw_load(w + 0 * KW_VECTOR) KW_LESS_W_ZEROS; \
        KW_KEEP(b0_0); \
        kw_vf b0_1 = kw_load(w + 1 * KW_VECTOR) KW_LESS_W_ZEROS; \
        KW_KEEP(b0_1); \
        kw_vf b0_2 = kw_load(w + 2 * KW_VECTOR) KW_LESS_W_ZEROS; \
        KW_KEEP(b0_2); \
        x = kw_load_x(src + from[1]) KW_LESS_ZERO; \
        a0_0 = kw_fma(a0_0, x, b0_0); \
        x = kw_load_x(src + from[2]) KW_LESS_ZERO; \
        a0_0 = kw_fma(a0_0, x, b0_1); \
        a0_1 = kw_fma(a0_1, x, b0_0); \
        x = kw_load_x(src + from[3]) KW_LESS_ZERO; \
        a0_0 = kw_fma(a0_0, x, b0_2); \
        a0_1 = kw_fma(a0_1, x, b0_1); \
        x = kw_load_x(src + from[4]) KW_LESS_ZERO; \
        a0_1 = kw_fma(a0_1, x, b0_2);
#endif
