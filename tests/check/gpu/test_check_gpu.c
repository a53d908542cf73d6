/* test_check_gpu.c: the kernel text of conv.igemm, gemm.mma, conv.depthwise_block and conv.direct_block, played by the emulator of an
 * NVIDIA and of an AMD architecture: every pipeline, scheduler, epilogue, direction, type and way of dividing the work, on sizes that no
 * tile divides, with groups, strides, dilation and images smaller than a tile. A row names what differs from a small plain config. The
 * emulator reports wrong results, accesses out of bounds, races and deadlocks alike. Every pair is run on infinities, NaNs and denormals too.
 * Every third config is generated with an epilogue as well, one after the other of a list that has all steps and types.
 *
 * The environment: KW_CHECK_ARCH takes one of the two alone, KW_CHECK_CACHE is a folder in which compiled kernels are kept between runs,
 * KW_CHECK_EVERY=N takes every Nth row, KW_CHECK_ARCH=NAME one architecture, KW_CHECK_ONLY=PATTERN the tests of such names;
 * chosen_kernels.h has two more. */

#include "check/gpu/chosen_kernels.h"
#include "check/special_values.h"
#include "problem/epilogue/epilogue.h"
#include "support/kw_test.h"

enum { PROBLEMS_MAX = 3, ARCHES = 2, SPECIAL_EVERY = 1, EPILOGUE_EVERY = 5, FIRST_EVERY = 9, FILTER_EVERY = 13, PITCHED_EVERY = 4 };

static const char *const arches[ARCHES] = {"sm_90", "gfx942"};

/* Of every config, unless a row says otherwise. */
static const char plain[] = "layout=rcr ndim=2 tile_m=64 tile_n=64 tile_k=32 wave_m=2 wave_n=2 wave_k=1 pipe=basic_v1 sched=intrawave "
                            "epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=1 vec_b=1 vec_c=1 stages=1 preshuffle=0 merge=1 wave_groups=1 "
                            "split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32";

