-- The first isa and the first math of a dtype are the preferred ones.
return {
    about = "x86-64-v4 with products of bf16 pairs (AVX512_BF16)",
    backend = "cpu",
    isa = { "avx512", "avx2" },
    math = { fp32 = { "fma" }, bf16 = { "dp", "fma" }, fp16 = { "fma" } },
    lanes = 16,
    registers = 32,
}
