-- Grouped and depthwise: groups of 1 to 112 channels, filters 3 to 7 and wide ones, stride 1 and 2, odd counts of groups
-- Our own. Groups and channels are ladders and not those of a network.
return {
    op = "conv_fwd",
    spatial = 2,
    unique = true,
    grids = {
        {"each", {"i", 7, 10, 14, 20, 28, 40, 56, 80, 112}, {"g", 16, 24, 40, 48, 72, 120, 128, 200, 320, 480, 640}, {"f p", {3, 1}, {5, 2}, {7, 3}},
            {"s", 1, 2}, {"n", 1, 4, 8}, cg = 1, kg = 1, where = function(point) return point.n * point.g * point.i ^ 2 <= 2e6 end},
        {"each_wide", {"i", 12, 24, 48}, {"g", 64, 160}, {"f p", {9, 4}, {11, 5}, {15, 7}}, {"n", 1, 2}, cg = 1, kg = 1},
        {"few", {"i", 7, 10, 14, 20, 28, 40, 56}, {"g", 2, 4, 8, 12, 16, 24, 32, 48}, {"cg kg", {2, 2}, {4, 4}, {8, 8}, {8, 16}, {16, 16}, {16, 8}, {24, 24}},
            {"f p", {3, 1}, {5, 2}, {1, 0}}, {"s", 1, 2}, {"n", 1, 4, 8}, where = function(point) return point.s == 1 or point.f > 1 end},
        {"many", {"i", 7, 14, 28, 56}, {"g", 2, 3, 4, 6, 8}, {"cg kg", {32, 32}, {40, 40}, {48, 96}, {64, 64}, {96, 96}, {112, 112}},
            {"f p", {3, 1}, {1, 0}, {5, 2}}, {"s", 1, 2}, {"n", 1, 2, 8}, where = function(point) return point.s == 1 or point.f > 1 end},
    },
}
