-- Convolution configs that tuning measures. On AMD the ten published tiles, with their pipelines by direction; on NVIDIA our own choice of the
-- same kind. Both have configs with single-element accesses besides: they serve any count of channels.
local arches, vectors, of_bytes, gather = include "tables/arch", include "tables/vectors", include "tables/conv_bytes", include "tables/gather"
local thin, overlap, spread = include "tables/thin", include "tables/overlap", include "tables/spread"

-- tile, waves, instruction of a half type
local amd = {
    { "16x64x64", "1x4x1", "16x16x16" }, { "32x64x64", "2x2x1", "16x16x16" }, { "64x64x64", "4x1x1", "16x16x16" },
    { "32x128x64", "1x4x1", "32x32x16" }, { "64x128x64", "2x2x1", "32x32x16" }, { "128x128x64", "4x4x1", "32x32x16" },
    { "16x64x128", "1x4x1", "16x16x32" }, { "32x64x128", "2x2x1", "16x16x32" }, { "64x64x128", "4x1x1", "16x16x32" },
    { "128x64x128", "8x2x1", "16x16x32" },
}
-- tile, waves, depth and accesses as the published table has none of: tall and square tiles of four waves, and any count of channels.
local amd_own = {
    { "128x128x32", "2x2x1", "32x32x16", "UNIFORM_MAX" }, { "256x128x32", "2x2x1", "32x32x16", "UNIFORM_MAX" },
    { "128x64x32", "2x2x1", "32x32x16", "UNIFORM_MAX" }, { "64x64x32", "2x2x1", "16x16x16", "GENERIC" },
    { "128x32x32", "4x1x1", "32x32x16", "GENERIC" },
}
local nvidia = {
    { "128x128x32", "2x2x1", "UNIFORM_MAX" }, { "128x128x64", "2x4x1", "UNIFORM_MAX" }, { "256x128x32", "4x2x1", "UNIFORM_MAX" },
    { "128x256x32", "2x4x1", "UNIFORM_MAX" }, { "128x64x64", "2x2x1", "UNIFORM_MAX" }, { "64x128x64", "2x2x1", "UNIFORM_MAX" },
    { "64x64x64", "2x2x1", "UNIFORM_MAX" }, { "64x32x64", "2x1x1", "HALF_UNIFORM" }, { "32x64x64", "1x2x1", "HALF_UNIFORM" },
    { "64x64x32", "2x2x1", "GENERIC" }, { "128x64x32", "2x2x1", "HALF_UNIFORM" },
}

-- Of 16-bit types, larger tiles for any count of channels, and for multiples of 2 and 4: tile, waves, elements of an access, pipeline.
local nvidia_odd = {
    { "128x128x32", "2x4x1", 1, "compv4" }, { "128x64x32", "4x2x1", 1, "compv4" }, { "64x128x32", "2x4x1", 1, "compv4" },
    { "64x64x32", "2x2x1", 1, "compv4" }, { "128x128x32", "2x4x1", 2, "compv4" }, { "64x64x64", "2x2x1", 2, "comp_async" },
    { "128x128x32", "2x4x1", 2, "comp_async" }, { "128x128x32", "2x4x1", 4, "compv4" }, { "64x64x64", "2x2x1", 4, "compv4" },
}

-- Of 16-bit types and any count of channels, small tiles for images of few pixels, two axes, in one launch where the bulk pipelines take two: tile,
-- waves, pipeline, by direction; 1x1 filters with stride 1, and any.
local nvidia_few = {
    conv_fwd = { { "32x32x32", "2x2x1", "basic_v1", true }, { "32x16x64", "2x1x2", "basic_v1", true }, { "64x16x32", "4x1x1", "mem" } },
    conv_bwd_data = {
        { "32x32x32", "2x2x1", "basic_v1", true }, { "64x32x32", "2x2x1", "basic_v1", true }, { "32x16x64", "2x1x2", "mem", true },
        { "128x16x32", "4x1x1", "basic_v1", true }, { "64x64x32", "2x2x1", "basic_v1", true }, { "32x32x32", "2x2x1", "mem" },
    },
    conv_bwd_weight = { { "32x32x32", "2x2x1", "mem", true } },
}

