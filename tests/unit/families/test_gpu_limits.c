/* test_gpu_limits.c: near the limits of counts and offsets a kernel for a GPU is either refused or launched within them, and the reference families
 * are launched whatever the sizes. Nothing is run: fits and launch are asked. */

#include "base/math.h"
#include "base/statistics/random.h"
#include "config/config.h"
#include "config/arch/gpu_arch.h"
#include "support/kw_test.h"

#define TILES "tile_m=64 tile_n=64 tile_k=32 wave_m=2 wave_n=2 inst_m=32 inst_n=32 inst_k=8 "
#define PADS "pad_m=1 pad_n=1 pad_k=1 "
#define PLANES "ndim=2 tile_h=4 tile_w=4 filter=3 pad=1 batch=64 sub_h=4 sub_w=4 "

/* Families and operations, and the axes that are not at their lowest value. */
static const char *const texts[] = {
    "conv.igemm conv_fwd " TILES "ndim=2 split_k=1 index=32",
    "conv.igemm conv_fwd " TILES "ndim=3 split_k=1 index=32 merge=8",
    "conv.igemm conv_fwd " TILES "ndim=2 split_k=1 index=32 split_image=1",
    "conv.igemm conv_fwd " TILES "ndim=1 split_k=1 index=64",
    "conv.igemm conv_bwd_data " TILES "ndim=2 split_k=1 index=32",
    "conv.igemm conv_bwd_data " TILES "ndim=3 split_k=1 index=64",
    "conv.igemm conv_bwd_weight " TILES "ndim=2 split_k=128 index=32",
    "conv.igemm conv_bwd_weight " TILES "ndim=2 split_k=0 index=64",
    "conv.igemm conv_bwd_weight " TILES "ndim=2 split_k=1 index=64 streamk=tree",
    "conv.igemm conv_bwd_weight " TILES "ndim=1 split_k=1 index=32 streamk=linear persistent=1",
    "gemm.mma gemm " TILES PADS "layout=rcr split_k=1 index=32",
    "gemm.mma gemm " TILES PADS "layout=rrr split_k=0 index=64 persistent=1",
    "gemm.mma gemm " TILES PADS "layout=crr split_k=128 index=64",
    "gemm.mma gemm " TILES PADS "layout=ccr split_k=1 index=64 streamk=tree",
    "conv.depthwise_block conv_fwd " PLANES "order=first",
    "conv.depthwise_block conv_bwd_data " PLANES "order=last",
    "conv.depthwise_block conv_bwd_weight " PLANES "order=first",
    "conv.depthwise_block conv_bwd_weight " PLANES "order=last",
    "conv.direct_block conv_fwd channels=4 tile_h=4 tile_w=8 waves_q=2 cols=64 inst_k=16",
    "conv.direct_block conv_bwd_data channels=4 tile_h=4 tile_w=8 waves_q=2 cols=64 inst_k=16",
    "conv.direct_1st_block conv_fwd tile_h=4 tile_w=8 waves=2 cols=64 inst_k=16 patch=16 span=8 waves_d=1",
    "conv.direct_1st_block conv_bwd_weight tile_h=4 tile_w=16 waves=2 cols=64 inst_k=16 patch=8 span=32 waves_d=1",
    "conv.reference_gpu conv_fwd",
    "conv.reference_gpu conv_bwd_data",
    "conv.reference_gpu conv_bwd_weight",
    "gemm.reference_gpu gemm",
};

#define WAVES "wave_k=1 inst_m=64 inst_k=16 tile_k=64 "
#define ALONE "wave_m=8 wave_n=1 wave_groups=1 pipe=cooperative "
#define TURNS "wave_m=4 wave_n=1 wave_groups=2 pipe=pingpong "
#define TF32 "wave_k=1 inst_m=64 inst_k=8 tile_k=32 vec_b=1 vec_c=1 epi=cshuffle persistent=1 index=32 "
#define VECS "vec_a=8 vec_b=8 vec_c=8 "

