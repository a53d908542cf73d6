/* test_copy_faults.c: products of fp8 and tf32 whose operands are copied first, turned where their rows are contiguous (KW_COPIES_TURN): batches, pitches
 * and depths that fill no piece of 16 bytes; gradients of tf32 convolutions, whose filters or results are turned, and of weights whose pixels lanes pick
 * (KW_PICKS); and faults planted in the copies and in what reads them. */
#include "support/kw_test.h"
#include "support/planted.h"

#define COPY "gpu/lib/align.h"
#define SQUARE "gpu/lib/turn_square.h"
#define OPERANDS "gpu/igemm/operands.h"
#define FEED "gpu/igemm/feed.h"
#define PICKED "gpu/pipeline/overlap_picked.h"
#define AXES                                                                                                                               \
    "tile_m=64 tile_n=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 pipe=pingpong sched=intrawave epi=cshuffle pad_m=1 pad_n=1 "       \
    "pad_k=1 vec_a=1 vec_b=1 vec_c=1 preshuffle=0 wave_groups=2 persistent=1 split_k=0 streamk=off index=32 stages=8 "

#define IMAGE                                                                                                                              \
    "ndim=2 tile_m=64 tile_n=64 tile_k=32 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=8 pipe=pingpong sched=intrawave "          \
    "epi=cshuffle vec_a=1 vec_b=1 vec_c=1 stages=8 merge=1 wave_groups=2 split_image=0 explicit=0 two_stage=0 spec=default streamk=off "   \
    "persistent=1 split_k=0 index=32 fpmath=tf32"

/* Both turned, with pitches; the second alone; neither, of an odd depth. Gradients: filters turned, with strides; groups; y turned. */
static const planted_pair copied[] = {
    {"gemm.mma gemm fp32 layout=crr tile_k=32 inst_k=8 " AXES "fpmath=tf32 pitched=1",
     "gemm fp32 crr b2 m77 n33 k151 lda100 ldb50 fpmath=tf32"},
    {"gemm.mma gemm fp8 layout=rrr tile_k=128 inst_k=32 " AXES, "gemm fp8 rrr b2 m70 n50 k200"},
    {"gemm.mma gemm bf8 layout=rcr tile_k=128 inst_k=32 " AXES, "gemm bf8 rcr b2 m33 n45 k201"},
    {"conv.igemm conv_bwd_data fp32 " IMAGE, "conv_bwd_data fp32 nhwgc n2 c37 k41 i9x11 f3x2 s2x1 p1x1 fpmath=tf32"},
    {"conv.igemm conv_bwd_weight fp32 " IMAGE, "conv_bwd_weight fp32 nhwgc n2 c37 k70 i9x11 f3x2 s2x1 p1x1 fpmath=tf32"},
    {"conv.igemm conv_bwd_weight fp32 " IMAGE, "conv_bwd_weight fp32 nhwgc n1 g2 c128 k128 i5x7 f1x1 fpmath=tf32"},
};

enum { TF32 = 1, SECOND = 2, NEITHER = 4, DATA = 8, WEIGHT = 16, GROUPS = 32, ALL = 31 }; /* ALL: whose first operand is copied */
static const planted_fault faults[] = {
    {COPY, "block -= (int)blocks;", "block -= (int)blocks;", 0},
    {COPY, "block -= (int)blocks;", "", ALL},
    {COPY, "to += KW_COPIES_AT(pieces * 16);", "", ALL},
    {COPY, "matrix = batch * a->batch_step[which]", "matrix = 0", TF32},
    {COPY, "matrix = (kw_i64)batch * row * lines", "matrix = 0", SECOND},
    {COPY, "step = a->line_step[which]", "step = lines", TF32},
    {COPY, "over - batch * down", "0", TF32 | SECOND},
    {COPY, "block - over * across", "0", TF32},
    {COPY, "kw_barrier();", "", TF32 | SECOND},
    {COPY, "if (at >= pieces) return;", "", SECOND | NEITHER},
    {COPY, "kw_min(lines - line, KW_COPY_SIDE)", "KW_COPY_SIDE", TF32 | SECOND},
    {COPY, "kw_min(row - depth, KW_COPY_DEPTHS)", "KW_COPY_DEPTHS", TF32 | SECOND},
    {COPY, "|= element << ", "= element << ", SECOND | NEITHER},
    {COPY, "if (i < left) kw_load_run(&element, from + i * KW_BYTES, KW_BYTES);", "kw_load_run(&element, from + i * KW_BYTES, KW_BYTES);",
     NEITHER},
    {SQUARE, "(number & 7)", "(number & 3)", 0},
    {SQUARE, "if (row + i * step < rows) kw_load_run", "kw_load_run", TF32 | SECOND},
    {OPERANDS, "kw_feed_taps(a) * a->c;", "a->c;", DATA},
    {OPERANDS, "KW_PICKS ? a->n * a->out[0]", "KW_PICKS ? a->out[0]", WEIGHT},
    {OPERANDS, "KW_PICKS ? a->groups * a->k", "KW_PICKS ? a->k", GROUPS},
    {FEED, "k + f->block * KW_TILE_K, f->col, f->tap", "k + f->block * KW_TILE_K, f->col, 0", DATA},
    {FEED, "f->number, k + f->col, 0", "f->number, f->col, 0", GROUPS},
    {FEED, "work->batch * a->k * kw_picked_step(a) + tap", "tap", GROUPS},
    {FEED, "channel < (int)a->c;", "1;", WEIGHT},
    {PICKED, "+ half * 4 +", "+ half * 8 +", WEIGHT | GROUPS},
    {PICKED, "row % 32 / 4 ^ t", "row % 32 / 4", WEIGHT | GROUPS},
    {PICKED, "e / 2 << 6", "e / 2 << 5", WEIGHT | GROUPS},
    {PICKED, "&odd, lds", "&even, lds", WEIGHT},
    {PICKED, "kw_stage_give(lds, *before);", "kw_stage_give(lds, at->stage);", WEIGHT},
};

static void faults_of_copies_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, copied, sizeof copied / sizeof *copied, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_copies_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
