/* test_mma_rules.c: each rule of conv.igemm and gemm.mma by a config that is legal but for it: the refusal names the rule. A rule that no row here
 * breaks fails the test, so that a new one comes with its example. */
#include "families/gpu/mma/rules.h"
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char igemm[] = "ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 pipe=compv3 "
                            "sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=1 merge=1 wave_groups=1 split_image=0 explicit=0 "
                            "two_stage=0 spec=default streamk=off persistent=0 split_k=1 index=32";
static const char gemm[] =
    "layout=rcr tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=2 wave_k=1 inst_m=32 inst_n=32 inst_k=16 pipe=compv3 "
    "sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=1 preshuffle=0 wave_groups=1 "
    "persistent=0 split_k=1 streamk=off index=32";

/* The base with the changes "axis=value ..." made. */
static void changed(kw_config *config, const char *head, const char *base, const char *changes) {
    char text[KW_CONFIG_TEXT_MAX], axis[64];
    snprintf(text, sizeof text, "%s", head);
    kw_scan scan = kw_scan_string(base);
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        size_t name = (size_t)((const char *)memchr(word.at, '=', word.size) - word.at) + 1;
        snprintf(axis, sizeof axis, " %.*s", (int)name, word.at);
        char padded[256];
        snprintf(padded, sizeof padded, " %s", changes);
        const char *found = strstr(padded, axis);
        size_t length = strlen(text);
        if (found) {
            snprintf(text + length, sizeof text - length, " %.*s", (int)strcspn(found + 1, " "), found + 1);
        } else {
            snprintf(text + length, sizeof text - length, " %.*s", (int)word.size, word.at);
        }
    }
    /* Read without the rules, which the parser asks. */
    const kw_family *family = kw_family_find((kw_word){head, strcspn(head, " ")});
    *config = (kw_config){.family = family};
    kw_scan words = kw_scan_string(text);
    kw_scan_word(&words, &word);
    kw_scan_word(&words, &word);
    for (int op = 0; op < KW_OP_COUNT; op++) {
        config->op = kw_word_is(word, kw_op_name((kw_op)op)) ? (kw_op)op : config->op;
    }
    kw_scan_word(&words, &word);
    for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        config->dtype = kw_word_is(word, kw_dtype_name((kw_dtype)dtype)) ? (kw_dtype)dtype : config->dtype;
    }
    for (int i = 0; kw_scan_word(&words, &word); i++) {
        const char *value = (const char *)memchr(word.at, '=', word.size) + 1;
        size_t size = word.size - (size_t)(value - word.at);
        if (!family->axes[i].words) {
            config->axis[i] = atoi(value);
            continue;
        }
        kw_scan list = kw_scan_string(family->axes[i].words);
        kw_word known;
        for (int32_t j = 0; kw_scan_word(&list, &known); j++) {
            config->axis[i] = known.size == size && !memcmp(known.at, value, size) ? j : config->axis[i];
        }
    }
}

#define FORWARD "conv.igemm conv_fwd fp16"
#define DATA "conv.igemm conv_bwd_data fp16"
#define WEIGHT "conv.igemm conv_bwd_weight fp16"
#define GEMM "gemm.mma gemm fp16"
#define BULK "pipe=tma stages=4 wave_m=4 wave_n=1 inst_m=64 inst_n=128 "
#define GROUPS "wave_m=4 wave_n=1 inst_m=64 inst_n=128 "

#define BYTES                                                                                                                              \
    "layout=crr tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=32 pipe=compv3 sched=intrawave "      \
    "vec_a=16 vec_b=16 vec_c=8"
#define PHASES                                                                                                                             \
    "tile_m=16 tile_n=64 tile_k=32 wave_m=1 wave_n=2 wave_k=1 inst_m=16 inst_n=8 inst_k=4 pipe=basic_v1 sched=intrawave vec_a=1 vec_b=4 "  \
    "vec_c=4"

