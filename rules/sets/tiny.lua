return {
    about = "one or two configs per family, operation and type: the quickest look",
    families = {
        ["conv.generic"] = true,
        ["gemm.generic"] = true,
    },
}
