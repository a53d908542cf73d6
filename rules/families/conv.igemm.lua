-- Implicit matrix products on GPUs. The product of these axes is far too large to be walked: sets list points (docs/kernels/rules.md). The lists
-- here are what "*" stands for and what a search draws from, for all directions alike: what a direction lacks C refuses.
local arches = include "tables/arch"

return {
    family = "conv.igemm",
    ops = { "conv_fwd", "conv_bwd_data", "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16", "fp8", "bf8", "int8" },
    defaults = {
        ndim = 2, tile_m = 128, tile_n = 128, tile_k = 64, wave_m = 2, wave_n = 2, wave_k = 1, inst_m = 32, inst_n = 32, inst_k = 16,
        pipe = "compv3", sched = "intrawave", epi = "cshuffle", vec_a = 4, vec_b = 8, vec_c = 8, stages = 1, merge = 1, wave_groups = 1,
        split_image = 0, explicit = 0, two_stage = 0, spec = "default", streamk = "off", persistent = 0, split_k = 1, index = 32,
    },
    axes = function(arch, op, dtype, words)
        return {
            ndim = { 1, 2, 3 },
            tile_m = { 16, 32, 64, 128, 256 },
            tile_n = { 16, 32, 64, 128, 256 },
            tile_k = { 8, 16, 32, 64, 128 },
            wave_m = arches.values(arch.waves, 1),
            wave_n = arches.values(arch.waves, 2),
            wave_k = arches.values(arch.waves, 3),
            inst_m = arches.values(arch.tiles[dtype], 1),
            inst_n = arches.values(arch.tiles[dtype], 2),
            inst_k = arches.values(arch.tiles[dtype], 3),
            pipe = words("pipe"),
            sched = words("sched"),
            epi = words("epi"),
            vec_a = { 1, 2, 4, 8, 16 },
            vec_b = { 1, 2, 4, 8, 16 },
            vec_c = { 1, 2, 4, 8, 16 },
            stages = { 1, 2, 3, 4, 5, 6, 8 },
            merge = { 1, 2, 4, 8, 16, 32 },
            wave_groups = { 1, 2 },
            split_image = { 0, 1 },
            explicit = { 0, 1 },
            two_stage = { 0, 1 },
            -- walked backward, a 1x1 filter gains from known strides alone
            spec = op == "conv_fwd" and words("spec") or { "default", "filter1x1_stride1_pad0" },
            streamk = words("streamk"),
            persistent = { 0, 1 },
            split_k = { 0, 1 },
            index = { 32, 64 },
        }
    end,
    rules = {},
}
