/* config_source.c: a kernel's source for people (kw_config_source); no device is needed. */
#include "config/isa.h"
#include "families/codegen.h"

#include <string.h>

/* The toolchain's own source for a GPU architecture; "emu:gfx942" is what plays it on a CPU. */
static kw_status code_of_arch(kw_code *code, const char *arch, kw_error *err) {
    static const char emulated[] = "emu:";
    bool played = !strncmp(arch, emulated, sizeof emulated - 1);
    const char *name = played ? arch + sizeof emulated - 1 : arch;
    const kw_gpu_arch *found = kw_gpu_arch_find(name);
    return kw_code_for(code, played || !found ? "emu" : found->backend, name, err);
}

kw_status kw_config_source(char **source, const char *config, const char *arch, kw_error *err) {
    if (!source || !config) {
        return kw_fail(err, KW_ILLEGAL, "kw_config_source: %s is NULL", source ? "config" : "source");
    }
    kw_config parsed;
    kw_text text = {0};
    kw_code code = {0};
    *source = NULL;
    kw_status status = kw_config_parse(&parsed, config, err);
    if (!status && arch && strcmp(parsed.family->backend, "cpu")) {
        status = code_of_arch(&code, arch, err);
    }
    status = status ? status : kw_codegen_source(&text, &parsed, code, err);
    if (!status) {
        *source = kw_text_take(&text);
        status = *source ? KW_OK : kw_fail_memory(err, "a kernel's source");
    }
    kw_text_drop(&text);
    return status;
}
