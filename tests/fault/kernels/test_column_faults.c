/* test_column_faults.c: tiles whose columns are no multiple of 64, so that the last piece of their result is not full and a tile stands beside it,
 * and odd numbers of 8 columns, which a cluster's blocks cannot share evenly; and faults planted where the text says whose the columns are. */
#include "support/kw_test.h"
#include "support/planted.h"

#define STORE "gpu/pipeline/overlap_store.h"
#define LAYOUT "gpu/pipeline/overlap_layout.h"
#define FEED "gpu/gemm/feed.h"
#define IMAGE "gpu/igemm/feed.h"
#define AXES                                                                                                                               \
    "pipe=cooperative tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 "      \
    "wave_groups=1 streamk=off persistent=1 index=32 "
#define CONV_AXES AXES "merge=1 split_image=0 explicit=0 two_stage=0 spec=default ndim=2 tile_m=128 tile_n=80 inst_n=80 stages=4 "
#define GEMM_AXES AXES "pad_m=1 pad_n=1 pad_k=1 preshuffle=0 tile_m=128 tile_n=80 inst_n=80 stages=4 "
#define SINGLE_AXES                                                                                                                        \
    "pipe=cooperative tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 "      \
    "wave_groups=1 streamk=off persistent=1 index=32 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 tile_m=128 tile_n=72 inst_n=72 stages=4 "
#define ODD_AXES                                                                                                                           \
    "pipe=cooperative tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_n=40 inst_k=16 sched=intrawave vec_a=8 vec_b=8 wave_groups=1 "   \
    "index=32 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 stages=4 "

/* Two columns of tiles or more, the last of which is not full; by bulk stores, row by row, and by parts of the depth. */
static const planted_pair kernels[] = {
    {"gemm.mma gemm bf16 layout=rcr split_k=1 " GEMM_AXES, "gemm bf16 rcr m200 n232 k72"},
    {"gemm.mma gemm bf16 layout=crr split_k=3 " GEMM_AXES, "gemm bf16 crr m136 n168 k328"},
    {"conv.igemm conv_bwd_data fp16 split_k=1 " CONV_AXES, "conv_bwd_data fp16 n1 c168 k64 i9x10 f3x3 p1x1 s2x2"},
    {"conv.igemm conv_fwd fp16 split_k=1 layout=first " CONV_AXES, "conv_fwd fp16 ngchw n1 c64 k168 i8x8 f3x3 p1x1"},
    {"gemm.mma gemm bf16 layout=rcr tile_m=128 tile_n=40 epi=default vec_c=1 split_k=3 persistent=0 streamk=cluster " ODD_AXES,
     "gemm bf16 rcr m136 n88 k456"},
    {"gemm.mma gemm bf16 layout=ccr tile_m=40 tile_n=128 epi=turned vec_c=8 split_k=1 persistent=1 streamk=off " ODD_AXES,
     "gemm bf16 ccr m88 n136 k136"},
    {"conv.igemm conv_bwd_weight bf16 split_k=1 " CONV_AXES, "conv_bwd_weight bf16 n1 c168 k64 i9x10 f1x1 s2x2"},
    {"gemm.mma gemm bf16 layout=rrr split_k=1 " SINGLE_AXES, "gemm bf16 rrr m100 n231 k71"},
};

static const planted_fault faults[] = {
    {STORE, "box = boxes && behind <= 0;", "box = boxes && behind <= 0;", 0},
    {STORE, "box = boxes && behind <= 0;", "box = boxes;", 1},
    {STORE, "if (bulk && !box) kw_piece_rows(", "if (0) kw_piece_rows(", 1},
    {STORE, "2 * KW_CEIL(KW_TILE_N, KW_PIECE)", "2 * (KW_TILE_N / KW_PIECE)", 2},
    {STORE, "kw_min(cols, KW_TILE_N - col)", "cols", 8},
    {LAYOUT, "KW_TILE_BYTES(KW_HELD_N)", "KW_TILE_BYTES(KW_TILE_N)", 2 + 4 + 32 + 128},
    {LAYOUT, "KW_CEIL(KW_TILE_N / 8, KW_SHARES)", "(KW_TILE_N / 8 / KW_SHARES)", 16},
    {FEED, "*ok &= col < work->share_end;", "", 16},
    {FEED, "i += KW_TURNED_BOX(KW_TILE_N)", "i += 16", 32},
    {STORE, "col < kw_min(cols, KW_TILE_N - first_col)", "col < cols", 128},
    {IMAGE, "*cols = kw_feed_c(a) - work->col - col;", "*cols = kw_feed_c(a) - col;", 64},
    {IMAGE, "KW_ONE_TAP ? f->col + i * KW_SLAB_CHANNELS", "KW_ONE_TAP ? f->col / 64 * 64 + i * KW_SLAB_CHANNELS", 64},
};

static void faults_at_the_last_columns_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels, sizeof kernels / sizeof *kernels, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_at_the_last_columns_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