/* The instruction of each type, and the waves where a wave has half the threads, in the order of arches. */
static const struct {
    const char *dtype, *shape[ARCHES];
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
    const char *problems[PROBLEMS_MAX];
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

/* Configs of conv.depthwise_block and conv.direct_block, whose axes are all named; op, type and layout head their problems. more: what
 * differs from architecture to architecture, in the order of arches. */
typedef struct block_row {
    const char *ops, *dtype, *layout, *axes, *more[ARCHES], *problems[PROBLEMS_MAX];
} block_row;

static const block_row planes[] = {
    {"fd",
     "bf16",
     "ngchw",
     "tile_h=8 tile_w=8 filter=3 stride=1 pad=1 sub_h=4 sub_w=2 vec_in=2 vec_out=2 order=first",
     {"batch=4", "batch=16"},
     {"n5 g3 c3 k3 i11x10 f3x3 p1x1", "n1 g1 c1 k1 i3x2 f3x3 p1x1"}},
    {"fd",
     "fp16",
     "ngchw",
     "tile_h=8 tile_w=8 filter=5 stride=2 pad=1 sub_h=4 sub_w=4 vec_in=1 vec_out=1 order=first",
     {"batch=16", "batch=16"},
     {"n2 g3 c3 k3 i13x9 f5x5 s2x2 p1x1"}},
    {"f",
     "bf16",
     "ngchw",
     "tile_h=7 tile_w=28 filter=3 stride=1 pad=1 sub_h=4 sub_w=4 vec_in=8 vec_out=8 order=first",
     {"batch=2", "batch=4"},
     {"n3 g2 c2 k2 i9x64 f3x3 p1x1", "n1 g2 c2 k2 i15x8 f3x3 p1x1"}},
    {"f",
     "fp32",
     "ngchw",
     "tile_h=8 tile_w=12 filter=3 stride=2 pad=0 sub_h=3 sub_w=4 vec_in=8 vec_out=8 order=first",
     {"batch=3", "batch=7"},
     {"n2 g2 c2 k2 i19x32 f3x3 s2x2 p0x0:1x1"}},
    {"w",
     "bf16",
     "ngchw",
     "tile_h=8 tile_w=8 filter=3 stride=2 pad=1 sub_h=4 sub_w=4 vec_in=2 vec_out=2 order=first",
     {"batch=8", "batch=16"},
     {"n3 g3 c3 k3 i27x20 f3x3 s2x2 p1x1"}},
    {"w",
     "fp32",
     "ngchw",
     "tile_h=7 tile_w=8 filter=5 stride=1 pad=2 sub_h=3 sub_w=4 vec_in=1 vec_out=1 order=first",
     {"batch=5", "batch=10"},
     {"n2 g3 c3 k3 i19x9 f5x5 p2x2"}},
    {"fd",
     "bf16",
     "nhwgc",
     "tile_h=4 tile_w=8 filter=3 stride=2 pad=1 sub_h=4 sub_w=4 vec_in=4 vec_out=2 order=last",
     {"batch=64", "batch=128"},
     {"n2 g76 c76 k76 i9x10 f3x3 s2x2 p1x1", "n1 g4 c4 k4 i2x1 f3x3 s2x2 p1x1"}},
    {"fd",
     "fp16",
     "nhwgc",
     "tile_h=4 tile_w=4 filter=7 stride=1 pad=3 sub_h=4 sub_w=4 vec_in=1 vec_out=1 order=last",
     {"batch=32", "batch=64"},
     {"n2 g67 c67 k67 i5x9 f7x7 p3x3"}},
    {"fd",
     "fp32",
     "nhwgc",
     "tile_h=4 tile_w=4 filter=3 stride=1 pad=1 sub_h=2 sub_w=2 vec_in=8 vec_out=8 order=last",
     {"batch=64", "batch=128"},
     {"n1 g72 c72 k72 i5x9 f3x3 p1x1"}},
    {"w",
     "bf16",
     "nhwgc",
     "tile_h=8 tile_w=8 filter=3 stride=1 pad=1 sub_h=4 sub_w=4 vec_in=4 vec_out=2 order=last",
     {"batch=16", "batch=32"},
     {"n2 g44 c44 k44 i9x17 f3x3 p1x1"}},
    {"fdw",
     "bf16",
     "nhwgc",
     "tile_h=4 tile_w=8 filter=5 stride=2 pad=2 sub_h=4 sub_w=4 vec_in=8 vec_out=2 order=last",
     {"batch=32", "batch=64"},
     {"n3 g40 c40 k40 i21x19 f5x5 s2x2 p2x2", "n1 g8 c8 k8 i1x2 f5x5 s2x2 p2x2"}},
    {"w", /* a part has several tiles, each copied while the one before is multiplied */
     "bf16",
     "nhwgc",
     "tile_h=4 tile_w=4 filter=3 stride=1 pad=1 sub_h=4 sub_w=4 vec_in=8 vec_out=1 order=last",
     {"batch=32", "batch=64"},
     {"n2 g8 c8 k8 i70x66 f3x3 p1x1"}},
    {"fdw",
     "bf16",
     "nhwgc",
     "tile_h=8 tile_w=8 filter=3 stride=1 pad=2 dilation=2 sub_h=4 sub_w=4 vec_in=2 vec_out=2 order=last",
     {"batch=16", "batch=32"},
     {"n2 g18 c18 k18 i9x11 f3x3 p2x2 d2x2"}},
    {"fd",
     "fp16",
     "ngchw",
     "tile_h=8 tile_w=8 filter=3 stride=2 pad=1 dilation=3 sub_h=2 sub_w=4 vec_in=1 vec_out=1 order=first",
     {"batch=4", "batch=8"},
     {"n3 g3 c3 k3 i19x15 f3x3 s2x2 p1x1 d3x3"}},
};

/* One and three axes. */
static const block_row lines_and_volumes[] = {
    {"fdw",
     "bf16",
     "ngcw",
     "ndim=1 tile_h=1 tile_w=32 filter=4 stride=1 pad=3 sub_h=1 sub_w=8 vec_in=1 vec_out=1 order=first",
     {"batch=8", "batch=16"},
     {"n9 g3 c3 k3 i37 f4 s1 p3:0", "n1 g2 c2 k2 i2 f4 s1 p3:3"}},
    {"fdw",
     "fp32",
     "nwgc",
     "ndim=1 tile_h=1 tile_w=16 filter=31 stride=1 pad=15 sub_h=1 sub_w=4 vec_in=4 vec_out=2 order=last",
     {"batch=16", "batch=32"},
     {"n2 g36 c36 k36 i41 f31 s1 p15"}},
    {"fdw",
     "fp16",
     "nwgc",
     "ndim=1 tile_h=1 tile_w=8 filter=3 stride=2 pad=1 sub_h=1 sub_w=4 vec_in=1 vec_out=1 order=last",
     {"batch=16", "batch=32"},
     {"n2 g19 c19 k19 i21 f3 s2 p1"}},
    {"fdw",
     "bf16",
     "ndhwgc",
     "ndim=3 tile_h=4 tile_w=8 filter=3 stride=1 pad=1 filter_d=3 stride_d=1 pad_d=1 sub_h=4 sub_w=4 vec_in=4 vec_out=2 order=last",
     {"batch=32", "batch=64"},
     {"n2 g36 c36 k36 i4x5x9 f3x3x3 s1x1x1 p1x1x1", "n1 g4 c4 k4 i1x3x2 f3x3x3 s1x1x1 p1x1x1"}},
    {"fdw",
     "fp16",
     "ndhwgc",
     "ndim=3 tile_h=4 tile_w=4 filter=3 stride=1 pad=1 filter_d=3 stride_d=1 pad_d=1 sub_h=4 sub_w=4 vec_in=8 vec_out=1 order=last",
     {"batch=32", "batch=64"},
     {"n1 g40 c40 k40 i3x5x9 f3x3x3 s1x1x1 p1x1x1"}},
    {"fdw",
     "fp32",
     "ngcdhw",
     "ndim=3 tile_h=8 tile_w=8 filter=3 stride=2 pad=1 filter_d=3 stride_d=2 pad_d=1 sub_h=4 sub_w=4 vec_in=1 vec_out=1 order=first",
     {"batch=8", "batch=16"},
     {"n3 g2 c2 k2 i5x9x11 f3x3x3 s2x2x2 p1x1x1"}},
    {"fdw",
     "fp16",
     "ngcdhw",
     "ndim=3 tile_h=8 tile_w=8 filter=1 stride=1 pad=0 filter_d=5 stride_d=1 pad_d=2 sub_h=4 sub_w=4 vec_in=1 vec_out=1 order=first",
     {"batch=8", "batch=16"},
     {"n3 g2 c2 k2 i7x9x5 f5x1x1 s1x1x1 p2x0x0"}},
};

static const block_row narrow_groups[] = {
    {"fd",
     "bf16",
     "nhwgc",
     "channels=4 tile_h=4 tile_w=8 stride=1 waves_c=1 waves_q=2 swizzle=xor store=registers vec=4",
     {"inst_k=16", "inst_k=16"},
     {"n2 g19 c76 k76 i7x11 f3x3 p1x1", "n1 g1 c4 k4 i1x1 f3x3 p1x1"}},
    {"fd",
     "fp16",
     "nhwgc",
     "channels=8 tile_h=4 tile_w=12 stride=1 waves_c=2 waves_q=3 swizzle=cyclic store=lds vec=1",
     {"inst_k=8", "inst_k=32"},
     {"n2 g18 c144 k144 i7x11 f3x3 p1x2", "n1 g3 c24 k24 i9x8 f3x3 p0x3"}},
    {"f",
     "bf16",
     "nhwgc",
     "channels=16 tile_h=8 tile_w=8 stride=2 waves_c=1 waves_q=2 swizzle=xor store=lds vec=8",
     {"inst_k=16", "inst_k=32"},
     {"n2 g5 c80 k80 i19x23 f3x3 s2x2 p1x1"}},
    {"fd",
     "bf16",
     "nhwgc",
     "channels=32 tile_h=8 tile_w=8 stride=1 waves_c=1 waves_q=4 swizzle=none store=lds vec=2",
     {"inst_k=16", "inst_k=16"},
     {"n2 g3 c96 k96 i9x8 f3x3 p1x1"}},
    {"d",
     "bf16",
     "nhwgc",
     "channels=8 tile_h=8 tile_w=8 stride=2 waves_c=1 waves_q=1 swizzle=xor store=lds vec=4",
     {"inst_k=16", "inst_k=32"},
     {"n2 g5 c40 k40 i19x22 f3x3 s2x2 p1x1", "n1 g1 c8 k8 i2x1 f3x3 s2x2 p1x1", "n1 g2 c16 k16 i9x8 f3x3 s2x2 p0x3"}},
    {"d",
     "fp16",
     "nhwgc",
     "channels=32 tile_h=16 tile_w=8 stride=2 waves_c=1 waves_q=2 swizzle=cyclic store=registers vec=8",
     {"inst_k=16", "inst_k=16"},
     {"n1 g3 c96 k96 i18x9 f3x3 s2x2 p1x1"}},
};

/* Backward weight. */
static const block_row narrow_weights[] = {
    {"w",
     "bf16",
     "nhwgc",
     "channels=4 tile_h=4 tile_w=16 stride=1 waves_c=4 waves_q=1 cols=16 swizzle=none store=registers vec=4",
     {"inst_k=16", "inst_k=16"},
     {"n3 g19 c76 k76 i7x21 f3x3 p1x1", "n1 g1 c4 k4 i1x1 f3x3 p1x1"}},
    {"w",
     "fp16",
     "nhwgc",
     "channels=8 tile_h=8 tile_w=8 stride=2 waves_c=3 waves_q=2 cols=16 swizzle=none store=registers vec=1",
     {"inst_k=8", "inst_k=32"},
     {"n2 g7 c56 k56 i19x15 f3x3 s2x2 p1x1", "n1 g2 c16 k16 i9x8 f3x3 s2x2 p0x3"}},
    {"w",
     "bf16",
     "nhwgc",
     "channels=32 tile_h=4 tile_w=16 stride=1 waves_c=8 waves_q=1 cols=16 swizzle=none store=registers vec=8",
     {"inst_k=16", "inst_k=16"},
     {"n2 g3 c96 k96 i9x8 f3x3 p1x1"}},
};

/* One group; its source channels are not always all that the waves have, its result's not whole blocks. */
static const block_row dense[] = {
    {"fd",
     "bf16",
     "nhwgc",
     "impl=dense tile_h=4 tile_w=16 stride=1 waves_c=2 waves_q=1 slices=1 swizzle=xor store=lds vec=1",
     {"inst_k=16 cols=8", "inst_k=32 cols=16"},
     {"n2 g1 c61 k37 i7x21 f3x3 p1x1", "n1 g1 c1 k1 i1x1 f3x3 p1x1", "n1 g1 c9 k64 i3x8 f3x3 p0x3"}},
    {"fd",
     "fp16",
     "nhwgc",
     "impl=dense tile_h=4 tile_w=32 stride=1 waves_c=1 waves_q=2 slices=2 cols=16 swizzle=cyclic store=registers vec=4",
     {"inst_k=16", "inst_k=16"},
     {"n2 g1 c60 k44 i6x37 f3x3 p1x1"}},
    {"f",
     "bf16",
     "nhwgc",
     "impl=dense tile_h=3 tile_w=16 stride=2 waves_c=3 waves_q=1 slices=1 swizzle=none store=registers vec=8",
     {"inst_k=8 cols=16", "inst_k=16 cols=32"},
     {"n2 g1 c96 k40 i15x35 f3x3 s2x2 p1x1", "n1 g1 c88 k8 i3x3 f3x3 s2x2 p0x0"}},
    {"d",
     "bf16",
     "nhwgc",
     "impl=dense tile_h=6 tile_w=32 stride=2 waves_c=2 waves_q=1 slices=1 cols=16 swizzle=xor store=lds vec=8",
     {"inst_k=16", "inst_k=32"},
     {"n2 g1 c24 k64 i13x35 f3x3 s2x2 p1x1", "n1 g1 c16 k8 i6x7 f3x3 s2x2 p2x0"}},
};

/* Of results with channels, and of weights. Those without a step are run on infinities and NaNs too. */
static const char *const epilogues[] = {
    "out=int8",
    "epilogue=bias,gelu,add",
    "out=int8 epilogue=scale_row,bias:int32,relu,multiply:bf16",
    "out=fp32 epilogue=scale_row:fp16,scale_channel:bf16,add:int8:-0.5,silu",
    "out=fp16 epilogue=add:fp32,tanh,multiply:fp16,beta:fp16,add:bf16",
    "out=bf16 epilogue=scale,scale_row,bias:fp16,gelu_tanh",
    "out=fp8 epilogue=clamp:-2:3,bias:int8,sigmoid",
    "out=int8 epilogue=scale_channel,add:int32,leaky_relu:0.25",
    "out=bf8 epilogue=hardswish,scale_row:int8,clamp:-40000:50000",
    "out=uint8",
};
static const char *const weight_epilogues[] = {
    "out=fp32 epilogue=scale,beta,add", "epilogue=scale,multiply:fp16,add:bf16:2",
    "out=int8 epilogue=relu",           "out=bf16 epilogue=add:int32,tanh",
    "epilogue=bias_gradient",           "out=fp32 epilogue=bias_gradient,add",
};

/* Kernels of a kind, those of all rows and those that are played, and pairs of the latter that are right. */
typedef struct tally {
    size_t kernels, played, right;
} tally;

/* A GPU that is played. */
typedef struct player {
    const char *arch;
    const kw_backend *backend;
    kw_device *device;
    kw_code code;
    kw_compiler compiler;
    kw_cache *cache;
    size_t checked, failures, configs, fused, fused_weights, turned, filters, products, pitched_images;
    tally with_epilogue, with_first, with_filter, with_pitches;
    bool pitched_only, passed_by; /* the row is not played, but counts: so a kernel's words are the same however many rows are played */
    special_tally special;
} player;

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

/* --- checking --- */

static void check_problem(player *p, const kw_kernel *kernel, const kw_config *config, const char *text) {
    kw_problem problem;
    kw_bench *bench;
    kw_record record;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err) || kw_config_fits(config, &problem, p->backend->target(p->device), &err) ||
        kw_bench_open(&bench, p->backend, p->device, &problem, 0, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_bench_verify(bench, kernel, config, &record, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    bool fused = !kw_epilogue_is_none(&problem.epilogue);
    bool special = p->checked++ % SPECIAL_EVERY == 0 && problem.dtype != KW_INT8 && !problem.epilogue.count && !config->wants.pitched &&
                   !config->wants.filter && !config->wants.grouped;
    p->with_epilogue.right += fused && record.outcome == KW_GOOD;
    p->with_first.right += config->wants.first && record.outcome == KW_GOOD;
    p->with_filter.right += config->wants.filter && record.outcome == KW_GOOD;
    p->with_pitches.right += config->wants.pitched && record.outcome == KW_GOOD;
    /* Of a few elements an epilogue may leave nothing that could be wrong. */
    if (record.outcome != KW_GOOD && !(fused && record.outcome == KW_MISTRUSTED)) {
        p->failures++;
        fprintf(stderr, "%s: %s\n  kwright check --device emu:%s --config '%s' '%s'\n", kw_outcome_name(record.outcome), record.detail,
                p->arch, record.config, text);
    }
    special_values *values = NULL;
    if (special && (special_values_open(&values, bench, &err) || special_values_check(values, kernel, config, &p->special, &err))) {
        p->failures++;
        fprintf(stderr, "%s\n  on emu:%s '%s' '%s'\n", err.text, p->arch, record.config, text);
    }
    special_values_close(&values);
    kw_bench_close(&bench);
}

static double flops_of(const char *head, const char *const problems[PROBLEMS_MAX], const char *behind) {
    double flops = 0;
    for (int i = 0; i < PROBLEMS_MAX && problems[i]; i++) {
        char text[256];
        kw_problem problem;
        snprintf(text, sizeof text, "%s %s%s", head, problems[i], behind);
        flops += kw_problem_parse(&problem, text, NULL) ? 0 : (double)kw_problem_flops(&problem);
    }
    return flops;
}

static void count_kernel(tally *kind, bool is_one, bool played) {
    kind->kernels += is_one;
    kind->played += is_one && played;
}

/* behind: what stands behind the problems' sizes. */
static void check_kernel(player *p, const kw_config *config, const char *head, const char *const problems[PROBLEMS_MAX],
                         const char *behind) {
    kw_jit jit = {.code = p->code, .compiler = &p->compiler, .cache = p->cache, .log_folder = "/tmp"};
    kw_jit_result result;
    kw_blob blob = {0};
    kw_kernel *kernel = NULL;
    kw_error err = {0};
    bool played = !p->passed_by && (!chosen_kernels_are_some() || chosen_kernels_has(p->arch, config, flops_of(head, problems, behind)));
    count_kernel(&p->with_epilogue, !kw_epilogue_is_none(&config->wants.epilogue), played);
    count_kernel(&p->with_first, config->wants.first, played);
    count_kernel(&p->with_filter, config->wants.filter, played);
    count_kernel(&p->with_pitches, config->wants.pitched, played);
    if (!played) {
        return;
    }
    if (kw_config_runs(config, p->backend->target(p->device), &err) || kw_jit_blob(&jit, config, &blob, &result, &err) ||
        p->backend->load(p->device, config, &blob, &kernel, &err)) {
        fail_msg("%s: %s", head, err.text);
    }
    for (int i = 0; i < PROBLEMS_MAX && problems[i]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s %s%s", head, problems[i], behind);
        check_problem(p, kernel, config, text);
    }
    p->backend->unload(p->device, &kernel);
    kw_blob_drop(&blob);
}

/* Whether a kernel is refused an epilogue for the room that it takes. */
static bool lacks_room(const kw_error *err) {
    return strstr(err->text, "rule lds_result") || strstr(err->text, "rule overlap_epilogue") || strstr(err->text, "rule registers");
}

/* The same kernel behind stages that turn its tensors; every other time with what an epilogue reads in the result's shape. */
static void check_first(player *p, const kw_config *config, const char *head, const char *const problems[PROBLEMS_MAX]) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    const char *words = p->turned++ % 2 && config->dtype == KW_BF16 ? " epilogue=add:bf16:0.5+relu" : "";
    char text[256], front[64];
    kw_problem problem;
    kw_config special, bare = kw_config_plain(config);
    kw_error err = {0};
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head, first[kw_config_axis(config, "ndim", 2) - 1]);
    snprintf(text, sizeof text, "%s %s%s", front, problems[0], words);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, problems, words);
    } else if (!lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* The same kernel with a filter in another order, where this filter has one; every other time of channels-first problems too. */
static void check_filter(player *p, const kw_config *config, const char *head, const char *const problems[PROBLEMS_MAX]) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    static const char *const orders[] = {" filter=rsck", " filter=krsc", " filter=crsk", " filter=kcrs"};
    size_t number = p->filters++;
    bool is_first = config->family->turns && number % 2;
    const char *words = orders[(number + number / 4) % 4], *const one[PROBLEMS_MAX] = {problems[0]};
    char text[256], front[64];
    kw_problem problem;
    kw_config special, bare = kw_config_plain(config);
    kw_error err = {0};
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head,
             is_first ? first[kw_config_axis(config, "ndim", 2) - 1] : strrchr(head, ' ') + 1);
    snprintf(text, sizeof text, "%s %s%s", front, problems[0], words);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, one, words);
    } else if (!lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* The same kernel with zero points of x, and of its result. */
static void check_shifted(player *p, const kw_config *config, const char *head, const char *const problems[PROBLEMS_MAX]) {
    static const char *const words[] = {" epilogue=zero_x:int32", " out=uint8 epilogue=zero_x:int32+bias+scale+zero_y"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[256];
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config);
        kw_error err = {0};
        snprintf(text, sizeof text, "%s %s%s", head, problems[0], words[i]);
        if (kw_problem_parse(&problem, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
            check_kernel(p, &special, head, problems, words[i]);
        } else if (!lacks_room(&err) && !strstr(err.text, "rule zero_fill")) {
            fail_msg("%s: %s", text, err.text);
        }
    }
}

static void check_config(player *p, const kw_config *config, const char *head, const char *const problems[PROBLEMS_MAX]) {
    check_kernel(p, config, head, problems, "");
    if (config->family->turns && p->configs % FIRST_EVERY == 0) {
        check_first(p, config, head, problems);
    }
    if (config->family->filter_text && p->configs % FILTER_EVERY == 1) {
        check_filter(p, config, head, problems);
    }
    if (config->dtype == KW_INT8 && config->op <= KW_CONV_FWD && !config->wants.grouped) {
        check_shifted(p, config, head, problems);
    }
    if (p->configs++ % EPILOGUE_EVERY == 0) {
        bool weights = config->op == KW_CONV_BWD_WEIGHT;
        const char *words = weights ? weight_epilogues[p->fused_weights++ % (sizeof weight_epilogues / sizeof *weight_epilogues)]
                                    : epilogues[p->fused++ % (sizeof epilogues / sizeof *epilogues)];
        char text[256];
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config); /* of a grouped product its words are made anew */
        kw_error err = {0};
        snprintf(text, sizeof text, "%s %s %s", head, problems[0], words);
        if (kw_problem_parse(&problem, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
            snprintf(text, sizeof text, " %s", words);
            check_kernel(p, &special, head, problems, text);
        } else if (!lacks_room(&err)) {
            fail_msg("%s: %s", text, err.text);
        }
    }
}

static bool is_overlapped(const row *r) {
    return strstr(r->axes, "pipe=cooperative") || strstr(r->axes, "pipe=pingpong");
}

/* Channels, or channels first pixels, in larger tensors; every so many kernels. */
static void check_pitched_images(player *p, const kw_config *config, const char *head, const char *sizes) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    bool as_is = kw_word_is(kw_config_axis_word(config, "spec"), "filter1x1_stride1_pad0");
    const char *const words[PROBLEMS_MAX] = {sizes};
    char text[256], front[64], behind[96];
    kw_problem problem;
    kw_config special;
    kw_error err = {0};
    if (!as_is && p->pitched_images++ % PITCHED_EVERY) {
        return;
    }
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head,
             as_is ? first[kw_config_axis(config, "ndim", 2) - 1] : strrchr(head, ' ') + 1);
    snprintf(text, sizeof text, "%s %s", front, sizes);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    const kw_conv_dims *d = &problem.conv;
    int64_t x = as_is ? d->in[0] * d->in[1] * d->in[2] : d->c, y = as_is ? x : d->k;
    snprintf(behind, sizeof behind, " ldx%c%d ldy%c%d%s", as_is ? 'c' : 'w', (int)(x / 8 * 8 + 8), as_is ? 'c' : 'w', (int)(y / 8 * 8 + 16),
             as_is && config->op != KW_CONV_BWD_WEIGHT ? " epilogue=add" : "");
    snprintf(text, sizeof text, "%s %s%s", front, sizes, behind);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, config, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, words, behind);
    } else if (!strstr(err.text, "rule pitches") && !lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
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
        check_first(p, &config, problem, r->problems);
        check_first(p, &config, problem, r->problems);
    } else {
        check_config(p, &config, problem, r->problems);
    }
    if (is_overlapped(r)) {
        check_pitched_images(p, &config, problem, r->problems[0]);
    }
}