-- Pixels as rows of a product, brought by bulk copies: tile, columns of the instruction that four waves share, tiles in shared memory.
local bulk = { { "128x256x64", 256, 4 }, { "128x128x64", 128, 6 }, { "128x64x64", 64, 8 } }

-- The config in 2 and 3 dimensions, of our own choices also in one, or (plane) in two alone; more: how it is pipelined.
local function add(out, tile, waves, inst, widths, more)
    local m, n, k = numbers(tile)
    local wm, wn, wk = numbers(waves)
    for ndim = more.line and 1 or 2, more.plane and 2 or 3 do
        out[#out + 1] = {
            ndim = ndim, tile_m = m, tile_n = n, tile_k = k * (more.deeper or 1), wave_m = wm, wave_n = wn, wave_k = wk, inst_m = inst[1],
            inst_n = inst[2], inst_k = inst[3], vec_a = widths[1], vec_b = widths[2], vec_c = widths[3], pipe = more.pipe, epi = more.epi,
            stages = more.stages, two_stage = more.two_stage, split_k = more.split_k, explicit = more.explicit, spec = more.spec,
        }
    end
end

-- Pipelines by direction.
local function pipelines(op, doubled)
    if op == "conv_fwd" then
        return doubled and { { pipe = "compv3" }, { pipe = "compv4", stages = 2, deeper = 2 } } or { { pipe = "compv3" } }
    elseif op == "conv_bwd_data" then
        return { { pipe = "compv3" }, { pipe = "mem", epi = "default" } }
    end
    return {
        { pipe = "compv3", two_stage = 0, split_k = 0 }, { pipe = "compv3", two_stage = 1, split_k = 0 },
        { pipe = "mem", epi = "default", two_stage = 0, split_k = 0 }, { pipe = "mem", epi = "default", two_stage = 1, split_k = 0 },
    }
end

-- The instruction of a type: as listed for half types, else the deepest of its shape that the tile takes.
local function instruction(arch, dtype, text, k)
    local m, n, depth = numbers(text)
    if arches.lists(arch.tiles[dtype], text) then
        return { m, n, depth }
    end
    local best
    for _, entry in ipairs(arch.tiles[dtype] or {}) do
        local im, in_, ik = numbers(entry)
        if im == m and in_ == n and ik <= k and (not best or ik > best[3]) then
            best = { im, in_, ik }
        end
    end
    return best
end

-- The published tiles as trait files choose from them: each as it stands, whatever the pipeline.
local function published(arch, op, dtype)
    local out, half = {}, dtype ~= "fp32"
    for _, row in ipairs(amd) do
        local _, _, k = numbers(row[1])
        local inst = instruction(arch, dtype, row[3], k)
        if inst then
            add(out, row[1], row[2], inst, half and { 4, 8, 8 } or { 4, 4, 4 }, { line = true, split_k = op == "conv_bwd_weight" and 0 or nil })
        end
    end
    return out
end

local function amd_points(arch, op, dtype)
    local out, half = {}, dtype ~= "fp32"
    for _, row in ipairs(amd) do
        local m, n, k = numbers(row[1])
        local inst = instruction(arch, dtype, row[3], k)
        local wm, wn = numbers(row[2])
        local doubled = row[3] ~= "32x32x16" and wm * wn <= 4
        for _, how in ipairs(inst and pipelines(op, doubled) or {}) do
            add(out, row[1], row[2], inst, half and { 4, 8, 8 } or { 4, 4, 4 }, how)
        end
    end
    for _, row in ipairs(amd_own) do
        local m, n, k = numbers(row[1])
        local inst = instruction(arch, dtype, row[3], k)
        local a, b, c = vectors.widths(row[4], half and 8 or 4)
        if inst then
            local how = pipelines(op, false)[1]
            how.line = true
            add(out, row[1], row[2], inst, { a, b, c }, how)
        end
    end
    return out
end

