-- Convolution configs by rules: each tile of tables/conv_tiles with its waves, the instruction that suits the part of a wave, its accesses,
-- its pipelines and the filters it is cut down to; then the features of tables/conv_features. What an architecture cannot run is left out
-- by C, so the lists are the same for all.
local arches, book, features, vectors = include "tables/arch", include "tables/conv_tiles", include "tables/conv_features", include "tables/vectors"
local of_bytes, thin, gather, overlap = include "tables/conv_bytes", include "tables/thin", include "tables/gather", include "tables/overlap"

local halves = { fp16 = true, bf16 = true }

local function rounded_up(value, least)
    return value > least and value or least
end

-- Tiles with 2x2x1 waves that take 16x16 instructions where 32x32 would do, or both.
local small_too = {
    conv_fwd = { ["64x64x32"] = { 16 }, ["64x64x64"] = { 32, 16 }, ["128x128x64"] = { 32, 16 }, ["256x256x32"] = { 32, 16 } },
    conv_bwd_data = {},
    conv_bwd_weight = { ["64x64x64"] = { 32, 16 } },
}

-- Rows of the instructions for a part of a wave.
local function sides(op, tile, waves, m, n)
    local special = small_too[op][tile]
    if special and waves[1] == 2 and waves[2] == 2 then
        return special
    end
    return m % 32 == 0 and n % 32 == 0 and { 32 } or { 16 }
end

