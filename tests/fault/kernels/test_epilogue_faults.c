/* test_epilogue_faults.c: epilogues in GPU kernels into whose texts a fault is planted: verification and the emulator must find each, in the
 * kernels of the family that it is for. */
#include "support/kw_test.h"
#include "support/planted.h"

#include <string.h>

#define STEPS "prelude/epilogue_gpu.h"
#define OVERLAP "gpu/pipeline/overlap.h"
#define STORE_BYTES "gpu/pipeline/overlap_bytes.h"
#define FINISH "gpu/pipeline/finish.h"

#define TILES                                                                                                                              \
    "tile_m=64 tile_n=64 tile_k=32 wave_m=4 wave_n=2 wave_k=1 inst_m=16 inst_n=8 inst_k=16 pipe=basic_v1 sched=intrawave epi=cshuffle "
#define PADDED "pad_m=1 pad_n=1 pad_k=1 "
#define PLAIN "gemm.mma gemm bf16 layout=rcr " TILES PADDED "vec_a=8 vec_b=8 vec_c=8 stages=1 preshuffle=0 wave_groups=1 persistent=0 "
#define WHOLE PLAIN "split_k=1 streamk=off index=32"
#define PARTS PLAIN "split_k=2 streamk=off index=32"
#define TURNS                                                                                                                              \
    "gemm.mma gemm bf16 layout=rcr tile_m=64 tile_n=64 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 pipe=pingpong "  \
    "sched=intrawave epi=cshuffle " PADDED
#define TURNS_REST " stages=4 preshuffle=0 wave_groups=2 persistent=1 split_k=1 streamk=off index=32"
#define RUNS TURNS "vec_a=8 vec_b=8 vec_c=8" TURNS_REST
#define SINGLES TURNS "vec_a=1 vec_b=1 vec_c=1" TURNS_REST
#define GROUPS                                                                                                                             \
    "conv.igemm conv_fwd bf16 ndim=2 " TILES "vec_a=1 vec_b=1 vec_c=1 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "            \
    "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32"
#define STAY                                                                                                                               \
    "conv.igemm conv_fwd bf16 ndim=2 tile_m=64 tile_n=64 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 "              \
    "pipe=pingpong sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=4 merge=1 wave_groups=2 split_image=0 explicit=0 "          \
    "two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32"
#define PLANES                                                                                                                             \
    "conv.depthwise_block conv_fwd fp32 ndim=2 tile_h=8 tile_w=8 filter=3 stride=1 pad=1 dilation=1 filter_d=1 stride_d=1 pad_d=0 "        \
    "batch=8 sub_h=2 sub_w=2 vec_in=2 vec_out=2 order=first"

#define BATCHES "gemm bf16 rcr b2 m70 n72 k72 epilogue=scale_row,bias,add:fp16"
#define RESIDUAL "gemm bf16 rcr m134 n72 k72 epilogue=add:bf16"
#define BYTES "gemm bf16 rcr m70 n72 k72 out=int8 epilogue=leaky_relu:0.25,add:int8:4"

#define WHOLE_BYTES                                                                                                                        \
    "gemm.mma gemm int8 layout=rcr tile_m=64 tile_n=64 tile_k=64 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=32 pipe=basic_v1 "   \
    "sched=intrawave epi=cshuffle " PADDED                                                                                                 \
    "vec_a=1 vec_b=1 vec_c=1 stages=1 preshuffle=0 wave_groups=1 persistent=0 split_k=1 streamk=off index=32"
#define ZEROS "gemm int8 rcr m70 n37 k75 epilogue=zero_x,zero_w_channel"

/* In the file of kernels/, text becomes other. */
typedef struct fault {
    const char *what, *file, *text, *other, *config, *problem;
} fault;

