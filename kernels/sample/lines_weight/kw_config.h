/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.depthwise_lines_weight conv_bwd_weight bf16 isa=avx512 math=dp tile_h=2 taps_h=2 columns=2 stride=2 */
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
#define KW_TILE_H 2
#define KW_TAPS_H 2
#define KW_COLUMNS 2
#define KW_STRIDE 2
#define KW_LINES 2
#define KW_RESULTS 1
#define KW_LINE_WORDS 2032
#define KW_PLANE_WORDS 1008
#define KW_EACH_SUM(DO) DO(a0_0, 0) DO(a0_1, 1) DO(a1_0, 2) DO(a1_1, 3)
#define KW_HOLD_RESULTS kw_vf y0 = KW_RESULT_OF(0); KW_KEEP(y0); kw_vf z0 = KW_TURNED(y0);
#define KW_COLUMNS_OF kw_vf t; \
    kw_vf p0_0 = KW_WORDS_OF(0, 0); KW_MULTIPLY(a0_0, p0_0, y0) \
    kw_vf p0_1 = KW_WORDS_OF(0, 1); KW_MULTIPLY(a0_1, p0_1, y0) \
    kw_vf p1_0 = KW_WORDS_OF(1, 0); KW_MULTIPLY(a1_0, p1_0, y0) \
    kw_vf p1_1 = KW_WORDS_OF(1, 1); KW_MULTIPLY(a1_1, p1_1, y0) \

#endif
