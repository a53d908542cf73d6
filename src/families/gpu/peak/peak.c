/* peak.c: family gpu.peak: the kernels behind measured roofs. The tile is the architecture's deepest and widest of the type; on Hopper all
 * types of up to two bytes have instructions of four waves, more than kernels of problems are generated with, and the roof is the
 * machine's. */
#include "families/gpu/peak/peak.h"

#include "families/gpu/defines.h"
#include "gpu/peak/args.h"

#include <string.h>

enum { WORK, INST_M, INST_N, INST_K, SUMS, AXES };
enum { MATH, COPY };

static const kw_axis peak_axes[AXES] = {
    [WORK] = {"work", "math copy", 0, 1, "matrix instructions, or moving memory"},
    [INST_M] = {"inst_m", NULL, 1, 64, "rows of an instruction"},
    [INST_N] = {"inst_n", NULL, 1, 256, "columns"},
    [INST_K] = {"inst_k", NULL, 1, 128, "depth"},
    [SUMS] = {"sums", NULL, 1, 16, "instructions of a turn"},
};

static const kw_family peak_family = {
    .name = "gpu.peak",
    .summary = "what a GPU does at most",
    .kind = KW_KIND_GPU,
    .axes = peak_axes,
    .axis_count = AXES,
    .emit = kw_gpu_emit_nothing,
    .kernel = "gpu/peak/peak.c",
};

bool kw_peak_math(kw_config *config, const kw_gpu_arch *arch, kw_dtype dtype) {
    int64_t most = 0;
    *config = (kw_config){.family = &peak_family, .op = KW_GEMM, .dtype = dtype};
    if (kw_gpu_arch_has(arch, KW_GPU_wgmma) && dtype != KW_FP32 && (arch->dtypes & 1u << dtype)) {
        config->axis[INST_M] = 64;
        config->axis[INST_N] = 256;
        config->axis[INST_K] = 32 / (int32_t)kw_dtype_size(dtype);
        config->axis[SUMS] = 16;
        return true;
    }
    for (int i = 0; i < arch->tile_count; i++) {
        const kw_gpu_tile *tile = &arch->tiles[i];
        int64_t size = (int64_t)tile->m * tile->n * tile->k;
        if (tile->a == dtype && tile->b == dtype && tile->m >= 16 && tile->m < 64 && size > most) { /* 4x64 and 64x4: no kernel has them */
            most = size;
            config->axis[INST_M] = tile->m;
            config->axis[INST_N] = tile->n;
            config->axis[INST_K] = tile->k;
            config->axis[SUMS] = tile->m == 32 ? 4 : 8;
        }
    }
    return most > 0;
}

void kw_peak_copy(kw_config *config) {
    *config = (kw_config){.family = &peak_family, .op = KW_GEMM, .dtype = KW_FP32, .axis = {[WORK] = COPY}};
}

kw_launch kw_peak_launch(int64_t blocks, int64_t count) {
    kw_launch launch = {.stages = 1, .stage = {{.units = blocks, .threads = KW_PEAK_THREADS}}};
    kw_launch_params(&launch, kw_peak_params)->count = count;
    return launch;
}

double kw_peak_flops(const kw_config *config, const kw_gpu_arch *arch, int64_t turns) {
    const int32_t *axis = config->axis;
    int64_t threads = axis[INST_M] == 64 ? 128 : arch->typical.lanes; /* of an instruction */
    double one = 2.0 * axis[INST_M] * axis[INST_N] * axis[INST_K];
    return one * axis[SUMS] * (double)(KW_PEAK_THREADS / threads) * (double)turns;
}
