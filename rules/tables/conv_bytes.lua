-- Convolution configs of the types of one byte (fp8, bf8, int8), all of them our own: there are no published ones to count against. A step is
-- 64 or 128 deep, which is as many bytes; accesses of 16 bytes are 16 channels, and the result, wider than the operands, is stored in 16 bytes.
local arches, pairs_of = include "tables/arch", include "tables/pairs"

-- rows x columns, waves on AMD, waves on NVIDIA; the smallest first, so that thinner sets have small ones
local large = {
    { "64x64", "2x2x1", "2x4x1" }, { "128x64", "2x2x1", "4x2x1" }, { "64x128", "2x2x1", "2x4x1" }, { "128x128", "2x2x1", "2x4x1" },
    { "256x128", "2x2x1", "4x2x1" }, { "128x256", "2x2x1", "2x4x1" },
}
local slim = {
    { "128x32", "4x1x1", "4x1x1" }, { "32x128", "1x4x1", "1x4x1" }, { "64x32", "2x1x1", "2x1x1" }, { "32x64", "1x2x1", "1x2x1" },
    { "64x16", "4x1x1", "4x1x1" }, { "16x64", "1x4x1", "1x4x1" }, { "32x32", "1x1x1", "1x1x1" },
}
local square, tall, wide, whole, larger = large[1], large[2], large[3], large[4], large[5]
local narrow, low, thin, small = slim[1], slim[3], slim[5], slim[7]

-- What moves a step's tiles; the first ones are the strongest.
local pipelines = {
    conv_fwd = { { pipe = "compv4", stages = 2 }, { pipe = "compv3" }, { pipe = "comp_async", stages = 2 } },
    conv_bwd_data = { { pipe = "compv3" }, { pipe = "compv4", stages = 2 }, { pipe = "mem" } },
    conv_bwd_weight = { { pipe = "compv4", stages = 2 }, { pipe = "compv3" }, { pipe = "mem" } },
}
local rare = {
    { pipe = "basic_v1" }, { pipe = "basic_v1", sched = "interwave" }, { pipe = "mem" }, { pipe = "mem", sched = "interwave" },
    { pipe = "compv5", wave_groups = 2 }, { pipe = "compv6" }, { pipe = "comp_async", stages = 2 }, { pipe = "basic_async_v1" },
    { pipe = "wavelet" }, { pipe = "compv3", epi = "default" }, { pipe = "compv3", index = 64 },
}

-- Features, with the tiles they are worth having on. Merged groups have few channels each: the weights of one group are stored alone.
local features = {
    conv_fwd = {
        { rows = { thin, narrow }, depth = 64, widths = { 4, 1, 4 }, set = { pipe = "basic_v1", merge = 8 } },
        { rows = { thin, narrow }, depth = 64, widths = { 16, 1, 4 }, set = { pipe = "basic_v1", merge = 16 } },
        { rows = { square, small }, depth = 64, widths = { 1, 1, 1 }, set = { pipe = "basic_v1", spec = "filter3x3" } },
        { rows = { square }, depth = 64, widths = { 16, 16, 4 }, set = { pipe = "compv3", spec = "filter1x1_pad0" } },
    },
    conv_bwd_data = {},
    conv_bwd_weight = {
        { rows = { whole }, depth = 64, widths = { 16, 16, 4 }, set = { pipe = "compv3", two_stage = 1 } },
        { rows = { square, narrow }, depth = 64, widths = { 4, 4, 4 }, set = { pipe = "compv3", two_stage = 1 } },
        { rows = { low }, depth = 64, widths = { 4, 4, 1 }, set = { pipe = "basic_v1", merge = 4, two_stage = 1 } },
        { rows = { square }, depth = 64, widths = { 16, 16, 1 }, set = { pipe = "compv3", merge = 16 } },
        { rows = { square, narrow }, depth = 64, widths = { 4, 4, 4 }, set = { pipe = "mem", streamk = "tree", split_k = 1 } },
        { rows = { square }, depth = 64, widths = { 16, 16, 4 }, set = { pipe = "compv3", streamk = "tree", split_k = 1, persistent = 1 } },
        { rows = { square }, depth = 64, widths = { 16, 16, 4 }, set = { pipe = "compv3", streamk = "linear", split_k = 1 } },
        { rows = { { "64x32", "2x1x2", "2x1x2" } }, depth = 64, widths = { 16, 16, 4 }, set = { pipe = "compv3" } },
    },
}

