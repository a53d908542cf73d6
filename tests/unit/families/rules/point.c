/* point.c: examples of the rules of conv.point_block. */
#include "unit/families/rules/examples.h"

#define POINT_AXES "waves=8 rows=16 cols=64 room=32"

static const rule_example point_examples[] = {
    {"", "conv_fwd bf16", "", "sm_90", NULL},
    {"", "conv_bwd_data fp16", "waves=4 rows=32 cols=128 room=112", "sm_80", NULL},
    {"strip", "conv_fwd bf16", "rows=24", NULL, NULL},
    {"strip", "conv_fwd bf16", "cols=24", NULL, NULL},
    {"registers", "conv_fwd bf16", "rows=32 cols=256", NULL, NULL},
    {"registers", "conv_fwd bf16", "waves=16 rows=32 cols=128", NULL, NULL},
    {"arch_mma", "conv_fwd bf16", "", "gfx942", NULL},
    {"arch_mma", "conv_fwd bf16", "", "gfx000", NULL},
    {"lds", "conv_fwd bf16", "room=224", "sm_89", NULL},
    {"", "conv_fwd bf16", "room=224", "sm_90", NULL},
    {"", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n2 c61 k17 i9x11 f1x1 epilogue=bias+relu"},
    {"", "conv_bwd_data bf16", "", "sm_90", "conv_bwd_data bf16 n2 c61 k17 i3x9x11 f1x1x1"},
    {"lds_result", "conv_fwd bf16 out=fp32", "", "sm_90", NULL},
    {"point", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n2 c61 k17 i9x11 f1x2"},
    {"point", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n2 c61 k17 i9x11 f1x1 s1x2"},
    {"point", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n2 c61 k17 i9x11 f1x1 p1x0"},
    {"point", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n2 g2 c62 k18 i9x11 f1x1"},
    {"room", "conv_bwd_data bf16", "", "sm_90", "conv_bwd_data bf16 n2 c61 k117 i9x11 f1x1"},
    {"room", "conv_bwd_data bf16", "", "sm_90", "conv_bwd_data bf16 n2 c1000000007 k1 i9x11 f1x1"},
    {"pixels_counted", "conv_fwd bf16", "", "sm_90", "conv_fwd bf16 n65536 c1 k1 i1024x16 f1x1"},
    {0},
};

const rule_examples conv_point_block_rule_examples = {"conv.point_block", POINT_AXES, point_examples};
