-- The published macro tiles of convolution (rows x columns x depth), and how each is cut into waves, accessed and pipelined.
-- half: fp16 and bf16 alike.

local tiles = {
    conv_fwd = {
        half = {
            "16x16x64", "16x32x64", "16x64x64", "16x128x64", "16x256x64", "16x16x128",
            "32x16x64", "32x64x32", "32x64x64", "32x128x32", "32x128x64", "32x256x64",
            "64x16x16", "64x16x64", "64x32x32", "64x32x64", "64x64x8", "64x64x32", "64x64x64", "64x128x32", "64x128x64",
            "128x16x64", "128x32x32", "128x32x64", "128x64x8", "128x64x16", "128x64x32", "128x64x64", "128x128x32", "128x128x64",
            "128x256x32",
            "224x256x64", "256x16x64", "256x32x64", "256x64x8", "256x128x32", "256x224x64", "256x256x32",
        },
        not_3d = { "64x64x8", "128x64x8", "128x64x16", "256x64x8" },
        fp32 = {
            "16x16x64", "16x32x64", "16x64x64", "16x128x64", "16x16x128",
            "32x16x64", "32x64x16", "32x64x64", "32x128x16", "32x128x64",
            "64x16x16", "64x16x64", "64x32x16", "64x32x64", "64x64x16", "64x64x32", "64x128x16",
            "128x16x64", "128x32x16", "128x32x64", "128x64x16", "128x128x16", "128x128x32", "128x128x64", "128x192x16", "128x256x16",
            "256x128x16",
        },
    },
    conv_bwd_data = {
        half = {
            "16x64x32", "32x64x32", "32x128x32", "64x16x16", "64x16x32", "64x16x64", "64x32x32", "64x64x32", "64x128x32",
            "128x32x16", "128x32x32", "128x32x64", "128x64x32", "128x128x32", "128x256x32", "256x128x32",
        },
        not_3d = {},
        fp32 = {
            "16x64x32", "32x64x32", "32x128x32", "64x16x16", "64x16x32", "64x32x32", "64x64x32", "64x128x32",
            "128x32x16", "128x32x32", "128x64x32", "128x128x32", "128x256x32", "256x128x32",
        },
    },
    conv_bwd_weight = {
        half = {
            "16x16x32", "16x16x64", "16x32x64", "16x64x64", "16x128x32", "16x128x64", "16x256x32", "16x256x64",
            "32x16x64", "32x32x32", "32x64x32", "32x128x32",
            "64x16x64", "64x32x32", "64x32x64", "64x64x32", "64x64x64", "64x128x32", "64x128x64",
            "128x16x64", "128x32x32", "128x64x32", "128x128x32", "128x128x64", "128x256x32",
            "256x16x64", "256x32x64", "256x128x32", "256x256x32",
        },
        not_3d = { "64x32x64", "64x128x64", "256x32x64" },
        fp32 = {
            "16x16x32", "16x32x64", "32x16x64", "32x64x16", "32x128x16", "64x16x64", "64x32x16", "64x64x16", "64x64x64", "64x128x16",
            "128x32x16", "128x32x32", "128x64x16", "128x128x16", "128x256x16", "256x128x16",
        },
    },
}

-- Waves of a block. S 1x1x1, M 2x1x1, N 1x2x1, MN 2x2x1, M4 4x1x1, N4 1x4x1, MK 2x1x2.
local strategies = {
    S = { 1, 1, 1 }, M = { 2, 1, 1 }, N = { 1, 2, 1 }, MN = { 2, 2, 1 }, M4 = { 4, 1, 1 }, N4 = { 1, 4, 1 }, MK = { 2, 1, 2 },
}

