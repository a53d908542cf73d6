/* test_field_meanings.c: what the table of published names says, by a second one that was written from the documents: the axis and the values
 * that a field's value stands for, and what kernels have that lack the axis. Each is asked of every kernel of a set. */
#include "config/config.h"
#include "problem/names/names.h"
#include "space/ck/traits.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

enum { LINE = 512 };
static const char arch[] = "gfx950";

/* What each field is here: for kernels of the families that have the axis, a value holds where the axis has one of these. */
static const struct meaning {
    const char *field, *value, *axis, *values;
} meanings[] = {
    {"pipeline", "compv5", "pipe", "compv5"},
    {"pipeline", "compv1", "pipe", "basic_v1"},
    {"pipeline", "compute_v1", "pipe", "basic_v1"},
    {"pipeline", "memory", "pipe", "mem"},
    {"pipeline", "compute_v3", "pipe", "compv3"},
    {"pipeline", "compute_v4", "pipe", "compv4"},
    {"pipeline", "compute_v5", "pipe", "compv5"},
    {"pipeline", "compute_v6", "pipe", "compv6"},
    {"pipeline", "async_v4", "pipe", "comp_async"},
    {"pipeline", "compute_async", "pipe", "comp_async"},
    {"pipeline", "async_v1", "pipe", "basic_async_v1"},
    {"scheduler", "interwave", "sched", "interwave"},
    {"scheduler", "default", "sched", "intrawave"},
    {"wave_mode", "interwave", "sched", "interwave"},
    {"wave_mode", "auto", "sched", "intrawave"},
    {"epilogue", "default", "epi", "default"},
    {"epilogue", "RegistersToGlobalMemory", "store", "registers"},
    {"epilogue", "RegistersToLdsToGlobalMemory", "store", "lds"},
    {"double_smem_buffer", "false", "stages", "1"},
    {"double_smem_buffer", "true", "stages", "2 3 4 5 6 7 8"},
    {"double_buffer", "true", "stages", "2 3 4 5 6 7 8"},
    {"block_per_cu", "1", "stages", "2 3 4 5 6 7 8"},
    {"block_per_cu", "2", "stages", "1"},
    {"k_block_per_cu", "2", "stages", "1"},
    {"num_wave_groups", "2", "wave_groups", "2"},
    {"num_groups_to_merge", "8", "merge", "8"},
    {"split_image", "true", "split_image", "1"},
    {"large_tensor", "true", "split_image", "1"},
    {"explicit_gemm", "true", "explicit", "1"},
    {"two_stage", "true", "two_stage", "1"},
    {"specialization", "filter3x3", "spec", "filter3x3"},
    {"specialization", "OddC", "spec", "default"},
    {"specialization", "Filter1x1Pad0", "spec", "filter1x1_pad0"},
    {"specialization", "Filter1x1Stride1Pad0", "spec", "filter1x1_stride1_pad0"},
    {"streamk_enabled", "true", "streamk", "tree linear"},
    {"streamk_enabled", "false", "streamk", "off"},
    {"streamk_reduction_strategy", "TREE", "streamk", "tree"},
    {"streamk_reduction_strategy", "LINEAR", "streamk", "linear"},
    {"streamk_persistent", "true", "persistent", "1"},
    {"persistent", "true", "persistent", "1"},
    {"preshuffle", "true", "preshuffle", "1"},
    {"ndim_spatial", "3", "ndim", "3"},
    {"layout", "ngchw", "order", "first"},
    {"layout", "nhwgc", "order", "last"},
    {"warp_m", "1", "wave_m", "1"},
    {"warp_n", "1", "wave_n", "1"},
    {"warp_k", "1", "wave_k", "1"},
    {"warp_tile_m", "32", "inst_m", "32"},
    {"warp_tile_n", "32", "inst_n", "32"},
    {"warp_tile_k", "16", "inst_k", "16"},
    {"vector_size_a", "4", "vec_a", "4"},
    {"vector_size_b", "8", "vec_b", "8"},
    {"vector_size_c", "8", "vec_c", "8"},
    {"pad_m", "true", "pad_m", "1"},
    {"pad_n", "false", "pad_n", "0"},
    {"pad_k", "true", "pad_k", "1"},
    {"filt", "3", "filter", "3"},
    {"str_h", "1", "stride", "1"},
    {"str_w", "2", "stride", "2"},
    {"pad_h", "1", "pad", "1"},
    {"pad_w", "2", "pad", "2"},
    {"nbatch", "8", "batch", "8"},
    {"in_vec", "2", "vec_in", "2"},
    {"out_vec", "2", "vec_out", "2"},
    {"channel_family", "16", "channels", "16"},
    {"impl", "tile_grouped", "impl", "grouped"},
    {"impl", "tile_dense", "impl", "dense"},
    {"waves_c64", "1", "waves_c", "1"},
    {"waves_q4", "1", "waves_q", "1"},
    {"c_slices_per_wave", "1", "slices", "1"},
    {"swizzle_type", "XOR", "swizzle", "xor"},
    {"swizzle_type", "CyclicShift", "swizzle", "cyclic"},
    {"vector_size", "8", "vec", "8"},
};
enum { MEANINGS = sizeof meanings / sizeof *meanings };

static bool lists_word(const char *list, kw_word wanted) {
    kw_scan scan = kw_scan_string(list);
    kw_word word;
    while (kw_scan_word(&scan, &word)) {
        if (word.size == wanted.size && !memcmp(word.at, wanted.at, word.size)) {
            return true;
        }
    }
    return false;
}

