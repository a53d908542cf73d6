/* cpu.c: examples of the rules of the generated CPU families. */
#include "unit/families/rules/examples.h"

#define ARCH "x86-64-v4-bf16"

static const rule_example direct_rows[] = {
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3"},
    {"math_type", "conv_fwd fp32", "math=dp", NULL, NULL},
    {"math_type", "conv_fwd int8", "edge=pad", NULL, NULL},
    {"math_isa", "conv_fwd bf16", "isa=avx2 math=dp", NULL, NULL},
    {"math_isa", "conv_fwd bf16", "isa=avx512vl tile_w=5 vecs=5", NULL, NULL},
    {"", "conv_fwd bf16", "isa=avx512vl math=dp tile_w=5 vecs=5", NULL, NULL},
    {"arch_isa", "conv_fwd bf16", "isa=avx512vl math=dp tile_w=5 vecs=5", "x86-64-v4-vnni", NULL},
    {"", "conv_fwd fp32", "isa=avx512vl tile_w=5 vecs=5", "x86-64-v4", NULL},
    {"tile_registers", "conv_fwd fp32", "isa=avx512vl tile_w=4 vecs=7", NULL, NULL},
    {"arch_isa", "conv_fwd fp32", "isa=avx512vl tile_w=5 vecs=5", "x86-64-v3-vnni", NULL},
    {"tile_registers", "conv_fwd fp32", "tile_w=16", NULL, NULL},
    {"", "conv_fwd bf16", "math=amx tile_w=32 edge=pad", "x86-64-v4-amx", NULL},
    {"amx_tile", "conv_fwd bf16", "math=amx edge=pad", NULL, NULL},
    {"tile_registers", "conv_fwd bf16", "math=amx tile_w=48 edge=pad", NULL, NULL},
    {"math_type", "conv_fwd fp16", "math=amx tile_w=32 edge=pad", NULL, NULL},
    {"arch_isa", "conv_fwd int8", "math=amx tile_w=32 edge=pad", "x86-64-v4-bf16", NULL},
    {"base_pointers", "conv_fwd fp32", "tile_h=3 tile_w=9 vecs=1", NULL, NULL},
    {"arch_isa", "conv_fwd fp32", "", "x86-64-v3", NULL},
    {"arch_isa", "conv_fwd fp32", "isa=avx2 tile_w=6", "generic", NULL},
    {"arch_isa", "conv_fwd bf16", "math=dp", "x86-64-v4", NULL},
    {"arch_isa", "conv_fwd int8", "math=dp edge=pad", "x86-64-v4", NULL},
    {"arch_isa", "conv_fwd int8", "isa=avx2 math=dp tile_w=6 edge=pad", "x86-64-v4-vnni", NULL},
    {"", "conv_fwd int8", "isa=avx2 math=wide tile_w=6 edge=pad", "x86-64-v3", NULL},
    {"", "conv_fwd int8", "isa=avx2 math=dp tile_w=6 edge=pad", "x86-64-v3-vnni", NULL},
    {"arch_isa", "conv_fwd fp32", "", "x86-64-v9", NULL},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f3x3 out=bf16 epilogue=scale+scale_channel+bias+relu"},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f3x3 epilogue=bias+add+relu"},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f3x3 epilogue=beta+add"},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f3x3 epilogue=add+multiply+scale_row"},
    {"first_channels", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f3x3 epilogue=add:bf16"},
    {"", "conv_fwd int8", "math=wide edge=pad", "x86-64-v4", "conv_fwd int8 ngchw c8 k8 i9x9 f3x3 epilogue=zero_w"},
    {"few_phases", "conv_bwd_data fp32", "", "x86-64-v4", "conv_bwd_data fp32 nhwgc c8 k8 i65x64 f3x3 s65x64"},
    {"few_phases", "conv_bwd_data fp32", "", "x86-64-v4", "conv_bwd_data fp32 nwgc c8 k8 i4096 f300 s4096 p1"},
    {"extents_counted", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nwgc c8 k8 i1073741824 f1"},
    {"extents_counted", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nwgc c8 k8 i9 f1 s1000000000000"},
    {"extents_counted", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nwgc c8 k8 i2000000 f2000000"},
    {"sizes_counted", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3 p4000000x4000000"},
    {"sizes_counted", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nhwgc n2 c8 k8 i9x9 f3x3 ldxn1000000000000000"},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 nhwgc n2 c8 k8 i9x9 f3x3 ldxw16 ldxn8 ldyh100"},
    {0},
};

static const rule_example gemm_tiled_rows[] = {
    {"", "gemm fp32", "", ARCH, "gemm fp32 m1099511627776 n1 k64"},
    {"sizes_counted", "gemm fp32", "", ARCH, "gemm fp32 m1099511627776 n1 k256"},
    {0},
};

static const rule_example gemm_dot_rows[] = {
    {"", "gemm bf16", "math=dp", ARCH, "gemm bf16 rcr m2 n8 k32"},
    {"math_family", "gemm bf16", "math=amx", NULL, NULL},
    {"tile_registers", "gemm fp32", "tile_m=4 tile_n=8", NULL, NULL},
    {"tile_registers", "gemm int8", "math=dp tile_m=3 tile_n=7", NULL, NULL},
    {"", "gemm int8", "math=wide tile_m=3 tile_n=7", ARCH, "gemm int8 rcr m3 n7 k32"},
    {"whole_vector", "gemm int8", "math=dp", ARCH, "gemm int8 rcr m2 n8 k63"},
    {"along_depth", "gemm fp32", "", ARCH, "gemm fp32 rrr m2 n8 k32"},
    {"", "gemm fp32", "tile_n=1", ARCH, "gemm fp32 rrr m2 n1 k32"},
    {"", "gemm fp32", "tile_m=1", ARCH, "gemm fp32 ccr m1 n8 k32"},
    {"along_depth", "gemm fp32", "tile_n=1", ARCH, "gemm fp32 rrr m2 n1 k32 ldb3"},
    {"along_depth", "gemm fp32", "tile_n=1", ARCH, "gemm fp32 crr m2 n1 k32"},
    {"whole_tile", "gemm fp32", "", ARCH, "gemm fp32 rcr m1 n8 k32"},
    {"whole_tile", "gemm fp32", "", ARCH, "gemm fp32 rcr m2 n7 k32"},
    {"whole_vector", "gemm fp32", "", ARCH, "gemm fp32 rcr m2 n8 k15"},
    {"whole_vector", "gemm bf16", "math=dp", ARCH, "gemm bf16 rcr m2 n8 k31"},
    {0},
};

static const rule_example direct_1st_rows[] = {
    {"amx_tile", "conv_fwd bf16", "math=amx", NULL, NULL},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c3 k8 i9x9 f3x1 d2x2"},
    {"few_channels", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c17 k8 i9x9 f3x3"},
    {"dense_width", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c3 k8 i9x9 f3x3 d1x2"},
    {0},
};

static const rule_example any_groups_rows[] = {
    {"", "conv_bwd_data bf16", "math=dp", ARCH, "conv_bwd_data bf16 nhwgc g3 c9 k15 i9x9 f3x3 d2x2"},
    {"channels_last", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g3 c9 k15 i9x9 f3x3"},
    {"several_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g2 c192 k194 i9x9 f3x3"},
    {"group_source", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g2 c194 k192 i9x9 f3x3"},
    {"group_source", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc g2 c192 k194 i9x9 f3x3"},
    {0},
};

static const rule_example interleaved_rows[] = {
    {"", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc g3 c9 k15 i9x9 f3x3 d2x2"},
    {"even_ways", "conv_fwd fp32", "ways=3", NULL, NULL},
    {"channels_last", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g3 c9 k15 i9x9 f3x3"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c1024 k96 i9x9 f3x3"},
    {"way_source", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c1025 k96 i9x9 f3x3"},
    {"way_source", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc c96 k1025 i9x9 f3x3"},
    {"way_results", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g2 c16 k194 i9x9 f3x3"},
    {"way_results", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc g2 c194 k16 i9x9 f3x3"},
    {"enough_ways", "conv_fwd fp32", "ways=4", ARCH, "conv_fwd fp32 nhwgc g3 c9 k15 i5x9 f3x3"},
    {"enough_ways", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc c9 k15 i3x9 f3x3 s2x2"},
    {0},
};

static const rule_example interleaved_weight_rows[] = {
    {"", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g3 c9 k15 i9x9 f3x3 d2x2"},
    {"tile_registers", "conv_bwd_weight fp32", "vecs=7 tile=4", NULL, NULL},
    {"even_ways", "conv_bwd_weight fp32", "ways=3", NULL, NULL},
    {"channels_last", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ngchw g3 c9 k15 i9x9 f3x3"},
    {"several_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc c9 k15 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g2 c192 k192 i9x9 f3x3"},
    {"way_channels", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g2 c194 k16 i9x9 f3x3"},
    {"way_channels", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g2 c16 k194 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "merge=1", ARCH, "conv_bwd_weight fp32 nhwgc g3 c9 k15 i9x9 f3x3 d2x1"},
    {"merged_row", "conv_bwd_weight fp32", "merge=1", ARCH, "conv_bwd_weight fp32 nhwgc g3 c9 k15 i9x9 f3x3 d1x2"},
    {0},
};

static const rule_example any_groups_weight_rows[] = {
    {"math_family", "conv_bwd_weight bf16", "math=amx", NULL, NULL},
    {"", "conv_bwd_weight bf16", "math=dp", ARCH, "conv_bwd_weight bf16 nhwgc g3 c9 k15 i9x9 f3x3"},
    {"tile_registers", "conv_bwd_weight fp32", "isa=avx2 tile=15", NULL, NULL},
    {"channels_last", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ngchw g3 c9 k15 i9x9 f3x3"},
    {"several_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc c8 k8 i9x9 f3x3"},
    {"group_source", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g2 c194 k192 i9x9 f3x3"},
    {"merged_row", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g2 c6 k6 i9x9 f3x3 d1x2"},
    {0},
};

static const rule_example pointwise_rows[] = {
    {"plane_steps", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f1x1 epilogue=scale_row"},
    {"plane_steps", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f1x1 epilogue=add+multiply"},
    {"", "conv_fwd fp32", "", "x86-64-v4", "conv_fwd fp32 ngchw c8 k8 i9x9 f1x1 epilogue=add+bias"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c8 k8 i9x9 f1x1 s2x2"},
    {"pitches", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc n2 c8 k8 i9x9 f1x1 ldyh200"},
    {"pitches", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw n2 c8 k8 i9x9 f1x1 ldyh12"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw n2 c8 k8 i9x9 f1x1 ldxh12 ldyn9999"},
    {"", "conv_fwd int8", "math=wide", ARCH, "conv_fwd int8 ngchw n2 c8 k8 i9x9 f1x1 ldyh12"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc n2 c8 k8 i9x9 f1x1 ldxh200 ldyw9"},
    {"filter_1", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3"},
    {"no_padding", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc c8 k8 i9x9 f1x1 p0x0:1x1"},
    {"bwd_data_whole", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc c8 k8 i9x9 f1x1 s2x2"},
    {0},
};

static const rule_example bwd_weight_rows[] = {
    {"", "conv_bwd_weight fp32", "copy=0", ARCH, "conv_bwd_weight fp32 nhwgc c32 k8 i8x8 f3x3"},
    {"tile_registers", "conv_bwd_weight fp32", "tile=15", NULL, NULL},
    {"", "conv_bwd_weight bf16", "math=amx tile=32", "x86-64-v4-amx", "conv_bwd_weight bf16 nhwgc c32 k8 i8x8 f3x3"},
    {"amx_tile", "conv_bwd_weight bf16", "math=amx", NULL, NULL},
    {"amx_tile", "conv_bwd_weight int8", "math=amx tile=32", NULL, NULL},
    {"math_type", "conv_bwd_weight int8", "", NULL, NULL},
    {"", "conv_bwd_weight int8", "math=wide", "x86-64-v4", "conv_bwd_weight int8 nhwgc c32 k8 i8x8 f3x3"},
    {"", "conv_bwd_weight int8", "math=dp", "x86-64-v4-vnni", "conv_bwd_weight int8 ngchw c32 k8 i8x8 f3x3 out=fp32 epilogue=scale"},
    {"amx_tile", "conv_bwd_weight bf16", "math=amx tile=32 lanes=k", NULL, NULL},
    {"tile_registers", "conv_bwd_weight bf16", "math=amx tile=64", NULL, NULL},
    {"copy", "conv_bwd_weight bf16", "copy=0", NULL, NULL},
    {"copy", "conv_bwd_weight bf16", "math=dp lanes=c copy=2 merge=1", NULL, NULL},
    {"", "conv_bwd_weight bf16", "math=dp lanes=k tile=3 copy=2 merge=3", ARCH, "conv_bwd_weight bf16 nhwgc c3 k40 i8x8 f3x3"},
    {"merged_in_place", "conv_bwd_weight fp32", "lanes=k tile=6 vecs=1 copy=0 merge=1", ARCH,
     "conv_bwd_weight fp32 nhwgc g2 c6 k64 i8x8 f3x3"},
    {"merged_in_place", "conv_bwd_weight fp32", "lanes=k tile=6 vecs=1 copy=0 merge=1", ARCH,
     "conv_bwd_weight fp32 nhwgc c3 k64 i8x8 f3x3 ldxw8"},
    {"merged_in_place", "conv_bwd_weight fp32", "lanes=k tile=6 vecs=1 copy=0 merge=1", ARCH,
     "conv_bwd_weight fp32 nhwgc c8 k64 i8x8 f3x1"},
    {"merged_lanes", "conv_bwd_weight fp32", "lanes=c tile=3 copy=2 merge=3", NULL, NULL},
    {"merged_rows", "conv_bwd_weight fp32", "lanes=k tile=3 copy=2 merge=3", ARCH, "conv_bwd_weight fp32 nhwgc c3 k40 i8x8 f5x3"},
    {"", "conv_bwd_weight fp32", "lanes=k copy=2 merge=1", ARCH, "conv_bwd_weight fp32 nhwgc c3 k40 i8x8 f3x3"},
    {"copy", "conv_bwd_weight fp32", "lanes=k copy=2", NULL, NULL},
    {"", "conv_bwd_weight fp32", "lanes=c copy=2 merge=1", ARCH, "conv_bwd_weight fp32 nhwgc g3 c15 k42 i8x8 f3x3"},
    {"merged_row", "conv_bwd_weight fp32", "merge=1", ARCH, "conv_bwd_weight fp32 nhwgc c3 k64 i8x8 f3x3 d1x2"},
    {"whole_tile", "conv_bwd_weight fp32", "copy=0", ARCH, "conv_bwd_weight fp32 nhwgc c16 k64 i8x8 f3x3"},
    {"whole_tile", "conv_bwd_weight fp32", "lanes=k copy=2 merge=1", ARCH, "conv_bwd_weight fp32 nhwgc c3 k16 i8x8 f3x3"},
    {"", "conv_bwd_weight fp32", "copy=0", ARCH, "conv_bwd_weight fp32 nhwgc c17 k64 i8x8 f3x3"},
    {"whole_tile", "conv_bwd_weight fp32", "isa=avx2 tile=6 copy=0", ARCH, "conv_bwd_weight fp32 nhwgc c15 k64 i8x8 f3x3"},
    {0},
};

static const rule_example depthwise_rows[] = {
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g32 c32 k32 i9x9 f5x4 d2x3 p4x4"},
    {"math_isa", "conv_fwd bf16", "isa=avx512vl", NULL, NULL},
    {"", "conv_fwd bf16", "isa=avx512vl math=dp tile_h=1", NULL, NULL},
    {"", "conv_fwd bf16", "math=dp tile_h=1", ARCH, NULL},
    {"row_pairs", "conv_fwd bf16", "math=dp tile_h=1 taps_h=1 taps_w=1", NULL, NULL},
    {"one_tap", "conv_fwd fp32", "taps_h=1 taps_w=1 stride=2", NULL, NULL},
    {"bwd_data_tile", "conv_bwd_data fp32", "stride=2", NULL, NULL},
    {"tile_registers", "conv_fwd fp32", "tile_h=3 tile_w=8", NULL, NULL},
    {"one_channel_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g32 c32 k64 i9x9 f3x3"},
    {"taps_in_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g32 c32 k32 i9x9 f3x1"},
    {"window_stride", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g32 c32 k32 i9x9 f3x3 s2x2"},
    {"stride_or_dilation", "conv_fwd fp32", "tile_w=4 stride=2", ARCH, "conv_fwd fp32 g32 c32 k32 i9x9 f3x3 s2x2 d2x2"},
    {"bwd_data_filter", "conv_bwd_data fp32", "tile_w=4 stride=2", ARCH, "conv_bwd_data fp32 g32 c32 k32 i9x9 f5x5 s2x2"},
    {"int8_math", "conv_fwd int8", "math=dp tile_h=1", NULL, NULL},
    {"", "conv_fwd int8", "taps_h=1 taps_w=1", ARCH, "conv_fwd int8 g32 c32 k32 i40x40 f32x32"},
    {"exact_sums", "conv_fwd int8", "taps_h=1 taps_w=1", ARCH, "conv_fwd int8 g32 c32 k32 i40x40 f32x33"},
    {"", "conv_fwd int8 epilogue=zero_w", "taps_h=1 taps_w=1", ARCH, "conv_fwd int8 g32 c32 k32 i40x40 f32x16 epilogue=zero_w"},
    {"exact_sums", "conv_fwd int8 epilogue=zero_w", "taps_h=1 taps_w=1", ARCH, "conv_fwd int8 g32 c32 k32 i40x40 f32x17 epilogue=zero_w"},
    {"", "conv_fwd int8 epilogue=zero_x+zero_w", "taps_h=1 taps_w=1", ARCH,
     "conv_fwd int8 g32 c32 k32 i40x40 f16x16 epilogue=zero_x+zero_w"},
    {"exact_sums", "conv_fwd int8 epilogue=zero_x+zero_w", "taps_h=1 taps_w=1", ARCH,
     "conv_fwd int8 g32 c32 k32 i40x40 f16x17 epilogue=zero_x+zero_w"},
    {"zero_w_windows", "conv_fwd int8 epilogue=zero_w", "", ARCH, "conv_fwd int8 g32 c32 k32 i9x9 f4x4 epilogue=zero_w"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 n2 g32 c32 k32 i9x9 f3x3 ldxw64 ldxh999 ldyw33"},
    {"nested", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 n2 g32 c32 k32 i9x9 f3x3 ldxw64 ldxn32"},
    {"nested", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 n2 g32 c32 k32 i9x9 f3x3 ldyw64 ldyn32"},
    {"filter_size", "conv_fwd fp32", "taps_h=1 taps_w=1", ARCH, "conv_fwd fp32 g32 c32 k32 i400x400 f300x300"},
    {"", "conv_fwd fp32", "tile_h=1 taps_h=1 taps_w=1", ARCH, "conv_fwd fp32 g32 c32 k32 i70x70 f64x64"},
    {"filter_size", "conv_fwd fp32", "tile_h=1 taps_h=1 taps_w=1", ARCH, "conv_fwd fp32 g32 c32 k32 i70x70 f64x65"},
    {0},
};

static const rule_example depthwise_planes_rows[] = {
    {"", "conv_fwd bf16", "math=dp planes=4 stride=2", ARCH, "conv_fwd bf16 ngchw g32 c32 k32 i7x7 f3x3 s2x2 p1x1"},
    {"", "conv_bwd_data fp32", "vecs=4 taps_h=1", ARCH, "conv_bwd_data fp32 ngcw g32 c32 k32 i99 f3 p1"},
    {"masks", "conv_fwd fp32", "isa=avx2", NULL, NULL},
    {"sum_registers", "conv_fwd fp32", "vecs=6 taps_h=5 taps_w=5", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "vecs=2 planes=2", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "planes=3", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "planes=4 stride=2", NULL, NULL},
    {"shared_vector", "conv_fwd bf16", "planes=4", NULL, NULL},
    {"bwd_data_stride", "conv_bwd_data fp32", "stride=2", NULL, NULL},
    {"channels_first", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g32 c32 k32 i9x9 f3x3"},
    {"one_channel_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k64 i9x9 f3x3"},
    {"flat_images", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngcdhw g32 c32 k32 i9x9x9 f1x3x3"},
    {"flat_images", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngcdhw g32 c32 k32 i1x9x9 f1x3x3 p1x0x0"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f5x3"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 d1x2"},
    {"stride", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 s2x1"},
    {"row_width", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i3x1048579 f3x3"},
    {"", "conv_fwd fp32", "planes=2", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x10 f3x3"},
    {"row_width", "conv_fwd fp32", "planes=2", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x11 f3x3"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 epilogue=scale+bias+gelu"},
    {"result_type", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 out=bf16 epilogue=bias"},
    {"channel_steps", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 epilogue=scale_row"},
    {"channel_steps", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i9x9 f3x3 epilogue=add"},
    {0},
};

static const rule_example depthwise_lines_rows[] = {
    {"", "conv_fwd bf16", "math=dp stride=2", ARCH, "conv_fwd bf16 nhwgc g11 c11 k11 i17x77 f3x5 s2x2 p1x2 d1x3 epilogue=scale+bias+gelu"},
    {"", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 nhwgc g40 c40 k40 i9x9 f3x1"},
    {"", "conv_fwd int8", "math=dp stride=3", ARCH,
     "conv_fwd int8 nhwgc g999 c999 k999 i17x77 f3x5 s3x3 x=uint8 out=int8 epilogue=zero_x+scale"},
    {"sum_registers", "conv_fwd fp32", "isa=avx2 tile_h=14", NULL, NULL},
    {"bwd_data_stride", "conv_bwd_data fp32", "stride=2", NULL, NULL},
    {"channels_last", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g11 c11 k11 i9x9 f3x3"},
    {"one_channel_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k22 i9x9 f3x3"},
    {"flat_images", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ndhwgc g11 c11 k11 i9x9x9 f1x3x3"},
    {"result_type", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i9x9 f3x3 out=bf16 epilogue=bias"},
    {"channel_steps", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i9x9 f3x3 epilogue=add"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i9x9 f5x3"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i12x9 f3x3 d2x1"},
    {"stride", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i9x9 f3x3 s1x2"},
    {"result_rows", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i5x9 f3x3"},
    {"result_rows", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g3 c3 k3 i9x7 f3x3"},
    {"line_reach", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g999 c999 k999 i9x9 f3x3"},
    {"line_reach", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g11 c11 k11 i9x200 f3x3 d1x99"},
    {0},
};

static const rule_example depthwise_lines_weight_rows[] = {
    {"", "conv_bwd_weight bf16", "math=dp stride=2", ARCH, "conv_bwd_weight bf16 nhwgc g11 c11 k11 i5x77 f3x3 s2x2 p1x2 d1x3"},
    {"row_pairs", "conv_bwd_weight bf16", "math=dp tile_h=3", NULL, NULL},
    {"sum_registers", "conv_bwd_weight fp32", "tile_h=16 taps_h=7", NULL, NULL},
    {"channels_last", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ngchw g11 c11 k11 i9x9 f3x3"},
    {"one_channel_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k22 i9x9 f3x3"},
    {"flat_images", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ndhwgc g11 c11 k11 i9x9x9 f1x3x3"},
    {"whole_filter", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f5x3"},
    {"whole_columns", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f3x5"},
    {"stride", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f3x3 s1x2"},
    {"result_rows", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g3 c3 k3 i9x7 f3x3"},
    {"line_reach", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g999 c999 k999 i9x9 f3x3"},
    {0},
};

static const rule_example depthwise_pixels_weight_rows[] = {
    {"", "conv_bwd_weight bf16", "isa=avx512vl math=dp", ARCH, "conv_bwd_weight bf16 nhwgc g11 c11 k11 i5x77 f5x3 s2x2 p1x4"},
    {"sum_registers", "conv_bwd_weight fp32", "taps_h=5 taps_w=7", NULL, NULL},
    {"channels_last", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ngchw g11 c11 k11 i9x9 f3x3 s2x2"},
    {"one_channel_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k22 i9x9 f3x3 s2x2"},
    {"flat_images", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 ndhwgc g11 c11 k11 i9x9x9 f1x3x3 s1x2x2"},
    {"whole_columns", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f3x5 s2x2"},
    {"whole_columns", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f2x3 s2x2"},
    {"undilated", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f3x3 s2x2 d1x2"},
    {"stride", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g11 c11 k11 i9x9 f3x3 s1x2"},
    {"short_rows", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 nhwgc g999 c999 k999 i9x19 f3x3 s2x2"},
    {0},
};

static const rule_example depthwise_small_rows[] = {
    {"", "conv_fwd bf16", "math=dp planes=4", ARCH, "conv_fwd bf16 ngchw g30 c30 k30 i7x7 f3x3 p1x1"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g30 c30 k30 i7x7 f3x3 p1x1 epilogue=bias+relu"},
    {"result_type", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g30 c30 k30 i7x7 f3x3 p1x1 out=bf16"},
    {"channel_steps", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g30 c30 k30 i7x7 f3x3 p1x1 epilogue=add"},
    {"", "conv_fwd fp32", "image=14 stride=2", ARCH, "conv_fwd fp32 ngchw g30 c30 k30 i14x14 f3x3 s2x2 p1x1"},
    {"", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 ngchw g30 c30 k30 i7x7 f3x3 p1x1"},
    {"masks", "conv_fwd fp32", "isa=avx2", NULL, NULL},
    {"sum_registers", "conv_fwd bf16", "math=dp taps=9", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "planes=3", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "image=3 planes=4", NULL, NULL},
    {"odd_filter", "conv_fwd fp32", "taps=4", NULL, NULL},
    {"row_width", "conv_fwd fp32", "image=8", NULL, NULL},
    {"unit_size", "conv_fwd bf16", "math=dp image=31 planes=1 taps=7", NULL, NULL},
    {"bwd_data_stride", "conv_bwd_data fp32", "stride=2", NULL, NULL},
    {"channels_first", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 nhwgc g32 c32 k32 i7x7 f3x3 p1x1"},
    {"one_channel_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k64 i7x7 f3x3 p1x1"},
    {"flat_images", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngcdhw g32 c32 k32 i7x7x7 f1x3x3 p0x1x1"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f5x5 p2x2"},
    {"whole_filter", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f3x3 p2x2 d2x2"},
    {"stride", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f3x3 s2x1 p1x1"},
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw n2 g32 c32 k32 i7x7 f3x3 p1x1 ldxn9999 ldyc50"},
    {"whole_planes", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f3x3 p1x1 ldxh8"},
    {"whole_planes", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f3x3 p1x1 ldyh8"},
    {"image_size", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i8x7 f3x3 p1x1"},
    {"image_size", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 ngchw g32 c32 k32 i7x7 f3x3"},
    {0},
};

static const rule_example depthwise_weight_rows[] = {
    {"", "conv_bwd_weight bf16", "math=dp tile_h=2", ARCH, NULL},
    {"row_pairs", "conv_bwd_weight bf16", "math=dp", NULL, NULL},
    {"tile_registers", "conv_bwd_weight bf16", "math=dp tile_h=2 taps_h=2 taps_w=5", NULL, NULL},
    {0},
};

static const rule_example merged_weight_rows[] = {
    {"", "conv_bwd_weight bf16", "", ARCH, NULL},
    {"weight_math", "conv_bwd_weight bf16", "math=dp", NULL, NULL},
    {0},
};

static const rule_example any_merged_rows[] = {
    {"", "conv_fwd bf16", "", ARCH, "conv_fwd bf16 g8 c24 k56 i9x9 f3x3"},
    {"float_math", "conv_fwd bf16", "math=dp", NULL, NULL},
    {"pairs_reach", "conv_fwd int8", "math=wide reach=2", NULL, NULL},
    {"int8_stride", "conv_bwd_data int8", "math=dp tile_w=8 stride=2", NULL, NULL},
    {"", "conv_fwd int8", "math=dp", ARCH, "conv_fwd int8 g8 c40 k56 i9x9 f3x3"},
    {"whole_vector", "conv_fwd int8", "math=dp reach=2", ARCH, "conv_fwd int8 g8 c40 k56 i9x9 f3x3"},
    {"tile_registers", "conv_fwd fp32", "tile_h=2 tile_w=14", NULL, NULL},
    {"bwd_data_tile", "conv_bwd_data fp32", "stride=2", NULL, NULL},
    {"wide_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 c24 k56 i9x9 f3x3"},
    {"wide_groups", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g24 c24 k24 i9x9 f3x3"},
    {"group_reach", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g8 c56 k24 i9x9 f3x3"},
    {"", "conv_bwd_data fp32", "", ARCH, "conv_bwd_data fp32 g8 c56 k24 i9x9 f3x3"},
    {"group_width", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g2 c16 k2050 i9x9 f3x3"},
    {"whole_vector", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g3 c9 k21 i9x9 f3x3"},
    {0},
};

static const rule_example any_merged_weight_rows[] = {
    {"", "conv_bwd_weight bf16", "", ARCH, "conv_bwd_weight bf16 g3 c9 k21 i9x9 f3x3"},
    {"weight_math", "conv_bwd_weight bf16", "math=dp", NULL, NULL},
    {"tile_registers", "conv_bwd_weight fp32", "tile_h=4 tile_w=8", NULL, NULL},
    {"tile_registers", "conv_bwd_weight fp32", "tile_h=1 tile_w=5 taps_h=5 taps_w=5 reach=2", NULL, NULL},
    {"wide_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 c3 k9 i9x9 f3x3"},
    {"wide_groups", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g9 c9 k9 i9x9 f3x3"},
    {"group_width", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g2 c16 k2050 i9x9 f3x3"},
    {"wider_side", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g3 c9 k6 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "lanes=c", ARCH, "conv_bwd_weight fp32 g3 c9 k6 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g3 c24 k45 i9x9 f3x3"},
    {"group_reach", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g3 c27 k45 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "", ARCH, "conv_bwd_weight fp32 g3 c48 k96 i9x9 f3x3"},
    {"", "conv_bwd_weight fp32", "reach=2", ARCH, "conv_bwd_weight fp32 g3 c27 k45 i9x9 f3x3"},
    {0},
};

static const rule_example merged_rows[] = {
    {"", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g3 c12 k12 i9x9 f3x3"},
    {"several_channels", "conv_fwd fp32", "group_c=1 group_k=1", NULL, NULL},
    {"lanes", "conv_fwd fp32", "group_k=6", NULL, NULL},
    {"shared_vector", "conv_fwd fp32", "group_c=8", NULL, NULL},
    {"channel_pairs", "conv_fwd bf16", "math=dp group_c=5 group_k=32", NULL, NULL},
    {"group_channels", "conv_fwd fp32", "", ARCH, "conv_fwd fp32 g32 c256 k256 i9x9 f3x3"},
    {0},
};

const rule_examples direct_rule_examples = {"conv.direct", "isa=avx512 math=fma tile_h=1 tile_w=14 vecs=2 band=0 edge=skip", direct_rows};
const rule_examples gemm_tiled_rule_examples = {"gemm.tiled", "isa=avx512 math=fma tile_m=7 vecs=2 band=0 ahead=1", gemm_tiled_rows};
const rule_examples gemm_dot_rule_examples = {"gemm.dot", "isa=avx512 math=fma tile_m=2 tile_n=8", gemm_dot_rows};
const rule_examples direct_1st_rule_examples = {"conv.direct_1st", "isa=avx512 math=fma tile_w=7 vecs=2 band=0", direct_1st_rows};
const rule_examples any_groups_rule_examples = {"conv.any_groups", "isa=avx512 math=fma tile_h=1 tile_w=7", any_groups_rows};
const rule_examples interleaved_rule_examples = {"conv.interleaved", "isa=avx512 math=fma tile_w=8 vecs=3 ways=2", interleaved_rows};
const rule_examples any_groups_weight_rule_examples = {"conv.any_groups_weight", "isa=avx512 math=fma tile=12 merge=1 box=0",
                                                       any_groups_weight_rows};
const rule_examples interleaved_weight_rule_examples = {
    "conv.interleaved_weight", "isa=avx512 math=fma lanes=c tile=4 vecs=3 ways=2 merge=0", interleaved_weight_rows};
const rule_examples pointwise_rule_examples = {"conv.pointwise", "isa=avx512 math=fma tile_m=7 vecs=2 band=0 ahead=1", pointwise_rows};
const rule_examples bwd_weight_rule_examples = {"conv.direct_bwd_weight", "isa=avx512 math=fma lanes=c tile=8 vecs=2 copy=1 merge=0 box=0",
                                                bwd_weight_rows};
const rule_examples depthwise_rule_examples = {"conv.depthwise", "isa=avx512 math=fma tile_h=2 tile_w=7 taps_h=3 taps_w=3 stride=1 block=0",
                                               depthwise_rows};
const rule_examples depthwise_planes_rule_examples = {
    "conv.depthwise_planes", "isa=avx512 math=fma vecs=1 planes=1 taps_h=3 taps_w=3 stride=1", depthwise_planes_rows};
const rule_examples depthwise_rows_rule_examples = {"conv.depthwise_rows", "isa=avx512 math=fma image=7 planes=2 taps=3 stride=1",
                                                    depthwise_small_rows};
const rule_examples depthwise_lines_rule_examples = {"conv.depthwise_lines", "isa=avx512 math=fma tile_h=4 taps_h=3 stride=1",
                                                     depthwise_lines_rows};
const rule_examples depthwise_lines_weight_rule_examples = {
    "conv.depthwise_lines_weight", "isa=avx512 math=fma tile_h=4 taps_h=3 columns=3 stride=1", depthwise_lines_weight_rows};
const rule_examples depthwise_pixels_weight_rule_examples = {
    "conv.depthwise_pixels_weight", "isa=avx512 math=fma taps_h=3 taps_w=3 stride=2", depthwise_pixels_weight_rows};
const rule_examples depthwise_weight_rule_examples = {
    "conv.depthwise_weight", "isa=avx512 math=fma tile_h=1 tile_w=7 taps_h=3 taps_w=3 stride=1", depthwise_weight_rows};
const rule_examples merged_weight_rule_examples = {
    "conv.merged_weight", "isa=avx512 math=fma tile_h=2 tile_w=4 taps_h=3 taps_w=3 stride=1 group_c=4 group_k=4", merged_weight_rows};
const rule_examples any_merged_rule_examples = {
    "conv.any_merged", "isa=avx512 math=fma tile_h=1 tile_w=7 taps_h=1 taps_w=3 stride=1 reach=1", any_merged_rows};
const rule_examples any_merged_weight_rule_examples = {
    "conv.any_merged_weight", "isa=avx512 math=fma tile_h=1 tile_w=7 taps_h=3 taps_w=3 stride=1 lanes=k reach=1", any_merged_weight_rows};
const rule_examples merged_rule_examples = {
    "conv.merged", "isa=avx512 math=fma tile_h=1 tile_w=14 taps_h=1 taps_w=3 stride=1 group_c=4 group_k=4 block=0", merged_rows};
