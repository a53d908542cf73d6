/* test_nvrtc_kernels.c: what CUDA's compiler makes of GPU kernels: instructions, registers, spills. Where there is no NVRTC the tests are skipped; no
 * GPU is needed. */
#include "config/config.h"
#include "support/kw_test.h"
#include "unit/jit/nvrtc_setup.h"

/* Tile, waves and columns of an instruction, epilogue and tiles in shared memory; the most registers that a thread may have, which a block's
 * threads share out of 65536; and what names the instruction. */
static const struct {
    const char *axes, *dtype;
    int registers, lds;
    const char *wanted;
} bulk[] = {
    {"tile_m=128 tile_n=256 tile_k=64 wave_m=8 wave_n=1 inst_n=256 epi=cshuffle stages=4", "bf16", 168, 4 * 49168,
     "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16"},
    {"tile_m=256 tile_n=128 tile_k=64 wave_m=8 wave_n=1 inst_n=128 epi=default stages=4", "fp16", 168, 4 * 49168,
     "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16"},
    {"tile_m=64 tile_n=64 tile_k=128 wave_m=4 wave_n=1 inst_n=64 epi=cshuffle stages=3", "bf16", 255, 3 * 32784,
     "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16"},
    {"tile_m=128 tile_n=256 tile_k=32 wave_m=8 wave_n=1 inst_n=256 epi=cshuffle stages=4", "fp32 fpmath=tf32", 168, 4 * 49168,
     "wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32"},
};

static void bulk_kernels_hold_their_instructions_and_do_not_spill(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    const kw_jit jit = {.code = nvrtc_code("sm_90"), .compiler = &compiler};
    for (size_t i = 0; i < sizeof bulk / sizeof *bulk; i += KW_TEST_KERNELS_STEP) {
        kw_text line = {0}, source = {0};
        kw_config config;
        kw_error err = {0};
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        kw_text_addf(&line,
                     "gemm.mma gemm %s layout=rcr wave_k=1 inst_m=64 pipe=tma sched=intrawave pad_m=1 pad_n=1 pad_k=1 vec_c=8 preshuffle=0 "
                     "wave_groups=1 persistent=0 split_k=1 streamk=off index=32 %s %s",
                     bulk[i].dtype, bulk[i].axes, strstr(bulk[i].dtype, "tf32") ? "inst_k=8 vec_a=4 vec_b=4" : "inst_k=16 vec_a=8 vec_b=8");
        if (kw_config_parse(&config, line.data, &err) || kw_source_make(&source, &config, jit.code, &err)) {
            fail_msg("%s: %s", line.data, err.text);
        }
        char *ptx = nvrtc_ptx(&library, &source, "sm_90a");
        const char *const wanted[] = {
            bulk[i].wanted,          "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
            "wgmma.fence",           "wgmma.commit_group",
            "wgmma.wait_group",      "mbarrier.init.shared::cta.b64",
            "mbarrier.try_wait",     "mbarrier.arrive.expect_tx",
            "fence.proxy.async",     "fence.mbarrier_init",
            "mbarrier.inval.shared", "mbarrier.arrive.shared::cta.b64"};
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++) {
            if (!strstr(ptx, wanted[j])) {
                fail_msg("%s: no %s", line.data, wanted[j]);
            }
        }
        free(ptx);
        assert_int_equal(kw_jit_blob(&jit, &config, &blob, &built, &err), KW_OK);
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        assert_in_range(facts.registers, 32, bulk[i].registers);
        assert_int_equal(facts.spill_bytes, 0);
        assert_int_equal(facts.lds, bulk[i].lds);
        kw_blob_drop(&blob);
        kw_text_drop(&line);
    }
}

