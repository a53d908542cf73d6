/* stream.c: examples of the rules of gemm.stream. */
#include "unit/families/rules/examples.h"

#define STREAM_AXES "layout=rcr few=m tile_m=8 tile_n=16 waves=8 ahead=4"

static const rule_example stream_examples[] = {
    {"", "gemm bf16", "", "sm_90", NULL},
    {"", "gemm fp16", "few=n tile_m=32 tile_n=16 ahead=2", "sm_80", NULL},
    {"stream_tile", "gemm bf16", "tile_n=8", NULL, NULL},
    {"stream_tile", "gemm bf16", "few=n", NULL, NULL},
    {"", "gemm bf16", "few=n tile_m=16 tile_n=8", NULL, NULL},
    {"stream_layout", "gemm bf16", "layout=rrr", NULL, NULL},
    {"stream_layout", "gemm bf16", "layout=crr", NULL, NULL},
    {"", "gemm bf16", "layout=ccr", "sm_90", "gemm bf16 ccr m5 n33 k72"},
    {"", "gemm bf16", "layout=rrr few=n tile_m=16 tile_n=8", "sm_90", "gemm bf16 rrr m35 n5 k72"},
    {"registers", "gemm bf16", "tile_m=32 tile_n=32 ahead=8", NULL, NULL},
    {"registers", "gemm bf16", "tile_m=16 tile_n=32 waves=16", NULL, NULL},
    {"arch_mma", "gemm bf16", "", "gfx942", NULL},
    {"arch_mma", "gemm bf16", "", "gfx000", NULL},
    {"", "gemm bf16", "tile_m=32 tile_n=64 waves=8 ahead=1", "sm_90", NULL},
    {"", "gemm bf16", "", "sm_90", "gemm bf16 rcr b2 m8 n33 k72"},
    {"", "gemm bf16", "few=n tile_m=16 tile_n=8", "sm_90", "gemm bf16 rcr m33 n7 k8 epilogue=bias+relu"},
    {"layout", "gemm bf16", "", "sm_90", "gemm bf16 rrr m8 n64 k64"},
    {"few", "gemm bf16", "", "sm_90", "gemm bf16 rcr m9 n64 k64"},
    {"few", "gemm bf16", "few=n tile_m=16 tile_n=8", "sm_90", "gemm bf16 rcr m64 n9 k64"},
    {"vectors_divide", "gemm bf16", "", "sm_90", "gemm bf16 rcr m8 n64 k68"},
    {"blocks_counted", "gemm bf16", "", "sm_90", "gemm bf16 rcr b2000 m1 n33554432 k8"},
    {0},
};

const rule_examples gemm_stream_rule_examples = {"gemm.stream", STREAM_AXES, stream_examples};
