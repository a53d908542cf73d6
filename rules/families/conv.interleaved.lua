-- Few result channels: a tile is tile_w output pixels of one row times vecs vectors, each of which has the results of 2 or 4 ways in turn.
-- tile_w, vecs, ways
local default = {
    avx512 = {
        { 9, 3, 2 }, { 8, 3, 2 }, { 7, 3, 2 }, { 5, 5, 2 }, { 9, 3, 4 }, { 8, 3, 4 }, { 7, 3, 4 }, { 5, 5, 4 }, { 4, 5, 4 }, { 3, 7, 4 },
        { 14, 2, 2 }, { 13, 2, 2 }, { 12, 2, 2 }, { 13, 2, 4 }, { 6, 4, 4 },
    },
    avx2 = { { 4, 3, 2 }, { 2, 5, 2 }, { 12, 1, 2 }, { 4, 3, 4 }, { 2, 5, 4 }, { 6, 2, 2 } },
}
-- Every value of every axis forward, of which backward data has some, and the narrower vectors.
local tests = {
    avx512 = {
        { 4, 3, 2 }, { 12, 1, 4 }, { 9, 3, 2 }, { 5, 5, 4 }, { 2, 5, 4 }, { 3, 7, 4 }, { 6, 3, 2 }, { 7, 3, 4 }, { 8, 3, 2 }, { 14, 1, 2 },
        { 13, 2, 2 }, { 6, 4, 4 },
    },
    avx2 = {
        { 4, 3, 2 }, { 12, 1, 4 }, { 2, 5, 4 }, { 7, 1, 2 }, { 3, 3, 2 }, { 8, 1, 4 }, { 9, 1, 2 }, { 14, 1, 2 },
        { 13, 1, 2 }, { 6, 2, 2 }, { 2, 4, 4 }, { 5, 2, 4 },
    },
}

local among = include "tables/among"

return {
    family = "conv.interleaved",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_w = { 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14 },
            vecs = { 1, 2, 3, 4, 5, 7 },
            ways = { 2, 4 },
        }
    end,
    rules = {
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_w * c.vecs >= 7
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.tile_w == 4 and c.vecs == 3 and c.ways == 2
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and among(default[c.isa], { c.tile_w, c.vecs, c.ways })
        end,
        tests = function(c, arch)
            local listed, place = among(tests[c.isa], { c.tile_w, c.vecs, c.ways })
            return listed and (place <= 2 or c.isa == arch.isa[1] and (place <= 4 or c.op == "conv_fwd"))
        end,
    },
}