/* Those whose results leave under the next tile: config, shared memory. */
static const struct {
    const char *config;
    int lds;
} overlapped[] = {
    {"gemm.mma gemm bf16 layout=crr tile_m=128 tile_n=256 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_n=256 inst_k=16 "
     "pipe=cooperative "
     "sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=4 preshuffle=0 wave_groups=1 persistent=1 "
     "split_k=1 streamk=off index=32",
     4 * (384 * 128 + 16) + 4 * 8192},
    {"gemm.mma gemm fp16 layout=rcr tile_m=128 tile_n=192 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=192 inst_k=16 "
     "pipe=pingpong "
     "sched=intrawave epi=cshuffle pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=5 preshuffle=0 wave_groups=2 persistent=1 "
     "split_k=0 streamk=off index=32",
     5 * (320 * 128 + 16) + 2 * 8192},
    {"conv.igemm conv_bwd_data bf16 ndim=2 tile_m=128 tile_n=64 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 "
     "pipe=cooperative sched=intrawave epi=cshuffle vec_a=8 vec_b=8 vec_c=8 stages=4 merge=1 wave_groups=1 split_image=0 explicit=0 "
     "two_stage=0 spec=default streamk=off persistent=1 split_k=1 index=32",
     4 * (192 * 128 + 16) + 2 * 8192 + 872}, /* 872: what a block works out of its phases once */
    {"gemm.mma gemm bf16 layout=crr tile_m=64 tile_n=128 tile_k=64 wave_m=8 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 "
     "pipe=cooperative sched=intrawave epi=turned pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=8 preshuffle=0 wave_groups=1 "
     "persistent=1 split_k=1 streamk=quad index=32 epilogue=bias+add",
     8 * (192 * 128 + 16) + 4 * 8192},
    {"gemm.mma gemm bf16 layout=rcr tile_m=64 tile_n=128 tile_k=64 wave_m=4 wave_n=1 wave_k=1 inst_m=64 inst_n=64 inst_k=16 pipe=pingpong "
     "sched=intrawave epi=turned pad_m=1 pad_n=1 pad_k=1 vec_a=8 vec_b=8 vec_c=8 stages=6 preshuffle=0 wave_groups=2 persistent=1 "
     "split_k=1 "
     "streamk=stationary index=32 epilogue=bias",
     6 * (128 * 128 + 16) + 14 * 64 * 128 + 2 * 8192},
};

static void overlapped_kernels_hand_registers_over_and_do_not_spill(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    const kw_jit jit = {.code = nvrtc_code("sm_90"), .compiler = &compiler};
    for (size_t i = 0; i < sizeof overlapped / sizeof *overlapped; i += KW_TEST_KERNELS_STEP) {
        kw_text source = {0};
        kw_config config;
        kw_error err = {0};
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        if (kw_config_parse(&config, overlapped[i].config, &err) || kw_source_make(&source, &config, jit.code, &err)) {
            fail_msg("%s: %s", overlapped[i].config, err.text);
        }
        char *ptx = nvrtc_ptx(&library, &source, "sm_90a");
        const char *const wanted[] = {"setmaxnreg.dec",
                                      "setmaxnreg.inc",
                                      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group",
                                      "stmatrix.sync",
                                      "cp.async.bulk.wait_group.read",
                                      config.op == KW_GEMM ? "wgmma" : ".im2col."};
        for (size_t j = 0; j < sizeof wanted / sizeof *wanted; j++) {
            if (!strstr(ptx, wanted[j])) {
                fail_msg("%s: no %s", overlapped[i].config, wanted[j]);
            }
        }
        free(ptx);
        assert_int_equal(kw_jit_blob(&jit, &config, &blob, &built, &err), KW_OK);
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        assert_in_range(facts.registers, 32, 168);
        assert_int_equal(facts.spill_bytes, 0);
        assert_int_equal(facts.lds, overlapped[i].lds);
        kw_blob_drop(&blob);
    }
}

/* NVRTC 13.0 put four results of 16-bit registers together in a wrong order, which only a device showed: results are made in words. */
static void results_of_16_bits_are_made_in_words(void **state) {
    (void)state;
    static const char *const configs[] = {
        "conv.direct_block conv_fwd bf16 channels=32 impl=dense tile_h=8 tile_w=16 stride=1 waves_c=4 waves_q=1 slices=2 cols=16 inst_k=16 "
        "swizzle=xor store=lds vec=4",
        "conv.direct_block conv_fwd fp16 channels=32 impl=dense tile_h=8 tile_w=16 stride=1 waves_c=4 waves_q=1 slices=2 cols=16 inst_k=16 "
        "swizzle=xor store=lds vec=4 epilogue=bias",
    };
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    const kw_jit jit = {.code = nvrtc_code("sm_90"), .compiler = &compiler};
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        kw_text source = {0};
        kw_config config;
        kw_error err = {0};
        if (kw_config_parse(&config, configs[i], &err) || kw_source_make(&source, &config, jit.code, &err)) {
            fail_msg("%s: %s", configs[i], err.text);
        }
        char *ptx = nvrtc_ptx(&library, &source, "sm_90a");
        assert_non_null(strstr(ptx, config.dtype == KW_BF16 ? "cvt.rn.bf16x2.f32" : "cvt.rn.f16x2.f32"));
        assert_null(strstr(ptx, "cvt.rn.bf16.f32"));
        assert_null(strstr(ptx, "cvt.rn.f16.f32"));
        free(ptx);
    }
}

