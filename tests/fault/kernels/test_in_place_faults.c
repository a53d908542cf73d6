/* test_in_place_faults.c: a convolution that reads its pixels where they lie, with faults planted in what that takes: addresses of the tensor in
 * place of the copy's, and last tiles, which are moved back where the tensor ends. */
#include "support/kw_test.h"
#include "support/planted.h"

#define DIRECT "cpu/direct/direct.c"

/* 20 columns by tiles of 6, so that the last one of each row has two. */
static const char config[] = "conv.direct conv_fwd fp32 isa=avx2 math=fma tile_h=1 tile_w=6 vecs=2 band=0 edge=pad";
/* 128 channels a group are 512 bytes of a pixel, so that no two groups share a copy (groups_together of conv_direct.c). */
static const char problem[] = "conv_fwd fp32 nhwgc n2 g2 c256 k40 i9x40 f1x2 s2x2";

static const struct {
    const char *text, *other;
} faults[] = {
    {"c -= job.lead;", "c -= job.lead;"}, /* none */
    {"job.src -= job.lead * job.src_pixel;", ""},
    {"c -= job.lead;", ""},
    {"job.cols = KW_TILE_COLS, job.lead = KW_TILE_COLS - count;", "job.cols = KW_TILE_COLS;"},
    {"b->share * together(a) * SRC_CHANNELS(a) * KW_BYTES + y->walk", "y->walk"},
    {"src = SRC(a) + b->n * in[0] * p->slice +", "src = SRC(a) +"},
};

static void faults_of_reading_in_place_are_found(void **state) {
    (void)state;
    int unlike = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        planted texts;
        kw_record record = {0};
        planted_open(&texts);
        planted_change(&texts, DIRECT, faults[i].text, faults[i].other);
        planted_verify_on("cpu", config, problem, &record);
        if (record.outcome != (i ? KW_WRONG : KW_GOOD)) {
            print_message("%s -> %s: %s %s\n", faults[i].text, faults[i].other, kw_outcome_name(record.outcome), record.detail);
            unlike++;
        }
        planted_close(&texts);
    }
    assert_int_equal(unlike, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(faults_of_reading_in_place_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
