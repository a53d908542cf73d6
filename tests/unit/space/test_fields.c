/* test_fields.c: the published names of what a kernel is. Every field and value that the published documents print (tests/data/fields.txt)
 * is known to trait files, to configs with gaps and to filters, and finds kernels of a GPU, the same by each of the three ways; and what the
 * table says of a family's spatial axes and layouts is what its kernels serve. */
#include "base/os/file.h"
#include "config/arch/gpu_arch.h"
#include "problem/names/names.h"
#include "config/catalog.h"
#include "space/ck/traits.h"
#include "space/enumerate.h"
#include "space/filter/filter.h"
#include "support/kw_test.h"

enum { LINE = 512 };
static const char arch[] = "gfx950";
static kw_catalog tiny; /* set tiny of it */

static bool add_config(void *user, const kw_config *config) {
    return !kw_catalog_add(user, config, NULL, NULL);
}

static int enumerate_tiny(void **state) {
    (void)state;
    kw_error err = {0};
    return kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .set = "tiny"}, add_config, &tiny, &err) ||
                   !tiny.count
               ? -1
               : 0;
}

static int drop_tiny(void **state) {
    (void)state;
    kw_catalog_drop(&tiny);
    return 0;
}

/* Of set tiny, by a filter or by the text of a config with gaps. */
static size_t count_filtered(const char *expression) {
    kw_filter *filter;
    kw_error err = {0};
    size_t count = 0;
    assert_ok(kw_filter_open(&filter, expression, arch, &err), &err);
    for (size_t i = 0; i < tiny.count; i++) {
        bool selected;
        assert_ok(kw_filter_test(filter, &tiny.configs[i], &selected, &err), &err);
        count += selected;
    }
    kw_filter_close(&filter);
    return count;
}

static size_t count_allowed(const char *config) {
    kw_traits traits = {0};
    kw_error err = {0};
    size_t count = 0;
    assert_ok(kw_traits_of_config(&traits, config, &err), &err);
    for (size_t i = 0; i < tiny.count; i++) {
        count += kw_traits_allow_arch(&traits, arch) && kw_traits_allow(&traits, &tiny.configs[i]);
    }
    kw_traits_drop(&traits);
    return count;
}

static bool count_one(void *user, const kw_config *config) {
    (void)config;
    ++*(size_t *)user;
    return true;
}

static size_t count_space(const kw_space_options *options) {
    size_t count = 0;
    kw_error err = {0};
    if (kw_enumerate(options, count_one, &count, &err)) {
        fail_msg("%s", err.text);
    }
    return count;
}

/* Calls visit for each value of each field of the list. */
static void visit_published(void (*visit)(const char *structure, const char *field, const char *value)) {
    kw_arena arena = {0};
    kw_error err = {0};
    char *text;
    size_t size, count = 0;
    assert_ok(kw_file_read(&arena, KW_DATA_FOLDER "/fields.txt", 1 << 20, &text, &size, &err), &err);
    kw_scan lines = {text, text + size};
    kw_word line, word;
    while (kw_scan_line(&lines, &line)) {
        kw_scan words = {line.at, line.at + line.size};
        char structure[64], field[64], value[64];
        if (line.size && *line.at != '#' && kw_scan_word(&words, &word) && kw_word_copy(structure, sizeof structure, word)) {
            assert_true(kw_scan_word(&words, &word) && kw_word_copy(field, sizeof field, word));
            while (kw_scan_word(&words, &word) && kw_word_copy(value, sizeof value, word)) {
                visit(structure, field, value);
                count++;
            }
        }
    }
    assert_true(count > 80);
    kw_arena_drop(&arena);
}

static bool is_bare(const char *value) {
    return (*value >= '0' && *value <= '9') || !strcmp(value, "true") || !strcmp(value, "false");
}

/* How many of set tiny a trait file with the field allows. */
static size_t count_by_traits(const char *text) {
    kw_traits traits = {0};
    kw_error err = {0};
    size_t count = 0;
    assert_ok(kw_traits_read(&traits, "file", text, strlen(text), &err), &err);
    for (size_t i = 0; i < tiny.count; i++) {
        count += kw_traits_allow_arch(&traits, arch) && kw_traits_allow(&traits, &tiny.configs[i]);
    }
    kw_traits_drop(&traits);
    return count;
}

static bool stop_at_first(void *user, const kw_config *config) {
    (void)config;
    *(size_t *)user = 1;
    return false;
}

