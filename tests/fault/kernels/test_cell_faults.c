/* test_cell_faults.c: backward data of strided 1x1 filters, whose tiles store whole cells of pixels (KW_STORES_CELLS), on a device of few
 * multiprocessors (KW_EMU_UNITS); and faults planted where rows become cells and where zeros are stored. */
#include "support/kw_test.h"
#include "support/planted.h"

#define STORE "gpu/pipeline/overlap_store.h"
#define ROWS "gpu/igemm/backward.h"
#define AXES                                                                                                                               \
    "tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 merge=1 "    \
    "split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32 stages=5 "
#define PINGPONG "pipe=pingpong wave_m=4 tile_m=64 wave_groups=2"
#define COOPERATIVE "pipe=cooperative wave_m=8 tile_m=128 wave_groups=1"

/* Images that end inside a cell and such that do not; groups; three axes and one; and two whose tiles are of phases, one by its border and one
 * because it has few. */
static const planted_pair kernels_of_cells[] = {
    {"conv.igemm conv_bwd_data bf16 ndim=2 " AXES PINGPONG, "conv_bwd_data bf16 n29 c136 k72 i13x14 f1 s2"},
    {"conv.igemm conv_bwd_data fp16 ndim=2 " AXES COOPERATIVE, "conv_bwd_data fp16 n40 g2 c384 k128 i18x11 f1 s2x3"},
    {"conv.igemm conv_bwd_data bf16 ndim=3 " AXES PINGPONG, "conv_bwd_data bf16 n47 c128 k8 i5x6x9 f1 s2"},
    {"conv.igemm conv_bwd_data bf16 ndim=1 " AXES PINGPONG, "conv_bwd_data bf16 n44 c136 k8 i131 f1 s4"},
    {"conv.igemm conv_bwd_data bf16 ndim=2 " AXES PINGPONG, "conv_bwd_data bf16 n2 c136 k64 i13x14 f1 s2 p1"},
    {"conv.igemm conv_bwd_data bf16 ndim=2 " AXES PINGPONG, "conv_bwd_data bf16 n2 c72 k64 i13x14 f1 s2"},
};

static const planted_fault faults[] = {
    {ROWS, "inside |= ok << phase;", "inside |= ok << phase;", 0},
    {ROWS, "inside |= ok << phase;", "", 2},
    {ROWS, "phase[phase].at[axis] < (int)a->in[axis];", "phase[phase].at[axis] <= (int)a->in[axis];", 4},
    {ROWS, "int ok = r->image < a->n;", "int ok = 1;", 1},
    {ROWS, "flat = flat * a->in[axis] + kw_facts_of(work)->phase[phase].at[axis];", "flat += kw_facts_of(work)->phase[phase].at[axis];", 6},
    {ROWS, "|| kw_feed_cells(a)) return;", ") return;", 8},
    {STORE, "if (inside[i] >> phase & 1 && cell * 8 < cols)", "if (inside[i] >> phase & 1)", 1},
    {STORE, "for (int phase = 1; phase < phases; phase++) {", "for (int phase = 2; phase < phases; phase++) {", 8},
};

static void faults_in_cells_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels_of_cells, sizeof kernels_of_cells / sizeof *kernels_of_cells, "2");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_in_cells_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
