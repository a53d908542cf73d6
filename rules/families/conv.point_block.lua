-- 1x1 layers on GPUs whose weights all find room in a block's shared memory. waves, rows, cols, room
-- On an H200, over 34 layers, the best of these is as fast as the best of all 4, 8, 12 and 16 waves, 16 and 32 rows, 64 and 128 columns.
local default = {
    { 4, 16, 64, 24 }, { 4, 16, 128, 24 }, { 4, 32, 64, 32 }, { 12, 32, 64, 48 }, { 4, 32, 64, 72 }, { 16, 16, 64, 72 },
    { 16, 16, 64, 112 }, { 4, 16, 128, 112 }, { 4, 32, 64, 224 }, { 8, 16, 64, 224 },
}

local among = include "tables/among"

local function listed(c)
    return among(default, { c.waves, c.rows, c.cols, c.room })
end

return {
    family = "conv.point_block",
    ops = { "conv_fwd", "conv_bwd_data" },
    dtypes = { "bf16", "fp16" },
    axes = function(arch, op, dtype, words)
        return {
            waves = { 4, 8, 12, 16 }, -- of equal ones for the estimate the first is taken
            rows = { 16, 32 },
            cols = { 64, 128 },
            room = { 24, 32, 48, 72, 112, 224 },
        }
    end,
    rules = {},
    sets = {
        full = listed,
        tiny = function(c) return listed(c) and c.waves == 4 and c.rows == 32 and c.room == 72 end,
        default = listed,
        ["full-tests"] = listed,
    },
}
