-- A list for each family and instruction set. The whole list is taken for one operation and type in the machine's best instructions, and its
-- beginning for the others, whose text differs by few words: so every value of every axis is met once while the set stays small enough to
-- compile in a test. Axis values stand in the order given above each list.
local among = include "tables/among"

-- How much of a list a config's operation and type take.
local function share(c, arch)
    local other = c.op == "conv_bwd_data" and c.family ~= "conv.gemm_col2im" -- which has no other
    local best = c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
    if c.math == "amx" then
        return other and 3 or math.huge
    elseif c.dtype == "fp32" and not other then
        return best and math.huge or 7
    elseif c.dtype == "fp8" or c.dtype == "bf8" then
        return best and not other and 2 or 1
    end
    return best and (c.dtype == "fp32" or not other and (c.math == "dp" or c.dtype == "int8")) and 4 or 2
end

local function picked(lists, c, arch, values)
    local has, place = among(lists[c.isa], values)
    return has and place <= share(c, arch)
end

-- tile_h, tile_w, vecs, band, edge
local direct = {
    avx512 = {
        { 1, 14, 2, 0, "skip" }, { 2, 7, 2, 4, "pad" }, { 1, 28, 1, 0, "pad" }, { 1, 5, 4, 0, "skip" }, { 1, 9, 3, 4, "pad" },
        { 1, 8, 3, 0, "pad" }, { 1, 10, 2, 0, "skip" }, { 1, 11, 2, 0, "pad" }, { 1, 12, 2, 4, "pad" }, { 1, 13, 2, 0, "skip" },
        { 1, 16, 1, 0, "skip" }, { 2, 4, 3, 0, "pad" }, { 2, 6, 2, 0, "skip" }, { 1, 3, 4, 0, "skip" },
        { 3, 1, 4, 0, "skip" }, { 5, 2, 2, 0, "pad" },
    },
    avx2 = {
        { 1, 6, 2, 0, "skip" }, { 2, 7, 1, 4, "pad" }, { 1, 4, 3, 0, "pad" }, { 1, 14, 1, 0, "skip" }, { 1, 5, 2, 4, "pad" },
        { 3, 2, 2, 0, "skip" }, { 4, 1, 2, 0, "pad" }, { 1, 10, 1, 4, "pad" }, { 1, 11, 1, 0, "skip" }, { 1, 12, 1, 0, "pad" },
        { 1, 13, 1, 0, "skip" }, { 1, 3, 3, 0, "skip" }, { 1, 8, 1, 0, "skip" }, { 1, 9, 1, 0, "pad" }, { 2, 1, 4, 0, "skip" },
        { 5, 1, 2, 0, "skip" },
    },
    avx512vl = { { 1, 5, 5, 0, "skip" }, { 1, 3, 7, 0, "skip" }, { 1, 9, 3, 0, "skip" }, { 1, 28, 1, 0, "skip" } },
}
-- tile_m, vecs, band, ahead
local rows = {
    avx512 = {
        { 14, 2, 0, 1 }, { 6, 4, 1, 0 }, { 28, 1, 4, 0 }, { 8, 3, 0, 0 }, { 7, 3, 1, 1 }, { 12, 2, 4, 1 }, { 4, 4, 0, 0 }, { 4, 6, 0, 1 },
        { 1, 6, 0, 0 }, { 2, 6, 1, 0 }, { 3, 6, 4, 1 }, { 3, 4, 0, 0 }, { 5, 4, 0, 0 }, { 9, 2, 1, 1 }, { 10, 1, 0, 0 }, { 11, 2, 4, 0 },
        { 13, 2, 0, 1 },
    },
    avx2 = {
        { 6, 2, 0, 1 }, { 4, 3, 1, 0 }, { 14, 1, 4, 0 }, { 7, 1, 0, 0 }, { 8, 1, 1, 1 }, { 12, 1, 4, 1 }, { 1, 6, 0, 0 }, { 2, 4, 1, 0 },
        { 3, 3, 4, 1 }, { 2, 3, 0, 0 }, { 1, 4, 0, 1 }, { 5, 2, 0, 0 }, { 9, 1, 0, 1 }, { 10, 1, 1, 0 }, { 11, 1, 0, 0 }, { 13, 1, 4, 0 },
    },
    avx512vl = { { 5, 5, 0, 1 }, { 3, 7, 0, 1 } },
}
-- tile_w or tile_m, vecs, band, ahead; of math=amx. Only products have tiles of 96 and of 6 vectors.
local amx = {
    { 32, 2, 0, 1 }, { 16, 4, 4, 0 }, { 48, 1, 0, 0 }, { 64, 1, 4, 1 }, { 16, 3, 0, 1 }, { 16, 1, 1, 0 }, { 96, 1, 0, 1 }, { 16, 6, 4, 0 },
}
-- tile, vecs, merge, box
local amx_weight = {
    { 32, 2, 0, 0 }, { 16, 4, 0, 128 }, { 64, 1, 0, 0 }, { 16, 1, 0, 0 }, { 16, 3, 0, 0 }, { 16, 6, 0, 0 }, { 32, 2, 1, 0 }, { 64, 1, 1, 128 },
    { 16, 3, 1, 0 }, { 32, 3, 0, 0 }, { 48, 2, 0, 128 }, { 32, 3, 1, 0 },
}
-- tile_w, vecs, band
local first = {
    avx512 = {
        { 14, 2, 0 }, { 6, 4, 4 }, { 28, 1, 0 }, { 8, 3, 0 }, { 4, 4, 4 }, { 5, 4, 0 }, { 7, 3, 0 }, { 10, 2, 4 }, { 11, 2, 0 }, { 12, 2, 0 },
        { 16, 1, 4 }, { 9, 3, 0 }, { 13, 2, 0 }, { 20, 1, 4 }, { 25, 1, 0 },
    },
    avx2 = {
        { 6, 2, 0 }, { 4, 3, 4 }, { 14, 1, 0 }, { 5, 2, 0 }, { 7, 1, 0 }, { 8, 1, 4 }, { 10, 1, 0 }, { 11, 1, 0 }, { 12, 1, 4 },
        { 9, 1, 0 }, { 13, 1, 0 },
    },
    avx512vl = { { 5, 5, 0 } },
}
-- tile_w, vecs, band
local scatter = {
    avx512 = {
        { 14, 2, 0 }, { 28, 1, 0 }, { 6, 4, 16 }, { 9, 3, 0 }, { 5, 5, 16 }, { 4, 5, 0 }, { 7, 3, 0 }, { 8, 2, 16 }, { 10, 1, 0 }, { 12, 2, 0 },
        { 16, 1, 16 },
    },
    avx2 = {
        { 6, 2, 0 }, { 4, 3, 16 }, { 12, 1, 0 }, { 7, 1, 0 }, { 5, 2, 16 }, { 8, 1, 0 }, { 9, 1, 16 }, { 10, 1, 0 }, { 14, 1, 0 },
    },
}
-- taps_h, taps_w, stride, tile_h, tile_w, block
local depthwise = {
    avx512 = {
        { 3, 3, 1, 1, 7, 0 }, { 3, 3, 2, 2, 4, 1 }, { 2, 7, 1, 1, 7, 0 }, { 1, 1, 1, 2, 7, 1 }, { 7, 7, 1, 1, 7, 0 }, { 5, 5, 1, 4, 2, 1 },
        { 1, 3, 1, 1, 8, 0 }, { 3, 3, 1, 1, 14, 0 }, { 3, 3, 1, 3, 5, 0 }, { 3, 3, 1, 7, 1, 1 }, { 1, 5, 2, 1, 6, 0 }, { 1, 3, 2, 1, 10, 0 },
        { 4, 4, 2, 2, 8, 0 }, { 6, 1, 1, 6, 2, 1 }, { 2, 2, 1, 8, 2, 0 }, { 1, 6, 1, 4, 3, 0 }, { 3, 3, 3, 3, 3, 0 }, { 4, 1, 2, 6, 2, 0 },
        { 9, 1, 2, 6, 2, 0 }, { 1, 9, 3, 1, 6, 0 },
    },
    avx2 = {
        { 3, 3, 1, 1, 8, 0 }, { 3, 3, 2, 2, 4, 1 }, { 1, 1, 1, 1, 14, 1 }, { 7, 7, 1, 1, 7, 0 }, { 5, 5, 1, 1, 4, 1 }, { 1, 1, 1, 4, 2, 0 },
        { 1, 3, 1, 1, 10, 0 }, { 1, 3, 1, 3, 4, 0 }, { 1, 1, 1, 7, 1, 0 }, { 1, 5, 2, 1, 6, 0 }, { 1, 3, 1, 2, 5, 0 },
        { 1, 4, 2, 2, 4, 0 }, { 4, 1, 1, 4, 2, 0 }, { 6, 1, 1, 6, 1, 1 }, { 2, 2, 1, 8, 1, 0 }, { 1, 3, 3, 2, 3, 0 }, { 1, 6, 1, 1, 8, 0 },
        { 9, 1, 2, 4, 2, 0 }, { 1, 9, 3, 2, 3, 0 },
    },
    avx512vl = { { 3, 3, 2, 2, 4, 0 } }, -- of pairs
}
-- The same of one row of taps, whose columns are paired.
local depthwise_pairs = { avx512 = { { 1, 5, 1, 1, 7, 0 }, { 1, 3, 2, 2, 4, 0 } }, avx512vl = { { 1, 5, 1, 1, 7, 0 } } }
-- taps_h, taps_w, stride, tile_h, tile_w, group_c, group_k, block
local merged = {
    avx512 = {
        { 3, 3, 1, 1, 14, 4, 4, 0 }, { 3, 3, 2, 2, 4, 8, 8, 1 }, { 1, 1, 1, 2, 7, 16, 16, 0 }, { 1, 3, 1, 1, 8, 1, 2, 0 },
        { 1, 1, 1, 1, 4, 32, 32, 1 }, { 3, 3, 1, 1, 7, 2, 2, 0 }, { 1, 1, 1, 1, 14, 1, 4, 1 }, { 1, 3, 1, 2, 3, 8, 8, 0 },
        { 1, 3, 1, 2, 5, 4, 4, 0 }, { 1, 1, 1, 1, 9, 16, 16, 0 }, { 3, 3, 1, 1, 10, 2, 2, 1 }, { 1, 1, 1, 1, 6, 8, 8, 0 },
        { 1, 1, 1, 1, 12, 4, 4, 0 },
    },
    avx2 = {
        { 3, 3, 1, 1, 8, 4, 4, 0 }, { 3, 3, 2, 2, 4, 8, 8, 1 }, { 1, 1, 1, 1, 7, 16, 16, 0 }, { 1, 3, 1, 1, 7, 1, 2, 0 },
        { 1, 1, 1, 1, 4, 32, 32, 1 }, { 1, 1, 1, 1, 8, 2, 2, 0 }, { 1, 3, 1, 2, 3, 4, 4, 0 }, { 1, 1, 1, 2, 5, 8, 8, 0 },
        { 1, 1, 1, 1, 6, 8, 8, 0 }, { 1, 1, 1, 1, 9, 4, 4, 0 }, { 1, 3, 1, 1, 10, 4, 4, 1 }, { 1, 1, 1, 1, 12, 8, 8, 0 },
    },
}
-- lanes, tile, vecs, copy, merge, box
local weight = {
    avx512 = {
        { "c", 8, 2, 1, 0, 0 }, { "k", 7, 2, 1, 1, 128 }, { "c", 4, 1, 1, 1, 0 }, { "k", 8, 3, 1, 0, 128 }, { "c", 14, 2, 0, 0, 128 }, { "c", 15, 1, 0, 0, 128 },
        { "k", 6, 4, 0, 0, 0 }, { "c", 4, 6, 0, 0, 0 }, { "c", 16, 1, 0, 0, 0 }, { "k", 12, 2, 1, 0, 0 },
        { "k", 4, 5, 2, 1, 0 }, { "k", 9, 2, 2, 1, 128 }, { "c", 5, 4, 2, 1, 0 }, { "c", 13, 2, 0, 0, 0 }, { "k", 11, 1, 1, 0, 0 },
        { "c", 10, 2, 1, 0, 0 }, { "k", 3, 4, 1, 0, 0 }, { "k", 4, 1, 2, 2, 0 }, { "k", 9, 1, 0, 3, 0 }, { "c", 24, 1, 0, 0, 0 }, { "k", 18, 1, 1, 1, 0 },
        { "k", 6, 2, 0, 1, 128 }, { "c", 5, 1, 0, 1, 0 }, { "k", 3, 1, 0, 3, 0 },
        { "c", 20, 1, 2, 1, 0 }, { "k", 22, 1, 0, 1, 0 }, { "c", 28, 1, 0, 0, 0 }, { "k", 4, 1, 0, 4, 0 }, { "k", 5, 1, 0, 5, 0 },
    },
    avx2 = {
        { "c", 6, 2, 1, 0, 0 }, { "k", 7, 1, 1, 1, 128 }, { "c", 4, 3, 0, 0, 128 }, { "k", 8, 1, 0, 0, 0 }, { "c", 12, 1, 0, 0, 0 },
        { "c", 14, 1, 1, 0, 0 }, { "k", 5, 2, 2, 1, 0 }, { "c", 9, 1, 1, 1, 0 }, { "c", 13, 1, 0, 0, 0 }, { "k", 11, 1, 1, 0, 0 },
        { "c", 10, 1, 1, 0, 0 }, { "k", 3, 3, 1, 0, 0 }, { "k", 6, 2, 0, 1, 0 }, { "c", 9, 1, 0, 1, 0 },
    },
    avx512vl = { { "k", 7, 2, 2, 1, 0 } },
}
-- The same with pairs made of y where it lies.
local weight_pairs = { avx512 = { { "k", 3, 2, 2, 3, 128 }, { "k", 9, 2, 2, 1, 128 } } }
-- taps_h, taps_w, stride, tile_h, tile_w
local depthwise_weight = {
    avx512 = {
        { 3, 3, 1, 1, 14 }, { 1, 1, 1, 2, 7 }, { 3, 3, 2, 2, 4 }, { 1, 7, 1, 1, 8 }, { 5, 5, 1, 1, 4 }, { 1, 5, 1, 1, 2 }, { 3, 3, 1, 1, 1 },
        { 5, 5, 1, 1, 2 }, { 2, 7, 1, 1, 7 }, { 3, 3, 1, 4, 4 }, { 3, 3, 2, 7, 2 }, { 4, 4, 2, 2, 4 }, { 6, 1, 1, 7, 2 }, { 2, 6, 1, 1, 7 },
        { 2, 2, 3, 1, 8 },
    },
    avx2 = {
        { 3, 3, 1, 1, 4 }, { 1, 1, 1, 2, 8 }, { 3, 3, 2, 1, 2 }, { 1, 7, 1, 1, 7 }, { 1, 5, 1, 2, 4 }, { 3, 3, 1, 1, 1 }, { 7, 1, 1, 7, 1 },
        { 1, 5, 1, 1, 2 }, { 2, 5, 1, 4, 1 }, { 1, 3, 2, 7, 1 }, { 6, 1, 1, 7, 1 }, { 4, 1, 2, 7, 1 }, { 1, 4, 2, 1, 8 }, { 2, 2, 3, 1, 8 },
        { 1, 6, 1, 1, 8 }, { 5, 1, 1, 4, 2 }, { 1, 1, 1, 1, 14 },
    },
}
-- taps_h, taps_w, stride, tile_h, tile_w, group_c, group_k
local merged_weight = {
    avx512 = {
        { 3, 3, 1, 1, 14, 4, 4 }, { 1, 1, 1, 2, 7, 16, 16 }, { 3, 3, 2, 2, 4, 8, 8 }, { 1, 3, 1, 1, 8, 1, 2 }, { 1, 1, 1, 1, 4, 32, 32 },
        { 3, 3, 1, 1, 1, 2, 2 }, { 3, 3, 1, 1, 2, 1, 4 }, { 3, 3, 1, 4, 4, 16, 16 }, { 3, 3, 2, 7, 2, 4, 4 },
    },
    avx2 = {
        { 3, 3, 1, 1, 4, 4, 4 }, { 1, 1, 1, 1, 8, 16, 16 }, { 3, 3, 2, 1, 2, 8, 8 }, { 1, 3, 1, 1, 7, 1, 2 }, { 1, 1, 1, 2, 4, 32, 32 },
        { 3, 3, 1, 1, 1, 2, 2 }, { 1, 1, 1, 4, 1, 1, 4 }, { 1, 3, 1, 7, 1, 4, 4 },
    },
}

