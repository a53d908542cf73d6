/* test_mma_launch.c: which problems conv.igemm and gemm.mma take, and how they are cut into blocks. */

#include "families/gpu/mma/mma.h"
#include "config/arch/gpu_arch.h"
#include "gpu/lib/work_params.h"
#include "support/parsed.h"

typedef struct change {
    const char *axis;
    int32_t value; /* of a word axis, the word's position */
} change;

enum { CHANGES_MAX = 4 };

/* A plain config with some axes changed. */
static kw_config config_of(kw_op op, const change changes[CHANGES_MAX]) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config config;
    kw_error err = {0};
    snprintf(
        text, sizeof text,
        "conv.igemm %s bf16 ndim=2 tile_m=64 tile_n=64 tile_k=32 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=8 pipe=basic_v1 "
        "sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 two_stage=0 "
        "spec=default streamk=off persistent=0 split_k=1 index=32",
        kw_op_name(op));
    if (kw_config_parse(&config, text, &err)) {
        fail_msg("%s", err.text);
    }
    for (int i = 0; i < CHANGES_MAX && changes[i].axis; i++) {
        int at = kw_family_axis(config.family, (kw_word){changes[i].axis, strlen(changes[i].axis)});
        assert_true(at >= 0);
        config.axis[at] = changes[i].value;
    }
    if (kw_config_check(&config, &err)) {
        fail_msg("%s", err.text);
    }
    return config;
}

