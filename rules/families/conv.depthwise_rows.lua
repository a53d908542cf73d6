-- One channel a group, channels first, small square images whose rows are in a register with those of planes - 1 other channels.
-- image, planes, taps, stride: by the images of networks; a share of a vector has more lanes than a row has pixels.
local fp32 = {
    { 7, 2, 3, 1 }, { 7, 2, 5, 1 }, { 7, 2, 7, 1 }, { 14, 1, 3, 1 }, { 14, 1, 5, 1 }, { 14, 1, 7, 1 }, { 14, 2, 3, 2 }, { 14, 2, 5, 2 },
    { 28, 1, 3, 2 },
}
local pairs_of_pixels = {
    { 7, 4, 3, 1 }, { 7, 4, 5, 1 }, { 7, 4, 7, 1 }, { 14, 2, 3, 1 }, { 14, 2, 5, 1 }, { 14, 2, 7, 1 }, { 14, 2, 3, 2 }, { 14, 2, 5, 2 },
    { 28, 1, 3, 1 }, { 28, 1, 3, 2 },
}
-- Each value of each axis, and more or fewer planes than would be best, forward in the best instructions; some of them for the others.
local tested_some = { { 7, 2, 3, 1 }, { 7, 4, 3, 1 }, { 14, 1, 3, 1 }, { 14, 2, 3, 2 }, { 5, 2, 5, 1 }, { 13, 2, 7, 2 } }
local tested = {
    { 7, 1, 3, 1 }, { 7, 2, 3, 1 }, { 7, 4, 3, 1 }, { 7, 2, 7, 1 }, { 7, 4, 7, 1 }, { 7, 2, 3, 2 }, { 14, 1, 3, 1 }, { 14, 2, 3, 1 },
    { 14, 1, 3, 2 }, { 14, 2, 3, 2 }, { 14, 2, 7, 1 }, { 5, 2, 5, 1 }, { 5, 1, 9, 1 }, { 8, 1, 5, 2 }, { 13, 2, 7, 2 }, { 15, 1, 9, 2 },
    { 28, 1, 3, 1 }, { 28, 1, 3, 2 }, { 31, 1, 3, 2 }, { 2, 1, 3, 1 }, { 3, 2, 7, 1 },
}

local among = include "tables/among"

local function listed(list, c)
    return among(list, { c.image, c.planes, c.taps, c.stride })
end

local function first_math(c, arch)
    return c.math == arch.math[c.dtype][1]
end

return {
    family = "conv.depthwise_rows",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            image = { 2, 3, 5, 7, 8, 13, 14, 15, 28, 31 },
            planes = { 1, 2, 4 },
            taps = { 3, 5, 7, 9 },
            stride = { 1, 2 },
        }
    end,
    rules = {},
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return first_math(c, arch) and listed({ { 7, 2, 3, 1 } }, c)
        end,
        default = function(c, arch)
            return first_math(c, arch) and listed(c.math == "dp" and pairs_of_pixels or fp32, c)
        end,
        tests = function(c, arch)
            return listed(c.op == "conv_fwd" and first_math(c, arch) and tested or tested_some, c)
        end,
    },
}
