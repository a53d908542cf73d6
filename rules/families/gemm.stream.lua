-- Products with few rows or columns on GPUs. A tile is { few, long }: rows of the result that a block has on either side.
-- few, long, waves, ahead
local default = {
    { 8, 16, 8, 4 }, { 8, 16, 8, 2 }, { 8, 16, 16, 4 }, { 8, 32, 16, 2 }, { 16, 16, 8, 2 }, { 16, 16, 4, 2 }, { 16, 16, 4, 4 },
    { 32, 16, 8, 2 },
}

local among = include "tables/among"

local function listed(c)
    local few, long = c.tile_m, c.tile_n
    if c.few == "n" then
        few, long = long, few
    end
    return among(default, { few, long, c.waves, c.ahead })
end

return {
    family = "gemm.stream",
    ops = { "gemm" },
    dtypes = { "bf16", "fp16" },
    axes = function(arch, op, dtype, words)
        return {
            layout = words("layout"),
            few = words("few"),
            tile_m = { 8, 16, 32, 64 },
            tile_n = { 8, 16, 32, 64 },
            waves = { 8, 4, 16 }, -- of equal ones for the estimate the first is taken
            ahead = { 4, 2, 8, 1 },
        }
    end,
    rules = {
        { "more than 32 rows or columns are for shared memory", function(c)
            return (c.few == "m" and c.tile_m or c.tile_n) <= 32
        end },
    },
    sets = {
        full = listed,
        tiny = function(c) return listed(c) and c.few == "m" and c.tile_m == 16 and c.tile_n == 16 end,
        default = listed,
        ["full-tests"] = listed,
    },
}
