-- A window of taps (taps_h x taps_w) is compiled in; 1x1 serves any filter and stride.
return {
    family = "conv.depthwise",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 1, 2, 4 },
            tile_w = { 2, 4, 7, 8, 14 },
            taps_h = { 1, 3, 5, 7 },
            taps_w = { 1, 3, 5, 7 },
            stride = { 1, 2 },
            block = { 0, 1, 4 },
        }
    end,
    rules = {
        { "filters are square, or one row of taps at a time", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1
        end },
        { "a tile of fewer than 4 pixels loads each weight too often", function(c)
            return c.tile_h * c.tile_w >= 4
        end },
    },
}
