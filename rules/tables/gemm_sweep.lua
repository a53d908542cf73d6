-- The published sweep of plain matrix products: the product of tiles, waves and instructions with three pipelines, without padding. Its
-- gate: results that pass shared memory are cut into a power of two of parts.
local sides = { 64, 128, 192, 256 }
local kinds = {
    { "compv3", "intrawave", 1 }, { "compv4", "intrawave", 2 }, { "mem", "intrawave", 1 }, { "mem", "interwave", 1 },
}

local function power_of_two(value)
    while value % 2 == 0 do
        value = value // 2
    end
    return value == 1
end

-- Waves and instructions of the architecture that the sweep has.
local function pairs_of(arch, dtype)
    local out = {}
    for _, waves in ipairs(arch.waves) do
        local wm, wn, wk = numbers(waves)
        for _, inst in ipairs(wk == 1 and wm <= 4 and wn <= 4 and arch.tiles[dtype] or {}) do
            local im, in_, ik = numbers(inst)
            if (im == 16 or im == 32) and in_ >= 16 and in_ <= 64 and ik >= 8 and ik <= 128 then
                out[#out + 1] = { wm, wn, im, in_, ik }
            end
        end
    end
    return out
end

return {
    points = function(arch, op, dtype)
        local out = {}
        for _, w in ipairs(pairs_of(arch, dtype)) do
            for _, m in ipairs(sides) do
                for _, n in ipairs(m % (w[1] * w[3]) == 0 and sides or {}) do
                    local whole = n % (w[2] * w[4]) == 0
                    local even = whole and power_of_two(m // (w[1] * w[3])) and power_of_two(n // (w[2] * w[4]))
                    for _, k in ipairs(whole and sides or {}) do
                        for _, kind in ipairs(kinds) do
                            for _, epi in ipairs(even and { "cshuffle", "default" } or { "default" }) do
                                for persistent = 0, 1 do
                                    out[#out + 1] = {
                                        tile_m = m, tile_n = n, tile_k = k, wave_m = w[1], wave_n = w[2], inst_m = w[3], inst_n = w[4],
                                        inst_k = w[5], pipe = kind[1], sched = kind[2], stages = kind[3], epi = epi, persistent = persistent,
                                        pad_m = 0, pad_n = 0, pad_k = 0,
                                        vec_a = dtype == "fp32" and 4 or 8, vec_b = dtype == "fp32" and 4 or 8, vec_c = dtype == "fp32" and 4 or 8,
                                    }
                                end
                            end
                        end
                    end
                end
            end
        end
        return out
    end,
}
