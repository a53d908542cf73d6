/* test_stationary_faults.c: thin products: a second operand that lies in shared memory whole (streamk=stationary), tiles of more rows than a copy has
 * and turned results in runs (epi=turned vec_c=8); and faults planted where the text says what lies where. */
#include "support/kw_test.h"
#include "support/planted.h"

#define LOOP "gpu/pipeline/overlap.h"
#define STORE "gpu/pipeline/overlap_store.h"
#define FEED "gpu/gemm/feed.h"
#define AXES                                                                                                                               \
    "gemm.mma gemm bf16 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 pipe=cooperative sched=intrawave vec_a=8 vec_b=8 "        \
    "vec_c=8 pad_m=1 pad_n=1 pad_k=1 preshuffle=0 wave_groups=1 persistent=1 split_k=1 index=32 "

/* Three multiprocessors, several tiles a block, depths and columns that end before a step and a tile do. */
static const planted_pair kernels[] = {
    {AXES "layout=rcr epi=cshuffle streamk=stationary tile_m=128 tile_n=32 inst_n=32 stages=6", "gemm bf16 rcr m520 n24 k200"},
    {AXES "layout=crr epi=turned streamk=stationary tile_m=96 tile_n=128 inst_n=96 stages=5", "gemm bf16 crr m88 n520 k136"},
    {AXES "layout=rcr epi=turned streamk=pair tile_m=96 tile_n=384 inst_n=96 stages=3", "gemm bf16 rcr m104 n800 k136"},
};

static const planted_fault faults[] = {
    {LOOP, "if (KW_STATIONARY) second = 0;", "if (KW_STATIONARY) second = 0;", 0},
    {LOOP, "if (KW_STATIONARY) second = 0;", "", 1},
    {LOOP, "KW_STAGE_BYTES_A + (second ? KW_TILE_BYTES(KW_HELD_N) : 0)", "KW_STAGE_BYTES_A", 1},
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
