-- The first isa and the first math of a dtype are the preferred ones; narrow: isas of families that ask for them (tables/isa.lua).
return {
    about = "x86-64-v4 with dot products of bf16 and int8 (AVX512_BF16, AVX512_VNNI)",
    backend = "cpu",
    isa = { "avx512", "avx2" },
    narrow = { "avx512vl" },
    math = { fp32 = { "fma" }, bf16 = { "dp", "fma" }, fp16 = { "fma" }, fp8 = { "fma" }, bf8 = { "fma" }, int8 = { "dp", "wide" } },
    features = { "bf16", "vnni" },
    lanes = 16,
    registers = 32,
}
