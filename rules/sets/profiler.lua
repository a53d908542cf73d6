-- The convolutions that lists of CK Builder name for profiling.
return {
    about = "what CK Builder's lists name for profiling: --builder-conf DIR",
    families = {
        ["conv.depthwise_block"] = { builder = "profiler" },
        ["conv.igemm"] = { builder = "profiler" },
        ["conv.reference_gpu"] = true,
        ["gemm.reference_gpu"] = true,
    },
}
