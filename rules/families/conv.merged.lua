-- Few channels a group. The code of a tile handles a window of taps (taps_h x taps_w) at once; 1x1 serves any filter, stride and dilation.
return {
    family = "conv.merged",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = dtype == "int8" and { "fma" } or arch.math[dtype],
            tile_h = { 1, 2 },
            tile_w = { 3, 4, 5, 6, 7, 8, 9, 10, 12, 14 },
            taps_h = { 1, 3 },
            taps_w = { 1, 3 },
            stride = { 1, 2 },
            group_c = { 1, 2, 4, 8, 16, 32 },
            group_k = { 1, 2, 4, 8, 16, 32 },
            block = { 0, 1 },
        }
    end,
    rules = {
        { "windows are square, or one row of taps", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1
        end },
        { "groups have as many channels on both sides, or one input channel", function(c)
            return c.group_c == c.group_k or c.group_c == 1
        end },
    },
}
