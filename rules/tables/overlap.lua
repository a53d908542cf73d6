-- Our own: blocks that go from tile to tile, whose results leave while the next tile comes in (pipe=cooperative, pingpong). C refuses
-- them where the type or the architecture has none.

-- pipeline, tile, tiles in shared memory: 227 KiB at most with the results on their way, half of that where two blocks are to share a
-- multiprocessor.
local tiles = {
    { "cooperative", "128x256x64", 4 }, { "pingpong", "128x128x64", 6 }, { "cooperative", "256x128x64", 4 },
    { "cooperative", "128x192x64", 5 }, { "pingpong", "64x256x64", 5 }, { "pingpong", "128x192x64", 5 },
    { "cooperative", "128x64x64", 4 }, { "pingpong", "64x64x64", 8 }, { "pingpong", "128x64x64", 8 }, { "pingpong", "64x64x64", 6 },
    { "cooperative", "256x64x64", 5 },
}
-- Where the depth may be divided among blocks: of gradients of weights, of the other directions, of products.
local divided = {
    conv_bwd_weight = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 6 }, { "cooperative", "128x64x64", 4 },
        { "cooperative", "128x192x64", 5 }, { "pingpong", "64x128x64", 7 }, { "cooperative", "256x192x64", 3 }, { "pingpong", "64x192x64", 6 },
        { "pingpong", "64x256x64", 5 },
    },
    conv = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 8 }, { "pingpong", "64x128x64", 7 },
        { "cooperative", "256x128x64", 4 }, { "cooperative", "128x192x64", 5 }, { "cooperative", "256x192x64", 3 },
    },
    gemm = {
        { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 8 }, { "cooperative", "128x64x64", 4 },
        { "pingpong", "64x256x64", 5 }, { "pingpong", "64x128x64", 7 }, { "cooperative", "128x192x64", 5 },
        { "cooperative", "256x128x64", 4 }, { "cooperative", "256x192x64", 3 },
    },
}

-- Columns between two multiples of 64, where as many channels, or half of them, would leave a fifth of a tile empty; of products, forward and
-- backward data. slabs: of a second operand whose columns are contiguous, which comes in pieces of 64.
local between = {
    lines = {
        { "cooperative", "256x144x64", 4 }, { "cooperative", "256x160x64", 4 }, { "cooperative", "128x208x64", 4 }, { "cooperative", "128x224x64", 4 },
        { "cooperative", "128x160x64", 5 },
    },
    slabs = {
        { "cooperative", "256x144x64", 3 }, { "cooperative", "256x160x64", 3 }, { "cooperative", "128x208x64", 4 }, { "cooperative", "128x224x64", 4 },
    },
}

-- Strides of 1: pixels lie in shared memory once for many taps. Stages have the filter's columns alone, and what they leave is for pixels: few
-- stages for tiles of long lines or large filters, nine where a 3x3 filter of 64 channels is to stay. Whole depths, and divided ones; of
-- three axes; of any count of channels.
local border = {
    { "cooperative", "256x128x64", 5 }, { "cooperative", "256x64x64", 9 }, { "cooperative", "256x64x64", 4 }, { "pingpong", "128x128x64", 6 },
    { "pingpong", "128x64x64", 9 }, { "cooperative", "128x192x64", 5 },
}
local border_divided = {
    { "cooperative", "256x128x64", 5 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 9 }, { "cooperative", "256x96x64", 6 },
    { "cooperative", "256x160x64", 4 },
}
local border_deep = {
    { "cooperative", "256x128x64", 5 }, { "cooperative", "256x96x64", 6 }, { "cooperative", "256x64x64", 8 }, { "cooperative", "128x192x64", 5 },
    { "cooperative", "128x128x64", 6 }, { "pingpong", "64x64x64", 9 }, { "pingpong", "128x128x64", 6 }, { "pingpong", "128x64x64", 9 },
    { "cooperative", "128x256x64", 4 }, { "cooperative", "256x160x64", 4 },
}
local border_any = {
    { "cooperative", "256x128x64", 5 }, { "cooperative", "256x96x64", 6 }, { "cooperative", "256x64x64", 8 }, { "cooperative", "128x128x64", 6 },
    { "pingpong", "128x64x64", 9 }, { "pingpong", "64x64x64", 9 }, { "cooperative", "128x192x64", 5 },
}
local border_any_deep = { { "cooperative", "256x96x64", 6 }, { "cooperative", "256x64x64", 8 }, { "pingpong", "64x64x64", 9 } }
local border_narrow = { { "cooperative", "256x32x64", 9 } } -- and where channels fill no more

