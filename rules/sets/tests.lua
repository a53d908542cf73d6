return {
    about = "a small spread for correctness: every axis value and both instruction sets",
    families = {
        ["conv.generic"] = true,
        ["gemm.generic"] = true,
    },
}
