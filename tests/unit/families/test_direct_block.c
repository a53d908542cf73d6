/* test_direct_block.c: into how many blocks conv.direct_block cuts a problem. That its kernels are right is tests/check's matter. */
#include "config/arch/gpu_arch.h"
#include "config/config.h"
#include "gpu/direct/args.h"
#include "support/kw_test.h"

/* With pack=lds a block brings the weights of its 64 channels once and stays: of 132 multiprocessors whose registers have room for three blocks
 * each 396 blocks at most, and no more than go over their tiles of 8x8 pixels in as many rounds. Up to two rounds each tile has a block. */
static void blocks_that_bring_weights_stay_for_several_tiles(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int64_t tiles, blocks; /* tiles: with those that lie side by side along the channels */
    } cases[] = {
        {"conv_fwd bf16 nhwgc n4 g8 c64 k64 i64x64 f3x3 p1x1", 4 * 64, 4 * 64},
        {"conv_fwd bf16 nhwgc n12 g8 c64 k64 i64x64 f3x3 p1x1", 12 * 64, 12 * 64},
        {"conv_fwd bf16 nhwgc n16 g8 c64 k64 i64x64 f3x3 p1x1", 16 * 64, 342},
        {"conv_fwd bf16 nhwgc n17 g8 c64 k64 i64x64 f3x3 p1x1", 17 * 64, 363},
        {"conv_fwd bf16 nhwgc n17 g24 c192 k192 i64x64 f3x3 p1x1", 3 * 17 * 64, 3 * 121},
        {"conv_bwd_data bf16 nhwgc n17 g8 c64 k64 i64x64 f3x3 p1x1", 17 * 64, 363},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_problem problem;
        kw_config config;
        kw_launch launch;
        kw_error err = {0};
        const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
        assert_ok(kw_problem_parse(&problem, cases[i].problem, &err), &err);
        snprintf(
            text, sizeof text,
            "conv.direct_block %s bf16 channels=8 impl=grouped tile_h=8 tile_w=8 stride=1 waves_c=4 waves_q=2 slices=1 cols=16 inst_k=16 "
            "swizzle=xor store=lds vec=8 pack=lds peers=1",
            kw_op_name(problem.op));
        assert_ok(kw_config_parse(&config, text, &err), &err);
        assert_ok(kw_config_fits(&config, &problem, target, &err), &err);
        config.family->launch(&config, &problem, target, &launch);
        assert_int_equal(launch.stages, 1);
        assert_int_equal(kw_launch_params_of(&launch, kw_direct_block_params)->units, cases[i].tiles);
        assert_int_equal(launch.stage[0].units, cases[i].blocks);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_bring_weights_stay_for_several_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
