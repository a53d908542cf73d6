/* test_block_rules.c: each rule of conv.depthwise_block and conv.direct_block by a config that is legal but for it: the refusal names the
 * rule. The first row of a family is its base, which is legal. */
#include "config/config.h"
#include "config/gpu_arch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define DEPTHWISE "conv.depthwise_block"
#define DIRECT "conv.direct_block"

static const char planes[] = "ndim=2 dilation=1 filter_d=1 stride_d=1 pad_d=0 tile_h=8 tile_w=8 filter=3 stride=1 pad=1 batch=8 sub_h=2 "
                             "sub_w=2 vec_in=2 vec_out=2 order=first";
static const char narrow[] =
    "channels=8 impl=grouped tile_h=4 tile_w=16 stride=1 waves_c=1 waves_q=4 slices=1 cols=64 inst_k=16 swizzle=xor store=lds vec=8";

#define DENSE "impl=dense channels=32 waves_q=1 cols=16"
#define WEIGHT "cols=16 swizzle=none store=registers"

static const struct {
    const char *rule, *family, *op, *dtype, *changes, *arch;
} rows[] = {
    {"", DEPTHWISE, "conv_fwd", "fp16", "", "gfx942"},
    {"", DEPTHWISE, "conv_fwd", "fp32", "vec_in=8 vec_out=8 sub_w=4 batch=16", "gfx942"},
    {"", DEPTHWISE, "conv_bwd_weight", "bf16", "batch=4", "gfx942"},
    {"", DEPTHWISE, "conv_bwd_weight", "bf16", "batch=2", "sm_90"},
    {"", DEPTHWISE, "conv_fwd", "fp16", "filter=4 stride=3 pad=0 vec_in=1", "gfx942"},
    {"", DEPTHWISE, "conv_bwd_data", "bf16", "ndim=1 tile_h=1 sub_h=1 batch=16", "gfx942"},
    {"", DEPTHWISE, "conv_fwd", "bf16", "ndim=3 filter_d=3 stride_d=2 pad_d=1", "sm_90"},
    {"one_axis", DEPTHWISE, "conv_fwd", "bf16", "ndim=1", "gfx942"},
    {"three_axes", DEPTHWISE, "conv_fwd", "bf16", "filter_d=3", "gfx942"},
    {"vector_width", DEPTHWISE, "conv_fwd", "fp32", "vec_out=16", "gfx942"},
    {"vector_width", DEPTHWISE, "conv_fwd", "fp16", "vec_in=6", "gfx942"},
    {"sub_in_tile", DEPTHWISE, "conv_fwd", "fp16", "sub_h=9", "gfx942"},
    {"sums_in_registers", DEPTHWISE, "conv_fwd", "fp16", "filter=15", "gfx942"},
    {"phases", DEPTHWISE, "conv_bwd_data", "fp16", "stride=2 sub_h=1", "gfx942"},
    {"read_vectors", DEPTHWISE, "conv_fwd", "fp16", "vec_in=4", "gfx942"},
    {"weight_runs", DEPTHWISE, "conv_bwd_weight", "fp16", "vec_out=4 batch=4", "gfx942"},
    {"subtiles", DEPTHWISE, "conv_fwd", "fp16", "sub_h=1 sub_w=1 vec_in=1 batch=1", "sm_90"},
    {"batch", DEPTHWISE, "conv_fwd", "fp16", "batch=6", "gfx942"},
    {"batch", DEPTHWISE, "conv_bwd_weight", "fp16", "batch=8", "gfx942"},
    {"plane_runs", DEPTHWISE, "conv_fwd", "fp16", "order=last vec_in=16", "gfx942"},
    {"lds", DEPTHWISE, "conv_fwd", "fp16", "tile_h=64 tile_w=64 sub_h=8 sub_w=8 stride=4 batch=1", "gfx942"},
    {"", DIRECT, "conv_fwd", "bf16", "", "gfx942"},
    {"", DIRECT, "conv_bwd_data", "fp16", "inst_k=8", "sm_90"},
    {"group_width", DIRECT, "conv_fwd", "bf16", "channels=12", "gfx942"},
    {"", DIRECT, "conv_bwd_data", "bf16", "stride=2 tile_h=8 tile_w=32", "gfx942"},
    {"", DIRECT, "conv_fwd", "bf16", DENSE, "gfx942"},
    {"", DIRECT, "conv_fwd", "fp16", "slices=3 cols=8 store=registers " DENSE, "sm_90"},
    {"", DIRECT, "conv_bwd_data", "bf16", "stride=2 tile_w=32 vec=4 " DENSE, "gfx1100"},
    {"", DIRECT, "conv_bwd_weight", "bf16", WEIGHT, "gfx942"},
    {"", DIRECT, "conv_bwd_weight", "fp16", "channels=32 stride=2 waves_c=4 " WEIGHT, "sm_90"},
    {"weight_form", DIRECT, "conv_bwd_weight", "bf16", "", "gfx942"},
    {"weight_form", DIRECT, "conv_bwd_weight", "bf16", "channels=32 waves_c=2 " WEIGHT, "gfx942"},
    {"weight_pixels", DIRECT, "conv_bwd_weight", "bf16", "tile_h=16 tile_w=6 waves_q=1 " WEIGHT, "gfx942"},
    {"tile_by_waves", DIRECT, "conv_bwd_weight", "bf16", "tile_h=5 " WEIGHT, "gfx942"},
    {"grouped_wave", DIRECT, "conv_fwd", "bf16", "cols=32", "gfx942"},
    {"grouped_wave", DIRECT, "conv_fwd", "bf16", "slices=2", "gfx942"},
    {"dense_slices", DIRECT, "conv_fwd", "bf16", "impl=dense waves_q=1 cols=16", "gfx942"},
    {"dense_columns", DIRECT, "conv_fwd", "bf16", "impl=dense waves_q=1 channels=32", "gfx942"},
    {"wave_columns", DIRECT, "conv_fwd", "bf16", "cols=8 " DENSE, "gfx942"},
    {"filter_registers", DIRECT, "conv_fwd", "bf16", "slices=2 " DENSE, "gfx1100"},
    {"filter_registers", DIRECT, "conv_fwd", "bf16", "slices=4 cols=8 " DENSE, "sm_90"},
    {"filter_registers", DIRECT, "conv_fwd", "bf16", "waves_c=16 slices=2 " DENSE, "sm_90"},
    {"whole_phases", DIRECT, "conv_bwd_data", "bf16", "stride=2 tile_h=7 tile_w=32", "gfx942"},
    {"tile_by_waves", DIRECT, "conv_bwd_data", "bf16", "stride=2", "gfx942"},
    {"tile_by_waves", DIRECT, "conv_fwd", "bf16", "waves_q=2 " DENSE, "gfx942"},
    {"lds", DIRECT, "conv_fwd", "bf16", "waves_c=8 slices=3 " DENSE, "gfx942"},
    {"tile_by_waves", DIRECT, "conv_fwd", "bf16", "tile_w=12", "gfx942"},
    {"vector_width", DIRECT, "conv_fwd", "bf16", "vec=16", "gfx942"},
    {"arch_instruction", DIRECT, "conv_fwd", "bf16", "inst_k=8", "gfx942"},
    {"block_threads", DIRECT, "conv_fwd", "bf16", "tile_w=64 waves_q=16 waves_c=2", "gfx942"},
    {"registers", DIRECT, "conv_fwd", "bf16", "tile_h=32 waves_q=1 channels=32", "sm_90"},
    {"lds", DIRECT, "conv_fwd", "bf16", "tile_w=64 waves_q=8 waves_c=2", "gfx942"},
};

