/* test_stationary_faults.c: thin products: a second operand that lies in shared memory whole (streamk=stationary), tiles of more rows than a copy has
 * and turned results in runs (epi=turned vec_c=8); channels-first images whose weights stay in the stages (KW_KEEPS_FIRST); and faults planted where the
 * text says what lies where. */
#include "support/kw_test.h"
#include "support/planted.h"

#define LOOP "gpu/pipeline/overlap.h"
#define STORE "gpu/pipeline/overlap_store.h"
#define FEED "gpu/gemm/feed.h"
#define PLANES "gpu/igemm/planes.h"
#define AXES                                                                                                                               \
    "gemm.mma gemm bf16 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 pipe=cooperative sched=intrawave vec_a=8 vec_b=8 "        \
    "vec_c=8 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 wave_groups=1 persistent=1 split_k=1 index=32 "

#define IMAGES                                                                                                                             \
    "conv.igemm conv_fwd bf16 ndim=2 tile_m=128 tile_n=64 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 "             \
    "pipe=pingpong sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=5 merge=1 wave_groups=2 split_image=0 explicit=0 "          \
    "two_stage=0 spec=filter1x1_stride1_pad0 streamk=off persistent=1 split_k=1 index=32 layout=first"

/* Three multiprocessors, several tiles a block, depths and columns that end before a step and a tile do. */
static const planted_pair kernels[] = {
    {AXES "layout=rcr epi=cshuffle streamk=stationary tile_m=128 tile_n=32 inst_n=32 stages=6", "gemm bf16 rcr m520 n24 k200"},
    {AXES "layout=crr epi=turned streamk=stationary tile_m=96 tile_n=128 inst_n=96 stages=5", "gemm bf16 crr m88 n520 k136"},
    {AXES "layout=rcr epi=turned streamk=pair tile_m=96 tile_n=384 inst_n=96 stages=3", "gemm bf16 rcr m104 n800 k136"},
    {IMAGES, "conv_fwd bf16 ngchw n7 c72 k104 i8x12 f1x1"},
};

static const planted_fault faults[] = {
    {LOOP, "if (KW_STATIONARY) both = 0;", "if (KW_STATIONARY) both = 0;", 0},
    {LOOP, "if (KW_STATIONARY) both = 0;", "", 1},
    {LOOP, "both ? bytes_a + bytes_b : KW_KEEPS_FIRST ? bytes_b : bytes_a", "bytes_a", 1 + 8},
    {LOOP, "KW_KEEPS_FIRST ? bytes_b : bytes_a", "bytes_a", 8},
    {LOOP, "work->batch = over / cols", "work->batch = 0", 8},
    {PLANES, "if (both) kw_feed_bring_first", "kw_feed_bring_first", 8},
    {FEED, "f->second + f->k / KW_TILE_K * KW_TILE_BYTES(KW_HELD_N)", "f->second", 1},
    {LOOP, "lds + KW_STATIONARY_AT + step * KW_TILE_BYTES(KW_HELD_N)", "lds + KW_STATIONARY_AT", 1 + 2},
    {STORE, "if (KW_TURNED || (KW_STORES_FIRST && rows))", "if (KW_STORES_FIRST && rows)", 2},
    {FEED, "i += KW_COPY_ROWS(rows)", "i += rows", 4},
    {FEED, "work->col + col + i, kw_result_matrix", "work->col + col, kw_result_matrix", 4},
};

static void faults_of_thin_products_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels, sizeof kernels / sizeof *kernels, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_thin_products_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
