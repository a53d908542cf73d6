/* source.c: puts a kernel's source together. The pieces are ordinary files of kernels/, compiled in or in the folder KW_KERNELS. The
 * family's kernel file is the text; each line of it that includes "FOLDER/NAME" is replaced by that file's text, and #include
 * "kw_config.h" by what the config makes: the ABI, the prelude of the dialect and what emit() writes. */
#include "families/source.h"

#include "base/container/arena.h"
#include "base/embedded.h"
#include "base/os/file.h"
#include "base/os/tiles.h"
#include "config/arch/isa.h"
#include "families/epilogue_text.h"
#include "families/gpu/defines.h"
#include "problem/epilogue/epilogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const kw_embedded kw_kernel_files[];

enum { TEXT_LIMIT = 1 << 20, DEPTH_LIMIT = 16 };

const char *kw_kernel_file(const char *name) {
    const kw_embedded *file = kw_embedded_find(kw_kernel_files, name);
    return file ? file->text : NULL;
}

/* A source in the making. The first failure is kept, and nothing is added after it. */
typedef struct source_writer {
    kw_text *text;
    const kw_config *config; /* NULL: there is none, and so no kw_config.h */
    kw_code code;
    const char *folder; /* KW_KERNELS; NULL: the texts compiled in */
    bool lines;         /* the compiler is told which file and line it reads, so that the emulator's reports can say it */
    int depth;
    kw_status status;
    kw_error *err;
} source_writer;

/* Whether the library was compiled with the file as well, so that the two must be the same: one of these names or paths, as
 * tools/check/check_shared.sh finds them. */
static bool is_shared_with_host(const char *name) {
    static const char *const shared[] = {"args.h",    "resources.h",  "sizes.h",  "work_params.h", "kernel_params.h",        "kernel_abi.h",
                                         "emu_abi.h", "row_groups.h", "joined.h", "ahead.h",       "prelude/bias_gradient.h"};
    size_t size = strlen(name);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        size_t tail = strlen(shared[i]);
        if (size >= tail && !strcmp(name + size - tail, shared[i]) && (size == tail || name[size - tail - 1] == '/')) {
            return true;
        }
    }
    return false;
}

/* A text of the folder KW_KERNELS. */
static kw_status check_folder_file(const source_writer *w, const char *name, const char *text) {
    const char *built = is_shared_with_host(name) ? kw_kernel_file(name) : NULL;
    return !built || !strcmp(built, text) ? KW_OK
                                          : kw_fail(w->err, KW_ILLEGAL,
                                                    "KW_KERNELS=%.200s: %s is not what the library was built with, which reads it as well; "
                                                    "build the library anew, or take its file back",
                                                    w->folder, name);
}

/* The text of a kernel file; in the arena where it is read from a folder. */
static const char *read_kernel_file(source_writer *w, kw_arena *arena, const char *name) {
    if (!w->folder) {
        const char *text = kw_kernel_file(name);
        w->status =
            text ? KW_OK
                 : kw_fail(w->err, KW_MISSING, "kernel file %s is not compiled in; add it to the build's list of kernel files", name);
        return text;
    }
    char *path = kw_arena_format(arena, "%s/%s", w->folder, name), *text = NULL;
    size_t size;
    kw_error why = {0};
    w->status = path ? kw_file_read(arena, path, TEXT_LIMIT, &text, &size, &why) : kw_fail_memory(&why, "a path");
    if (w->status) {
        kw_fail(w->err, w->status, "KW_KERNELS=%.200s: %.240s; it must be a whole copy of kernels/", w->folder, why.text);
        return NULL;
    }
    w->status = check_folder_file(w, name, text);
    return w->status ? NULL : text;
}

static void add_file(source_writer *w, const char *name);

static const char include_start[] = "#include \"";

static void add_config_part(source_writer *w);

/* Says where the lines that follow come from. */
static void add_place(source_writer *w, const char *name, int number) {
    kw_text_addf(w->text, "/* ---- %s ---- */\n", name);
    if (w->lines) {
        kw_text_addf(w->text, "#line %d \"%s\"\n", number, name);
    }
}

/* The line of file from, with this number, includes another. */
static void add_included(source_writer *w, kw_word line, const char *from, int number) {
    char name[64];
    kw_word path = {line.at + sizeof include_start - 1, 0};
    while (path.size < sizeof name - 1 && path.at[path.size] != '"' && path.at[path.size] != '\n') {
        path.size++;
    }
    snprintf(name, sizeof name, "%.*s", KW_WORD(path));
    if (w->config && !strcmp(name, "kw_config.h")) {
        kw_text_add(w->text, "\n");
        add_config_part(w);
        add_place(w, from, number + 1);
        return;
    }
    add_file(w, name);
    if (w->lines) {
        kw_text_addf(w->text, "#line %d \"%s\"\n", number + 1, from);
    }
}