-- 1x1 filters on channels-first tensors as they are: rows are output channels.
local planes = {
    { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "pingpong", "64x256x64", 5 }, { "pingpong", "64x64x64", 8 },
    { "pingpong", "64x128x64", 7 }, { "pingpong", "128x128x64", 6 }, { "cooperative", "256x64x64", 4 }, { "pingpong", "128x64x64", 8 },
}

-- Of any size: operands are copied to aligned rows first, and results leave element by element. The depth is divided where that is faster.
local any_size = {
    { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "cooperative", "128x64x64", 4 }, { "pingpong", "64x64x64", 8 },
    { "pingpong", "64x128x64", 7 }, { "cooperative", "128x192x64", 5 },
}

-- Gradients of weights of fp32: rows are the taps' channels, columns output channels.
local picked = {
    { "cooperative", "128x256x64", 4 }, { "cooperative", "128x128x64", 6 }, { "cooperative", "128x64x64", 8 }, { "pingpong", "64x64x64", 8 },
    { "pingpong", "64x128x64", 7 }, { "cooperative", "128x192x64", 5 }, { "pingpong", "64x256x64", 5 },
}

-- Forward, of no more than so many output channels.
local narrow = {
    { "cooperative", "256x96x64", 4 }, { "cooperative", "128x96x64", 6 }, { "pingpong", "64x96x64", 4 }, { "cooperative", "256x32x64", 5 },
    { "cooperative", "128x32x64", 4 },
}

-- Narrow groups side by side, 64 channels together: pipeline, tile, tiles in shared memory; and how many groups, of 32, 16 and 8 channels.
local merged = {
    conv_bwd_weight = { { "pingpong", "64x64x64", 6 }, { "pingpong", "64x128x64", 7 }, { "pingpong", "64x192x64", 6 } },
    conv = { { "cooperative", "128x64x64", 4 }, { "cooperative", "256x64x64", 5 }, { "pingpong", "64x64x64", 6 } },
    groups = { 2, 4 },
    more = { 2, 4, 8 },
}

-- Products of few rows (turned) or few columns, whose results leave from the registers: pipeline, tile, tiles in shared memory.
local thin = {
    turned = {
        { "pingpong", "16x64x64", 8 }, { "pingpong", "16x128x64", 6 }, { "pingpong", "32x64x64", 8 }, { "pingpong", "32x128x64", 5 },
        { "pingpong", "64x64x64", 7 }, { "pingpong", "64x128x64", 8 }, { "pingpong", "96x64x64", 5 }, { "pingpong", "96x128x64", 8 },
        { "cooperative", "128x128x64", 7 }, { "cooperative", "32x128x64", 8 }, { "cooperative", "64x128x64", 8 }, { "cooperative", "64x256x64", 5 },
    },
    default = {
        { "pingpong", "64x16x64", 8 }, { "pingpong", "128x16x64", 6 }, { "pingpong", "64x32x64", 8 }, { "pingpong", "128x32x64", 5 },
        { "pingpong", "64x96x64", 5 }, { "pingpong", "128x96x64", 8 }, { "cooperative", "128x32x64", 8 }, { "cooperative", "128x64x64", 8 },
    },
}

-- Few columns whose depth is contiguous beside many rows.
local tall = { { "cooperative", "256x96x64", 4 } }

-- Blocks that bring the second operand together, each a part for all: where its columns are contiguous, where its depth is, and turned.
local shared = {
    slabs = {
        { "cooperative", "128x128x64", 6, "pair" }, { "pingpong", "64x256x64", 5, "pair" }, { "cooperative", "128x64x64", 8, "quad" },
        { "pingpong", "128x64x64", 8, "quad" }, { "cooperative", "256x64x64", 5, "quad" },
    },
    lines = { { "cooperative", "128x64x64", 4, "quad" } },
}

