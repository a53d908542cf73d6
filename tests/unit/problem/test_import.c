/* test_import.c: lines of MIOpenDriver and benchdnn against the problem that they mean. */
#include "support/kw_test.h"

#include <kernelwright.h>

typedef struct line {
    const char *text;
    const char *expected; /* canonical text; of a refused line a part of the message */
} line;

static void read_all(const line *lines, size_t count) {
    for (size_t i = 0; i < count; i++) {
        kw_problem problem;
        kw_error err = {0};
        char text[KW_PROBLEM_TEXT_MAX];
        if (kw_problem_import(&problem, lines[i].text, &err)) {
            fail_msg("%s: %s", lines[i].text, err.text);
        }
        kw_problem_print(text, sizeof text, &problem);
        assert_string_equal(text, lines[i].expected);
    }
}

static void refuse_all(const line *lines, size_t count) {
    for (size_t i = 0; i < count; i++) {
        kw_problem problem, before;
        kw_error err = {0};
        memset(&problem, 0x5a, sizeof problem);
        before = problem;
        if (!kw_problem_import(&problem, lines[i].text, &err) || !strstr(err.text, lines[i].expected)) {
            fail_msg("%s: \"%s\" lacks \"%s\"", lines[i].text, err.text, lines[i].expected);
        }
        assert_memory_equal(&problem, &before, sizeof before);
    }
}

static void miopen_lines_are_read(void **state) {
    (void)state;
    static const line lines[] = {
        {"./bin/MIOpenDriver convbfp16 -n 32 -c 64 -H 56 -W 55 -k 128 -y 3 -x 1 -p 1 -q 0 -u 2 -v 1 -l 1 -j 2 -m conv -g 2 -F 1 -t 1",
         "conv_fwd bf16 ngchw n32 g2 c64 k128 i56x55 f3x1 s2x1 p1x0 d1x2"},
        {"MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 -c 4 -H 8 -W 8 -k 4 -y 1 -x 1 -F 2 -t 1",
         "conv_bwd_data fp32 ngchw n1 g1 c4 k4 i8x8 f1x1 s1x1 p0x0 d1x1"},
        {"convfp16 --batchsize 4 --in_channels 8 --in_h 9 --in_w 10 --out_channels 6 --fil_h 3 --fil_w 5 --pad_h 1 --pad_w 2 "
         "--conv_stride_h 2 --conv_stride_w 1 --dilation_h 1 --dilation_w 2 --group_count 2 --forw 4 --in_layout NHWC --fil_layout NHWC "
         "--out_layout NHWC",
         "conv_bwd_weight fp16 nhwgc n4 g2 c8 k6 i9x10 f3x5 s2x1 p1x2 d1x2"},
        {"convint8 --spatial_dim 3 -n 2 -c 4 --in_d 8 -H 9 -W 10 -k 4 --fil_d 3 -y 2 -x 1 --pad_d 1 -p 0 -q 0 --conv_stride_d 2 -u 1 -v 1 "
         "--dilation_d 1 -l 1 -j 1 -F 1 -I NDHWC -O NDHWC -f NDHWC",
         "conv_fwd int8 ndhwgc n2 g1 c4 k4 i8x9x10 f3x2x1 s2x1x1 p1x0x0 d1x1x1"},
        {"conv _ 3 -F 1", NULL},
        {"convfp16 -F 1 -I NHWC -O NHWC", "conv_fwd fp16 nhwgc n100 g1 c3 k32 i32x32 f3x3 s1x1 p0x0 d1x1 filter=kcrs"},
        {"convfp16 -F 4 -f NHWC", "conv_bwd_weight fp16 ngchw n100 g1 c3 k32 i32x32 f3x3 s1x1 p0x0 d1x1 filter=krsc"},
        {"convfp16 -F 2 -f CHWN -g 2 -c 4", "conv_bwd_data fp16 ngchw n100 g2 c4 k32 i32x32 f3x3 s1x1 p0x0 d1x1 filter=crsk"},
        {"conv -F 1 -_ 3 -f CDHWN -I NDHWC -O NDHWC",
         "conv_fwd fp32 ndhwgc n100 g1 c3 k32 i32x32x32 f3x3x3 s1x1x1 p0x0x0 d1x1x1 filter=crsk"},
        {"conv -F 1 -I NHWC -O NHWC -y 1 -x 1", "conv_fwd fp32 nhwgc n100 g1 c3 k32 i32x32 f1x1 s1x1 p0x0 d1x1"},
        {"convfp8 -_ 3 -! 5 -@ 2 -# 2 -$ 1 -^ 2 -F 1", "conv_fwd fp8 ngcdhw n100 g1 c3 k32 i5x32x32 f2x3x3 s2x1x1 p1x0x0 d2x1x1"},
        {"convbfp8 -F 1", "conv_fwd bf8 ngchw n100 g1 c3 k32 i32x32 f3x3 s1x1 p0x0 d1x1"},
        {"conv -F 1 -i 10 -V 0 -s 1 -w 1 -P 0 -S 85 -b 0 -r 0 -z default -Z 0 -L 1 --conv_stride_0 2 --conv_stride_1 3",
         "conv_fwd fp32 ngchw n100 g1 c3 k32 i32x32 f3x3 s2x3 p0x0 d1x1"},
        {"gemm -m 3 -n 4 -k 5", "gemm fp32 rrr b1 m3 n4 k5"},
        {"gemmfp16 --a_h 3 --b_w 4 --a_w 5 -u 1 -b 2", "gemm fp16 crr b2 m3 n4 k5"},
        {"gemm -m 3 -n 4 -k 5 --transB 1 --alpha 1.0 --beta 0.0", "gemm fp32 rcr b1 m3 n4 k5"},
        {"MIOpenDriver gemm -m 3 -n 4 -k 5 -u 1 -v 1", "gemm fp32 ccr b1 m3 n4 k5"},
        /* All column-major: the transposed product, n x m. */
        {"gemm -m 3 -n 4 -k 5 -C 1", "gemm fp32 rrr b1 m4 n3 k5"},
        {"gemm -m 3 -n 4 -k 5 -C 1 -v 1", "gemm fp32 crr b1 m4 n3 k5"},
        {"gemm -m 3 -n 4 -k 5 -C 1 -u 1", "gemm fp32 rcr b1 m4 n3 k5"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].expected) {
            read_all(&lines[i], 1);
        } else {
            refuse_all(&(line){lines[i].text, "is not an option"}, 1);
        }
    }
}