static const struct {
    const char *rule, *head, *changes, *arch;
} rows[] = {
    {"", FORWARD, "", "gfx942"},
    {"", DATA, "", "gfx942"},
    {"", WEIGHT, "split_k=0", "gfx942"},
    {"", GEMM, "", "gfx942"},
    {"", FORWARD, "tile_m=64 tile_n=64 inst_m=16 inst_n=8 inst_k=16", "sm_90"},
    {"", GEMM, BULK, "sm_90"},
    {"", GEMM, "wave_m=8 " BULK, "sm_90"},
    {"tile_by_waves", GEMM, "tile_m=192 wave_m=8 " BULK, "sm_90"},
    {"instruction_shape", GEMM, "inst_n=32 " BULK, "sm_90"},
    {"bulk_operands", FORWARD, BULK, "sm_90"},
    {"", FORWARD, "explicit=1 spec=filter1x1_stride1_pad0 " BULK, "sm_90"},
    {"bulk_operands", GEMM, "vec_b=4 " BULK, "sm_90"},
    {"bulk_waves", GEMM, "wave_m=2 " BULK, "sm_90"},
    {"bulk_boxes", GEMM, "tile_k=32 " BULK, "sm_90"},
    {"", FORWARD, "pipe=gather stages=4 " GROUPS, "sm_90"},
    {"gather_operands", FORWARD, "pipe=gather stages=4 vec_b=4 " GROUPS, "sm_90"},
    {"gather_operands", GEMM, "pipe=gather stages=4 tile_k=128 " GROUPS, "sm_90"},
    {"lds_stages", GEMM, "pipe=gather stages=2 " GROUPS, "sm_90"},
    {"arch_bulk", GEMM, "pipe=gather stages=4 " GROUPS, "sm_80"},
    {"lds_stages", FORWARD, "stages=3", "gfx942"},
    {"lds_stages", GEMM, "stages=1 " BULK, "sm_90"},
    {"bulk_plain", GEMM, "layout=rrr " BULK, "sm_90"},
    {"arch_bulk", GEMM, BULK, "sm_80"},
    {"lds", GEMM, "stages=8 " BULK, "sm_90"},
    {"tile_by_waves", FORWARD, "tile_m=96", "gfx942"},
    {"instruction_shape", FORWARD, "inst_m=4 inst_n=64", "gfx942"},
    {"interwave", FORWARD, "sched=interwave", "gfx942"},
    {"two_lds_stages", FORWARD, "pipe=compv4", "gfx942"},
    {"one_lds_stage", FORWARD, "pipe=basic_v1 stages=2", "gfx942"},
    {"compv6_depth", FORWARD, "pipe=compv6 tile_k=32", "gfx942"},
    {"wave_groups", FORWARD, "wave_groups=2", "gfx942"},
    {"vector_width", FORWARD, "vec_a=6", "gfx942"},
    {"vector_of_result", FORWARD, "tile_m=128 tile_n=8 wave_n=1 inst_m=16 inst_n=8 vec_c=16", "sm_90"},
    {"streamk_split", WEIGHT, "streamk=tree split_k=0", "gfx942"},
    {"async_vectors", WEIGHT, "pipe=basic_async_v1 vec_a=1 split_k=0", "gfx942"},
    {"index_width", FORWARD, "index=48", "gfx942"},
    {"backward_pipe", DATA, "pipe=compv5 wave_groups=2", "gfx942"},
    {"streamk_direction", FORWARD, "streamk=tree", "gfx942"},
    {"persistent", WEIGHT, "persistent=1", "gfx942"},
    {"two_stage", FORWARD, "two_stage=1", "gfx942"},
    {"split_direction", FORWARD, "split_k=4", "gfx942"},
    {"explicit", FORWARD, "explicit=1", "gfx942"},
    {"merge_count", FORWARD, "merge=3", "gfx942"},
    {"merge_grouped", FORWARD, "merge=2 split_image=1", "gfx942"},
    {"async_channels", FORWARD, "pipe=basic_async_v1 merge=2", "gfx942"},
    {"filter3x3", DATA, "spec=filter3x3", "gfx942"},
    {"split_image", DATA, "split_image=1", "gfx942"},
    {"preshuffle_pipe", GEMM, "preshuffle=1", "gfx942"},
    {"preshuffle_plain", GEMM, "preshuffle=1 pipe=basic_v1 sched=interwave", "gfx942"},
    {"arch_waves", FORWARD, "", "gfx1100"},
    {"arch_instruction", FORWARD, "inst_k=8 inst_m=16 inst_n=16", "gfx942"},
    {"block_threads", FORWARD, "tile_m=256 tile_n=256 wave_m=4 wave_n=4 pipe=wavelet", "gfx950"},
    {"threads_share_tiles", FORWARD, "tile_m=96 tile_k=16 inst_m=16 inst_n=16 inst_k=16 vec_a=4", "gfx942"},
    {"lds", FORWARD, "tile_m=256 tile_n=256 tile_k=128", "gfx942"},
    {"compv6_lds", FORWARD, "pipe=compv6 tile_m=256 tile_n=128", "gfx942"},
    {"compv6_vectors", FORWARD, "pipe=compv6 tile_m=32 tile_n=16 wave_m=2 wave_n=1 inst_m=16 inst_n=16 inst_k=32 vec_b=16", "gfx942"},
    {"arch_async", WEIGHT, "pipe=basic_async_v1 split_k=0", "gfx90a"},
    {"arch_streamk", WEIGHT, "tile_m=64 tile_n=64 wave_m=2 wave_n=4 inst_m=16 inst_n=16 inst_k=16 streamk=tree", "gfx1100"},
    {"registers", FORWARD, "tile_m=256 tile_n=128 inst_m=16 inst_n=8", "sm_90"},
    {"registers", "gemm.mma gemm fp8", BYTES, "sm_90"}, /* bytes that change places, and are widened */
    {"", "gemm.mma gemm fp8", BYTES, "sm_89"},
    {"", "gemm.mma gemm int8", BYTES, "sm_90"},
    {"registers", "conv.igemm conv_bwd_data fp32", "ndim=3 " PHASES, "sm_90"},
    {"", "conv.igemm conv_bwd_data fp32", "ndim=1 " PHASES, "sm_90"},
    {"preshuffle_instruction", GEMM, "preshuffle=1 pipe=basic_v1 tile_m=64 tile_n=64 inst_m=16 inst_n=8", "sm_90"},
    {"preshuffle_loads", GEMM, "preshuffle=1 pipe=basic_v1 tile_k=8 inst_k=8", "gfx942"},
};