/* In set tiny, or, with less than that has, in all that is legal. */
static void find_by_file(const char *structure, const char *field, const char *value) {
    static const char path[] = KW_SCRATCH "/fields.json";
    char text[LINE];
    kw_error err = {0};
    const char *quote = is_bare(value) ? "" : "\"";
    snprintf(text, sizeof text, "{\"trait_config\": {\"%s\": {\"values\": [%s%s%s]}}}", field, quote, value, quote);
    size_t count = count_by_traits(text);
    if (!count) {
        assert_ok(kw_file_replace(path, text, strlen(text), 0644, &err), &err);
        assert_ok(
            kw_enumerate(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .traits = path}, stop_at_first, &count, &err),
            &err);
    }
    if (!count) {
        fail_msg("%s.%s = %s: a trait file finds no kernel on %s", structure, field, value, arch);
    }
}

static void every_published_value_finds_kernels(void **state) {
    (void)state;
    visit_published(find_by_file);
}

/* The same of a set, whose kernels no trait changes: by a filter and by a trait file. */
static void compare_ways(const char *structure, const char *field, const char *value) {
    char filter[LINE], config[LINE];
    bool word = !is_bare(value);
    snprintf(config, sizeof config, "* * fp16 %s=%s", field, value);
    bool fixed = !strcmp(field, "data_type") || !strcmp(field, "datatype");
    size_t by_config = count_allowed(fixed ? "* * fp16" : config);
    /* Truth values of axes that go by their own names are numbers in Lua, and a filter has the spelling that is printed back. */
    bool own = false;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        own = own || kw_family_axis(*family, (kw_word){field, strlen(field)}) >= 0;
    }
    if (fixed || (own && word) || !strcmp(value, "compv1") || (*value >= 'A' && *value <= 'Z') || !strncmp(value, "tile_", 5) || own ||
        !strcmp(field, "layout")) {
        return;
    }
    snprintf(filter, sizeof filter, "c.dtype == 'fp16' and c.%s == %s%s%s", field, word ? "'" : "", value, word ? "'" : "");
    size_t by_filter = count_filtered(filter);
    /* Families that serve every count of axes have no one value for a filter. */
    bool same = strcmp(field, "ndim_spatial") ? by_filter == by_config : by_filter <= by_config;
    if (!same) {
        fail_msg("%s.%s = %s: %zu by --config, %zu by %s", structure, field, value, by_config, by_filter, filter);
    }
}

static void configs_and_filters_agree(void **state) {
    (void)state;
    visit_published(compare_ways);
}

static void wildcards_are_any_value(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"conv.igemm conv_fwd bf16 pipeline=*", "conv.igemm conv_fwd bf16"},
        {"conv.igemm conv_fwd bf16 warp_m=-1", "conv.igemm conv_fwd bf16 wave_m=* tile_m=-1"},
        {"* * bf16 warp_m=-1", "* * bf16 wave_m=*"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(count_allowed(rows[i][0]), count_allowed(rows[i][1]));
        assert_true(count_allowed(rows[i][0]));
    }
    size_t all = count_filtered("c.pipeline ~= nil");
    assert_int_equal(all, count_filtered("c.pipeline == '*'"));
    assert_int_equal(all, count_filtered("c.warp_m== -1 and c.pipeline ==\"*\""));
    assert_true(all);
    /* without a set an axis that may have any value has all that the rules know, named tiles or not */
    static const char one[] = "conv.igemm conv_fwd bf16 ndim=2 pipeline=compv3 tile_m=128 tile_n=128 tile_k=32 warp_m=2 warp_n=2 warp_k=1 "
                              "warp_tile_m=32 warp_tile_n=32 warp_tile_k=16 vector_size_a=8 vector_size_b=8 ";
    char text[LINE];
    snprintf(text, sizeof text, "%s vector_size_c=8", one);
    assert_int_equal(count_space(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .config = text}), 1);
    snprintf(text, sizeof text, "%s vector_size_c=*", one);
    assert_int_equal(count_space(&(kw_space_options){.size = sizeof(kw_space_options), .arch = arch, .config = text}), 5);
}