/* Of sm_90: its bulk copies, clusters and streams. */
static const char *const hopper_texts[] = {
    "gemm.mma gemm " WAVES ALONE PADS VECS
    "layout=ccr tile_m=256 tile_n=96 inst_n=96 epi=cshuffle stages=4 persistent=1 split_k=0 index=32",
    "gemm.mma gemm " WAVES ALONE PADS
    "layout=rcr tile_m=128 tile_n=64 inst_n=64 vec_a=8 vec_b=8 vec_c=1 epi=default stages=4 split_k=4 streamk=cluster "
    "index=32",
    "gemm.mma gemm " WAVES ALONE PADS VECS
    "layout=rrr tile_m=80 tile_n=128 inst_n=80 epi=turned stages=6 persistent=1 split_k=1 streamk=pair "
    "index=32",
    "gemm.mma gemm " WAVES ALONE PADS VECS
    "layout=crr tile_m=64 tile_n=256 inst_n=64 epi=turned stages=5 persistent=1 split_k=1 streamk=quad "
    "index=32",
    "gemm.mma gemm " WAVES ALONE PADS VECS "layout=ccr tile_m=128 tile_n=128 inst_n=128 epi=turned stages=5 persistent=1 split_k=1 "
    "streamk=stationary index=32",
    "gemm.mma gemm " WAVES TURNS PADS VECS
    "layout=rcr tile_m=64 tile_n=192 inst_n=192 epi=cshuffle stages=6 persistent=1 split_k=1 index=32",
    "conv.igemm conv_fwd " WAVES ALONE VECS "ndim=2 tile_m=256 tile_n=192 inst_n=192 epi=cshuffle stages=3 persistent=1 split_k=0 index=32",
    "conv.igemm conv_fwd " WAVES TURNS "ndim=2 tile_m=64 tile_n=64 inst_n=64 epi=cshuffle vec_a=1 vec_b=1 vec_c=1 stages=8 persistent=1 "
    "split_k=0 index=32",
    "conv.igemm conv_bwd_data " WAVES TURNS VECS
    "ndim=3 tile_m=64 tile_n=64 inst_n=64 epi=cshuffle stages=8 persistent=1 split_k=1 index=32",
    "conv.igemm conv_bwd_weight " WAVES TURNS VECS "ndim=1 tile_m=64 tile_n=128 inst_n=128 epi=cshuffle stages=7 persistent=1 split_k=0 "
    "index=32",
    "gemm.stream gemm layout=rcr few=m tile_m=32 tile_n=16 waves=8 ahead=2",
    "conv.igemm conv_bwd_data " TF32 TURNS "ndim=2 tile_m=64 tile_n=64 inst_n=64 vec_a=1 stages=8 split_k=0 fpmath=tf32",
    "conv.igemm conv_bwd_weight " TF32 ALONE "ndim=2 tile_m=128 tile_n=128 inst_n=128 vec_a=1 stages=6 split_k=0 fpmath=tf32",
};

/* Of type bf16, with fpmath=tf32 fp32. */
static kw_config config_of(const char *text) {
    char whole[KW_CONFIG_TEXT_MAX];
    kw_line line = {whole, sizeof whole, 0};
    kw_scan scan = kw_scan_string(text);
    kw_word family, op;
    kw_config config;
    kw_error err = {0};
    assert_true(kw_scan_word(&scan, &family) && kw_scan_word(&scan, &op));
    const kw_family *of = kw_family_find(family);
    assert_non_null(of);
    const char *math = strstr(text, " fpmath=tf32");
    kw_line_addf(&line, "%.*s %.*s %s", (int)family.size, family.at, (int)op.size, op.at, math ? "fp32" : "bf16");
    for (int i = 0; i < of->axis_count; i++) {
        char name[32];
        snprintf(name, sizeof name, " %s=", of->axes[i].name);
        const char *value = strstr(text, name);
        const char *words = of->axes[i].words;
        if (value) {
            kw_line_addf(&line, "%s%.*s", name, (int)strcspn(value + strlen(name), " "), value + strlen(name));
        } else if (words) {
            kw_line_addf(&line, "%s%.*s", name, (int)strcspn(words, " "), words);
        } else {
            kw_line_addf(&line, "%s%d", name, of->axes[i].low);
        }
    }
    kw_line_addf(&line, "%s", math ? math : "");
    if (kw_config_parse(&config, whole, &err)) {
        fail_msg("%s: %s", whole, err.text);
    }
    return config;
}

static int64_t below(uint64_t *random, int64_t count) {
    return (int64_t)kw_random_below(random, (uint64_t)count);
}

/* Any order of magnitude below 2^bits, or close to a power of two. */
static int64_t large(uint64_t *random, int bits) {
    int64_t power = (int64_t)1 << below(random, bits);
    return below(random, 2) ? kw_max(1, power + below(random, 3) - 1) : 1 + below(random, power);
}

