local thin, conv, gemm = include "tables/thin", include "tables/conv_full", include "tables/gemm"
local bytes = (include "tables/vectors").bytes

-- The first tile of the machine's best instructions.
local function preferred(c, arch)
    return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1]
end

return {
    about = "one or two configs per family, operation and type: the quickest look",
    families = {
        ["conv.direct"] = function(c, arch)
            local tile_w, vecs = 14, 2
            if c.isa == "avx2" then
                tile_w, vecs = 6, 2
            end
            return preferred(c, arch) and c.band == 0 and c.tile_h == 1 and c.tile_w == tile_w and c.vecs == vecs
        end,
        ["conv.pointwise"] = function(c, arch)
            local tile_m = c.isa == "avx2" and 6 or 14
            return preferred(c, arch) and c.band == 0 and c.ahead == 1 and c.tile_m == tile_m and c.vecs == 2
        end,
        ["conv.direct_1st"] = function(c, arch)
            local tile_w = c.isa == "avx2" and 6 or 14
            return preferred(c, arch) and c.band == 0 and c.tile_w == tile_w and c.vecs == 2
        end,
        ["conv.gemm_col2im"] = function(c, arch)
            local tile_w = c.isa == "avx2" and 6 or 14
            return preferred(c, arch) and c.band == 0 and c.tile_w == tile_w and c.vecs == 2
        end,
        ["gemm.tiled"] = function(c, arch)
            local tile_m = c.isa == "avx2" and 6 or 14
            return preferred(c, arch) and c.band == 0 and c.ahead == 1 and c.tile_m == tile_m and c.vecs == 2
        end,
        ["conv.depthwise"] = function(c, arch)
            local math = (c.dtype == "bf16" or c.dtype == "int8") and "fma" or arch.math[c.dtype][1]
            return c.isa == arch.isa[1] and c.math == math and c.block == 0 and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == 1 and c.tile_w == 8
        end,
        ["conv.merged"] = function(c, arch)
            return (preferred(c, arch) or c.dtype == "int8" and c.isa == arch.isa[1]) and c.block == 0 and c.group_c == 4 and c.group_k == 4 and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == 1
                and c.tile_w == 8
        end,
        ["conv.direct_bwd_weight"] = function(c, arch)
            local tile = c.isa == "avx2" and 6 or 8
            return preferred(c, arch) and c.lanes == "c" and c.tile == tile and c.vecs == 2 and c.copy == 1 and c.merge == 0 and c.box == 0
        end,
        ["conv.depthwise_weight"] = function(c, arch)
            local tile_h = c.dtype == "int8" and 2 or 1 -- whole numbers are multiplied as pairs of rows
            return c.isa == arch.isa[1] and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == tile_h and c.tile_w == 8
        end,
        ["conv.merged_weight"] = function(c, arch)
            return c.isa == arch.isa[1] and c.group_c == 4 and c.group_k == 4 and c.taps_h == 1 and c.taps_w == 1 and c.tile_h == 1
                and c.tile_w == 8
        end,
        ["conv.reference"] = true,
        ["gemm.reference"] = true,
        ["conv.depthwise_block"] = { points = (include "tables/depthwise").handful },
        ["conv.direct_block"] = { points = (include "tables/direct").handful },
        ["conv.direct_1st_block"] = { points = (include "tables/direct_1st").handful },
        ["conv.igemm"] = {
            points = function(arch, op, dtype, legal)
                local list = thin.fifths(conv.points(arch, op, dtype), legal)
                -- bf8 is fp8 but for a word of the instruction's name
                return bytes[dtype] == 1 and thin.few(list, dtype == "bf8") or thin.handful(list)
            end,
        },
        ["gemm.mma"] = {
            points = function(arch, op, dtype, legal)
                return thin.handful(thin.fifths(gemm.full(arch, op, dtype), legal))
            end,
        },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
    },
}
