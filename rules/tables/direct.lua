-- 3x3 convolution on source pixels in shared memory, for GPUs: narrow groups, and one group whose filter stays in registers (dense). The
-- published grids of waves, and our own with larger tiles a wave, strides and accesses for any count of channels. The published records of
-- narrow groups name waves alone; here each wave of them has 4 x 4 pixels, and the waves stand side by side along the width.
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

-- Blocks that bring their weights themselves, for small images; channels of a wave behind vec, and at most of a group. On an H200 the best of these
-- take 58 % of the time of the best of all others (22 problems of 4 to 32 channels a group; of 32 they are not).
local bringing = {
    { "4x8", 4, 2, 8, 16, 16 }, { "4x8", 2, 2, 8, 32, 16 }, { "8x8", 2, 4, 8, 16, 16 }, { "4x4", 4, 1, 8, 16, 16 }, { "10x10", 4, 4, 8, 16, 16 },
    { "8x8", 4, 2, 8, 16, 16 }, { "4x16", 4, 2, 8, 16, 16 }, { "8x8", 2, 2, 4, 16, 4 },
}
-- Of groups of 32 channels with stride 1, on NVIDIA, where blocks stay: the best of nine on large images, others behind pipe=gather on all.
local bringing_wide = { { "8x16", 2, 4, 8, 32 } }

-- Backward data with a stride has 2 x 2 pixels where others have one.
local function phases(op, stride)
    return op == "conv_bwd_data" and stride or 1
end

