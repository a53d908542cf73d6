-- Asymmetric padding: edges that differ, as in TensorFlow's SAME with stride 2, causal filters, cropped far edges
-- Our own; channels of EfficientNet-B0 and of small networks. (The published sets call problems asymmetric whose C and K differ; these are others.)
local same2 = {"f p q", {3, 0, 1}, {5, 1, 2}, {7, 2, 3}} -- SAME of an even extent at stride 2
return {
    op = "conv_fwd",
    spatial = 2,
    grids = {
        {"apad_same", {"i", 14, 28, 56, 112}, {"c k", {3, 32}, {16, 24}, {32, 64}, {64, 128}}, same2, s = 2,
            where = function(point) return point.i < 112 or point.c < 64 end},
        {"apad_same_depthwise", {"i", 14, 28, 56, 112}, {"g", 96, 144, 240, 672}, same2, s = 2, cg = 1, kg = 1,
            where = function(point) return point.i < 112 or point.g < 200 end},
        {"apad_even", {"i", 7, 14, 28}, {"c k", {16, 16}, {64, 64}, {96, 192}}, {"f p q", {2, 0, 1}, {2, 1, 0}, {4, 1, 2}, {4, 2, 1}}, {"n", 1, 4}},
        {"apad_axes", {"i", 14, 29}, {"c k", {16, 32}, {64, 64}}, {"p q", {{0, 1}, {2, 1}}, {{1, 0}, {1, 2}}, {{2, 2}, {0, 1}}}, {"s", 1, 2}, f = 3},
        {"apad_crop", {"i", 15, 28}, {"c k", {16, 32}, {64, 64}}, {"p q", {1, -1}, {2, -2}, {0, -3}}, {"s", 1, 2}, f = 3},
        {"apad_causal", spatial = 1, {"i", 100, 1000}, {"c k", {32, 32}, {128, 128}}, q = 0, {"f d p", {2, 1, 1}, {3, 1, 2}, {2, 8, 8}, {3, 4, 8}}},
        {"apad_volume", spatial = 3, {"i", {8, 14, 14}, {8, 28, 28}}, {"c k", {8, 16}, {32, 32}},
            {"f s p q", {3, 2, 0, 1}, {{5, 3, 3}, {1, 2, 2}, {2, 0, 0}, {2, 1, 1}}, {3, 1, {2, 1, 1}, {0, 1, 1}}}},
    },
}
