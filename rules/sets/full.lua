return {
    about = "everything that the family rules allow",
    families = {
        ["conv.generic"] = true,
        ["gemm.generic"] = true,
    },
}