-- Waves of 32 threads of gfx11 and gfx12: every wave combination with one instruction a wave and with four.
local function wmma_points(arch, op, dtype)
    local out = {}
    for _, waves in ipairs(arch.waves) do
        local wm, wn, wk = numbers(waves)
        for _, inst in ipairs(wk == 1 and arch.tiles[dtype] or {}) do
            local im, in_, ik = numbers(inst)
            for _, repeats in ipairs({ 1, 2 }) do
                local tile = wm * im * repeats .. "x" .. wn * in_ * repeats .. "x" .. math.max(32, ik)
                for _, how in ipairs(repeats == 2 and pipelines(op, false) or { pipelines(op, false)[1] }) do
                    add(out, tile, waves, { im, in_, ik }, repeats == 1 and { 1, 1, 1 } or { 2, 2, 8 }, how)
                end
            end
        end
    end
    return out
end

local function nvidia_points(arch, op, dtype)
    local out, half = {}, dtype ~= "fp32"
    for _, row in ipairs(nvidia) do
        local m, n, k = numbers(row[1])
        local a, b, c = vectors.widths(row[3], half and 8 or 4)
        k = half and k or k // 2
        local tile = m .. "x" .. n .. "x" .. k
        local more = { line = true, split_k = op == "conv_bwd_weight" and 0 or nil }
        local generic = row[3] == "GENERIC"
        more.pipe = generic and "basic_v1" or "compv4"
        more.stages = generic and 1 or 2
        add(out, tile, row[2], { 16, 8, half and 16 or 4 }, { a, b, c }, more)
        if m * n <= 64 * 128 and not generic then
            more.pipe, more.stages = "comp_async", 2
            add(out, tile, row[2], { 16, 8, half and 16 or 4 }, { a, b, c }, more)
        end
    end
    for _, row in ipairs(half and nvidia_odd or {}) do
        local more = { line = true, split_k = op == "conv_bwd_weight" and 0 or nil, pipe = row[4], stages = 2 }
        add(out, row[1], row[2], { 16, 8, 16 }, { row[3], row[3], row[3] }, more)
    end
    for _, row in ipairs(half and nvidia_few[op] or {}) do
        local more = { plane = true, split_k = op == "conv_bwd_weight" and 0 or nil, pipe = row[3], spec = row[4] and "filter1x1_stride1_pad0" }
        add(out, row[1], row[2], { 16, 8, 16 }, { 1, 1, 1 }, more)
    end
    for _, row in ipairs(bulk) do
        local more = { line = true, pipe = "tma", stages = row[3], explicit = 1, spec = "filter1x1_stride1_pad0" }
        local m, n, k = numbers(row[1])
        local run = half and 8 or 4
        add(out, m .. "x" .. n .. "x" .. k * run // 8, "8x1x1", { 64, row[2], 2 * run }, { run, run, run }, more)
    end
    return out
end

return {
    -- What a trait file chooses from.
    pool = function(arch, op, dtype, legal, named)
        local list
        if vectors.bytes[dtype] == 1 then
            list = of_bytes.default(arch, op, dtype)
        elseif arches.has(arch, "mma") then
            list = thin.joined(nvidia_points(arch, op, dtype), gather.convolutions(op, 1, 3))
            thin.joined(list, overlap.convolutions(op, 1, 3, false, vectors.bytes[dtype]))
        elseif arches.has(arch, "mfma") then
            list = published(arch, op, dtype)
        else
            list = wmma_points(arch, op, dtype)
        end
        return spread.pipelines(list, op, named)
    end,
    points = function(arch, op, dtype, legal)
        local list
        if vectors.bytes[dtype] == 1 then
            list = of_bytes.default(arch, op, dtype)
        elseif arches.has(arch, "mma") then
            list = thin.joined(nvidia_points(arch, op, dtype), gather.convolutions(op, 1, 3))
            thin.joined(list, overlap.convolutions(op, 1, 3, false, vectors.bytes[dtype]))
        elseif arches.has(arch, "mfma") then
            list = amd_points(arch, op, dtype)
        else
            list = wmma_points(arch, op, dtype)
        end
        return thin.joined(list, thin.far(list, legal))
    end,
}
