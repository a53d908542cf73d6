/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.depthwise_rows conv_fwd bf16 isa=avx512 math=dp image=7 planes=2 taps=3 stride=1 */
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
#define KW_IMAGE 7
#define KW_PLANES 2
#define KW_TAPS 3
#define KW_STRIDE 1
#define KW_LOADS 4
#define KW_LOAD_STEP 1
#define KW_WEIGHTS 6
#define KW_HELD 1
#define KW_WEIGHT(number) kw_load(w + (number)*KW_VECTOR)
#define KW_HOLD_WEIGHTS kw_vf w0 = spread_weight(w + 0); KW_KEEP(w0); kw_vf w1 = spread_weight(w + 8); KW_KEEP(w1); kw_vf w2 = spread_weight(w + 16); KW_KEEP(w2); kw_vf w3 = spread_weight(w + 24); KW_KEEP(w3); kw_vf w4 = spread_weight(w + 32); KW_KEEP(w4); kw_vf w5 = spread_weight(w + 40); KW_KEEP(w5);
#define KW_HOLD_INDEXES KW_INDEX(0) KW_INDEX(1) KW_INDEX(2) KW_INDEX(3)
#define KW_UNIT kw_vf x, a0_0, a0_1, a1_0, a1_1, a2_0, a2_1, a3_0, a3_1, a4_0, a4_1, a5_0, a5_1, a6_0, a6_1; \
    KW_ROW(0) \
    KW_PICK(x, 0) KW_FIRST(a0_0, x, w2) KW_FIRST(a1_0, x, w0) \
    KW_PICK(x, 1) KW_FIRST(a0_1, x, w2) KW_FIRST(a1_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a0_0, x, w3) KW_MULTIPLY(a1_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a0_1, x, w3) KW_MULTIPLY(a1_1, x, w1) \
    KW_ROW(1) \
    KW_PICK(x, 0) KW_MULTIPLY(a0_0, x, w4) KW_MULTIPLY(a1_0, x, w2) KW_FIRST(a2_0, x, w0) \
    KW_PICK(x, 1) KW_MULTIPLY(a0_1, x, w4) KW_MULTIPLY(a1_1, x, w2) KW_FIRST(a2_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a0_0, x, w5) KW_MULTIPLY(a1_0, x, w3) KW_MULTIPLY(a2_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a0_1, x, w5) KW_MULTIPLY(a1_1, x, w3) KW_MULTIPLY(a2_1, x, w1) \
    KW_FINISH(0, a0_0, a0_1) \
    KW_ROW(2) \
    KW_PICK(x, 0) KW_MULTIPLY(a1_0, x, w4) KW_MULTIPLY(a2_0, x, w2) KW_FIRST(a3_0, x, w0) \
    KW_PICK(x, 1) KW_MULTIPLY(a1_1, x, w4) KW_MULTIPLY(a2_1, x, w2) KW_FIRST(a3_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a1_0, x, w5) KW_MULTIPLY(a2_0, x, w3) KW_MULTIPLY(a3_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a1_1, x, w5) KW_MULTIPLY(a2_1, x, w3) KW_MULTIPLY(a3_1, x, w1) \
    KW_FINISH(1, a1_0, a1_1) \
    KW_ROW(3) \
    KW_PICK(x, 0) KW_MULTIPLY(a2_0, x, w4) KW_MULTIPLY(a3_0, x, w2) KW_FIRST(a4_0, x, w0) \
    KW_PICK(x, 1) KW_MULTIPLY(a2_1, x, w4) KW_MULTIPLY(a3_1, x, w2) KW_FIRST(a4_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a2_0, x, w5) KW_MULTIPLY(a3_0, x, w3) KW_MULTIPLY(a4_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a2_1, x, w5) KW_MULTIPLY(a3_1, x, w3) KW_MULTIPLY(a4_1, x, w1) \
    KW_FINISH(2, a2_0, a2_1) \
    KW_ROW(4) \
    KW_PICK(x, 0) KW_MULTIPLY(a3_0, x, w4) KW_MULTIPLY(a4_0, x, w2) KW_FIRST(a5_0, x, w0) \
    KW_PICK(x, 1) KW_MULTIPLY(a3_1, x, w4) KW_MULTIPLY(a4_1, x, w2) KW_FIRST(a5_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a3_0, x, w5) KW_MULTIPLY(a4_0, x, w3) KW_MULTIPLY(a5_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a3_1, x, w5) KW_MULTIPLY(a4_1, x, w3) KW_MULTIPLY(a5_1, x, w1) \
    KW_FINISH(3, a3_0, a3_1) \
    KW_ROW(5) \
    KW_PICK(x, 0) KW_MULTIPLY(a4_0, x, w4) KW_MULTIPLY(a5_0, x, w2) KW_FIRST(a6_0, x, w0) \
    KW_PICK(x, 1) KW_MULTIPLY(a4_1, x, w4) KW_MULTIPLY(a5_1, x, w2) KW_FIRST(a6_1, x, w0) \
    KW_PICK(x, 2) KW_MULTIPLY(a4_0, x, w5) KW_MULTIPLY(a5_0, x, w3) KW_MULTIPLY(a6_0, x, w1) \
    KW_PICK(x, 3) KW_MULTIPLY(a4_1, x, w5) KW_MULTIPLY(a5_1, x, w3) KW_MULTIPLY(a6_1, x, w1) \
    KW_FINISH(4, a4_0, a4_1) \
    KW_ROW(6) \
    KW_PICK(x, 0) KW_MULTIPLY(a5_0, x, w4) KW_MULTIPLY(a6_0, x, w2) \
    KW_PICK(x, 1) KW_MULTIPLY(a5_1, x, w4) KW_MULTIPLY(a6_1, x, w2) \
    KW_PICK(x, 2) KW_MULTIPLY(a5_0, x, w5) KW_MULTIPLY(a6_0, x, w3) \
    KW_PICK(x, 3) KW_MULTIPLY(a5_1, x, w5) KW_MULTIPLY(a6_1, x, w3) \
    KW_FINISH(5, a5_0, a5_1) \
    KW_FINISH(6, a6_0, a6_1) \

#endif
