-- Tiles are named by axis values, the instruction set's own list for each. The lists hold what wins somewhere: full tiles for long rows, square
-- ones for small images, few vectors for few channels.

local among = include "tables/among"

-- The machine's best instructions only.
local function preferred(c, arch)
    return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
end

-- int8 where fp32 holds the sums.
local function short_sums(c, arch)
    return c.dtype == "int8" and c.isa == arch.isa[1]
end

-- The narrower vectors of a machine that has wider ones: channels that fill half a vector more leave fewer lanes idle in them.
local function narrower(c, arch)
    return (c.dtype == "fp32" or c.isa == "avx512vl") and c.isa ~= arch.isa[1]
end

-- The same of depthwise kernels: of fewer channels than a vector has each pixel is copied.
local function few_channels(c, arch)
    return (c.dtype == "fp32" or c.dtype == "bf16") and c.isa ~= arch.isa[1] and c.math == "fma"
end

-- tile_h, tile_w, vecs, edge; as many widths as rows may have, for what a tile has more than its row is lost
local direct = {
    avx512 = {
        { 1, 14, 2, "skip" }, { 1, 7, 2, "skip" }, { 2, 7, 2, "skip" }, { 1, 9, 3, "skip" },
        { 1, 8, 1, "skip" }, { 1, 10, 1, "skip" }, { 1, 16, 1, "skip" }, { 1, 5, 2, "skip" }, { 1, 6, 2, "skip" }, { 1, 9, 2, "skip" },
        { 1, 10, 2, "skip" }, { 1, 4, 3, "skip" }, { 1, 5, 3, "skip" }, { 1, 6, 3, "skip" }, { 1, 7, 3, "skip" }, { 1, 3, 4, "skip" },
        { 1, 4, 4, "skip" }, { 1, 5, 4, "skip" }, { 1, 6, 4, "skip" }, { 2, 4, 3, "skip" }, { 1, 8, 2, "skip" }, { 1, 8, 3, "skip" },
        { 1, 11, 2, "skip" }, { 1, 12, 2, "pad" }, { 1, 13, 2, "skip" }, { 1, 14, 1, "pad" }, { 1, 28, 1, "skip" },
        { 1, 4, 2, "skip" }, { 1, 12, 2, "skip" }, { 1, 7, 1, "skip" }, { 1, 9, 1, "skip" }, { 1, 11, 1, "skip" }, { 1, 12, 1, "skip" },
        { 1, 13, 1, "skip" }, { 1, 14, 1, "skip" }, { 2, 3, 2, "skip" }, { 2, 4, 2, "skip" }, { 2, 5, 2, "skip" }, { 2, 6, 2, "skip" },
        { 2, 3, 4, "skip" }, { 2, 6, 1, "skip" }, { 2, 1, 4, "skip" }, { 3, 1, 4, "skip" }, { 4, 1, 4, "skip" }, { 4, 1, 2, "skip" },
        { 5, 1, 2, "skip" }, { 2, 2, 4, "skip" }, { 2, 2, 2, "skip" }, { 3, 2, 4, "skip" }, { 3, 2, 2, "skip" }, { 4, 2, 2, "skip" },
        { 5, 2, 1, "skip" }, { 1, 4, 1, "skip" }, { 1, 5, 1, "skip" }, { 1, 6, 1, "skip" },
    },
    avx2 = {
        { 1, 3, 3, "skip" }, { 1, 4, 2, "skip" }, { 1, 8, 1, "skip" }, { 1, 10, 1, "skip" },
        { 1, 6, 2, "skip" }, { 1, 6, 2, "pad" }, { 1, 4, 3, "skip" }, { 1, 5, 2, "skip" }, { 1, 7, 1, "skip" }, { 1, 13, 1, "skip" },
        { 1, 14, 1, "skip" }, { 2, 7, 1, "skip" }, { 2, 1, 4, "skip" }, { 3, 1, 3, "skip" }, { 4, 1, 3, "skip" }, { 5, 1, 2, "skip" },
        { 2, 2, 3, "skip" }, { 3, 2, 2, "skip" }, { 4, 2, 1, "skip" }, { 5, 2, 1, "skip" },
    },
}
-- The same of tiles beside the machine's best vectors.
local direct_narrower = {
    avx2 = {
        { 1, 4, 3, "skip" }, { 1, 3, 3, "skip" }, { 1, 6, 2, "skip" }, { 1, 5, 2, "skip" }, { 1, 4, 2, "skip" }, { 2, 3, 2, "skip" },
        { 1, 13, 1, "skip" }, { 1, 12, 1, "skip" }, { 1, 10, 1, "skip" }, { 1, 8, 1, "skip" }, { 1, 7, 1, "skip" }, { 3, 1, 3, "skip" },
    },
    avx512vl = {
        { 1, 5, 5, "skip" }, { 1, 4, 5, "skip" }, { 1, 3, 7, "skip" }, { 1, 9, 3, "skip" }, { 1, 7, 3, "skip" }, { 1, 5, 3, "skip" },
        { 1, 28, 1, "skip" },
    },
}
local first_narrower = { avx2 = { { 6, 2 }, { 4, 3 }, { 14, 1 }, { 10, 1 } }, avx512vl = { { 5, 5 }, { 8, 3 } } }
local rows_narrower = {
    avx2 = { { 6, 2 }, { 4, 3 }, { 5, 2 }, { 12, 1 }, { 10, 1 }, { 8, 1 } },
    avx512vl = { { 5, 5 }, { 3, 7 }, { 8, 3 } },
}
-- tile_w or tile_m, vecs; for tiles of AMX, beside the list of the machine's best vectors. One vector is for groups of few results, three are for first
-- layers of 96 channels.
local amx = { { 32, 2 }, { 16, 4 }, { 16, 2 }, { 64, 1 } }
local amx_direct = { { 32, 2 }, { 16, 4 }, { 16, 2 }, { 64, 1 }, { 32, 1 } }
local amx_weight = { { 32, 2 }, { 16, 4 }, { 64, 1 }, { 32, 3 }, { 48, 2 } }
local amx_weight_rows = { { 32, 2 }, { 64, 1 }, { 32, 3 } } -- filter rows are channels
local amx_first = { { 32, 2 }, { 16, 4 }, { 16, 3 }, { 16, 2 }, { 64, 1 } }
-- tile_w, vecs; all pixels of a tile are summed, so there are widths by which usual rows are whole tiles
local first = {
    avx512 = {
        { 14, 2 }, { 7, 2 }, { 8, 2 }, { 8, 3 }, { 6, 4 }, { 12, 2 }, { 16, 1 }, { 28, 1 }, { 10, 1 }, { 13, 1 }, { 20, 1 }, { 25, 1 }, { 10, 2 },
        { 11, 2 }, { 13, 2 }, { 5, 3 }, { 7, 3 }, { 9, 3 },
    },
    avx2 = { { 6, 2 }, { 4, 3 }, { 7, 1 }, { 14, 1 } },
}
-- tile_w, vecs; vectors that hold the columns of usual filters without much rest
local scatter = {
    avx512 = { { 14, 2 }, { 28, 1 }, { 6, 4 }, { 9, 3 }, { 8, 3 }, { 5, 5 }, { 14, 1 } },
    avx2 = { { 6, 2 }, { 4, 3 }, { 12, 1 }, { 7, 1 } },
}
-- tile_m, vecs
local pointwise = {
    avx512 = {
        { 7, 2 }, { 14, 2 }, { 8, 2 }, { 12, 2 }, { 8, 3 }, { 4, 3 }, { 4, 4 }, { 6, 4 }, { 14, 1 }, { 28, 1 }, { 9, 2 }, { 10, 2 }, { 13, 2 },
        { 5, 4 }, { 10, 1 }, { 13, 1 },
    },
    avx2 = { { 6, 2 }, { 4, 3 }, { 7, 1 }, { 12, 1 }, { 14, 1 }, { 5, 2 }, { 10, 1 } },
}
-- tile_m, vecs; the small ones are for products of few rows
local gemm = {
    avx512 = {
        { 8, 2 }, { 8, 3 }, { 6, 4 }, { 4, 4 }, { 4, 6 }, { 7, 2 }, { 12, 2 }, { 14, 2 }, { 14, 1 }, { 1, 4 }, { 2, 4 }, { 3, 4 },
        { 5, 4 }, { 9, 2 }, { 10, 2 }, { 11, 2 }, { 13, 2 }, { 10, 1 }, { 11, 1 }, { 13, 1 },
    },
    avx2 = { { 6, 2 }, { 4, 3 }, { 4, 2 }, { 8, 1 }, { 12, 1 }, { 1, 6 }, { 2, 4 }, { 3, 3 }, { 5, 2 }, { 10, 1 } },
}
-- taps_h, taps_w, stride, tile_h, tile_w; pairs of filter rows have a list of their own
local depthwise = {
    avx512 = {
        { 3, 3, 1, 2, 7 }, { 1, 3, 1, 2, 7 }, { 3, 3, 1, 4, 2 }, { 3, 3, 2, 2, 7 }, { 3, 3, 2, 2, 8 }, { 3, 3, 2, 4, 4 }, { 1, 3, 2, 2, 8 },
        { 1, 5, 1, 1, 14 }, { 5, 5, 2, 2, 7 }, { 1, 5, 2, 1, 8 }, { 1, 7, 1, 1, 7 }, { 1, 7, 2, 1, 8 }, { 1, 1, 1, 1, 8 },
        { 3, 3, 1, 3, 4 }, { 3, 3, 1, 4, 5 }, { 1, 3, 1, 1, 10 }, { 1, 5, 1, 1, 10 }, { 3, 3, 2, 6, 2 }, { 5, 5, 2, 2, 6 }, { 1, 1, 1, 3, 6 },
        { 3, 3, 1, 3, 5 }, { 1, 3, 1, 2, 10 }, { 3, 3, 1, 2, 4 }, { 1, 5, 1, 2, 7 }, { 5, 5, 1, 2, 5 }, { 1, 7, 1, 2, 5 }, { 5, 5, 2, 2, 4 },
        { 1, 7, 2, 2, 4 }, { 3, 3, 3, 1, 7 }, { 3, 3, 3, 3, 3 }, { 1, 5, 3, 1, 6 }, { 1, 7, 3, 1, 6 }, { 2, 2, 1, 4, 4 }, { 2, 2, 2, 2, 8 },
        { 4, 4, 1, 2, 7 }, { 1, 7, 3, 1, 8 }, { 1, 6, 3, 1, 8 },
        { 4, 4, 2, 2, 8 }, { 4, 4, 2, 2, 4 }, { 1, 4, 2, 2, 10 }, { 1, 6, 1, 2, 7 }, { 1, 6, 2, 2, 4 }, { 1, 6, 2, 2, 6 }, { 1, 2, 1, 2, 7 },
        { 1, 4, 1, 2, 7 }, { 2, 1, 1, 6, 2 }, { 3, 1, 1, 6, 2 }, { 4, 1, 1, 6, 2 }, { 5, 1, 1, 6, 2 }, { 6, 1, 1, 6, 2 }, { 7, 1, 1, 6, 2 },
        { 2, 1, 2, 6, 2 }, { 3, 1, 2, 6, 2 }, { 4, 1, 2, 6, 2 }, { 5, 1, 2, 6, 2 }, { 6, 1, 2, 6, 2 }, { 7, 1, 2, 6, 2 },
        { 3, 1, 3, 3, 7 }, { 4, 1, 3, 6, 2 }, { 5, 1, 3, 6, 2 }, { 6, 1, 3, 6, 2 }, { 7, 1, 3, 6, 2 }, { 7, 1, 3, 3, 7 }, { 2, 1, 1, 4, 3 },
        { 1, 3, 2, 1, 7 }, { 1, 4, 2, 1, 7 }, { 1, 3, 3, 1, 7 }, { 5, 1, 3, 3, 6 }, { 9, 1, 3, 3, 6 }, { 9, 1, 2, 6, 2 }, { 1, 9, 3, 1, 6 },
        { 1, 9, 2, 1, 8 },
    },
    avx2 = {
        { 3, 3, 1, 1, 8 }, { 3, 3, 1, 2, 4 }, { 3, 3, 2, 1, 8 }, { 3, 3, 2, 2, 4 }, { 1, 3, 1, 1, 7 }, { 1, 3, 2, 1, 8 },
        { 1, 5, 1, 1, 8 }, { 1, 5, 2, 1, 8 }, { 1, 7, 1, 1, 7 }, { 1, 7, 2, 1, 6 }, { 1, 1, 1, 1, 8 }, { 1, 5, 1, 2, 4 }, { 1, 7, 2, 2, 4 },
        { 1, 3, 3, 1, 6 }, { 2, 2, 1, 2, 4 }, { 2, 2, 2, 2, 4 }, { 1, 4, 1, 1, 8 }, { 1, 4, 2, 2, 4 }, { 1, 6, 1, 1, 8 }, { 1, 6, 2, 2, 4 },
        { 2, 1, 1, 4, 2 }, { 3, 1, 1, 4, 2 }, { 4, 1, 1, 4, 2 }, { 5, 1, 1, 4, 2 }, { 7, 1, 1, 7, 1 }, { 3, 1, 2, 4, 2 }, { 4, 1, 2, 4, 2 },
        { 5, 1, 2, 4, 2 }, { 7, 1, 2, 4, 1 }, { 3, 3, 2, 2, 3 }, { 3, 3, 2, 1, 6 }, { 1, 3, 2, 2, 6 }, { 1, 5, 3, 1, 8 }, { 1, 7, 3, 1, 8 },
        { 1, 4, 3, 1, 8 }, { 1, 6, 3, 1, 8 }, { 5, 1, 3, 4, 1 }, { 7, 1, 3, 3, 2 },
        { 3, 1, 3, 3, 4 }, { 4, 1, 3, 3, 4 }, { 5, 1, 3, 3, 4 }, { 6, 1, 3, 3, 3 }, { 7, 1, 3, 3, 3 }, { 9, 1, 3, 3, 2 }, { 1, 4, 3, 3, 3 },
        { 1, 5, 3, 3, 3 }, { 1, 6, 3, 3, 3 }, { 1, 7, 3, 2, 3 }, { 1, 9, 3, 2, 3 }, { 9, 1, 2, 4, 2 }, { 1, 9, 2, 1, 6 },
    },
}
-- Beside wider ones, for few channels.
local depthwise_narrower = {
    { 3, 3, 1, 2, 4 }, { 3, 3, 2, 1, 8 }, { 3, 3, 2, 2, 4 }, { 1, 3, 1, 1, 7 }, { 1, 5, 1, 1, 8 }, { 1, 5, 2, 1, 8 }, { 1, 7, 1, 1, 7 },
    { 1, 7, 3, 1, 8 },
}
local depthwise_pairs = {
    { 3, 3, 1, 1, 7 }, { 3, 3, 1, 1, 8 }, { 2, 3, 1, 2, 4 }, { 3, 3, 2, 1, 7 }, { 3, 3, 2, 2, 4 }, { 5, 5, 1, 1, 7 }, { 5, 5, 2, 1, 7 },
    { 5, 5, 2, 2, 4 }, { 2, 7, 1, 1, 7 }, { 2, 2, 1, 1, 8 }, { 2, 2, 2, 2, 4 }, { 4, 4, 1, 1, 7 }, { 4, 4, 2, 2, 4 }, { 2, 6, 1, 1, 7 },
    { 2, 6, 2, 2, 4 }, { 6, 6, 2, 2, 2 }, { 3, 3, 3, 1, 5 }, { 2, 1, 1, 4, 2 }, { 3, 1, 1, 4, 2 }, { 4, 1, 1, 4, 2 }, { 5, 1, 1, 4, 2 },
    { 3, 1, 2, 4, 2 }, { 4, 1, 2, 4, 2 }, { 5, 1, 2, 4, 2 }, { 2, 7, 3, 1, 6 }, { 5, 5, 3, 1, 7 }, { 3, 1, 3, 3, 4 }, { 5, 1, 3, 3, 4 },
    { 7, 1, 3, 3, 4 }, { 1, 2, 1, 1, 10 }, { 1, 3, 1, 1, 10 }, { 1, 3, 1, 1, 7 }, { 1, 3, 1, 3, 3 }, { 1, 4, 1, 1, 10 }, { 1, 4, 1, 1, 8 },
    { 1, 5, 1, 1, 10 }, { 1, 5, 1, 1, 7 }, { 1, 6, 1, 1, 10 }, { 1, 7, 1, 1, 8 }, { 1, 2, 2, 1, 8 }, { 1, 3, 2, 1, 10 }, { 1, 3, 2, 1, 6 },
    { 1, 4, 2, 1, 8 }, { 1, 5, 2, 1, 10 }, { 1, 5, 2, 1, 6 }, { 1, 6, 2, 1, 8 }, { 1, 7, 2, 1, 8 }, { 1, 3, 3, 1, 6 }, { 1, 4, 3, 1, 6 },
    { 1, 5, 3, 1, 6 }, { 1, 7, 3, 1, 6 },
}
-- Beside vectors of 16 lanes, whose pairs are of 32 channels.
local depthwise_pairs_narrower = {
    { 1, 2, 1, 1, 10 }, { 1, 3, 1, 1, 7 }, { 1, 4, 1, 1, 7 }, { 1, 5, 1, 1, 7 }, { 1, 6, 1, 1, 7 }, { 1, 7, 1, 1, 7 }, { 1, 3, 2, 1, 7 },
    { 1, 3, 2, 1, 10 }, { 1, 4, 2, 1, 8 }, { 1, 5, 2, 1, 7 }, { 1, 5, 2, 1, 10 }, { 1, 7, 2, 1, 8 }, { 1, 3, 3, 1, 6 }, { 1, 5, 3, 1, 6 },
    { 1, 7, 3, 1, 6 }, { 3, 3, 1, 1, 7 }, { 3, 3, 2, 2, 4 }, { 5, 5, 2, 2, 4 }, { 3, 1, 1, 6, 2 }, { 5, 1, 1, 6, 2 }, { 3, 1, 2, 4, 2 },
    { 5, 1, 2, 4, 2 },
}
-- taps_h, taps_w, stride, tile_h, tile_w
local merged = {
    avx512 = {
        { 1, 3, 1, 1, 14 }, { 1, 3, 1, 2, 7 }, { 1, 3, 1, 1, 7 }, { 1, 3, 2, 1, 14 }, { 1, 3, 2, 1, 7 }, { 1, 3, 2, 1, 8 }, { 1, 1, 1, 1, 14 },
        { 1, 3, 1, 2, 3 }, { 1, 3, 1, 2, 4 }, { 1, 3, 1, 2, 5 }, { 1, 3, 1, 1, 10 }, { 1, 1, 1, 1, 9 }, { 1, 1, 1, 1, 7 }, { 1, 3, 2, 2, 4 },
    },
    avx2 = { { 1, 3, 1, 1, 8 }, { 1, 3, 1, 1, 7 }, { 1, 3, 2, 1, 8 }, { 1, 1, 1, 1, 8 } },
}
-- lanes, tile, vecs, copy, merge; fp32 reads the tensors themselves where the tile allows it. The spread sides of merge=1 with
-- lanes=k are what divides the usual filter rows' channels, with one vector for each such row, for y's channels are any number of
-- vectors; with lanes=c such rows fill the vectors of narrow groups. Beside one vector each product has a load of its own and each step one more, so
-- tiles are high, or of several filter rows (merge above 1). copy=0 beside merge is for first layers: one group, and few pixels at edges.
local weight = {
    avx512 = {
        { "c", 9, 1, 0, 0 }, { "c", 10, 1, 0, 0 }, { "c", 11, 1, 0, 0 }, { "c", 15, 1, 0, 0 }, { "c", 16, 1, 0, 0 }, { "c", 24, 1, 0, 0 },
        { "c", 8, 2, 0, 0 }, { "c", 9, 2, 0, 0 }, { "c", 10, 2, 0, 0 }, { "c", 13, 2, 0, 0 }, { "c", 14, 2, 0, 0 }, { "c", 5, 3, 0, 0 },
        { "c", 6, 3, 0, 0 }, { "c", 7, 3, 0, 0 }, { "c", 8, 3, 0, 0 }, { "c", 9, 3, 0, 0 }, { "c", 5, 4, 0, 0 }, { "c", 6, 4, 0, 0 },
        { "c", 4, 6, 0, 0 }, { "c", 28, 1, 0, 1 }, { "c", 8, 3, 0, 1 }, { "c", 4, 1, 1, 0 }, { "c", 14, 1, 1, 0 }, { "c", 6, 2, 1, 0 },
        { "c", 8, 2, 1, 0 }, { "c", 9, 2, 1, 0 }, { "c", 10, 2, 1, 0 }, { "c", 13, 2, 1, 0 }, { "c", 8, 3, 1, 0 }, { "c", 4, 3, 1, 1 },
        { "c", 10, 1, 2, 1 }, { "c", 11, 1, 2, 1 }, { "c", 12, 1, 2, 1 }, { "c", 24, 1, 2, 1 }, { "c", 10, 2, 2, 1 }, { "c", 12, 2, 2, 1 },
        { "c", 14, 2, 2, 1 }, { "c", 8, 2, 2, 1 }, { "c", 5, 3, 2, 1 }, { "c", 7, 3, 2, 1 }, { "c", 8, 3, 2, 1 }, { "c", 9, 3, 2, 1 },
        { "c", 6, 4, 2, 1 },
        { "k", 10, 1, 0, 0 }, { "k", 13, 1, 0, 0 }, { "k", 16, 1, 0, 0 }, { "k", 8, 2, 0, 0 }, { "k", 8, 3, 0, 0 }, { "k", 5, 4, 0, 0 },
        { "k", 6, 4, 0, 0 }, { "k", 11, 1, 0, 1 }, { "k", 16, 1, 0, 1 }, { "k", 18, 1, 0, 1 }, { "k", 28, 1, 0, 1 }, { "k", 11, 2, 0, 1 },
        { "k", 12, 2, 0, 1 }, { "k", 5, 3, 0, 1 }, { "k", 8, 3, 0, 1 }, { "k", 5, 4, 0, 1 }, { "k", 6, 4, 0, 1 }, { "k", 4, 5, 0, 1 },
        { "k", 12, 1, 0, 2 }, { "k", 3, 1, 0, 3 }, { "k", 6, 1, 0, 3 }, { "k", 9, 1, 0, 3 }, { "k", 5, 1, 0, 5 }, { "k", 12, 2, 1, 0 },
        { "k", 7, 1, 1, 1 }, { "k", 18, 1, 1, 1 }, { "k", 7, 2, 1, 1 }, { "k", 7, 1, 2, 1 }, { "k", 9, 1, 2, 1 }, { "k", 24, 1, 2, 1 },
        { "k", 9, 2, 2, 1 }, { "k", 12, 2, 2, 1 }, { "k", 7, 3, 2, 1 }, { "k", 8, 3, 2, 1 }, { "k", 3, 4, 2, 1 }, { "k", 6, 4, 2, 1 },
        { "k", 4, 5, 2, 1 },
    },
    avx2 = {
        { "c", 9, 1, 0, 0 }, { "c", 13, 1, 0, 0 }, { "c", 4, 2, 0, 0 }, { "c", 5, 2, 0, 0 }, { "c", 6, 2, 0, 0 }, { "c", 4, 3, 0, 0 },
        { "c", 10, 1, 1, 0 }, { "c", 6, 2, 1, 0 }, { "c", 4, 3, 1, 0 }, { "c", 4, 3, 1, 1 }, { "c", 5, 2, 2, 1 }, { "c", 6, 2, 2, 1 },
        { "c", 4, 3, 2, 1 }, { "k", 9, 1, 0, 0 }, { "k", 11, 1, 0, 0 }, { "k", 5, 2, 0, 0 }, { "k", 6, 2, 0, 0 }, { "k", 3, 3, 0, 0 },
        { "k", 4, 3, 0, 0 }, { "k", 6, 2, 0, 1 }, { "k", 4, 3, 0, 1 }, { "k", 10, 1, 1, 1 }, { "k", 6, 2, 1, 1 }, { "k", 12, 1, 2, 1 },
        { "k", 5, 2, 2, 1 }, { "k", 6, 2, 2, 1 }, { "k", 4, 3, 2, 1 },
    },
}
-- Beside wider ones: channels that leave half of their lanes idle.
local weight_narrower = {
    avx2 = {
        { "c", 5, 2, 0, 0 }, { "c", 4, 3, 0, 0 }, { "c", 10, 1, 1, 0 }, { "c", 4, 3, 1, 0 }, { "c", 6, 2, 2, 1 }, { "k", 12, 1, 2, 1 },
        { "k", 5, 2, 2, 1 }, { "k", 4, 3, 2, 1 },
    },
    avx512vl = { { "k", 3, 5, 2, 1 } },
}
local narrow_weight = {
    avx512 = {
        { "c", 8, 2, 1, 0 }, { "c", 16, 1, 1, 0 }, { "c", 14, 2, 1, 0 }, { "c", 4, 6, 1, 0 }, { "k", 8, 3, 1, 0 },
        { "c", 4, 1, 1, 0 }, { "k", 7, 2, 1, 1 }, { "k", 7, 1, 1, 1 }, { "c", 6, 2, 1, 0 }, { "k", 6, 2, 1, 0 },
        { "k", 12, 1, 1, 1 }, { "k", 4, 5, 1, 1 }, { "k", 9, 2, 1, 1 }, { "k", 12, 2, 1, 1 }, { "c", 9, 2, 1, 0 }, { "c", 10, 2, 1, 0 },
        { "c", 13, 2, 1, 0 }, { "c", 11, 1, 1, 0 }, { "c", 14, 1, 1, 0 }, { "k", 13, 2, 1, 0 }, { "k", 9, 1, 1, 0 }, { "k", 11, 1, 1, 0 },
        { "c", 12, 1, 1, 1 }, { "c", 8, 1, 1, 1 }, { "c", 9, 3, 1, 1 }, { "c", 6, 4, 1, 1 }, { "c", 14, 2, 1, 1 }, { "c", 6, 2, 1, 1 },
        { "c", 4, 3, 1, 1 }, { "c", 13, 1, 1, 1 }, { "c", 11, 1, 1, 1 }, { "c", 5, 3, 1, 1 }, { "c", 7, 3, 1, 1 },
        { "c", 9, 1, 1, 1 }, { "c", 10, 1, 1, 1 }, { "c", 8, 3, 1, 0 }, { "c", 5, 5, 1, 0 }, { "c", 8, 2, 1, 1 }, { "c", 8, 3, 1, 1 },
        { "k", 5, 3, 1, 1 }, { "k", 7, 3, 1, 1 }, { "k", 6, 4, 1, 1 }, { "k", 11, 2, 1, 1 },
    },
    avx2 = {
        { "c", 6, 2, 1, 0 }, { "c", 4, 2, 1, 0 }, { "k", 6, 2, 1, 0 }, { "c", 4, 1, 1, 0 }, { "k", 6, 2, 1, 1 }, { "c", 6, 2, 1, 1 },
        { "c", 12, 1, 1, 1 }, { "c", 4, 3, 1, 1 },
    },
}
-- taps_h, taps_w, stride, tile_h, tile_w; fp32 sums only
local depthwise_weight = {
    avx512 = {
        { 3, 3, 1, 2, 7 }, { 3, 3, 1, 7, 2 }, { 3, 3, 1, 4, 4 }, { 3, 3, 1, 1, 7 }, { 3, 3, 2, 2, 7 }, { 3, 3, 2, 7, 2 }, { 3, 3, 2, 4, 2 },
        { 1, 7, 1, 1, 7 }, { 2, 7, 1, 1, 7 }, { 1, 7, 2, 1, 7 }, { 2, 5, 1, 1, 7 }, { 2, 5, 2, 1, 7 }, { 1, 1, 1, 1, 14 },
        { 2, 2, 1, 2, 7 }, { 2, 2, 2, 2, 7 }, { 4, 4, 1, 1, 7 }, { 4, 4, 2, 2, 4 }, { 2, 6, 1, 1, 7 }, { 2, 6, 2, 1, 8 }, { 3, 3, 3, 1, 7 },
        { 1, 5, 3, 1, 7 }, { 1, 4, 1, 2, 7 }, { 1, 2, 1, 2, 7 }, { 2, 1, 1, 7, 2 }, { 3, 1, 1, 7, 2 }, { 4, 1, 1, 7, 2 }, { 5, 1, 1, 7, 2 },
        { 7, 1, 1, 7, 2 }, { 3, 1, 2, 7, 2 }, { 4, 1, 2, 7, 2 }, { 5, 1, 2, 7, 2 }, { 7, 1, 2, 7, 2 }, { 1, 3, 1, 1, 4 }, { 5, 5, 2, 2, 2 },
        { 3, 3, 1, 1, 14 }, { 1, 5, 1, 1, 14 }, { 1, 4, 1, 1, 7 }, { 3, 1, 3, 1, 14 }, { 4, 1, 3, 4, 1 }, { 5, 1, 3, 4, 1 }, { 7, 1, 3, 4, 1 },
        { 1, 3, 2, 1, 7 }, { 1, 4, 2, 1, 7 }, { 1, 5, 2, 1, 7 }, { 1, 2, 2, 1, 8 }, { 1, 3, 3, 1, 7 },
    },
    avx2 = {
        { 3, 3, 1, 1, 4 }, { 3, 3, 1, 2, 2 }, { 1, 3, 1, 1, 8 }, { 3, 3, 2, 1, 4 }, { 3, 3, 2, 2, 2 }, { 1, 7, 1, 1, 7 }, { 1, 5, 1, 1, 8 }, { 1, 5, 2, 1, 8 }, { 1, 1, 1, 1, 8 },
        { 2, 2, 1, 1, 7 }, { 2, 2, 2, 1, 7 }, { 1, 2, 1, 1, 8 }, { 1, 4, 1, 1, 8 }, { 1, 4, 2, 1, 8 }, { 1, 6, 1, 1, 8 }, { 1, 3, 2, 1, 8 }, { 1, 2, 2, 1, 8 },
        { 1, 7, 2, 1, 7 }, { 3, 3, 3, 1, 4 }, { 2, 1, 1, 4, 2 }, { 3, 1, 1, 7, 1 }, { 4, 1, 1, 7, 1 }, { 5, 1, 1, 7, 1 }, { 6, 1, 1, 7, 1 },
        { 7, 1, 1, 7, 1 }, { 3, 1, 2, 7, 1 }, { 4, 1, 2, 7, 1 }, { 5, 1, 2, 7, 1 }, { 7, 1, 2, 7, 1 }, { 3, 1, 3, 4, 1 }, { 5, 1, 3, 4, 1 },
        { 7, 1, 3, 4, 1 },
    },
}
local depthwise_weight_narrower = {
    { 3, 3, 1, 1, 4 }, { 3, 3, 1, 2, 2 }, { 3, 3, 2, 1, 4 }, { 3, 3, 2, 2, 2 }, { 1, 5, 1, 1, 8 }, { 1, 5, 2, 1, 8 }, { 1, 7, 1, 1, 7 },
}
-- Of few channels of x in bf16, with y where it lies.
local first_weight = {
    { "k", 9, 1, 2, 1 }, { "k", 9, 2, 2, 1 }, { "k", 9, 3, 2, 1 }, { "k", 12, 1, 2, 1 }, { "k", 12, 2, 2, 1 }, { "k", 8, 1, 2, 1 }, { "k", 8, 3, 2, 1 },
    { "k", 5, 4, 2, 1 }, { "k", 10, 1, 2, 1 }, { "k", 10, 2, 2, 1 }, { "k", 15, 1, 2, 1 }, { "k", 7, 2, 2, 1 }, { "k", 7, 3, 2, 1 }, { "k", 14, 1, 2, 1 },
    { "k", 14, 2, 2, 1 }, { "k", 11, 1, 2, 1 }, { "k", 11, 2, 2, 1 }, { "k", 16, 1, 2, 1 }, { "k", 13, 2, 2, 1 }, { "k", 6, 4, 2, 1 },
    { "k", 3, 1, 2, 3 }, { "k", 3, 2, 2, 3 }, { "k", 3, 3, 2, 3 }, { "k", 6, 1, 2, 3 }, { "k", 5, 1, 2, 5 },
}
-- The same by pairs of result rows.
local depthwise_weight_pairs = {
    { 3, 3, 1, 2, 7 }, { 3, 3, 1, 2, 14 }, { 3, 3, 1, 2, 4 }, { 3, 3, 1, 4, 4 }, { 3, 3, 2, 2, 7 }, { 3, 3, 2, 2, 4 }, { 3, 3, 2, 2, 14 }, { 1, 7, 1, 2, 7 },
    { 1, 7, 2, 2, 7 }, { 1, 5, 1, 2, 7 }, { 1, 5, 2, 2, 7 }, { 2, 2, 1, 2, 7 }, { 2, 2, 2, 2, 7 }, { 1, 4, 1, 2, 7 }, { 1, 4, 2, 2, 4 },
    { 1, 6, 1, 2, 7 }, { 1, 6, 2, 2, 8 }, { 3, 3, 3, 2, 7 }, { 1, 5, 3, 2, 7 }, { 1, 2, 1, 2, 7 }, { 1, 1, 1, 2, 7 }, { 3, 1, 1, 4, 2 },
    { 4, 1, 1, 4, 2 }, { 5, 1, 1, 4, 2 }, { 7, 1, 1, 4, 2 }, { 3, 1, 2, 4, 2 }, { 5, 1, 2, 4, 2 }, { 1, 3, 1, 2, 7 }, { 3, 1, 3, 2, 4 },
    { 5, 1, 3, 2, 4 }, { 7, 1, 3, 2, 4 }, { 1, 3, 2, 2, 7 }, { 1, 3, 3, 2, 7 },
}
local merged_weight = {
    avx512 = { { 3, 3, 1, 2, 4 }, { 3, 3, 1, 4, 4 }, { 3, 3, 1, 1, 7 }, { 3, 3, 1, 2, 7 }, { 3, 3, 2, 2, 7 }, { 3, 3, 2, 7, 2 }, { 1, 1, 1, 1, 14 } },
    avx2 = { { 3, 3, 1, 1, 4 }, { 3, 3, 2, 1, 4 }, { 1, 1, 1, 1, 8 } },
}

