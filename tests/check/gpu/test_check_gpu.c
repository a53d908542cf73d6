/* test_check_gpu.c: the kernel text of conv.igemm, gemm.mma, conv.depthwise_block, conv.direct_block and conv.direct_1st_block, played by the emulator of an
 * NVIDIA and of an AMD architecture: every pipeline, scheduler, epilogue, direction, type and way of dividing the work, on sizes that no
 * tile divides, with groups, strides, dilation and images smaller than a tile. A row names what differs from a small plain config. The
 * emulator reports wrong results, accesses out of bounds, races and deadlocks alike. Every pair is run on infinities, NaNs and denormals too.
 * Every third config is generated with an epilogue as well, one after the other of a list that has all steps and types.
 *
 * The environment: KW_CHECK_ARCH takes one of the two alone, KW_CHECK_CACHE is a folder in which compiled kernels are kept between runs,
 * KW_CHECK_EVERY=N takes every Nth row, from row KW_CHECK_FIRST of each list, KW_CHECK_ARCH=NAME one architecture, KW_CHECK_ONLY=PATTERN
 * the tests of such names; chosen_kernels.h has two more. */

#include "check/gpu/block_rows.h"
#include "check/gpu/player.h"
#include "support/kw_test.h"

#include <fnmatch.h>

/* Of every config, unless a row says otherwise. */
static const char plain[] = "layout=rcr ndim=2 tile_m=64 tile_n=64 tile_k=32 wave_m=2 wave_n=2 wave_k=1 pipe=basic_v1 sched=intrawave "
                            "epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=1 vec_b=1 vec_c=1 stages=1 preshuffle=0 merge=1 wave_groups=1 "
                            "split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32";

/* The instruction of each type, and the waves where a wave has half the threads, in the order of player_arches. */
static const struct {
    const char *dtype, *shape[PLAYER_ARCHES];
} instructions[] = {
    {"bf16", {"wave_m=4 inst_m=16 inst_n=8 inst_k=16", "inst_m=32 inst_n=32 inst_k=8"}},
    {"fp16", {"wave_m=4 inst_m=16 inst_n=8 inst_k=16", "inst_m=16 inst_n=16 inst_k=16"}},
    {"fp32", {"wave_m=4 inst_m=16 inst_n=8 inst_k=4", "inst_m=32 inst_n=32 inst_k=4"}},
    {"fp32 fpmath=tf32", {"wave_m=4 inst_m=16 inst_n=8 inst_k=4", "inst_m=32 inst_n=32 inst_k=4"}},
    {"fp8", {"wave_m=4 inst_m=16 inst_n=8 inst_k=32", "inst_m=32 inst_n=32 inst_k=16"}},
    {"bf8", {"wave_m=4 inst_m=16 inst_n=8 inst_k=32", "inst_m=32 inst_n=32 inst_k=16"}},
    {"int8", {"wave_m=4 inst_m=16 inst_n=8 inst_k=32", "inst_m=16 inst_n=16 inst_k=32"}},
    {"int8 x=uint8", {"wave_m=4 inst_m=16 inst_n=8 inst_k=32", "inst_m=16 inst_n=16 inst_k=32"}},
};

typedef struct row {
    const char *ops; /* f forward, d backward data, w backward weight, g gemm in all layouts, a the same on AMD alone, b in layout rcr on
                      * NVIDIA alone, r gemm on groups of rows in both layouts that have them; what follows n, on NVIDIA alone */
    const char *dtype, *axes; /* what stands behind a type are words of the problem that its kernel has too */
    const char *problems[PLAYER_PROBLEMS];
} row;

#define ODD "n2 c5 k7 i9x8 f3x3 p1x1"
#define GROUPED "n1 g3 c12 k9 i7x11 f3x2 s2x2 p1x1 d2x1"
#define STEPS "n1 g2 c48 k80 i9x8 f3x3 p1x1 s2x1"
/* More steps than blocks, less than five times as many, and five tiles: a tile's first block is not the one that a division gives. */
#define PARTED "n1 c32 k5 i60x64 f3x3 p1x1"
/* Of depths one more than a tile's, in each direction. */
#define DEEPER "n1 c33 k33 i3x11 f1x1"
#define MERGED "n1 g8 c24 k16 i7x6 f3x3 p1x1 s2x2"

