-- One channel a group. The sums of a window of taps (taps_h x taps_w) are held at once; 1x1 serves any filter, stride and dilation.
return {
    family = "conv.depthwise_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 1, 2, 4, 7 },
            tile_w = { 1, 2, 4, 7, 8, 14 },
            taps_h = { 1, 2, 3, 4, 5, 6, 7 },
            taps_w = { 1, 2, 3, 4, 5, 6, 7 },
            stride = { 1, 2, 3 },
        }
    end,
    rules = {
        { "windows are square, or one or two rows of taps, or a column", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1 or (c.taps_h == 2 and c.taps_w >= 5) or c.taps_w == 1
        end },
        { "fewer than 4 sums in flight leave the multiply-add units idle", function(c)
            return c.taps_h * c.taps_w >= 3 or c.tile_h * c.tile_w >= 4
        end },
        { "whole numbers go by the widest vectors and the first math", function(c, arch)
            return c.dtype ~= "int8" or (c.isa == arch.isa[1] and c.math == arch.math.int8[1])
        end },
        { "tall tiles are for narrow ones", function(c)
            return c.tile_h < 7 or c.tile_w <= 2
        end },
    },
}
