-- What sets and families ask of a GPU's architecture file.

local function has(arch, feature)
    for _, word in ipairs(arch.features) do
        if word == feature then
            return true
        end
    end
    return false
end

-- The different values at a place of a list of "16x16x32", in order of appearance.
local function values(list, place)
    local found, out = {}, {}
    for _, text in ipairs(list or {}) do
        local value = ({ numbers(text) })[place]
        if not found[value] then
            found[value] = true
            out[#out + 1] = value
        end
    end
    return out
end

local function lists(list, text)
    for _, entry in ipairs(list or {}) do
        if entry == text then
            return true
        end
    end
    return false
end

return { has = has, values = values, lists = lists }
