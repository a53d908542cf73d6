-- A window of taps (taps_h x taps_w) is compiled in; 1x1 serves any filter and stride.
return {
    family = "conv.depthwise_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 1, 2 },
            tile_w = { 1, 2, 4, 7, 8, 14 },
            taps_h = { 1, 3, 5, 7 },
            taps_w = { 1, 3, 5, 7 },
            stride = { 1, 2 },
        }
    end,
    rules = {
        { "filters are square, or one row of taps at a time", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1
        end },
        { "fewer than 4 sums in flight leave the multiply-add units idle", function(c)
            return c.taps_h * c.taps_w >= 3 or c.tile_h * c.tile_w >= 4
        end },
    },
}
