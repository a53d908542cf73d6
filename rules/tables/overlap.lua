-- Our own: blocks that go from tile to tile, whose results leave while the next tile comes in (pipe=cooperative, pingpong). C refuses
-- them where the type or the architecture has none.

-- pipeline, tile, tiles in shared memory: 227 KiB at most with the results on their way, half of that where two blocks are to share a
-- multiprocessor.
local tiles = {
    { "cooperative", "128x256x64", 4 }, { "pingpong", "128x128x64", 6 }, { "cooperative", "256x128x64", 4 },
    { "cooperative", "128x192x64", 5 }, { "pingpong", "64x256x64", 5 }, { "pingpong", "128x192x64", 5 },
    { "cooperative", "128x64x64", 4 }, { "pingpong", "64x64x64", 8 }, { "pingpong", "128x64x64", 8 },
}
-- Where the depth may be divided among blocks: of gradients of weights, of the other directions, of products.
local divided = {
    conv_bwd_weight = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 6 }, { "cooperative", "128x64x64", 4 },
        { "cooperative", "128x192x64", 5 }, { "pingpong", "64x128x64", 7 },
    },
    conv = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 8 }, { "pingpong", "64x128x64", 7 },
    },
    gemm = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 8 }, { "cooperative", "128x64x64", 4 },
        { "pingpong", "64x256x64", 5 }, { "pingpong", "64x128x64", 7 }, { "cooperative", "128x192x64", 5 },
    },
}

-- Points without what tells problems apart (ndim, layout).
local function points(rows, split)
    local out = {}
    for _, row in ipairs(rows) do
        local m, n, k = numbers(row[2])
        local turns = row[1] == "pingpong"
        out[#out + 1] = {
            tile_m = m, tile_n = n, tile_k = k, wave_m = turns and 4 or 8, wave_n = 1, wave_k = 1, inst_m = 64, inst_n = n, inst_k = 16,
            pipe = row[1], stages = row[3], vec_a = 8, vec_b = 8, vec_c = 8, wave_groups = turns and 2 or 1, persistent = 1, split_k = split,
        }
    end
    return out
end

-- Those of a convolution in some counts of axes.
local function convolutions(op, first, last)
    local out = {}
    local weight = op == "conv_bwd_weight"
    for ndim = first, last do
        for _, list in ipairs({ weight and {} or points(tiles), points(divided[weight and op or "conv"], 0) }) do
            for _, p in ipairs(list) do
                p.ndim = ndim
                out[#out + 1] = p
            end
        end
    end
    return out
end

-- Those of a product in all layouts.
local function products()
    local out = {}
    for _, layout in ipairs({ "rcr", "rrr", "crr", "ccr" }) do
        for _, list in ipairs({ points(tiles), points(divided.gemm, 0) }) do
            for _, p in ipairs(list) do
                p.layout = layout
                out[#out + 1] = p
            end
        end
    end
    return out
end

return { convolutions = convolutions, products = products }
