-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "AMD CDNA 2: Instinct MI210, MI250",
    backend = "hip",
    compile = "gfx90a",
    features = { "mfma", "streamk" },
    waves = { "1x4x1", "2x2x1", "4x1x1" },
    tiles = {
        fp32 = { "16x16x4", "16x16x8", "16x16x16", "32x32x4", "32x32x8" },
        fp16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "4x64x16", "64x4x16" },
        bf16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "4x64x16", "64x4x16" },
        fp8 = { "32x32x16", "32x32x32" },
        bf8 = { "32x32x16", "32x32x32" },
        int8 = { "32x32x16", "16x16x32" },
    },
    preshuffle = {
        fp16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "64x4x16" },
        bf16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "64x4x16" },
        fp8 = { "32x32x16", "32x32x32" },
        bf8 = { "32x32x16", "32x32x32" },
    },
    typical = {
        units = 104, lanes = 64, registers = 512, l2 = 8388608,
        lds = 65536, unit_lds = 65536, unit_registers = 131072, unit_waves = 32, clock = 1700, bandwidth = 1638,
    },
}