/* says: a part of the reason; NULL: it is taken. */
static void a_problem_is_refused_with_its_reason(void **state) {
    (void)state;
    static const struct {
        change changes[CHANGES_MAX];
        const char *problem, *says;
    } cases[] = {
        {{{0}}, "conv_fwd bf16 nhwgc n1 c3 k5 i9x9 f3x3", NULL},
        {{{0}}, "conv_fwd bf16 ngchw n1 c3 k5 i9x9 f3x3", "the config has no layout, the problem layout=first"},
        {{{0}}, "conv_fwd bf16 nhwgc n1 c3 k5 i9x9 f3x3 filter=kcrs", "the config has no filter_order, the problem filter_order=any"},
        {{{0}}, "conv_fwd bf16 ndhwgc n1 c3 k5 i9x9x9 f3x3x3", "rule ndim"},
        {{{"vec_a", 8}, {"vec_b", 8}, {"vec_c", 4}}, "conv_fwd bf16 nhwgc n1 c8 k12 i9x9 f3x3", NULL},
        {{{"vec_a", 8}, {"vec_b", 8}, {"vec_c", 4}}, "conv_fwd bf16 nhwgc n1 c12 k12 i9x9 f3x3", "rule vectors_divide"},
        {{{"vec_a", 8}, {"vec_b", 8}, {"vec_c", 4}}, "conv_fwd bf16 nhwgc n1 g2 c16 k12 i9x9 f3x3", "rule vectors_divide"},
        {{{"merge", 8}, {"vec_a", 8}, {"vec_b", 8}, {"vec_c", 4}}, "conv_fwd bf16 nhwgc n1 g8 c8 k8 i9x9 f3x3", NULL},
        {{{"merge", 8}, {"vec_a", 8}, {"vec_b", 8}, {"vec_c", 4}}, "conv_fwd bf16 nhwgc n1 g12 c12 k12 i9x9 f3x3", "rule merge_divides"},
        {{{"spec", KW_SPEC_FILTER1X1_STRIDE1_PAD0}}, "conv_fwd bf16 nhwgc n1 c3 k5 i9x9 f1x1", NULL},
        {{{"spec", KW_SPEC_FILTER1X1_STRIDE1_PAD0}}, "conv_fwd bf16 nhwgc n1 c3 k5 i9x9 f1x1 s2x1", "rule spec"},
        {{{"spec", KW_SPEC_FILTER1X1_STRIDE1_PAD0}}, "conv_fwd bf16 nhwgc n1 c3 k5 i9x9 f1x1 p1x0", "rule spec"},
        {{{0}}, "conv_fwd bf16 nhwgc n1 c64 k64 i5000x5000 f3x3", "rule index_reaches"},
        {{{"index", 64}}, "conv_fwd bf16 nhwgc n1 c64 k64 i5000x5000 f3x3", NULL},
        {{{"split_image", 1}}, "conv_fwd bf16 nhwgc n1 c64 k64 i5000x5000 f3x3", NULL},
        {{{0}}, "conv_bwd_data bf16 nhwgc n1 c4 k4 i200x200 f3x3 s100x100", "rule few_phases"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = problem_of(cases[i].problem);
        kw_config config = config_of(problem.op, cases[i].changes);
        kw_error err = {0};
        kw_status status = kw_config_fits(&config, &problem, &kw_gpu_arch_find("gfx942")->typical, &err);
        if (status != (cases[i].says ? KW_NO_KERNEL : KW_OK) || (cases[i].says && !strstr(err.text, cases[i].says))) {
            fail_msg("%s: %d %s", cases[i].problem, status, err.text);
        }
    }
}

static void blocks_and_workspace_are_those_of_the_product(void **state) {
    (void)state;
    static const struct {
        change changes[CHANGES_MAX];
        const char *problem;
        int32_t stages;
        int64_t units, shared; /* blocks of the first stage; bytes of the workspace */
    } cases[] = {
        /* 2 x 9 x 9 pixels in tiles of 64 rows, 70 channels in two columns */
        {{{0}}, "conv_fwd bf16 nhwgc n2 c3 k70 i9x9 f3x3 p1x1", 1, 3 * 2, 0},
        /* four phases of 2 x 5 x 5, 5 x 4, 4 x 5, 4 x 4 pixels: a tile each */
        {{{0}}, "conv_bwd_data bf16 nhwgc n2 c3 k70 i9x9 f3x3 p1x1 s2x2", 1, 4, 0},
        /* pieces of 5 and 4 rows in each of two images: a tile each */
        {{{"split_image", 1}}, "conv_fwd bf16 nhwgc n2 c3 k5 i9x9 f3x3 p1x1", 1, 4, 0},
        {{{0}}, "conv_bwd_weight bf16 nhwgc n2 g2 c6 k10 i9x9 f3x3 p1x1", 1, 2, 0},
        {{{"split_k", 3}}, "conv_bwd_weight bf16 nhwgc n2 g2 c6 k10 i9x9 f3x3 p1x1", 2, 6, 3 * 10 * 9 * 3 * 4},
        {{{"two_stage", 1}}, "conv_bwd_weight bf16 nhwgc n2 g2 c6 k10 i9x9 f3x3 p1x1", 2, 2, 10 * 9 * 3 * 4},
        /* six steps a tile, two tiles: no more blocks than steps, with two slots each */
        {{{"streamk", KW_STREAMK_TREE}}, "conv_bwd_weight bf16 nhwgc n2 g2 c6 k10 i9x9 f3x3 p1x1", 2, 12, 12 * 2 * 64 * 64 * 4},
    };
    const kw_gpu_arch *arch = kw_gpu_arch_find("gfx942");
    assert_non_null(arch);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = problem_of(cases[i].problem);
        kw_config config = config_of(problem.op, cases[i].changes);
        kw_launch launch;
        assert_int_equal(kw_config_fits(&config, &problem, &arch->typical, NULL), KW_OK);
        config.family->launch(&config, &problem, &arch->typical, &launch);
        assert_int_equal(launch.stages, cases[i].stages);
        assert_int_equal(launch.stage[0].units, cases[i].units);
        assert_int_equal(launch.stage[0].threads, 4 * 64);
        assert_int_equal(launch.shared_bytes, cases[i].shared);
    }
}

