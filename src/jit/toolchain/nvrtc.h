/* nvrtc.h: the toolchain of NVIDIA kernels, and what it shares with whoever loads them. */
#ifndef KW_JIT_TOOLCHAIN_NVRTC_H
#define KW_JIT_TOOLCHAIN_NVRTC_H

#include "config/family.h"
#include "jit/toolchain/toolchain.h"

extern const kw_toolchain kw_nvrtc_toolchain;

/* One kernel of a CUBIN. */
typedef struct kw_cubin_stage {
    bool present;
    int32_t registers, stack;         /* of a thread; stack in bytes */
    int32_t fixed_lds, requested_lds; /* shared memory of a block: fixed when it was compiled; what the launch must ask for */
} kw_cubin_stage;

typedef struct kw_cubin {
    kw_cubin_stage stage[KW_STAGE_MAX]; /* kw_stage0, ... */
    int32_t spill_bytes;                /* the most that a kernel spills; -1: unknown */
} kw_cubin;

/* KW_MALFORMED and the rule when the bytes are no whole CUBIN; any bytes may be given. */
kw_status kw_cubin_read(kw_cubin *cubin, const kw_blob *blob, kw_error *err);
/* Appends spill bytes to a CUBIN, behind its end as ELF knows it: they stand in the compiler's log alone. */
kw_status kw_cubin_note_spills(kw_blob *blob, int32_t spill_bytes, kw_error *err);

/* The hidden verb that compiles in a process of its own: LIBRARY OPTION... -o OBJECT SOURCE. The exit code. */
int kw_nvrtc_serve(int count, char *const *arguments);

#endif
