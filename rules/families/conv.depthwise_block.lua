-- Depthwise convolution on GPUs, a block a wave. Sets list points, tables/depthwise.lua; the lists here are what "*" stands for and what a
-- search draws from.
return {
    family = "conv.depthwise_block",
    ops = { "conv_fwd", "conv_bwd_data", "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    defaults = {
        ndim = 2, tile_h = 8, tile_w = 8, filter = 3, stride = 1, pad = 1, dilation = 1, filter_d = 1, stride_d = 1, pad_d = 0, batch = 1,
        sub_h = 1, sub_w = 1, vec_in = 1, vec_out = 1, order = "first", path = "lds", waves = 1, peers = 1,
    },
    axes = function(arch, op, dtype, words)
        return {
            ndim = { 1, 2, 3 },
            tile_h = { 1, 4, 8, 14, 16, 32 },
            tile_w = { 4, 8, 16, 28, 32, 64, 128, 256 },
            filter = { 3, 4, 5, 7, 9, 15, 31 },
            stride = { 1, 2 },
            pad = { 0, 1, 2, 3, 4, 7, 15 },
            dilation = { 1, 2 },
            filter_d = { 1, 3, 5 },
            stride_d = { 1, 2 },
            pad_d = { 0, 1, 2 },
            batch = { 1, 2, 4, 8, 16, 32, 64 },
            sub_h = { 1, 2, 4, 8 },
            sub_w = { 1, 2, 4, 8 },
            vec_in = { 1, 2, 4, 8 },
            vec_out = { 1, 2, 4, 8 },
            order = words("order"),
            path = words("path"),
            waves = { 1, 4, 8 },
            peers = { 1, 8 },
        }
    end,
    rules = {
        { "the filter has a middle, but along a single axis", function(c) return c.ndim == 1 or c.filter % 2 == 1 end },
        { "stride 1 or even", function(c) return c.stride == 1 or c.stride % 2 == 0 end },
        { "padding is at most half the filter, along a single axis less than it",
            function(c) return (c.ndim == 1 and c.pad < c.filter) or 2 * c.pad <= c.dilation * (c.filter - 1) end },
    },
}
