-- Compiled in, one kernel for each type; it serves every legal problem, so every set has it.
return {
    family = "gemm.reference",
    ops = { "gemm" },
    dtypes = { "fp32", "bf16", "fp16", "fp8", "bf8", "int8" },
    axes = function(arch, op, dtype)
        return {}
    end,
    rules = {},
}
