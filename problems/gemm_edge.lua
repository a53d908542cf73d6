-- GEMM, edge dimensions: 546 products with N or K of 1, or few
-- The edge set of Composable Kernel's tile engine, its order and names; a product that two families have is kept in the first.
local lengths = {"m", 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192}
return {
    op = "gemm",
    unique = true,
    grids = {
        {"n1", lengths, n = 1, {"k", 1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 7168, 8192}},
        {"k1", lengths, {"n", 1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 7168, 8192}, k = 1},
        {"small_n", {"m", 64, 256, 1024, 4096}, {"n", 2, 3, 4, 7, 8, 15, 16}, {"k", 64, 256, 1024, 4096}},
        {"small_k", {"m", 64, 256, 1024, 4096}, {"n", 64, 256, 1024, 4096}, {"k", 2, 3, 4, 7, 8, 15, 16}},
    },
}
