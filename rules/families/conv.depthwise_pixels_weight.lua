-- Gradients of depthwise weights of few channels, channels last: pixels are read where they lie, and sums of whole filter rows stay in registers.
local tested_some = { { 3, 3, 2 }, { 3, 5, 2 } }
local tested = { { 3, 3, 1 }, { 3, 3, 2 }, { 2, 4, 2 }, { 3, 5, 2 }, { 1, 7, 1 }, { 1, 6, 2 }, { 2, 2, 3 }, { 4, 1, 1 }, { 5, 5, 2 }, { 6, 3, 2 }, { 7, 3, 1 } }

local isas = include "tables/isa"

local function listed(list, c)
    for _, row in ipairs(list) do
        if row[1] == c.taps_h and row[2] == c.taps_w and row[3] == c.stride then
            return true
        end
    end
    return false
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
    rules = { isas.widest },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and c.taps_h == 3 and c.taps_w == 3 and c.stride == 2
        end,
        default = function(c, arch)
            return c.math == arch.math[c.dtype][1] and (c.isa == arch.isa[1] or c.isa == "avx512vl") and c.stride <= 2 and (
                (c.taps_w == 3 and c.taps_h == 3) or (c.taps_w == 5 and (c.taps_h == 2 or c.taps_h == 3 or c.taps_h == 5))
                or (c.taps_w == 7 and (c.taps_h == 1 or c.taps_h == 2 or c.taps_h == 4)))
        end,
        tests = function(c, arch)
            return listed(c.dtype == "bf16" and c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and tested or tested_some, c)
        end,
    },
}