/* Copies of 16-byte rows lie behind the sums of parts, each at a multiple of 128 bytes; an operand that has such rows is none. */
static void rows_of_any_length_are_copied_first(void **state) {
    (void)state;
    const kw_gpu_arch *arch = kw_gpu_arch_find("sm_90");
    static const struct {
        const char *op, *problem;
        int64_t pieces, copied_at[2], row[2]; /* of 16 bytes; -1: the tensor itself; bytes from row to row */
    } cases[] = {
        {"gemm bf16 layout=rcr", "gemm bf16 rcr m77 n131 k201", (77 + 131) * 26, {0, 32128}, {416, 416}},
        {"gemm bf16 layout=crr", "gemm bf16 crr m77 n136 k201", 201 * 10, {0, -1}, {160, 272}},
        {"gemm bf16 layout=rcr", "gemm bf16 rcr m77 n131 k64", 0, {-1, -1}, {128, 128}},
        {"conv_fwd bf16 ndim=2", "conv_fwd bf16 nhwgc n2 c13 k29 i9x11 f3x3 p1x1", (198 + 29 * 9) * 2, {0, 6400}, {32, 32}},
        {"conv_bwd_weight bf16 ndim=2", "conv_bwd_weight bf16 nhwgc n2 c16 k29 i9x11 f3x3 p1x1", 198 * 4, {0, -1}, {64, 32}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_launch launch;
        kw_error err = {0};
        bool gemm = strncmp(cases[i].op, "gemm", 4) == 0;
        snprintf(
            text, sizeof text,
            "%s %s tile_m=64 tile_n=64 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 pipe=pingpong sched=intrawave "
            "epi=cshuffle %s vec_a=1 vec_b=1 vec_c=1 stages=8 %s",
            gemm ? "gemm.mma" : "conv.igemm", cases[i].op, gemm ? "pad_m=1 pad_n=1 pad_k=1" : "",
            gemm ? "preshuffle=0 wave_groups=2 persistent=1 split_k=1 streamk=off index=32"
                 : "merge=1 wave_groups=2 split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32");
        assert_int_equal(kw_config_parse(&config, text, &err), KW_OK);
        kw_problem problem = problem_of(cases[i].problem);
        assert_int_equal(kw_config_fits(&config, &problem, &arch->typical, &err), KW_OK);
        config.family->launch(&config, &problem, &arch->typical, &launch);
        assert_int_equal(launch.stages, 2);
        assert_int_equal(launch.stage[0].units, (cases[i].pieces + 255) / 256);
        assert_true(launch.early[0] && launch.early[1] && launch.map[2].rank == 0);
        for (int which = 0; which < 2; which++) {
            assert_int_equal(launch.map[which].copied ? launch.map[which].copied_at : -1, cases[i].copied_at[which]);
            assert_int_equal(launch.map[which].stride[0], cases[i].row[which]);
        }
    }
}

/* 182 tiles of 128x256, 138 of 256x128 on 132 multiprocessors: those of the first round are whole, as far as rows of tiles go, and the others
 * are divided. With several images in the batch, or rows that lie apart, all are alike. */
static void the_last_rows_of_tiles_are_divided_alone(void **state) {
    (void)state;
    static const struct {
        const char *config, *tile, *problem;
        int64_t rows, whole, elements; /* of tiles, before the tail; and of the result behind them. 0: there is no tail */
    } cases[] = {
        {"conv.igemm conv_bwd_data bf16 ndim=3", "tile_m=128 tile_n=256 inst_n=256 stages=4",
         "conv_bwd_data bf16 n8 c320 k704 i8x7x26 f3x3x3 p1x1x1", 66, 132, (11648 - 66 * 128) * 320},
        {"conv.igemm conv_bwd_data bf16 ndim=3", "tile_m=256 tile_n=128 inst_n=128 stages=4",
         "conv_bwd_data bf16 n8 c320 k704 i8x7x26 f3x3x3 p1x1x1", 44, 132, (11648 - 44 * 256) * 320},
        {"conv.igemm conv_bwd_data bf16 ndim=3", "tile_m=256 tile_n=128 inst_n=128 stages=4",
         "conv_bwd_data bf16 n8 c320 k704 i16x14x26 f3x3x3 s2x2x1 p1x1x1", 0, 0, 8 * 16 * 14 * 26 * 320},
        {"gemm.mma gemm bf16 layout=rcr", "tile_m=128 tile_n=128 inst_n=128 stages=6", "gemm bf16 rcr m17920 n128 k8192", 132, 132,
         8 * 128 * 128},
        {"gemm.mma gemm bf16 layout=rcr", "tile_m=128 tile_n=128 inst_n=128 stages=6", "gemm bf16 rcr b2 m8960 n128 k8192", 0, 0,
         17920 * 128},
    };
    const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_launch launch;
        kw_error err = {0};
        bool gemm = strncmp(cases[i].config, "gemm", 4) == 0;
        snprintf(text, sizeof text,
                 "%s %s tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 pipe=cooperative sched=intrawave epi=cshuffle vec_a=8 "
                 "vec_b=8 vec_c=8 wave_groups=1 persistent=1 split_k=0 streamk=off index=32 %s",
                 cases[i].config, cases[i].tile,
                 gemm ? "pad_m=1 pad_n=1 pad_k=1 preshuffle=0" : "merge=1 split_image=0 explicit=0 two_stage=0 spec=default");
        assert_ok(kw_config_parse(&config, text, &err), &err);
        kw_problem problem = problem_of(cases[i].problem);
        assert_ok(kw_config_fits(&config, &problem, target, &err), &err);
        config.family->launch(&config, &problem, target, &launch);
        const kw_work_params *work = kw_launch_params_of(&launch, kw_work_params);
        int64_t tiles = work->tile_rows * work->tile_cols * (gemm ? problem.gemm.batch : 1);
        assert_int_equal(work->elements, cases[i].elements);
        assert_int_equal(work->to_workspace, work->splits > 1 ? 1 + cases[i].whole : 0);
        assert_int_equal(work->units, cases[i].whole + (tiles - cases[i].whole) * work->splits);
        assert_int_equal(cases[i].rows * work->tile_cols, cases[i].whole);
        assert_int_equal(launch.shared_bytes, work->splits > 1 ? work->splits * work->elements * 4 : 0);
        assert_true(!cases[i].whole || work->splits > 1);
    }
}