return {
    about = "a small spread for correctness: every axis value and both instruction sets",
    families = {
        ["conv.direct"] = function(c, arch)
            if c.math == "amx" then
                return picked({ avx512 = amx }, c, arch, { c.tile_w, c.vecs, c.band })
            end
            return picked(direct, c, arch, { c.tile_h, c.tile_w, c.vecs, c.band, c.edge })
        end,
        ["conv.pointwise"] = function(c, arch)
            if c.math == "amx" then
                return picked({ avx512 = amx }, c, arch, { c.tile_m, c.vecs, c.band, c.ahead })
            end
            return picked(rows, c, arch, { c.tile_m, c.vecs, c.band, c.ahead })
        end,
        ["conv.direct_1st"] = function(c, arch)
            if c.math == "amx" then
                return picked({ avx512 = amx }, c, arch, { c.tile_w, c.vecs, c.band })
            end
            return picked(first, c, arch, { c.tile_w, c.vecs, c.band })
        end,
        ["conv.gemm_col2im"] = function(c, arch)
            return picked(scatter, c, arch, { c.tile_w, c.vecs, c.band })
        end,
        ["gemm.tiled"] = function(c, arch)
            if c.math == "amx" then
                return picked({ avx512 = amx }, c, arch, { c.tile_m, c.vecs, c.band, c.ahead })
            end
            return picked(rows, c, arch, { c.tile_m, c.vecs, c.band, c.ahead })
        end,
        ["conv.depthwise"] = function(c, arch)
            local lists = c.math == "dp" and c.taps_h == 1 and depthwise_pairs or depthwise
            return picked(lists, c, arch, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w, c.block })
        end,
        ["conv.merged"] = function(c, arch)
            return picked(merged, c, arch, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w, c.group_c, c.group_k, c.block })
        end,
        ["conv.direct_bwd_weight"] = function(c, arch)
            if c.math == "amx" then
                return picked({ avx512 = amx_weight }, c, arch, { c.tile, c.vecs, c.merge, c.box })
            end
            local lists = c.math == "dp" and c.copy == 2 and weight_pairs or weight
            return picked(lists, c, arch, { c.lanes, c.tile, c.vecs, c.copy, c.merge, c.box })
        end,
        ["conv.depthwise_weight"] = function(c, arch)
            return picked(depthwise_weight, c, arch, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w })
        end,
        ["conv.merged_weight"] = function(c, arch)
            return picked(merged_weight, c, arch, { c.taps_h, c.taps_w, c.stride, c.tile_h, c.tile_w, c.group_c, c.group_k })
        end,
        ["conv.reference"] = true,
        ["gemm.reference"] = true,
        ["conv.depthwise_block"] = { builder = "tests" },
        ["conv.igemm"] = { builder = "tests" },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
    },
}
