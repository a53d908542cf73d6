-- Groups of any width: a tile is tile_h x tile_w output pixels times one vector of output channels, which goes on from group to group.
local default = {
    avx512 = { { 1, 14 }, { 1, 7 }, { 1, 8 }, { 2, 7 }, { 1, 10 }, { 1, 9 }, { 1, 12 }, { 2, 4 }, { 2, 5 }, { 2, 6 } },
    avx2 = { { 1, 7 }, { 1, 12 }, { 1, 8 }, { 1, 10 }, { 2, 4 }, { 2, 5 } },
}

local among = include "tables/among"

local function listed(c)
    return among(default[c.isa], { c.tile_h, c.tile_w })
end

-- Every tile of fp32 forward in the best instructions, of which the others have some: odd and even ones, of one row and of two.
local some = { [7] = true, [9] = true, [12] = true }
local few = { [7] = true, [12] = true }

return {
    family = "conv.any_groups",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 1, 2 },
            tile_w = { 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 28 },
        }
    end,
    rules = {
        (include "tables/isa").widest,
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_h * c.tile_w >= 7
        end },
        { "tiles of two rows are for images whose rows are short", function(c, arch)
            return c.tile_h == 1 or c.tile_w <= 7
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.tile_h == 1 and c.tile_w == 7
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and listed(c)
        end,
        tests = function(c, arch)
            local best = c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
            local whole = c.dtype == "fp32" and c.op == "conv_fwd" and best
            local listed = best and c.op == "conv_fwd" and some or few
            return c.tile_h == (c.tile_w <= 7 and 2 or 1) and (whole or listed[c.tile_w] and c.dtype ~= "fp16" or c.tile_w == 7)
        end,
    },
}