static const fault faults[] = {
    {"none: rows, channels and runs are right", STEPS, "no number becomes 0", "NaN becomes 0", WHOLE, BATCHES},
    {"none: bytes are right", STEPS, "no number becomes 0", "NaN becomes 0", RUNS, BYTES},
    {"none: zero points of both are right", STEPS, "no number becomes 0", "NaN becomes 0", WHOLE_BYTES, ZEROS},
    {"sums of x with its zero point", "gpu/pipeline/pipeline.h", "sums->depth += KW_INST_K", "sums->depth += 0", WHOLE_BYTES, ZEROS},
    {"a channel's zero point for the next", "gpu/pipeline/pipeline.h", "kw_w_zero(view->args, kw_result_channel(view, col))",
     "kw_w_zero(view->args, kw_result_channel(view, col ^ 1))", WHOLE_BYTES, ZEROS},
    {"a channel too far", STEPS, "number, at.channel, at.by_rows", "number, at.channel + 1, at.by_rows", WHOLE, BATCHES},
    {"a channel too far, one by one", STEPS, "number, at.channel, at.by_rows", "number, at.channel + 1, at.by_rows", SINGLES,
     "gemm bf16 rcr m70 n37 k72 epilogue=bias"},
    {"of a run the first for all", STEPS, "EXTRA_ALL(type, number) own->at[number][e]", "EXTRA_ALL(type, number) own->at[number][0]", WHOLE,
     BATCHES},
    {"rows of the first batch for all", "gpu/gemm/gemm.c", "v->first_row = batch * a->gm", "v->first_row = 0", WHOLE, BATCHES},
    {"no steps where parts are added", "gpu/lib/slices.h", "kw_finish_element(kw_result(&args), &args, at, sum)",
     "kw_store(kw_result(&args), at, sum)", PARTS, BATCHES},
    {"steps twice", OVERLAP, "#if KW_OUT_BYTES == 4", "kw_sums_finish(a, &work, &sums, first_row);\n#if KW_OUT_BYTES == 4", RUNS,
     "gemm bf16 rcr m70 n72 k72 epilogue=bias"},
    {"a run's tail behind the last column", FINISH, "at.no_channel = col >= cols", "at.no_channel = 0", SINGLES,
     "gemm bf16 rcr m70 n37 k72 epilogue=bias,add"},
    {"channels of the first group for all", "gpu/igemm/igemm.c", "v->channel = (int)(KW_DATA ? x : y)", "v->channel = 0", GROUPS,
     "conv_fwd bf16 nhwgc n1 g2 c10 k14 i9x8 f3x3 p1x1 epilogue=bias"},
    {"channels of the first group for all, where blocks stay", FINISH, "{0, kw_work_channel(a, work) + at, 0",
     "{0, at - work->batch * (KW_DATA ? a->c : a->k), 0", STAY,
     "conv_fwd bf16 nhwgc n2 g2 c128 k128 i9x7 f3x3 p1x1 epilogue=bias,scale_row"},
    {"a plane's pixels counted on from the planes before", "gpu/depthwise/depthwise.c", "(a->groups - 1) + at.channel)", "(a->groups - 1))",
     PLANES, "conv_fwd fp32 ngchw n2 g3 c3 k3 i9x8 f3x3 p1x1 epilogue=scale_row"},
    {"bytes that wrap", STEPS, "kw_within(value, low, high) + ", "value + ", RUNS, BYTES},
    {"slope 1 below 0", STEPS, "v > 0.0f ? v : slope * v", "v", RUNS, BYTES},
    {"of a residual's columns the first eight twice", FINISH, "% 16, j + kw_lane() / 16", "% 16, j", RUNS, RESIDUAL},
    {"a residual's rows one further on", FINISH, "first_row + kw_residual_row(i)", "first_row + 1 + kw_residual_row(i)", RUNS, RESIDUAL},
    {"bytes of a piece beside their columns", STORE_BYTES, "+ i / 2 * 8 + kw_acc_col(lane, 0)", "+ i / 2 * 8", RUNS, BYTES},
};

static void planted_faults_are_found(void **state) {
    (void)state;
    int missed = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const fault *f = &faults[i];
        planted texts;
        kw_record record = {0};
        planted_open(&texts);
        planted_change(&texts, f->file, f->text, f->other);
        planted_verify(f->config, f->problem, &record);
        bool right = record.outcome == (strncmp(f->what, "none", 4) ? KW_WRONG : KW_GOOD);
        missed += !right;
        print_message("%s%s: %s %s\n", right ? "" : "MISSED: ", f->what, kw_outcome_name(record.outcome), record.detail);
        planted_close(&texts);
    }
    assert_int_equal(missed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(planted_faults_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
