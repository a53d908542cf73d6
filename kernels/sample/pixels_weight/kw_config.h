/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.depthwise_pixels_weight conv_bwd_weight bf16 isa=avx512 math=dp taps_h=2 taps_w=3 stride=2 */
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
#define KW_TAPS_H 2
#define KW_TAPS_W 3
#define KW_STRIDE 2
#define KW_TILE_H 2
#define KW_ROWS 4
#define KW_KEPT 1
#define KW_EACH_X_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define KW_EACH_SUM(DO) DO(a0_0, 0) DO(a0_1, 1) DO(a0_2, 2) DO(a1_0, 3) DO(a1_1, 4) DO(a1_2, 5)
#define KW_FIRST_COLUMNS kw_vf w0_0 = KW_FIRST(x0, x2, 0); kw_vf w1_0 = KW_FIRST(x1, x3, 0);
#define KW_PRODUCTS \
    KW_MULTIPLY(a0_0, w0_0) kw_vf w0_1 = KW_PIXEL(x0, x2, 1); KW_MULTIPLY(a0_1, w0_1) kw_vf w0_2 = KW_PIXEL(x0, x2, 2); KW_MULTIPLY(a0_2, w0_2) w0_0 = w0_2; \
    KW_MULTIPLY(a1_0, w1_0) kw_vf w1_1 = KW_PIXEL(x1, x3, 1); KW_MULTIPLY(a1_1, w1_1) kw_vf w1_2 = KW_PIXEL(x1, x3, 2); KW_MULTIPLY(a1_2, w1_2) w1_0 = w1_2; \

#endif
