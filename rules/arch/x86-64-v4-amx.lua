-- The first isa and the first math of a dtype are the preferred ones; tables/isa.lua adds amx, and the narrow isas, for families that have them.
return {
    about = "x86-64-v4-bf16 with tiles of bf16 and int8 (AMX)",
    backend = "cpu",
    isa = { "avx512", "avx2" },
    narrow = { "avx512vl" },
    math = { fp32 = { "fma" }, bf16 = { "dp", "fma" }, fp16 = { "fma" }, fp8 = { "fma" }, bf8 = { "fma" }, int8 = { "dp", "wide" } },
    features = { "bf16", "vnni", "amx" },
    lanes = 16,
    registers = 32,
}
