-- Matrix products on GPUs. The product of these axes is far too large to be walked: sets list points (docs/kernels/rules.md). The lists here are
-- what "*" stands for and what a search draws from.
local arches = include "tables/arch"

return {
    family = "gemm.mma",
    ops = { "gemm" },
    dtypes = { "fp32", "bf16", "fp16", "fp8", "bf8", "int8" },
    defaults = {
        layout = "rcr", tile_m = 128, tile_n = 128, tile_k = 64, wave_m = 2, wave_n = 2, wave_k = 1, inst_m = 32, inst_n = 32, inst_k = 16,
        pipe = "compv3", sched = "intrawave", epi = "cshuffle", pad_m = 1, pad_n = 1, pad_k = 1, vec_a = 8, vec_b = 8, vec_c = 8, stages = 1,
        preshuffle = 0, wave_groups = 1, persistent = 0, split_k = 1, streamk = "off", index = 32,
    },
    axes = function(arch, op, dtype, words)
        return {
            layout = words("layout"),
            tile_m = { 16, 32, 64, 128, 192, 256 },
            tile_n = { 16, 32, 64, 128, 192, 256 },
            tile_k = { 16, 32, 64, 128, 256 },
            wave_m = arches.values(arch.waves, 1),
            wave_n = arches.values(arch.waves, 2),
            wave_k = arches.values(arch.waves, 3),
            inst_m = arches.values(arch.tiles[dtype], 1),
            inst_n = arches.values(arch.tiles[dtype], 2),
            inst_k = arches.values(arch.tiles[dtype], 3),
            pipe = words("pipe"),
            sched = words("sched"),
            epi = words("epi"),
            pad_m = { 0, 1 },
            pad_n = { 0, 1 },
            pad_k = { 0, 1 },
            vec_a = { 1, 2, 4, 8, 16 },
            vec_b = { 1, 2, 4, 8, 16 },
            vec_c = { 1, 2, 4, 8, 16 },
            stages = { 1, 2, 3, 4, 5, 6, 8 },
            preshuffle = { 0, 1 },
            wave_groups = { 1, 2 },
            persistent = { 0, 1 },
            split_k = { 0, 1 },
            streamk = words("streamk"),
            index = { 32, 64 },
        }
    end,
    rules = {},
}