/* Products in larger matrices, as vectors of 16 or none allow: shared operands, gaps between lines and between matrices, lines of one result
 * between those of the other, and an epilogue. With KW_CHECK_PITCHED each kernel, and nothing else. */
static void check_pitched(player *p, const kw_config *config, const char *head, bool vectors, const char *sizes) {
    static const char *const odd[PROBLEMS_MAX] = {"lda69 ldb67 ldc41 stridea0 strideb14001 stridec3001", "lda71 ldc80 stridec40 strideb0",
                                                  "lda51 ldb51 ldc53 epilogue=bias:fp32+relu+add"},
                             *const even[PROBLEMS_MAX] = {"lda160 ldb144 ldc80 stridea0 strideb24000 stridec12000",
                                                          "ldb176 ldc128 stridec64 stridea26000 strideb0",
                                                          "lda192 ldc80 epilogue=bias:fp32+relu+add"};
    if (!p->pitched_only && p->products++ % PITCHED_EVERY) {
        return;
    }
    for (int i = 0; i < PROBLEMS_MAX; i++) {
        char text[256], behind[128];
        const char *words[PROBLEMS_MAX] = {sizes};
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config);
        kw_error err = {0};
        snprintf(behind, sizeof behind, " %s", vectors ? even[i] : odd[i]);
        snprintf(text, sizeof text, "%s %s%s", head, sizes, behind);
        if (kw_problem_parse(&problem, text, &err) || kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        check_kernel(p, &special, head, words, behind);
    }
}

