/* block.c: examples of the rules of conv.depthwise_block, conv.direct_block and conv.direct_1st_block. */
#include "unit/families/rules/examples.h"

#define DEPTHWISE_AXES                                                                                                                     \
    "ndim=2 dilation=1 filter_d=1 stride_d=1 pad_d=0 tile_h=8 tile_w=8 filter=3 stride=1 pad=1 batch=8 sub_h=2 "                           \
    "sub_w=2 vec_in=2 vec_out=2 order=first"
#define DIRECT_AXES                                                                                                                        \
    "channels=8 impl=grouped tile_h=4 tile_w=16 stride=1 waves_c=1 waves_q=4 slices=1 cols=64 inst_k=16 swizzle=xor store=lds vec=8"
#define DENSE "impl=dense channels=32 waves_q=1 cols=16"
#define WEIGHT "cols=16 swizzle=none store=registers"

static const rule_example depthwise_examples[] = {
    {"", "conv_fwd fp16", "", "gfx942", NULL},
    {"", "conv_fwd fp32", "vec_in=8 vec_out=8 sub_w=4 batch=16", "gfx942", NULL},
    {"", "conv_bwd_weight bf16", "batch=4", "gfx942", NULL},
    {"", "conv_bwd_weight bf16", "batch=2", "sm_90", NULL},
    {"", "conv_fwd fp16", "filter=4 stride=3 pad=0 vec_in=1", "gfx942", NULL},
    {"", "conv_bwd_data bf16", "ndim=1 tile_h=1 sub_h=1 batch=16", "gfx942", NULL},
    {"", "conv_fwd bf16", "ndim=3 filter_d=3 stride_d=2 pad_d=1", "sm_90", NULL},
    {"one_axis", "conv_fwd bf16", "ndim=1", "gfx942", NULL},
    {"three_axes", "conv_fwd bf16", "filter_d=3", "gfx942", NULL},
    {"vector_width", "conv_fwd fp32", "vec_out=16", "gfx942", NULL},
    {"vector_width", "conv_fwd fp16", "vec_in=6", "gfx942", NULL},
    {"sub_in_tile", "conv_fwd fp16", "sub_h=9", "gfx942", NULL},
    {"sums_in_registers", "conv_fwd fp16", "filter=15", "gfx942", NULL},
    {"phases", "conv_bwd_data fp16", "stride=2 sub_h=1", "gfx942", NULL},
    {"read_vectors", "conv_fwd fp16", "vec_in=4", "gfx942", NULL},
    {"weight_runs", "conv_bwd_weight fp16", "vec_out=4 batch=4", "gfx942", NULL},
    {"subtiles", "conv_fwd fp16", "sub_h=1 sub_w=1 vec_in=1 batch=1", "sm_90", NULL},
    {"batch", "conv_fwd fp16", "batch=6", "gfx942", NULL},
    {"batch", "conv_bwd_weight fp16", "batch=8", "gfx942", NULL},
    {"plane_runs", "conv_fwd fp16", "order=last vec_in=16", "gfx942", NULL},
    {"lds", "conv_fwd fp16", "tile_h=64 tile_w=64 sub_h=8 sub_w=8 stride=4 batch=1", "gfx942", NULL},
    {"", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 g8 c8 k8 i8x8 f3x3 p1x1"},
    {"", "conv_bwd_weight bf16", "batch=4", "gfx942", "conv_bwd_weight bf16 ngchw n2 g8 c8 k8 i8x8 f3x3 p1x1 filter=crsk epilogue=add+add"},
    {"turned_extras", "conv_bwd_weight bf16", "batch=4", "gfx942",
     "conv_bwd_weight bf16 ngchw n2 g8 c8 k8 i8x8 f3x3 p1x1 filter=crsk epilogue=add+add+add"},
    {"one_channel_groups", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 g4 c8 k8 i8x8 f3x3 p1x1"},
    {"order", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 nhwgc n2 g8 c8 k8 i8x8 f3x3 p1x1"},
    {"geometry", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 g8 c8 k8 i8x8 f5x5 p1x1"},
    {"vectors_divide", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 g8 c8 k8 i9x9 f3x3 p1x1"},
    {"image_counted", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 g8 c8 k8 i32768x32770 f3x3 p1x1"},
    {0},
};

static const rule_example direct_examples[] = {
    {"", "conv_fwd bf16", "", "gfx942", NULL},
    {"", "conv_bwd_data fp16", "inst_k=8", "sm_90", NULL},
    {"", "conv_fwd bf16 out=fp16", "", "gfx942", NULL},
    {"", "conv_fwd bf16 out=fp32", "store=registers", "gfx942", NULL},
    {"lds_result", "conv_fwd bf16 out=fp32", "", "gfx942", NULL},
    {"group_width", "conv_fwd bf16", "channels=12", "gfx942", NULL},
    {"", "conv_bwd_data bf16", "stride=2 tile_h=8 tile_w=32", "gfx942", NULL},
    {"", "conv_fwd bf16", DENSE, "gfx942", NULL},
    {"", "conv_fwd fp16", "slices=3 cols=8 store=registers " DENSE, "sm_90", NULL},
    {"", "conv_bwd_data bf16", "stride=2 tile_w=32 vec=4 " DENSE, "gfx1100", NULL},
    {"", "conv_bwd_weight bf16", WEIGHT, "gfx942", NULL},
    {"", "conv_bwd_weight fp16", "channels=32 stride=2 waves_c=4 " WEIGHT, "sm_90", NULL},
    {"weight_form", "conv_bwd_weight bf16", "", "gfx942", NULL},
    {"weight_form", "conv_bwd_weight bf16", "channels=32 waves_c=2 " WEIGHT, "gfx942", NULL},
    {"weight_pixels", "conv_bwd_weight bf16", "tile_h=16 tile_w=6 waves_q=1 " WEIGHT, "gfx942", NULL},
    {"tile_by_waves", "conv_bwd_weight bf16", "tile_h=5 " WEIGHT, "gfx942", NULL},
    {"grouped_wave", "conv_fwd bf16", "cols=32", "gfx942", NULL},
    {"grouped_wave", "conv_fwd bf16", "slices=2", "gfx942", NULL},
    {"dense_slices", "conv_fwd bf16", "impl=dense waves_q=1 cols=16", "gfx942", NULL},
    {"dense_columns", "conv_fwd bf16", "impl=dense waves_q=1 channels=32", "gfx942", NULL},
    {"wave_columns", "conv_fwd bf16", "cols=8 " DENSE, "gfx942", NULL},
    {"filter_registers", "conv_fwd bf16", "slices=2 " DENSE, "gfx1100", NULL},
    {"filter_registers", "conv_fwd bf16", "slices=4 cols=8 " DENSE, "sm_90", NULL},
    {"filter_registers", "conv_fwd bf16", "waves_c=16 slices=2 " DENSE, "sm_90", NULL},
    {"whole_phases", "conv_bwd_data bf16", "stride=2 tile_h=7 tile_w=32", "gfx942", NULL},
    {"tile_by_waves", "conv_bwd_data bf16", "stride=2", "gfx942", NULL},
    {"tile_by_waves", "conv_fwd bf16", "waves_q=2 " DENSE, "gfx942", NULL},
    {"lds", "conv_fwd bf16", "waves_c=8 slices=3 " DENSE, "gfx942", NULL},
    {"tile_by_waves", "conv_fwd bf16", "tile_w=12", "gfx942", NULL},
    {"vector_width", "conv_fwd bf16", "vec=16", "gfx942", NULL},
    {"arch_instruction", "conv_fwd bf16", "inst_k=8", "gfx942", NULL},
    {"block_threads", "conv_fwd bf16", "tile_w=64 waves_q=16 waves_c=2", "gfx942", NULL},
    {"registers", "conv_fwd bf16", "tile_h=32 waves_q=1 channels=32", "sm_90", NULL},
    {"lds", "conv_fwd bf16", "tile_w=64 waves_q=8 waves_c=2", "gfx942", NULL},
    {"known_arch", "conv_fwd bf16", "", "gfx000", NULL},
    {"", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 g8 c64 k64 i8x8 f3x3 p1x1"},
    {"two_axes", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 ndhwgc n2 g8 c64 k64 i1x8x8 f1x3x3 p0x1x1"},
    {"", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 ngchw n2 g8 c64 k64 i8x8 f3x3 p1x1 epilogue=add+multiply"},
    {"turned_extras", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 ngchw n2 g8 c64 k64 i8x8 f3x3 p1x1 epilogue=add+multiply+add"},
    {"filter", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 g8 c64 k64 i8x8 f3x3 s2x2"},
    {"dense_channels", "conv_fwd bf16", DENSE, "gfx942", "conv_fwd bf16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1"},
    {"group_channels", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 g4 c64 k64 i8x8 f3x3 p1x1"},
    {"vectors_divide", "conv_fwd bf16", DENSE, "gfx942", "conv_fwd bf16 nhwgc n2 c28 k64 i8x8 f3x3 p1x1"},
    {"image_counted", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc g8 c64 k64 i8192x8192 f3x3 p1x1"},
    {0},
};

#define DIRECT_1ST_AXES "tile_h=8 tile_w=32 waves=4 cols=64 inst_k=16 patch=16 vec_in=2 vec=8"

static const rule_example direct_1st_block_examples[] = {
    {"", "conv_fwd bf16", "", "gfx942", NULL},
    {"", "conv_fwd fp16 out=fp32", "cols=48 vec_in=8 vec=1", "sm_90", NULL},
    {"pixels_by_waves", "conv_fwd bf16", "tile_w=30", "gfx942", NULL},
    {"vector_width", "conv_fwd bf16", "vec=3", "gfx942", NULL},
    {"vector_width", "conv_fwd bf16", "vec_in=16", "gfx942", NULL},
    {"whole_columns", "conv_fwd bf16", "cols=60", "gfx942", NULL},
    {"known_arch", "conv_fwd bf16", "", "gfx000", NULL},
    {"arch_instruction", "conv_fwd bf16", "inst_k=8", "gfx942", NULL},
    {"wave_columns", "conv_fwd bf16", "cols=24", "gfx942", NULL},
    {"registers", "conv_fwd bf16", "tile_h=16", "sm_90", NULL},
    {"lds", "conv_fwd bf16", "patch=64", "gfx942", NULL},
    {"", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 c3 k64 i9x8 f7x7 s2x2 p3x3"},
    {"turned_extras", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 ngchw n2 c3 k64 i9x8 f3x3 p1x1 epilogue=add+multiply+add"},
    {"two_axes", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 ndhwgc n2 c3 k64 i1x8x8 f1x3x3 p0x1x1"},
    {"one_group", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 g2 c6 k64 i8x8 f3x3 p1x1"},
    {"depth_listed", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 c114 k64 i8x8 f3x3 p1x1"},
    {"patch", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 c4 k64 i64x64 f7x7 s4x4 p3x3"},
    {"vectors_divide", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 c3 k64 i9x9 f3x3 p1x1"},
    {"vectors_divide", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc n2 c3 k60 i8x8 f3x3 p1x1"},
    {"image_counted", "conv_fwd bf16", "", "gfx942", "conv_fwd bf16 nhwgc c4 k64 i8192x8192 f3x3 p1x1"},
    {0},
};

const rule_examples depthwise_block_rule_examples = {"conv.depthwise_block", DEPTHWISE_AXES, depthwise_examples};
const rule_examples direct_block_rule_examples = {"conv.direct_block", DIRECT_AXES, direct_examples};
const rule_examples direct_1st_block_rule_examples = {"conv.direct_1st_block", DIRECT_1ST_AXES, direct_1st_block_examples};