/* Backward data whose operands are copied first: a row of the product is a spot of pixels, as large as is done first while its channels fit
 * the columns of a tile of 128x128. Spots of 4x4 pixels meet 6 x 6 positions of y and make 320 tiles of 5120, those of 2x2 pixels 4 x 4 and
 * 1280; with a stride of 2 half as many positions, with channels that fill the columns a spot is one pixel, and with few images tiles are no
 * fewer than multiprocessors. */
static void few_channels_are_gathered_in_spots_of_pixels(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int64_t tile_rows, tile_cols, steps;
        int32_t spot; /* pixels of y from one to the next */
    } cases[] = {
        {"conv_bwd_data bf16 nhwgc n640 c8 k64 i32x32 f3x3 p1x1", 320, 1, 6 * 6, 4},
        {"conv_bwd_data bf16 nhwgc n64 c8 k64 i32x32 f3x3 p1x1", 128, 1, 4 * 4, 2},
        {"conv_bwd_data bf16 nhwgc n640 c32 k64 i32x32 f3x3 p1x1", 1280, 1, 4 * 4, 2},
        {"conv_bwd_data bf16 nhwgc n64 c128 k64 i32x32 f3x3 p1x1", 512, 1, 3 * 3, 1},
        {"conv_bwd_data bf16 nhwgc n64 c256 k64 i32x32 f3x3 p1x1", 512, 2, 3 * 3, 1},
        {"conv_bwd_data bf16 nhwgc n640 c8 k64 i32x32 f3x3 p1x1 s2x2", 320, 1, 3 * 3, 2},
        {"conv_bwd_data bf16 nhwgc n640 c8 k129 i32x32 f3x3 p1x1 s2x2", 320, 1, 3 * 3 * 3, 2},
    };
    const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
    kw_config config;
    kw_error err = {0};
    assert_ok(kw_config_parse(&config,
                              "conv.igemm conv_bwd_data bf16 ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 "
                              "inst_n=128 inst_k=16 pipe=cooperative sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 stages=4 merge=1 "
                              "wave_groups=1 split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32",
                              &err),
              &err);
    kw_mma mma = kw_mma_read(&config, target);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = problem_of(cases[i].problem);
        kw_launch launch;
        assert_ok(kw_config_fits(&config, &problem, target, &err), &err);
        kw_mma_grid grid = kw_mma_image_grid(&mma, &problem);
        if (grid.tile_rows != cases[i].tile_rows || grid.tile_cols != cases[i].tile_cols || grid.steps != cases[i].steps) {
            fail_msg("%s: %lld x %lld tiles of %lld steps", cases[i].problem, (long long)grid.tile_rows, (long long)grid.tile_cols,
                     (long long)grid.steps);
        }
        config.family->launch(&config, &problem, target, &launch);
        assert_int_equal(launch.map[0].step[0], cases[i].spot);
        assert_int_equal(launch.map[0].step[1], cases[i].spot);
    }
}

/* Backward data of strided filters of one tap stores a pixel of y's whole cell of x, zeros and all: rows of tiles are pixels of y, which boxes
 * of rows bring. Of fewer tiles than half of 132 multiprocessors, or with padding, tiles are of one phase each. */
