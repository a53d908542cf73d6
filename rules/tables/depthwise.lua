-- Depthwise convolution on GPUs: the published forward kernels, which have channels before pixels, and our own for what these leave open:
-- the other order and directions, larger filters, widths that no vector divides. A block is a wave; its subtiles must not be more than its
-- threads.
local thin = include "tables/thin"

-- filter, stride, tile, sub, batch, vec_in, vec_out
local published = {
    { 3, 1, "8x8", "2x2", 8, 2, 2 }, { 3, 1, "16x16", "1x4", 8, 8, 8 }, { 3, 1, "16x16", "2x2", 1, 2, 2 },
    { 3, 1, "28x28", "4x4", 1, 8, 8 }, { 3, 1, "32x32", "4x4", 1, 8, 8 },
    { 3, 2, "14x28", "2x4", 1, 8, 8 }, { 3, 2, "16x16", "1x4", 1, 8, 8 }, { 3, 2, "16x16", "1x4", 2, 8, 8 },
    { 3, 2, "16x16", "2x2", 1, 2, 2 }, { 3, 2, "16x16", "2x2", 1, 8, 8 }, { 3, 2, "32x32", "2x8", 1, 8, 8 },
    { 3, 2, "32x32", "4x4", 1, 4, 4 }, { 3, 2, "32x32", "4x4", 1, 8, 8 }, { 3, 2, "32x32", "4x4", 2, 8, 8 },
    { 5, 1, "8x8", "1x1", 1, 1, 1 }, { 5, 1, "8x8", "2x2", 8, 2, 2 }, { 5, 1, "16x16", "1x4", 1, 8, 8 },
    { 5, 1, "16x16", "1x4", 8, 8, 8 }, { 5, 1, "28x28", "4x4", 8, 8, 8 }, { 5, 1, "32x32", "4x4", 4, 8, 8 },
}

-- Of our own, for each filter and stride: tile, sub, vec_in, vec_out; as many planes as the lanes hold at a time.
local own = {
    first = {
        { "8x8", "2x2", 1, 1 }, { "8x8", "4x4", 1, 1 }, { "16x16", "4x4", 1, 1 }, { "16x16", "4x4", 4, 4 }, { "16x32", "4x4", 8, 4 },
    },
    last = {
        { "4x4", "4x4", 1, 1 }, { "4x4", "4x4", 4, 1 }, { "4x8", "4x4", 4, 2 }, { "8x8", "4x4", 4, 2 }, { "8x8", "2x4", 4, 4 },
        { "4x4", "2x2", 4, 4 },
    },
}

local function subtiles(th, tw, sh, sw)
    return ((th + sh - 1) // sh) * ((tw + sw - 1) // sw)
end

local function add(out, filter, stride, p)
    p.filter, p.stride, p.pad = filter, stride, filter // 2
    out[#out + 1] = p
end

-- The published rows are for waves of 64 threads; waves of half as many take tiles of half the height.
local function add_published(out, lanes)
    for _, row in ipairs(published) do
        local th, tw = numbers(row[3])
        local sh, sw = numbers(row[4])
        if subtiles(th, tw, sh, sw) > lanes then
            th = th // 2
        end
        add(out, row[1], row[2], {
            tile_h = th, tile_w = tw, sub_h = sh, sub_w = sw, batch = row[5], vec_in = row[6], vec_out = row[7], order = "first",
        })
    end
end

local function add_own(out, lanes, order)
    for filter = 3, 7, 2 do
        for stride = 1, 2 do
            for _, row in ipairs(own[order]) do
                local th, tw = numbers(row[1])
                local sh, sw = numbers(row[2])
                local planes = lanes // subtiles(th, tw, sh, sw) * (order == "last" and row[4] or 1)
                add(out, filter, stride, {
                    tile_h = th, tile_w = tw, sub_h = sh, sub_w = sw, batch = planes, vec_in = row[3], vec_out = row[4], order = order,
                })
            end
        end
    end
end

local function points(arch, op, dtype)
    local out, lanes = {}, arch.typical.lanes
    if op == "conv_fwd" then
        add_published(out, lanes)
    end
    add_own(out, lanes, "first")
    add_own(out, lanes, "last")
    return out
end

-- The first of each order and stride.
local function handful(list)
    local seen, out = {}, {}
    for _, p in ipairs(list) do
        local key = p.order .. p.stride
        if not seen[key] then
            seen[key] = true
            out[#out + 1] = p
        end
    end
    return out
end

return {
    points = points,
    fifths = function(arch, op, dtype, legal)
        local list = points(arch, op, dtype)
        return thin.joined(thin.fifths(list, legal), handful(thin.kept(list, legal)))
    end,
    handful = function(arch, op, dtype, legal) return handful(thin.kept(points(arch, op, dtype), legal)) end,
}
