/* test_copy_faults.c: products of fp8 and tf32 whose operands are copied first, turned where their rows are contiguous (KW_COPIES_TURN): batches, pitches
 * and depths that fill no piece of 16 bytes; and faults planted in the copies. */
#include "support/kw_test.h"
#include "support/planted.h"

#define COPY "gpu/lib/align.h"
#define SQUARE "gpu/lib/turn_square.h"
#define AXES                                                                                                                               \
    "tile_m=64 tile_n=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 pipe=pingpong sched=intrawave epi=cshuffle pad_m=1 pad_n=1 "       \
    "pad_k=1 vec_a=1 vec_b=1 vec_c=1 preshuffle=0 wave_groups=2 persistent=1 split_k=0 streamk=off index=32 stages=8 "

/* Both turned, with pitches; the second alone; neither, of an odd depth. */
static const planted_pair copied[] = {
    {"gemm.mma gemm fp32 layout=crr tile_k=32 inst_k=8 " AXES "fpmath=tf32 pitched=1",
     "gemm fp32 crr b2 m77 n33 k151 lda100 ldb50 fpmath=tf32"},
    {"gemm.mma gemm fp8 layout=rrr tile_k=128 inst_k=32 " AXES, "gemm fp8 rrr b2 m70 n50 k200"},
    {"gemm.mma gemm bf8 layout=rcr tile_k=128 inst_k=32 " AXES, "gemm bf8 rcr b2 m33 n45 k201"},
};

enum { TF32 = 1, SECOND = 2, NEITHER = 4, ALL = 7 };
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
};

static void faults_of_copies_are_found(void **state) {
    (void)state;
    planted_find(faults, sizeof faults / sizeof *faults, copied, sizeof copied / sizeof *copied, "3");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_copies_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