static void strided_points_are_stored_by_cells(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int64_t tile_rows; /* of 64 */
        bool cells;
    } cases[] = {
        {"conv_bwd_data bf16 nhwgc n16 c128 k64 i28x28 f1x1 s2x2", 49, true},
        {"conv_bwd_data bf16 nhwgc n16 c128 k64 i27x27 f1x1 s2x2", 49, true},
        {"conv_bwd_data bf16 nhwgc n16 c128 k64 i28x28 f1x1 s3x2", 35, true},
        {"conv_bwd_data bf16 nhwgc n8 c128 k64 i28x28 f1x1 s2x2", 4 * 25, false},
        {"conv_bwd_data bf16 nhwgc n16 c128 k64 i28x28 f1x1 p1x1 s2x2", 4 * 49, false},
        {"conv_bwd_data bf16 nhwgc n16 c128 k64 i28x28 f2x2 s2x2", 4 * 49, false},
    };
    const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
    kw_config config;
    kw_error err = {0};
    assert_ok(kw_config_parse(&config,
                              "conv.igemm conv_bwd_data bf16 ndim=2 tile_m=64 tile_n=64 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 "
                              "inst_n=64 inst_k=16 pipe=pingpong sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=8 merge=1 "
                              "wave_groups=2 split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32",
                              &err),
              &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = problem_of(cases[i].problem);
        kw_launch launch;
        assert_ok(kw_config_fits(&config, &problem, target, &err), &err);
        config.family->launch(&config, &problem, target, &launch);
        const kw_work_params *work = kw_launch_params_of(&launch, kw_work_params);
        if (work->tile_rows != cases[i].tile_rows || launch.map[0].pixels == cases[i].cells) {
            fail_msg("%s: %lld rows of tiles, %s", cases[i].problem, (long long)work->tile_rows,
                     launch.map[0].pixels ? "of phases" : "of cells");
        }
    }
}

/* stages: of each, x w y where a tensor is turned, X W Y back from its copy, . of the kernel's own. */
static void channels_first_are_turned_around_the_kernel(void **state) {
    (void)state;
    static const struct {
        const char *problem, *stages;
    } cases[] = {
        {"conv_fwd bf16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1", "."},
        {"conv_fwd bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1", "wx.Y"},
        {"conv_fwd bf16 ngchw n2 c64 k64 i8x8 f1x1", "x.Y"},
        {"conv_fwd bf16 ngchw n2 c64 k64 i1x1 f1x1", "."},
        {"conv_fwd bf16 ngchw n2 c1 k64 i8x8 f3x3 p1x1", ".Y"},
        {"conv_fwd bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1 epilogue=add+relu", "wex.Y"},
        {"conv_bwd_data bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1", "wy.X"},
        {"conv_bwd_weight bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1", "yx.W"},
        {"conv_fwd bf16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 filter=kcrs", "w."},
        {"conv_bwd_data bf16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 filter=rsck epilogue=add", "w."},
        {"conv_fwd bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1 filter=krsc", "x.Y"},
        {"conv_fwd bf16 ngchw n2 c64 k64 i8x8 f1x1 filter=crsk", "wx.Y"},
        {"conv_bwd_weight bf16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1 filter=crsk epilogue=add", "e.W"},
        {"conv_bwd_weight bf16 ngchw n2 c64 k64 i8x8 f3x3 p1x1 filter=rsck epilogue=add+multiply", "feyx.W"},
    };
    const kw_target *target = &kw_gpu_arch_find("gfx942")->typical;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_problem problem = problem_of(cases[i].problem);
        kw_config config = config_of(problem.op, (const change[CHANGES_MAX]){{0}}), special, again;
        kw_launch launch;
        kw_error err = {0};
        char text[KW_CONFIG_TEXT_MAX], stages[KW_STAGE_MAX + 1] = "";
        assert_ok(kw_config_serves(&special, &config, &problem, target, &err), &err);
        assert_int_equal(special.wants.first, problem.layout == KW_CHANNELS_FIRST);
        assert_int_equal(special.wants.filter, problem.filter_order != KW_FILTER_OF_LAYOUT);
        bool turns = special.wants.first || special.wants.filter;
        assert_int_equal(kw_config_equal(&special, &config), !turns && !problem.epilogue.count);
        kw_config_print(text, sizeof text, &special);
        assert_ok(kw_config_parse(&again, text, &err), &err);
        assert_true(kw_config_equal(&again, &special));
        special.family->launch(&special, &problem, target, &launch);
        for (int stage = 0; stage < launch.stages; stage++) {
            const kw_turn *turn = &launch.turning.stage[stage];
            stages[stage] = !turn->images ? '.' : turn->back ? "XWY"[turn->tensor] : "xwyef"[turn->tensor];
            assert_true(!turn->images || launch.turning.copy[turn->tensor].made);
            assert_int_equal(launch.stage[stage].packs, stages[stage] == 'w');
        }
        assert_string_equal(stages, cases[i].stages);
        assert_int_equal(launch.turning.is, turns);
    }
}

