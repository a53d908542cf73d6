-- One channel a group, channels first: a strip of vecs vectors of a row, or the rows of several planes in one vector.
-- vecs, planes
local among = include "tables/among"
local fp32 = { { 1, 1 }, { 2, 1 }, { 4, 1 }, { 1, 2 } }
local pairs_of_pixels = { { 1, 1 }, { 2, 1 }, { 1, 2 }, { 1, 4 } }
-- taps_h, taps_w
local filters = { { 3, 3 }, { 5, 5 }, { 7, 7 }, { 1, 3 }, { 1, 5 }, { 1, 7 }, { 2, 2 }, { 4, 4 } }
-- Each value of each axis, forward in the best instructions, and some of them for the others: vecs, planes, taps_h, taps_w, stride.
local tested_some = { { 2, 1, 3, 3, 1 }, { 1, 2, 3, 3, 1 }, { 1, 4, 3, 3, 1 }, { 1, 2, 3, 3, 2 }, { 1, 1, 5, 5, 1 }, { 1, 1, 2, 2, 2 } }
local tested = {
    { 1, 1, 3, 3, 1 }, { 2, 1, 3, 3, 1 }, { 1, 2, 3, 3, 1 }, { 1, 4, 3, 3, 1 }, { 1, 1, 3, 3, 2 }, { 2, 1, 3, 3, 2 }, { 1, 2, 3, 3, 2 },
    { 1, 4, 3, 3, 2 }, { 1, 1, 5, 5, 1 }, { 3, 1, 5, 5, 1 }, { 1, 2, 7, 7, 2 }, { 1, 1, 7, 7, 1 }, { 4, 1, 1, 3, 1 }, { 1, 1, 2, 2, 2 },
    { 1, 1, 4, 4, 2 }, { 2, 1, 2, 2, 1 }, { 5, 1, 3, 1, 1 }, { 6, 1, 1, 9, 1 }, { 1, 1, 6, 6, 2 }, { 1, 1, 9, 9, 2 }, { 1, 2, 8, 8, 2 },
}

return {
    family = "conv.depthwise_planes",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            vecs = { 1, 2, 3, 4, 5, 6 },
            planes = { 1, 2, 4 },
            taps_h = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
            taps_w = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
            stride = { 1, 2 },
        }
    end,
    rules = {
        { "filters are square, or one row or column", function(c)
            return (c.taps_h == c.taps_w or c.taps_h == 1 or c.taps_w == 1) and c.taps_h * c.taps_w > 1
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.math == arch.math[c.dtype][1] and among({ { 1, 1, 3, 3, 1 } }, { c.vecs, c.planes, c.taps_h, c.taps_w, c.stride })
        end,
        default = function(c, arch)
            return c.math == arch.math[c.dtype][1] and among(c.math == "dp" and pairs_of_pixels or fp32, { c.vecs, c.planes })
                and among(filters, { c.taps_h, c.taps_w })
        end,
        tests = function(c, arch)
            local best = c.op == "conv_fwd" and c.math == arch.math[c.dtype][1]
            return among(best and tested or tested_some, { c.vecs, c.planes, c.taps_h, c.taps_w, c.stride })
        end,
    },
}
