-- Backward data into few channels a group: the taps and channels of a filter slice are the columns of one product.
return {
    family = "conv.gemm_col2im",
    ops = { "conv_bwd_data" },
    dtypes = { "fp32", "bf16", "fp16" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_w = { 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 28 },
            vecs = { 1, 2, 3, 4, 5 },
            band = { 0, 16 },
        }
    end,
    rules = {
        { "fewer than 7 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_w * c.vecs >= 7
        end },
    },
}