static void miopen_lines_that_mean_something_else_are_refused(void **state) {
    (void)state;
    static const line lines[] = {
        {"conv -n 4", "means 3 problems, one for each direction, and one is wanted; say which: -F 1 is conv_fwd"},
        {"conv -F 3", "means 2 problems"},
        {"conv -F 8", "-F 8 is not a sum of directions: 1 is conv_fwd"},
        {"conv -F 1 -m trans", "--mode trans has no counterpart here; only --mode conv"},
        {"conv -F 1 -z same", "--pad_mode same"},
        {"conv -F 1 -b 1", "--bias 1"},
        {"conv -F 1 -L 4", "--vector_length 4"},
        {"conv -F 1 -n 0", "--batchsize \"0\" is not a whole number of at least 1"},
        {"conv -F 1 -n -4", "\"-4\""},
        {"conv -F 1 -p x", "--pad_h \"x\""},
        {"conv -F 1 -n 4 -n 5", "\"-n\" comes a second time"},
        {"conv -F 1 -n", "\"-n\" is last and has no value"},
        {"conv -F 1 --nosuch 3", "\"--nosuch\" is not an option of its conv driver"},
        {"conv -F 1 -- 3", "is not an option"},
        {"conv -F 1 - 3", "is not an option"},
        {"conv -F 1 -I NHWC", "input and output have different layouts"},
        {"conv -F 1 -f NWHC", "--fil_layout NWHC is not possible here; use NCHW or NHWC, or CHWN"},
        {"conv -F 1 -I CHWN", "--in_layout CHWN is not possible here; use NCHW or NHWC"},
        {"conv -F 1 -_ 3 -I NHWC", "use NCDHW or NDHWC"},
        {"conv -F 1 -_ 4", "--spatial_dim 4 is not 2 or 3"},
        {"conv -F 1 -g 2", "c=3 is not a multiple of g=2"},
        {"conv -F 1 -H 2", "output height is below 1"},
        {"gemm -m 3 -A 2.0", "--alpha 2.0 has no counterpart here; only --alpha 1 can"},
        {"gemm -m 3 -H 2", "\"-H\" is not an option of its gemm driver"},
        {"MIOpenDriver", "no driver that can be read"},
        {"MIOpenDriver pool -F 1", "\"pool\" is no driver"},
    };
    refuse_all(lines, sizeof lines / sizeof *lines);
}

/* Without -F, or with 0, MIOpenDriver runs all directions; other sums of their bits run these. */
static void a_miopen_line_of_several_directions_means_each(void **state) {
    (void)state;
    static const struct {
        const char *line;
        unsigned ops;
    } lines[] = {
        {"MIOpenDriver conv -n 4", 14}, {"conv -n 4 -F 0", 14},     {"convbfp16 -F 3 -n 4", 6},
        {"conv --forw 5 -n 4", 10},     {"conv -F 6 -n 4", 12},     {"conv -F 7 -n 4", 14},
        {"conv -F 4 -n 4", 8},          {"gemm -m 3 -n 4 -k 5", 1}, {"conv_fwd fp32 nhwgc c8 k8 i9x9 f3x3", 2},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        kw_problem problems[KW_IMPORT_MAX];
        kw_error err = {0};
        int count = -1;
        unsigned ops = 0;
        assert_int_equal(kw_problem_import_all(problems, &count, lines[i].line, &err), KW_OK);
        for (int j = 0; j < count; j++) {
            ops |= 1u << problems[j].op;
            assert_int_equal(kw_problem_check(&problems[j], &err), KW_OK);
            assert_true(!j || problems[j].op > problems[j - 1].op);
        }
        assert_int_equal(ops, lines[i].ops);
    }
    kw_problem problems[KW_IMPORT_MAX];
    kw_error err = {0};
    int count = -1;
    assert_int_equal(kw_problem_import_all(problems, &count, "conv -H 2", &err), KW_ILLEGAL);
    assert_int_equal(count, 0);
}

