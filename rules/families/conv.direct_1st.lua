-- Dense convolution of few channels a group: filter columns and channels are one run.
return {
    family = "conv.direct_1st",
    ops = { "conv_fwd" },
    dtypes = { "fp32", "bf16", "fp16", "int8", "fp8", "bf8" },
    axes = function(arch, op, dtype)
        return {
            isa = (include "tables/isa").isas(arch, dtype),
            math = (include "tables/isa").maths(arch, dtype),
            tile_w = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 25, 28, 32, 48, 64 },
            vecs = { 1, 2, 3, 4, 5 },
            band = { 0, 4 },
        }
    end,
    rules = {
        (include "tables/isa").widest,
        (include "tables/isa").whole_tiles("tile_w", 17),
        (include "tables/isa").narrow_tiles(function(c)
            return c.tile_w
        end),
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_w * c.vecs >= 7
        end },
    },
}
