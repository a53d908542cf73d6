-- Gradients of depthwise weights, channels last: a row of the image is one run of elements.
-- The values of each axis, and some of them together: tile_h, taps_h, columns, stride.
local tested_some = { { 4, 3, 1, 1 }, { 4, 3, 3, 2 } }
local tested = {
    { 2, 1, 1, 1 }, { 2, 2, 2, 1 }, { 4, 3, 3, 1 }, { 6, 3, 1, 1 }, { 8, 3, 3, 2 }, { 16, 3, 1, 1 }, { 4, 4, 1, 2 }, { 8, 5, 1, 1 }, { 4, 6, 1, 1 },
    { 4, 7, 1, 2 }, { 4, 8, 1, 1 }, { 4, 9, 1, 1 },
}

-- fp32 rows under filters of one column are read where they lie; by two where they would evict each other
local columns = {
    { 8, 3, 1, 1 }, { 6, 2, 1, 1 }, { 6, 4, 1, 1 }, { 4, 6, 1, 1 }, { 4, 9, 1, 1 }, { 2, 2, 1, 1 }, { 2, 3, 1, 1 }, { 2, 4, 1, 1 }, { 2, 5, 1, 1 },
}

local among = include "tables/among"

local function listed(list, c)
    return among(list, { c.tile_h, c.taps_h, c.columns, c.stride })
end

return {
    family = "conv.depthwise_lines_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_h = { 2, 4, 6, 8, 16 },
            taps_h = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
            columns = { 1, 2, 3 },
            stride = { 1, 2 },
        }
    end,
    rules = {},
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and c.tile_h == 4 and c.taps_h == 3 and c.columns == 3 and c.stride == 1
        end,
        -- 3x3 with stride 2 is conv.depthwise_pixels_weight's: pixels copied one by one take more than the products.
        default = function(c, arch)
            local column = c.dtype == "fp32" and listed(columns, c)
            local several = (c.taps_h == 3 or c.taps_h == 5 or c.taps_h == 7) and (c.taps_h ~= 3 or c.stride == 1)
                and c.columns == (c.taps_h == 3 and 3 or 1) and (c.tile_h == 4 or c.tile_h == 8 or c.tile_h == 16)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and (column or several)
        end,
        tests = function(c, arch)
            return listed(c.dtype == "bf16" and c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and tested or tested_some, c)
        end,
    },
}