static bool names(const kw_error *err, const char *rule) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "rule %s: ", rule);
    return strstr(err->text, wanted);
}

static void each_rule_refuses_its_example_by_name(void **state) {
    (void)state;
    int failed = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config;
        kw_error err = {0};
        changed(&config, rows[i].head, *rows[i].head == *GEMM ? gemm : igemm, rows[i].changes);
        const kw_gpu_arch *arch = kw_gpu_arch_find(rows[i].arch);
        kw_status status = config.family->valid(&config, &err);
        status = status ? status : config.family->runs(&config, &arch->typical, &err);
        if (*rows[i].rule ? !status || !names(&err, rows[i].rule) : status != KW_OK) {
            print_error("%s %s: rule '%s' is wanted: %s\n", rows[i].head, rows[i].changes, rows[i].rule, err.text);
            failed++;
        }
    }
    assert_int_equal(failed, 0);
}

static void has_row(const kw_mma_rule *rules) {
    for (; rules->name; rules++) {
        bool found = false;
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            found = found || !strcmp(rows[i].rule, rules->name);
        }
        if (!found) {
            fail_msg("rule %s has no example in this test", rules->name);
        }
    }
}

static void each_shared_rule_has_an_example(void **state) {
    (void)state;
    has_row(kw_mma_valid_rules);
    has_row(kw_mma_runs_rules);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_refuses_its_example_by_name),
        cmocka_unit_test(each_shared_rule_has_an_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