/* Spellings of one thing, each of which some kernel of the set is and another is not. */
static void filters_read_values_as_trait_files_do(void **state) {
    (void)state;
    static const char *const rows[][2] = {
        {"c.pipeline == 'compv1'", "c.pipe == 'basic_v1'"},
        {"c.pipeline == 'CompV3'", "c.pipe == \"compv3\""},
        {"c.pipeline != 'compute_v3'", "c.pipe ~= 'compv3'"},
        {"c.scheduler== 'Interwave'", "c.sched == 'interwave'"},
        {"c.double_smem_buffer == True", "c.double_smem_buffer"},
        {"c.double_smem_buffer ~= 'true'", "not c.double_smem_buffer"},
        {"c.two_stage == true", "c.two_stage == 1"},
        {"c.variant == 'fwd'", "c.op == 'conv_fwd'"},
        {"c.op == 'bwd_data'", "c.variant == 'bwd_data'"},
        {"c.data_type ~= 'bf16'", "c.dtype ~= 'bf16'"},
        {"c.layout == 'nwgc'", "c.layout == 'nhwgc'"},
        {"c.layout == 'ncdhw'", "c.layout == 'ngchw'"},
        {"c.layout == 'rcr'", "c.family == 'gemm.mma' and c.layout == 'rcr'"},
        {"c.streamk_reduction_strategy == 'TREE'", "c.streamk == 'tree'"},
        {"c.tile_m == '64'", "c.tile_m == 64"},
        {"c.block_per_cu == 2", "c.stages == 1"},
        {"c.epilogue == 'RegistersToGlobalMemory'", "c.store == 'registers'"},
        {"c.dtype == 'bf16' -- 'c.pipeline == 'none", "c.dtype == 'bf16'"},
        {"c.dtype == 'bf16' and 'c.pipe == none' ~= ''", "c.dtype == 'bf16'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t first = count_filtered(rows[i][0]), second = count_filtered(rows[i][1]);
        if (first != second || !first || first == tiny.count) {
            fail_msg("%s: %zu of %zu; %s: %zu", rows[i][0], first, tiny.count, rows[i][1], second);
        }
    }
}

static void keep_line(void *user, const char *line) {
    char *kept = user;
    snprintf(kept, LINE, "%s", line);
}

static void what_leaves_nothing_says_which_rule(void **state) {
    (void)state;
    static const struct {
        kw_space_options options;
        const char *said;
    } rows[] = {
        {{.arch = "gfx950", .config = "conv.igemm conv_bwd_weight bf16 pipeline=compv5 ndim=2"}, "rule backward_pipe"},
        {{.arch = "gfx90a", .config = "conv.igemm conv_fwd bf16 pipeline=comp_async"}, "on gfx90a: rule arch_async"},
        {{.arch = "gfx950", .config = "conv.igemm conv_fwd bf16 tile_m=7"}, "config: no kernel can be as it says"},
        {{.arch = "gfx950", .config = "conv.igemm conv_fwd bf16 pipeline=mem", .filter = "c.tile_m == 7"}, ""},
        {{.arch = "gfx950", .config = "conv.igemm conv_fwd bf16 pipeline=mem"}, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_space_options options = rows[i].options;
        char said[LINE] = "";
        options.log = keep_line;
        options.user = said;
        assert_int_equal(count_space(&options) > 0, i == 4);
        if (*rows[i].said ? !strstr(said, rows[i].said) : *said) {
            fail_msg("%s: %s", options.config, said);
        }
    }
}

static void what_cannot_be_is_said(void **state) {
    (void)state;
    static const struct {
        kw_space_options options;
        const char *named;
    } rows[] = {
        {{.config = "conv.igemm conv_fwd bf16 pipelin=mem"}, "did you mean pipeline"},
        {{.config = "conv.igemm conv_fwd bf16 pipeline=compv9"}, "compv5"},
        {{.config = "conv.direct_block conv_fwd bf16 pipeline=mem"}, "conv.direct_block has no pipeline"},
        {{.config = "conv.igemm conv_fwd bf16 tile_m"}, "axis=value"},
        {{.config = "conv.igemm * pipeline=mem"}, "FAMILY OP DTYPE"},
        {{.config = "conv.igemm conv_fwd bf16 block_size=256 pipeline=*"}, "warp_m"},
        {{.config = "conv.direct * * tile_w=7"}, "conv.direct has kernels for cpu, and gfx950 is no such"},
        {{.config = "conv.igemm * * pipeline=*", .arch = "x86-64-v3"}, "conv.igemm has kernels for gpu, and x86-64-v3 is no such"},
        {{.config = "* * bf16 pipeline=mem", .arch = "x86-64-v3"}, "no kernel family for cpu, which x86-64-v3 is, has pipeline"},
        {{.filter = "c.pipeline == 'compv9'"}, "compv9 is no value of it; known: basic_v1 mem"},
        {{.filter = "c.tile_m > 3 and c.pipe~='compv9'"}, "compv9 is no value of it"},
        {{.filter = "c.double_smem_buffer == 1"}, "1 is no value of it; known: false true"},
        {{.filter = "c.variant == 'bwd'"}, "known: forward bwd_data bwd_weight gemm"},
        {{.filter = "c.dtype == 'bf17'"}, "known: fp32 bf16"},
        {{.filter = "c.family == 'conv.igem'"}, "conv.igem is no value of it"},
        {{.filter = "c.layout == 'nhwx'"}, "known: ngchw"},
        {{.filter = "c.tile_m == '64x'"}, "64x is no value of it"},
        {{.filter = "c.pipelin == 'mem'"}, "did you mean pipeline"},
        {{.filter = "c.vector_sizes == 4"}, "vector_size_a"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_space_options options = rows[i].options;
        size_t count = 0;
        kw_error err = {0};
        options.arch = options.arch ? options.arch : arch;
        options.set = "tiny";
        assert_int_not_equal(kw_enumerate(&options, count_one, &count, &err), KW_OK);
        if (!strstr(err.text, rows[i].named)) {
            fail_msg("%s%s: %s", options.config ? options.config : "", options.filter ? options.filter : "", err.text);
        }
    }
}

/* --- what families serve ------------------------------------------------------------------------------------------------------ */

typedef struct serving {
    kw_problem problem;
    const kw_target *target;
    uint32_t ndims[64], layouts[64];
} serving;

static int place_of(const kw_family *family) {
    int place = 0;
    while (kw_family_table[place] != family) {
        place++;
    }
    return place;
}

static void note_served(serving *s, const kw_config *config) {
    if (config->op == s->problem.op && config->dtype == s->problem.dtype && !kw_config_fits(config, &s->problem, s->target, NULL)) {
        s->ndims[place_of(config->family)] |= 1u << s->problem.ndim;
        s->layouts[place_of(config->family)] |= 1u << s->problem.layout;
    }
}

static void families_serve_what_the_table_says(void **state) {
    (void)state;
    static const char *const problems[] = {
        "conv_fwd fp16 nwgc n2 c64 k64 i16 f3 p1",
        "conv_fwd fp16 nhwgc n2 c64 k64 i8x8 f3x3 p1x1",
        "conv_fwd fp16 ndhwgc n2 c64 k64 i8x8x8 f3x3x3 p1x1x1",
        "conv_fwd fp16 ngchw n2 c64 k64 i8x8 f3x3 p1x1",
        "conv_fwd fp16 nhwgc n2 g8 c64 k64 i8x8 f3x3 p1x1",
        "conv_fwd fp16 ngchw n2 g64 c64 k64 i8x8 f3x3 p1x1",
        "conv_fwd fp16 nhwgc n2 g64 c64 k64 i8x8 f3x3 p1x1",
        "conv_fwd fp16 ngcw n2 c64 k64 i16 f3 p1",
        "conv_fwd fp16 ndhwgc n2 g64 c64 k64 i8x8x8 f3x3x3 p1x1x1",
    };
    const kw_gpu_arch *gpu = kw_gpu_arch_find(arch);
    serving s = {.target = &gpu->typical};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        kw_error err = {0};
        assert_ok(kw_problem_parse(&s.problem, problems[i], &err), &err);
        for (size_t j = 0; j < tiny.count; j++) {
            note_served(&s, &tiny.configs[j]);
        }
    }
    int seen = 0;
    for (int i = 0; kw_family_table[i]; i++) {
        seen += s.ndims[i] != 0;
        assert_int_equal(s.ndims[i] & ~kw_family_ndims(kw_family_table[i]), 0);
        assert_int_equal(s.layouts[i] & ~kw_family_layouts(kw_family_table[i]), 0);
        /* a table that says "all" of a family that serves one would be as wrong */
        assert_true(!s.layouts[i] || kw_family_layouts(kw_family_table[i]) == 1u << KW_CHANNELS_LAST ||
                    s.layouts[i] & 1u << KW_CHANNELS_FIRST);
        assert_true(!s.ndims[i] || kw_family_ndims(kw_family_table[i]) == 1u << 2 || s.ndims[i] & ~(1u << 2));
    }
    assert_true(seen >= 4);
}

int main(void) {
    unsetenv("KW_RULES");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_published_value_finds_kernels),
        cmocka_unit_test(configs_and_filters_agree),
        cmocka_unit_test(wildcards_are_any_value),
        cmocka_unit_test(filters_read_values_as_trait_files_do),
        cmocka_unit_test(what_leaves_nothing_says_which_rule),
        cmocka_unit_test(what_cannot_be_is_said),
        cmocka_unit_test(families_serve_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, enumerate_tiny, drop_tiny);
}
