-- Narrow groups of any width: a tile's code handles a window of taps (taps_h x taps_w) at once; 1x1 serves any filter, stride and dilation.
local windows = include "tables/windows"

-- taps_h, taps_w, stride, tile_h, tile_w
local default = {
    avx512 = {
        { 1, 3, 1, 1, 14 }, { 1, 3, 1, 1, 7 }, { 3, 3, 1, 2, 4 }, { 1, 3, 2, 1, 14 }, { 1, 3, 2, 1, 7 }, { 1, 3, 2, 1, 8 }, { 3, 3, 2, 2, 4 },
        { 1, 5, 1, 1, 14 }, { 1, 5, 1, 1, 7 }, { 1, 5, 2, 1, 14 }, { 1, 5, 2, 1, 7 }, { 1, 1, 1, 1, 14 },
    },
    avx2 = {
        { 1, 3, 1, 1, 7 }, { 1, 3, 1, 1, 8 }, { 1, 3, 2, 1, 7 }, { 1, 3, 2, 1, 8 }, { 1, 5, 1, 1, 7 }, { 1, 5, 2, 1, 7 }, { 1, 5, 2, 1, 8 },
        { 1, 1, 1, 1, 8 },
    },
}
-- int8 as whole numbers: products are so few that permutations weigh more, and tiles of fewer, shorter rows win.
local default_int8 = {
    { 1, 3, 1, 1, 14 }, { 1, 3, 1, 1, 8 }, { 1, 3, 1, 1, 7 }, { 3, 3, 1, 2, 4 }, { 1, 3, 2, 1, 7 }, { 1, 3, 2, 1, 8 }, { 3, 3, 2, 2, 4 },
    { 3, 3, 2, 1, 7 }, { 1, 5, 1, 1, 14 }, { 1, 5, 1, 1, 7 }, { 1, 5, 2, 1, 8 }, { 1, 1, 1, 1, 14 },
}
-- The preferred one of those that the family has.
local function best_math(c, arch)
    for _, math in ipairs(arch.math[c.dtype]) do
        if c.dtype ~= "int8" or math ~= "amx" then
            return c.dtype ~= "int8" or c.math == math
        end
    end
    return false
end
-- Every value of every axis.
local tests = {
    { 3, 3, 1, 2, 2 }, { 1, 3, 2, 1, 8 }, { 1, 1, 1, 1, 4 }, { 1, 5, 1, 1, 7 }, { 3, 3, 2, 2, 4 }, { 1, 1, 1, 1, 14 },
}

return {
    family = "conv.any_merged",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = dtype == "int8" and arch.math.int8 or { "fma" },
            tile_h = { 1, 2 },
            tile_w = { 2, 4, 7, 8, 14 },
            taps_h = { 1, 3 },
            taps_w = { 1, 3, 5 },
            stride = { 1, 2 },
            reach = { 1, 2 },
        }
    end,
    rules = {
        { "windows are square, or one row of taps", function(c)
            return c.taps_h == c.taps_w or c.taps_h == 1
        end },
        windows.few_pixels,
        (include "tables/isa").widest,
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == 1 and c.tile_w == 8 and c.reach == 1
        end,
        default = function(c, arch)
            local list = c.dtype == "int8" and c.isa == "avx512" and default_int8 or default[c.isa]
            return c.isa == arch.isa[1] and best_math(c, arch) and windows.place(list, c) ~= nil
        end,
        tests = function(c, arch)
            local at = windows.place(tests, c)
            if c.dtype == "int8" then
                return at == 2 and c.reach == 1 or at == 1 and c.reach == (c.math == "dp" and 2 or 1)
            end
            return at ~= nil and (at % 2 == 0) == (c.reach == 1) and (at == 2 or c.dtype == "fp32" and (at == 1 or c.op == "conv_fwd"))
        end,
    },
}
