-- GEMM, wide coverage: 706 products from one row to 20480, deep and shallow, primes, language models
-- The wide-coverage set of Composable Kernel's tile engine, its order and names: 733 products are published, of which the 706 different ones are
-- kept, each in the family that has it first. (Of the 27 products of language models 15 are such repeats and are not written here.)
local function cubes(sizes)
    local axis = {"m n k"}
    for _, size in ipairs(sizes) do
        axis[#axis + 1] = {size, size, size}
    end
    return axis
end

local function primes()
    local axis = cubes{17, 31, 37, 127, 251, 509, 1021, 2039, 4093}
    for _, p in ipairs{17, 31, 37, 127, 251} do
        axis[#axis + 1] = {p, 4096, 4096}
        axis[#axis + 1] = {4096, p, 4096}
        axis[#axis + 1] = {4096, 4096, p}
    end
    return axis
end

local function no_powers_of_two()
    local axis = {"m n k"}
    for _, m in ipairs{48, 96, 192, 384, 576, 768, 1152, 1536, 2304, 3072, 4608, 6144} do
        axis[#axis + 1] = {m, m, m}
        axis[#axis + 1] = {m, 4096, 4096}
    end
    return axis
end

return {
    op = "gemm",
    unique = true,
    grids = {
        {"m1", m = 1, {"n", 512, 1024, 1536, 2048, 3072, 4096, 4608, 7168, 8192, 11008, 14336, 28672},
            {"k", 256, 512, 1024, 1536, 2048, 2304, 4096, 7168, 8192}},
        {"tiny_m", {"m", 2, 4, 8, 16}, {"n", 512, 1536, 4096, 7168}, {"k", 256, 1024, 4096, 7168}},
        {"small_m", {"m", 32, 48, 64, 96, 128}, {"n", 512, 1536, 4096, 7168, 8192}, {"k", 256, 512, 2048, 4096, 7168}},
        {"medium_m", {"m", 256, 384, 512, 768, 1024, 1536, 2048}, {"n", 512, 1536, 4096, 7168}, {"k", 256, 1024, 2048, 4096, 7168}},
        {"large_m", {"m", 4096, 8192, 12288, 16384, 20480}, {"n", 512, 1536, 4096, 7168}, {"k", 256, 1024, 2048, 7168}},
        {"square", cubes{32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}},
        {"skinny_m", {"m", 1, 4, 16, 64}, {"n", 8192, 16384, 28672}, {"k", 1024, 4096, 8192}},
        {"tall_m", {"m", 4096, 8192, 16384}, {"n", 32, 64, 128, 256}, {"k", 1024, 4096}},
        {"deep_k", {"m", 16, 64, 256}, {"n", 16, 64, 256}, {"k", 4096, 8192, 16384, 32768}},
        {"shallow_k", {"m", 1024, 4096, 8192}, {"n", 1024, 4096, 8192}, {"k", 16, 32, 64, 128}},
        {"prime", primes()},
        {"llm", {"m n k", {1, 576, 7168}, {1, 4096, 11008}, {32, 4096, 11008}, {32, 11008, 4096}, {32, 8192, 8192}, {128, 8192, 8192},
            {1, 8192, 28672}, {32, 8192, 28672}, {128, 128, 64}, {256, 256, 64}, {512, 512, 64}, {2048, 2048, 64}}},
        {"nonpow2", no_powers_of_two()},
    },
}