/* All layouts, or the one that a row names; sizes that serve vectors of 8 where there are any, and those of unpadded kernels. */
static void check_gemm(player *p, const row *r, int arch) {
    static const char *const layouts[] = {"layout=rcr", "layout=rrr", "layout=crr", "layout=ccr"};
    static const char *const odd[PROBLEMS_MAX] = {"b2 m45 n37 k51", "m1 n1 k1", "m70 n65 k203"};
    static const char *const even[PROBLEMS_MAX] = {"b2 m144 n40 k136"}, *const whole[PROBLEMS_MAX] = {"b2 m128 n64 k96"};
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
            check_config(p, &config, problem, !padded ? whole : vectors ? even : odd);
        }
        check_pitched(p, &config, problem, vectors || !padded, !padded ? whole[0] : vectors ? even[0] : odd[0]);
    }
}

static void check_row_groups(player *p, const row *r, int arch) {
    static const char *const layouts[] = {"layout=rcr", "layout=rrr"};
    static const char *const odd[PROBLEMS_MAX] = {"g5 m61 n37 k51", "g1 m1 n1 k1", "g70 m170 n65 k70"};
    static const char *const even[PROBLEMS_MAX] = {"g4 m488 n72 k136", "g9 m50 n40 k64"};
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
        check_config(p, &config, problem, kw_config_axis(&config, "vec_a", 1) > 1 ? even : odd);
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
        config_of(&config, head,
                  (const char *const[4]){r->axes, r->more[arch],
                                         "ndim=2 dilation=1 filter_d=1 stride_d=1 pad_d=0 impl=grouped channels=32 slices=1 cols=64", ""});
        check_config(p, &config, problem, r->problems);
    }
}

