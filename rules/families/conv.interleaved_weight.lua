-- Weight gradient of groups of few channels: a tile is tile spread channels times vecs vectors, each of which has the other tensor's channels
-- of 2 or 4 groups in turn (merge: of x, the taps of a filter row and the channels).
-- lanes, tile, vecs, ways, merge
local default = {
    avx512 = {
        { "c", 14, 2, 4, 0 }, { "c", 12, 2, 4, 0 }, { "c", 9, 3, 4, 0 }, { "c", 8, 3, 4, 0 }, { "c", 7, 3, 4, 0 }, { "c", 6, 3, 4, 0 },
        { "c", 6, 4, 4, 0 }, { "c", 5, 5, 4, 0 }, { "c", 3, 7, 4, 0 }, { "c", 9, 3, 2, 0 }, { "c", 6, 4, 2, 0 }, { "c", 5, 5, 4, 1 },
        { "c", 3, 7, 4, 1 }, { "k", 14, 2, 2, 0 }, { "k", 9, 3, 4, 0 }, { "k", 6, 4, 4, 0 }, { "k", 5, 5, 4, 0 }, { "k", 3, 7, 4, 0 },
    },
    avx2 = {
        { "c", 4, 3, 2, 0 }, { "c", 2, 5, 2, 0 }, { "c", 6, 2, 2, 0 }, { "c", 6, 2, 4, 0 }, { "c", 4, 3, 4, 0 }, { "c", 2, 5, 4, 0 },
        { "k", 6, 2, 2, 0 }, { "k", 4, 3, 4, 0 },
    },
}
-- Every value of every axis, of which the narrower vectors have some.
local tests = {
    avx512 = {
        { "c", 4, 3, 2, 0 }, { "k", 6, 2, 4, 1 }, { "c", 2, 5, 4, 0 }, { "k", 9, 3, 2, 0 }, { "c", 14, 2, 4, 0 }, { "k", 6, 4, 4, 0 },
        { "c", 5, 5, 4, 1 }, { "c", 3, 7, 4, 0 }, { "c", 7, 3, 2, 1 }, { "c", 12, 2, 4, 1 }, { "k", 8, 3, 4, 0 }, { "c", 5, 4, 2, 0 },
    },
    avx2 = {
        { "c", 4, 3, 2, 0 }, { "k", 6, 2, 4, 1 }, { "c", 2, 5, 4, 0 }, { "k", 3, 3, 4, 0 }, { "c", 5, 2, 2, 1 }, { "k", 2, 4, 4, 0 },
    },
}

local among = include "tables/among"

return {
    family = "conv.interleaved_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            lanes = { "c", "k" },
            tile = { 2, 3, 4, 5, 6, 7, 8, 9, 12, 14 },
            vecs = { 2, 3, 4, 5, 7 },
            ways = { 2, 4 },
            merge = { 0, 1 },
        }
    end,
    rules = {
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c)
            return c.tile * c.vecs >= 7
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.lanes == "c" and c.tile == 4 and c.vecs == 3 and c.ways == 2 and c.merge == 0
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and among(default[c.isa], { c.lanes, c.tile, c.vecs, c.ways, c.merge })
        end,
        tests = function(c, arch)
            local listed, place = among(tests[c.isa], { c.lanes, c.tile, c.vecs, c.ways, c.merge })
            return listed and (place <= 2 or c.isa == arch.isa[1])
        end,
    },
}