/* What products may be off by beyond fp32's bound: Hopper's of bytes; of tf32 two roundings, or two cuts. */
static void coarse_products_say_how_coarse_they_are(void **state) {
    (void)state;
    static const struct {
        const char *dtype, *axes;
        double error;
    } cases[] = {
        {"fp8", "tile_k=128 inst_k=32 vec_a=16 vec_b=16 pipe=pingpong wave_groups=2 stages=5 persistent=1", 0x1p-11},
        {"fp8 fpmath=fast_accum", "tile_k=128 inst_k=32 vec_a=16 vec_b=16 pipe=pingpong wave_groups=2 stages=5 persistent=1", 0x1p-9},
        {"bf16", "tile_k=64 inst_k=16 vec_a=8 vec_b=8 pipe=pingpong wave_groups=2 stages=5 persistent=1", 0},
        {"fp8", "tile_k=64 inst_k=32 vec_a=1 vec_b=1 pipe=basic_v1 wave_groups=1 stages=1 persistent=0", 0},
        {"fp32", "tile_k=32 inst_k=8 vec_a=4 vec_b=4 pipe=tma wave_groups=1 stages=4 persistent=0", 0x1.01p-9},
        {"fp32", "tile_k=32 inst_k=8 vec_a=4 vec_b=4 pipe=basic_v1 wave_groups=1 stages=1 persistent=0", 0},
        {"fp32 fpmath=tf32", "tile_k=32 inst_k=8 vec_a=4 vec_b=4 pipe=basic_v1 wave_groups=1 stages=1 persistent=0", 0x1.01p-10},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_error err = {0};
        bool plain = strstr(cases[i].axes, "basic_v1") != NULL;
        snprintf(text, sizeof text,
                 "gemm.mma gemm %s layout=rcr %s tile_m=64 tile_n=64 wave_m=4 wave_n=1 wave_k=1 inst_m=%d inst_n=%d sched=intrawave "
                 "epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_c=8 preshuffle=0 split_k=1 streamk=off index=32",
                 cases[i].dtype, cases[i].axes, plain ? 16 : 64, plain ? 8 : 64);
        assert_ok(kw_config_read(&config, text, &err), &err);
        assert_true(config.family->sum_error(&config) == cases[i].error);
    }
}

/* The second operand stays where blocks have several tiles of a column and a tile's steps fit into the stages. */
static void few_steps_leave_an_operand_in_its_stages(void **state) {
    (void)state;
    static const struct {
        const char *problem;
        int64_t places, blocks;
    } cases[] = {
        {"conv_fwd bf16 nhwgc n32 c208 k144 i79x79 f1x1", 4, 132},
        {"conv_fwd bf16 nhwgc n32 c100 k600 i79x79 f1x1", 6, 130},
        {"conv_bwd_data bf16 nhwgc n32 c48 k80 i79x79 f1x1", 6, 132},
        {"conv_bwd_data bf16 nhwgc n32 c48 k80 i79x79 f1x1 s2x2", 6, 132},
        {"conv_bwd_data bf16 nhwgc n32 c48 k80 i79x79 f1x1 s2x2 p1x1", 0, 132},
        {"conv_fwd bf16 nhwgc n32 c848 k144 i79x79 f1x1", 0, 132},
        {"conv_fwd bf16 nhwgc n32 g2 c256 k256 i79x79 f1x1", 0, 132},
        {"conv_bwd_weight bf16 nhwgc n1 c2000 k2000 i7x7 f1x1", 0, 0},
        {"conv_fwd bf16 nhwgc n1 c48 k48 i79x79 f1x1", 0, 49},
    };
    const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_launch launch;
        kw_error err = {0};
        kw_problem problem = problem_of(cases[i].problem);
        snprintf(
            text, sizeof text,
            "conv.igemm %s bf16 ndim=2 tile_m=128 tile_n=128 inst_n=128 stages=6 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 "
            "pipe=cooperative sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 wave_groups=1 persistent=1 split_k=1 streamk=off "
            "index=32 merge=1 split_image=0 explicit=0 two_stage=0 spec=default",
            kw_op_name(problem.op));
        assert_ok(kw_config_parse(&config, text, &err), &err);
        config.family->launch(&config, &problem, target, &launch);
        assert_int_equal(kw_launch_params_of(&launch, kw_work_params)->places, cases[i].places);
        if (cases[i].blocks) {
            assert_int_equal(launch.stage[0].units, cases[i].blocks);
        }
    }
}

