-- One channel a group, channels last: a row of the image is one run of elements, so vectors are full of few channels as well.
-- The values of each axis, and some of them together: tile_h, taps_h, stride.
local tested_some = { { 4, 3, 1 }, { 8, 3, 2 }, { 4, 5, 1 } }
local tested = {
    { 2, 1, 1 }, { 2, 2, 1 }, { 4, 4, 2 }, { 4, 6, 1 }, { 4, 7, 2 }, { 4, 9, 1 }, { 6, 3, 1 }, { 8, 3, 2 }, { 8, 5, 1 }, { 8, 8, 1 }, { 12, 3, 1 },
    { 14, 3, 1 }, { 16, 3, 1 },
}

-- int8 by whole numbers: of filters of any height but one row, whose words would be empty but for a row.
local tested_bytes = { { 4, 3, 1 }, { 8, 3, 2 }, { 4, 5, 3 } }

local among = include "tables/among"

local function listed(list, c)
    return among(list, { c.tile_h, c.taps_h, c.stride })
end

return {
    family = "conv.depthwise_lines",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 2, 4, 6, 8, 12, 14, 16 },
            taps_h = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
            stride = dtype == "int8" and { 1, 2, 3 } or { 1, 2 },
        }
    end,
    rules = {
        { "a tile of fewer than 4 rows loads each weight too often", function(c)
            return c.tile_h >= 4 or c.taps_h <= c.tile_h or c.stride == 2
        end },
        { "of one filter row words of int8 are empty but for a row", function(c)
            return c.dtype ~= "int8" or c.taps_h > 1
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and c.tile_h == 4 and c.taps_h == 3 and c.stride == 1
        end,
        default = function(c, arch)
            local usual = c.taps_h == 3 or c.taps_h == 5 or c.taps_h == 7 or c.dtype == "int8" and c.taps_h ~= 8
            local other = c.taps_h == 4 or c.taps_h == 6 or c.taps_h == 9 or c.taps_h == 2 and c.stride == 1
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
                and (usual and (c.tile_h == 4 or c.tile_h == 8 or c.tile_h == (arch.isa[1] == "avx2" and 12 or 14)) or other and c.tile_h == 8)
        end,
        tests = function(c, arch)
            if c.dtype == "int8" then
                return c.isa == arch.isa[1] and listed(tested_bytes, c) and (c.op == "conv_fwd" or c.taps_h == 3)
            end
            local best = c.op == "conv_fwd" and c.dtype == "bf16" and c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
            return listed(best and tested or tested_some, c)
        end,
    },
}
