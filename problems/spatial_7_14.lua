-- Extents 7 and 14: the last stages of image networks, which published forward grids pass over
-- Our own; channels of ResNet, ResNeXt, MobileNetV2, EfficientNet-B0 and ConvNeXt. Problems above 2 GFLOP are left out.
local function small(point)
    local channels = (point.c or point.g * point.cg) * (point.k or point.g * point.kg) // (point.g or 1)
    local out = (point.i // (point.s or 1)) ^ 2
    return 2 * point.n * channels * out * point.f ^ 2 <= 2e9
end
return {
    op = "conv_fwd",
    spatial = 2,
    grids = {
        {"s714_pointwise", {"i", 7, 14}, {"c k", {160, 960}, {960, 160}, {320, 1280}, {512, 2048}, {2048, 512}, {1024, 256}, {256, 1024},
            {768, 3072}, {3072, 768}, {384, 1536}, {1536, 384}, {112, 672}, {672, 112}, {96, 576}, {576, 96}}, {"n", 1, 4, 16}, f = 1,
            where = small},
        {"s714_dense", {"i", 7, 14}, {"c k", {64, 64}, {128, 128}, {160, 160}, {192, 192}, {256, 256}, {384, 384}, {512, 512}},
            {"n", 1, 2, 4, 16}, f = 3, p = 1, where = small},
        {"s714_stride", i = 14, {"c k", {96, 160}, {256, 512}, {384, 768}, {512, 512}}, {"f p", {1, 0}, {2, 0}, {3, 1}}, {"n", 1, 4, 16}, s = 2,
            where = small},
        {"s714_grouped", {"i", 7, 14}, {"g cg kg", {32, 8, 8}, {32, 16, 16}, {32, 32, 32}, {8, 40, 40}, {2, 64, 64}}, {"n", 1, 4, 16}, f = 3, p = 1,
            where = small},
        {"s714_depthwise", {"i", 7, 14}, {"g", 96, 384, 576, 672, 768, 960}, {"f p", {3, 1}, {5, 2}, {7, 3}}, {"n", 1, 16}, cg = 1, kg = 1},
    },
}
