/* codegen.c: puts a kernel's source together. The pieces are ordinary files of kernels/; lines that include one of our own headers are
 * left out, because the header's text already stands above. */
#include "codegen/codegen.h"

#include "base/embedded.h"
#include "config/isa.h"

#include <string.h>

extern const kw_embedded kw_kernel_files[];

const char *kw_kernel_file(const char *name) {
    for (const kw_embedded *file = kw_kernel_files; file->name; file++) {
        if (!strcmp(file->name, name)) {
            return file->text;
        }
    }
    return NULL;
}

static void add_file(kw_text *source, const char *name) {
    const char *text = kw_kernel_file(name);
    kw_scan scan = kw_scan_string(text ? text : "#error a kernel file is missing\n");
    kw_word line;
    kw_text_addf(source, "/* ---- %s ---- */\n", name);
    while (kw_scan_line(&scan, &line)) {
        if (!kw_word_starts(line, "#include \"")) {
            kw_text_add_bytes(source, line.at, line.size);
            kw_text_add(source, "\n");
        }
    }
}

kw_status kw_codegen_source(kw_text *source, const kw_config *config, kw_error *err) {
    const kw_family *family = config->family;
    if (!family->emit) {
        return kw_fail(err, KW_ILLEGAL, "%s is compiled into the library; its source is kernels/%s", family->name, family->kernel);
    }
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(source, "/* %s */\n", text);
    add_file(source, "prelude/cpu_abi.h");
    int storage = config->dtype == KW_BF16 ? 1 : config->dtype == KW_FP16 ? 2 : 0;
    kw_text_addf(source, "#define KW_LANES %d\n#define KW_STORAGE %d\n#define KW_DP %d\n", kw_config_isa(config)->lanes, storage,
                 config->axis[KW_AXIS_MATH] == KW_MATH_DP);
    kw_text_addf(source, "#define KW_BACKWARD %d\n", config->op == KW_CONV_BWD_DATA);
    add_file(source, "prelude/cpu.h");
    kw_text_add(source, "/* ---- kw_config.h ---- */\n");
    family->emit(config, source);
    add_file(source, family->kernel);
    return source->failed ? kw_fail_memory(err, "a kernel's source") : KW_OK;
}

const char *kw_codegen_options(const kw_config *config) {
    const kw_isa *isa = kw_config_isa(config);
    return config->axis[KW_AXIS_MATH] == KW_MATH_DP ? isa->march_dp : isa->march;
}
