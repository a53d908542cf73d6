-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "AMD RDNA 4: Radeon RX 9070",
    backend = "hip",
    compile = "gfx1201",
    features = { "wmma12" },
    waves = { "2x4x1", "1x8x1", "8x1x1", "4x2x1" },
    tiles = {
        fp16 = { "16x16x16" },
        bf16 = { "16x16x16" },
        fp8 = { "16x16x16" },
        bf8 = { "16x16x16" },
        ["fp8*bf8"] = { "16x16x16" },
        ["bf8*fp8"] = { "16x16x16" },
        int8 = { "16x16x16" },
    },
    preshuffle = {},
    typical = {
        units = 64, lanes = 32, registers = 256, l2 = 8388608,
        lds = 65536, unit_lds = 65536, unit_registers = 196608, unit_waves = 64, clock = 2970, bandwidth = 640,
    },
}
