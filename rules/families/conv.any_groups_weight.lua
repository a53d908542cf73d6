-- Weight gradient of groups of any width: a tile is tile input channels (merge: of the taps of a filter row) times one vector of output
-- channels, which goes on from group to group.
local default = {
    avx512 = { { 3, 1, 0 }, { 6, 1, 0 }, { 9, 1, 0 }, { 12, 1, 0 }, { 14, 1, 0 }, { 16, 1, 0 }, { 18, 1, 0 }, { 14, 0, 0 }, { 4, 0, 0 } },
    avx2 = { { 3, 1, 0 }, { 6, 1, 0 }, { 12, 1, 0 }, { 4, 0, 0 }, { 12, 0, 0 } },
}

local among = include "tables/among"

local function listed(c)
    return among(default[c.isa], { c.tile, c.merge, c.box })
end

-- Every tile of fp32 in the best instructions, of which the others have some.
local some = { [3] = true, [9] = true, [12] = true, [16] = true }
local few = { [9] = true, [12] = true }

return {
    family = "conv.any_groups_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile = { 3, 4, 6, 7, 8, 9, 12, 14, 16, 18, 24 },
            merge = { 0, 1 },
            box = { 0, 24 },
        }
    end,
    rules = { (include "tables/isa").widest },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            local math = c.dtype ~= "int8" or c.math == arch.math.int8[1]
            return math and c.isa == arch.isa[1] and c.tile == 12 and c.merge == 1 and c.box == 0
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and listed(c)
        end,
        tests = function(c, arch)
            local best = c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
            local listed = (best or c.dtype == "fp32") and some or few
            local wide = c.dtype == "fp32" or c.dtype == "bf16"
            local wanted = best and c.dtype == "fp32" or wide and listed[c.tile] or c.tile == 12
            return wanted and (c.merge == 0) == (c.box > 0)
        end,
    },
}
