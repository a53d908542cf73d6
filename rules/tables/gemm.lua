-- Matrix products on GPUs: what tuning measures, and all that is worth a search.
local arches, pairs_of, bytes = include "tables/arch", include "tables/pairs", (include "tables/vectors").bytes
local thin, gather, overlap, spread = include "tables/thin", include "tables/gather", include "tables/overlap", include "tables/spread"

local layouts = { "rcr", "rrr", "crr", "ccr" }

-- rows x columns, waves on AMD, waves on NVIDIA; false: none there. The depth of a step is 64 or 128 bytes.
local squares = {
    { "128x128", "2x2x1", "2x4x1" }, { "128x128", false, "2x2x1" }, { "256x128", "2x2x1", "4x2x1" }, { "128x256", "2x2x1", "2x4x1" },
    { "128x64", "2x2x1", "4x2x1" }, { "64x128", "2x2x1", "2x4x1" }, { "64x64", "2x2x1", "2x4x1" },
}
local slim = {
    { "256x256", "2x2x1", "4x2x1" }, { "256x64", "4x1x1", "4x1x1" }, { "64x256", "1x4x1", "1x4x1" }, { "128x32", "4x1x1", "4x1x1" },
    { "32x128", "1x4x1", "1x4x1" }, { "64x32", "2x1x1", "2x1x1" }, { "32x64", "1x2x1", "1x2x1" }, { "64x16", "4x1x1", "4x1x1" },
    { "16x64", "1x4x1", "1x4x1" }, { "32x32", "1x1x1", "1x1x1" }, { "16x16", "1x1x1", "1x1x1" },
}

local function copy(p, more)
    local q = {
        layout = p.layout, tile_m = p.tile_m, tile_n = p.tile_n, tile_k = p.tile_k, wave_m = p.wave_m, wave_n = p.wave_n, wave_k = p.wave_k,
        inst_m = p.inst_m, inst_n = p.inst_n, inst_k = p.inst_k, vec_a = p.vec_a, vec_b = p.vec_b, vec_c = p.vec_c,
    }
    q.pipe, q.sched, q.epi, q.stages = more.pipe, more.sched, more.epi, more.stages
    q.persistent, q.split_k, q.streamk, q.preshuffle, q.index = more.persistent, more.split_k, more.streamk, more.preshuffle, more.index
    q.wave_groups = more.wave_groups
    if more.vec then
        q.vec_a, q.vec_b, q.vec_c = more.vec, more.vec, more.vec
    end
    return q
end

-- A point without its pipeline; nothing where the architecture has no instruction for it.
local function tile_point(arch, dtype, layout, row, depth)
    local m, n = numbers(row[1])
    local k, nvidia = depth // bytes[dtype], arches.has(arch, "mma")
    local listed = row[nvidia and 3 or 2]
    if not listed then
        return nil
    end
    local waves, inst = pairs_of.waves(arch, dtype, listed, m, n, k)
    local most = 16 // bytes[dtype]
    return inst and {
        layout = layout, tile_m = m, tile_n = n, tile_k = k, wave_m = waves[1], wave_n = waves[2], wave_k = 1, inst_m = inst[1],
        inst_n = inst[2], inst_k = inst[3], vec_a = most, vec_b = most, vec_c = math.min(most, 8),
    }
end

-- rows x columns, depth of a step in elements of 16 bits, waves, columns of the instruction that four waves share, tiles in shared memory: 227 KiB at most.
local bulk_tiles = {
    { "128x256", 64, "8x1x1", 256, 4 }, { "256x128", 64, "8x1x1", 128, 4 }, { "128x128", 64, "8x1x1", 128, 6 }, { "128x128", 128, "8x1x1", 128, 3 },
    { "64x256", 64, "4x1x1", 256, 5 }, { "128x64", 64, "8x1x1", 64, 8 }, { "64x128", 64, "4x2x1", 64, 8 }, { "64x64", 128, "4x1x1", 64, 4 },
}

-- Copies by the hardware and instructions of four waves: where the depth is contiguous in both operands. C refuses them where the
-- type or the architecture has none.
local function bulk_points(width)
    local out, run = {}, 16 // width
    for _, row in ipairs(bulk_tiles) do
        local m, n = numbers(row[1])
        local wm, wn = numbers(row[3])
        out[#out + 1] = {
            layout = "rcr", tile_m = m, tile_n = n, tile_k = 2 * row[2] // width, wave_m = wm, wave_n = wn, wave_k = 1, inst_m = 64, inst_n = row[4],
            inst_k = 32 // width, vec_a = run, vec_b = run, vec_c = math.min(run, 8), stages = row[5],
        }
    end
    return out
end

local function bulk(p, more)
    more.pipe, more.stages = "tma", p.stages
    return copy(p, more)
end

local strong = { { pipe = "compv3" }, { pipe = "compv4", stages = 2 } }
local asynchronous = { pipe = "comp_async", stages = 2 }
local any_size = { pipe = "basic_v1", vec = 1 }