static const row geometry[] = {
    {"fdw", "bf16", "", {ODD, GROUPED, "n1 c1 k1 i1x1 f1x1"}},
    {"fdw", "bf16", "", {"n3 c3 k5 i4x5 f1x1 s3x3", "n1 g2 c6 k4 i6x6 f4x3 s3x2 p2x0 d1x2", DEEPER}},
    {"fdw", "bf16", "ndim=1", {"n2 g2 c6 k10 i19 f5 p2 s2 d2"}},
    {"fdw", "bf16", "ndim=3", {"n1 c5 k6 i4x5x6 f3x3x3 p1x1x1 s2x1x2", "n2 g2 c6 k4 i3x3x3 f2x1x3 p0x0x1 d1x1x2"}},
    {"fdw", "bf16", "index=64", {GROUPED}},
    {"f", "bf16", "split_image=1", {GROUPED, "n2 c4 k6 i19x18 f3x3 p9x1 d2x2"}},
};

static const row pipelines[] = {
    {"fdwg", "bf16", "vec_a=8 vec_b=8 vec_c=8", {STEPS}},
    {"fdwg", "bf16", "sched=interwave", {STEPS}},
    {"fdwg", "bf16", "pipe=mem vec_a=2 vec_b=4 vec_c=2", {STEPS}},
    {"fdwg", "bf16", "pipe=mem sched=interwave tile_k=64 stages=2 epi=default", {STEPS}},
    {"fdwg", "bf16", "pipe=compv3 vec_a=8 vec_b=8", {STEPS}},
    {"fdwg", "bf16", "pipe=compv3 stages=2 epi=default", {STEPS}},
    {"fdwg", "bf16", "pipe=compv4 stages=2 vec_a=4 vec_b=2", {STEPS}},
    {"fg", "bf16", "pipe=compv5 wave_groups=2", {STEPS}},
    {"fg", "bf16", "pipe=compv5 wave_groups=2 stages=2 epi=default", {STEPS}},
    {"fdwg", "bf16", "pipe=compv6 tile_k=64", {STEPS}},
    {"fdwg", "bf16", "pipe=compv6 tile_k=64 stages=2", {STEPS}},
    {"fdwg", "bf16", "pipe=comp_async stages=2 vec_a=8 vec_b=8", {STEPS}},
    {"fdwg", "bf16", "pipe=basic_async_v1 vec_a=2 vec_b=2", {STEPS}},
    {"fdwg", "bf16", "pipe=wavelet", {STEPS}},
    {"fdwg", "bf16", "wave_m=2 wave_n=1 wave_k=2", {STEPS}},
    {"fdwg", "bf16", "wave_m=2 wave_n=1 wave_k=2 epi=default", {STEPS}},
};

static const row types[] = {
    {"fdwg", "fp16", "", {GROUPED}},
    {"fdwg", "fp32", "", {GROUPED}},
    {"fg", "fp32", "inst_k=8", {GROUPED}},
    {"fdwg", "fp8", "", {GROUPED}},
    {"fdwg", "bf8", "", {GROUPED}},
    {"fdwg", "int8", "", {GROUPED}},
    {"nfdwg", "fp32 fpmath=tf32", "", {GROUPED}},
    {"nfdwg", "fp32 fpmath=tf32", "inst_k=8 pipe=compv3 vec_a=4 vec_b=4 epi=default", {STEPS}},
    {"nfdwg", "fp32 fpmath=tf32", "inst_k=8 pipe=comp_async stages=2 vec_a=4 vec_b=4 vec_c=4", {STEPS}},
    {"nfg", "int8 x=uint8", "", {GROUPED}},
    {"nfg", "int8 x=uint8", "pipe=compv3 vec_a=8 vec_b=8 vec_c=4", {STEPS}},
    {"nfg", "int8 x=uint8", "pipe=compv5 wave_groups=2 tile_k=64 wave_m=2 wave_n=1 wave_k=2 epi=default", {ODD}},
    {"fdwg", "fp32", "pipe=compv4 stages=2 vec_a=4 vec_b=4 vec_c=4 epi=default", {STEPS}},
    {"fdwg", "int8", "pipe=compv3 vec_a=8 vec_b=8 vec_c=4", {STEPS}},
    {"fdwg", "fp8", "pipe=comp_async stages=2 vec_a=8 vec_b=4 vec_c=4", {STEPS}},
};

