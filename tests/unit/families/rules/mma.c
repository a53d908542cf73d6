/* mma.c: examples of the rules of conv.igemm and gemm.mma. */
#include "unit/families/rules/examples.h"

#define IGEMM_AXES                                                                                                                         \
    "ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 pipe=compv3 "                         \
    "sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "                        \
    "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32"
#define GEMM_AXES                                                                                                                          \
    "layout=rcr tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 pipe=compv3 "                     \
    "sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=1 preshuffle=0 wave_groups=1 "                    \
    "persistent=0 split_k=1 streamk=off index=32"
#define BULK "pipe=tma stages=4 wave_m=4 wave_n=1 inst_m=64 inst_n=128 "
#define GROUPS "wave_m=4 wave_n=1 inst_m=64 inst_n=128 "

#define COOPERATIVE "pipe=cooperative stages=4 wave_m=8 wave_n=1 inst_m=64 inst_n=128 persistent=1 "
#define PLANES "spec=filter1x1_stride1_pad0 " COOPERATIVE
#define PINGPONG "pipe=pingpong stages=6 wave_m=4 wave_n=1 inst_m=64 inst_n=128 persistent=1 wave_groups=2 "
#define SINGLES "vec_a=1 vec_b=1 vec_c=1 "
#define TURNED                                                                                                                             \
    "pipe=pingpong epi=turned tile_m=16 tile_n=64 stages=8 wave_m=4 wave_n=1 inst_m=64 inst_n=16 vec_c=1 persistent=1 wave_groups=2 "

#define BYTES                                                                                                                              \
    "layout=crr tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=32 pipe=compv3 sched=intrawave "      \
    "vec_a=16 vec_b=16 vec_c=8"
#define PHASES                                                                                                                             \
    "tile_m=16 tile_n=64 tile_k=32 wave_m=1 wave_n=2 wave_k=1 inst_m=16 inst_n=8 inst_k=4 pipe=basic_v1 sched=intrawave vec_a=1 vec_b=4 "  \
    "vec_c=4"

