-- Each tile of a list with every pipeline and schedule, as they stand without options: what a trait file chooses from.
local axes = {
    "ndim", "layout", "tile_m", "tile_n", "tile_k", "wave_m", "wave_n", "wave_k", "inst_m", "inst_n", "inst_k", "vec_a", "vec_b", "vec_c", "pad_m",
    "pad_n", "pad_k", "split_k",
}
-- Tiles in shared memory and groups of waves that a pipeline must have.
local pipes = {
    { "basic_v1" }, { "mem" }, { "compv3" }, { "compv4", 2 }, { "compv5", 1, 2 }, { "compv6" }, { "comp_async", 2 }, { "basic_async_v1" }, { "wavelet" },
}
local plain = {}
for _, row in ipairs(pipes) do
    plain[row[1]] = true
end

local function key(p)
    local out = ""
    for _, axis in ipairs(axes) do
        out = out .. (p[axis] or "") .. " "
    end
    return out
end

-- Options that ask for others: a product that is split evenly is not split by parts besides, and an explicit one is for filters of 1x1. They are
-- listed where a trait names them.
local function options(op, named)
    local out = { {} }
    if named.explicit and op ~= "gemm" then
        out[#out + 1] = { explicit = 1, spec = "filter1x1_stride1_pad0" }
    end
    if named.streamk and (op == "gemm" or op == "conv_bwd_weight") then
        out[#out + 1] = { streamk = "tree", split_k = 1 }
        out[#out + 1] = { streamk = "linear", split_k = 1 }
    end
    return out
end

-- Pipelines with instructions of their own stay as they are. Backward, mem stores from the registers, as published.
local function pipelines(list, op, named)
    local out, seen, hows = {}, {}, options(op, named)
    for _, p in ipairs(list) do
        if p.pipe and not plain[p.pipe] then
            out[#out + 1] = p
        elseif not seen[key(p)] then
            seen[key(p)] = true
            for _, row in ipairs(pipes) do
                for _, how in ipairs(hows) do
                    local q = { pipe = row[1], stages = row[2] or 1, wave_groups = row[3] or 1, sched = "*" }
                    q.epi = row[1] == "mem" and (op == "conv_bwd_data" or op == "conv_bwd_weight") and "default" or "cshuffle"
                    for _, axis in ipairs(axes) do
                        q[axis] = p[axis]
                    end
                    q.explicit, q.spec, q.streamk, q.split_k = how.explicit, how.spec, how.streamk, how.split_k or p.split_k
                    out[#out + 1] = q
                end
            end
        end
    end
    return out
end

return { pipelines = pipelines }
