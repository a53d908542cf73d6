/* cc.h: one run of a C compiler: the toolchain of CPU kernels, and of those that play a GPU. */
#ifndef KW_JIT_TOOLCHAIN_CC_H
#define KW_JIT_TOOLCHAIN_CC_H

#include "jit/toolchain/toolchain.h"

extern const kw_toolchain kw_cc_toolchain, kw_emu_toolchain;

kw_status kw_cc_find(kw_compiler *compiler, const char *wanted, kw_code code, kw_error *err);
kw_status kw_compile_run(const kw_compile *compile, kw_compile_result *result, kw_error *err);
const char *const *kw_compiler_options(const kw_compiler *compiler);

/* KW_OK when the bytes are a whole shared object for this machine, so that loading them cannot run past their end. */
kw_status kw_blob_check(const kw_blob *blob, kw_error *err);

#endif
