-- 3x3 convolution on source pixels in shared memory, on GPUs. Sets list points, tables/direct.lua; the lists here are what "*" stands for
-- and what a search draws from.
return {
    family = "conv.direct_block",
    ops = { "conv_fwd", "conv_bwd_data", "conv_bwd_weight" },
    dtypes = { "bf16", "fp16" },
    defaults = {
        channels = 8, impl = "grouped", tile_h = 4, tile_w = 16, stride = 1, waves_c = 1, waves_q = 4, slices = 1, cols = 64, inst_k = 16,
        swizzle = "xor", store = "lds", vec = 8, pack = "stage", peers = 1,
    },
    axes = function(arch, op, dtype, words)
        return {
            channels = { 4, 8, 16, 32 },
            impl = words("impl"),
            tile_h = { 4, 7, 8, 10, 14, 16, 28, 32 },
            tile_w = { 4, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32, 64 },
            stride = { 1, 2 },
            waves_c = { 1, 2, 3, 4, 5, 6, 7, 8, 16 },
            waves_q = { 1, 2, 3, 4, 5, 6, 7, 8, 16 },
            slices = { 1, 2, 3, 4, 6, 8 },
            cols = { 8, 16, 32, 64 },
            inst_k = { 8, 16, 32 },
            swizzle = words("swizzle"),
            store = words("store"),
            vec = { 1, 2, 4, 8 },
            pack = words("pack"),
            peers = { 1, 2, 4, 8 },
        }
    end,
    rules = {},
}
