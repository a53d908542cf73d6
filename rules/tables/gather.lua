-- Our own: operands gathered by copies of 16 bytes and multiplied by instructions of four waves (pipe=gather). C refuses them where the
-- type or the architecture has none.

-- tile, waves, columns of the instruction, tiles in shared memory: 227 KiB at most, half of that or less where two blocks are to share a
-- multiprocessor.
local tiles = {
    { "128x256x64", "8x1x1", 256, 4 }, { "256x128x64", "8x1x1", 128, 4 }, { "128x128x64", "8x1x1", 128, 3 }, { "128x64x64", "8x1x1", 64, 4 },
    { "64x128x64", "4x1x1", 128, 4 }, { "64x64x64", "4x1x1", 64, 4 }, { "256x64x64", "8x1x1", 64, 5 }, { "64x256x64", "4x2x1", 128, 5 },
}

-- Points without what tells problems apart (ndim, layout).
local function points()
    local out = {}
    for _, row in ipairs(tiles) do
        local m, n, k = numbers(row[1])
        local wm, wn, wk = numbers(row[2])
        out[#out + 1] = {
            tile_m = m, tile_n = n, tile_k = k, wave_m = wm, wave_n = wn, wave_k = wk, inst_m = 64, inst_n = row[3], inst_k = 16, pipe = "gather",
            stages = row[4], vec_a = 8, vec_b = 8, vec_c = 8,
        }
    end
    return out
end

-- Those of a convolution in some counts of axes.
local function convolutions(op, first, last)
    local out = {}
    for ndim = first, last do
        for _, p in ipairs(points()) do
            p.ndim = ndim
            p.split_k = op == "conv_bwd_weight" and 0 or nil
            out[#out + 1] = p
        end
    end
    return out
end

-- Those of a product in all layouts.
local function products()
    local out = {}
    for _, layout in ipairs({ "rcr", "rrr", "crr", "ccr" }) do
        for _, p in ipairs(points()) do
            p.layout = layout
            out[#out + 1] = p
        end
    end
    return out
end

return { convolutions = convolutions, products = products }
