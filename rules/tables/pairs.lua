-- Waves and instruction of a tile, where a list names waves alone: the instruction is the architecture's best for the part of a wave.
local arches = include "tables/arch"

-- The deepest instruction of the architecture for a part of a wave; wide ones where the part allows. Where fp32 is multiplied one by one, the
-- least deep: its fragments are the smallest.
local function instruction(arch, dtype, m, n, k)
    local best, sign = nil, dtype == "fp32" and arches.has(arch, "mma") and -1 or 1
    for _, text in ipairs(arch.tiles[dtype] or {}) do
        local im, in_, ik = numbers(text)
        local used = im >= 16 and im <= 32 and in_ >= 8 and in_ <= 32 and m % im == 0 and n % in_ == 0 and k % ik == 0
        if used and (not best or im * in_ > best[1] * best[2] or (im * in_ == best[1] * best[2] and sign * ik > sign * best[3])) then
            best = { im, in_, ik }
        end
    end
    return best
end

-- Waves: as listed, else those of the architecture that give each wave a whole instruction, the squarest first.
local function waves(arch, dtype, listed, m, n, k)
    local wm, wn, wk = numbers(listed)
    if arches.lists(arch.waves, listed) then
        return { wm, wn, wk }, instruction(arch, dtype, m // wm, n // wn, k // wk)
    end
    for _, text in ipairs(arch.waves) do
        local am, an, ak = numbers(text)
        local inst = ak == 1 and m % am == 0 and n % an == 0 and instruction(arch, dtype, m // am, n // an, k)
        if inst then
            return { am, an, 1 }, inst
        end
    end
end

return { waves = waves }
