-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "AMD CDNA 4: Instinct MI350",
    backend = "hip",
    compile = "gfx950",
    features = { "mfma", "async4", "async16", "streamk" },
    waves = { "1x1x1", "1x2x1", "1x4x1", "2x1x1", "2x1x2", "2x2x1", "4x1x1", "8x2x1", "4x4x1" },
    tiles = {
        fp32 = { "16x16x4", "16x16x8", "16x16x16", "32x32x4", "32x32x8" },
        fp16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "4x64x16", "64x4x16" },
        bf16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "4x64x16", "64x4x16" },
        fp8 = { "32x32x16", "32x32x32", "16x16x32", "16x16x64", "16x16x128", "32x32x64" },
        bf8 = { "32x32x16", "32x32x32", "16x16x32", "16x16x64", "16x16x128", "32x32x64" },
        ["fp8*bf8"] = { "32x32x16", "32x32x32", "16x16x32", "16x16x128", "32x32x64" },
        ["bf8*fp8"] = { "32x32x16", "16x16x128", "32x32x64" },
        int8 = { "32x32x16", "16x16x32" },
    },
    preshuffle = {
        fp16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "64x4x16", "32x32x32", "16x16x64" },
        bf16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32", "64x4x16", "32x32x32", "16x16x64" },
        fp8 = { "32x32x16", "32x32x32", "16x16x32", "16x16x64", "16x16x128", "32x32x64" },
        bf8 = { "32x32x16", "32x32x32", "16x16x32", "16x16x64", "16x16x128", "32x32x64" },
    },
    typical = {
        units = 256, lanes = 64, registers = 512, l2 = 4194304,
        lds = 163840, unit_lds = 163840, unit_registers = 131072, unit_waves = 32, clock = 2400, bandwidth = 8000,
    },
}
