-- Dense backward weight. A tile is tile channels of one tensor, spread one by one, times vecs vectors of the other's.
return {
    family = "conv.weight",
    ops = { "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            lanes = { "k", "c" },
            tile = { 4, 6, 7, 8, 12, 14, 16 },
            vecs = { 1, 2, 3, 4, 6 },
            copy = { 0, 1 },
            merge = { 0, 1 },
            box = { 0, 128 },
        }
    end,
    rules = {
        { "fewer than 4 sums in flight leave the multiply-add units idle", function(c)
            return c.tile * c.vecs >= 4
        end },
    },
}