static void draw(kw_problem *problem, const kw_config *config, uint64_t *random) {
    kw_conv_dims *d = &problem->conv;
    bool blocks = strstr(config->family->name, "_block") != NULL, any = strstr(config->family->name, "reference") != NULL;
    int64_t each = below(random, 2) ? 8 : 1; /* of what bulk copies bring */
    *problem = (kw_problem){.op = config->op, .dtype = config->dtype, .layout = KW_CHANNELS_LAST};
    problem->fpmath = config->wants.tf32 ? KW_FPMATH_TF32 : KW_FPMATH_STRICT;
    if (config->op == KW_GEMM) {
        problem->layout = any ? (kw_layout)below(random, 4) : (kw_layout)kw_config_axis(config, "layout", 0);
        problem->gemm = (kw_gemm_dims){.batch = 1, .m = large(random, 33), .n = large(random, 33), .k = large(random, 20)};
        problem->gemm.m = kw_round_up(problem->gemm.m, each);
        problem->gemm.n = kw_round_up(problem->gemm.n, each);
        problem->gemm.k = kw_round_up(problem->gemm.k, each);
        problem->gemm.batch = below(random, 2) ? 1 : large(random, 31);
        return;
    }
    problem->ndim = kw_config_axis(config, "ndim", 2);
    if (kw_word_is(kw_config_axis_word(config, "order"), "first") || (any && below(random, 2))) {
        problem->layout = KW_CHANNELS_FIRST;
    }
    *d = (kw_conv_dims){.n = large(random, 20), .g = below(random, 2) ? 1 : large(random, 20), .in = {1, 1, 1}, .filter = {1, 1, 1}};
    d->g *= kw_config_axis(config, "merge", 1);
    d->c = d->g * kw_config_axis(config, "channels", blocks ? 1 : (int32_t)kw_round_up(large(random, 10), each));
    d->k = blocks ? d->c : d->g * kw_round_up(large(random, 10), each);
    for (int axis = 0; axis < 3; axis++) {
        bool used = axis >= 3 - problem->ndim;
        d->in[axis] = used ? large(random, axis == 2 ? 24 : 8) : 1;
        d->filter[axis] = !used ? 1 : blocks ? 3 : large(random, 5);
        d->stride[axis] = !used || blocks || below(random, 2) ? 1 : large(random, 12);
        d->dilation[axis] = !used || blocks || below(random, 2) ? 1 : large(random, 8);
        d->pad[axis] = d->pad_back[axis] = !used ? 0 : blocks ? 1 : below(random, 2) ? large(random, 16) : 0;
    }
}

