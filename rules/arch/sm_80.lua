-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "NVIDIA Ampere: A100",
    backend = "cuda",
    compile = "sm_80",
    features = { "mma", "async4", "async16", "streamk" },
    waves = { "1x1x1", "1x2x1", "2x1x1", "2x2x1", "1x4x1", "4x1x1", "2x4x1", "4x2x1", "1x8x1", "8x1x1", "2x2x2", "2x1x2" },
    tiles = {
        fp32 = { "16x8x4", "16x8x8" },
        fp16 = { "16x8x8", "16x8x16" },
        bf16 = { "16x8x8", "16x8x16" },
        int8 = { "16x8x16", "16x8x32" },
    },
    preshuffle = {},
    typical = {
        units = 108, lanes = 32, registers = 255, l2 = 41943040,
        lds = 166912, unit_lds = 167936, unit_registers = 65536, unit_waves = 64, clock = 1410, bandwidth = 1555,
    },
}
