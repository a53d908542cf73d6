/* test_spot_faults.c: kernels of backward data whose columns are the pixels of a spot make sums that are NaN anew, for the infinities of
 * other pixels' taps. A fault that gives NaN would be mended by that, slowly, and be seen by no check of numbers: so this one plays them
 * with a mending that gives NaN itself. */
#include "support/kw_test.h"
#include "support/planted.h"

#define TEXT "gpu/igemm/backward.h"
#define AXES                                                                                                                               \
    " tile_k=64 wave_n=1 wave_k=1 inst_m=64 inst_k=16 inst_n=64 tile_n=64 sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 merge=1 "   \
    "split_image=0 explicit=0 two_stage=0 spec=default streamk=off persistent=1 index=32 ndim=2 "

/* Sums that are stored at once, and those of a divided depth. */
static const struct {
    const char *config, *problem;
} kernels_of_spots[] = {
    {"conv.igemm conv_bwd_data bf16" AXES "pipe=cooperative wave_m=8 tile_m=128 stages=4 wave_groups=1 split_k=1",
     "conv_bwd_data bf16 n2 c1 k17 i15x14 f5x5 s2x2 p2x2"},
    {"conv.igemm conv_bwd_data fp16" AXES "pipe=pingpong wave_m=4 tile_m=64 stages=4 wave_groups=2 split_k=3",
     "conv_bwd_data fp16 n1 c5 k70 i9x10 f3x2 p1x0 s3x2 d2x3"},
};

/* In TEXT, text becomes other. */
typedef struct change {
    const char *text, *other;
} change;

static const change no_mending = {
    "KW_DEVICE float kw_spot_sum(const kw_gpu_args *a, kw_i64 at) {",
    "KW_DEVICE float kw_spot_sum(const kw_gpu_args *a, kw_i64 at) {\n    if (a->k) return __builtin_nanf(\"\");"};
static const change faults[] = {
    {"kw_u32 element = 0;", "kw_u32 element = 0;"}, /* none */
    {"for (int i = 0; i < KW_COPY_RUN; i++) {", "for (int i = 1; i < KW_COPY_RUN; i++) {"},
    {"kw_u32 element = 0;", "kw_u32 element = 0x7fff;"},
};

static void mending_infinities_hides_no_fault(void **state) {
    (void)state;
    int unlike = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        planted texts;
        planted_open(&texts);
        planted_change(&texts, TEXT, no_mending.text, no_mending.other);
        planted_change(&texts, TEXT, faults[i].text, faults[i].other);
        for (size_t k = 0; k < sizeof kernels_of_spots / sizeof *kernels_of_spots; k++) {
            kw_record record = {0};
            planted_verify(kernels_of_spots[k].config, kernels_of_spots[k].problem, &record);
            if (record.outcome != (i ? KW_WRONG : KW_GOOD)) {
                print_message("%s, %s: %s %s\n", faults[i].other, kernels_of_spots[k].problem, kw_outcome_name(record.outcome),
                              record.detail);
                unlike++;
            }
        }
        planted_close(&texts);
    }
    assert_int_equal(unlike, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(mending_infinities_hides_no_fault)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