static const row divisions[] = {
    {"wg", "bf16", "split_k=3", {GROUPED, STEPS}}, {"wg", "bf16", "split_k=0", {"n3 g2 c10 k14 i19x18 f3x3 p1x1 s2x1"}},
    {"w", "bf16", "two_stage=1", {GROUPED}},       {"w", "bf16", "two_stage=1 split_k=8", {GROUPED}},
    {"wg", "bf16", "streamk=tree", {STEPS, ODD}},  {"wg", "bf16", "streamk=linear persistent=1", {STEPS, ODD, PARTED}},
    {"g", "bf16", "persistent=1", {STEPS}},        {"g", "bf16", "pad_m=0 pad_n=0 pad_k=0", {STEPS}},
    {"a", "bf16", "preshuffle=1", {STEPS}},        {"a", "int8", "preshuffle=1 pipe=compv4 stages=2 tile_k=64 split_k=3", {STEPS}},
};

#define BULK "pipe=tma inst_m=64 inst_k=16 tile_k=64 vec_a=8 vec_b=8 vec_c=8 "
#define BULK_TF32 "inst_k=8 tile_k=32 vec_a=4 vec_b=4 vec_c=4 " BULK
#define POINTS "explicit=1 spec=filter1x1_stride1_pad0 "

static const row bulk[] = {
    {"b", "bf16", BULK "tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2", {STEPS}},
    {"b", "fp16", BULK "tile_m=128 tile_n=256 wave_m=8 wave_n=1 inst_n=256 stages=4", {STEPS}},
    {"b", "bf16", BULK "tile_m=128 tile_n=128 wave_m=4 wave_n=2 inst_n=64 stages=3 epi=default", {STEPS}},
    {"b", "bf16", BULK "tile_m=64 tile_n=256 wave_m=4 wave_n=2 inst_n=128 stages=2 persistent=1", {STEPS}},
    {"b", "bf16", BULK "tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=4 split_k=2", {STEPS}},
    {"b", "bf16", BULK "tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2 persistent=1 streamk=tree", {STEPS}},
    {"nf", "bf16", BULK POINTS "tile_m=128 tile_n=64 wave_m=8 wave_n=1 inst_n=64 stages=3", {"n2 g3 c72 k48 i9x8 f1x1"}},
    {"nf",
     "fp16",
     BULK POINTS "ndim=3 tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2 epi=default",
     {"n1 g2 c272 k16 i3x5x6 f1x1x1"}},
    {"b", "fp32 fpmath=tf32", BULK_TF32 "tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2", {STEPS}},
    {"b",
     "fp32 fpmath=tf32",
     "tile_k=64 " BULK_TF32 "tile_m=128 tile_n=256 wave_m=8 wave_n=1 inst_n=256 stages=2 epi=default persistent=1",
     {STEPS}},
    {"b", "fp32 fpmath=tf32", BULK_TF32 "tile_m=64 tile_n=256 wave_m=4 wave_n=2 inst_n=128 stages=3 split_k=2", {STEPS}},
    {"nf", "fp32 fpmath=tf32", BULK_TF32 POINTS "tile_m=128 tile_n=64 wave_m=8 wave_n=1 inst_n=64 stages=3", {"n2 g3 c72 k48 i9x8 f1x1"}},
};

#define TURNS "tile_k=64 inst_m=64 inst_k=16 wave_n=1 vec_a=8 vec_b=8 vec_c=8 persistent=1 "
#define COOPERATIVE TURNS "pipe=cooperative wave_m=8 "
#define PINGPONG TURNS "pipe=pingpong wave_m=4 wave_groups=2 "
#define THIN "vec_c=1 " PINGPONG
#define SPOTS "vec_a=1 vec_b=1 vec_c=1 "
#define PLANES "spec=filter1x1_stride1_pad0 "
#define MANY "n6 c72 k136 i31x32 f1x3 p0x1"
#define HALF "n3 c72 k136 i31x32 f1x3 p0x1"
#define FEW "n1 c72 k136 i31x32 f1x3 p0x1"

/* MANY, HALF and FEW make more tiles than the device has blocks, forward 141, backward data 156 of 64x64, and more steps than shared memory;
 * weights have few tiles however many the images are. A row that takes long is not the first, which sanitised builds play. */
