-- 3x3 convolution of narrow groups on GPUs. Sets list points, tables/direct.lua; the lists here are what "*" stands for and what a search
-- draws from.
return {
    family = "conv.direct_block",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "bf16", "fp16" },
    defaults = {
        channels = 8, impl = "grouped", tile_h = 4, tile_w = 16, stride = 1, waves_c = 1, waves_q = 4, inst_k = 16, swizzle = "xor",
        store = "lds", vec = 8,
    },
    axes = function(arch, op, dtype)
        return {
            channels = { 4, 8, 16, 32 },
            impl = { "grouped" },
            tile_h = { 4, 8, 14, 16 },
            tile_w = { 4, 8, 12, 16, 20, 24, 28, 32, 64 },
            stride = op == "conv_fwd" and { 1, 2 } or { 1 },
            waves_c = { 1, 2, 4 },
            waves_q = { 1, 2, 3, 4, 5, 6, 7, 8, 16 },
            inst_k = { 8, 16, 32 },
            swizzle = { "none", "xor", "cyclic" },
            store = { "registers", "lds" },
            vec = { 1, 2, 4, 8 },
        }
    end,
    rules = {},
}