/* The value of an axis: that of changes, else that of the base. */
static int32_t value_of(const kw_axis *axis, const char *changes, const char *base) {
    const char *const lists[] = {changes, base};
    for (int l = 0; l < 2; l++) {
        kw_scan scan = kw_scan_string(lists[l]);
        kw_word word;
        while (kw_scan_word(&scan, &word)) {
            size_t name = strlen(axis->name);
            if (word.size <= name || strncmp(word.at, axis->name, name) != 0 || word.at[name] != '=') {
                continue;
            }
            kw_word value = {word.at + name + 1, word.size - name - 1}, known;
            if (!axis->words) {
                return (int32_t)strtol(value.at, NULL, 10);
            }
            kw_scan words = kw_scan_string(axis->words);
            for (int32_t i = 0; kw_scan_word(&words, &known); i++) {
                if (known.size == value.size && !memcmp(known.at, value.at, value.size)) {
                    return i;
                }
            }
        }
    }
    fail_msg("no value of %s", axis->name);
    return 0;
}

/* Put together without the parser, which asks the rules. */
static kw_config config_of(size_t row) {
    const kw_family *family = kw_family_find((kw_word){rows[row].family, strlen(rows[row].family)});
    kw_config config = {.family = family};
    for (int op = 0; op < KW_OP_COUNT; op++) {
        config.op = !strcmp(rows[row].op, kw_op_name((kw_op)op)) ? (kw_op)op : config.op;
    }
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        config.dtype = !strcmp(rows[row].dtype, kw_dtype_name((kw_dtype)dtype)) ? (kw_dtype)dtype : config.dtype;
    }
    for (int i = 0; i < family->axis_count; i++) {
        config.axis[i] = value_of(&family->axes[i], rows[row].changes, strcmp(rows[row].family, DIRECT) ? planes : narrow);
    }
    return config;
}

static void each_rule_refuses_its_example_by_name(void **state) {
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char wanted[64];
        kw_error err = {0};
        kw_config config = config_of(i);
        kw_status status = config.family->valid(&config, &err);
        status = status ? status : config.family->runs(&config, &kw_gpu_arch_find(rows[i].arch)->typical, &err);
        snprintf(wanted, sizeof wanted, "rule %s: ", rows[i].rule);
        if (*rows[i].rule ? !status || !strstr(err.text, wanted) : status != KW_OK) {
            print_error("%s %s %s: rule '%s' is wanted: %s\n", rows[i].family, rows[i].op, rows[i].changes, rows[i].rule, err.text);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_refuses_its_example_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