static bool ends_condition(kw_word line) {
    return kw_word_starts(line, "#endif") || kw_word_starts(line, "#else") || kw_word_starts(line, "#elif");
}

/* name stands in #line. Where a condition is not met the #line behind an include is not read either, so that it is said again behind it. */
static void add_lines(source_writer *w, const char *name, const char *text) {
    kw_scan scan = kw_scan_string(text);
    kw_word line;
    bool included = false;
    for (int number = 1; !w->status && kw_scan_line(&scan, &line); number++) {
        if (kw_word_starts(line, include_start)) {
            add_included(w, line, name, number);
            included = true;
            continue;
        }
        kw_text_add_bytes(w->text, line.at, line.size);
        kw_text_add(w->text, "\n");
        if (w->lines && included && ends_condition(line)) {
            kw_text_addf(w->text, "#line %d \"%s\"\n", number + 1, name);
        }
    }
}

static void add_file(source_writer *w, const char *name) {
    kw_arena arena = {0};
    if (!w->status && w->depth >= DEPTH_LIMIT) {
        w->status =
            kw_fail(w->err, KW_MALFORMED, "kernel file %s: includes are nested deeper than %d; does it include itself?", name, DEPTH_LIMIT);
    }
    const char *text = w->status ? NULL : read_kernel_file(w, &arena, name);
    if (text) {
        add_place(w, name, 1);
        w->depth++;
        add_lines(w, name, text);
        w->depth--;
    }
    kw_arena_drop(&arena);
}

/* What the family writes; its includes are those of a kernel file. */
static void add_emitted(source_writer *w) {
    kw_text emitted = {0};
    kw_text_add(w->text, w->lines ? "#line 1 \"kw_config.h\"\n" : "/* ---- kw_config.h ---- */\n");
    w->config->family->emit(w->config, &emitted);
    add_lines(w, "kw_config.h", kw_text_string(&emitted));
    w->text->failed = w->text->failed || emitted.failed;
    kw_text_drop(&emitted);
}

kw_status kw_source_add_file(kw_text *source, const char *name, kw_error *err) {
    source_writer w = {.text = source, .err = err};
    add_file(&w, name);
    return w.status;
}

bool kw_code_is_for_host(kw_code code) {
    return code.dialect == KW_DIALECT_CPU || code.dialect == KW_DIALECT_EMU;
}

/* The emulator plays every GPU. */
static bool backend_has(kw_backend_id backend, const kw_gpu_arch *arch) {
    return kw_backends[backend].emulated || arch->backend == backend;
}

kw_status kw_code_for(kw_code *code, kw_backend_id backend, const char *arch, kw_error *err) {
    *code = (kw_code){.dialect = kw_backends[backend].dialect};
    if (kw_backends[backend].kind == KW_KIND_CPU) {
        return KW_OK;
    }
    code->arch = kw_gpu_arch_find(arch);
    if (!code->arch || !backend_has(backend, code->arch)) {
        kw_text list = {0};
        for (const kw_gpu_arch *each = kw_gpu_archs; each->name; each++) {
            kw_text_addf(&list, " %s", backend_has(backend, each) ? each->name : "");
        }
        kw_status status =
            kw_fail(err, KW_MISSING, "%s has no architecture %.40s; known:%s", kw_backends[backend].name, arch, kw_text_string(&list));
        kw_text_drop(&list);
        return status;
    }
    return KW_OK;
}

static void add_gpu(source_writer *w) {
    static const char *const preludes[KW_DIALECT_COUNT] = {
        [KW_DIALECT_PTX] = "prelude/gpu_ptx.h", [KW_DIALECT_AMD] = "prelude/gpu_amd.h", [KW_DIALECT_EMU] = "prelude/gpu_emu.h"};
    kw_gpu_defines(w->text, w->config, w->code);
    if (w->lines) {
        add_file(w, "prelude/emu_abi.h");
    }
    add_file(w, preludes[w->code.dialect]);
    add_file(w, "prelude/gpu.h");
    if (w->config->wants.grouped) {
        kw_text_add(w->text, "#define KW_GROUP_FUNCTION KW_DEVICE\n");
        add_file(w, "prelude/row_groups.h");
    }
    if (w->config->wants.joined) {
        add_file(w, "prelude/joined.h");
    }
    if (!kw_epilogue_is_bare(&w->config->wants.epilogue)) {
        add_file(w, "prelude/epilogue_gpu.h");
    }
    if (kw_epilogue_bias_gradient(&w->config->wants.epilogue)) {
        add_file(w, "gpu/lib/bias_gradient.h");
    }
    if (kw_gpu_turns(w->config)) {
        add_file(w, "gpu/lib/turn.h");
    }
}

