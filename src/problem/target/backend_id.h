/* backend_id.h: the backends by name: what each runs on, which source it takes, what stands in for it. The functions of a backend are in
 * src/backend; whoever only needs to know what kind of device a target is asks this table. No other file compares a backend's name. */
#ifndef KW_PROBLEM_TARGET_BACKEND_ID_H
#define KW_PROBLEM_TARGET_BACKEND_ID_H

#include "base/text.h"

/* What a family's kernels are written for. */
typedef enum kw_device_kind { KW_KIND_CPU, KW_KIND_GPU, KW_KIND_COUNT } kw_device_kind;

/* Which prelude gives the kernel text its meaning, and so which toolchain compiles it (jit/toolchain/toolchain.h). */
typedef enum kw_dialect {
    KW_DIALECT_CPU, /* C for this machine */
    KW_DIALECT_PTX, /* for NVRTC */
    KW_DIALECT_AMD, /* for clang -x hip, without ROCm */
    KW_DIALECT_EMU, /* C for this machine, which plays a GPU */
    KW_DIALECT_COUNT
} kw_dialect;

/* One list for the enum, the table and the messages: identifier, name, kind, dialect, whether this machine's CPU plays the device, a device
 * that plays one where there is none (NULL: nothing does). To add a backend: a line here, and its functions in src/backend/backend.c. */
#define KW_BACKENDS(X)                                                                                                                     \
    X(CPU, "cpu", KW_KIND_CPU, KW_DIALECT_CPU, false, NULL)                                                                                \
    X(CUDA, "cuda", KW_KIND_GPU, KW_DIALECT_PTX, false, "emu:sm_90")                                                                       \
    X(HIP, "hip", KW_KIND_GPU, KW_DIALECT_AMD, false, "emu:gfx942")                                                                        \
    X(EMU, "emu", KW_KIND_GPU, KW_DIALECT_EMU, true, NULL)

typedef enum kw_backend_id {
#define KW_BACKEND_ID(id, name, kind, dialect, emulated, played_by) KW_BACKEND_##id,
    KW_BACKENDS(KW_BACKEND_ID)
#undef KW_BACKEND_ID
        KW_BACKEND_COUNT
} kw_backend_id;

typedef struct kw_backend_info {
    const char *name;
    kw_device_kind kind;
    kw_dialect dialect;
    bool emulated;
    const char *played_by;
} kw_backend_info;

extern const kw_backend_info kw_backends[KW_BACKEND_COUNT];

/* " cpu cuda hip emu", for messages. */
extern const char kw_backend_names[];

bool kw_backend_id_find(kw_backend_id *id, kw_word name);
/* The backend that a device's name begins with ("cuda:1", "emu:gfx942", "cpu"). */
bool kw_backend_id_of_device(kw_backend_id *id, const char *device);
/* A GPU of its own, reached through a driver. */
bool kw_backend_is_gpu_hardware(kw_backend_id id);
/* "cpu" or "gpu". */
const char *kw_device_kind_name(kw_device_kind kind);

#endif