-- Few columns beside many rows, and turned: few rows beside many columns; results leave in runs. pipeline, tile, tiles in shared memory, how the
-- few come: once and whole, as deep as what stages leave has room for, by blocks together, or each block its own; tiles in shared memory where
-- the few are contiguous and come in pieces of 64.
local runs = {
    { "cooperative", "128x16x64", 8, "stationary" }, { "cooperative", "128x32x64", 7, "stationary" }, { "cooperative", "256x32x64", 4, "stationary" },
    { "pingpong", "128x64x64", 6, "stationary" }, { "cooperative", "128x128x64", 5, "stationary" },
    { "cooperative", "384x96x64", 3, "pair" }, { "cooperative", "384x32x64", 4, "pair", 3 }, { "pingpong", "64x32x64", 6, "pair" },
    { "pingpong", "64x64x64", 8, "quad" }, { "pingpong", "64x128x64", 8, "quad" }, { "cooperative", "128x96x64", 6, "quad" },
    { "cooperative", "256x32x64", 5, "quad", 4 }, { "pingpong", "192x64x64", 6, "quad" }, { "cooperative", "128x64x64", 8, "pair" },
    { "cooperative", "128x80x64", 7, "pair", 6 }, { "pingpong", "128x40x64", 9, "off", 8 }, { "pingpong", "256x72x64", 4, "off" },
    { "pingpong", "64x80x64", 10, "off", 8 }, { "pingpong", "192x64x64", 6, "off" },
}
local turned_runs = { { "cooperative", "128x64x64", 8, "quad" }, { "cooperative", "256x64x64", 5, "quad" } }

-- The depth divided among blocks of a cluster: pipeline, tile, tiles in shared memory (even with pingpong), parts of the depth. Products of
-- either order; results leave from the registers.
local meeting = {
    few = { -- what tuning measures: few rows, depths of some thousands
        { "pingpong", "16x64x64", 8, { 2 } }, { "pingpong", "32x64x64", 8, { 2 } }, { "cooperative", "32x128x64", 5, { 4 } },
        { "cooperative", "64x128x64", 8, { 2, 4 } }, { "pingpong", "24x64x64", 16, { 3 } },
    },
    few_columns = { { "pingpong", "64x24x64", 16, { 3 } }, { "pingpong", "64x64x64", 6, { 2 } }, { "cooperative", "128x64x64", 4, { 4 } } },
    few_weights = { { "pingpong", "64x64x64", 8, { 2, 4 } } }, -- gradients of small 1x1 layers: no launch adds parts
    few_pixels = { { "pingpong", "64x64x64", 8, { 2, 4, 8 } } }, -- small deep layers, forward and data: 64x64 tiles of 9x9 to 38x19 pixels are fewer than multiprocessors
    conv_bwd_weight = {
        { "cooperative", "128x256x64", 4, { 4, 8 } }, { "cooperative", "128x128x64", 6, { 2, 4, 8 } }, { "cooperative", "128x64x64", 4, { 4, 8 } },
        { "pingpong", "64x64x64", 6, { 4, 8 } }, { "pingpong", "64x128x64", 8, { 4, 8 } },
    },
    conv = {
        { "cooperative", "128x256x64", 4, { 4 } }, { "cooperative", "128x128x64", 6, { 2, 4 } }, { "cooperative", "128x64x64", 4, { 2, 4 } },
        { "pingpong", "64x64x64", 6, { 2, 4, 8 } }, { "pingpong", "64x128x64", 8, { 2, 4, 8 } },
    },
    default = {
        { "cooperative", "128x256x64", 4, { 2, 4, 8 } }, { "cooperative", "128x192x64", 5, { 2, 4 } }, { "cooperative", "128x128x64", 6, { 2, 4, 8 } },
        { "cooperative", "128x64x64", 4, { 2, 4, 8 } }, { "cooperative", "128x32x64", 5, { 2, 4 } }, { "pingpong", "64x64x64", 6, { 2, 4, 8 } },
        { "pingpong", "64x128x64", 8, { 2, 4, 8 } }, { "pingpong", "64x96x64", 4, { 2 } }, { "pingpong", "64x256x64", 4, { 2, 4, 8 } },
        { "pingpong", "64x32x64", 8, { 2, 4 } }, { "pingpong", "64x16x64", 8, { 2 } }, { "pingpong", "64x24x64", 16, { 3 } },
    },
    turned = {
        { "pingpong", "16x64x64", 8, { 2 } }, { "pingpong", "24x64x64", 16, { 3 } }, { "pingpong", "32x64x64", 8, { 2, 4 } },
        { "pingpong", "64x64x64", 6, { 2, 4, 8 } },
        { "pingpong", "96x64x64", 4, { 2, 4 } }, { "pingpong", "128x64x64", 8, { 2, 4, 8 } }, { "cooperative", "32x128x64", 5, { 2, 4 } },
        { "cooperative", "64x128x64", 4, { 2, 4, 8 } }, { "cooperative", "64x128x64", 8, { 2, 4 } }, { "cooperative", "128x128x64", 6, { 2, 4, 8 } },
    },
}

