return {
    about = "what tuning measures: a few strong and different candidates",
    families = {
        ["conv.generic"] = true,
        ["gemm.generic"] = true,
    },
}