static void bytes_behind_an_epilogue_are_rounded_two_at_a_time(void **state) {
    (void)state;
    static const struct {
        const char *output, *wanted;
    } cases[] = {
        {"fp8", "cvt.rn.satfinite.e4m3x2.f32"},
        {"bf8", "cvt.rn.satfinite.e5m2x2.f32"},
        {"int8", "max.f32 above"},
    };
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    const kw_jit jit = {.code = nvrtc_code("sm_90"), .compiler = &compiler};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kw_text line = {0}, source = {0};
        kw_config config;
        kw_error err = {0};
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        kw_text_addf(&line, "%s out=%s epilogue=scale+bias", overlapped[0].config, cases[i].output);
        if (kw_config_parse(&config, line.data, &err) || kw_source_make(&source, &config, jit.code, &err)) {
            fail_msg("%s: %s", line.data, err.text);
        }
        char *ptx = nvrtc_ptx(&library, &source, "sm_90a");
        if (!strstr(ptx, cases[i].wanted)) {
            fail_msg("%s: no %s", line.data, cases[i].wanted);
        }
        free(ptx);
        assert_int_equal(kw_jit_blob(&jit, &config, &blob, &built, &err), KW_OK);
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        assert_int_equal(facts.spill_bytes, 0);
        kw_blob_drop(&blob);
        kw_text_drop(&line);
    }
}

/* By themselves some of these spill, so that a multiprocessor has room for one block more. */
static void the_plain_convolution_never_spills(void **state) {
    (void)state;
    static const char *const configs[] = {"conv.reference_gpu conv_fwd fp8", "conv.reference_gpu conv_fwd bf16",
                                          "conv.reference_gpu conv_bwd_data fp16", "conv.reference_gpu conv_bwd_data bf8",
                                          "conv.reference_gpu conv_bwd_weight int8"};
    kw_compiler compiler;
    nvrtc_need(&compiler);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i += KW_TEST_KERNELS_STEP) {
        const kw_jit jit = {.code = nvrtc_code(i % 2 ? "sm_80" : "sm_90"), .compiler = &compiler};
        kw_config config;
        kw_error err = {0};
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        assert_int_equal(kw_config_parse(&config, configs[i], &err), KW_OK);
        if (kw_jit_blob(&jit, &config, &blob, &built, &err)) {
            fail_msg("%s: %s", configs[i], err.text);
        }
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        if (facts.spill_bytes) {
            fail_msg("%s: %d bytes of spilled registers, %d registers", configs[i], facts.spill_bytes, facts.registers);
        }
        assert_in_range(facts.registers, 16, 128);
        kw_blob_drop(&blob);
    }
}

