-- Rules on the axes isa and math, which families of CPUs share.
return {
    -- The isas of families whose tiles may be narrow vectors of a machine with many registers: those of the architecture, and of fp32 and of bf16
    -- by dot products these.
    isas = function(arch, dtype)
        local list = {}
        for i, isa in ipairs(arch.isa) do
            list[i] = isa
        end
        for _, isa in ipairs((dtype == "fp32" or dtype == "bf16" and arch.math.bf16[1] == "dp") and arch.narrow or {}) do
            list[#list + 1] = isa
        end
        return list
    end,
    -- The maths of a type for families that have kernels of tiles: those of the architecture, and amx where there are tiles.
    maths = function(arch, dtype)
        local list, tiles = {}, false
        for i, math in ipairs(arch.math[dtype]) do
            list[i] = math
        end
        for _, feature in ipairs(arch.features) do
            tiles = tiles or feature == "amx"
        end
        if tiles and (dtype == "bf16" or dtype == "int8") then
            list[#list + 1] = "amx"
        end
        return list
    end,
    -- The sizes of an axis that are for tiles of 16 rows alone; 28 pixels fill the vector registers.
    whole_tiles = function(axis, least)
        return {
            "multiples of 16 pixels are for tiles",
            function(c)
                return c.math == "amx" or c[axis] < least or c[axis] == 28
            end,
        }
    end,
    -- 8 lanes with 32 registers are for channels that leave most of a wider vector idle: two of their vectors are one of these, and what 16
    -- registers hold is isa=avx2's. pixels: of the tile.
    narrow_tiles = function(pixels)
        return {
            "isa=avx512vl, and it alone, has 5 and 7 vectors; an odd number, with more sums than the registers of avx2 hold, and band=0",
            function(c)
                if c.isa ~= "avx512vl" then
                    return c.vecs ~= 5 and c.vecs ~= 7
                end
                return c.vecs % 2 == 1 and pixels(c) * c.vecs + c.vecs + 1 > 16 and c.band == 0
            end,
        }
    end,
    -- Of families with the axis ahead: one choice is enough for tiles this rare.
    narrow_ahead = {
        "narrow vectors ask for the next rows ahead",
        function(c)
            return c.isa ~= "avx512vl" or c.ahead == 1
        end,
    },
    -- Not every CPU with the dot products of AVX-512 has them in 256 bits as well.
    widest = {
        "dot products are taken in the machine's widest vectors, or narrow ones of AVX-512",
        function(c, arch)
            return c.math ~= "dp" or c.isa == arch.isa[1] or c.isa == "avx512vl"
        end,
    },
}