-- Axes that a pipeline or a feature may name.
local told = { "pipe", "sched", "epi", "stages", "wave_groups", "merge", "two_stage", "streamk", "persistent", "split_k", "index" }
local widest, words, single = { 16, 16, 8 }, { 4, 4, 4 }, { 1, 1, 1 }
-- Few input channels, as in the first layer of a network, under many output channels.
local few_inputs = { conv_fwd = { 1, 1, 8 }, conv_bwd_data = { 16, 1, 1 }, conv_bwd_weight = { 16, 1, 1 } }

-- A config; nothing where the architecture has no instruction for the tile.
local function add(out, of, row, depth, widths, how, spec)
    local m, n = numbers(row[1])
    local waves, inst = pairs_of.waves(of.arch, of.dtype, row[arches.has(of.arch, "mma") and 3 or 2], m, n, depth)
    if not inst then
        return
    end
    local p = {
        ndim = of.ndim, tile_m = m, tile_n = n, tile_k = depth, wave_m = waves[1], wave_n = waves[2], wave_k = waves[3], inst_m = inst[1],
        inst_n = inst[2], inst_k = inst[3], vec_a = widths[1], vec_b = widths[2], vec_c = widths[3],
        split_k = of.op == "conv_bwd_weight" and 0 or nil,
    }
    for _, name in ipairs(told) do
        if how[name] ~= nil then
            p[name] = how[name]
        end
    end
    p.spec = spec or how.spec
    out[#out + 1] = p
end

-- Everything worth a search of an operation and type in so many dimensions.
local function add_all(out, of)
    for _, row in ipairs({ square, small, tall }) do
        add(out, of, row, 64, single, { pipe = "basic_v1" })
    end
    for place, how in ipairs(pipelines[of.op]) do
        for _, row in ipairs(large) do
            add(out, of, row, 64, words, how)
            for _, depth in ipairs({ 64, 128 }) do
                add(out, of, row, depth, widest, how)
            end
            if place <= 2 then
                add(out, of, row, 64, widest, how, "filter1x1_stride1_pad0")
            end
        end
    end
    for _, row in ipairs(slim) do
        add(out, of, row, 64, widest, { pipe = "mem" })
        add(out, of, row, 128, widest, { pipe = "compv3" })
        add(out, of, row, 64, words, { pipe = "basic_v1" })
    end
    add(out, of, square, 64, few_inputs[of.op], pipelines[of.op][2])
    for _, how in ipairs(rare) do
        add(out, of, square, how.pipe == "compv6" and 128 or 64, widest, how)
    end
    for _, feature in ipairs(features[of.op]) do
        for _, row in ipairs(feature.rows) do
            add(out, of, row, feature.depth, feature.widths, feature.set)
        end
    end
end

local function full(arch, op, dtype)
    local out = {}
    for ndim = 2, 3 do
        add_all(out, { arch = arch, op = op, dtype = dtype, ndim = ndim })
    end
    return out
end

-- What tuning measures: the strongest, and accesses for any count of channels. The widest come first, since without measurements the first of
-- those that are estimated alike is taken.
local function default(arch, op, dtype)
    local out = {}
    for ndim = 1, 3 do
        local of = { arch = arch, op = op, dtype = dtype, ndim = ndim }
        local first, second = pipelines[op][1], pipelines[op][2]
        for _, row in ipairs({ whole, larger, tall, square }) do
            add(out, of, row, 64, widest, first)
        end
        for _, row in ipairs({ whole, wide, narrow }) do
            add(out, of, row, 64, widest, second)
        end
        add(out, of, square, 128, widest, pipelines[op][3])
        add(out, of, square, 64, words, first)
        add(out, of, square, 64, few_inputs[op], second)
        add(out, of, square, 64, single, { pipe = "basic_v1" })
    end
    return out
end

return { default = default, full = full }