local function add_own(out, op, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for stride = 1, 2 do
            for _, row in ipairs(own) do
                local th, tw = numbers(row[1])
                th, tw = th * phases(op, stride), tw * phases(op, stride)
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

local function add_bringing(out, arch, op, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for stride = 1, channels == 32 and (arches.has(arch, "mma") and 1 or 0) or 2 do
            for _, row in ipairs(channels == 32 and bringing_wide or bringing) do
                local th, tw = numbers(row[1])
                if channels <= (row[6] or channels) then
                    out[#out + 1] = {
                        channels = channels, tile_h = th * phases(op, stride), tile_w = tw * phases(op, stride), stride = stride,
                        waves_c = row[2], waves_q = row[3], cols = row[5], inst_k = k, swizzle = "xor", store = "lds", vec = row[4], pack = "lds",
                    }
                end
            end
        end
    end
end

-- The published records name waves, which share the source's channels, and the slices of each. Here they walk down 16 rows of 16 pixels and
-- compute 16 channels; on NVIDIA, whose threads have half the registers, eight where a wave has more than two slices.
local function add_dense(out, arch, k)
    for _, waves in ipairs({ 1, 2, 3, 4, 5, 6, 7, 8, 16 }) do
        for _, slices in ipairs({ 1, 2, 3, 4, 6 }) do
            for _, swizzle in ipairs(waves & (waves - 1) == 0 and { "cyclic", "xor" } or { "cyclic" }) do
                for _, store in ipairs(both) do
                    out[#out + 1] = {
                        impl = "dense", channels = 32, tile_h = 16, tile_w = 16, waves_c = waves, waves_q = 1, slices = slices,
                        cols = arches.has(arch, "mma") and slices > 2 and 8 or 16, inst_k = k, swizzle = swizzle, store = store, vec = 8,
                    }
                end
            end
        end
    end
end

-- tile in spots, waves_c, waves_q, slices, cols, vec
local own_dense = {
    { "8x16", 2, 1, 1, 16, 1 }, { "16x32", 1, 2, 1, 16, 8 }, { "16x64", 1, 4, 1, 16, 8 }, { "16x32", 1, 2, 1, 32, 8 },
    { "16x32", 2, 2, 1, 16, 8 }, { "8x32", 2, 2, 1, 32, 8 }, { "16x32", 1, 2, 2, 16, 8 }, { "8x16", 4, 1, 1, 16, 8 },
    { "8x32", 4, 2, 1, 16, 4 }, { "8x16", 4, 1, 2, 16, 4 }, { "28x32", 2, 2, 1, 16, 8 }, { "28x64", 1, 4, 2, 16, 8 },
}

local function add_own_dense(out, op, k)
    for stride = 1, 2 do
        for _, row in ipairs(own_dense) do
            local th, tw = numbers(row[1])
            out[#out + 1] = {
                impl = "dense", channels = 32, tile_h = th * phases(op, stride), tile_w = tw * phases(op, stride), stride = stride,
                waves_c = row[2], waves_q = row[3], slices = row[4], cols = row[5], inst_k = k, store = "lds", vec = row[6],
            }
        end
    end
    out[#out + 1] = {
        impl = "dense", channels = 32, tile_h = 16, tile_w = 32, waves_q = 2, cols = 16, inst_k = k, swizzle = "none",
        store = "registers", vec = 4,
    }
end

-- Backward weight: tile, waves_c, waves_q, vec.
local weight = {
    { "4x16", 4, 1, 1 }, { "8x16", 4, 1, 4 }, { "8x16", 4, 2, 8 }, { "8x32", 4, 2, 8 }, { "8x16", 8, 1, 8 }, { "4x32", 4, 4, 8 },
    { "16x16", 4, 2, 8 },
}

-- Tiles as they lie, turned as they are read: tile, waves_c, waves_q, tiles held, peers (clusters, which store in one launch). Of 22 tried on an
-- H200 these had the best times (docs/results/2026-11-28/nvidia-weights.md).
local lying = {
    { "4x8", 1, 8, 8, 8 }, { "4x16", 4, 1, 1, 1 }, { "8x8", 1, 4, 1, 8 }, { "8x16", 4, 1, 1, 1 }, { "2x16", 4, 1, 1, 1 }, { "8x8", 2, 4, 4, 8 },
    { "8x8", 1, 8, 8, 8 }, { "8x16", 1, 8, 8, 8 },
}

local function add_weight(out, arch, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for stride = 1, 2 do
            for _, row in ipairs(weight) do
                local th, tw = numbers(row[1])
                out[#out + 1] = {
                    channels = channels, tile_h = th, tile_w = tw, stride = stride, waves_c = row[2], waves_q = row[3], cols = 16, inst_k = k,
                    swizzle = "none", store = "registers", vec = row[4],
                }
            end
            for _, row in ipairs(arches.has(arch, "tma") and channels < 32 and lying or {}) do
                local th, tw = numbers(row[1])
                out[#out + 1] = {
                    channels = channels, tile_h = th, tile_w = tw, stride = stride, waves_c = row[2], waves_q = row[3], slices = row[4], cols = 16,
                    inst_k = k, swizzle = "xor", store = "registers", vec = 8, peers = row[5],
                }
            end
        end
    end
    return out
end

local function full(arch, op, dtype)
    local out, k = {}, depth(arch, dtype)
    if op == "conv_bwd_weight" then
        return add_weight(out, arch, k)
    end
    add_four(out, k)
    add_middle(out, k, 8)
    add_middle(out, k, 16)
    add_wide(out, k)
    add_own(out, op, k)
    add_bringing(out, arch, op, k)
    add_dense(out, arch, k)
    add_own_dense(out, op, k)
    return out
end

local function default(arch, op, dtype)
    local out, k = {}, depth(arch, dtype)
    if op == "conv_bwd_weight" then
        return add_weight(out, arch, k)
    end
    add_own(out, op, k)
    for _, channels in ipairs({ 4, 8, 16, 32 }) do
        for _, waves in ipairs({ 2, 4, 8 }) do
            add(out, k, channels, 1, waves, "xor", "lds", 8)
        end
    end
    if arches.has(arch, "mma") then
        add_bringing(out, arch, op, k)
    end
    add_own_dense(out, op, k)
    return out
end

local function first_of(list, key)
    local seen, out = {}, {}
    for _, p in ipairs(list) do
        local name = key(p)
        if name and not seen[name] then
            seen[name] = true
            out[#out + 1] = p
        end
    end
    return out
end

-- Dense or the width of a group, the stride, and who brings the weights.
local function kind(p)
    return (p.impl or "") .. p.channels .. "," .. (p.stride or 1) .. (p.pack or "") .. ((p.peers or 1) > 1 and "peers" or "")
end

-- With stride 2 groups of 8 stand for all; of backward weight (16 columns) two kinds of groups with a stride each.
local function few(p)
    local stride = p.stride or 1
    if p.pack then
        return p.channels == 4 and stride == 1 and kind(p) or nil
    end
    if p.cols == 16 and p.impl ~= "dense" then
        return ((p.channels == 8 and stride == 1) or (p.channels == 32 and stride == 2)) and kind(p) or nil
    end
    return (stride == 1 or p.impl == "dense" or p.channels == 8) and kind(p) or nil
end

return {
    depth = depth,
    full = full,
    default = default,
    fifths = function(arch, op, dtype, legal)
        return thin.joined(thin.fifths(full(arch, op, dtype), legal), first_of(thin.kept(default(arch, op, dtype), legal), kind))
    end,
    handful = function(arch, op, dtype, legal) return first_of(thin.kept(default(arch, op, dtype), legal), few) end,
}
