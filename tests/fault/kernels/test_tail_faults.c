/* test_tail_faults.c: blocks that stay whose last rows of tiles alone are divided in depth, on a device of few multiprocessors (KW_EMU_UNITS),
 * so that a small product has whole rounds and a tail; and faults planted where the text tells the two apart. */
#include "support/kw_test.h"
#include "support/planted.h"

#define LOOP "gpu/pipeline/overlap.h"
#define SLICES "gpu/lib/slices.h"
#define AXES "tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 "
#define CONV_AXES AXES "merge=1 split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=0 index=32 ndim=2 "
#define GEMM_AXES AXES "pad_m=1 pad_n=1 pad_k=1 preshuffle=0 streamk=off persistent=1 split_k=0 index=32 layout=rcr "
#define PINGPONG "pipe=pingpong wave_m=4 tile_m=64 stages=8 wave_groups=2"

/* Five blocks; six tiles in one column, or in three rows and two. */
static const planted_pair kernels_with_tails[] = {
    {"gemm.mma gemm bf16 " GEMM_AXES PINGPONG, "gemm bf16 rcr m350 n64 k2048"},
    {"conv.igemm conv_fwd fp16 " CONV_AXES PINGPONG " epilogue=bias:fp32+relu",
     "conv_fwd fp16 n1 c256 k128 i13x14 f3x3 p1x1 epilogue=bias+relu"},
    {"gemm.mma gemm fp8 tile_k=128 wave_n=1 wave_k=1 inst_m=64 inst_k=32 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=16 "
     "vec_b=16 "
     "vec_c=8 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 streamk=off persistent=1 split_k=0 index=32 layout=rcr fpmath=fast_accum " PINGPONG,
     "gemm fp8 rcr m350 n64 k8192 fpmath=fast_accum"},
    {"conv.igemm conv_bwd_data bf16 " CONV_AXES PINGPONG, "conv_bwd_data bf16 n1 c64 k256 i19x18 f3x3 p1x1"},
};

enum { ALL = 15 };
static const planted_fault faults[] = {
    {SLICES, "kw_tail_row(a) * KW_TILE_M", "kw_tail_row(a) * KW_TILE_M", 0},
    {SLICES, "return kw_tail_row(a) * KW_TILE_M * row;", "return 0;", ALL},
    {SLICES, "at += kw_tail_element(&args);", "", ALL},
    {LOOP, "at -= tail;", "", ALL},
    {LOOP, "first_row = work->divided ? kw_tail_row(a) : 0;", "", ALL},
    {LOOP, "work->divided = at >= tail;", "work->divided = at > tail;", ALL},
    {LOOP, "            splits = 1;", "", ALL},
};

static void faults_at_a_tail_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels_with_tails, sizeof kernels_with_tails / sizeof *kernels_with_tails, "5");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_at_a_tail_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
