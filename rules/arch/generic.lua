-- Any other machine: only the families that are compiled in run here.
return {
    about = "any processor; compiled-in kernels only",
    backend = "cpu",
    isa = {},
    math = { fp32 = {}, bf16 = {}, fp16 = {}, fp8 = {}, bf8 = {}, int8 = {} },
    features = {},
    lanes = 4,
    registers = 16,
}