/* Epilogues hand on structs (places, tables), which are to be scalars: in memory they cost 30 ns a vector of results. Other texts do without for
 * less of a compile (jit/toolchain/cc.c). */
static const char structs_as_scalars[] = "#if defined __GNUC__ && !defined __clang__\n"
                                         "#pragma GCC optimize(\"tree-sra\")\n"
                                         "#endif\n";

static void add_cpu(source_writer *w) {
    static const int storages[KW_DTYPE_COUNT] = {[KW_FP32] = 0, [KW_BF16] = 1, [KW_FP16] = 2, [KW_INT8] = 3, [KW_FP8] = 4, [KW_BF8] = 5};
    const kw_config *config = w->config;
    int math = config->axis[KW_AXIS_MATH];
    kw_text_add(w->text, kw_epilogue_has_text(config) ? structs_as_scalars : "");
    kw_text_addf(w->text, "#define KW_LANES %d\n#define KW_MASKS %d\n#define KW_STORAGE %d\n#define KW_MATH %d\n#define KW_PAIR %d\n",
                 kw_config_isa(config)->lanes, kw_config_isa(config)->registers > 16, storages[config->dtype], math,
                 kw_config_multiply(config)->pair);
    kw_text_addf(w->text, "#define KW_BACKWARD %d\n#define KW_OUT %d\n", config->op == KW_CONV_BWD_DATA, kw_config_output(config));
    kw_text_addf(w->text, "#define KW_X_UNSIGNED %d\n#define KW_CHANNELS_FIRST %d\n", config->wants.mixed, config->wants.first);
    kw_text_add(w->text, config->wants.pitched ? "#define KW_PITCHED 1\n" : "");
    kw_text_add(w->text, config->wants.padded ? "#define KW_PADDED 1\n" : "");
    kw_epilogue_emit(w->text, config);
    kw_text_addf(w->text, "#define KW_ROW_GROUPS %d\n", config->wants.grouped);
    if (kw_epilogue_bias_gradient(&config->wants.epilogue)) {
        kw_text_add(w->text, "#define kw_stage0 kw_weights_stage0\n");
    }
    add_file(w, "prelude/cpu.h");
    if (kw_epilogue_has_text(config)) {
        add_file(w, "prelude/epilogue_cpu.h");
    }
    if (config->wants.grouped) {
        add_file(w, "prelude/row_groups.h");
    }
    if (math == KW_MATH_AMX) {
        char why[64];
        add_file(w, kw_tiles_ask(why) == KW_TILES_PLAYED ? "prelude/tiles_played.h" : "prelude/tiles.h");
    }
}

/* What a kernel's text includes as kw_config.h: all that it does not say itself. */
static void add_config_part(source_writer *w) {
    add_file(w, "prelude/kernel_abi.h");
    if (w->code.dialect == KW_DIALECT_CPU) {
        add_cpu(w);
    } else {
        add_gpu(w);
    }
    add_emitted(w);
}

kw_status kw_source_make(kw_text *source, const kw_config *config, kw_code code, kw_error *err) {
    const kw_family *family = config->family;
    if (!family->emit) {
        return kw_fail(err, KW_ILLEGAL, "%s is compiled into the library; its source is kernels/%s", family->name, family->kernel);
    }
    bool gpu = code.dialect != KW_DIALECT_CPU;
    if (gpu != (family->kind == KW_KIND_GPU)) {
        return kw_fail(err, KW_ILLEGAL, "%s is a family of backend %s; %s", family->name, kw_device_kind_name(family->kind),
                       gpu ? "this is for a GPU" : "name a GPU architecture, e.g. --arch gfx942");
    }
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(source, "/* %s */\n", text);
    const char *folder = secure_getenv("KW_KERNELS");
    source_writer w = {.text = source, .config = config, .code = code, .folder = folder && *folder ? folder : NULL, .err = err};
    w.lines = code.dialect == KW_DIALECT_EMU;
    if (family->kernel) {
        add_file(&w, family->kernel_of ? family->kernel_of(config) : family->kernel);
        if (!gpu && kw_epilogue_bias_gradient(&config->wants.epilogue)) {
            add_file(&w, "cpu/lib/bias_gradient.h");
        }
    } else {
        add_config_part(&w);
    }
    return w.status ? w.status : source->failed ? kw_fail_memory(err, "a kernel's source") : KW_OK;
}

const char *kw_source_options(const kw_config *config, kw_code code) {
    if (code.dialect == KW_DIALECT_EMU) {
        return "";
    }
    if (code.arch) {
        return code.arch->compile;
    }
    return kw_config_multiply(config)->options;
}
