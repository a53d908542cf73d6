-- Dense backward weight. A tile is tile spread channels times vecs vectors of the other tensor's channels, for one tap.
return {
    family = "conv.direct_bwd_weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16", "fp8", "bf8", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = dtype == "fp32" and (include "tables/isa").isas(arch, dtype) or arch.isa,
            math = (include "tables/isa").maths(arch, dtype),
            lanes = { "c", "k" },
            tile = { 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 28, 32, 48, 64 },
            vecs = { 1, 2, 3, 4, 5, 6 },
            copy = dtype == "fp32" and { 0, 1, 2 } or dtype == "bf16" and { 1, 2 } or { 1 },
            merge = dtype == "fp32" and { 0, 1, 2, 3, 4, 5 } or dtype == "bf16" and { 0, 1, 3, 5 } or { 0, 1 },
            box = { 0, 128 },
        }
    end,
    rules = {
        { "more than 16 spread channels are for AMX, or for fp32 beside one vector of 16 lanes, where each load less counts", function(c, arch)
            return c.math == "amx" or c.tile <= 16 or (c.dtype == "fp32" and c.isa == "avx512" and c.vecs == 1 and c.box == 0)
        end },
        (include "tables/isa").widest,
        { "several filter rows are merged where that saves reading y where it lies again", function(c)
            return c.merge <= 1 or (c.copy ~= 1 and (c.dtype ~= "fp32" or (c.isa == "avx512" and c.vecs == 1 and c.box == 0)))
        end },
        { "isa=avx512vl is for filter rows beside y where it lies, and for more sums than the registers of avx2 hold", function(c)
            return c.isa ~= "avx512vl" or (c.lanes == "k" and c.copy == 2 and c.box == 0 and c.tile * c.vecs + c.vecs + 1 > 16)
        end },
        { "fewer than 7 sums in flight leave the multiply-add units idle; groups of few channels fill no more than 4", function(c)
            return c.tile * c.vecs * math.max(c.merge, 1) >= 7 or (c.tile == 4 and c.vecs == 1)
        end },
    },
}
