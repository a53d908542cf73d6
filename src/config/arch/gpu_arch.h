/* gpu_arch.h: the GPU architectures that kernels are generated for. Their facts stand in rules/arch/NAME.lua, one file each and the only
 * place; make_archs.c turns these files into kw_gpu_archs when the library is built, so that the run time needs no interpreter.
 *
 * "wave" is the hardware's group of threads (a warp); "tile" here is the shape m x n x k of one matrix instruction, or of several of
 * them that share an accumulator and whose k is taken together. */
#ifndef KW_CONFIG_ARCH_GPU_ARCH_H
#define KW_CONFIG_ARCH_GPU_ARCH_H

#include "base/status.h"
#include "base/text.h"
#include "problem/target/target.h"

/* What the generator may use: word in the arch file, meaning. One list for the enum, the reader of the files and the messages. */
#define KW_GPU_FEATURES(X)                                                                                                                 \
    X(mfma, "AMD matrix instructions of a 64-thread wave")                                                                                 \
    X(wmma11, "AMD matrix instructions of a 32-thread wave, gfx11: each operand is held twice")                                            \
    X(wmma12, "AMD matrix instructions of a 32-thread wave, gfx12: 16 deep")                                                               \
    X(wmma1250, "AMD matrix instructions of a 32-thread wave, gfx1250: 4 to 128 deep")                                                     \
    X(mma, "NVIDIA mma.sync")                                                                                                              \
    X(wgmma, "NVIDIA wgmma: four waves multiply from shared memory")                                                                       \
    X(async4, "copies of 4 bytes a thread from global to shared memory without registers")                                                 \
    X(async16, "the same with 16 bytes")                                                                                                   \
    X(tma, "bulk tensor copies that complete on an mbarrier")                                                                              \
    X(streamk, "stream-K kernels are generated")

typedef enum kw_gpu_feature {
#define KW_FEATURE(name, meaning) KW_GPU_##name,
    KW_GPU_FEATURES(KW_FEATURE)
#undef KW_FEATURE
        KW_GPU_FEATURE_COUNT
} kw_gpu_feature;

/* A shape that matrix instructions of the architecture compute. Types a and b are the operands'. */
typedef struct kw_gpu_tile {
    kw_dtype a, b;
    int16_t m, n, k;
} kw_gpu_tile;

typedef struct kw_gpu_arch {
    const char *name;         /* "gfx942", "sm_90" */
    kw_backend_id backend;    /* whose devices have it */
    const char *about;        /* one line for people */
    const char *compile;      /* as the toolchain is told: "gfx942", "sm_90a" */
    uint32_t features;        /* bits 1 << kw_gpu_feature */
    uint32_t dtypes;          /* bits 1 << kw_dtype that any tile has */
    kw_target typical;        /* facts of a usual product, for work without a device: its backend is the emulator */
    const int8_t (*waves)[3]; /* waves of a block along m, n, k that the rules know */
    int32_t wave_count;
    const kw_gpu_tile *tiles;
    int32_t tile_count;
    const kw_gpu_tile *preshuffle; /* those that serve weights in the kernel's own order */
    int32_t preshuffle_count;
} kw_gpu_arch;

extern const kw_gpu_arch kw_gpu_archs[]; /* in the order of src/config/CMakeLists.txt, ended by a NULL name */

/* NULL when there is none of that name. */
const kw_gpu_arch *kw_gpu_arch_find(const char *name);
/* The facts of a usual product on a backend that has it, or on its emulator: "gfx950", "hip:gfx950", "emu:gfx950". KW_MISSING: no such. */
kw_status kw_gpu_arch_target(kw_target *target, const char *name, kw_error *err);
bool kw_gpu_arch_has(const kw_gpu_arch *arch, kw_gpu_feature feature);
bool kw_gpu_arch_has_tile(const kw_gpu_arch *arch, kw_dtype a, kw_dtype b, const int32_t shape[3]);
bool kw_gpu_arch_has_waves(const kw_gpu_arch *arch, const int32_t waves[3]);

#endif
