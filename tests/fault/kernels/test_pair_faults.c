/* test_pair_faults.c: blocks that bring the second operand together, each a part for all (streamk=pair, quad), and faults planted where the
 * text says who waits for whom and whose half is whose. */
#include "support/kw_test.h"
#include "support/planted.h"

#include <stdlib.h>

#define LOOP "gpu/pipeline/overlap.h"
#define FEED "gpu/gemm/feed.h"
#define AXES                                                                                                                               \
    "tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 pad_m=1 pad_n=1 pad_k=1 "        \
    "preshuffle=0 persistent=1 index=32 "
#define COOPERATIVE "pipe=cooperative wave_m=8 wave_groups=1 tile_m=128 tile_n=128 inst_n=128 stages=6 "
#define PINGPONG "pipe=pingpong wave_m=4 wave_groups=2 tile_m=64 tile_n=128 inst_n=128 stages=7 "

/* Three rows of tiles and two columns or more on two pairs of blocks. */
static const struct {
    const char *config, *problem;
} kernels[] = {
    {"gemm.mma gemm bf16 layout=rcr split_k=1 streamk=pair " AXES COOPERATIVE, "gemm bf16 rcr m300 n232 k584"},
    {"gemm.mma gemm bf16 layout=crr split_k=2 streamk=pair " AXES PINGPONG, "gemm bf16 crr m136 n168 k840"},
    {"gemm.mma gemm bf16 layout=rcr split_k=1 streamk=quad " AXES PINGPONG, "gemm bf16 rcr m400 n104 k712"},
};

/* In a file, text becomes other. */
static const struct {
    const char *file, *text, *other;
} faults[] = {
    {LOOP, "KW_PAIR * (KW_PINGPONG", "KW_PAIR * (KW_PINGPONG"}, /* none */
    {LOOP, "KW_PAIR * (KW_PINGPONG", "(KW_PINGPONG"},
    {LOOP, "if (kw_lane() < KW_PAIR) kw_mbar_arrive_at(kw_empty_at(lds, stage), kw_lane());",
     "if (kw_lane() == 0) kw_mbar_arrive(kw_empty_at(lds, stage));"},
    {LOOP, "if (kw_lane() < KW_PAIR) kw_mbar_arrive_at(kw_empty_at(lds, stage), kw_lane());",
     "if (kw_lane() < KW_PAIR) kw_mbar_arrive(kw_empty_at(lds, stage));"},
    {LOOP, "    kw_cluster_barrier();\n#else\n    kw_barrier();\n#endif\n    kw_launch_wait",
     "    kw_barrier();\n#endif\n    kw_launch_wait"},
    {LOOP, "    kw_cluster_barrier(); /* the other block", "    kw_barrier(); /* the other block"},
    {LOOP, "* KW_PAIR + rank) * KW_TILE_M", "* KW_PAIR) * KW_TILE_M"},
    {LOOP, "return (int)a->params.units * KW_PAIR;", "return (int)a->params.units;"},
    {FEED, "first = rank * part;", "first = 0;"},
    {FEED, "to + (i + first) * 128", "to + i * 128"},
    {FEED, "f->k + first, batch", "f->k, batch"},
    {FEED, "f->k, row + first, batch", "f->k, row, batch"},
};

static void faults_of_pairs_are_found(void **state) {
    (void)state;
    int unlike = 0;
    setenv("KW_EMU_UNITS", "4", 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int wrong = 0;
        planted texts;
        planted_open(&texts);
        planted_change(&texts, faults[i].file, faults[i].text, faults[i].other);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            kw_record record = {0};
            planted_verify(kernels[k].config, kernels[k].problem, &record);
            wrong += record.outcome != KW_GOOD;
        }
        if (i ? !wrong : wrong) {
            print_message("%s -> %s: %d wrong\n", faults[i].text, faults[i].other, wrong);
            unlike++;
        }
        planted_close(&texts);
    }
    unsetenv("KW_EMU_UNITS");
    assert_int_equal(unlike, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_pairs_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
