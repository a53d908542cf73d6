/* hip.h: the toolchain of AMD GPUs, and what its code objects say of themselves. */
#ifndef KW_JIT_TOOLCHAIN_HIP_H
#define KW_JIT_TOOLCHAIN_HIP_H

#include "jit/toolchain/toolchain.h"

extern const kw_toolchain kw_hip_toolchain;

/* KW_OK when the bytes are a whole code object for an AMD GPU. */
kw_status kw_hip_check(const kw_blob *blob, kw_error *err);

/* Of a checked blob, from its metadata. Where it holds several kernels, the most that any of them needs. */
kw_status kw_hip_facts(kw_blob_facts *facts, const kw_blob *blob, kw_error *err);

#endif