-- Depth of AMD's instruction: as deep as its operands' 16 bytes a lane, within the tile. shallow: the older choice, one instruction's own.
local function depth(side, k, half, shallow)
    if shallow then
        return math.min(side == 32 and 8 or 16, half and k or k // 4)
    end
    local whole = k <= 16 and 4 or 8
    local own = half and (side == 32 and 16 or 32) or (side == 32 and 2 or 4)
    return math.min(rounded_up(whole, own), k)
end

-- The waves with one axis doubled, so that the part of a wave is the squarest; as they are where the architecture or the tile has no more.
local function doubled(arch, waves, m, n)
    local best, ratio = waves, nil
    for _, try in ipairs({ { 2 * waves[1], waves[2], waves[3] }, { waves[1], 2 * waves[2], waves[3] } }) do
        local rows, cols = m // try[1], n // try[2]
        local longer = math.max(rows, cols) / math.min(rows, cols)
        local listed = arches.lists(arch.waves, try[1] .. "x" .. try[2] .. "x" .. try[3])
        if listed and m % (16 * try[1]) == 0 and n % (8 * try[2]) == 0 and (not ratio or longer < ratio) then
            best, ratio = try, longer
        end
    end
    return best
end

-- A wave on NVIDIA has half the threads of those that the tables are for, and a thread half the registers. So blocks have as many threads as
-- on AMD, and small ones more where a thread would have more than 32 sums; fp32, whose fragments are the widest, has 16 of them.
local function widened(arch, waves, m, n, half)
    waves = doubled(arch, waves, m, n)
    for _ = 1, half and 1 or 2 do
        if waves[1] * waves[2] < (half and 4 or 8) and m * n > (half and 32 or 16) * 32 * waves[1] * waves[2] then
            waves = doubled(arch, waves, m, n)
        end
    end
    return waves
end

-- Waves and instruction of a tile: the published pairs, as far as the architecture has them.
local function published(arch, op, dtype, tile, shallow)
    local out, half = {}, halves[dtype]
    local m, n, k = numbers(tile)
    local nvidia = arches.has(arch, "mma")
    for _, waves in ipairs(book.waves(op, tile)) do
        if nvidia then
            out[#out + 1] = { widened(arch, waves, m, n, half), 16, 8, math.min(half and 16 or 4, k) }
        else
            for _, side in ipairs(sides(op, tile, waves, m // waves[1], n // waves[2])) do
                out[#out + 1] = { waves, side, side, depth(side, k, half, shallow) }
            end
        end
    end
    return out
end

local function has_pair(arch, dtype, pair)
    local waves = pair[1]
    return arches.lists(arch.waves, waves[1] .. "x" .. waves[2] .. "x" .. waves[3])
        and arches.lists(arch.tiles[dtype], pair[2] .. "x" .. pair[3] .. "x" .. pair[4])
end

-- All pairs that the architecture has for a tile, where it has none of the published ones. An instruction that is listed with several depths
-- is taken with the one that its rows ask for (deeper ones only repeat shallower ones), with all where that one is not listed.
local function any_pair(arch, dtype, tile, shallow)
    local out = {}
    local m, n, k = numbers(tile)
    for _, waves in ipairs(arch.waves) do
        local wm, wn, wk = numbers(waves)
        for _, inst in ipairs(arch.tiles[dtype] or {}) do
            local im, in_, ik = numbers(inst)
            local asked = depth(im, k, halves[dtype], shallow)
            local listed = arches.lists(arch.tiles[dtype], im .. "x" .. in_ .. "x" .. asked)
            if wk <= 2 and m % (wm * im) == 0 and n % (wn * in_) == 0 and (ik == asked or not listed) then
                out[#out + 1] = { { wm, wn, wk }, im, in_, ik }
            end
        end
    end
    return out
end

local function pairs_of(arch, op, dtype, tile, shallow)
    local out = {}
    for _, pair in ipairs(published(arch, op, dtype, tile, shallow)) do
        if has_pair(arch, dtype, pair) then
            out[#out + 1] = pair
        end
    end
    return #out > 0 and out or any_pair(arch, dtype, tile, shallow)
end

local function specializations(op, tile)
    local m, n, k = numbers(tile)
    if op ~= "conv_fwd" then
        return { "default", "filter1x1_stride1_pad0" }
    end
    if k == 8 then
        return { "default" }
    end
    if m * n <= 4096 then
        return { "default", "filter1x1_pad0", "filter1x1_stride1_pad0", "filter3x3" }
    end
    return { "default", "filter1x1_pad0", "filter1x1_stride1_pad0" }
end

-- "mem e" to the axes' words.
local split = {}
for _, name in ipairs({ "basic_v1", "mem", "compv3", "compv4", "compv5", "compv6", "comp_async", "basic_async_v1", "wavelet" }) do
    local stages, groups = (name == "compv4" or name == "comp_async") and 2 or 1, name == "compv5" and 2 or 1
    split[name .. " i"] = { name, "intrawave", stages, groups }
    split[name .. " e"] = { name, "interwave", stages, groups }
end

-- A wavelet of conv_bwd_weight takes the older depth on two tiles.
local function is_shallow(op, tile, pipeline)
    return op == "conv_bwd_weight" and pipeline == "wavelet i" and (tile == "64x32x64" or tile == "64x64x64")
end

-- Adds the configs of one tile. feature: an entry of tables/conv_features, or nothing.
local function add_tile(out, of, tile, feature)
    local class = halves[of.dtype] and "half" or "fp32"
    local m, n, k = numbers(tile)
    for _, pipeline in ipairs(feature.pipelines or book.pipelines(of.op, tile, class)) do
        local words = split[pipeline]
        local shallow = feature.shallow or is_shallow(of.op, tile, pipeline)
        for _, pair in ipairs(pairs_of(of.arch, of.op, of.dtype, tile, shallow)) do
            for _, widths in ipairs(book.vectors(of.op, tile, class)) do
                local a, b, c = vectors.widths(widths, class == "half" and 8 or 4)
                for _, spec in ipairs(specializations(of.op, tile)) do
                    local set = feature.set
                    out[#out + 1] = {
                        ndim = of.ndim, tile_m = m, tile_n = n, tile_k = k, wave_m = pair[1][1], wave_n = pair[1][2], wave_k = pair[1][3],
                        inst_m = pair[2], inst_n = pair[3], inst_k = pair[4], pipe = words[1], sched = words[2], stages = words[3], wave_groups = words[4],
                        vec_a = a, vec_b = b, vec_c = c, spec = spec, merge = set.merge, split_image = set.split_image,
                        explicit = set.explicit, two_stage = set.two_stage, streamk = set.streamk, persistent = set.persistent, index = set.index,
                        split_k = set.split_k or of.op == "conv_bwd_weight" and 0 or nil,
                    }
                end
            end
        end
    end
end

local plain = { set = {} }

-- All points of an operation and type, those of 2 axes first.
local function full(arch, op, dtype)
    local out, class = {}, halves[dtype] and "half" or "fp32"
    for ndim = 2, 3 do
        local of = { arch = arch, op = op, dtype = dtype, ndim = ndim }
        for _, tile in ipairs(book.tiles(op, class, ndim)) do
            add_tile(out, of, tile, plain)
        end
        for _, feature in ipairs(features[op]) do
            for _, tile in ipairs((not feature.class or feature.class == class) and feature.tiles or {}) do
                add_tile(out, of, tile, feature)
            end
        end
    end
    thin.joined(out, gather.convolutions(op, 2, 3))
    return thin.joined(out, overlap.convolutions(op, 2, 3, true, vectors.bytes[dtype]))
end

return {
    points = function(arch, op, dtype)
        return vectors.bytes[dtype] == 1 and of_bytes.full(arch, op, dtype) or full(arch, op, dtype)
    end,
}