-- Of 16-bit types on NVIDIA, any size, or even ones, at more speed: tile, waves, how.
local odd_tiles = {
    { "128x128", "2x4x1", { pipe = "compv4", stages = 2, vec = 1 } }, { "128x64", "4x2x1", { pipe = "compv4", stages = 2, vec = 1 } },
    { "64x64", "2x2x1", { pipe = "compv4", stages = 2, vec = 1 } }, { "64x64", "2x2x1", { pipe = "compv4", stages = 2, vec = 1, split_k = 0 } },
    { "128x128", "2x4x1", { pipe = "compv4", stages = 2, vec = 1, split_k = 0 } }, { "128x128", "2x4x1", { pipe = "compv4", stages = 2, vec = 2 } },
    { "64x64", "2x2x1", { pipe = "compv4", stages = 2, vec = 4, split_k = 0 } }, { "128x128", "2x4x1", { pipe = "compv4", stages = 2, vec = 4 } },
}

local function default(arch, op, dtype, legal)
    local out = {}
    for _, layout in ipairs(layouts) do
        for i, row in ipairs(squares) do
            local p = tile_point(arch, dtype, layout, row, 64)
            for _, how in ipairs(p and strong or {}) do
                out[#out + 1] = copy(p, how)
            end
            if p and arches.has(arch, "async16") then
                out[#out + 1] = copy(p, asynchronous)
            end
            if p and row[1] == "64x64" then
                out[#out + 1] = copy(p, any_size)
                out[#out + 1] = copy(p, { pipe = "compv3", split_k = 0 })
            end
        end
    end
    for _, layout in ipairs(arches.has(arch, "mma") and bytes[dtype] == 2 and layouts or {}) do
        for _, row in ipairs(odd_tiles) do
            local p = tile_point(arch, dtype, layout, { row[1], false, row[2] }, 64)
            if p then
                out[#out + 1] = copy(p, row[3])
            end
        end
    end
    for i, p in ipairs(bulk_points(bytes[dtype])) do
        out[#out + 1] = bulk(p, {})
        if i <= 2 then
            out[#out + 1] = bulk(p, { persistent = 1 })
        end
    end
    thin.joined(out, gather.products())
    thin.joined(out, overlap.products(bytes[dtype]))
    return thin.joined(out, thin.far(out, legal))
end

local every = {
    { pipe = "basic_v1" }, { pipe = "basic_v1", sched = "interwave" }, { pipe = "mem" }, { pipe = "mem", sched = "interwave" },
    { pipe = "mem", stages = 2 }, { pipe = "compv3" }, { pipe = "compv3", stages = 2 }, { pipe = "compv4", stages = 2 },
    { pipe = "compv5", wave_groups = 2 }, { pipe = "compv6" }, { pipe = "comp_async", stages = 2 }, { pipe = "basic_async_v1" }, { pipe = "wavelet" },
    { pipe = "compv3", epi = "default" }, { pipe = "compv4", stages = 2, epi = "default" }, { pipe = "mem", epi = "default" },
    { pipe = "compv3", persistent = 1 }, { pipe = "compv4", stages = 2, persistent = 1 },
    { pipe = "compv3", split_k = 0 }, { pipe = "compv4", stages = 2, split_k = 0 }, { pipe = "mem", split_k = 0 },
    { pipe = "compv3", streamk = "tree" }, { pipe = "compv3", streamk = "linear" }, { pipe = "compv3", streamk = "tree", persistent = 1 },
    { pipe = "basic_v1", preshuffle = 1 }, { pipe = "compv4", stages = 2, preshuffle = 1 },
    { pipe = "compv3", index = 64 }, { pipe = "basic_v1", vec = 1 }, { pipe = "mem", vec = 1 }, { pipe = "compv3", vec = 2 },
}

-- Deep steps and slim tiles have the plain pipelines only.
local few = {
    { pipe = "mem" }, { pipe = "mem", sched = "interwave" }, { pipe = "compv3" }, { pipe = "compv4", stages = 2 },
    { pipe = "basic_v1", vec = 1 },
}

local function full(arch, op, dtype)
    local out = {}
    local function add(layout, rows, depth, hows)
        for _, row in ipairs(rows) do
            local p = tile_point(arch, dtype, layout, row, depth)
            for _, how in ipairs(p and hows or {}) do
                out[#out + 1] = copy(p, how)
            end
        end
    end
    for _, layout in ipairs(layouts) do
        add(layout, squares, 64, every)
        add(layout, squares, 128, few)
        add(layout, slim, 64, few)
    end
    for _, p in ipairs(bulk_points(bytes[dtype])) do
        for _, how in ipairs({ {}, { epi = "default" }, { persistent = 1 }, { split_k = 0 }, { streamk = "tree", persistent = 1 } }) do
            out[#out + 1] = bulk(p, how)
        end
    end
    thin.joined(out, gather.products())
    return thin.joined(out, overlap.products(bytes[dtype], true))
end

-- What a trait file chooses from.
local function pool(arch, op, dtype, legal, named)
    local out = {}
    for _, layout in ipairs(layouts) do
        for _, rows in ipairs({ squares, slim }) do
            for _, row in ipairs(rows) do
                out[#out + 1] = tile_point(arch, dtype, layout, row, 64)
                out[#out + 1] = tile_point(arch, dtype, layout, row, 128)
            end
        end
    end
    for _, p in ipairs(bulk_points(bytes[dtype])) do
        out[#out + 1] = bulk(p, {})
    end
    thin.joined(out, gather.products())
    return spread.pipelines(thin.joined(out, overlap.products()), op, named)
end

return { default = default, full = full, pool = pool }