local by_strategy = {
    { { "S" }, {
        "16x16x32", "16x16x64", "16x16x128", "16x64x32", "16x128x32", "16x256x32", "32x32x32", "32x64x16", "32x64x32", "64x16x16",
        "64x32x16", "64x32x32", "64x64x16", "64x64x32",
    } },
    { { "S", "M4" }, { "64x16x32" } },
    { { "N" }, { "16x32x64", "16x64x64", "16x128x64", "32x64x64", "32x128x16", "32x128x32", "32x128x64" } },
    { { "N4" }, { "16x256x64", "32x256x64" } },
    { { "M" }, { "32x16x64", "64x16x64", "64x32x64", "64x64x8", "128x16x64", "128x32x16", "128x32x64" } },
    { { "M", "MK" }, { "128x32x32" } },
    { { "M", "MN" }, { "128x64x8", "128x64x16", "128x64x32" } },
    { { "N", "MN" }, { "64x128x16", "64x128x32", "128x128x16", "128x128x32" } },
    { { "MN" }, {
        "64x64x64", "64x128x64", "128x64x64", "128x128x64", "128x192x16", "128x256x16", "128x256x32", "224x256x64", "256x64x8",
        "256x128x16", "256x128x32", "256x224x64", "256x256x32",
    } },
    { { "M4" }, { "256x16x64", "256x32x64" } },
}

local overrides = {
    conv_fwd = { ["64x64x32"] = { "S", "MN" } },
    conv_bwd_data = {
        ["64x16x16"] = { "M4" }, ["64x16x64"] = { "M4" }, ["128x32x16"] = { "M4" }, ["128x32x64"] = { "M4" }, ["128x32x32"] = { "M", "M4" },
    },
    conv_bwd_weight = {
        ["16x64x64"] = { "N", "N4" }, ["32x128x32"] = { "S", "N" }, ["64x32x64"] = { "M", "N" }, ["128x32x32"] = { "S", "M" },
    },
}

local base = {}
for _, entry in ipairs(by_strategy) do
    for _, tile in ipairs(entry[2]) do
        base[tile] = entry[1]
    end
end

