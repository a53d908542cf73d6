-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "AMD gfx1250",
    backend = "hip",
    compile = "gfx1250",
    features = { "wmma1250" },
    waves = { "2x4x1", "1x8x1", "8x1x1", "4x2x1", "2x1x1", "1x2x2", "4x1x1", "1x4x1", "2x2x1" },
    tiles = {
        fp32 = { "16x16x4" },
        fp16 = { "16x16x32" },
        bf16 = { "16x16x32" },
        fp8 = { "16x16x64", "16x16x128" },
        bf8 = { "16x16x64", "16x16x128" },
        int8 = { "16x16x64" },
    },
    preshuffle = {
        fp16 = { "16x16x32" },
        bf16 = { "16x16x32" },
    },
    typical = {
        units = 256, lanes = 32, registers = 1024, l2 = 4194304,
        lds = 327680, unit_lds = 327680, unit_registers = 262144, unit_waves = 64, clock = 2400, bandwidth = 8000,
    },
}