/* Convolutions of types of one byte; accesses are 16 bytes, and of the result as well. */
static const struct {
    const char *arch, *op, *dtype;
    int vec_c;
    const char *pipe, *wanted;
} byte_convolutions[] = {
    {"sm_80", "conv_fwd", "int8", 4, "comp_async stages=2", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {"sm_89", "conv_bwd_data", "fp8", 8, "compv3 stages=1", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"sm_90", "conv_bwd_weight", "bf8", 8, "compv4 stages=2", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
    {"sm_90", "conv_fwd", "fp8", 8, "compv4 stages=2", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"},
    {"sm_90", "conv_bwd_weight", "int8", 4, "mem stages=1", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"},
    {"sm_120", "conv_bwd_data", "bf8", 8, "compv4 stages=2", "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32"},
};

static void convolutions_of_one_byte_types_hold_their_instructions(void **state) {
    (void)state;
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    for (size_t i = 0; i < sizeof byte_convolutions / sizeof *byte_convolutions; i += KW_TEST_KERNELS_STEP) {
        const kw_jit jit = {.code = nvrtc_code(byte_convolutions[i].arch), .compiler = &compiler};
        kw_text line = {0}, source = {0};
        kw_config config;
        kw_error err = {0};
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        kw_text_addf(&line,
                     "conv.igemm %s %s ndim=2 tile_m=128 tile_n=128 tile_k=64 wave_m=2 wave_n=4 wave_k=1 inst_m=16 inst_n=8 inst_k=32 "
                     "sched=intrawave epi=cshuffle vec_a=16 vec_b=16 vec_c=%d merge=1 wave_groups=1 split_image=0 explicit=0 two_stage=0 "
                     "spec=default streamk=off persistent=0 split_k=1 index=32 pipe=%s",
                     byte_convolutions[i].op, byte_convolutions[i].dtype, byte_convolutions[i].vec_c, byte_convolutions[i].pipe);
        if (kw_config_parse(&config, line.data, &err) || kw_source_make(&source, &config, jit.code, &err)) {
            fail_msg("%s: %s", line.data, err.text);
        }
        char *ptx = nvrtc_ptx(&library, &source, byte_convolutions[i].arch);
        if (!strstr(ptx, byte_convolutions[i].wanted) ||
            !strstr(ptx, "ld.global.v4") != !strcmp(byte_convolutions[i].pipe, "comp_async stages=2") || !strstr(ptx, "st.global.v4")) {
            fail_msg("%s: no %s, or accesses are not of 16 bytes", line.data, byte_convolutions[i].wanted);
        }
        free(ptx);
        assert_int_equal(kw_jit_blob(&jit, &config, &blob, &built, &err), KW_OK);
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        assert_in_range(facts.registers, 32, 255);
        /* Gradients of weights of bf8 on sm_90 lay down nine values as a tile begins and take them up once before its products. */
        assert_in_range(facts.spill_bytes, 0, 36);
        kw_blob_drop(&blob);
        kw_text_drop(&line);
    }
}

/* Of the families without pipelines the texts that only channels-first problems have: what no other kernel compiles. */
static void channels_first_texts_compile(void **state) {
    (void)state;
    static const char *const configs[] = {
        "conv.direct_block conv_fwd bf16 channels=4 impl=grouped tile_h=8 tile_w=8 stride=1 waves_c=1 waves_q=2 slices=1 cols=64 inst_k=16 "
        "swizzle=xor store=lds vec=4 pack=stage layout=first",
        "conv.direct_1st_block conv_fwd bf16 tile_h=4 tile_w=32 waves=4 cols=64 inst_k=16 patch=8 vec_in=8 vec=8 span=8 waves_d=1 "
        "layout=first",
        "conv.depthwise_block conv_fwd bf16 ndim=2 tile_h=8 tile_w=8 filter=3 stride=1 pad=1 dilation=1 filter_d=1 stride_d=1 pad_d=0 "
        "batch=8 "
        "sub_h=2 sub_w=2 vec_in=2 vec_out=2 order=first",
    };
    kw_compiler compiler;
    kw_nvrtc library;
    nvrtc_need(&compiler);
    assert_int_equal(kw_nvrtc_open(&library, NULL, NULL), KW_OK);
    for (size_t i = 0; i < sizeof configs / sizeof *configs; i++) {
        kw_config config;
        kw_text source = {0};
        kw_error err = {0};
        if (kw_config_parse(&config, configs[i], &err) || kw_source_make(&source, &config, nvrtc_code("sm_90"), &err)) {
            fail_msg("%s: %s", configs[i], err.text);
        }
        free(nvrtc_ptx(&library, &source, "sm_90a"));
    }
}

static void a_plain_kernel_compiles_for_every_architecture(void **state) {
    (void)state;
    kw_compiler compiler;
    nvrtc_need(&compiler);
    for (const kw_gpu_arch *arch = kw_gpu_archs; arch->name; arch++) {
        kw_error err = {0};
        kw_config config;
        kw_blob blob;
        kw_jit_result built;
        kw_blob_facts facts;
        if (arch->backend != KW_BACKEND_CUDA) {
            continue;
        }
        const kw_jit jit = {.code = nvrtc_code(arch->name), .compiler = &compiler};
        assert_int_equal(kw_config_parse(&config, "conv.reference_gpu conv_bwd_data fp16", &err), KW_OK);
        if (kw_jit_blob(&jit, &config, &blob, &built, &err)) {
            fail_msg("%s: %s", arch->name, err.text);
        }
        assert_int_equal(kw_blob_facts_read(&facts, &blob, jit.code, NULL), KW_OK);
        assert_in_range(facts.registers, 16, 128);
        assert_int_equal(facts.spill_bytes, 0);
        kw_blob_drop(&blob);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_kernels_hold_their_instructions_and_do_not_spill),
        cmocka_unit_test(overlapped_kernels_hand_registers_over_and_do_not_spill),
        cmocka_unit_test(results_of_16_bits_are_made_in_words),
        cmocka_unit_test(bytes_behind_an_epilogue_are_rounded_two_at_a_time),
        cmocka_unit_test(the_plain_convolution_never_spills),
        cmocka_unit_test(convolutions_of_one_byte_types_hold_their_instructions),
        cmocka_unit_test(channels_first_texts_compile),
        cmocka_unit_test(a_plain_kernel_compiles_for_every_architecture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
