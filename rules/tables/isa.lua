-- Rules on the axes isa and math, which families of CPUs share.
return {
    -- Not every CPU with the dot products of AVX-512 has them in 256 bits as well.
    widest = {
        "dot products are taken in the machine's widest vectors",
        function(c, arch)
            return c.math ~= "dp" or c.isa == arch.isa[1]
        end,
    },
}
