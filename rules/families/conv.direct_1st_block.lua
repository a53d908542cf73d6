-- Convolution of few channels on GPUs, forward and backward weight, all taps and channels one depth. Sets list points, tables/direct_1st.lua; the lists here are
-- what "*" stands for and what a search draws from.
return {
    family = "conv.direct_1st_block",
    ops = { "conv_fwd", "conv_bwd_weight" },
    dtypes = { "bf16", "fp16" },
    defaults = { tile_h = 8, tile_w = 32, waves = 4, cols = 64, inst_k = 16, patch = 16, vec_in = 1, vec = 8, span = 8, waves_d = 1 },
    axes = function(arch, op, dtype, words)
        local weight = op == "conv_bwd_weight"
        return {
            tile_h = { 1, 2, 4, 7, 8, 16, 32 },
            tile_w = { 8, 14, 16, 28, 32, 64 },
            waves = weight and { 1, 2, 4, 5, 8, 10 } or { 1, 2, 4, 8 },
            cols = { 8, 16, 24, 32, 40, 48, 64, 96, 128 },
            inst_k = { 8, 16, 32 },
            patch = { 4, 8, 16, 32, 64, 96 },
            vec_in = { 1, 2, 4, 8 },
            vec = { 1, 2, 4, 8 },
            span = weight and { 16, 32, 48, 64, 80, 128, 160, 200, 256, 320 } or { 8 },
            waves_d = weight and { 1, 2, 4, 5, 8 } or { 1 },
        }
    end,
    rules = {},
}
