-- One kernel for each direction and type; it serves every legal problem, so every set has it.
return {
    family = "conv.reference_gpu",
    ops = { "conv_fwd", "conv_bwd_data", "conv_bwd_weight" },
    dtypes = { "fp32", "bf16", "fp16", "fp8", "bf8", "int8" },
    axes = function(arch, op, dtype)
        return {}
    end,
    rules = {},
}