-- Widths of accesses by tile: names of tables/vectors.lua where one says it, else the widths. A tile in the list of one class only gives the
-- other none; a tile in no list has GENERIC.
local vectors = {
    conv_fwd = {
        { { "16x16x64", "16x16x128", "16x32x64", "16x64x64", "16x128x64" }, half = { "MAX_AB_HALF_C" }, fp32 = { "UNIFORM_MAX" } },
        { { "16x256x64", "256x32x64" }, half = { "MAX_AB_HALF_C" } },
        { { "64x32x64", "128x32x64" }, half = { "MAX_AB_HALF_C" }, fp32 = { "UNIFORM_MAX" } },
        { { "32x16x64", "64x16x64", "128x16x64" }, half = { "MAX_AB_QUARTER_C" }, fp32 = { "MAX_AB_HALF_C" } },
        { { "256x16x64" }, half = { "MAX_AB_QUARTER_C" } },
        { { "32x64x32", "32x128x32", "64x128x32", "128x64x32", "128x256x32" }, half = { "UNIFORM_MAX", "MIN_AB_MAX_C" } },
        { { "128x128x32" }, half = { "UNIFORM_MAX", "MIN_AB_MAX_C" }, fp32 = { "4 4 8" } },
        { { "256x128x32" }, half = { "UNIFORM_MAX", "MIN_AB_MAX_C", "2 2 2" } },
        { { "32x64x64", "32x128x64" }, half = { "UNIFORM_MAX" }, fp32 = { "4 4 8" } },
        { { "32x256x64", "64x128x64", "128x64x64", "224x256x64", "256x224x64", "256x256x32" }, half = { "UNIFORM_MAX" } },
        { { "64x64x64" }, half = { "UNIFORM_MAX", "MAX_AB_MIN_C", "MAX_AB_HALF_C" } },
        { { "128x128x64" }, half = { "UNIFORM_MAX", "MAX_AB_MIN_C" }, fp32 = { "4 4 8" } },
        { { "64x16x16" }, half = { "HALF_A_MIN_BC" }, fp32 = { "MAX_A_MIN_BC" } },
        { { "64x32x32" }, half = { "UNIFORM_MAX", "MIN_AB_MAX_C", "MAX_AB_MIN_C" } },
        { { "64x64x32" }, half = { "GENERIC", "UNIFORM_MAX", "HALF_UNIFORM", "MIN_AB_MAX_C", "1 2 1", "2 1 2" },
            fp32 = { "UNIFORM_MAX", "1 2 1", "2 1 2" } },
        { { "128x32x32" }, half = { "UNIFORM_MAX", "HALF_UNIFORM", "MIN_AB_MAX_C" } },
        { { "64x64x8", "128x64x8", "256x64x8" }, half = { "MIN_AB_MAX_C" } },
        { { "128x64x16" }, half = { "MIN_AB_MAX_C" }, fp32 = { "UNIFORM_MAX" } },
        { { "32x64x16", "32x128x16", "64x128x16", "128x32x16", "128x192x16", "128x256x16", "256x128x16" }, fp32 = { "UNIFORM_MAX" } },
        { { "64x32x16" }, fp32 = { "UNIFORM_MAX", "MAX_AB_MIN_C" } },
        { { "64x64x16" }, fp32 = { "GENERIC", "UNIFORM_MAX" } },
        { { "128x128x16" }, fp32 = { "UNIFORM_MAX", "MIN_AB_MAX_C" } },
    },
    conv_bwd_data = {
        { { "16x64x32" }, half = { "MAX_AB_HALF_C", "MAX_A_MIN_BC", "MIN_A_MAX_B_HALF_C" }, fp32 = { "UNIFORM_MAX", "MAX_A_MIN_BC", "1 4 4" } },
        { { "64x16x32" }, half = { "MAX_AB_HALF_C", "MAX_A_MIN_BC", "MAX_A_QUARTER_BC", "MIN_A_MAX_B_HALF_C" },
            fp32 = { "UNIFORM_MAX", "MAX_A_MIN_BC", "1 4 4", "8 1 1", "8 2 2" } },
        { { "64x64x32" }, half = { "GENERIC", "UNIFORM_MAX" }, fp32 = { "GENERIC", "UNIFORM_MAX" } },
        { { "64x128x32" }, half = { "UNIFORM_MAX", "MIN_A_MAX_BC" }, fp32 = { "UNIFORM_MAX", "MIN_A_MAX_BC" } },
        { { "64x16x16" }, half = { "HALF_A_MIN_BC" }, fp32 = { "MAX_A_MIN_BC" } },
        { { "128x32x16" }, half = { "HALF_A_MIN_BC", "4 2 2" }, fp32 = { "MAX_A_MIN_BC", "MAX_A_HALF_BC" } },
        { { "128x32x32" }, half = { "UNIFORM_MAX", "MAX_A_MIN_BC", "MAX_A_QUARTER_BC" },
            fp32 = { "UNIFORM_MAX", "MAX_A_MIN_BC", "8 1 1", "8 2 2" } },
        { { "64x16x64" }, half = { "16 1 1", "16 2 2", "GENERIC" } },
        { { "128x32x64" }, half = { "16 1 1", "16 2 2", "16 8 8", "GENERIC" } },
        { { "128x256x32" }, half = { "UNIFORM_MAX", "8 4 8" }, fp32 = { "UNIFORM_MAX" } },
        { { "32x64x32", "32x128x32", "64x32x32", "128x64x32", "128x128x32", "256x128x32" }, half = { "UNIFORM_MAX" },
            fp32 = { "UNIFORM_MAX" } },
    },
    conv_bwd_weight = {
        { { "16x16x32" }, half = { "GENERIC", "MIN_AB_QUARTER_C" }, fp32 = { "1 1 2" } },
        { { "16x16x64" }, half = { "GENERIC", "HALF_UNIFORM", "HALF_A_MIN_BC", "1 4 4" } },
        { { "16x32x64" }, half = { "GENERIC", "MAX_AB_HALF_C", "1 2 4", "1 4 4", "2 1 1", "2 2 4", "2 4 4" }, fp32 = { "HALF_A_MAX_BC" } },
        { { "16x64x64" }, half = { "GENERIC", "MAX_AB_HALF_C", "MIN_A_MAX_B_HALF_C", "2 1 1", "2 8 4", "HALF_A_MAX_BC" } },
        { { "16x128x32" }, half = { "GENERIC", "4 4 1" } },
        { { "16x128x64" }, half = { "MIN_A_MAX_B_HALF_C", "2 8 4" } },
        { { "16x256x32" }, half = { "MAX_AB_MIN_C" } },
        { { "16x256x64" }, half = { "MIN_A_MAX_B_HALF_C", "2 8 4" } },
        { { "32x16x64" }, half = { "GENERIC", "HALF_A_MIN_BC", "1 2 2", "2 1 1", "2 2 2", "4 2 2" }, fp32 = { "MAX_A_HALF_BC" } },
        { { "32x32x32" }, half = { "GENERIC", "2 2 1", "2 2 2" } },
        { { "32x64x32" }, half = { "UNIFORM_MAX", "2 2 1", "2 8 8", "4 4 1", "4 4 2" } },
        { { "64x32x32" }, half = { "UNIFORM_MAX", "4 4 1", "4 4 2" } },
        { { "32x128x32" }, half = { "UNIFORM_MAX", "MAX_AB_QUARTER_C", "MAX_AB_MIN_C" } },
        { { "64x16x64" }, half = { "GENERIC", "MAX_A_MIN_BC", "MAX_A_QUARTER_BC", "1 2 2" }, fp32 = { "8 2 2" } },
        { { "64x32x64" }, half = { "GENERIC", "UNIFORM_MAX" } },
        { { "64x64x32" }, half = { "UNIFORM_MAX", "2 2 2" } },
        { { "64x64x64" },
            half = { "GENERIC", "UNIFORM_MAX", "MAX_AB_HALF_C", "MAX_AB_QUARTER_C", "HALF_A_MIN_BC", "1 4 4", "2 2 2", "2 2 4", "HALF_A_MAX_BC" },
            fp32 = { "GENERIC", "UNIFORM_MAX", "MAX_A_MIN_BC", "1 4 4" } },
        { { "128x16x64", "256x16x64" }, half = { "MAX_A_MIN_BC", "MAX_A_QUARTER_BC" } },
        { { "128x32x32" }, half = { "UNIFORM_MAX", "MAX_AB_QUARTER_C", "MAX_A_QUARTER_BC", "MAX_AB_MIN_C" }, fp32 = { "8 2 2" } },
        { { "128x128x64", "256x256x32" }, half = { "MAX_AB_HALF_C", "HALF_UNIFORM" } },
        { { "64x128x32", "64x128x64", "128x64x32", "128x128x32", "128x256x32", "256x32x64", "256x128x32" }, half = { "UNIFORM_MAX" } },
        { { "32x64x16" }, fp32 = { "UNIFORM_MAX", "MIN_A_MAX_BC" } },
        { { "64x64x16" }, fp32 = { "GENERIC", "UNIFORM_MAX" } },
        { { "128x32x16" }, fp32 = { "UNIFORM_MAX", "MAX_A_MIN_BC" } },
        { { "32x128x16", "64x32x16", "64x128x16", "128x64x16", "128x128x16", "128x256x16", "256x128x16" }, fp32 = { "UNIFORM_MAX" } },
    },
}

