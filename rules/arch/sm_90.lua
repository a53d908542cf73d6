-- docs/kernels/rules.md has the form of this file. typical: a usual product, for work without a device.
return {
    about = "NVIDIA Hopper: H100, H200",
    backend = "cuda",
    compile = "sm_90a",
    features = { "mma", "wgmma", "async4", "async16", "tma", "streamk" },
    waves = { "1x1x1", "1x2x1", "2x1x1", "2x2x1", "1x4x1", "4x1x1", "2x4x1", "4x2x1", "1x8x1", "8x1x1", "2x2x2", "2x1x2" },
    tiles = {
        fp32 = { "16x8x4", "16x8x8", "64x64x8", "64x128x8", "64x256x8" },
        fp16 = { "16x8x8", "16x8x16", "64x16x16", "64x32x16", "64x48x16", "64x64x16", "64x80x16", "64x96x16", "64x112x16", "64x128x16", "64x144x16", "64x160x16", "64x176x16", "64x192x16", "64x208x16", "64x224x16", "64x240x16", "64x256x16" },
        bf16 = { "16x8x8", "16x8x16", "64x16x16", "64x32x16", "64x48x16", "64x64x16", "64x80x16", "64x96x16", "64x112x16", "64x128x16", "64x144x16", "64x160x16", "64x176x16", "64x192x16", "64x208x16", "64x224x16", "64x240x16", "64x256x16" },
        fp8 = { "16x8x32", "64x64x32", "64x80x32", "64x96x32", "64x112x32", "64x128x32", "64x144x32", "64x160x32", "64x176x32", "64x192x32", "64x208x32", "64x224x32", "64x240x32", "64x256x32" },
        bf8 = { "16x8x32", "64x64x32", "64x80x32", "64x96x32", "64x112x32", "64x128x32", "64x144x32", "64x160x32", "64x176x32", "64x192x32", "64x208x32", "64x224x32", "64x240x32", "64x256x32" },
        ["fp8*bf8"] = { "16x8x32" },
        ["bf8*fp8"] = { "16x8x32" },
        int8 = { "16x8x16", "16x8x32" },
    },
    preshuffle = {},
    typical = {
        units = 132, lanes = 32, registers = 255, l2 = 52428800,
        lds = 232448, unit_lds = 233472, unit_registers = 65536, unit_waves = 64, clock = 1980, bandwidth = 3350,
    },
}
