/* test_builder_conf.c: lists of CK Builder, by samples of our own (tests/data/builder): each form of line gives the config it stands for, and a
 * fault is named with file and line. */
#include "config/catalog.h"
#include "space/builder_conf.h"
#include "space/enumerate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static bool add(void *user, const kw_config *config) {
    return !kw_catalog_add(user, config, NULL, NULL);
}

static kw_catalog take(const char *set, const char *filter) {
    kw_catalog catalog = {0};
    kw_error err = {0};
    kw_space_options options = {.set = set, .arch = "gfx942", .filter = filter, .builder_conf = KW_BUILDER_FOLDER};
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
        {"all of one list", "c.op == 'conv_fwd' and c.ndim == 2", 10},
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

static kw_config base_config(void) {
    kw_config config;
    kw_error err = {0};
    if (kw_config_parse(
            &config,
            "conv.igemm conv_fwd fp16 ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 "
            "pipe=compv3 sched=intrawave epi=cshuffle vec_a=4 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "
            "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32",
            &err)) {
        fail_msg("%s", err.text);
    }
    return config;
}

static void faults_name_file_and_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *fragment;
    } rows[] = {
        {"nonsense", "f.conf:1: an instance is NAME<VALUE"},
        {"\n# x\nForward<1, 2", "f.conf:3: the list of values has no end"},
        {"Forward<1, 2>", "f.conf:1: 'Forward' with 2 values is no form of conv_fwd"},
        {REPEATED("Default", "256", "x", "32"), "f.conf:1: value 18, 'x', is not a whole number"},
        {REPEATED("Default", "256", "100", "32"), "a tile of 100x128 is no whole number of waves of 64x64"},
        {REPEATED("Default", "100", "128", "32"), "a block of 100 threads is no multiple of the 256 of 2x2 waves"},
        {REPEATED("Strange", "256", "128", "32"), "'Strange' is not known as spec"},
        {REPEATED("Default", "256", "2048", "32"), "a block of 256 threads is no multiple"},
        {REPEATED("Default", "256", "128", "4096"), "tile_k is 4096, outside 1..1024"},
        {"GroupedConvolution<1>", "f.conf:1: 1 values, 27 are wanted"},
    };
    kw_config base = base_config();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        assert_int_not_equal(kw_builder_text(&catalog, "f.conf", (kw_word){rows[i].text, strlen(rows[i].text)}, 64, &base, &err), KW_OK);
        if (!strstr(err.text, rows[i].fragment)) {
            fail_msg("'%s' says nothing of '%s'", err.text, rows[i].fragment);
        }
        kw_catalog_drop(&catalog);
    }
    kw_catalog catalog = {0};
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