/* The axis value as it is printed. */
static kw_word value_word(char number[16], const kw_config *config, const char *axis) {
    kw_word word = kw_config_axis_word(config, axis);
    if (!word.size) {
        snprintf(number, 16, "%d", kw_config_axis(config, axis, -1));
        word = (kw_word){number, strlen(number)};
    }
    return word;
}

/* Asked of a set with every category of kernels; a table that says another axis, or a word for its neighbour, is found here. */
static bool hold_against_meanings(void *user, const kw_config *config) {
    kw_traits *asked = user;
    for (size_t i = 0; i < MEANINGS; i++) {
        const struct meaning *m = &meanings[i];
        char number[16];
        if (kw_family_axis(config->family, (kw_word){m->axis, strlen(m->axis)}) < 0) {
            continue;
        }
        bool expected = lists_word(m->values, value_word(number, config, m->axis));
        if (kw_traits_allow(&asked[i], config) != expected) {
            char text[KW_CONFIG_TEXT_MAX];
            kw_config_print(text, sizeof text, config);
            fail_msg("%s=%s should %sallow %s", m->field, m->value, expected ? "" : "not ", text);
        }
    }
    return true;
}

static void every_field_means_its_axis(void **state) {
    (void)state;
    kw_traits asked[MEANINGS] = {0};
    kw_error err = {0};
    for (size_t i = 0; i < MEANINGS; i++) {
        char text[LINE];
        snprintf(text, sizeof text, "* * * %s=%s", meanings[i].field, meanings[i].value);
        if (kw_traits_of_config(&asked[i], text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
    }
    assert_ok(kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .set = "full-tests"}, hold_against_meanings,
                           asked, &err),
              &err);
    for (size_t i = 0; i < MEANINGS; i++) {
        kw_traits_drop(&asked[i]);
    }
    for (const kw_field *field = kw_fields; field->name; field++) {
        bool told = !field->axis;
        for (size_t i = 0; i < MEANINGS; i++) {
            told = told || (!strcmp(meanings[i].field, field->name) && !strcmp(meanings[i].axis, field->axis));
        }
        if (!told) {
            fail_msg("no line says what %s is", field->name);
        }
    }
}

/* What kernels have that lack a field's axis, and a value that they do not have; of fields that are not here they have none. */
static const struct lack {
    const char *field, *has, *other;
} lacks[] = {
    {"num_wave_groups", "1", "2"},
    {"num_groups_to_merge", "1", "2"},
    {"split_image", "false", "true"},
    {"large_tensor", "false", "true"},
    {"explicit_gemm", "false", "true"},
    {"two_stage", "false", "true"},
    {"streamk_enabled", "false", "true"},
    {"streamk_reduction_strategy", "off", "tree"},
    {"streamk_persistent", "false", "true"},
    {"persistent", "false", "true"},
    {"preshuffle", "false", "true"},
    {"pad_m", "true", "false"},
    {"pad_n", "true", "false"},
    {"pad_k", "true", "false"},
    {"pipeline", NULL, "mem"},
    {"double_smem_buffer", NULL, "false"},
    {"block_per_cu", NULL, "1"},
    {"warp_m", NULL, "1"},
    {"vector_size_a", NULL, "8"},
    {"specialization", NULL, "default"},
    {"epilogue", NULL, "default"},
    {"scheduler", NULL, "intrawave"},
    {"filt", NULL, "3"},
};
enum { LACKS = sizeof lacks / sizeof *lacks };

static bool lacks_field(const kw_family *family, const char *field) {
    bool has = false;
    for (size_t i = 0; i < MEANINGS; i++) {
        const char *axis = meanings[i].axis;
        has = has || (!strcmp(meanings[i].field, field) && kw_family_axis(family, (kw_word){axis, strlen(axis)}) >= 0);
    }
    return !has;
}

typedef struct asked_lack {
    kw_traits has, other;
    size_t seen;
} asked_lack;

static bool hold_against_lacks(void *user, const kw_config *config) {
    asked_lack *asked = user;
    for (size_t i = 0; i < LACKS; i++) {
        if (!lacks_field(config->family, lacks[i].field)) {
            continue;
        }
        asked[i].seen++;
        if (kw_traits_allow(&asked[i].other, config) || (lacks[i].has && !kw_traits_allow(&asked[i].has, config))) {
            fail_msg("%s of %s", lacks[i].field, config->family->name);
        }
    }
    return true;
}

static void read_lack(kw_traits *traits, const char *field, const char *value) {
    char text[LINE];
    kw_error err = {0};
    snprintf(text, sizeof text, "* * * %s=%s", field, value);
    assert_ok(kw_traits_of_config(traits, text, &err), &err);
}

static void kernels_without_an_axis_have_what_it_is_without(void **state) {
    (void)state;
    asked_lack asked[LACKS] = {0};
    kw_error err = {0};
    for (size_t i = 0; i < LACKS; i++) {
        read_lack(&asked[i].other, lacks[i].field, lacks[i].other);
        if (lacks[i].has) {
            read_lack(&asked[i].has, lacks[i].field, lacks[i].has);
        }
    }
    assert_ok(
        kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .set = "tiny"}, hold_against_lacks, asked, &err),
        &err);
    for (size_t i = 0; i < LACKS; i++) {
        assert_true(asked[i].seen);
        kw_traits_drop(&asked[i].has);
        kw_traits_drop(&asked[i].other);
    }
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_means_its_axis),
        cmocka_unit_test(kernels_without_an_axis_have_what_it_is_without),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
