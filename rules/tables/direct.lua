-- 3x3 convolution of narrow groups on GPUs: the published grids of waves, and our own with larger tiles a wave, strides and accesses for
-- any count of groups. The published records name waves alone; here each wave of them has 4 x 4 pixels, and the waves stand side by side
-- along the width.
local thin, arches = include "tables/thin", include "tables/arch"

-- The least depth that an instruction of 16 pixels has; gfx950's own is 32.
local function depth(arch, dtype)
    if arches.has(arch, "mma") or (arches.lists(arch.tiles[dtype], "16x16x16") and arch.compile ~= "gfx950") then
        return 16
    end
    return 32
end

local function add(out, inst_k, channels, waves_c, waves_q, swizzle, store, vec)
    out[#out + 1] = {
        channels = channels, tile_h = 4, tile_w = 4 * waves_q, waves_c = waves_c, waves_q = waves_q, inst_k = inst_k, swizzle = swizzle,
        store = store, vec = vec,
    }
end

local both = { "registers", "lds" }

local function add_four(out, k)
    for _, grid in ipairs({ { 1, 1 }, { 2, 1 }, { 2, 2 }, { 2, 4 }, { 2, 8 } }) do
        for _, store in ipairs(both) do
            add(out, k, 4, grid[1], grid[2], "xor", store, 8)
            for _, vec in ipairs(grid[2] >= 4 and { 1, 2 } or {}) do
                add(out, k, 4, grid[1], grid[2], "cyclic", store, vec)
            end
        end
    end
end

local function add_middle(out, k, channels)
    for _, waves in ipairs({ 1, 2, 3, 4, 5, 6, 7, 8, 16 }) do
        for _, store in ipairs(both) do
            add(out, k, channels, 1, waves, "xor", store, 8)
        end
    end
    for _, vec in ipairs({ 1, 2, 4 }) do
        add(out, k, channels, 1, 8, "cyclic", "lds", vec)
    end
    add(out, k, channels, 1, 8, "cyclic", "registers", 8)
end

local function add_wide(out, k)
    for waves = 2, 16, 2 do
        for _, store in ipairs(both) do
            add(out, k, 32, 1, waves, "xor", store, 8)
            if waves == 4 or waves == 8 then
                add(out, k, 32, 1, waves, "cyclic", store, 8)
            end
        end
    end
    for _, vec in ipairs({ 1, 2, 4 }) do
        add(out, k, 32, 1, 8, "xor", "lds", vec)
    end
end

-- tile, waves_c, waves_q, vec
local own = {
    { "8x8", 1, 2, 4 }, { "8x8", 1, 1, 8 }, { "8x8", 1, 4, 8 }, { "8x16", 1, 4, 8 }, { "4x16", 2, 2, 8 }, { "8x8", 2, 2, 4 },
    { "14x16", 1, 7, 8 }, { "8x28", 1, 7, 8 },
}

local function add_own(out, op, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for stride = 1, op == "conv_fwd" and 2 or 1 do
            for _, row in ipairs(own) do
                local th, tw = numbers(row[1])
                out[#out + 1] = {
                    channels = channels, tile_h = th, tile_w = tw, stride = stride, waves_c = row[2], waves_q = row[3], inst_k = k,
                    swizzle = "xor", store = "lds", vec = row[4],
                }
            end
        end
        out[#out + 1] = {
            channels = channels, tile_h = 8, tile_w = 8, waves_q = 2, inst_k = k, swizzle = "none", store = "registers", vec = 4,
        }
        out[#out + 1] = { channels = channels, tile_h = 8, tile_w = 8, waves_q = 2, inst_k = k == 32 and 16 or 32, vec = 4 }
        out[#out + 1] = { channels = channels, tile_h = 8, tile_w = 8, waves_q = 2, inst_k = 8, vec = 4 }
    end
end

local function full(arch, op, dtype)
    local out, k = {}, depth(arch, dtype)
    add_four(out, k)
    add_middle(out, k, 8)
    add_middle(out, k, 16)
    add_wide(out, k)
    add_own(out, op, k)
    return out
end

local function default(arch, op, dtype)
    local out, k = {}, depth(arch, dtype)
    add_own(out, op, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for _, waves in ipairs({ 2, 4, 8 }) do
            add(out, k, channels, 1, waves, "xor", "lds", 8)
        end
    end
    return out
end

-- The first of each width of a group and stride.
local function handful(list)
    local seen, out = {}, {}
    for _, p in ipairs(list) do
        local key = p.channels .. "," .. (p.stride or 1)
        if not seen[key] then
            seen[key] = true
            out[#out + 1] = p
        end
    end
    return out
end

return {
    full = full,
    default = default,
    fifths = function(arch, op, dtype, legal)
        return thin.joined(thin.fifths(full(arch, op, dtype), legal), handful(thin.kept(default(arch, op, dtype), legal)))
    end,
    handful = function(arch, op, dtype, legal) return handful(thin.kept(default(arch, op, dtype), legal)) end,
}
