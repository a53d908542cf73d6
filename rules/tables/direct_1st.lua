-- Convolution of few channels on GPUs (conv.direct_1st_block): tiles of pixels by channels of the result, for rows of the source in vectors
-- and for any.
local thin, depth = include "tables/thin", (include "tables/direct").depth

-- tile, patch, channels of the result; four waves. The first have the fewest registers, so most blocks stand on a multiprocessor.
local tiles = {
    { "4x32", 8, { 64, 32, 48, 40, 24, 16, 96 } }, { "8x32", 16, { 32, 64, 48, 16 } }, { "4x32", 16, { 32, 64, 96 } }, { "8x16", 8, { 64 } },
    { "4x16", 8, { 32 } }, { "4x16", 32, { 32, 64 } }, { "8x32", 64, { 64 } },
}

local function points(arch, op, dtype)
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
    fifths = function(arch, op, dtype, legal)
        local list = points(arch, op, dtype)
        return thin.joined(thin.fifths(list, legal), few(thin.kept(list, legal)))
    end,
    handful = function(arch, op, dtype, legal) return few(thin.kept(points(arch, op, dtype), legal)) end,
}
