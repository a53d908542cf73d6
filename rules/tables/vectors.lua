-- Widths of accesses to the two operands and the result, by name. m is the widest, 16 bytes: 8 elements of a half type, 4 of fp32.
-- QUARTER_AB_MAX_C really has halves; the name is the one in use.
local strategies = {
    GENERIC = { 0, 0, 0 },
    UNIFORM_MAX = { 1, 1, 1 },
    MAX_AB_HALF_C = { 1, 1, 2 },
    MAX_A_MIN_BC = { 1, 0, 0 },
    MIN_A_MAX_BC = { 0, 1, 1 },
    HALF_UNIFORM = { 2, 2, 2 },
    QUARTER_AB_MAX_C = { 2, 2, 1 },
    MAX_AB_QUARTER_C = { 1, 1, 4 },
    MAX_A_QUARTER_BC = { 1, 4, 4 },
    MIN_AB_MAX_C = { 0, 0, 1 },
    MAX_A_HALF_BC = { 1, 2, 2 },
    MAX_AB_MIN_C = { 1, 1, 0 },
    MIN_AB_QUARTER_C = { 0, 0, 4 },
    MIN_A_MAX_B_HALF_C = { 0, 1, 2 },
    HALF_A_MAX_BC = { 2, 1, 1 },
    HALF_A_MIN_BC = { 2, 0, 0 },
}

local function width(part, most)
    return part == 0 and 1 or most // part
end

-- The widths that a name or a text "4 1 1" stands for; most: elements of 16 bytes.
local function widths(text, most)
    local parts = strategies[text]
    if parts then
        return width(parts[1], most), width(parts[2], most), width(parts[3], most)
    end
    local a, b, c = numbers(text)
    assert(c, "vectors: neither the name of a strategy nor three widths")
    return a, b, c
end

local bytes = { fp32 = 4, fp16 = 2, bf16 = 2, fp8 = 1, bf8 = 1, int8 = 1 } -- of an element

return { widths = widths, bytes = bytes }
