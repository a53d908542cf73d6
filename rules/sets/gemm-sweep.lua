-- The published sweep over macro tiles, waves and instructions of plain matrix products.
return {
    about = "GEMM on AMD: the whole product of tiles, waves and instructions",
    families = {
        ["gemm.mma"] = include "tables/gemm_sweep",
        ["gemm.reference_gpu"] = true,
    },
}