-- Pipelines: name and i(ntrawave) or e (interwave). A tile that no list names has the last entry's.
local pipelines = {
    conv_fwd = {
        { { "16x16x64", "16x16x128", "16x32x64", "32x16x64" }, { "basic_v1 i", "basic_v1 e", "mem i", "mem e" } },
        { { "16x64x64", "16x128x64", "16x256x64", "32x64x64", "32x128x64", "32x256x64", "64x16x64", "64x32x64", "128x16x64", "128x32x64",
            "256x16x64", "256x32x64" }, { "mem i", "mem e" } },
        { { "64x64x64" }, { "compv3 i" }, half = { "compv3 i", "wavelet i" } },
        { { "64x128x64", "128x64x64", "224x256x64", "256x224x64" }, { "compv3 i" } },
        { { "128x32x32", "128x256x32", "256x128x32" }, { "basic_v1 i", "basic_v1 e" } },
        { { "128x128x32" }, { "compv4 i" }, half = { "basic_v1 i", "compv4 i" } },
        { { "128x128x64" }, { "basic_v1 e", "compv3 i", "compv6 i" },
            half = { "basic_v1 e", "compv3 i", "compv4 i", "compv6 i", "wavelet i" } },
        { { "256x256x32" }, { "compv3 i", "compv4 i", "compv6 i" } },
        { {}, { "basic_v1 i" } },
    },
    conv_bwd_data = { { {}, { "basic_v1 i" } } },
    conv_bwd_weight = {
        { { "16x16x32" }, { "compv6 i", "mem i" }, half = { "basic_v1 i", "compv6 i", "mem i" } },
        { { "32x32x32", "32x64x32", "32x128x32", "64x32x32" }, { "basic_v1 i", "compv6 i", "mem i" } },
        { { "128x32x32" }, { "basic_v1 i" }, half = { "basic_v1 i", "compv6 i", "mem i" } },
        { { "16x16x64" }, { "basic_v1 i", "basic_v1 e", "mem i", "mem e" } },
        { { "32x16x64" }, { "basic_v1 i" }, half = { "basic_v1 i", "basic_v1 e", "mem i", "mem e" } },
        { { "16x32x64" }, { "basic_v1 i" }, half = { "basic_async_v1 i", "basic_v1 i", "basic_v1 e", "mem i", "mem e" } },
        { { "16x64x64" }, {}, half = { "basic_async_v1 i", "mem i", "mem e", "wavelet i" } },
        { { "16x128x64", "16x256x64", "128x16x64", "256x16x64" }, { "mem i", "mem e" } },
        { { "64x16x64" }, { "mem i" }, half = { "mem i", "mem e" } },
        { { "64x32x64" }, {}, half = { "wavelet i" } },
        { { "64x64x64" }, { "basic_v1 i" }, half = { "basic_async_v1 i", "basic_v1 i", "wavelet i" } },
        { { "64x128x64", "256x32x64" }, { "basic_async_v1 i" } },
        { { "128x128x64" }, { "basic_v1 e", "compv3 i", "compv4 i", "compv6 i" } },
        { { "256x256x32" }, { "compv3 i", "compv4 i", "compv6 i" } },
        { {}, { "basic_v1 i" } },
    },
}

