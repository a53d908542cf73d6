-- Gradients of depthwise weights of few channels, channels last: pixels are read where they lie, and sums of whole filter rows stay in registers.
local tested_some = { { 3, 3, 2 }, { 2, 5, 2 } }
local tested = {
    { 3, 3, 1 }, { 3, 3, 2 }, { 2, 4, 2 }, { 2, 5, 2 }, { 3, 5, 2 }, { 5, 5, 2 }, { 1, 7, 1 }, { 1, 6, 2 }, { 2, 2, 3 }, { 4, 1, 1 }, { 5, 2, 2 },
    { 6, 2, 1 }, { 7, 1, 2 },
}

local isas = include "tables/isa"

local among = include "tables/among"

local function listed(list, c)
    return among(list, { c.taps_h, c.taps_w, c.stride })
end

-- Registers of sums, and of columns that the next pixel meets again.
local function held(c)
    return c.taps_h * (c.taps_w + math.max(0, c.taps_w - c.stride))
end

return {
    family = "conv.depthwise_pixels_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = isas.isas(arch, dtype),
            math = arch.math[dtype],
            taps_h = { 1, 2, 3, 4, 5, 6, 7 },
            taps_w = { 1, 2, 3, 4, 5, 6, 7 },
            stride = { 1, 2, 3 },
        }
    end,
    rules = {
        isas.widest,
        { "fp32 that 16 registers hold, sums and the columns that are met again, is avx2's", function(c)
            return c.isa ~= "avx512vl" or c.math == "dp" or held(c) > 12
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and c.taps_h == 3 and c.taps_w == 3 and c.stride == 2
        end,
        -- Windows as high as registers allow, of the widest vectors and of eight lanes.
        default = function(c, arch)
            local eight = c.isa == "avx512vl" or (c.isa == "avx2" and c.dtype == "fp32" and held(c) <= 12)
            local rows = c.taps_w == 3 and { [3] = true } or c.taps_w == 5 and { [2] = true, [3] = true, [5] = true }
                or c.taps_w == 7 and (arch.isa[1] == "avx2" and { [1] = true } or { [2] = true, [4] = true }) or {}
            return c.math == arch.math[c.dtype][1] and c.stride <= 2 and (c.isa == arch.isa[1] or eight) and rows[c.taps_h] == true
        end,
        tests = function(c, arch)
            return listed(c.dtype == "bf16" and c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and tested or tested_some, c)
        end,
    },
}