-- Products of bytes of floating point, which take two sets of sums.
local of_bytes = {
    { "cooperative", "128x192x128", 5 }, { "cooperative", "128x128x128", 6 }, { "pingpong", "64x128x128", 7 }, { "cooperative", "128x64x128", 4 },
    { "pingpong", "64x192x128", 5 }, { "cooperative", "128x256x128", 4 }, { "cooperative", "256x128x128", 4 }, -- of these two for fpmath=fast_accum
}
local bytes_divided = {
    { "cooperative", "128x128x128", 6 }, { "pingpong", "64x64x128", 8 }, { "pingpong", "64x128x128", 7 }, { "cooperative", "128x64x128", 4 },
    { "cooperative", "128x192x128", 5 }, { "cooperative", "128x256x128", 4 }, { "cooperative", "256x128x128", 4 },
    { "cooperative", "256x192x128", 3 }, { "cooperative", "128x160x128", 5 }, { "cooperative", "128x112x128", 6 },
}

-- And of any size in any layout: operands are copied first, turned where rows are contiguous.
local bytes_copied = {
    { "cooperative", "128x192x128", 5 }, { "cooperative", "128x128x128", 6 }, { "pingpong", "64x128x128", 7 }, { "pingpong", "64x64x128", 8 },
}

-- Points without what tells problems apart (ndim, layout). width: bytes of an element; any: of any size. Rows are of 16 bits, or of bytes; a
-- step of fp32 has half as many.
local function points(rows, split, width, any)
    local out = {}
    for _, row in ipairs(rows) do
        local m, n, k = numbers(row[2])
        local turns, run = row[1] == "pingpong", 16 // (width or 2)
        local wide = width == 4
        out[#out + 1] = {
            tile_m = m, tile_n = n, tile_k = wide and k // 2 or k, wave_m = turns and 4 or 8, wave_n = 1, wave_k = 1, inst_m = 64, inst_n = n, inst_k = 2 * run,
            pipe = row[1], stages = row[3], vec_a = any or run, vec_b = any or run, vec_c = any or wide and run or 8, wave_groups = turns and 2 or 1, persistent = 1, split_k = split,
        }
    end
    return out
end

-- Those of a thin product: columns of the instruction are the tile's smaller side.
local function thin_points(list, epi)
    local out = points(list, 0)
    for _, p in ipairs(out) do
        p.epi, p.vec_c = epi, 1
        p.inst_n = epi == "turned" and p.tile_m or p.tile_n
    end
    return out
end

local function shared_points(list)
    local out = points(list, 0)
    for i, p in ipairs(out) do
        p.streamk = list[i][4]
    end
    return out
end

-- turned: rows of the result are columns of the instruction; slabs: the few are contiguous.
local function run_points(list, turned, slabs)
    local out = points(list)
    for i, p in ipairs(out) do
        p.streamk, p.stages = list[i][4], slabs and list[i][5] or p.stages
        if turned then
            p.tile_m, p.tile_n, p.epi = p.tile_n, p.tile_m, "turned"
        end
    end
    return out
end

