-- Depthwise convolution on GPUs: the published forward kernels, which have channels before pixels, and our own for what these leave open:
-- the other order and directions, larger filters, widths that no vector divides. A tile is a wave's; its subtiles must not be more than the
-- wave's threads.
local thin, arches = include "tables/thin", include "tables/arch"

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

-- Of our own, for each filter and stride: tile, sub, vec_in, vec_out; as many planes as the lanes hold at a time, or so many times that. Of
-- configs that a model takes for equal the first is chosen: those of wide loads stand before their like.
local own = {
    first = {
        { "8x8", "2x2", 1, 1 }, { "8x8", "4x4", 1, 1 }, { "16x16", "4x4", 1, 1 }, { "16x16", "4x4", 4, 4 }, { "16x32", "4x4", 8, 4 },
        { "28x28", "7x4", 4, 4, 4 }, { "14x28", "7x4", 4, 4 }, { "14x14", "7x2", 2, 2 }, { "14x56", "7x8", 8, 8 },
    },
    last = {
        { "4x4", "4x4", 1, 1 }, { "4x4", "4x4", 8, 1 }, { "4x8", "4x4", 8, 2 }, { "8x8", "4x4", 8, 2 }, { "4x4", "4x4", 4, 1 }, { "4x8", "4x4", 4, 2 }, { "8x8", "4x4", 4, 2 }, { "8x8", "2x4", 4, 4 },
        { "4x4", "2x2", 4, 4 },
    },
}

-- Of backward weight, channels last, on NVIDIA, four waves a block: tile, sub, vec_in, vec_out, peers (clusters, which store in one launch), "walk"
-- (path=registers: a thread reads its columns straight to registers, up to 64 rows), largest filter. Of 27 tried on an H200 these had the best times
-- (docs/results/2026-11-28/nvidia-weights.md); eight columns leave filters of 5 no registers.
local weight = {
    { "4x4", "4x4", 8, 1, 1 }, { "4x4", "4x4", 8, 1, 8 }, { "8x8", "4x4", 8, 1, 8 }, { "8x8", "4x4", 8, 1, 1 }, { "4x8", "4x4", 8, 2, 1 },
    { "64x8", "64x2", 2, 2, 1, "walk" }, { "64x8", "64x2", 2, 2, 8, "walk" }, { "64x16", "64x8", 2, 2, 1, "walk", 3 },
}

-- One axis: filter, pad, stride of causal and centred filters; and for each order: tile_w, sub_w, vec_in, vec_out.
local lines = { { 4, 3, 1 }, { 3, 1, 1 }, { 7, 3, 1 }, { 9, 4, 1 }, { 15, 7, 1 }, { 31, 15, 1 }, { 3, 1, 2 } }
local own_lines = {
    first = { { 32, 8, 1, 1 }, { 64, 8, 4, 4 }, { 256, 8, 8, 8 } },
    last = { { 16, 8, 1, 1 }, { 32, 8, 4, 2 }, { 16, 4, 4, 4 } },
}
-- Three axes: strides of depth, and of height and width; filters of 3 everywhere.
local volumes = { { 1, 1 }, { 1, 2 }, { 2, 2 } }

local function subtiles(th, tw, sh, sw)
    return ((th + sh - 1) // sh) * ((tw + sw - 1) // sw)
end

local function add(out, filter, stride, p)
    p.filter, p.stride, p.pad = filter, stride, p.pad or filter // 2 * (p.dilation or 1)
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

local function add_lines(out, lanes, order)
    for _, line in ipairs(lines) do
        for _, row in ipairs(own_lines[order]) do
            local planes = lanes // subtiles(1, row[1], 1, row[2]) * (order == "last" and row[4] or 1)
            add(out, line[1], line[3], {
                ndim = 1, pad = line[2], tile_h = 1, tile_w = row[1], sub_h = 1, sub_w = row[2], batch = planes, vec_in = row[3],
                vec_out = row[4], order = order,
            })
        end
    end
end

-- More: axes that the points have besides; of the list of their order, all rows.
local function add_tiles(out, op, lanes, order, filter, stride, more)
    for _, row in ipairs(own[order]) do
        local th, tw = numbers(row[1])
        local sh, sw = numbers(row[2])
        local p = {
            tile_h = th, tile_w = tw, sub_h = sh, sub_w = sw, vec_in = row[3], vec_out = row[4], order = order,
            batch = lanes // subtiles(th, tw, sh, sw) * (order == "last" and row[4] or 1) * (op ~= "conv_bwd_weight" and row[5] or 1),
        }
        p.ndim, p.dilation, p.filter_d, p.stride_d, p.pad_d = more.ndim, more.dilation, more.filter_d, more.stride_d, more.pad_d
        add(out, filter, stride, p)
    end
end

-- Volumes, and dilated planes.
local function add_others(out, op, lanes, order)
    for _, strides in ipairs(volumes) do
        add_tiles(out, op, lanes, order, 3, strides[2], { ndim = 3, filter_d = 3, stride_d = strides[1], pad_d = 1 })
    end
    add_tiles(out, op, lanes, order, 3, 1, { dilation = 2 })
    add_lines(out, lanes, order)
end

-- Filters of 7 leave fp32 no registers but for tiles of one channel a thread with stride 1.
local function add_weight(out, dtype, lanes, filter, stride)
    for _, row in ipairs(weight) do
        local th, tw = numbers(row[1])
        local sh, sw = numbers(row[2])
        local walks = row[6] == "walk"
        local small = dtype ~= "fp32" or filter < 7 or (row[4] == 1 and stride == 1)
        if small and filter <= (row[7] or filter) then
            add(out, filter, stride, {
                tile_h = th, tile_w = tw, sub_h = sh, sub_w = sw, vec_in = row[3], vec_out = row[4], order = "last", waves = 4, peers = row[5],
                path = walks and "registers" or "lds", batch = lanes // subtiles(th, tw, sh, sw) * row[4],
            })
        end
    end
end

local function points(arch, op, dtype)
    local out, lanes = {}, arch.typical.lanes
    if op == "conv_bwd_weight" and arches.has(arch, "mma") then
        for filter = 3, 7, 2 do
            for stride = 1, 2 do
                add_weight(out, dtype, lanes, filter, stride)
            end
        end
    end
    if op == "conv_fwd" then
        add_published(out, lanes)
    end
    for _, order in ipairs({ "first", "last" }) do
        for filter = 3, 7, 2 do
            for stride = 1, 2 do
                add_tiles(out, op, lanes, order, filter, stride, {})
            end
        end
    end
    for _, order in ipairs({ "first", "last" }) do
        add_others(out, op, lanes, order)
    end
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

local function kind(p)
    return p.order .. p.stride .. (p.stride_d or "") .. (p.ndim or 2) .. (p.dilation or 1) .. (p.path or "") .. ((p.peers or 1) > 1 and "peers" or "")
end

-- Volumes of one order, lines of the other.
local function few(p)
    local plain = (p.ndim or 2) == 2 and not p.dilation
    if p.waves and (p.stride > 1 or p.peers == 1) then
        return nil
    end
    local volume, line = p.ndim == 3 and p.order == "last" and p.stride == 1, p.ndim == 1 and p.order == "first" and p.stride == 1
    return (plain or volume or line) and kind(p) or nil
end

return {
    points = points,
    fifths = function(arch, op, dtype, legal)
        local list = points(arch, op, dtype)
        return thin.joined(thin.fifths(list, legal), first_of(thin.kept(list, legal), kind))
    end,
    handful = function(arch, op, dtype, legal) return first_of(thin.kept(points(arch, op, dtype), legal), few) end,
}
