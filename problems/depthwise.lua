-- Depthwise: one input channel a group, in one, two and three dimensions, with multipliers and strides
-- Our own; channels of MobileNetV2, EfficientNet and ConvNeXt, filters 3 to 7 (31 in one dimension).
return {
    op = "conv_fwd",
    spatial = 2,
    grids = {
        {"dw_1d", spatial = 1, {"n i", {1, 1000}, {8, 128}, {32, 64}}, {"g", 32, 256}, cg = 1, {"kg", 1, 2}, {"f p", {3, 1}, {5, 2}, {31, 15}},
            {"s", 1, 2}},
        {"dw_2d", {"i", 7, 14, 28, 56, 112}, {"g", 32, 96, 240, 576, 960}, {"f p", {3, 1}, {5, 2}, {7, 3}}, {"s", 1, 2}, cg = 1, kg = 1,
            where = function(point) return point.g * point.i ^ 2 <= 2e6 end},
        {"dw_2d_batch", {"n", 8, 32}, {"i", 14, 28}, {"g", 96, 384}, {"f p", {3, 1}, {5, 2}}, {"s", 1, 2}, cg = 1, kg = 1},
        {"dw_2d_multiplier", {"kg", 2, 3, 4}, {"i", 14, 28}, {"g", 16, 64, 160}, {"s", 1, 2}, n = 4, cg = 1, f = 3, p = 1},
        {"dw_2d_odd", {"i", 5, 13, 33}, {"g", 3, 17, 100}, {"f p", {2, 0}, {3, 1}}, cg = 1, kg = 1},
        {"dw_3d", spatial = 3, {"i", {8, 7, 7}, {8, 14, 14}, {16, 28, 28}, {4, 56, 56}}, {"g", 16, 64, 200},
            {"f p", {3, 1}, {{5, 3, 3}, {2, 1, 1}}, {{1, 3, 3}, {0, 1, 1}}}, {"s", 1, {1, 2, 2}, 2}, cg = 1, kg = 1},
        {"dw_3d_multiplier", spatial = 3, {"i", {8, 14, 14}, {4, 28, 28}}, {"g", 16, 48}, cg = 1, kg = 2, {"s", 1, 2}, f = 3, p = 1},
    },
}
