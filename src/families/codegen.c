/* codegen.c: puts a kernel's source together. The pieces are ordinary files of kernels/. A line that includes one of our own headers is
 * replaced by that header's text where it is a file of gpu/, and left out otherwise, because the text already stands above. */
#include "families/codegen.h"

#include "base/embedded.h"
#include "families/gpu/defines.h"
#include "config/isa.h"

#include <stdio.h>
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

static const char own_include[] = "#include \"", gpu_include[] = "#include \"gpu/";

static void add_file(kw_text *source, const char *name, bool lines);

/* #include "gpu/NAME" */
static void add_included(kw_text *source, kw_word line, bool lines) {
    char name[64];
    kw_word path = {line.at + sizeof own_include - 1, 0};
    while (path.size < sizeof name - 1 && path.at[path.size] != '"' && path.at[path.size] != '\n') {
        path.size++;
    }
    snprintf(name, sizeof name, "%.*s", KW_WORD(path));
    add_file(source, name, lines);
}

/* lines: the compiler is told which file and line it reads, so that the emulator's reports can say it. */
static void add_file(kw_text *source, const char *name, bool lines) {
    const char *text = kw_kernel_file(name);
    kw_scan scan = kw_scan_string(text ? text : "#error a kernel file is missing\n");
    kw_word line;
    kw_text_addf(source, "/* ---- %s ---- */\n", name);
    if (lines) {
        kw_text_addf(source, "#line 1 \"%s\"\n", name);
    }
    for (int number = 1; kw_scan_line(&scan, &line); number++) {
        bool include = kw_word_starts(line, own_include);
        if (kw_word_starts(line, gpu_include)) {
            add_included(source, line, lines);
        }
        if (include && lines) {
            kw_text_addf(source, "#line %d \"%s\"\n", number + 1, name);
        } else if (!include) {
            kw_text_add_bytes(source, line.at, line.size);
            kw_text_add(source, "\n");
        }
    }
}

bool kw_code_is_for_host(kw_code code) {
    return code.dialect == KW_DIALECT_CPU || code.dialect == KW_DIALECT_EMU;
}

kw_status kw_code_for(kw_code *code, const char *backend, const char *arch, kw_error *err) {
    static const struct {
        const char *backend;
        kw_dialect dialect;
    } known[] = {{"cpu", KW_DIALECT_CPU}, {"cuda", KW_DIALECT_PTX}, {"hip", KW_DIALECT_AMD}, {"emu", KW_DIALECT_EMU}};
    *code = (kw_code){0};
    size_t i = 0;
    while (i < sizeof known / sizeof *known && strcmp(known[i].backend, backend)) {
        i++;
    }
    if (i == sizeof known / sizeof *known) {
        return kw_fail(err, KW_MISSING, "backend %.40s is not known; known: cpu cuda hip emu", backend);
    }
    code->dialect = known[i].dialect;
    if (code->dialect == KW_DIALECT_CPU) {
        return KW_OK;
    }
    code->arch = kw_gpu_arch_find(arch);
    if (!code->arch || (code->dialect != KW_DIALECT_EMU && strcmp(code->arch->backend, backend))) {
        kw_text list = {0};
        for (const kw_gpu_arch *each = kw_gpu_archs; each->name; each++) {
            kw_text_addf(&list, " %s", code->dialect == KW_DIALECT_EMU || !strcmp(each->backend, backend) ? each->name : "");
        }
        kw_status status = kw_fail(err, KW_MISSING, "%s has no architecture %.40s; known:%s", backend, arch, kw_text_string(&list));
        kw_text_drop(&list);
        return status;
    }
    return KW_OK;
}

static void add_gpu(kw_text *source, const kw_config *config, kw_code code) {
    static const char *const preludes[KW_DIALECT_COUNT] = {NULL, "prelude/gpu_ptx.h", "prelude/gpu_amd.h", "prelude/gpu_emu.h"};
    bool lines = code.dialect == KW_DIALECT_EMU;
    kw_gpu_defines(source, config, code);
    if (lines) {
        add_file(source, "prelude/emu_abi.h", lines);
    }
    add_file(source, preludes[code.dialect], lines);
    add_file(source, "prelude/gpu.h", lines);
    kw_text_add(source, lines ? "#line 1 \"kw_config.h\"\n" : "/* ---- kw_config.h ---- */\n");
    config->family->emit(config, source);
    add_file(source, config->family->kernel, lines);
}

static void add_cpu(kw_text *source, const kw_config *config) {
    int storage = config->dtype == KW_BF16 ? 1 : config->dtype == KW_FP16 ? 2 : 0;
    kw_text_addf(source, "#define KW_LANES %d\n#define KW_STORAGE %d\n#define KW_DP %d\n", kw_config_isa(config)->lanes, storage,
                 config->axis[KW_AXIS_MATH] == KW_MATH_DP);
    kw_text_addf(source, "#define KW_BACKWARD %d\n", config->op == KW_CONV_BWD_DATA);
    add_file(source, "prelude/cpu.h", false);
    kw_text_add(source, "/* ---- kw_config.h ---- */\n");
    config->family->emit(config, source);
    add_file(source, config->family->kernel, false);
}

kw_status kw_codegen_source(kw_text *source, const kw_config *config, kw_code code, kw_error *err) {
    const kw_family *family = config->family;
    if (!family->emit) {
        return kw_fail(err, KW_ILLEGAL, "%s is compiled into the library; its source is kernels/%s", family->name, family->kernel);
    }
    bool gpu = code.dialect != KW_DIALECT_CPU;
    if (strcmp(family->backend, gpu ? "gpu" : "cpu")) {
        return kw_fail(err, KW_ILLEGAL, "%s is a family of backend %s; %s", family->name, family->backend,
                       gpu ? "this is for a GPU" : "name a GPU architecture, e.g. --arch gfx942");
    }
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(source, "/* %s */\n", text);
    add_file(source, "prelude/kernel_abi.h", false);
    if (gpu) {
        add_gpu(source, config, code);
    } else {
        add_cpu(source, config);
    }
    return source->failed ? kw_fail_memory(err, "a kernel's source") : KW_OK;
}

const char *kw_codegen_options(const kw_config *config, kw_code code) {
    if (code.dialect == KW_DIALECT_EMU) {
        return "";
    }
    if (code.arch) {
        return code.arch->compile;
    }
    const kw_isa *isa = kw_config_isa(config);
    return config->axis[KW_AXIS_MATH] == KW_MATH_DP ? isa->march_dp : isa->march;
}