static void open_player(player *p, int arch) {
    char name[32], note[256];
    int index;
    kw_error err = {0};
    const char *folder = getenv("KW_CHECK_CACHE");
    *p = (player){.arch = arches[arch], .pitched_only = getenv("KW_CHECK_PITCHED") != NULL};
    snprintf(name, sizeof name, "emu:%s", p->arch);
    if (kw_backend_find(&p->backend, &index, name, &err) || p->backend->open(&p->device, index, 0, &err) ||
        kw_code_for(&p->code, KW_BACKEND_EMU, p->arch, &err) || kw_compiler_find(&p->compiler, getenv("KW_CC"), p->code, &err) ||
        (folder && kw_cache_open(&p->cache, folder, note, &err))) {
        fail_msg("%s: %s", name, err.text);
    }
}

static size_t none_is_right(const tally *kind, bool wanted) {
    return (wanted && !kind->kernels) || (kind->played > 0 && !kind->right);
}

static void check_any(const row *rows, const char *family, const block_row *blocks, size_t count) {
    const char *every_text = getenv("KW_CHECK_EVERY"), *only = getenv("KW_CHECK_ARCH");
    size_t every = every_text && atoi(every_text) > 0 ? (size_t)atoi(every_text) : 1, failures = 0;
    for (int arch = 0; arch < ARCHES; arch++) {
        if (only && strcmp(only, arches[arch])) {
            continue;
        }
        player p;
        open_player(&p, arch);
        for (size_t i = 0; i < count; i++) {
            p.passed_by = i % every != (size_t)arch % every;
            if (rows) {
                check_row(&p, &rows[i], arch);
            } else if (!p.pitched_only) {
                check_block(&p, family, &blocks[i], arch);
            }
        }
        print_message("%s: %zu pairs of kernel and problem, %zu wrong; %zu with an epilogue, %zu with their channels first, %zu with "
                      "another order of the "
                      "filter and %zu with pitches are right\n",
                      p.arch, p.checked, p.failures, p.with_epilogue.right, p.with_first.right, p.with_filter.right, p.with_pitches.right);
        failures += p.failures;
        if (!chosen_kernels_are_some()) {
            failures += none_is_right(&p.with_epilogue, p.configs > 0) + none_is_right(&p.with_first, p.turned > 0) +
                        none_is_right(&p.with_pitches, p.products > 0);
        }
        kw_cache_close(&p.cache);
        p.backend->close(&p.device);
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
    check_any(NULL, "conv.depthwise_block", planes, sizeof planes / sizeof *planes);
}

static void depthwise_lines_and_volumes_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.depthwise_block", lines_and_volumes, sizeof lines_and_volumes / sizeof *lines_and_volumes);
}

static void narrow_groups_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", narrow_groups, sizeof narrow_groups / sizeof *narrow_groups);
}

static void weights_of_narrow_groups_are_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", narrow_weights, sizeof narrow_weights / sizeof *narrow_weights);
}

static void one_group_with_its_filter_in_registers_is_right(void **state) {
    (void)state;
    check_any(NULL, "conv.direct_block", dense, sizeof dense / sizeof *dense);
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
    };
    cmocka_set_test_filter(getenv("KW_CHECK_ONLY"));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
