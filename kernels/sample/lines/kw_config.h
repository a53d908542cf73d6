/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.depthwise_lines conv_fwd bf16 isa=avx512 math=dp tile_h=2 taps_h=2 stride=1 */
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
#define KW_STRIDE 1
#define KW_LINES 2
#define KW_WORDS 3
#define KW_LINE_WORDS 3056
#define KW_PLANE_WORDS 3056
#define KW_EACH_SUM(DO) DO(a0, 0) DO(a1, 1)
#define KW_COLUMN kw_vf t; \
    kw_vf w0 = KW_WEIGHT(0); KW_KEEP(w0); \
    kw_vf w1 = KW_WEIGHT(1); KW_KEEP(w1); \
    kw_vf w2 = KW_WEIGHT(2); KW_KEEP(w2); \
    t = KW_WORDS_OF(0); KW_MULTIPLY(a0, t, w1) KW_MULTIPLY(a1, KW_LATER(t), w0) \
    t = KW_WORDS_OF(1); KW_MULTIPLY(a1, KW_EARLIER(t), w2) \

#endif
