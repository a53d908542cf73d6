-- Forward convolution of few channels on GPUs, all taps and channels one depth. Sets list points, tables/direct_1st.lua; the lists here are
-- what "*" stands for and what a search draws from.
return {
    family = "conv.direct_1st_block",
    ops = { "conv_fwd" },
    dtypes = { "bf16", "fp16" },
    defaults = { tile_h = 8, tile_w = 32, waves = 4, cols = 64, inst_k = 16, patch = 16, vec_in = 1, vec = 8 },
    axes = function(arch, op, dtype, words)
        return {
            tile_h = { 1, 2, 4, 7, 8, 16, 32 },
            tile_w = { 8, 14, 16, 28, 32, 64 },
            waves = { 1, 2, 4, 8 },
            cols = { 8, 16, 24, 32, 40, 48, 64, 96, 128 },
            inst_k = { 8, 16, 32 },
            patch = { 4, 8, 16, 32, 64, 96 },
            vec_in = { 1, 2, 4, 8 },
            vec = { 1, 2, 4, 8 },
        }
    end,
    rules = {},
}
