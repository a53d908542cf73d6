-- What set "full" adds to the plain configs: features with the tiles they are worth having on. class nil: all types. Tiles count as they stand
-- here, also where the direction's own list lacks them. own: not of the published sets, so that each pipeline and each axis is met.
return {
    conv_fwd = {
        { tiles = { "64x64x16", "64x64x32", "256x128x16", "256x128x32" }, pipelines = { "basic_v1 i" }, set = { split_image = 1 } },
        { tiles = { "64x16x16", "128x32x32" }, set = { merge = 8 } },
        { tiles = { "64x16x16" }, set = { merge = 16 } },
        { tiles = { "64x16x16" }, set = { merge = 32 } },
        { tiles = { "64x64x64", "128x128x64" }, set = {}, pipelines = { "compv5 i", "comp_async i" }, own = true },
        { tiles = { "64x64x32" }, set = { index = 64 }, own = true },
    },
    conv_bwd_data = {
        { tiles = { "64x64x32", "128x128x32" }, set = {}, pipelines = { "basic_v1 e", "mem i", "compv3 i", "compv4 i", "comp_async i" }, own = true },
        { tiles = { "64x64x32" }, set = { index = 64 }, own = true },
    },
    conv_bwd_weight = {
        { class = "half", set = { explicit = 1 }, tiles = {
            "16x16x64", "16x32x64", "16x64x64", "16x128x64", "16x256x64", "32x16x64", "64x16x64", "128x16x64", "256x16x64", "128x128x64",
            "256x256x32",
        } },
        { class = "half", set = { two_stage = 1 }, tiles = { "16x16x32", "64x64x64" } },
        { class = "half", set = { two_stage = 1, explicit = 1 },
            tiles = { "16x16x64", "16x32x64", "16x64x64", "32x16x64", "64x16x64", "128x16x64", "256x16x64" } },
        { class = "half", set = { merge = 2, two_stage = 1 }, tiles = { "32x32x32", "32x64x32" } },
        { class = "half", set = { merge = 4, two_stage = 1 }, tiles = { "16x128x32", "32x64x32", "64x32x32" } },
        { class = "half", set = { merge = 8, two_stage = 1 }, tiles = { "16x256x32", "32x128x32", "128x32x32" } },
        { class = "half", set = { merge = 2 }, tiles = { "16x32x64", "16x64x64", "64x128x64" }, pipelines = { "basic_async_v1 i" } },
        { set = { streamk = "tree", split_k = 1 }, shallow = true, pipelines = { "basic_v1 i", "mem i", "basic_async_v1 i" },
            tiles = { "16x16x32", "16x32x64", "32x16x64", "64x16x64", "64x64x64", "128x32x32" } },
        { set = { streamk = "tree", split_k = 1, persistent = 1 }, shallow = true, pipelines = { "basic_v1 i", "mem i", "basic_async_v1 i" },
            tiles = { "16x16x32", "16x32x64", "32x16x64", "64x16x64", "64x64x64", "128x32x32" } },
        { set = { streamk = "linear", split_k = 1 }, pipelines = { "basic_v1 i" }, tiles = { "64x64x64" }, own = true },
        { set = {}, pipelines = { "comp_async i" }, tiles = { "64x64x64" }, own = true },
        { set = { index = 64 }, pipelines = { "basic_v1 i" }, tiles = { "64x64x64" }, own = true },
    },
}
