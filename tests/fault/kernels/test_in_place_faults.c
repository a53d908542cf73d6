/* test_in_place_faults.c: a convolution that reads its pixels where they lie, with faults planted in what that takes: addresses of the tensor in
 * place of the copy's, and last tiles, which are moved back where the tensor ends. And ones whose tensors are parts of larger ones, with faults by
 * which a kernel writes into its neighbours' channels or reads them. */
#include "support/kw_test.h"
#include "support/planted.h"

#define SUM "cpu/direct/direct_sum.h"
#define TENSORS "cpu/direct/direct_tensors.h"

/* 20 columns by tiles of 6, so that the last one of each row has two. */
static const char config[] = "conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=pad";
/* 128 channels a group are 512 bytes of a pixel, so that no two groups share a copy (groups_together of conv_direct.c). */
static const char problem[] = "conv_fwd fp32 nhwgc n2 g2 c256 k40 i9x40 f1x2 s2x2";

typedef struct fault {
    const char *file, *text, *other;
} fault;

static const fault faults[] = {
    {SUM, "c -= job.lead;", "c -= job.lead;"}, /* none */
    {SUM, "job.src -= job.lead * job.src_pixel;", ""},
    {SUM, "c -= job.lead;", ""},
    {SUM, "job.cols = KW_TILE_COLS, job.lead = KW_TILE_COLS - count;", "job.cols = KW_TILE_COLS;"},
    {SUM, "b->share * together(a) * SRC_CHANNELS(a) * KW_BYTES + y->walk", "y->walk"},
    {SUM, "src = SRC(a) + b->n * SRC_IMAGE(a, in) +", "src = SRC(a) +"},
};

static int unlike(const fault *planted_one, bool is_fault, const char *config_text, const char *problem_text) {
    planted texts;
    kw_record record = {0};
    planted_open(&texts);
    planted_change(&texts, planted_one->file, planted_one->text, planted_one->other);
    planted_verify_on("cpu", config_text, problem_text, &record);
    planted_close(&texts);
    if (record.outcome == (is_fault ? KW_WRONG : KW_GOOD)) {
        return 0;
    }
    print_message("%s -> %s: %s %s\n", planted_one->text, planted_one->other, kw_outcome_name(record.outcome), record.detail);
    return 1;
}

static void faults_of_reading_in_place_are_found(void **state) {
    (void)state;
    int count = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        count += unlike(&faults[i], i > 0, config, problem);
    }
    assert_int_equal(count, 0);
}

static void writing_into_a_neighbours_channels_is_found(void **state) {
    (void)state;
    static const struct {
        const char *config, *problem;
        fault fault;
    } cases[] = {
        {"conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=pad",
         "conv_fwd fp32 n2 c8 k13 i5x7 f3x3 p1x1 ldxw11 ldyw17 ldyh200",
         {TENSORS, "(DST_STEP(a)[KW_TO_COLUMN] * KW_OUT_BYTES)", "(DST_CHANNELS(a) * KW_OUT_BYTES)"}},
        {"conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=pad",
         "conv_fwd fp32 n2 c8 k13 i5x7 f3x3 p1x1 ldxw11 ldyw17 ldyh200",
         {TENSORS, "(SRC_STEP(a)[KW_TO_COLUMN] * KW_BYTES)", "(SRC_CHANNELS(a) * KW_BYTES)"}},
        {"conv.gemm_col2im conv_bwd_data fp32 isa=avx2 math=fma tile_w=6 vecs=2 band=0",
         "conv_bwd_data fp32 n2 c3 k8 i5x7 f3x3 p1x1 ldxw5",
         {"cpu/col2im/col2im.c", "((a)->groups == 1 && TO_PIXEL(a) == (a)->c)", "((a)->groups == 1)"}},
    };
    int count = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fault none = {cases[i].fault.file, cases[i].fault.text, cases[i].fault.text};
        count += unlike(&none, false, cases[i].config, cases[i].problem);
        count += unlike(&cases[i].fault, true, cases[i].config, cases[i].problem);
    }
    assert_int_equal(count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_reading_in_place_are_found),
                                       cmocka_unit_test(writing_into_a_neighbours_channels_is_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
