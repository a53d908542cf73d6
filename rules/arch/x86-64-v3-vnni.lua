-- The first isa and the first math of a dtype are the preferred ones.
return {
    about = "x86-64-v3 with dot products of int8 (AVX_VNNI)",
    backend = "cpu",
    isa = { "avx2" },
    math = { fp32 = { "fma" }, bf16 = { "fma" }, fp16 = { "fma" }, fp8 = { "fma" }, bf8 = { "fma" }, int8 = { "dp", "wide" } },
    features = { "avx_vnni" },
    lanes = 8,
    registers = 16,
}
