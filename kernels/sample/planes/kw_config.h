/* kw_config.h: a sample, made by tools/make_samples.sh for x86-64-v4-bf16. conv.depthwise_planes conv_fwd bf16 isa=avx512 math=dp vecs=1 planes=2 taps_h=3 taps_w=3 stride=1 */
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
#define KW_VECS 1
#define KW_PLANES 2
#define KW_TAPS_H 3
#define KW_TAPS_W 3
#define KW_STRIDE 1
#define KW_LIVE 3
#define KW_PARTS 2
#define KW_LOADS 4
#define KW_LOAD_STEP 1
#define KW_WEIGHTS 6
#define KW_WEIGHT(number) kw_load(w + (number)*KW_VECTOR)
#define KW_HOLD_WEIGHTS kw_vf w0 = KW_WEIGHT(0); KW_KEEP(w0); kw_vf w1 = KW_WEIGHT(1); KW_KEEP(w1); kw_vf w2 = KW_WEIGHT(2); KW_KEEP(w2); kw_vf w3 = KW_WEIGHT(3); KW_KEEP(w3); kw_vf w4 = KW_WEIGHT(4); KW_KEEP(w4); kw_vf w5 = KW_WEIGHT(5); KW_KEEP(w5);
#define KW_HOLD_MASKS kw_u32 m0_0 = s->masks[0]; kw_u32 m0_1 = s->masks[1]; kw_u32 m0_2 = s->masks[2]; kw_u32 m0_3 = s->masks[3];
#define KW_EACH_SUM(DO) DO(a2_0_0) DO(a2_0_1) DO(a1_0_0) DO(a1_0_1) DO(a0_0_0) DO(a0_0_1)
#define KW_EACH_AGED(DO) DO(a2_0_0, a1_0_0) DO(a2_0_1, a1_0_1) DO(a1_0_0, a0_0_0) DO(a1_0_1, a0_0_1)
#define KW_EACH_NEWEST(DO) DO(a0_0_0) DO(a0_0_1)
#define KW_EACH_DONE(DO) DO(0, a2_0_0, a2_0_1)
#define KW_ROW_0 \
    kw_vf x0; \
    KW_TAKE(x0, m0_0, 0 * KW_BYTES) \
    { kw_vf t = w0; KW_MULTIPLY(a0_0_0, x0, t) } \
    { kw_vf t = w2; KW_MULTIPLY(a1_0_0, x0, t) } \
    { kw_vf t = w4; KW_MULTIPLY(a2_0_0, x0, t) } \
    KW_TAKE(x0, m0_1, 1 * KW_BYTES) \
    { kw_vf t = w0; KW_MULTIPLY(a0_0_1, x0, t) } \
    { kw_vf t = w2; KW_MULTIPLY(a1_0_1, x0, t) } \
    { kw_vf t = w4; KW_MULTIPLY(a2_0_1, x0, t) } \
    KW_TAKE(x0, m0_2, 2 * KW_BYTES) \
    { kw_vf t = w1; KW_MULTIPLY(a0_0_0, x0, t) } \
    { kw_vf t = w3; KW_MULTIPLY(a1_0_0, x0, t) } \
    { kw_vf t = w5; KW_MULTIPLY(a2_0_0, x0, t) } \
    KW_TAKE(x0, m0_3, 3 * KW_BYTES) \
    { kw_vf t = w1; KW_MULTIPLY(a0_0_1, x0, t) } \
    { kw_vf t = w3; KW_MULTIPLY(a1_0_1, x0, t) } \
    { kw_vf t = w5; KW_MULTIPLY(a2_0_1, x0, t) } \

#endif
