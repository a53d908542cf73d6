-- Few channels a group. The sums of a window of taps (taps_h x taps_w) are held at once; 1x1 serves any filter, stride and dilation.
return {
    family = "conv.merged_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 1, 2, 4, 7 },
            tile_w = { 1, 2, 4, 7, 8, 14 },
            taps_h = { 1, 3 },
            taps_w = { 1, 3 },
            stride = { 1, 2 },
            group_c = { 1, 2, 4, 8, 16, 32 },
            group_k = { 1, 2, 4, 8, 16, 32 },
        }
    end,
    rules = {
        { "windows are square, or one row of taps", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1
        end },
        { "tall tiles are for narrow ones", function(c)
            return c.tile_h < 7 or c.tile_w <= 2
        end },
        { "groups have as many channels on both sides, or one input channel", function(c)
            return c.group_c == c.group_k or c.group_c == 1
        end },
    },
}
