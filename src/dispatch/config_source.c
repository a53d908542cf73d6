/* config_source.c: a kernel's source for people (kw_config_source); no device is needed. */
#include "config/arch/isa.h"
#include "families/source.h"

#include <string.h>

/* Architecture, in front of it with a colon the backend to compile for: "emu:gfx942" is what plays it on a CPU. Else it is the hardware's.
 */
static kw_status code_of_arch(kw_code *code, const char *arch, kw_error *err) {
    kw_backend_id backend = KW_BACKEND_EMU;
    const char *colon = strchr(arch, ':');
    bool named = colon && kw_backend_id_of_device(&backend, arch);
    const char *name = named ? colon + 1 : arch;
    const kw_gpu_arch *found = kw_gpu_arch_find(name);
    return kw_code_for(code, named || !found ? backend : found->backend, name, err);
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
    if (!status && arch && parsed.family->kind == KW_KIND_GPU) {
        status = code_of_arch(&code, arch, err);
    }
    status = status ? status : kw_source_make(&text, &parsed, code, err);
    if (!status) {
        *source = kw_text_take(&text);
        status = *source ? KW_OK : kw_fail_memory(err, "a kernel's source");
    }
    kw_text_drop(&text);
    return status;
}
