-- Dilated filters: segmentation networks, with stride, without padding, by axis, depthwise, three dimensions
-- Our own; dilated_pyramid are the 6, 12, 18 of DeepLab's pyramid on MobileNetV2's 320 channels at 33x33.
return {
    op = "conv_fwd",
    spatial = 2,
    grids = {
        {"dilated_pyramid", i = 33, {"c k", {160, 256}, {320, 256}}, f = 3, {"d p", {6, 6}, {12, 12}, {18, 18}, {24, 24}}},
        {"dilated_same", {"i", 14, 28, 65}, {"c k", {16, 16}, {32, 64}, {96, 96}}, {"f d p", {3, 2, 2}, {3, 3, 3}, {3, 8, 8}, {5, 2, 4}},
            {"n", 1, 4}},
        {"dilated_valid", {"i", 20, 41}, {"c k", {8, 8}, {48, 80}}, {"f d", {2, 5}, {3, 2}, {3, 7}, {5, 3}}, {"n", 1, 2}},
        {"dilated_stride", {"i", 28, 57}, {"c k", {16, 32}, {64, 64}}, {"s", 2, 3}, {"f d p", {3, 2, 2}, {3, 3, 3}, {5, 2, 4}}},
        {"dilated_axis", {"i", 28, {16, 50}}, {"c k", {16, 32}, {64, 64}}, f = 3, {"d p", {{1, 2}, {1, 2}}, {{4, 1}, {4, 1}}, {{2, 5}, {2, 5}}}},
        {"dilated_depthwise", {"i", 14, 33, 65}, {"g", 96, 384}, cg = 1, kg = 1, {"f d p", {3, 2, 2}, {3, 4, 4}, {5, 2, 4}, {7, 3, 9}}},
        {"dilated_volume", spatial = 3, {"i", {8, 14, 14}, {16, 28, 28}}, {"c k", {8, 8}, {32, 32}}, f = 3, {"d p", {2, 2}, {{1, 2, 2}, {1, 2, 2}}}},
    },
}
