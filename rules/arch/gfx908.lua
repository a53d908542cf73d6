-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "AMD CDNA 1: Instinct MI100",
    backend = "hip",
    compile = "gfx908",
    features = { "mfma" },
    waves = { "1x4x1", "2x2x1", "4x1x1" },
    tiles = {
        fp32 = { "16x16x4", "16x16x8", "16x16x16", "32x32x4", "32x32x8" },
        fp16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32" },
        bf16 = { "32x32x8", "16x16x16", "32x32x16", "16x16x32" },
        int8 = { "32x32x16", "16x16x32" },
    },
    preshuffle = {},
    typical = {
        units = 120, lanes = 64, registers = 512, l2 = 8388608,
        lds = 65536, unit_lds = 65536, unit_registers = 131072, unit_waves = 40, clock = 1502, bandwidth = 1228,
    },
}
