-- One channel a group. The code of a tile handles a window of taps (taps_h x taps_w) at once; 1x1 serves any filter, stride and dilation.
local isas = include "tables/isa"

return {
    family = "conv.depthwise",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = dtype == "bf16" and isas.isas(arch, dtype) or arch.isa,
            math = dtype == "int8" and { "fma" } or arch.math[dtype],
            tile_h = { 1, 2, 3, 4, 6, 7, 8 },
            tile_w = { 1, 2, 3, 4, 5, 6, 7, 8, 10, 14 },
            taps_h = { 1, 2, 3, 4, 5, 6, 7, 9 },
            taps_w = { 1, 2, 3, 4, 5, 6, 7, 9 },
            stride = { 1, 2, 3 },
            block = { 0, 1 },
        }
    end,
    rules = {
        isas.widest,
        { "narrow vectors of AVX-512 are for pairs of bf16, of 16 channels, in tiles like the best of wide ones", function(c)
            return c.isa ~= "avx512vl" or (c.math == "dp" and c.block == 0 and c.tile_h * c.tile_w >= 6 and c.tile_h < 7)
        end },
        { "windows are square, or one row or column of taps, or two rows of which pairs are made", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1 or c.taps_w == 1 or (c.taps_h == 2 and c.math == "dp")
        end },
        { "a tile of fewer than 4 pixels loads each weight too often", function(c)
            return c.tile_h * c.tile_w >= 4
        end },
        { "tall tiles are for narrow ones", function(c)
            return c.tile_h < 6 or c.tile_w <= 2
        end },
    },
}