static const row overlapped[] = {
    {"nfdw", "bf16", COOPERATIVE "ndim=1 tile_m=128 tile_n=64 inst_n=64 stages=2", {"n2 c24 k72 i37 f5 p2 d3"}},
    {"ndw", "bf16", COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=5", {FEW, "n1 c72 k64 i30x22 f3x5 p1x2 d2x1"}},
    {"nf", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=8", {HALF, "n3 c40 k136 i13x9 f3x3 p1x1"}},
    {"nd", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=8", {"n5 c72 k136 i31x32 f1x3 p0x1"}},
    {"ndw", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=8", {FEW, "n3 c40 k136 i13x9 f3x3 p1x1"}},
    {"nfdw", "bf16", COOPERATIVE "tile_m=256 tile_n=128 inst_n=128 stages=4", {"n2 c96 k200 i28x20 f3x3 p2x2 d2x2"}},
    {"nfdw", "bf16", PINGPONG "tile_m=128 tile_n=192 inst_n=192 stages=5", {"n1 c8 k8 i1x1 f1x1"}},
    {"nfdw", "bf16", PINGPONG "ndim=3 tile_m=64 tile_n=128 inst_n=128 stages=5", {"n2 c24 k64 i5x7x9 f3x3x2 p1x1x0"}},
    {"nf", "bf16", COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=5", {MANY, "n1 c72 k64 i30x22 f3x5 p1x2 d2x1"}},
    {"nfdw",
     "bf16",
     COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=2",
     {"n1 c72 k64 i30x22 f3x5 p1x2 s2x2", "n2 c8 k8 i9x7 f1x1 s3x2"}},
    {"nd", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=0", {"n1 c16 k264 i3x21 f3x5 p3x2 s4x2 d2x3"}},
    {"nfdw", "bf16", PINGPONG "ndim=3 tile_m=64 tile_n=64 inst_n=64 stages=4", {"n2 c24 k64 i5x7x9 f3x3x2 p1x1x0 s1x2x1"}},
    {"nf", "bf16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=0", {HALF, "n1 c264 k200 i3x4 f3x3 p1x1"}},
    {"ndw", "bf16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=0", {FEW, "n1 c264 k200 i3x4 f3x3 p1x1"}},
    {"nfd", "fp16", COOPERATIVE "tile_m=128 tile_n=128 inst_n=128 stages=4 split_k=7", {"n1 c72 k136 i9x7 f3x3 p2x2 d2x2"}},
    {"nw", "fp16", COOPERATIVE "tile_m=128 tile_n=128 inst_n=128 stages=4 split_k=40", {"n1 c72 k64 i30x22 f3x5 p1x2 s2x2"}},
    {"nd",
     "bf16",
     SPOTS COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=4",
     {"n2 c3 k24 i17x19 f7x7 p3x3 s2x2", "n2 c1 k17 i15x14 f5x5 p2x2"}},
    {"nd",
     "fp16",
     SPOTS PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=3",
     {"n1 c5 k70 i9x10 f3x2 p1x0 s3x2 d2x3", "n2 c4 k8 i16x16 f4x4 s4x4"}},
    {"nd", "bf16", SPOTS COOPERATIVE "ndim=3 tile_m=128 tile_n=64 inst_n=64 stages=3", {"n1 c3 k40 i6x7x9 f3x3x3 p1x1x1 s1x2x2"}},
    {"nfdw", "bf16", COOPERATIVE "tile_m=128 tile_n=128 inst_n=128 stages=4 split_k=0", {"n2 g3 c192 k384 i9x8 f3x3 p1x1 s1x2"}},
    {"nfd",
     "bf16",
     COOPERATIVE "merge=2 tile_m=128 tile_n=64 inst_n=64 stages=4",
     {"n3 g4 c128 k128 i9x7 f3x5 p1x2 s2x1", "n1 g2 c64 k64 i1x1 f1x1"}},
    {"nfd", "fp16", PINGPONG "merge=8 tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=0", {"n1 g16 c128 k128 i5x9 f3x3 p1x1 d2x1"}},
    {"nw", "bf16", PINGPONG "merge=4 tile_m=64 tile_n=192 inst_n=192 stages=4", {"n3 g8 c128 k128 i9x7 f3x5 p1x2 s2x1"}},
    {"nw", "fp16", PINGPONG "merge=2 tile_m=64 tile_n=64 inst_n=64 stages=4 split_k=5", {"n2 g4 c128 k128 i9x20 f2x3 p1x1 d1x2"}},
    {"nf", "bf16", COOPERATIVE "tile_m=128 tile_n=96 inst_n=96 stages=4", {"n2 c72 k96 i9x17 f3x3 p1x1", "n3 c40 k72 i9x7 f3x5 p1x2 s2x1"}},
    {"nw", "bf16", PINGPONG "tile_m=64 tile_n=96 inst_n=96 stages=4", {"n2 c200 k72 i9x11 f1x1", "n1 c104 k136 i12x13 f1x1 s2x1"}},
    {"nw", "fp16", COOPERATIVE "tile_m=128 tile_n=48 inst_n=48 stages=3 split_k=3", {"n3 c136 k72 i9x11 f1x1 s1x2"}},
    {"nf", "fp16", PINGPONG "tile_m=64 tile_n=32 inst_n=32 stages=3", {"n2 c72 k24 i9x17 f3x3 p1x1", "n1 c8 k32 i5x9 f1x1"}},
    {"nf", "bf16", SPOTS COOPERATIVE "tile_m=128 tile_n=128 inst_n=128 stages=4", {"n2 c13 k14 i9x17 f1x1", "n1 c21 k146 i9x11 f3x3 p1x1"}},
    {"nd", "bf16", SPOTS PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=4", {"n4 c17 k89 i11x11 f1x1", "n1 c70 k15 i9x13 f3x3 p1x1"}},
    {"nfd", "bf16", PLANES COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=4", {"n2 c128 k136 i7x8 f1x1", "n2 c64 k72 i14x28 f1x1"}},
    {"nfdw",
     "fp16",
     PLANES PINGPONG "tile_m=64 tile_n=128 inst_n=128 stages=6 split_k=0",
     {"n3 c72 k136 i8x15 f1x1", "n1 c640 k64 i4x6 f1x1"}},
    {"nfdw", "bf16", PLANES COOPERATIVE "ndim=1 tile_m=128 tile_n=64 inst_n=64 stages=3", {"n2 g2 c128 k128 i72 f1"}},
    {"ng", "bf16", COOPERATIVE "tile_m=128 tile_n=256 inst_n=256 stages=4", {STEPS}},
    {"ng", "bf16", THIN "layout=rrr epi=turned tile_m=16 tile_n=64 inst_n=16 stages=3", {STEPS}},
    {"ng", "fp16", THIN "layout=ccr epi=default tile_m=64 tile_n=32 inst_n=32 stages=2 split_k=2", {STEPS}},
    {"ng", "bf16", THIN "epi=turned tile_m=64 tile_n=128 inst_n=64 stages=3 split_k=2", {STEPS}},
    {"ng", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=2", {STEPS}},
    {"ng", "bf16", PINGPONG "tile_m=128 tile_n=64 inst_n=64 stages=3 split_k=0", {STEPS}},
    {"ng", "bf16", COOPERATIVE "tile_m=256 tile_n=64 inst_n=64 stages=3 split_k=5", {STEPS}},
};

/* Groups of rows that begin and end inside of tiles, of which some are whole, and groups of none. */
static const row groups_of_rows[] = {
    {"r", "bf16", "", {0}},
    {"r", "bf16", "pipe=compv3 vec_a=8 vec_b=8 vec_c=8", {0}},
    {"r", "int8", "persistent=1", {0}},
    {"r", "fp8", "pipe=comp_async stages=2 vec_a=8 vec_b=4 vec_c=4", {0}},
    {"r", "fp32", "epi=default split_k=0", {0}},
    {"nr", "bf16", BULK "layout=rcr tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2", {0}},
    {"nr", "fp16", BULK "layout=rcr tile_m=128 tile_n=128 wave_m=4 wave_n=2 inst_n=64 stages=3 epi=default persistent=1", {0}},
    {"nr", "fp32 fpmath=tf32", BULK_TF32 "layout=rcr tile_m=64 tile_n=64 wave_m=4 wave_n=1 inst_n=64 stages=2", {0}},
    {"nr", "bf16", COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=4", {0}},
    {"nr", "fp16", PINGPONG "tile_m=64 tile_n=64 inst_n=64 stages=3", {0}},
    {"nr", "bf16", SPOTS COOPERATIVE "tile_m=128 tile_n=64 inst_n=64 stages=3", {0}},
    {"nr", "bf16", THIN "layout=rrr epi=turned tile_m=16 tile_n=64 inst_n=16 stages=3", {0}},
    {"nr", "fp16", THIN "layout=rcr epi=default tile_m=64 tile_n=32 inst_n=32 stages=2", {0}},
};

static const row cuts[] = {
    {"fw", "bf16", "merge=2", {MERGED}},
    {"fw", "bf16", "merge=8 pipe=compv3", {MERGED, "n2 g8 c8 k8 i7x6 f3x3 p1x1"}},
    {"f", "bf16", "merge=8 vec_a=8 vec_b=8 vec_c=8", {MERGED}},
    {"fdw", "bf16", "spec=filter1x1_pad0", {"n2 g2 c10 k14 i9x8 f1x1 s2x2"}},
    {"fdw", "bf16", "spec=filter1x1_stride1_pad0", {"n2 g2 c10 k14 i9x8 f1x1"}},
    {"fw", "bf16", "spec=filter1x1_stride1_pad0 explicit=1", {"n2 g2 c10 k14 i9x8 f1x1"}},
    {"f", "bf16", "spec=filter3x3 vec_a=8 vec_b=8", {"n2 g4 c4 k12 i9x8 f3x3 p1x1 s2x1"}},
    {"f", "bf16", "spec=filter3x3 merge=4", {"n2 g4 c4 k12 i9x8 f3x3 p1x1 s2x1"}},
};

/* --- texts --- */

/* The word behind "name=" in a list of axes; NULL when it has none. */
static const char *value_of(const char *axes, const char *name) {
    size_t size = strlen(name);
    for (const char *at = axes; (at = strstr(at, name)) != NULL; at++) {
        if ((at == axes || at[-1] == ' ') && at[size] == '=') {
            return at + size + 1;
        }
    }
    return NULL;
}

/* Each axis as the first of the lists says that has it. */
static void config_of(kw_config *config, const char *head, const char *const lists[4]) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_line line = {text, sizeof text, 0};
    kw_scan scan = kw_scan_string(head);
    kw_word family;
    kw_error err = {0};
    assert_true(kw_scan_word(&scan, &family));
    const kw_family *of = kw_family_find(family);
    assert_non_null(of);
    kw_line_addf(&line, "%s", head);
    for (int i = 0; i < of->axis_count; i++) {
        const char *value = NULL;
        for (int l = 0; l < 4 && !value; l++) {
            value = value_of(lists[l], of->axes[i].name);
        }
        assert_non_null(value);
        kw_line_addf(&line, " %s=%.*s", of->axes[i].name, (int)strcspn(value, " "), value);
    }
    if (kw_config_parse(config, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

static const char *instruction(const char *dtype, int arch) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++) {
        if (!strcmp(instructions[i].dtype, dtype)) {
            return instructions[i].shape[arch];
        }
    }
    return NULL;
}

static bool is_overlapped(const row *r) {
    return strstr(r->axes, "pipe=cooperative") || strstr(r->axes, "pipe=pingpong");
}

static void check_conv(player *p, const row *r, const char *op, int arch) {
    static const char *const spatial[] = {"nwgc", "nhwgc", "ndhwgc"};
    const char *const lists[4] = {r->axes, instruction(r->dtype, arch), plain, ""};
    char head[64], problem[64];
    kw_config config;
    snprintf(head, sizeof head, "conv.igemm %s %s", op, r->dtype);
    config_of(&config, head, lists);
    snprintf(problem, sizeof problem, "%s %s %s", op, r->dtype, spatial[kw_config_axis(&config, "ndim", 2) - 1]);
    if (is_overlapped(r) && strstr(r->axes, PLANES)) { /* they have no other tensors */
        player_check_first(p, &config, problem, r->problems);
        player_check_first(p, &config, problem, r->problems);
    } else {
        player_check(p, &config, problem, r->problems);
    }
    if (is_overlapped(r)) {
        player_check_pitched_images(p, &config, problem, r->problems[0]);
    }
}

/* All layouts, or the one that a row names; sizes that serve vectors of 8 where there are any, and those of unpadded kernels. */
static void check_gemm(player *p, const row *r, int arch) {
    static const char *const layouts[] = {"layout=rcr", "layout=rrr", "layout=crr", "layout=ccr"};
    static const char *const odd[PLAYER_PROBLEMS] = {"b2 m45 n37 k51", "m1 n1 k1", "m70 n65 k203"};
    static const char *const even[PLAYER_PROBLEMS] = {"b2 m144 n40 k136"}, *const whole[PLAYER_PROBLEMS] = {"b2 m128 n64 k96"};
    bool padded = !value_of(r->axes, "pad_m"), vectors = value_of(r->axes, "vec_a") != NULL;
    for (int i = 0; i < (strstr(r->axes, BULK) ? 1 : 4); i++) {
        if (value_of(r->axes, "layout") && !strstr(r->axes, layouts[i])) {
            continue;
        }
        const char *const lists[4] = {r->axes, layouts[i], instruction(r->dtype, arch), plain};
        char head[64], problem[64];
        kw_config config;
        snprintf(head, sizeof head, "gemm.mma gemm %s", r->dtype);
        config_of(&config, head, lists);
        snprintf(problem, sizeof problem, "gemm %s %s", r->dtype, layouts[i] + strlen("layout="));
        if (!p->pitched_only) {
            player_check(p, &config, problem, !padded ? whole : vectors ? even : odd);
        }
        player_check_pitched(p, &config, problem, vectors || !padded, !padded ? whole[0] : vectors ? even[0] : odd[0]);
    }
}

static void check_row_groups(player *p, const row *r, int arch) {
    static const char *const layouts[] = {"layout=rcr", "layout=rrr"};
    static const char *const odd[PLAYER_PROBLEMS] = {"g5 m61 n37 k51", "g1 m1 n1 k1", "g70 m170 n65 k70"};
    static const char *const even[PLAYER_PROBLEMS] = {"g4 m488 n72 k136", "g9 m50 n40 k64"};
    for (int i = 0; i < 2; i++) {
        if (value_of(r->axes, "layout") && !strstr(r->axes, layouts[i])) {
            continue;
        }
        const char *const lists[4] = {r->axes, layouts[i], instruction(r->dtype, arch), plain};
        char head[64], problem[64];
        kw_config config;
        snprintf(head, sizeof head, "gemm.mma gemm %s", r->dtype);
        config_of(&config, head, lists);
        config.wants.grouped = true;
        snprintf(problem, sizeof problem, "gemm %s %s", r->dtype, layouts[i] + strlen("layout="));
        player_check(p, &config, problem, kw_config_axis(&config, "vec_a", 1) > 1 ? even : odd);
    }
}

static void check_row(player *p, const row *r, int arch) {
    bool amd = !strncmp(p->arch, "gfx", 3);
    for (const char *op = r->ops; *op && !(*op == 'n' && amd); op++) {
        if (*op == 'r') {
            check_row_groups(p, r, arch);
        } else if (*op == 'g' || *op == (amd ? 'a' : 'b')) {
            check_gemm(p, r, arch);
        } else if (*op != 'a' && *op != 'b' && *op != 'n' && !p->pitched_only) {
            check_conv(p, r, *op == 'f' ? "conv_fwd" : *op == 'd' ? "conv_bwd_data" : "conv_bwd_weight", arch);
        }
    }
}

static void check_block(player *p, const char *family, const block_row *r, int arch) {
    for (const char *op = r->ops; *op; op++) {
        const char *name = *op == 'f' ? "conv_fwd" : *op == 'd' ? "conv_bwd_data" : "conv_bwd_weight";
        char head[128], problem[64];
        kw_config config;
        snprintf(head, sizeof head, "%s %s %s", family, name, r->dtype);
        snprintf(problem, sizeof problem, "%s %s %s", name, r->dtype, r->layout);
        config_of(
            &config, head,
            (const char *const[4]){
                r->axes, r->more[arch],
                "ndim=2 dilation=1 filter_d=1 stride_d=1 pad_d=0 impl=grouped channels=32 slices=1 cols=64 pack=stage path=lds waves=1 "
                "peers=1",
                ""});
        if (config.family->first_text && !strncmp(r->layout, "ngc", 3)) { /* bare, and with an epilogue */
            player_check_first(p, &config, problem, r->problems);
            player_check_first(p, &config, problem, r->problems);
        } else {
            player_check(p, &config, problem, r->problems);
        }
    }
}

static void check_any(const row *rows, const char *family, const block_row *blocks, size_t count) {
    const char *every_text = getenv("KW_CHECK_EVERY"), *first_text = getenv("KW_CHECK_FIRST"), *only = getenv("KW_CHECK_ARCH");
    size_t every = every_text && atoi(every_text) > 0 ? (size_t)atoi(every_text) : 1, failures = 0;
    size_t first = first_text && atoi(first_text) > 0 ? (size_t)atoi(first_text) : 0;
    for (int arch = 0; arch < PLAYER_ARCHES; arch++) {
        if (only && strcmp(only, player_arches[arch])) {
            continue;
        }
        player p;
        player_open(&p, arch);
        for (size_t i = 0; i < count; i++) {
            p.passed_by = i % every != (first + (size_t)arch) % every;
            if (rows) {
                check_row(&p, &rows[i], arch);
            } else if (!p.pitched_only) {
                check_block(&p, family, &blocks[i], arch);
            }
        }
        failures += player_close(&p);
    }
    assert_int_equal(failures, 0);
}

static void check_rows(const row *rows, size_t count) {
    check_any(rows, NULL, NULL, count);
}

static void any_geometry_is_right(void **state) {
    (void)state;
    check_rows(geometry, sizeof geometry / sizeof *geometry);
}

static void every_pipeline_scheduler_and_epilogue_is_right(void **state) {
    (void)state;
    check_rows(pipelines, sizeof pipelines / sizeof *pipelines);
}

static void every_type_is_right(void **state) {
    (void)state;
    check_rows(types, sizeof types / sizeof *types);
}

static void every_division_of_the_depth_is_right(void **state) {
    (void)state;
    check_rows(divisions, sizeof divisions / sizeof *divisions);
}

static void merged_groups_and_special_filters_are_right(void **state) {
    (void)state;
    check_rows(cuts, sizeof cuts / sizeof *cuts);
}

static void depthwise_planes_are_right_in_both_layouts_and_all_directions(void **state) {
    (void)state;
    check_any(NULL, "conv.depthwise_block", planes_rows.rows, planes_rows.count);
}

static void depthwise_lines_and_volumes_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.depthwise_block", lines_and_volumes_rows.rows, lines_and_volumes_rows.count);
}

static void narrow_groups_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", narrow_groups_rows.rows, narrow_groups_rows.count);
}

static void weights_of_narrow_groups_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", narrow_weights_rows.rows, narrow_weights_rows.count);
}

static void one_group_with_its_filter_in_registers_is_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", dense_rows.rows, dense_rows.count);
}

static void few_channels_gathered_from_a_patch_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_1st_block", few_channels_rows.rows, few_channels_rows.count);
}

/* What no other family serves: zero points of both operands, and any other epilogue. */
static void the_reference_kernel_is_right(void **state) {
    static const block_row rows[] = {
        {.ops = "f", .dtype = "int8", .layout = "nhwgc", .axes = "", .more = {"", ""}, .problems = {"n2 g2 c6 k10 i5x4 f3x3 p1x1"}}};
    (void)state;
    check_any(NULL, "conv.reference_gpu", rows, 1);
}

static void tiles_brought_by_bulk_copies_are_right(void **state) {
    (void)state;
    check_rows(bulk, sizeof bulk / sizeof *bulk);
}

static void results_that_leave_under_the_next_tile_are_right(void **state) {
    (void)state;
    check_rows(overlapped, sizeof overlapped / sizeof *overlapped);
}

static void groups_of_rows_are_right(void **state) {
    (void)state;
    check_rows(groups_of_rows, sizeof groups_of_rows / sizeof *groups_of_rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_geometry_is_right),
        cmocka_unit_test(every_pipeline_scheduler_and_epilogue_is_right),
        cmocka_unit_test(every_type_is_right),
        cmocka_unit_test(every_division_of_the_depth_is_right),
        cmocka_unit_test(merged_groups_and_special_filters_are_right),
        cmocka_unit_test(tiles_brought_by_bulk_copies_are_right),
        cmocka_unit_test(results_that_leave_under_the_next_tile_are_right),
        cmocka_unit_test(groups_of_rows_are_right),
        cmocka_unit_test(depthwise_planes_are_right_in_both_layouts_and_all_directions),
        cmocka_unit_test(depthwise_lines_and_volumes_are_right),
        cmocka_unit_test(narrow_groups_are_right),
        cmocka_unit_test(weights_of_narrow_groups_are_right),
        cmocka_unit_test(one_group_with_its_filter_in_registers_is_right),
        cmocka_unit_test(few_channels_gathered_from_a_patch_are_right),
        cmocka_unit_test(the_reference_kernel_is_right),
    };
    const char *only = getenv("KW_CHECK_ONLY");
    size_t named = 0;
    for (size_t i = 0; only && i < sizeof tests / sizeof *tests; i++) {
        named += !fnmatch(only, tests[i].name, 0);
    }
    if (only && !named) {
        fprintf(stderr, "KW_CHECK_ONLY=%s: no test has such a name; ? stands for one letter, * for any, as in '*groups*'\n", only);
        return 1;
    }
    cmocka_set_test_filter(only);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
