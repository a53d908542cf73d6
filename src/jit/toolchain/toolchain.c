/* toolchain.c: which toolchain compiles which dialect. To add one: its file, its line here. */
#include "jit/toolchain/toolchain.h"

#include "jit/toolchain/cc.h"
#include "jit/toolchain/hip.h"
#include "jit/toolchain/nvrtc.h"

const kw_toolchain *kw_toolchain_of(kw_dialect dialect) {
    static const kw_toolchain *const table[KW_DIALECT_COUNT] = {
        [KW_DIALECT_CPU] = &kw_cc_toolchain,
        [KW_DIALECT_PTX] = &kw_nvrtc_toolchain,
        [KW_DIALECT_AMD] = &kw_hip_toolchain,
        [KW_DIALECT_EMU] = &kw_emu_toolchain,
    };
    return table[dialect];
}

kw_status kw_compiler_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err) {
    const kw_toolchain *toolchain = kw_toolchain_of(code.dialect);
    if (!toolchain) {
        return kw_fail(err, KW_ENVIRONMENT, "no toolchain compiles kernels for %s", code.arch ? code.arch->name : "this machine");
    }
    kw_status status = toolchain->find(compiler, wanted, code, err);
    compiler->toolchain = toolchain;
    return status;
}

kw_status kw_blob_facts_read(kw_blob_facts *facts, const kw_blob *blob, kw_code code, kw_error *err) {
    const kw_toolchain *toolchain = kw_toolchain_of(code.dialect);
    *facts = (kw_blob_facts){.spill_bytes = -1};
    if (!toolchain || !toolchain->facts) {
        return KW_OK;
    }
    kw_status status = toolchain->check(blob, err);
    return status ? status : toolchain->facts(facts, blob, err);
}
