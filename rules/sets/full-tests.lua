-- Every fifth config of set "full", category by category, so that each feature, pipeline and schedule is met.
local thin, conv, gemm = include "tables/thin", include "tables/conv_full", include "tables/gemm"

return {
    about = "every fifth config of full in each category: correctness of GPU kernels at length",
    families = {
        ["conv.depthwise_block"] = { points = (include "tables/depthwise").fifths },
        ["conv.direct_block"] = { points = (include "tables/direct").fifths },
        ["conv.direct_1st_block"] = { points = (include "tables/direct_1st").fifths },
        ["conv.igemm"] = {
            points = function(arch, op, dtype, legal)
                return thin.fifths(conv.points(arch, op, dtype), legal)
            end,
        },
        ["gemm.mma"] = {
            points = function(arch, op, dtype, legal)
                return thin.fifths(gemm.full(arch, op, dtype), legal)
            end,
        },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
        ["conv.reference"] = true,
        ["gemm.reference"] = true,
    },
}