-- An entry of one of these lists for a tile; the last entry where no other names it, if that one names none.
local function index(list)
    local by_tile = {}
    for _, entry in ipairs(list) do
        for _, tile in ipairs(entry[1]) do
            assert(not by_tile[tile], "a tile stands twice in a table")
            by_tile[tile] = entry
        end
    end
    local last = list[#list]
    return by_tile, #last[1] == 0 and last or nil
end

local vectors_by_tile, pipelines_by_tile, pipelines_else = {}, {}, {}
for _, op in ipairs({ "conv_fwd", "conv_bwd_data", "conv_bwd_weight" }) do
    vectors_by_tile[op] = index(vectors[op])
    pipelines_by_tile[op], pipelines_else[op] = index(pipelines[op])
end

return {
    tiles = function(op, class, ndim)
        local out, left = {}, {}
        for _, tile in ipairs(ndim == 3 and class == "half" and tiles[op].not_3d or {}) do
            left[tile] = true
        end
        for _, tile in ipairs(tiles[op][class]) do
            if not left[tile] then
                out[#out + 1] = tile
            end
        end
        return out
    end,
    waves = function(op, tile)
        local out = {}
        for i, name in ipairs(overrides[op][tile] or base[tile] or { "S" }) do
            out[i] = strategies[name]
        end
        return out
    end,
    vectors = function(op, tile, class)
        local entry = vectors_by_tile[op][tile]
        return entry and (entry[class] or {}) or { "GENERIC" }
    end,
    pipelines = function(op, tile, class)
        local entry = pipelines_by_tile[op][tile] or pipelines_else[op]
        return class == "half" and entry.half or entry[2]
    end,
}