static void fail_on(const kw_config *config, const kw_problem *problem, const char *what) {
    char text[KW_CONFIG_TEXT_MAX], of[KW_PROBLEM_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_problem_print(of, sizeof of, problem);
    fail_msg("%s: %s: %s", what, text, of);
}

/* What cuTensorMapEncode takes: extents to 2^32, distances that are multiples of 16 bytes below 2^40, boxes to 256. */
static void check_maps(const kw_config *config, const kw_problem *problem, const kw_launch *launch) {
    for (size_t m = 0; m < sizeof launch->map / sizeof *launch->map; m++) {
        const kw_map *map = &launch->map[m];
        for (int i = 0; i < map->rank; i++) {
            int64_t step = i + 1 < map->rank ? map->stride[i] : 16;
            bool apart = map->copied || step % 16 == 0;
            if (map->extent[i] < 1 || map->extent[i] > (int64_t)UINT32_MAX + 1 || map->box[i] > 256 || step < 0 ||
                step >= (int64_t)1 << 40 || !apart) {
                fail_on(config, problem, "a map that the driver refuses");
            }
        }
    }
}

static void check_launch(const kw_config *config, const kw_problem *problem, const kw_target *target) {
    const int64_t memory = (int64_t)1 << 52;
    kw_launch launch;
    config->family->launch(config, problem, target, &launch);
    for (int i = 0; i < launch.stages; i++) {
        int64_t blocks = launch.stage[i].units, threads = launch.stage[i].threads;
        bool idle = launch.stages > 1 && i == 0; /* may have nothing to copy, and is then not launched */
        if (blocks < !idle || blocks > INT32_MAX || threads < 1 || threads > 1024 || blocks * threads > UINT32_MAX) {
            fail_on(config, problem, "blocks beyond a launch");
        }
        if (launch.cluster[i] > 1 && blocks % launch.cluster[i]) {
            fail_on(config, problem, "a cluster without all of its blocks");
        }
    }
    check_maps(config, problem, &launch);
    if (launch.shared_bytes < 0 || launch.shared_bytes > memory || launch.packed_bytes < 0 || launch.packed_bytes > memory) {
        fail_on(config, problem, "workspace overflows");
    }
    for (int i = 0; i < KW_PARAMS_WORDS; i++) {
        if (launch.params.word[i] < 0) {
            fail_on(config, problem, "a value overflows");
        }
    }
}

/* Offsets of 32 bits. The image of split_image is cut into pieces. */
static void check_offsets(const kw_config *config, const kw_problem *problem) {
    bool cut = kw_config_axis(config, "split_image", 0) == 1;
    int64_t batch = problem->op == KW_GEMM ? problem->gemm.batch : 1; /* each with a base of its own */
    for (int i = 0; i < KW_TENSOR_COUNT && kw_config_axis(config, "index", 64) == 32; i++) {
        int64_t bytes =
            kw_problem_elements(problem, (kw_tensor)i) / batch * (int64_t)kw_dtype_size(kw_problem_dtype(problem, (kw_tensor)i));
        if (bytes > INT32_MAX && !(cut && i != KW_W)) {
            fail_on(config, problem, "a tensor beyond 32-bit offsets");
        }
    }
}

static void check_texts(const char *arch, const char *const texts_of[], size_t count) {
    enum { PROBLEMS = 10000, SERVED = 20 };
    uint64_t random = 1;
    const kw_target *target = &kw_gpu_arch_find(arch)->typical;
    for (size_t i = 0; i < count; i++) {
        kw_config config = config_of(texts_of[i]);
        kw_error err = {0};
        int legal = 0, served = 0;
        if (kw_config_runs(&config, target, &err)) {
            fail_msg("%s", err.text);
        }
        for (int p = 0; p < PROBLEMS; p++) {
            kw_problem problem;
            draw(&problem, &config, &random);
            if (kw_problem_check(&problem, NULL)) {
                continue;
            }
            legal++;
            if (!kw_config_fits(&config, &problem, target, NULL)) {
                served++;
                check_launch(&config, &problem, target);
                check_offsets(&config, &problem);
            }
        }
        if (served < SERVED) {
            fail_msg("%s: %d served", texts_of[i], served);
        }
        if (strstr(config.family->name, "reference")) {
            assert_int_equal(served, legal);
        }
    }
}

static void what_fits_is_launched_within_the_limits(void **state) {
    (void)state;
    check_texts("gfx942", texts, sizeof texts / sizeof *texts);
}

static void bulk_copies_and_clusters_stay_within_the_limits(void **state) {
    (void)state;
    check_texts("sm_90", hopper_texts, sizeof hopper_texts / sizeof *hopper_texts);
}

/* The largest that is served with 32-bit offsets, and one element more. */
static void offsets_of_32_bits_end_at_2_gib(void **state) {
    (void)state;
    static const struct {
        int text;
        const char *problem;
        bool fits;
    } cases[] = {
        {0, "conv_fwd bf16 nhwgc n1 c4 k1 i16383x16384 f1x1", true},
        {0, "conv_fwd bf16 nhwgc n1 c4 k1 i16384x16384 f1x1", false},
        {0, "conv_fwd bf16 nhwgc n1 c1 k4 i16383x16384 f1x1", true},
        {0, "conv_fwd bf16 nhwgc n1 c1 k4 i16384x16384 f1x1", false},
        {2, "conv_fwd bf16 nhwgc n1 c1 k4 i16384x16384 f1x1", true},
        {2, "conv_fwd bf16 nhwgc n1 c32768 k32768 i9x9 f1x1", false},
        {4, "conv_bwd_data bf16 nhwgc n1 c1 k4 i16384x16384 f1x1", false},
        {6, "conv_bwd_weight bf16 nhwgc n1 c32767 k32768 i3x3 f1x1", false}, /* of blocks times 128 parts there would be more than 2^31 */
        {10, "gemm bf16 rcr m32767 n8 k32768", true},
        {10, "gemm bf16 rcr m32768 n8 k32768", false},
        {10, "gemm bf16 rcr b1000 m32767 n8 k32768", true},
    };
    const kw_target *target = &kw_gpu_arch_find("gfx942")->typical;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_config config = config_of(texts[cases[i].text]);
        kw_problem problem;
        kw_error err = {0};
        assert_int_equal(kw_problem_parse(&problem, cases[i].problem, &err), KW_OK);
        kw_status status = kw_config_fits(&config, &problem, target, &err);
        if (!status != cases[i].fits) {
            fail_msg("%s: %s", cases[i].problem, err.text);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_launched_within_the_limits),
        cmocka_unit_test(bulk_copies_and_clusters_stay_within_the_limits),
        cmocka_unit_test(offsets_of_32_bits_end_at_2_gib),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
