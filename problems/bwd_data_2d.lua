-- Backward-data training grid, 2D: 11 families of a published auto-tuning study, its order and names
-- Regenerated from the grids of Composable Kernel's tile engine (grouped convolution, machine-learning heuristics): 1482 problems, 1394 of
-- them different; repeats stay, as published.
local pointwise, same3 = {1, 0}, {3, 1} -- filter, padding
return {
    op = "conv_bwd_data",
    spatial = 2,
    grids = {
        {"bwdd_small_sp", {"i", 7, 14}, {"c", 256, 512, 1024}, {"k", 64, 128, 256, 512, 1024}, {"n", 1, 4, 8, 16, 32},
            {"f p", pointwise, same3}, where = function(point) return point.c + point.k < 2048 end},
        {"bwdd_medium_sp", {"i", 28, 32, 56}, {"c", 64, 128, 256, 512}, {"k", 64, 128, 256, 512}, {"n", 2, 4, 8, 16, 32},
            {"f p", pointwise, same3}},
        {"large", i = 112, {"c", 32, 64, 128, 256}, {"k", 64, 128, 256}, {"n", 1, 2, 4, 8},
            {"name f s p", {"bwdd_large_sp", 3, 1, 1}, {"bwdd_large_sp7", 7, 2, 3}},
            where = function(point) return point.f == 3 or point.c <= 128 end},
        {"bwdd_asym", {"i", 14, 28, 56}, {"c k", {64, 256}, {128, 512}, {256, 64}, {256, 128}, {512, 256}}, {"n", 4, 8, 16},
            {"f p", pointwise, same3}},
        {"bwdd_tiny_batch", {"n", 1, 2}, {"i", 7, 14, 28, 56}, {"c k", {64, 128}, {128, 256}, {256, 512}, {512, 1024}}, f = 1},
        {"bwdd_large_batch", {"n", 64, 128}, {"i", 14, 28}, {"c k", {64, 64}, {128, 128}, {256, 256}}, f = 3, p = 1},
        {"bwdd_grouped", {"g", 2, 4, 8}, {"i", 14, 28, 56}, {"cg kg", {64, 64}, {128, 128}, {256, 256}}, {"n", 1, 4, 8, 16},
            {"f p", same3, pointwise}},
        {"bwdd_depthwise", {"i", 14, 28, 56, 112}, {"g", 64, 128, 256, 512}, {"n", 1, 4, 8}, cg = 1, kg = 1, f = 3, p = 1},
        {"bwdd_stride2", {"i", 28, 56, 112}, {"c k", {64, 128}, {128, 256}, {256, 512}, {128, 128}, {256, 256}}, {"n", 1, 4, 8, 16},
            f = 3, s = 2, p = 1},
        {"bwdd_dilated", {"d p", {2, 2}, {4, 4}, {6, 6}}, {"i", 14, 28, 56},
            {"c k", {64, 128}, {128, 256}, {256, 512}, {128, 128}, {256, 256}}, {"n", 1, 4, 8, 16}, f = 3},
    },
}
