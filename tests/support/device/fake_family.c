/* fake_family.c: see fake_family.h. */
#include "support/device/fake_family.h"

#include "config/arch/isa.h"

#include "prelude/kernel_abi.h"

enum { AXIS_VALUE = KW_ISA_AXIS_COUNT, AXIS_TEXT, AXIS_COUNT };

static const kw_axis axes[] = {
    KW_ISA_AXES,
    {"value", NULL, 0, 1000000, "factor of w"},
    {"text", "good syntax unresolved nostage", 0, 3, "what is wrong with the text"},
};

static const char stages[] =
    "typedef int kw_int __attribute__((may_alias));\n"
    "KW_EXPORT void kw_stage0(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *own) {\n"
    "    for (kw_i64 i = begin; i < end; i++) ((kw_int *)a->packed)[i] = ((kw_int *)a->w)[i] * VALUE;\n"
    "    (void)own;\n"
    "}\n"
    "KW_EXPORT void kw_stage1(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *own) {\n"
    "    kw_int *sum = own;\n"
    "    for (kw_i64 i = begin; i < end; i++) {\n"
    "        sum[15] = ((kw_int *)a->packed)[a->params.word[0] - 1 - i];\n"
    "        sum[15] += ((kw_int *)a->x)[i];\n"
    "        ((kw_int *)a->shared)[i] = sum[15];\n"
    "    }\n"
    "}\n"
    "KW_EXPORT void kw_stage2(const kw_kernel_args *a, kw_i64 begin, kw_i64 end, void *own) {\n"
    "    for (kw_i64 i = begin; i < end; i++) ((kw_int *)a->y)[i] = ((kw_int *)a->shared)[(i + 7) % a->params.word[0]];\n"
    "    (void)own;\n"
    "}\n";

_Atomic int fake_emitted;

static void emit(const kw_config *config, kw_text *text) {
    fake_emitted++;
    kw_text_addf(text, "#define VALUE %d\n", config->axis[AXIS_VALUE]);
    switch (config->axis[AXIS_TEXT]) {
    case FAKE_GOOD:
        kw_text_add(text, stages);
        break;
    case FAKE_SYNTAX_ERROR:
        kw_text_add(text, "KW_EXPORT void kw_stage0(this is no C;\n");
        break;
    case FAKE_UNRESOLVED:
        kw_text_add(text, "void kw_nowhere(void);\nKW_EXPORT void kw_stage0(void) { kw_nowhere(); }\n");
        break;
    default:
        kw_text_add(text, "KW_EXPORT void kw_other(void) {}\n");
    }
}

const kw_family fake_family = {
    .name = "test.fake",
    .summary = "for tests",
    .kind = KW_KIND_CPU,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32,
    .axes = axes,
    .axis_count = AXIS_COUNT,
    .rules = {[KW_RUNS] = {kw_isa_runs_rules}},
    .emit = emit,
};

static void built_in(const struct kw_kernel_args *args, long long begin, long long end, void *own) {
    (void)own;
    for (long long i = begin; i < end; i++) {
        ((int32_t *)(void *)args->y)[i] = (int32_t)(3 * i);
    }
}

static const kw_builtin *builtin(const kw_config *config) {
    static const kw_builtin stages_of_it = {{built_in}};
    (void)config;
    return &stages_of_it;
}

const kw_family fake_builtin_family = {
    .name = "test.builtin",
    .summary = "for tests",
    .kind = KW_KIND_CPU,
    .is_reference = true,
    .ops = 1 << KW_GEMM,
    .dtypes = 1 << KW_FP32,
    .builtin = builtin,
};

kw_config fake_config(int value, int text) {
    return (kw_config){.family = &fake_family, .op = KW_GEMM, .dtype = KW_FP32, .axis = {[AXIS_VALUE] = value, [AXIS_TEXT] = text}};
}

kw_launch fake_launch(int64_t count) {
    kw_launch launch = {.stages = 3, .packed_bytes = 4 * count, .shared_bytes = 4 * count, .thread_bytes = 65, .params = {{count}}};
    for (int i = 0; i < 3; i++) {
        launch.stage[i] = (kw_stage){.units = count, .packs = i == 0};
    }
    return launch;
}

int32_t fake_expected(const int32_t *x, const int32_t *w, int64_t count, int64_t i, int value) {
    int64_t j = (i + 7) % count;
    return w[count - 1 - j] * value + x[j];
}