return {
    about = "what tuning measures: a few strong and different candidates",
    families = {
        ["conv.direct"] = function(c, arch)
            local tile = { c.tile_h, c.tile_w, c.vecs, c.edge }
            if c.math == "amx" then
                return c.band == 0 and among(amx_direct, { c.tile_w, c.vecs })
            end
            local tiles = preferred(c, arch) and direct[c.isa] or narrower(c, arch) and direct_narrower[c.isa] or {}
            return c.band == 0 and among(tiles, tile)
        end,
        ["conv.pointwise"] = function(c, arch)
            if c.math == "amx" then
                return c.band == 0 and among(amx, { c.tile_m, c.vecs })
            end
            local tiles = preferred(c, arch) and pointwise[c.isa] or narrower(c, arch) and rows_narrower[c.isa] or {}
            return c.band == 0 and c.ahead == 1 and among(tiles, { c.tile_m, c.vecs })
        end,
        ["conv.direct_1st"] = function(c, arch)
            if c.math == "amx" then
                return c.band == 0 and among(amx_first, { c.tile_w, c.vecs })
            end
            local tiles = preferred(c, arch) and first[c.isa] or narrower(c, arch) and first_narrower[c.isa] or {}
            return c.band == 0 and among(tiles, { c.tile_w, c.vecs })
        end,
        ["conv.gemm_col2im"] = function(c, arch)
            return preferred(c, arch) and c.band == 0 and among(scatter[c.isa], { c.tile_w, c.vecs })
        end,
        ["gemm.tiled"] = function(c, arch)
            if c.math == "amx" then
                return c.band == 0 and among(amx, { c.tile_m, c.vecs })
            end
            local tiles = preferred(c, arch) and gemm[c.isa] or narrower(c, arch) and rows_narrower[c.isa] or {}
            return c.band == 0 and c.ahead == 1 and among(tiles, { c.tile_m, c.vecs })
        end,
        ["conv.depthwise"] = function(c, arch)
            local narrow = c.isa ~= arch.isa[1]
            local list = c.math == "dp" and (narrow and depthwise_pairs_narrower or depthwise_pairs) or narrow and depthwise_narrower or depthwise[c.isa]
            -- where pairs are to be had, fp32 sums are for what they do not serve
            local rest = c.math == "dp" or arch.math[c.dtype][1] ~= "dp" or c.dtype == "int8" or c.taps_h * c.taps_w == 1 or few_channels(c, arch)
            return (not narrow or c.math == "dp" or few_channels(c, arch)) and c.block == 0 and rest
                and among(list, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w })
        end,
        ["conv.merged"] = function(c, arch)
            return (preferred(c, arch) or short_sums(c, arch)) and c.block == 0 and c.group_c == c.group_k and c.group_c >= 4
                and among(merged[c.isa], { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w })
        end,
        ["conv.direct_bwd_weight"] = function(c, arch)
            if c.math == "amx" then
                return c.box == 0 and among(c.merge == 0 and amx_weight or amx_weight_rows, { c.tile, c.vecs })
            end
            local tiles = c.dtype == "fp32" and weight or narrow_weight
            local list = preferred(c, arch) and tiles[c.isa] or narrower(c, arch) and weight_narrower[c.isa] or {}
            local point = { c.lanes, c.tile, c.vecs, c.copy, c.merge }
            return c.box == 0 and (among(list, point) or (c.dtype == "bf16" and preferred(c, arch) and among(first_weight, point)))
        end,
        ["conv.depthwise_weight"] = function(c, arch)
            local list = (c.math == "dp" or c.math == "wide") and depthwise_weight_pairs or c.isa ~= arch.isa[1] and depthwise_weight_narrower
                or depthwise_weight[c.isa]
            return (c.isa == arch.isa[1] or few_channels(c, arch))
                and among(list, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w })
        end,
        ["conv.merged_weight"] = function(c, arch)
            return c.isa == arch.isa[1] and c.group_c == c.group_k and c.group_c >= 4
                and among(merged_weight[c.isa], { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w })
        end,
        ["conv.reference"] = true,
        ["gemm.reference"] = true,
        ["conv.depthwise_block"] = { points = (include "tables/depthwise").points },
        ["conv.direct_block"] = { points = (include "tables/direct").default },
        ["conv.direct_1st_block"] = { points = (include "tables/direct_1st").default },
        ["conv.igemm"] = include "tables/conv_default",
        ["gemm.mma"] = { points = (include "tables/gemm").default },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
    },
}
