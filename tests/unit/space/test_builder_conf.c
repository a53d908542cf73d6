/* test_builder_conf.c: lists of CK Builder, by samples of our own (tests/data/builder): each form of line gives the config it stands for, and a
 * fault is named with file and line. */
#include "config/catalog.h"
#include "space/ck/builder_conf.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

static bool add(void *user, const kw_config *config) {
    return !kw_catalog_add(user, config, NULL, NULL);
}

static kw_catalog take(const char *set, const char *filter) {
    kw_catalog catalog = {0};
    kw_error err = {0};
    kw_space_options options = {
        .size = sizeof(kw_space_options), .set = set, .arch = "gfx942", .filter = filter, .builder_conf = KW_BUILDER_FOLDER};
    if (kw_enumerate(&options, add, &catalog, &err)) {
        fail_msg("%s", err.text);
    }
    return catalog;
}

static void each_form_gives_the_config_it_stands_for(void **state) {
    (void)state;
    static const struct {
        const char *form, *filter;
        size_t count;
    } rows[] = {
        {"all of one list", "c.family == 'conv.igemm' and c.op == 'conv_fwd' and c.ndim == 2", 10},
        {"forward V1, twice with other copies",
         "c.op == 'conv_fwd' and c.ndim == 2 and c.tile_m == 128 and c.tile_n == 128 and c.stages == 1 and c.tile_k == 32", 1},
        {"OddC is default", "c.op == 'conv_fwd' and c.vec_a == 1 and c.spec == 'default' and c.wave_m == 1", 1},
        {"merged groups", "c.op == 'conv_fwd' and c.merge == 8 and c.spec == 'filter3x3' and c.inst_m == 16 and c.inst_k == 16", 1},
        {"forward V3, v3", "c.op == 'conv_fwd' and c.pipe == 'compv3' and c.spec == 'filter1x1_stride1_pad0' and c.tile_k == 64", 1},
        {"forward V3, v4 has two stages", "c.op == 'conv_fwd' and c.pipe == 'compv4' and c.stages == 2", 1},
        {"forward V3, v2 is mem", "c.op == 'conv_fwd' and c.pipe == 'mem' and c.sched == 'interwave' and c.inst_k == 32", 1},
        {"large tensors", "c.op == 'conv_fwd' and c.split_image == 1 and c.merge == 1 and c.tile_m == 256 and c.wave_m == 2", 1},
        {"short with a schedule", "c.op == 'conv_fwd' and c.tile_m == 128 and c.tile_n == 64 and c.wave_n == 1", 1},
        {"short with groups", "c.op == 'conv_fwd' and c.tile_m == 64 and c.tile_n == 64 and c.vec_a == 8 and c.merge == 1", 1},
        {"by its own name", "c.op == 'conv_fwd' and c.pipe == 'compv3' and c.spec == 'default' and c.vec_c == 8", 1},
        {"three axes", "c.op == 'conv_fwd' and c.ndim == 3", 1},
        {"backward weight V1 counts depth in vectors",
         "c.op == 'conv_bwd_weight' and c.pipe == 'basic_v1' and c.tile_k == 32 and c.split_k == 0", 1},
        {"backward weight V3", "c.op == 'conv_bwd_weight' and c.pipe == 'compv3' and c.tile_k == 64", 1},
        {"direct loads", "c.op == 'conv_bwd_weight' and c.pipe == 'basic_async_v1'", 1},
        {"two stages", "c.op == 'conv_bwd_weight' and c.two_stage == 1 and c.merge == 4 and c.pipe == 'mem'", 1},
        {"an explicit product",
         "c.op == 'conv_bwd_weight' and c.explicit == 1 and c.spec == 'filter1x1_stride1_pad0' and c.vec_a == 8 and "
         "c.vec_b == 4 and c.vec_c == 4 and c.wave_m == 2 and c.wave_n == 2 and c.inst_k == 16 and c.two_stage == 0",
         1},
        {"an explicit product of single results goes through fp32",
         "c.op == 'conv_bwd_weight' and c.explicit == 1 and c.two_stage == 1 and c.vec_c == 1 and c.pipe == 'mem' and c.sched == "
         "'interwave' and "
         "c.wave_m == 1 and c.wave_n == 2",
         1},
        {"depthwise, for each type", "c.family == 'conv.depthwise_block' and c.op == 'conv_fwd'", 6},
        {"depthwise without a name",
         "c.family == 'conv.depthwise_block' and c.tile_h == 16 and c.tile_w == 16 and c.filter == 3 and c.stride == 2 and c.pad == 1 and "
         "c.batch == 4 and c.sub_h == 4 and c.sub_w == 4 and c.vec_in == 4 and c.vec_out == 4 and c.order == 'first'",
         3},
        {"stream-K", "c.streamk == 'tree' and c.persistent == 1 and c.split_k == 1", 1},
        {"backward data", "c.op == 'conv_bwd_data' and c.sched == 'intrawave'", 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = take("tests", rows[i].filter);
        size_t count = 0;
        for (size_t j = 0; j < catalog.count; j++) {
            count += catalog.configs[j].family->axis_count > 0;
        }
        if (count != rows[i].count) {
            fail_msg("%s: %zu configs, not %zu", rows[i].form, count, rows[i].count);
        }
        kw_catalog_drop(&catalog);
    }
    kw_catalog profiler = take("profiler", "c.family == 'conv.igemm'");
    assert_int_equal(profiler.count, 1); /* subsets do not mix */
    assert_int_equal(profiler.configs[0].dtype, KW_FP32);
    assert_int_equal(kw_config_axis(&profiler.configs[0], "inst_k", 0), 4);
    kw_catalog_drop(&profiler);
}

#define REPEATED(spec, block, m, k)                                                                                                        \
    "Forward<0,0,0,0,0,0,0,0,0,0,0,0,0,0," spec ",0,0," block "," m ",128," k ",8,0,32,32,2,2,0,0,0,0,8,0,0,0,0,0,0,8,0,0,0,0,0,8,0,0,0,"  \
    "1>"

#define EXPLICIT(block, tile, vec)                                                                                                         \
    "Device_Explicit<Gemm<Default, CRR> BlkSize: " block ", BlkTile: " tile ", WaveTile: 32x32, K1: 4x8, WaveMap: 2x2, VmemReadVec: " vec  \
    ", BlkGemmPipelineScheduler: Intrawave, BlkGemmPipelineVersion: v1>"

static kw_config base_config(kw_op op) {
    static const char implicit[] =
        "conv.igemm conv_fwd fp16 ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 "
        "pipe=compv3 sched=intrawave epi=cshuffle vec_a=4 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "
        "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32";
    static const char depthwise[] = "conv.depthwise_block conv_fwd fp16 ndim=2 tile_h=8 tile_w=8 filter=3 stride=1 pad=1 dilation=1 "
                                    "filter_d=1 stride_d=1 pad_d=0 batch=1 sub_h=1 sub_w=1 vec_in=1 vec_out=1 order=first";
    kw_config config;
    kw_error err = {0};
    if (kw_config_parse(&config, op == KW_GEMM ? depthwise : implicit, &err)) {
        fail_msg("%s", err.text);
    }
    config.op = op == KW_GEMM ? KW_CONV_FWD : op;
    return config;
}

static void faults_name_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
        kw_op op; /* KW_GEMM: a list of depthwise kernels */
    } rows[] = {
        {"nonsense", "f.conf:1: an instance is NAME<VALUE", KW_CONV_FWD},
        {"\n# x\nForward<1, 2", "f.conf:3: the list of values has no end", KW_CONV_FWD},
        {"Forward<1, 2>", "f.conf:1: 'Forward' with 2 values is no form of conv_fwd", KW_CONV_FWD},
        {REPEATED("Default", "256", "x", "32"), "f.conf:1: value 18, 'x', is not a whole number", KW_CONV_FWD},
        {REPEATED("Default", "256", "100", "32"), "a tile of 100x128 is no whole number of waves of 64x64", KW_CONV_FWD},
        {REPEATED("Default", "100", "128", "32"), "a block of 100 threads is no multiple of the 256 of 2x2 waves", KW_CONV_FWD},
        {REPEATED("Strange", "256", "128", "32"), "'Strange' is not known as spec", KW_CONV_FWD},
        {REPEATED("Default", "256", "2048", "32"), "a block of 256 threads is no multiple", KW_CONV_FWD},
        {REPEATED("Default", "256", "128", "4096"), "tile_k is 4096, outside 1..1024", KW_CONV_FWD},
        {"GroupedConvolution<1>", "f.conf:1: 1 values, 27 are wanted", KW_CONV_FWD},
        {EXPLICIT("256", "128x128x32", "8x8xSeq(4)"), "f.conf:1: explicit products are conv_bwd_weight, not conv_fwd", KW_CONV_FWD},
        {EXPLICIT("256", "128x128", "8x8xSeq(4)"), "BlkTile: '128x128' is not 3 whole numbers", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256", "128x128x32x1", "8x8xSeq(4)"), "BlkTile: '128x128x32x1' is not 3 whole numbers", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256x1", "128x128x32", "8x8xSeq(4)"), "BlkSize: '256x1' is not 1 whole numbers", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("128", "128x128x32", "8x8xSeq(4)"), "a block of 128 threads is no multiple of the 256", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256", "128x128x32", "8x8x4"), "VmemReadVec: '8x8x4' is not AxBxSeq(C)", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256", "128x128x32", "8x8"), "VmemReadVec: '8x8' is not AxBxSeq(C)", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256", "128x128x32", "8x8xSeq(4,2)"), "VmemReadVec: '8x8xSeq(4,2)' is not AxBxSeq(C)", KW_CONV_BWD_WEIGHT},
        {EXPLICIT("256", "128x128x32", "8x8xSeq()"), "VmemReadVec: '8x8xSeq()' is not AxBxSeq(C)", KW_CONV_BWD_WEIGHT},
        {"Explicit<Gemm<1> BlkSize: 256>", "f.conf:1: no pair 'BlkTile: ...'", KW_CONV_BWD_WEIGHT},
        {"1,2,3", "f.conf:1: '' with 3 values is no depthwise kernel, which has 12", KW_GEMM},
        {"Other<8,8,3,1,1,1,1,1,1,1,1,1>", "'Other' with 12 values is no depthwise kernel", KW_GEMM},
        {"8,8,3,1,2,1,1,1,1,1,1,1", "f.conf:1: a stride of 1x2; it must be the same on both axes", KW_GEMM},
        {"8,8,3,1,1,1,0,1,1,1,1,1", "f.conf:1: a padding of 1x0; it must be the same on both axes", KW_GEMM},
        {"8,8,3,1,1,1,1,x,1,1,1,1", "f.conf:1: value 7, 'x', is not a whole number", KW_GEMM},
        {"8,8,0,1,1,1,1,1,1,1,1,1", "f.conf:1: filter is 0, outside 1..", KW_GEMM},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        kw_config base = base_config(rows[i].op);
        assert_int_not_equal(kw_builder_text(&catalog, "f.conf", (kw_word){rows[i].text, strlen(rows[i].text)}, 64, &base, &err), KW_OK);
        if (!strstr(err.text, rows[i].fragment)) {
            fail_msg("'%s' says nothing of '%s'", err.text, rows[i].fragment);
        }
        kw_catalog_drop(&catalog);
    }
    kw_catalog catalog = {0};
    kw_config base = base_config(KW_CONV_FWD);
    const char good[] = REPEATED("Default", "256", "128", "32") "\r\n\n";
    assert_int_equal(kw_builder_text(&catalog, "f.conf", (kw_word){good, sizeof good - 1}, 64, &base, NULL), KW_OK);
    assert_int_equal(catalog.count, 1);
    kw_catalog_drop(&catalog);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_gives_the_config_it_stands_for),
        cmocka_unit_test(faults_name_file_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
