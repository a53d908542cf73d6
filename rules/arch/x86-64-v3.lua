-- The first isa and the first math of a dtype are the preferred ones.
return {
    about = "x86-64 with AVX2, FMA and F16C",
    backend = "cpu",
    isa = { "avx2" },
    math = { fp32 = { "fma" }, bf16 = { "fma" }, fp16 = { "fma" }, fp8 = { "fma" }, bf8 = { "fma" }, int8 = { "wide" } },
    features = {},
    lanes = 8,
    registers = 16,
}
