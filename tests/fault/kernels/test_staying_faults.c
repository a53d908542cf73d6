/* test_staying_faults.c: groups of few channels whose blocks keep their weights from tile to tile (gpu/direct/staying.h), on a device of one
 * multiprocessor (KW_EMU_UNITS), so that they have several; and faults planted where tiles come, are waited for and leave. */
#include "support/kw_test.h"
#include "support/planted.h"

#define LOOP "gpu/direct/staying.h"
#define COPY "gpu/direct/copied.h"
#define COUNTS "gpu/direct/args.h"
#define AXES "impl=grouped slices=1 inst_k=16 swizzle=xor store=lds vec=8 pack=lds peers=1 "

/* Weights in registers and in shared memory, there by matrices and by words; two sources and one; phases; an epilogue. */
static const planted_pair kernels_that_stay[] = {
    {"conv.direct_block conv_fwd bf16 channels=16 " AXES "tile_h=8 tile_w=8 stride=1 waves_c=4 waves_q=2 cols=16",
     "conv_fwd bf16 n1 g9 c144 k144 i19x21 f3 p1"},
    {"conv.direct_block conv_bwd_data fp16 channels=16 " AXES "tile_h=8 tile_w=16 stride=2 waves_c=2 waves_q=2 cols=32",
     "conv_bwd_data fp16 n1 g9 c144 k144 i37x41 f3 p1 s2"},
    {"conv.direct_block conv_fwd bf16 channels=4 " AXES "tile_h=14 tile_w=14 stride=2 waves_c=4 waves_q=4 cols=16 epilogue=bias:fp32+relu",
     "conv_fwd bf16 n1 g20 c80 k80 i79x41 f3 p1 s2 epilogue=bias+relu"},
    {"conv.direct_block conv_fwd bf16 channels=32 " AXES "tile_h=8 tile_w=8 stride=1 waves_c=1 waves_q=4 cols=32",
     "conv_fwd bf16 n1 g3 c96 k96 i19x21 f3 p1"},
};

static const planted_fault faults[] = {
    {LOOP, "turn ^= KW_SOURCES - 1;", "turn ^= KW_SOURCES - 1;", 0},
    {LOOP, "turn ^= KW_SOURCES - 1;", "", 2},
    {LOOP, "if (!more) break;\n        kw_async_wait(0, 0);", "if (!more) break;", 1},
    {LOOP, "kw_async_wait(0, 0);\n        kw_barrier();", "kw_async_wait(0, 0);", 1},
    {LOOP, "kw_barrier();\n        if (more && KW_SOURCES == 1)", "if (more && KW_SOURCES == 1)", 1},
    {LOOP, "kw_position to = at;", "kw_position to = kw_position_of(&args, kw_block(), KW_SRC_CHANNELS);", 4},
    {LOOP, "step < kw_steps_of(phase); step++, at++", "step < kw_steps_of(phase); step++", 1},
    {COPY, "place -= place >= cols ? cols : 0;", "", 1},
};

static void faults_of_blocks_that_stay_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, kernels_that_stay, sizeof kernels_that_stay / sizeof *kernels_that_stay, "1");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_blocks_that_stay_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
