-- Dense convolution. A tile is tile_h x tile_w output pixels times vecs vectors of output channels.
return {
    family = "conv.direct",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8", "fp8", "bf8" },
    axes = function(arch, op, dtype)
        return {
            isa = (include "tables/isa").isas(arch, dtype),
            math = (include "tables/isa").maths(arch, dtype),
            tile_h = { 1, 2, 3, 4, 5 },
            tile_w = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 28, 32, 48, 64 },
            vecs = { 1, 2, 3, 4, 5, 7 },
            band = { 0, 4 },
            edge = { "skip", "pad" },
        }
    end,
    rules = {
        (include "tables/isa").widest,
        (include "tables/isa").whole_tiles("tile_w", 17),
        (include "tables/isa").narrow_tiles(function(c)
            return c.tile_h * c.tile_w
        end),
        { "narrow vectors leave the edge out", function(c)
            return c.isa ~= "avx512vl" or c.edge == "skip"
        end },
        { "fewer than 7 sums in flight leave the multiply-add units idle; of the widest vectors 4 are enough on some machines", function(c, arch)
            return c.tile_h * c.tile_w * c.vecs >= (c.isa == "avx512" and c.tile_h == 1 and c.tile_w >= 4 and 4 or 7)
        end },
        { "tiles of two rows are for images whose rows are short, taller ones for those of one or two columns", function(c, arch)
            return c.tile_h == 1 or c.tile_w <= (c.tile_h == 2 and 7 or 2)
        end },
        { "with bands of four rows the edge is left as it compiles fastest", function(c, arch)
            return c.band == 0 or c.edge == "pad"
        end },
    },
}
