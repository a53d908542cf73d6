-- First layers: one to eight channels in, filters 3 to 11 with stride 1 to 4; patches of 2 to 32; last layers
-- Our own. Few channels leave vectors half empty in one direction or another, so other kernels win here than anywhere else. Sizes are ladders and
-- not those of a network.
return {
    op = "conv_fwd",
    spatial = 2,
    unique = true,
    grids = {
        {"first_image", {"i", 28, 32, 64, 96, 128, 160, 192, 256}, {"c", 1, 2, 3, 4, 6, 8}, {"k", 16, 24, 32, 48, 64, 96, 128},
            {"f s p", {3, 1, 1}, {3, 2, 1}, {5, 1, 2}, {5, 2, 2}, {7, 1, 3}, {7, 2, 3}, {9, 1, 4}, {11, 4, 2}}, {"n", 1, 4, 8}},
        {"first_large", {"i", 224, 240, 299, 384, 512}, {"c", 1, 3, 4}, {"k", 16, 40, 48, 80}, {"f s p", {3, 1, 1}, {3, 2, 0}, {6, 2, 2}, {7, 2, 2}}},
        {"first_patch", {"i", 32, 64, 112, 160, 192, 256, 384}, {"c", 1, 2, 3, 4, 8}, {"k", 32, 64, 128, 192, 384, 768},
            {"f s", {2, 2}, {4, 4}, {7, 7}, {8, 8}, {14, 14}, {16, 16}, {32, 32}}, {"n", 1, 2, 8},
            where = function(point) return point.i >= 4 * point.f end},
        {"first_unpadded", {"i", 40, 84, 105, 150}, {"c", 1, 3, 4}, {"k", 16, 32, 64}, {"f s", {3, 2}, {5, 1}, {5, 3}, {8, 4}, {11, 4}}, {"n", 1, 4}},
        {"last_image", {"i", 32, 64, 128, 256}, {"c", 16, 32, 64}, {"k", 1, 2, 3, 4}, {"f p", {1, 0}, {3, 1}, {5, 2}, {9, 4}}, {"n", 1, 4}},
    },
}
