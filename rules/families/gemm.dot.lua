-- Matrix products by dot products, B read where it lies: a tile is tile_m rows of A times tile_n columns of B.
local default = {
    avx512 = { { 1, 8 }, { 2, 8 }, { 3, 8 }, { 4, 6 }, { 6, 4 }, { 4, 4 }, { 6, 2 }, { 6, 3 }, { 6, 1 } },
    avx2 = { { 1, 8 }, { 2, 4 }, { 3, 3 }, { 4, 2 }, { 6, 1 } },
}

-- Each value of each axis, for fp32 in the best instructions; some for the others.
local tested = { { 2, 4 }, { 3, 3 }, { 1, 8 }, { 4, 2 }, { 5, 2 }, { 6, 1 }, { 2, 5 }, { 1, 6 } }
local tested_some = { { 3, 3 }, { 1, 8 }, { 6, 1 } }

local among = include "tables/among"

local function listed(c, list)
    return among(list, { c.tile_m, c.tile_n })
end

return {
    family = "gemm.dot",
    ops = { "gemm" },
    dtypes = { "fp32", "bf16", "fp16", "int8" },
    axes = function(arch, op, dtype)
        return {
            isa = arch.isa,
            math = arch.math[dtype],
            tile_m = { 1, 2, 3, 4, 5, 6 },
            tile_n = { 1, 2, 3, 4, 5, 6, 8 },
        }
    end,
    rules = {
        (include "tables/isa").widest,
        { "fewer than 6 sums in flight leave the multiply-add units idle", function(c, arch)
            return c.tile_m * c.tile_n >= 6
        end },
    },
    sets = {
        full = true,
        traits = true,
        tiny = function(c, arch)
            return c.isa == arch.isa[1] and c.tile_m == 1 and c.tile_n == 8
        end,
        default = function(c, arch)
            return c.isa == arch.isa[1] and c.math == arch.math[c.dtype][1] and listed(c, default[c.isa])
        end,
        tests = function(c, arch)
            return listed(c, c.dtype == "fp32" and c.isa == arch.isa[1] and tested or tested_some)
        end,
    },
}
