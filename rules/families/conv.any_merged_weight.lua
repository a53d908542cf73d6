-- Weight gradient of narrow groups of any width: the sums of a window of taps (taps_h x taps_w) are held at once; 1x1 serves any filter,
-- stride and dilation.
local windows = include "tables/windows"

-- taps_h, taps_w, stride, tile_h, tile_w
local default = {
    avx512 = {
        { 3, 3, 1, 4, 4 }, { 3, 3, 1, 2, 8 }, { 3, 3, 1, 1, 8 }, { 3, 3, 2, 1, 7 }, { 3, 3, 2, 2, 2 }, { 5, 5, 1, 1, 4 }, { 5, 5, 1, 2, 2 },
        { 5, 5, 2, 2, 2 }, { 1, 5, 2, 1, 8 }, { 1, 3, 1, 1, 14 }, { 1, 1, 1, 1, 14 },
    },
    avx2 = {
        { 3, 3, 1, 2, 2 }, { 3, 3, 1, 1, 4 }, { 3, 3, 2, 2, 2 }, { 3, 3, 2, 1, 4 }, { 2, 5, 1, 2, 2 }, { 1, 5, 2, 1, 8 }, { 1, 5, 1, 2, 4 },
        { 1, 1, 1, 1, 8 },
    },
}
-- Of these, where a vector's groups have more channels than one vector.
local far = {
    avx512 = { { 3, 3, 1, 2, 8 }, { 3, 3, 2, 1, 7 }, { 5, 5, 1, 1, 4 }, { 1, 1, 1, 1, 14 } },
    avx2 = { { 3, 3, 1, 2, 2 }, { 3, 3, 2, 2, 2 }, { 1, 5, 2, 1, 8 }, { 1, 5, 1, 2, 4 }, { 1, 1, 1, 1, 8 } },
}
-- Every value of every axis, with each side of lanes and each reach.
local tests = {
    { 3, 3, 1, 1, 4 }, { 1, 1, 1, 2, 4 }, { 2, 5, 1, 2, 2 }, { 5, 5, 1, 1, 4 }, { 1, 5, 2, 1, 8 }, { 1, 3, 2, 1, 14 }, { 1, 7, 1, 1, 7 },
    { 3, 3, 2, 2, 2 }, { 1, 3, 1, 4, 2 },
}

return {
    family = "conv.any_merged_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = { "fma" },
            tile_h = { 1, 2, 4 },
            tile_w = { 2, 4, 7, 8, 14 },
            taps_h = { 1, 2, 3, 5 },
            taps_w = { 1, 3, 5, 7 },
            stride = { 1, 2 },
            lanes = { "c", "k" },
            reach = { 1, 2 },
        }
    end,
    rules = {
        { "windows are square, or one or two rows of taps", function(c)
            return c.taps_h == c.taps_w or c.taps_h <= 2
        end },
        windows.few_pixels,
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == 1 and c.tile_w == 8 and c.lanes == "k" and c.reach == 2
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and windows.place((c.reach == 1 and default or far)[c.isa], c) ~= nil
        end,
        tests = function(c, arch)
            local at = windows.place(tests, c)
            local turned = (at or 0) % 2 == (c.lanes == "c" and 0 or 1)
            return at ~= nil and turned and ((at % 4 < 2) == (c.reach == 2)) and (c.dtype == "fp32" or at == 1)
        end,
    },
}
