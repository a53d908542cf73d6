/* defines.c: axes, architecture and types as #defines. An axis tile_m becomes KW_TILE_M; a word axis pipe becomes KW_PIPE_<WORD> for each
 * of its words, numbered in their order, and KW_PIPE, the one in use. */
#include "families/gpu/defines.h"

#include "families/epilogue_text.h"

#include <ctype.h>
#include <string.h>

static const char *const feature_names[] = {
#define KW_FEATURE(name, meaning) #name,
    KW_GPU_FEATURES(KW_FEATURE)
#undef KW_FEATURE
};

static void add_upper(kw_text *text, const char *at, size_t size) {
    for (size_t i = 0; i < size; i++) {
        char letter = (char)toupper((unsigned char)at[i]);
        kw_text_add_bytes(text, &letter, 1);
    }
}

/* "#define KW_NAME" or "#define KW_NAME_WORD", without a value. */
static void add_define_name(kw_text *text, const char *name, kw_word word) {
    kw_text_add(text, "#define KW_");
    add_upper(text, name, strlen(name));
    if (word.size) {
        kw_text_add(text, "_");
        add_upper(text, word.at, word.size);
    }
}

static void define_axis(kw_text *text, const kw_axis *axis, int32_t value) {
    if (axis->words) {
        kw_scan scan = kw_scan_string(axis->words);
        kw_word word;
        for (int i = 0; kw_scan_word(&scan, &word); i++) {
            add_define_name(text, axis->name, word);
            kw_text_addf(text, " %d\n", i);
        }
    }
    add_define_name(text, axis->name, (kw_word){0});
    kw_text_addf(text, " %d\n", value);
}

/* "gfx90a" is 0x90a, "sm_90" is 90. */
static void define_arch(kw_text *text, const kw_gpu_arch *arch) {
    bool nvidia = arch->backend == KW_BACKEND_CUDA;
    kw_text_addf(text, "#define KW_NVIDIA %d\n#define KW_SM %s\n#define KW_GFX 0x%s\n#define KW_WAVE %d\n", nvidia,
                 nvidia ? arch->name + strlen("sm_") : "0", nvidia ? "0" : arch->name + strlen("gfx"), (int)arch->typical.lanes);
    for (int i = 0; i < KW_GPU_FEATURE_COUNT; i++) {
        add_define_name(text, "has", (kw_word){feature_names[i], strlen(feature_names[i])});
        kw_text_addf(text, " %d\n", kw_gpu_arch_has(arch, (kw_gpu_feature)i));
    }
}

_Static_assert(KW_FP32 == 0 && KW_BF16 == 1 && KW_FP16 == 2 && KW_FP8 == 3 && KW_BF8 == 4 && KW_INT8 == 5 && KW_INT32 == 6 && KW_UINT8 == 7,
               "KW_IN and KW_OUT are the numbers of kernels/prelude/gpu.h");

void kw_gpu_defines(kw_text *text, const kw_config *config, kw_code code) {
    const kw_family *family = config->family;
    kw_text_addf(text, "#define KW_PTX %d\n#define KW_AMD %d\n#define KW_EMU %d\n", code.dialect == KW_DIALECT_PTX,
                 code.dialect == KW_DIALECT_AMD, code.dialect == KW_DIALECT_EMU);
    define_arch(text, code.arch);
    for (int op = 0; op < KW_OP_COUNT; op++) {
        const char *name = kw_op_name((kw_op)op);
        add_define_name(text, "op", (kw_word){name, strlen(name)});
        kw_text_addf(text, " %d\n", op);
    }
    kw_text_addf(text, "#define KW_OP %d\n#define KW_IN %d\n#define KW_OUT %d\n", config->op, config->dtype, kw_config_output(config));
    kw_text_addf(text, "#define KW_X_UNSIGNED %d\n", config->wants.mixed);
    kw_text_addf(text, "#define KW_TF32 %d\n", config->wants.tf32 && kw_gpu_arch_has(code.arch, KW_GPU_mma));
    kw_text_addf(text, "#define KW_CHANNELS_FIRST %d\n#define KW_TURNS %d\n", config->wants.first, kw_gpu_turns(config));
    kw_text_addf(text, "#define KW_PITCHED %d\n", config->wants.pitched);
    kw_epilogue_emit(text, config);
    kw_epilogue_emit_residual(text, config);
    kw_text_addf(text, "#define KW_ROW_GROUPS %d\n#define KW_JOINED %d\n", config->wants.grouped, config->wants.joined);
    for (int i = 0; i < family->axis_count; i++) {
        define_axis(text, &family->axes[i], config->axis[i]);
    }
}

bool kw_gpu_turns(const kw_config *config) {
    return config->wants.first || config->wants.filter;
}

void kw_gpu_emit_nothing(const kw_config *config, kw_text *text) {
    (void)config, (void)text;
}
