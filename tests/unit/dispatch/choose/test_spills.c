/* test_spills.c: what dispatch does with kernels that spill, on a GPU that is a stand-in (tests/support/device/fake_hip.c), by a
 * compiler that is one too: its objects say what they need, and do nothing. */

#include "support/kw_test.h"
#include "support/device/code_object.h"
#include "support/scratch.h"

#include <kernelwright.h>

#if defined __x86_64__
#define MACHINE "x86_64"
#else
#define MACHINE "aarch64"
#endif

static const char problem_text[] = "conv_fwd bf16 nhwgc n8 g64 c64 k64 i28x28 f3x3 p1x1";
static const char depthwise[] = "conv.depthwise_block conv_fwd bf16 ndim=2 tile_h=4 tile_w=4 filter=3 stride=1 pad=1 dilation=1 filter_d=1 "
                                "stride_d=1 pad_d=0 batch=64 sub_h=4 sub_w=4 vec_in=1 vec_out=1 order=last path=lds waves=1 peers=1";

static const char igemm[] =
    "conv.igemm conv_fwd bf16 ndim=2 tile_m=64 tile_n=64 tile_k=32 wave_m=2 wave_n=2 wave_k=1 inst_m=16 inst_n=16 inst_k=16 "
    "pipe=compv3 sched=intrawave epi=cshuffle vec_a=1 vec_b=1 vec_c=1 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "
    "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32";

/* Depthwise kernels spill 7 registers; all others are sound. */
static void write_compiler(const char *path, const char *folder) {
    static const unsigned sound[6] = {120, 0, 40, 0, 0, 0}, spilling[6] = {256, 0, 40, 0, 32, 7};
    char script[2048], files[2][2 * SCRATCH_MAX];
    const unsigned *const counts[] = {sound, spilling};
    for (int i = 0; i < 2; i++) {
        kw_blob blob = code_object_of(counts[i]);
        scratch_path(files[i], folder, i ? "spilling.o" : "sound.o");
        scratch_write(files[i], blob.data, blob.size, 0600);
        kw_blob_drop(&blob);
    }
    int size = snprintf(script, sizeof script,
                        "#!/bin/sh\n"
                        "if [ \"$1\" = -v ]; then echo 'clang version 19.1.0 (fake)'; echo 'Target: " MACHINE "-linux-gnu'; exit 0; fi\n"
                        "if [ \"$1\" = -print-prog-name=lld ]; then echo \"$0\"; exit 0; fi\n"
                        "if [ \"$3\" = --version ]; then echo 'LLD 19.1.0'; exit 0; fi\n"
                        "verb=$1; while [ \"$1\" != -o ]; do shift; done\n"
                        "if [ \"$verb\" = -flavor ]; then cp \"$3\" \"$2\"; exit; fi\n"
                        "case \"$(head -n 1 \"$3\")\" in *depthwise*) cp '%s' \"$2\";; *) cp '%s' \"$2\";; esac\n",
                        files[1], files[0]);
    scratch_write(path, script, (size_t)size, 0700);
}

/* The plan of the problem from the depthwise kernel and another, which may be NULL, where one of them is to be raced; what became of up to two.
 * Returns how many were. */
static size_t choose_among(char config[KW_CONFIG_TEXT_MAX], kw_record record[2], const char *other, kw_mode mode, int32_t spill_limit) {
    char folder[SCRATCH_MAX], cache[2 * SCRATCH_MAX], compiler[2 * SCRATCH_MAX];
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    kw_plan *plan = NULL;
    kw_problem problem;
    kw_error err = {0};
    size_t count = 0;
    scratch_make(folder);
    scratch_path(cache, folder, "cache");
    scratch_path(compiler, folder, "fakecc");
    write_compiler(compiler, folder);
    kw_context_options options = {.size = sizeof(kw_context_options),
                                  .cache_dir = cache,
                                  .data_dir = folder,
                                  .wisdom_file = "",
                                  .compiler = compiler,
                                  .model = "",
                                  .spill_limit = spill_limit};
    if (kw_context_open(&context, "hip:0", &options, &err) || kw_registry_create(&registry, context, &err) ||
        kw_registry_add(registry, depthwise, &err) || (other && kw_registry_add(registry, other, &err)) ||
        kw_problem_parse(&problem, problem_text, &err) ||
        kw_plan_create(&plan, context, &problem,
                       &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = mode, .registry = registry, .shortlist = 1}, &err)) {
        fail_msg("%s", err.text);
    }
    snprintf(config, KW_CONFIG_TEXT_MAX, "%s", kw_plan_config(plan));
    const kw_record *records = kw_plan_records(plan, &count);
    for (size_t i = 0; i < 2; i++) {
        record[i] = i < count ? records[i] : (kw_record){0};
    }
    kw_plan_destroy(&plan);
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    scratch_remove(folder);
    return count;
}

static void choose(char config[KW_CONFIG_TEXT_MAX], kw_record *record, kw_mode mode, int32_t spill_limit) {
    kw_record records[2];
    choose_among(config, records, NULL, mode, spill_limit);
    *record = records[0];
}

static void a_race_leaves_out_what_spills_and_the_plain_kernel_answers(void **state) {
    (void)state;
    char config[KW_CONFIG_TEXT_MAX];
    kw_record record;
    choose(config, &record, KW_SHORTLIST, 0);
    assert_string_equal(config, "conv.reference_gpu conv_fwd bf16");
    assert_string_equal(record.config, depthwise);
    assert_int_equal(record.outcome, KW_SPILLS);
    assert_non_null(strstr(record.detail, "28 bytes"));
    assert_true(record.time_ns == 0 && record.samples == 0);
}

static void the_next_candidate_is_raced_in_place_of_one_that_spills(void **state) {
    (void)state;
    char config[KW_CONFIG_TEXT_MAX];
    kw_record records[2];
    assert_int_equal(choose_among(config, records, igemm, KW_SHORTLIST, 0), 2);
    assert_int_equal(records[0].outcome, KW_SPILLS);
    assert_string_equal(records[1].config, igemm);
    assert_int_equal(records[1].outcome, KW_WRONG); /* the stand-in computes nothing */
    assert_int_equal(choose_among(config, records, igemm, KW_SHORTLIST, -1), 1);
}

static void so_many_bytes_may_be_allowed(void **state) {
    (void)state;
    static const int32_t limits[] = {27, 28, -1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        char config[KW_CONFIG_TEXT_MAX];
        kw_record record;
        choose(config, &record, KW_SHORTLIST, limits[i]);
        assert_int_equal(record.outcome, limits[i] == 27 ? KW_SPILLS : KW_WRONG); /* the stand-in computes nothing */
    }
}

static void a_prediction_passes_over_what_spills(void **state) {
    (void)state;
    char config[KW_CONFIG_TEXT_MAX];
    kw_record record;
    choose(config, &record, KW_PREDICT, 0);
    assert_string_equal(config, "conv.reference_gpu conv_fwd bf16");
    choose(config, &record, KW_PREDICT, -1);
    assert_string_equal(config, depthwise);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_race_leaves_out_what_spills_and_the_plain_kernel_answers),
        cmocka_unit_test(the_next_candidate_is_raced_in_place_of_one_that_spills),
        cmocka_unit_test(so_many_bytes_may_be_allowed),
        cmocka_unit_test(a_prediction_passes_over_what_spills),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
