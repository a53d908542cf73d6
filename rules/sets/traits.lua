-- On CPUs all that the family rules allow. Of matrix instructions on GPUs the tiles of set default with every pipeline and schedule; a value that a
-- trait names takes the place of a point's own, but for what `keeps` names: these decide what goes with them, so the points list their values.
return {
    about = "what trait files and configs with gaps choose from where no set is named",
    families = {
        ["conv.direct"] = true,
        ["conv.pointwise"] = true,
        ["conv.direct_1st"] = true,
        ["conv.gemm_col2im"] = true,
        ["gemm.tiled"] = true,
        ["conv.depthwise"] = true,
        ["conv.merged"] = true,
        ["conv.depthwise_weight"] = true,
        ["conv.merged_weight"] = true,
        ["conv.direct_bwd_weight"] = true,
        ["conv.reference"] = true,
        ["gemm.reference"] = true,
        ["conv.depthwise_block"] = { points = (include "tables/depthwise").points },
        ["conv.direct_block"] = { points = (include "tables/direct").full },
        ["conv.direct_1st_block"] = { points = (include "tables/direct_1st").points },
        ["conv.igemm"] = { points = (include "tables/conv_default").pool, keeps = { "pipe", "explicit", "streamk" } },
        ["gemm.mma"] = { points = (include "tables/gemm").pool, keeps = { "pipe", "streamk" } },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
    },
}
