-- Backward-data training grid, 3D: two families of a published auto-tuning study, its order and names
-- Regenerated from the grids of Composable Kernel's tile engine (grouped convolution, machine-learning heuristics): 168 problems, all
-- different.
return {
    op = "conv_bwd_data",
    spatial = 3,
    grids = {
        {"bwdd_3d", {"i", {8, 28, 28}, {8, 56, 56}, {16, 28, 28}, {16, 56, 56}, {32, 28, 28}, {32, 56, 56}},
            {"c k", {64, 128}, {128, 256}, {128, 128}}, {"n", 1, 2, 4, 8}, {"f p", {3, 1}, {1, 0}}},
        {"bwdd_3d_sd2", {"i", {16, 28, 28}, {16, 56, 56}, {32, 28, 28}, {32, 56, 56}}, {"c k", {64, 128}, {128, 256}}, {"n", 1, 2, 4},
            f = 3, p = 1, s = {2, 1, 1}},
    },
}
