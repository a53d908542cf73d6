-- One dimension: speech and time series, dense, strided, dilated and grouped
-- Our own; conv1d_speech is the feature extractor of wav2vec 2.0 on one second of sound and its positional convolution, conv1d_causal the
-- dilated stack of WaveNet and of temporal convolutional networks. Sweeps of the rest stay below 2 GFLOP.
local function small(point)
    return 2 * point.n * point.c * point.k * point.i * point.f <= 2e9
end
return {
    op = "conv_fwd",
    spatial = 1,
    grids = {
        {"conv1d_speech", {"i c k f s", {16000, 1, 512, 10, 5}, {3199, 512, 512, 3, 2}, {1599, 512, 512, 3, 2}, {799, 512, 512, 3, 2},
            {399, 512, 512, 3, 2}, {199, 512, 512, 2, 2}, {99, 512, 512, 2, 2}}},
        {"conv1d_position", i = 49, g = 16, cg = 48, kg = 48, f = 128, p = 64, {"n", 1, 2}},
        {"conv1d_dense", {"i", 50, 128, 500, 2000}, {"c k", {16, 32}, {64, 64}, {128, 256}, {40, 512}}, {"f p", {1, 0}, {3, 1}, {7, 3}, {15, 7}},
            {"n", 1, 8}, where = small},
        {"conv1d_stride", {"i", 256, 4000}, {"c k", {1, 32}, {32, 64}, {64, 128}}, {"f s p", {4, 2, 1}, {8, 4, 2}, {16, 8, 4}}, {"n", 1, 4},
            where = small},
        {"conv1d_causal", {"i", 250, 2000}, {"c k", {32, 32}, {64, 128}}, q = 0,
            {"f d p", {2, 1, 1}, {2, 2, 2}, {2, 16, 16}, {2, 128, 128}, {3, 4, 8}, {3, 32, 64}}},
        {"conv1d_grouped", {"g", 2, 4, 16}, {"cg kg", {8, 8}, {16, 32}, {32, 16}}, {"i", 100, 1000}, {"f p", {3, 1}, {9, 4}}},
    },
}