-- Those whose blocks meet; epi: as the columns of the instruction are the tile's.
local function meeting_points(list, epi)
    local out = {}
    for _, row in ipairs(list) do
        for _, parts in ipairs(row[4]) do
            local p = points({ row }, parts)[1]
            p.epi, p.vec_c, p.persistent, p.streamk = epi, 1, 0, "cluster"
            p.inst_n = epi == "turned" and p.tile_m or p.tile_n
            out[#out + 1] = p
        end
    end
    return out
end

-- Few columns that are contiguous come in pieces of 64: where results leave from the registers, whole pieces alone were ever the fastest.
local function whole_pieces(list, slabs)
    local out = {}
    for _, p in ipairs(list) do
        if not slabs or p.inst_n % 64 == 0 then
            out[#out + 1] = p
        end
    end
    return out
end

-- Those of merged groups.
local function merged_points(op, all)
    local out, weight = {}, op == "conv_bwd_weight"
    for _, groups in ipairs(all and merged.more or merged.groups) do
        for _, p in ipairs(points(merged[weight and op or "conv"], weight and 0 or nil)) do
            p.merge = groups
            out[#out + 1] = p
        end
    end
    return out
end

-- Those of a convolution in some counts of axes; meets: also those whose blocks meet; width: bytes of an element.
local function convolutions(op, first, last, meets, width)
    local out = {}
    local weight = op == "conv_bwd_weight"
    for ndim = first, last do
        local lists = { weight and {} or points(tiles, nil, width), weight and width == 4 and {} or points(divided[weight and op or "conv"], 0, width) }
        if width == 4 then
            for i = 1, op == "conv_bwd_data" and 2 or 0 do -- filters are turned as they are copied
                for _, p in ipairs(lists[i]) do
                    p.vec_b = 1
                end
            end
            lists[3] = points(weight and picked or any_size, 0, 4, 1)
        else
            lists[3], lists[4] = points(any_size, 0, 2, 1), points(planes, 0)
            lists[#lists + 1] = merged_points(op, meets)
            lists[#lists + 1] = op == "conv_fwd" and points(narrow) or {}
            lists[#lists + 1] = not weight and points(between[op == "conv_fwd" and "lines" or "slabs"], 0) or {}
        end
        local first_border = #lists + 1
        if width ~= 4 and not weight and ndim == 2 then
            lists[#lists + 1], lists[#lists + 2] = points(border), points(border_divided, 0)
            lists[#lists + 1] = points(border_any, 0, 2, 1)
            lists[#lists + 1], lists[#lists + 2] = points(border_narrow, 0, 2, 1), points(border_narrow, 0)
        elseif width ~= 4 and not weight and ndim == 3 then
            lists[#lists + 1], lists[#lists + 2], lists[#lists + 3] = points(border_deep, 0), points(border_any_deep, 0, 2, 1), points(border_narrow, 0)
        end
        local last_border = #lists
        if meets and width ~= 4 then
            lists[#lists + 1] = meeting_points(meeting[weight and op or "conv"], "default")
        end
        if width ~= 4 and ndim == 2 then
            lists[#lists + 1] = meeting_points(weight and meeting.few_weights or meeting.few_pixels, "default")
        end
        for i, list in ipairs(lists) do
            for _, p in ipairs(list) do
                p.ndim, p.spec = ndim, i == 4 and "filter1x1_stride1_pad0" or i >= first_border and i <= last_border and "stride1" or nil
                out[#out + 1] = p
            end
        end
    end
    return out
end

-- Those of a product in all layouts that have any. width: bytes of an element; meets: of those whose blocks meet all, else few.
local function products(width, meets)
    local out, narrow, wide = {}, width == 1, width == 4
    for _, layout in ipairs({ "rcr", "rrr", "crr", "ccr" }) do
        local slabs, few = layout == "rrr" or layout == "crr", layout == "crr" or layout == "ccr" -- columns, or turned rows, are contiguous
        local lists = {
            points(tiles), points(divided.gemm, 0), points(any_size, 0, 2, 1), whole_pieces(thin_points(thin.turned, "turned"), few),
            whole_pieces(thin_points(thin.default, "default"), slabs),
        }
        lists[#lists + 1] = points(between[slabs and "slabs" or "lines"], 0)
        lists[#lists + 1] = shared_points(shared[slabs and "slabs" or "lines"])
        lists[#lists + 1], lists[#lists + 2] = run_points(runs, false, slabs), run_points(runs, true, few)
        lists[#lists + 1] = run_points(turned_runs, true, few)
        lists[#lists + 1] = slabs and {} or points(tall, 0)
        lists[#lists + 1] = whole_pieces(meeting_points(meets and meeting.turned or meeting.few, "turned"), few)
        lists[#lists + 1] = whole_pieces(meeting_points(meets and meeting.default or meeting.few_columns, "default"), slabs)
        lists = narrow and { points(bytes_copied, 0, 1, 1) } or wide and { points(any_size, 0, 4, 1) } or lists
        if layout == "rcr" and narrow then
            lists[#lists + 1], lists[#lists + 2] = points(of_bytes, nil, 1), points(bytes_divided, 0, 1)
        elseif layout == "rcr" and wide then
            lists[#lists + 1], lists[#lists + 2] = points(tiles, nil, 4), points(divided.gemm, 0, 4)
        end
        for _, list in ipairs(lists) do
            for _, p in ipairs(list) do
                p.layout = layout
                out[#out + 1] = p
            end
        end
    end
    return out
end

return { convolutions = convolutions, products = products }
