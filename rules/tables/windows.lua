-- Tiles that handle a window of taps at once, as lists of { taps_h, taps_w, stride, tile_h, tile_w }, which families of narrow groups share.
return {
    -- Where in the list a config's window and tile stand; nil: nowhere.
    place = function(list, c)
        for i, tile in ipairs(list) do
            if tile[1] == c.taps_h and tile[2] == c.taps_w and tile[3] == c.stride and tile[4] == c.tile_h and tile[5] == c.tile_w then
                return i
            end
        end
    end,
    few_pixels = { "fewer than 4 pixels are hardly more than their loads", function(c)
        return c.tile_h * c.tile_w >= 4
    end },
}
