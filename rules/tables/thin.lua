-- Thinner sets made of a fuller one: every fifth config of each category, and a handful.

-- The first that holds, in this order.
local function category(p)
    if p.streamk == "cluster" then
        return "cluster"
    elseif p.streamk == "pair" or p.streamk == "quad" or p.streamk == "stationary" then
        return "shared"
    elseif p.streamk and p.streamk ~= "off" then
        return "streamk"
    elseif p.split_image == 1 then
        return "split_image"
    elseif (p.merge or 1) > 1 then
        return "merged_groups"
    elseif p.two_stage == 1 then
        return "two_stage"
    elseif p.explicit == 1 then
        return "explicit"
    elseif p.preshuffle == 1 then
        return "preshuffle"
    elseif p.split_k and p.split_k > 1 then
        return "split_k"
    elseif p.pipe == "tma" then
        return "bulk"
    elseif p.pipe == "gather" then
        return "gather"
    elseif p.pipe == "cooperative" or p.pipe == "pingpong" then
        return "overlap"
    end
    return "regular"
end

-- Whether it serves any count of channels, or any size of product: single-element accesses and no other demand.
local function serves_any(p)
    return p.vec_a == 1 and p.vec_b == 1 and p.vec_c == 1 and (p.spec or "default") == "default" and category(p) == "regular"
end

local function kept(list, legal)
    local out = {}
    for _, p in ipairs(list) do
        if legal(p) then
            out[#out + 1] = p
        end
    end
    return out
end

-- Ranks 5, 10, 15, ... of each category, the first where it has fewer, then the first of every pipeline and schedule still missing, and the
-- first that serves any problem.
local function fifths(list, legal)
    local taken, ranks, seen, out = {}, {}, {}, {}
    list = kept(list, legal)
    local function take(i, p)
        if not taken[i] then
            taken[i] = true
            seen[(p.pipe or "") .. (p.sched or "")] = true
        end
    end
    local size, any = {}, {}
    for _, p in ipairs(list) do
        local c = category(p)
        size[c] = (size[c] or 0) + 1
    end
    for i, p in ipairs(list) do
        local c = category(p)
        ranks[c] = (ranks[c] or 0) + 1
        if ranks[c] % 5 == 0 or (ranks[c] == 1 and size[c] < 5) then
            take(i, p)
        end
    end
    for i, p in ipairs(list) do
        if not seen[(p.pipe or "") .. (p.sched or "")] then
            take(i, p)
        end
    end
    for i, p in ipairs(list) do
        local shape = p.ndim or p.layout
        if serves_any(p) and not any[shape] then
            any[shape] = true
            take(i, p)
        end
    end
    for i, p in ipairs(list) do
        if taken[i] then
            out[#out + 1] = p
        end
    end
    return out
end

-- A list to which configs of another are added: with each key, the first of those that are not yet there, until there are so many.
local function picker(list)
    local taken, seen, out = {}, {}, {}
    local function pass(key, most)
        for i, p in ipairs(list) do
            local name = key(p, i)
            if name and not taken[i] and not seen[name] and #out < most then
                seen[name], taken[i] = true, true
                out[#out + 1] = p
            end
        end
    end
    return out, pass
end

-- The first of each category and count of axes (or layout), the first that serves any problem, then the first of each pipeline and schedule, then whatever comes next, until there are ten.
local function handful(list)
    local out, pass = picker(list)
    pass(function(p) return category(p) .. (p.ndim or p.layout or "") end, 1000)
    pass(function(p) return serves_any(p) and "any" .. (p.ndim or p.layout) end, 1000)
    pass(function(p) return (p.pipe or "") .. " " .. (p.sched or "") end, 10)
    pass(function(p, i) return i end, 10)
    return out
end

-- The first that serves any problem, of each count of axes, and the first of each category that does not; plain: of category regular alone.
local function few(list, plain)
    local out, pass = picker(list)
    pass(function(p) return serves_any(p) and "any" .. p.ndim end, 1000)
    pass(function(p) return not serves_any(p) and (not plain or category(p) == "regular") and category(p) end, 1000)
    return out
end

-- What a regular config may name.
local regular_axes = {
    "ndim", "layout", "tile_m", "tile_n", "tile_k", "wave_m", "wave_n", "wave_k", "inst_m", "inst_n", "inst_k", "pipe", "sched", "epi", "vec_a",
    "vec_b", "vec_c", "stages", "wave_groups", "persistent", "split_k", "pad_m", "pad_n", "pad_k",
}

-- For tensors over 2 GiB: of each count of axes (or layout) the first config that serves any problem and the one of the largest tile up to 128x128, with
-- 64-bit indices.
local function far(list, legal)
    local best, order, out = {}, {}, {}
    for _, p in ipairs(kept(list, legal)) do
        local fit = p.tile_m * p.tile_n <= 128 * 128 and (p.index or 32) == 32
        if fit and category(p) == "regular" and (p.spec or "default") == "default" then
            local any = serves_any(p)
            local key, size = (any and "any" or "large") .. (p.ndim or p.layout), any and 0 or p.tile_m * p.tile_n
            if not best[key] then
                order[#order + 1] = key
            end
            if not best[key] or size > best[key].size then
                best[key] = { size = size, point = p }
            end
        end
    end
    for _, key in ipairs(order) do
        local copy = { index = 64 }
        for _, axis in ipairs(regular_axes) do
            copy[axis] = best[key].point[axis]
        end
        out[#out + 1] = copy
    end
    return out
end

local function joined(list, more)
    for _, p in ipairs(more) do
        list[#list + 1] = p
    end
    return list
end

return { joined = joined, category = category, kept = kept, fifths = fifths, handful = handful, few = few, far = far }
