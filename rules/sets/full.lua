return {
    about = "everything that the family rules allow",
    families = {
        ["conv.direct"] = true,
        ["conv.pointwise"] = true,
        ["conv.first"] = true,
        ["gemm.tiled"] = true,
        ["conv.depthwise"] = true,
        ["conv.merged"] = true,
        ["conv.depthwise_weight"] = true,
        ["conv.merged_weight"] = true,
        ["conv.weight"] = true,
        ["conv.generic"] = true,
        ["gemm.generic"] = true,
    },
}
