-- Convolution of few channels on GPUs (conv.direct_1st_block): tiles of pixels by channels of the result, for rows of the source in vectors
-- and for any; of backward weight also by elements of the filter.
local thin, depth = include "tables/thin", (include "tables/direct").depth

-- tile, patch, channels of the result; four waves. The first have the fewest registers, so most blocks stand on a multiprocessor.
local tiles = {
    { "4x32", 8, { 64, 32, 48, 40, 24, 16, 96 } }, { "8x32", 16, { 32, 64, 48, 16 } }, { "4x32", 16, { 32, 64, 96 } }, { "8x16", 8, { 64 } },
    { "4x16", 8, { 32 } }, { "4x16", 32, { 32, 64 } }, { "8x32", 64, { 64 } },
}

-- Of backward weight. Elements of the filter and waves that share them; channels. 3x3 of 3 channels are 27 elements, 7x7 147 and with four
-- channels 196. Architectures with 16 columns an instruction take those that their waves divide.
local spans = {
    { 32, 1, { 64, 48, 32, 16, 96 } }, { 32, 2, { 128 } }, { 48, 2, { 64, 48, 32, 96, 128 } }, { 64, 2, { 64, 48, 32, 96 } }, { 64, 4, { 128 } }, { 80, 2, { 64, 48, 32 } },
    { 128, 4, { 64, 96 } }, { 128, 8, { 128 } }, { 160, 4, { 48, 32, 96 } }, { 160, 5, { 64, 128 } }, { 200, 5, { 64, 48, 32, 96 } }, { 256, 8, { 128, 64 } },
}
-- Tile, patch, how many sets of these waves have other pixels, for up to 32, up to 96 and more elements; and the most elements: strides of 4
-- read more and have small filters.
local shares = { { "4x32", 8, { 4, 2, 1 }, 256 }, { "8x32", 16, { 4, 4, 2 }, 256 }, { "4x32", 20, { 4, 2, 1 }, 64 } }

local function weight_points(arch, dtype)
    local out, k = {}, depth(arch, dtype)
    for _, share in ipairs(shares) do
        local th, tw = numbers(share[1])
        for _, row in ipairs(spans) do
            local sets = share[3][row[1] <= 32 and 1 or row[1] <= 96 and 2 or 3]
            for _, cols in ipairs(row[1] <= share[4] and row[3] or {}) do
                for _, vec in ipairs({ { 8, 8 }, { 2, 8 }, { 1, 8 }, { 1, 1 } }) do
                    out[#out + 1] = {
                        tile_h = th, tile_w = tw, waves = row[2] * sets, cols = cols, inst_k = k, patch = share[2], vec_in = vec[1], vec = vec[2],
                        span = row[1], waves_d = row[2],
                    }
                end
            end
        end
    end
    return out
end

local function points(arch, op, dtype)
    if op == "conv_bwd_weight" then
        return weight_points(arch, dtype)
    end
    local out, k = {}, depth(arch, dtype)
    for _, row in ipairs(tiles) do
        local th, tw = numbers(row[1])
        for _, cols in ipairs(row[3]) do
            for _, vec in ipairs({ { 8, 8 }, { 4, 8 }, { 2, 8 }, { 1, 8 }, { 1, 1 } }) do
                out[#out + 1] = {
                    tile_h = th, tile_w = tw, waves = 4, cols = cols, inst_k = k, patch = row[2], vec_in = vec[1], vec = vec[2],
                }
            end
        end
    end
    return out
end

-- Of these the ones that set default has: every kernel was timed on 53 problems of one to 25 channels on an H200, and what is left here
-- had 99.8 % of the best times forward and 99.9 % of those of backward weight (docs/results/2026-11-24/choice.md).
-- Tile, patch, channels of the result; vec_in and vec. Wide pieces of the source pay where a tile is small; single elements are for odd channels.
local few_vectors, wide_too, odd_too = { "2,8", "1,8" }, { "2,8", "1,8", "8,8" }, { "2,8", "1,8", "8,8", "1,1" }
local default_tiles = {
    { "4x32", 8, { 32 }, { "2,8", "1,8", "4,8", "8,8", "1,1" } }, { "4x32", 8, { 64 }, wide_too }, { "4x32", 8, { 40, 96 }, few_vectors },
    { "4x32", 8, { 16 }, { "1,8", "1,1" } }, { "4x16", 32, { 32 }, odd_too },
    { "4x16", 32, { 64 }, few_vectors }, { "8x32", 16, { 32, 16 }, few_vectors }, { "4x32", 16, { 96 }, { "2,8", "1,8", "1,1" } },
    { "8x16", 8, { 64 }, { "2,8", "1,8", "1,1" } }, { "4x16", 8, { 32 }, { "2,8", "1,8", "1,1" } },
}
-- Tile, patch, span, waves that share it, channels, vectors.
local default_spans = {
    { "4x32", 8, 32, 1, { 32 }, few_vectors }, { "4x32", 8, 48, 2, { 32, 48 }, odd_too }, { "4x32", 8, 48, 2, { 64, 96 }, few_vectors },
    { "4x32", 8, 64, 2, { 32, 64 }, few_vectors }, { "4x32", 8, 80, 2, { 32 }, odd_too }, { "4x32", 8, 80, 2, { 48 }, few_vectors },
    { "4x32", 8, 160, 5, { 64 }, wide_too }, { "4x32", 8, 200, 5, { 32 }, odd_too }, { "4x32", 8, 200, 5, { 64 }, wide_too },
    { "4x32", 8, 256, 8, { 64, 128 }, few_vectors }, { "8x32", 16, 32, 1, { 32, 16 }, few_vectors }, { "8x32", 16, 80, 2, { 32 }, few_vectors },
    { "8x32", 16, 128, 4, { 64 }, few_vectors }, { "8x32", 16, 160, 4, { 32 }, few_vectors }, { "8x32", 16, 200, 5, { 32 }, few_vectors },
    { "4x32", 20, 48, 2, { 32, 48 }, wide_too },
}

local function listed(list, words)
    for _, each in ipairs(list) do
        if each == words then
            return true
        end
    end
    return false
end

-- Whether set default has the point.
local function in_default(p, weight)
    local tile, vectors = p.tile_h .. "x" .. p.tile_w, p.vec_in .. "," .. p.vec
    for _, row in ipairs(weight and default_spans or default_tiles) do
        local same = row[1] == tile and row[2] == p.patch and (not weight or row[3] == p.span and row[4] == p.waves_d)
        if same and listed(row[weight and 5 or 3], p.cols) and listed(row[weight and 6 or 4], vectors) then
            return true
        end
    end
    return false
end

-- The first of each pair of vectors, and the first of each tile.
local function few(list)
    local seen, out = {}, {}
    for _, p in ipairs(list) do
        local vectors, tile = p.vec_in .. "," .. p.vec, p.tile_h .. "x" .. p.tile_w
        if not seen[vectors] or not seen[tile] then
            seen[vectors], seen[tile] = true, true
            out[#out + 1] = p
        end
    end
    return out
end

return {
    points = points,
    default = function(arch, op, dtype)
        local out = {}
        for _, p in ipairs(points(arch, op, dtype)) do
            if in_default(p, op == "conv_bwd_weight") then
                out[#out + 1] = p
            end
        end
        return out
    end,
    fifths = function(arch, op, dtype, legal)
        local list = points(arch, op, dtype)
        return thin.joined(thin.fifths(list, legal), few(thin.kept(list, legal)))
    end,
    handful = function(arch, op, dtype, legal) return few(thin.kept(points(arch, op, dtype), legal)) end,
}
