-- Convolution with filter 1: a tile is tile_m pixels times vecs vectors of output channels.
return {
    family = "conv.pointwise",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8", "fp8", "bf8" },
    axes = function(arch, op, dtype)
        return {
            isa = (include "tables/isa").isas(arch, dtype),
            math = (include "tables/isa").maths(arch, dtype),
            tile_m = { 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 16, 28, 32, 48, 64, 96 },
            vecs = { 1, 2, 3, 4, 5, 7 },
            band = { 0, 1, 4 },
            ahead = { 0, 1 },
        }
    end,
    rules = {
        (include "tables/isa").widest,
        (include "tables/isa").whole_tiles("tile_m", 16),
        (include "tables/isa").narrow_tiles(function(c)
            return c.tile_m
        end),
        (include "tables/isa").narrow_ahead,
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_m * c.vecs >= 7
        end },
    },
}