static const rule_example igemm_examples[] = {
    {"", "conv_fwd fp16", "", "gfx942", NULL},
    {"", "conv_bwd_data fp16", "", "gfx942", NULL},
    {"", "conv_bwd_weight fp16", "split_k=0", "gfx942", NULL},
    {"", "conv_fwd fp16", "tile_m=64 tile_n=64 inst_m=16 inst_n=8 inst_k=16", "sm_90", NULL},
    {"bulk_operands", "conv_fwd fp16", BULK, "sm_90", NULL},
    {"", "conv_fwd fp16", "explicit=1 spec=filter1x1_stride1_pad0 " BULK, "sm_90", NULL},
    {"", "conv_fwd fp16", "pipe=gather stages=4 " GROUPS, "sm_90", NULL},
    {"gather_operands", "conv_fwd fp16", "pipe=gather stages=4 vec_b=4 " GROUPS, "sm_90", NULL},
    {"", "conv_fwd fp16", COOPERATIVE, "sm_90", NULL},
    {"", "conv_bwd_data fp16", PINGPONG, "sm_90", NULL},
    {"", "conv_bwd_weight fp16", "split_k=0 " COOPERATIVE, "sm_90", NULL},
    {"", "conv_fwd fp16", "split_k=0 " COOPERATIVE, "sm_90", NULL},
    {"", "conv_bwd_data fp16", "split_k=4 " PINGPONG, "sm_90", NULL},
    {"split_direction", "conv_fwd fp16", "split_k=0 pipe=gather stages=4 " GROUPS, "sm_90", NULL},
    {"", "conv_bwd_data fp16 out=fp32", COOPERATIVE, "sm_90", NULL},
    {"overlap_epilogue", "conv_bwd_data fp16 out=fp32", "vec_a=1 vec_b=1 vec_c=1 " COOPERATIVE, "sm_90", NULL},
    {"overlap_image", "conv_fwd fp16", "explicit=1 spec=filter1x1_stride1_pad0 " COOPERATIVE, "sm_90", NULL},
    {"overlap_image", "conv_bwd_weight fp16", "two_stage=1 " COOPERATIVE, "sm_90", NULL},
    {"overlap_image", "conv_fwd fp16", "spec=filter1x1_stride1_pad0 " SINGLES COOPERATIVE, "sm_90", NULL},
    {"lds_stages", "conv_fwd fp16", "stages=3", "gfx942", NULL},
    {"tile_by_waves", "conv_fwd fp16", "tile_m=96", "gfx942", NULL},
    {"instruction_shape", "conv_fwd fp16", "inst_m=4 inst_n=64", "gfx942", NULL},
    {"interwave", "conv_fwd fp16", "sched=interwave", "gfx942", NULL},
    {"two_lds_stages", "conv_fwd fp16", "pipe=compv4", "gfx942", NULL},
    {"one_lds_stage", "conv_fwd fp16", "pipe=basic_v1 stages=2", "gfx942", NULL},
    {"compv6_depth", "conv_fwd fp16", "pipe=compv6 tile_k=32", "gfx942", NULL},
    {"wave_groups", "conv_fwd fp16", "wave_groups=2", "gfx942", NULL},
    {"vector_width", "conv_fwd fp16", "vec_a=6", "gfx942", NULL},
    {"vector_of_result", "conv_fwd fp16", "tile_m=128 tile_n=8 wave_n=1 inst_m=16 inst_n=8 vec_c=16", "sm_90", NULL},
    {"streamk_split", "conv_bwd_weight fp16", "streamk=tree split_k=0", "gfx942", NULL},
    {"async_vectors", "conv_bwd_weight fp16", "pipe=basic_async_v1 vec_a=1 split_k=0", "gfx942", NULL},
    {"index_width", "conv_fwd fp16", "index=48", "gfx942", NULL},
    {"backward_pipe", "conv_bwd_data fp16", "pipe=compv5 wave_groups=2", "gfx942", NULL},
    {"streamk_direction", "conv_fwd fp16", "streamk=tree", "gfx942", NULL},
    {"persistent", "conv_bwd_weight fp16", "persistent=1", "gfx942", NULL},
    {"two_stage", "conv_fwd fp16", "two_stage=1", "gfx942", NULL},
    {"split_direction", "conv_fwd fp16", "split_k=4", "gfx942", NULL},
    {"explicit", "conv_fwd fp16", "explicit=1", "gfx942", NULL},
    {"merge_count", "conv_fwd fp16", "merge=3", "gfx942", NULL},
    {"merge_grouped", "conv_fwd fp16", "merge=2 split_image=1", "gfx942", NULL},
    {"async_channels", "conv_fwd fp16", "pipe=basic_async_v1 merge=2", "gfx942", NULL},
    {"filter3x3", "conv_bwd_data fp16", "spec=filter3x3", "gfx942", NULL},
    {"split_image", "conv_bwd_data fp16", "split_image=1", "gfx942", NULL},
    {"arch_waves", "conv_fwd fp16", "", "gfx1100", NULL},
    {"arch_instruction", "conv_fwd fp16", "inst_k=8 inst_m=16 inst_n=16", "gfx942", NULL},
    {"block_threads", "conv_fwd fp16", "tile_m=256 tile_n=256 wave_m=4 wave_n=4 pipe=wavelet", "gfx950", NULL},
    {"threads_share_tiles", "conv_fwd fp16", "tile_m=96 tile_k=16 inst_m=16 inst_n=16 inst_k=16 vec_a=4", "gfx942", NULL},
    {"lds", "conv_fwd fp16", "tile_m=256 tile_n=256 tile_k=128", "gfx942", NULL},
    {"compv6_lds", "conv_fwd fp16", "pipe=compv6 tile_m=256 tile_n=128", "gfx942", NULL},
    {"compv6_vectors", "conv_fwd fp16", "pipe=compv6 tile_m=32 tile_n=16 wave_m=2 wave_n=1 inst_m=16 inst_n=16 inst_k=32 vec_b=16",
     "gfx942", NULL},
    {"arch_async", "conv_bwd_weight fp16", "pipe=basic_async_v1 split_k=0", "gfx90a", NULL},
    {"arch_streamk", "conv_bwd_weight fp16", "tile_m=64 tile_n=64 wave_m=2 wave_n=4 inst_m=16 inst_n=16 inst_k=16 streamk=tree", "gfx1100",
     NULL},
    {"registers", "conv_fwd fp16", "tile_m=256 tile_n=128 inst_m=16 inst_n=8", "sm_90", NULL},
    {"registers", "conv_bwd_data fp32", "ndim=3 " PHASES, "sm_90", NULL},
    {"", "conv_bwd_data fp32", "ndim=1 " PHASES, "sm_90", NULL},
    {"known_arch", "conv_fwd fp16", "", "gfx000", NULL},
    {"", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1"},
    {"", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 c64 k64 i8x8 f3x3 epilogue=add+multiply"},
    {"turned_extras", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ngchw n2 c64 k64 i8x8 f3x3 epilogue=add+multiply+add"},
    {"ndim", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 ndhwgc n2 c64 k64 i8x8x8 f3x3x3"},
    {"few_phases", "conv_bwd_data fp16", "", "gfx942", "conv_bwd_data fp16 nhwgc n1 c64 k64 i128x128 f1x1 s65x65"},
    {"extents_counted", "conv_fwd fp16", "vec_a=1", "gfx942", "conv_fwd fp16 nhwgc n1 c1 k8 i1x1073741824 f1x1"},
    {"sizes_counted", "conv_fwd fp16", "vec_a=1", "gfx942", "conv_fwd fp16 nhwgc n1 c1 k8 i2048x1048576 f1x1"},
    {"vectors_divide", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 nhwgc n2 c60 k64 i8x8 f3x3"},
    {"merge_divides", "conv_fwd fp16", "merge=8", "gfx942", "conv_fwd fp16 nhwgc g4 n2 c32 k32 i8x8 f3x3"},
    {"spec", "conv_fwd fp16", "spec=filter1x1_pad0", "gfx942", "conv_fwd fp16 nhwgc n2 c64 k64 i8x8 f3x3"},
    {"index_reaches", "conv_fwd fp16", "", "gfx942", "conv_fwd fp16 nhwgc n1 c8 k8 i16384x16384 f1x1"},
    {"image_pieces", "conv_fwd fp16", "split_image=1", "gfx942", "conv_fwd fp16 nhwgc n1 c32768 k8 i9x32768 f1x1"},
    {"", "conv_bwd_data fp16", COOPERATIVE, "sm_90", "conv_bwd_data fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1"},
    {"", "conv_bwd_data fp16", COOPERATIVE, "sm_90", "conv_bwd_data fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 s4x4 d2x2"},
    {"image_walk", "conv_bwd_data fp16", COOPERATIVE, "sm_90", "conv_bwd_data fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 s5x4"},
    {"", "conv_bwd_data fp16", "vec_a=1 vec_b=1 vec_c=1 " COOPERATIVE, "sm_90", "conv_bwd_data fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 s5x4"},
    {"image_walk", "conv_fwd fp16", COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 g2 c64 k64 i8x8 f3x3 p1x1"},
    {"", "conv_fwd fp16", COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 g2 c128 k256 i8x8 f3x3 p1x1"},
    {"image_walk", "conv_fwd fp16", SINGLES COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 g2 c128 k256 i8x8 f3x3 p1x1"},
    {"image_walk", "conv_fwd fp16", COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 c64 k64 i18x18 f1x1 s9x9"},
    {"image_walk", "conv_fwd fp16", COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 c64 k64 i300x300 f3x3 d128x128"},
    {"", "conv_fwd fp16", COOPERATIVE, "sm_90", "conv_fwd fp16 nhwgc n2 c64 k64 i300x300 f3x3 p1x1 d32x32"},
    {"image_walk", "conv_bwd_weight fp16", COOPERATIVE, "sm_90", "conv_bwd_weight fp16 nhwgc n1 c2097152 k8 i3x3 f1x1"},
    {"", "conv_fwd fp16", PLANES, "sm_90", "conv_fwd fp16 ngchw n2 c64 k64 i7x7 f1x1 epilogue=bias+add"},
    {"planes_first", "conv_fwd fp16", PLANES, "sm_90", "conv_fwd fp16 nhwgc n2 c64 k64 i8x8 f1x1"},
    {"planes_groups", "conv_bwd_data fp16", PLANES, "sm_90", "conv_bwd_data fp16 ngchw n2 g2 c64 k64 i8x8 f1x1"},
    {"", "conv_bwd_data fp16", PLANES, "sm_90", "conv_bwd_data fp16 ngchw n2 g2 c128 k128 i7x7 f1x1"},
    {"planes_aligned", "conv_fwd fp16", PLANES, "sm_90", "conv_fwd fp16 ngchw n2 c72 k64 i14x14 f1x1"},
    {"", "conv_fwd fp16", PLANES, "sm_90", "conv_fwd fp16 ngchw n2 c72 k64 i4x14 f1x1"},
    {"planes_aligned", "conv_bwd_weight fp16", PLANES, "sm_90", "conv_bwd_weight fp16 ngchw n2 c64 k64 i14x14 f1x1"},
    {"tiles_counted", "conv_fwd fp16", "index=64", "gfx942", "conv_fwd fp16 nhwgc g65536 n8192 c524288 k524288 i16x16 f1x1"},
    {0},
};

static const rule_example gemm_examples[] = {
    {"", "gemm fp16", "", "gfx942", NULL},
    {"", "gemm fp16", BULK, "sm_90", NULL},
    {"", "gemm fp16", "wave_m=8 " BULK, "sm_90", NULL},
    {"tile_by_waves", "gemm fp16", "tile_m=192 wave_m=8 " BULK, "sm_90", NULL},
    {"instruction_shape", "gemm fp16", "inst_n=32 " BULK, "sm_90", NULL},
    {"bulk_operands", "gemm fp16", "vec_b=4 " BULK, "sm_90", NULL},
    {"bulk_waves", "gemm fp16", "wave_m=2 " BULK, "sm_90", NULL},
    {"bulk_boxes", "gemm fp16", "tile_k=32 " BULK, "sm_90", NULL},
    {"gather_operands", "gemm fp16", "pipe=gather stages=4 tile_k=128 " GROUPS, "sm_90", NULL},
    {"lds_stages", "gemm fp16", "pipe=gather stages=2 " GROUPS, "sm_90", NULL},
    {"arch_bulk", "gemm fp16", "pipe=gather stages=4 " GROUPS, "sm_80", NULL},
    {"lds_stages", "gemm fp16", "stages=1 " BULK, "sm_90", NULL},
    {"", "gemm fp16", "layout=crr " COOPERATIVE, "sm_90", NULL},
    {"", "gemm fp16", "layout=ccr tile_n=192 inst_n=192 stages=5 wave_m=4 wave_groups=2 pipe=pingpong " PINGPONG, "sm_90", NULL},
    {"instruction_shape", "gemm fp16", "pipe=tma tile_n=192 inst_n=192 " BULK, "sm_90", NULL},
    {"overlap_operands", "gemm fp16", "vec_c=4 " COOPERATIVE, "sm_90", NULL},
    {"overlap_operands", "gemm fp16", "tile_k=128 " COOPERATIVE, "sm_90", NULL},
    {"", "gemm fp16", "vec_a=1 vec_b=1 vec_c=1 " COOPERATIVE, "sm_90", NULL},
    {"overlap_operands", "gemm fp16", "vec_a=1 vec_b=1 " COOPERATIVE, "sm_90", NULL},
    {"", "gemm fp8", "vec_a=16 vec_b=16 tile_k=128 inst_k=32 " COOPERATIVE, "sm_90", NULL},
    {"overlap_operands", "gemm fp8", "layout=crr vec_a=16 vec_b=16 tile_k=128 inst_k=32 " COOPERATIVE, "sm_90", NULL},
    {"overlap_operands", "gemm fp8", "vec_a=1 vec_b=1 vec_c=1 tile_k=128 inst_k=32 " COOPERATIVE, "sm_90", NULL},
    {"registers", "gemm fp8", "vec_a=16 vec_b=16 tile_k=128 inst_k=32 tile_m=256 stages=3 " COOPERATIVE, "sm_90", NULL},
    {"", "gemm fp16", TURNED, "sm_90", NULL},
    {"", "gemm fp16", "layout=rrr " TURNED, "sm_90", NULL},
    {"overlap_results", "gemm fp16", "layout=crr " TURNED, "sm_90", NULL},
    {"overlap_results", "gemm fp16", "pad_m=0 " TURNED, "sm_90", NULL},
    {"overlap_results", "gemm fp16", "epi=turned", "gfx942", NULL},
    {"overlap_operands", "gemm fp16", "vec_c=8 " TURNED, "sm_90", NULL},
    {"instruction_shape", "gemm fp16", "epi=cshuffle vec_c=8 tile_m=64 tile_n=16 " TURNED, "sm_90", NULL},
    {"overlap_waves", "gemm fp16", "wave_m=4 " COOPERATIVE, "sm_90", NULL},
    {"overlap_waves", "gemm fp16", "inst_n=64 " PINGPONG, "sm_90", NULL},
    {"wave_groups", "gemm fp16", "wave_groups=1 " PINGPONG, "sm_90", NULL},
    {"overlap_blocks", "gemm fp16", "persistent=0 " COOPERATIVE, "sm_90", NULL},
    {"", "gemm fp16", "epi=default vec_c=1 " PINGPONG, "sm_90", NULL},
    {"lds_stages", "gemm fp16", "stages=1 " COOPERATIVE, "sm_90", NULL},
    {"arch_bulk", "gemm fp16", COOPERATIVE, "sm_80", NULL},
    {"lds", "gemm fp16", "stages=7 " COOPERATIVE, "sm_90", NULL},
    {"registers", "gemm fp16", "stages=3 " PINGPONG, "sm_90", NULL}, /* two blocks of a multiprocessor share its registers */
    {"bulk_plain", "gemm fp16", "layout=rrr " BULK, "sm_90", NULL},
    {"arch_bulk", "gemm fp16", BULK, "sm_80", NULL},
    {"lds", "gemm fp16", "stages=8 " BULK, "sm_90", NULL},
    {"groups_plain", "gemm fp16 grouped=1", "pad_m=0", "gfx942", NULL},
    {"groups_plain", "gemm fp16 grouped=1", "split_k=2", "gfx942", NULL},
    {"groups_plain", "gemm fp16 grouped=1", "streamk=tree", "gfx942", NULL},
    {"groups_plain", "gemm fp16 grouped=1", "preshuffle=1 pipe=basic_v1", "gfx942", NULL},
    {"", "gemm fp16 grouped=1", "", "gfx942", "gemm fp16 rcr g7 m100 n96 k64"},
    {"preshuffle_pipe", "gemm fp16", "preshuffle=1", "gfx942", NULL},
    {"preshuffle_plain", "gemm fp16", "preshuffle=1 pipe=basic_v1 sched=interwave", "gfx942", NULL},
    {"registers", "gemm fp8", BYTES, "sm_90", NULL}, /* bytes that change places, and are widened */
    {"", "gemm fp8", BYTES, "sm_89", NULL},
    {"", "gemm int8", BYTES, "sm_90", NULL},
    {"preshuffle_instruction", "gemm fp16", "preshuffle=1 pipe=basic_v1 tile_m=64 tile_n=64 inst_m=16 inst_n=8", "sm_90", NULL},
    {"preshuffle_loads", "gemm fp16", "preshuffle=1 pipe=basic_v1 tile_k=8 inst_k=8", "gfx942", NULL},
    {"", "gemm fp16", "", "gfx942", "gemm fp16 rcr m100 n96 k64"},
    {"layout", "gemm fp16", "", "gfx942", "gemm fp16 rrr m128 n128 k64"},
    {"sizes_counted", "gemm fp16", "", "gfx942", "gemm fp16 rcr m1073741824 n8 k8"},
    {"whole_tiles", "gemm fp16", "pad_m=0", "gfx942", "gemm fp16 rcr m100 n128 k64"},
    {"vectors_divide", "gemm fp16", "", "gfx942", "gemm fp16 rcr m128 n128 k60"},
    {"vectors_divide", "gemm fp16", "", "gfx942", "gemm fp16 rcr m128 n128 k64 lda68"},
    {"vectors_divide", "gemm fp16", "", "gfx942", "gemm fp16 rcr b2 m128 n128 k64 strideb8196"},
    {"index_reaches", "gemm fp16", "", "gfx942", "gemm fp16 rcr m32768 n8 k32768"},
    {"index_reaches", "gemm fp16", "", "gfx942", "gemm fp16 rcr m32768 n8 k8 ldc32776"},
    {"bulk_reaches", "gemm fp16", "index=64 " BULK, "sm_90", "gemm fp16 rcr b2 m128 n128 k64 stridea549755813888"},
    {"tiles_counted", "gemm fp16", "index=64", "gfx942", "gemm fp16 rcr m268435456 n268435456 k8"},
    {0},
};

const rule_examples igemm_rule_examples = {"conv.igemm", IGEMM_AXES, igemm_examples};
const rule_examples gemm_mma_rule_examples = {"gemm.mma", GEMM_AXES, gemm_examples};