static void benchdnn_matmul_lines_are_read(void **state) {
    (void)state;
    static const line lines[] = {
        {"--matmul --dt=bf16 128x768:768x768", "gemm bf16 rrr b1 m128 n768 k768"},
        {"./benchdnn --matmul --mode=P --dt=f32 --stag=ab --wtag=ba --dtag=ab 10x30:30x20", "gemm fp32 rcr b1 m10 n20 k30"},
        {"10x30:30x20", "gemm fp32 rrr b1 m10 n20 k30"},
        {"--matmul --stag=ba --wtag=any 10x30:30x20:10x20n\"layer 1\"", NULL},
        {"--matmul --stag=ba --wtag=any 10x30:30x20:10x20_nlayer", "gemm fp32 crr b1 m10 n20 k30"},
        {"--matmul --stag=acb --wtag=acb --dtag=abc --dt=f16 2x10x30:2x30x20", "gemm fp16 ccr b2 m10 n20 k30"},
        {"--matmul --dt=u8:s8:u8 8x7:7x8", "gemm int8 rrr b1 m8 n8 k7 x=uint8 out=uint8"},
        {"--matmul --dt=s8:s8:s32 --bia_dt=f32 --bia_mask=8 2x3x10x30:2x3x30x20", "gemm int8 rrr b6 m10 n20 k30 epilogue=bias:fp32"},
        /* the same weights for all batches: one product of all rows */
        {"--matmul --wtag=acb 16x128x64:1x64x256", "gemm fp32 rcr b1 m2048 n256 k64"},
        {"--matmul --runtime_dims_masks=3:3 --stag=abx 7x5:5x3", "gemm fp32 rrr b1 m7 n3 k5"},
        /* lines of oneDNN's documentation, its inputs and its verbose converter */
        {"./benchdnn --matmul --dt=u8:s8:u8 --wtag=any --attr-zero-points=src:common:1+dst:common:-2 10x30:30x20",
         "gemm int8 rrr b1 m10 n20 k30 x=uint8 out=uint8 epilogue=zero_x:int32+zero_y:int32"},
        {"./benchdnn --matmul --bia_dt=f32 --bia_mask=4 2x10x30:2x30x20", "gemm fp32 rrr b2 m10 n20 k30 epilogue=bias:fp32"},
        {"./benchdnn --matmul --strides=8x4x1:24x6x1:21x7x1 3x2x4:3x4x6", "gemm fp32 rrr b3 m2 n6 k4 ldc7 stridec21"},
        {"--matmul --strides=:1x9: 7x8:8x5", "gemm fp32 rcr b1 m7 n5 k8 ldb9"},
        {"--matmul --strides=72x24x8x1:: 2x3x3x8:2x3x8x5", "gemm fp32 rrr b6 m3 n5 k8"},
        {"--reset --skip-impl=ref --cfg=u8s8s8 --attr-oscale=common:0.025 --bia_dt=f32 --bia_mask=2 "
         "--attr-zero-points=dst:common:7+src:common:3 10752x1024:1024x1024n\"BERT:MM_1*2\"",
         "gemm int8 rrr b1 m10752 n1024 k1024 x=uint8 out=int8 epilogue=zero_x:int32+bias:fp32+scale:fp32+zero_y:int32"},
        {"--reset --allow-enum-tags-only=0 --cfg=bf16bf16f32 --bia_dt=bf16 --bia_mask=2 --stag=any --wtag=any --dtag=ab "
         "--attr-post-ops=sum+logistic:1 128x14:14x200:128x200",
         "gemm bf16 rrr b1 m128 n200 k14 out=fp32 epilogue=bias:bf16+add:fp32+sigmoid"},
        {"--cfg=f32 --bia_dt=f32 --bia_mask=0 --stag=ab --wtag=ab --dtag=ab 256x10648:10648x1:256x1",
         "gemm fp32 rrr b1 m256 n1 k10648 epilogue=bias:fp32"},
        {"--matmul --dt=f32 --attr-fpmath=tf32 --bia_dt=f32 --bia_mask=3 77x133:133x117",
         "gemm fp32 rrr b1 m77 n117 k133 fpmath=tf32 epilogue=add:fp32"},
        {"--matmul --dt=f32 --attr-post-ops=sum:0.25:0:s32 --attr-fpmath=f16:true 77x133:133x117",
         "gemm fp32 rrr b1 m77 n117 k133 epilogue=add:int32:0.25"},
        {"./tests/benchdnn/benchdnn --matmul --reset --engine=gpu:0 --runtime_dims_masks= --bia_mask=2 --dt=f16:f16:f16 --bia-dt=f16 "
         "--stag=ab "
         "--wtag=ba --dtag=ab --strides=:: --attr-post-ops=binary_add:f16:3:ab+binary_mul:f32:1+eltwise_relu --attr-scales= "
         "--attr-zero-points= --attr-scratchpad=user 4160x3420:3420x1280 --mode=p",
         "gemm fp16 rcr b1 m4160 n1280 k3420 epilogue=bias:fp16+add:fp16+scale_row:fp32+relu"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (lines[i].expected) {
            read_all(&lines[i], 1);
        } else {
            refuse_all(&(line){lines[i].text, "is a second descriptor"}, 1);
        }
    }
    static const line refused[] = {
        {"--matmul", "no descriptor; add e.g. 128x768:768x768"},
        {"--matmul ic64ih56oc64kh3", "does not read MxK:KxN"},
        {"--matmul 128x768", "does not read MxK:KxN"},
        {"--matmul 128x768:768", "equally many extents"},
        {"--matmul 128:768", "equally many extents, 2 or more"},
        {"--matmul 0x768:768x8", "does not read MxK:KxN"},
        {"--matmul 8x7:7x8:8x8:8x8", "does not read MxK:KxN"},
        {"--matmul 8x7:6x8", "the source has k 7 and the weights 6"},
        {"--matmul 8x7:7x8:8x9", "extent 2 is 9, but must be 8"},
        {"--matmul 2x8x7:3x7x8", "batches of source and weights must be equal"},
        {"--matmul --stag=acb 2x8x7:1x7x8", "batches against one matrix of weights"},
        {"--matmul --stag=bac 2x8x7:2x7x8", "--stag=bac is not possible here"},
        {"--matmul --wtag=BA16a 8x7:7x8", "--wtag=BA16a is not possible here"},
        {"--matmul --dtag=ba 8x7:7x8", "the result is stored row by row"},
        {"--matmul --dir=FWD_D 8x7:7x8", "--dir is of convolutions"},
        {"--matmul --mb=2 8x7:7x8", "--mb is of convolutions"},
        {"--matmul --dt=u8:u8:s32 8x7:7x8", "and of a source whose weights are s8"},
        {"--matmul --strides=8x1x1:: 8x7:7x8", "does not read like 8x4x1:24x6x1:21x7x1"},
        {"--matmul --strides=8x2:: 8x7:7x8", "of a matrix' last two strides one must be 1"},
        {"--matmul --strides=200x40x8x1:: 2x3x4x8:2x3x8x5", "batches must be evenly apart"},
        {"--matmul --strides=64x8x1:: 2x8x7:1x7x8", "one product of all rows"},
        {"--matmul --strides=::1x8 8x7:7x8", "the result is stored row by row"},
        {"--matmul --strides=6x1:: 8x7:7x8", "lda=6 is below the 7 elements"},
        {"--matmul --bia_dt=f32 --bia_mask=12 7x16x24x8:7x16x8x24", "one value a channel (8), or the result's shape (15)"},
        {"--matmul --bia_dt=f32 --bia_mask=9 8x7:7x8", "--bia_mask=9 has no counterpart here"},
        {"--matmul --dt=f32,bf16 8x7:7x8", "--dt=f32,bf16 lists several values"},
        {"--matmul --batch=inputs/matmul/shapes_2d", "--batch=inputs/matmul/shapes_2d names a file of problems"},
        {"--matmul --cfg=u8s8 8x7:7x8", "u8s8 are two types"},
        {"--matmul --cfg=f32_wino 8x7:7x8", "--cfg=f32_wino is not one of"},
        {"--matmul --attr-fpmath=fast 8x7:7x8", "is not one of strict bf16 f16 tf32 any"},
        {"--matmul --attr-oscale=per_dim_0:2 8x7:7x8", "use common or per_oc"},
        {"--matmul --attr-post-ops=add:f32:per_tensor:ba 8x7:7x8", "its tensor lies otherwise than the result"},
        {"--strides=::8x4x1 ic64ih56oc64kh3", "of a convolution has no counterpart here; use tags"},
        {"--matmul --attr-post-ops=linear:2:1 8x7:7x8", "no step adds one number"},
        {"--matmul --attr-post-ops=relu:0:0:2 8x7:7x8", "it is scaled"},
        {"--matmul --attr-post-ops=add:f32 8x7:7x8", "per_tensor or per_oc"},
        {"--matmul --attr-post-ops=add:f99:per_oc 8x7:7x8", "its type is not known"},
        {"--matmul --attr-scales=src:per_oc 8x7:7x8", "has no counterpart here"},
        {"--matmul --attr-zero-points=src:common:1 8x7:7x8", "step zero_x is for gemm and conv_fwd of int8, not for gemm of fp32"},
        {"--matmul --dt=s8 --attr-zero-points=wei:per_ocic:s8:32x1 8x7:7x8", "use src, wei or dst with common, wei with per_oc"},
        {"--matmul --dt=s8 --attr-zero-points=src:per_dim_1 8x7:7x8", "use src, wei or dst with common, wei with per_oc"},
        {"--matmul --dt=s8 --attr-zero-points=bia:common:1 8x7:7x8", "use src, wei or dst with common"},
        {"--matmul --dt=s8:s8:s32 --attr-zero-points=dst:common:1 8x7:7x8", "step zero_y is for results of int8 or uint8"},
        {"--matmul --bia-dt=f99 8x7:7x8", "is not a type of a bias"},
        {"--matmul 9223372036854775807x8x7:1x7x8", "too many rows"},
        {"--wtag=wohi ic64ih56oc64kh3", "--wtag=wohi has no counterpart here; use abx (oihw), axb (ohwi), ihwo or hwio, or any"},
        {"--wtag=axb g2ic64ih56oc64kh3", "--wtag=axb has no counterpart here; use abx (goihw), gohwi or hwigo"},
    };
    refuse_all(refused, sizeof refused / sizeof *refused);
}

/* Column-major matrices: the problem is the transposed product, with m and n exchanged. */
static void hipblaslt_lines_are_read(void **state) {
    (void)state;
    static const line lines[] = {
        {"hipblaslt-bench --api_method c -m 1024 -n 512 -k 64 --lda 64 --ldb 64 --ldc 1024 --ldd 1024  --stride_a 0 --stride_b 0 "
         "--stride_c 0 "
         "--stride_d 0  --alpha 1.000000 --beta 0.000000 --transA T --transB N --batch_count 1 --scaleA 0 --scaleB 0 --a_type bf16_r "
         "--b_type bf16_r --c_type bf16_r --d_type bf16_r --scale_type f32_r --bias_type f32_r --compute_type f32_r --algo_method index "
         "--solution_index 1234 --activation_type none",
         "gemm bf16 rcr b1 m512 n1024 k64"},
        {"/opt/rocm/bin/hipblaslt-bench -m 3 -n 4 -k 5", "gemm fp16 rrr b1 m4 n3 k5"},
        {"hipblaslt-bench --sizem 3 --sizen 4 --sizek 5 --transB T --precision f16_r", "gemm fp16 crr b1 m4 n3 k5"},
        {"hipblaslt-bench -m 3 -n 4 -k 5 --transA C --transB T -r bf16_r -i 10 -j 2 -v", "gemm bf16 ccr b1 m4 n3 k5"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --batch_count 1 --stride_a 41 -r f32_r",
         "gemm fp32 rrr b1 m4 n8 k5"}, /* there is no second matrix */
        {"hipblaslt-bench -m 8 -n 4 -k 5 --batch_count 3 --stride_a 40 --stride_b 20 --stride_d 32 -r f32_r", "gemm fp32 rrr b3 m4 n8 k5"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --a_type f8_r --b_type f8_r --c_type f16_r --d_type f16_r --bias_vector --bias_source d",
         "gemm fp8 rrr b1 m4 n8 k5 epilogue=bias:fp16"},
        {"/opt/rocm/bin/hipblaslt-bench -m 3584 -n 2048 -k 512 --precision bf16_r --compute_type f32_r --transA N --transB N -i 50 -j 30 "
         "--rotating 640 --use_gpu_timer --flush --initialization trig_float --print_kernel_info",
         "gemm bf16 rrr b1 m2048 n3584 k512"},
        {"./hipblaslt-bench --precision f32_r -v 1 --activation_type clamp --activation_arg1 -1 --activation_arg2 6 --wgm 4 --scaleD 1",
         "gemm fp32 rrr b1 m128 n128 k128 epilogue=clamp:-1:6+scale:fp32"},
        {"hipblaslt-bench --activation_type clamp --bias_vector --bias_type default",
         "gemm fp16 rrr b1 m128 n128 k128 epilogue=bias:fp16+relu"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --lda 9 --ldd 16 --batch_count 2 --stride_a 100 -r bf16_r --d_type f32_r",
         "gemm bf16 rrr b2 m4 n8 k5 ldb9 strideb100 ldc16 out=fp32"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --a_type f8_r --b_type f8_r --d_type bf16_r --scaleA 1 --scaleB 2 --scaleAlpha_vector --beta 0.5 "
         "--c_type "
         "bf16_r --bias_vector --bias_type f32_r --activation_type gelu",
         "gemm fp8 rrr b1 m4 n8 k5 out=bf16 epilogue=scale:fp32+scale_row:fp32+scale_channel:fp32+add:bf16:0.5+bias:fp32+gelu_tanh"},
        {"hipblaslt-bench", "gemm fp16 rrr b1 m128 n128 k128"},
    };
    read_all(lines, sizeof lines / sizeof *lines);
    static const line refused[] = {
        {"hipblaslt-bench -m 0", "-m \"0\" is not a whole number of at least 1"},
        {"hipblaslt-bench -m 8 -m 9", "\"-m\" comes a second time"},
        {"hipblaslt-bench -m 8 --sizem 9", "\"--sizem\" comes a second time"},
        {"hipblaslt-bench -m", "\"-m\" is last and has no value"},
        {"hipblaslt-bench --nosuch 3", "\"--nosuch\" is not an option"},
        {"hipblaslt-bench --transA X", "--transA \"X\" is not N, T or C"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --lda 7", "ldb=7 is below the 8 elements"}, /* its A is our B */
        {"hipblaslt-bench -m 8 -n 4 -k 5 --transA T --lda 4", "ldb=4 is below the 5 elements"},
        {"hipblaslt-bench -m 8 -n 4 -k 5 --batch_count 2 --stride_d 31", "makes results of the batch overlap"},
        {"hipblaslt-bench --beta x", "--beta x is no number"},
        {"hipblaslt-bench --activation_type clamp --activation_arg1 x", "--activation_arg1 x is no number"},
        {"hipblaslt-bench --activation_type exp", "activation exp has no counterpart"},
        {"hipblaslt-bench --beta 1 --scaleC 1", "--scaleC 1 beside --beta has no counterpart"},
        {"hipblaslt-bench --scaleA 3", "scale mode 3 has no counterpart"},
        {"hipblaslt-bench --compute_type xf32_r", "--compute_type xf32_r has no counterpart"},
        {"hipblaslt-bench --grouped_gemm", "\"--grouped_gemm\" has no counterpart"},
        {"hipblaslt-bench --a_type f64_r", "type f64_r is not known"},
        {"hipblaslt-bench -r i32_r", "types int32 and int32 are not possible"},
        {"hipblaslt-bench --a_type f8_r --b_type bf8_r --d_type f16_r", "types fp8 and bf8"},
    };
    refuse_all(refused, sizeof refused / sizeof *refused);
}

static void tunable_op_lines_are_read(void **state) {
    (void)state;
    static const line lines[] = {
        {"GemmTunableOp_BFloat16_TN,tn_1024_512_64_ld_64_64_1024,Gemm_Hipblaslt_1234,0.0123", "gemm bf16 rcr b1 m512 n1024 k64"},
        {"GemmTunableOp_float_NN,nn_3_4_5,Default,0.5", "gemm fp32 rrr b1 m4 n3 k5"},
        {"GemmTunableOp_tf32_NN,nn_3_4_5,Default,0.5", "gemm fp32 rrr b1 m4 n3 k5 fpmath=tf32"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_64_12288_2048_ld_2048_2048_64_rw_1_bias_None",
         "gemm fp8 rcr b1 m12288 n64 k2048 out=bf16 epilogue=scale_channel:fp32+scale_row:fp32"},
        {"ScaledGemmTunableOp_Float8_e5m2_Float8_e5m2_Half_TN,tn_64_32_16_ld_16_16_64_rw_0_bias_Half",
         "gemm bf8 rcr b1 m32 n64 k16 epilogue=scale:fp32+scale:fp32+bias:fp16"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_float_TN,tn_64_32_16",
         "gemm fp8 rcr b1 m32 n64 k16 out=fp32 epilogue=scale:fp32+scale:fp32"},
        {"GemmAndBiasTunableOp_Half_TN,tn_768_1024_3072_ld_3072_3072_768", "gemm fp16 rcr b1 m1024 n768 k3072 epilogue=bias:fp16"},
        {"GemmTunableOp_Half_TN,tn_16_8_4_ld_4_4_32,Default,1", "gemm fp16 rcr b1 m8 n16 k4 ldc32"},
        {"GemmStridedBatchedTunableOp_float_NT,nt_64_128_32_B_96_ld_64_128_64,Gemm_Rocblas_7,0.01", "gemm fp32 crr b96 m128 n64 k32"},
    };
    read_all(lines, sizeof lines / sizeof *lines);
    static const line refused[] = {
        {"Validator,PT_VERSION,2.6.0", "a Validator says which versions the results hold for and is no problem"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e5m2_BFloat16_TN,tn_16_16_16,Default,1", "A and B are of one type here"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_BFloat16_TN,tn_16_16_16,Default,1", "has no counterpart here"},
        {"ScaledGemmTunableOp_Float8_e4m3fnuz_Float8_e4m3fnuz_BFloat16_TN,tn_16_16_16,Default,1", "has no counterpart here"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_16_16_16_rw_2,Default,1", "does not read like"},
        {"ScaledGemmTunableOp_Float8_e4m3fn_Float8_e4m3fn_BFloat16_TN,tn_16_16_16_bias_Double,Default,1", "does not read like"},
        {"GemmTunableOp_double_TN,tn_16_16_16,Default,1", "has no counterpart here"},
        {"GemmTunableOp_Half_TX,tn_16_16_16,Default,1", "has no counterpart here"},
        {"GemmTunableOp_Half_TN,tn_16_16,Default,1", "\"tn_16_16\" does not read like"},
        {"GemmTunableOp_Half_TN,tn_16_0_16,Default,1", "does not read like"},
        {"GemmTunableOp_Half_TN,tn_16_16_16_ld_16_16,Default,1", "does not read like"},
        {"GemmTunableOp_Half_TN,tn_16_16_16_rw_1,Default,1", "does not read like"},
        {"GemmTunableOp_Half_TN,", "does not read like"},
        {"GemmTunableOp_Half_TN,tn_16_8_4_ld_4_4_15,Default,1", "ldc=15 is below the 16 elements"},
    };
    refuse_all(refused, sizeof refused / sizeof *refused);
}

static void benchdnn_lines_are_read(void **state) {
    (void)state;
    static const line lines[] = {
        {"--dir=BWD_D --dt=bf16 g32mb1ic128ih56oc128oh56kh3ph1", "conv_bwd_data bf16 nhwgc n1 g32 c128 k128 i56x56 f3x3 s1x1 p1x1 d1x1"},
        {"ic64ih56oc64kh3", "conv_fwd fp32 nhwgc n2 g1 c64 k64 i56x56 f3x3 s1x1 p0x0 d1x1"},
        {"mb1_ic3iw20_oc4ow20_kw5_pw2_n\"alexnet:conv1\"*2", "conv_fwd fp32 nwgc n1 g1 c3 k4 i20 f5 s1 p2 d1"},
        {"./benchdnn --conv --mode=P --dir=BWD_W --dt=f16 --stag=axb --dtag=axb mb4ic8id9oc8kd3_pd1dd1",
         "conv_bwd_weight fp16 ndhwgc n4 g1 c8 k8 i9x9x9 f3x3x3 s1x1x1 p1x1x1 d2x2x2"},
        {"--stag=axb --wtag=abx --dtag=axb ic8ih9oc8kh3", "conv_fwd fp32 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 filter=kcrs"},
        {"--wtag=oihw ic8ih9oc8kh1", "conv_fwd fp32 nhwgc n2 g1 c8 k8 i9x9 f1x1 s1x1 p0x0 d1x1"},
        {"--wtag=axb ic8ih9oc8kh3", "conv_fwd fp32 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1"},
        {"--dir=BWD_W --wtag=ihwo ic8ih9oc8kh3", "conv_bwd_weight fp32 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 filter=crsk"},
        {"--wtag=hwio ic8ih9oc8kh3", "conv_fwd fp32 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 filter=rsck"},
        {"--wtag=hwigo g2ic8ih9oc8kh3", "conv_fwd fp32 nhwgc n2 g2 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 filter=rsck"},
        {"--stag=abx --wtag=gohwi g2ic8ih9oc8kh3", "conv_fwd fp32 ngchw n2 g2 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 filter=krsc"},
        {"--dir=BWD_WB --dt=bf16 ic8ih9oc8kh3",
         "conv_bwd_weight bf16 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 epilogue=bias_gradient:fp32"},
        {"--dir=BWD_WB --dt=bf16 --bia-dt=bf16 ic8ih9oc8kh3",
         "conv_bwd_weight bf16 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1 epilogue=bias_gradient:bf16"},
        {"--dt=s8 ic1ih1oc1kh1", "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 out=int8"},
        {"--dir=FWD_B --dt=bf16 --attr-post-ops=relu+sum:0.5+add:f32:per_tensor+mul:bf16:per_oc+mul:f32:common ic1ih1oc1kh1",
         "conv_fwd bf16 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 "
         "epilogue=bias:fp32+relu+add:bf16:0.5+add:fp32+scale_channel:bf16+scale:fp32"},
        {"--attr-post-ops=linear:2+relu ic1ih1oc1kh1", "conv_fwd fp32 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 epilogue=scale:fp32+relu"},
        {"--dt=s8:s8:s8 --bia-dt=bf16 --attr-scales=src:common:0.25+wei:per_oc+dst:common:2 --attr-post-ops=clip:0:6+relu:0.1 ic1ih1oc1kh1",
         "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 "
         "out=int8 epilogue=scale:fp32+scale_channel:fp32+bias:bf16+clamp:0:6+leaky_relu:0.1+scale:fp32"},
        {"--dt=u8:s8:u8 --attr-zero-points=src:common:3+dst:common:128* --attr-scales=src:common:0.25+dst:common:2 --attr-post-ops=relu "
         "ic1ih1oc1kh1",
         "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 x=uint8 "
         "out=uint8 epilogue=zero_x:int32+scale:fp32+relu+scale:fp32+zero_y:int32"},
        {"--dt=u8:s8:s32 --attr-zero-points=wei:per_oc+src:common:3 --attr-scales=src:common:0.25 ic1ih1oc1kh1",
         "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 x=uint8 epilogue=zero_x:int32+zero_w_channel:int32+scale:fp32"},
        {"--dt=u8:s8:s8 --attr-zero-points=wei:common:-3 ic1ih1oc1kh1",
         "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 x=uint8 out=int8 epilogue=zero_w:int32"},
        {"--dt=u8:s8:s8 ic1ih1oc1kh1", "conv_fwd int8 nhwgc n2 g1 c1 k1 i1x1 f1x1 s1x1 p0x0 d1x1 x=uint8 out=int8"},
        {"--mb=7 --dt=s8:s8:s32 mb1ic8ih9oc8kh3 --stag=abx", "conv_fwd int8 ngchw n7 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1"},
        {"--dt=f8_e4m3:f8_e4m3:f16 --dir=FWD_I ic8ih9iw7oc8kh3kw1", "conv_fwd fp8 nhwgc n2 g1 c8 k8 i9x7 f3x1 s1x1 p0x0 d1x1"},
        {"--dt=f16:f8_e5m2:f8_e5m2 --dir=BWD_D ic8ih9oc8kh3", "conv_bwd_data bf8 nhwgc n2 g1 c8 k8 i9x9 f3x3 s1x1 p0x0 d1x1"},
        /* an output without padding implies it; odd rests go to the back */
        {"ic3iw227oc3ow57kw11sw4", "conv_fwd fp32 nwgc n2 g1 c3 k3 i227 f11 s4 p4 d1"},
        {"ic3ih2oc3oh1kh3", "conv_fwd fp32 nhwgc n2 g1 c3 k3 i2x2 f3x3 s1x1 p0x0:1x1 d1x1"},
        /* padding that the output size contradicts: the back gives way, below zero too */
        {"g184mb1ic184id8ih28iw28oc184od8oh14ow14kd5kh3kw3sd1sh2sw2pd2ph0pw0",
         "conv_fwd fp32 ndhwgc n1 g184 c184 k184 i8x28x28 f5x3x3 s1x2x2 p2x0x0:2x1x1 d1x1x1"},
        {"g16mb1ic16ih2iw2oc16oh1ow1kh2kw2sh2sw2ph1pw1", "conv_fwd fp32 nhwgc n1 g16 c16 k16 i2x2 f2x2 s2x2 p1x1:-1x-1 d1x1"},
        {"ic64ih57oc64oh29kh3sh2ph1", "conv_fwd fp32 nhwgc n2 g1 c64 k64 i57x57 f3x3 s2x2 p1x1 d1x1"},
    };
    read_all(lines, sizeof lines / sizeof *lines);
}

static void benchdnn_lines_that_mean_something_else_are_refused(void **state) {
    (void)state;
    static const line lines[] = {
        {"--dir=BWD_D", "no descriptor"},
        {"--dir=BWD_DW ic1ih1oc1kh1", "--dir=BWD_DW is not one of"},
        {"--dt=f64 ic1ih1oc1kh1", "--dt=f64 is not one of"},
        {"--dt=f32,bf16 ic1ih1oc1kh1", "--dt=f32,bf16"},
        {"--dt= ic1ih1oc1kh1", "names no type"},
        {"--dt=f32:f32 ic1ih1oc1kh1", "two types"},
        {"--dt=s32 ic1ih1oc1kh1", "int32 is a type of results only"},
        {"--dt=bf16:f32:f32 ic1ih1oc1kh1", "make the weights fp32 and the other input bf16"},
        {"--dir=BWD_D --dt=u8:s8:s32 ic1ih1oc1kh1", "types u8:s8:s32"},
        {"--dt=s8:u8:s32 ic1ih1oc1kh1", "types s8:u8:s32"},
        {"--mb=x ic1ih1oc1kh1", "--mb=x"},
        {"--stag=axb --dtag=abx ic1ih1oc1kh1", "give --stag and --dtag both"},
        {"--stag=aBx16b ic1ih1oc1kh1", "--stag=aBx16b"},
        {"--attr-post-ops=prelu ic1ih1oc1kh1", "post-op \"prelu\" has no counterpart"},
        {"--deconv 3x4:4x5", "\"--deconv\" has no counterpart"},
        {"ic1ih1oc1kh1 ic1ih1oc1kh1", "second descriptor"},
        {"ic1ih1oc1kh1zz3", "no key at \"zz3\""},
        {"ic1ih1oc1kh1kh2", "kh comes a second time"},
        {"ic1ih1oc1kh", "kh is not followed by a whole number of at least 1"},
        {"ic1ih0oc1kh1", "ih is not followed by a whole number of at least 1"},
        {"ic1ih1kh1", "oc is missing"},
        {"mb1oc1ih1kh1", "ic is missing"},
        {"ic1oc1", "no spatial axis"},
        {"ic1oc1kh1", "ih is missing"},
        {"ic1oc1ih1", "kh is missing"},
        {"ic1oc1ih4kh3kw3", "iw is missing"},
        {"ic1oc1ih56oh1kh3", "padding in front of the h axis is -26"},
        {"ic1oc1ih5kh3ph-1", "is -1, below 0"},
        {"ic1oc1ih5oh9223372036854775807sh9223372036854775807kh3", "63 bits"},
        {"ic1oc1ih5kh3dh9223372036854775807", "63 bits"},
        {"g2ic3ih5oc4kh3", "c=3 is not a multiple of g=2"},
    };
    refuse_all(lines, sizeof lines / sizeof *lines);
}

static void own_text_is_read_as_well(void **state) {
    (void)state;
    static const line lines[] = {
        {"conv_fwd bf16 c4 k4 i9 f3", "conv_fwd bf16 nwgc n1 g1 c4 k4 i9 f3 s1 p0 d1"},
        {"gemm fp32 m1 n2 k3", "gemm fp32 rcr b1 m1 n2 k3"},
        {"c4 k4 i9 g2 f3 conv_fwd bf16", "conv_fwd bf16 nwgc n1 g2 c4 k4 i9 f3 s1 p0 d1"},
        {"g2 c4 k4 i9 f3 conv_fwd bf16", "conv_fwd bf16 nwgc n1 g2 c4 k4 i9 f3 s1 p0 d1"},
    };
    static const line bad[] = {{"", "names no operation"}, {"conv_fwd bf16", "is missing"}, {"hello", "names no operation"}};
    read_all(lines, sizeof lines / sizeof *lines);
    refuse_all(bad, sizeof bad / sizeof *bad);
}

static void very_long_lines_are_refused_in_one_line(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"conv -F 1 -n ", "9"},
                                           {"conv -F 1", " -i 1"},
                                           {"ic", "1"},
                                           {"ic1ih1oc1kh1", "_kw"},
                                           {"--dt=", "f32:"},
                                           {"--", "x"},
                                           {"MIOpenDriver ", " "},
                                           {"", "x "}};
    const size_t size = 10u << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t length = strlen(cases[i][0]), unit = strlen(cases[i][1]);
        memcpy(text, cases[i][0], length);
        for (; length + unit < size; length += unit) {
            memcpy(text + length, cases[i][1], unit);
        }
        text[length] = 0;
        kw_problem problem;
        kw_error err = {0};
        assert_int_not_equal(kw_problem_import(&problem, text, &err), KW_OK);
        assert_true(strlen(err.text) > 20);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(miopen_lines_are_read),
        cmocka_unit_test(miopen_lines_that_mean_something_else_are_refused),
        cmocka_unit_test(a_miopen_line_of_several_directions_means_each),
        cmocka_unit_test(benchdnn_matmul_lines_are_read),
        cmocka_unit_test(hipblaslt_lines_are_read),
        cmocka_unit_test(tunable_op_lines_are_read),
        cmocka_unit_test(benchdnn_lines_are_read),
        cmocka_unit_test(benchdnn_lines_that_mean_something_else_are_refused),
        cmocka_unit_test(own_text_is_read_as_well),
        cmocka_unit_test(very_long_lines_are_refused_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
