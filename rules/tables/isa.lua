-- Rules on the axes isa and math, which families of CPUs share.
return {
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
    -- Not every CPU with the dot products of AVX-512 has them in 256 bits as well.
    widest = {
        "dot products are taken in the machine's widest vectors",
        function(c, arch)
            return c.math ~= "dp" or c.isa == arch.isa[1]
        end,
    },
}