/* Thin products: rows of a copy of each operand and of a store, blocks, bytes drawn from the second-level cache; large ones wait for the launch
 * before them. */
static void thin_products_are_cut_into_rows_of_copies(void **state) {
    (void)state;
    static const struct {
        const char *axes, *problem;
        int32_t rows[3];
        int64_t blocks;
        double drawn;
        bool early;
    } cases[] = {
        {"layout=rcr tile_m=128 tile_n=32 inst_n=32 epi=cshuffle streamk=stationary stages=7",
         "gemm bf16 rcr m20000 n24 k640",
         {128, 32, 64},
         132,
         (157 * 128 + 132 * 32) * 640 * 2.0,
         true},
        {"layout=rcr tile_m=128 tile_n=32 inst_n=32 epi=cshuffle streamk=stationary stages=7",
         "gemm bf16 rcr m40000 n24 k640",
         {128, 32, 64},
         132,
         (313 * 128 + 132 * 32) * 640 * 2.0,
         false},
        {"layout=rcr tile_m=96 tile_n=384 inst_n=96 epi=turned streamk=pair stages=3",
         "gemm bf16 rcr m88 n20000 k640",
         {192, 48, 32},
         54,
         0,
         true},
        {"layout=crr tile_m=64 tile_n=128 inst_n=64 epi=turned streamk=quad stages=8",
         "gemm bf16 crr m64 n40000 k640",
         {64, 16, 64},
         120,
         0,
         false},
        {"layout=crr tile_m=64 tile_n=128 inst_n=64 epi=turned streamk=off stages=8",
         "gemm bf16 crr m64 n40000 k640",
         {64, 64, 64},
         132,
         0,
         true},
    };
    const kw_target *target = &kw_gpu_arch_find("sm_90")->typical;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config config;
        kw_launch launch;
        kw_error err = {0};
        kw_problem problem = problem_of(cases[i].problem);
        snprintf(text, sizeof text,
                 "gemm.mma gemm bf16 %s tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_k=16 pipe=cooperative sched=intrawave pad_m=1 "
                 "pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 preshuffle=0 wave_groups=1 persistent=1 split_k=1 index=32",
                 cases[i].axes);
        assert_ok(kw_config_parse(&config, text, &err), &err);
        assert_ok(kw_config_fits(&config, &problem, target, &err), &err);
        config.family->launch(&config, &problem, target, &launch);
        for (int which = 0; which < 3; which++) {
            assert_int_equal(launch.map[which].box[1], cases[i].rows[which]);
        }
        assert_int_equal(launch.stage[0].units, cases[i].blocks);
        assert_float_equal(launch.drawn_bytes, cases[i].drawn, 0.5);
        assert_int_equal(launch.early[0], cases[i].early);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_refused_with_its_reason),        cmocka_unit_test(blocks_and_workspace_are_those_of_the_product),
        cmocka_unit_test(rows_of_any_length_are_copied_first),         cmocka_unit_test(few_channels_are_gathered_in_spots_of_pixels),
        cmocka_unit_test(channels_first_are_turned_around_the_kernel), cmocka_unit_test(coarse_products_say_how_coarse_they_are),
        cmocka_unit_test(the_last_rows_of_tiles_are_divided_alone),    cmocka_unit_test(few_steps_leave_an_operand_in_its_stages),
        cmocka_unit_test(thin_products_are_cut_into_rows_of_copies),   cmocka_unit_test(strided_points_are_stored_by_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
