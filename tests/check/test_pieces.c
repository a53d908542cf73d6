/* test_pieces.c: an image that is cut into pieces (conv.igemm, split_image=1). That a piece stays within reach is asked of the numbers alone, for
 * images far larger than memory; that the pieces together are the convolution is asked of kernels, played by the emulator, with pieces so
 * small that a small image has many. */
#include "base/math.h"
#include "families/gpu/mma/image_split.h"
#include "measure/measure.h"
#include "support/parsed.h"

#define AXES                                                                                                                               \
    "tile_m=64 tile_n=64 tile_k=32 wave_m=4 wave_n=2 wave_k=1 inst_m=16 inst_n=8 inst_k=16 pipe=basic_v1 sched=intrawave epi=cshuffle "    \
    "vec_a=1 vec_b=1 vec_c=1 stages=1 merge=1 wave_groups=1 split_image=1 explicit=0 two_stage=0 spec=default streamk=off persistent=0 "   \
    "split_k=1 index=32"

static kw_config config_of(const char *text) {
    kw_config config;
    kw_error err = {0};
    if (kw_config_parse(&config, text, &err)) {
        fail_msg("%s", err.text);
    }
    return config;
}

static void a_piece_is_within_reach_and_as_large_as_can_be(void **state) {
    (void)state;
    static const char *const texts[] = {
        "conv_fwd bf16 n1 c64 k16 i6500x6500 f3 p1",   "conv_fwd fp32 n1 c16 k64 i4200x4200 f3 p1",
        "conv_fwd bf16 n20 c64 k16 i1024x1024 f3 p1",  "conv_fwd bf16 n1 c8 k512 i30000x3000 f7 p3 s2",
        "conv_fwd fp32 n1 c64 k64 i700x600x500 f3 p1", "conv_fwd bf16 nwgc n1 c512 k64 i9000000 f9 p4 s3 d5",
        "conv_fwd bf16 n2 g2 c10 k6 i40x30 f5 p2 d3",
    };
    static const int64_t mosts[] = {1 << 14, 1 << 20, KW_IMAGE_SPLIT_MAX_BYTES};
    size_t cut = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        kw_problem problem = problem_of(texts[i]);
        const kw_conv_dims *d = &problem.conv;
        int axis = 3 - problem.ndim;
        int64_t out[3], in_row = d->c, out_row = d->k, size = (int64_t)kw_dtype_size(problem.dtype);
        kw_problem_output(out, &problem);
        for (int inner = axis + 1; inner < 3; inner++) {
            in_row *= d->in[inner];
            out_row *= out[inner];
        }
        for (size_t m = 0; m < sizeof mosts / sizeof *mosts; m++) {
            int64_t rows = kw_image_split_rows(&problem, mosts[m]), reach = d->dilation[axis] * (d->filter[axis] - 1) + 1;
            int64_t half = kw_ceil_div(out[axis], 2), more = rows + 1;
            if (rows < 1) {
                assert_true(((more < 1 ? 0 : more) * d->stride[axis] + reach) * in_row * size > mosts[m] || out_row * size > mosts[m]);
                continue;
            }
            assert_true(rows <= half);
            assert_true(((rows - 1) * d->stride[axis] + reach) * in_row * size <= mosts[m]);
            assert_true(rows * out_row * size <= mosts[m]);
            assert_true(rows == half || (more * d->stride[axis] + reach) * in_row * size > mosts[m] || more * out_row * size > mosts[m] ||
                        mosts[m] / size > INT32_MAX / 2);
            cut += rows < half;
        }
    }
    assert_true(cut >= 6);
}

/* The least pieces with two rows or more, about. */
static int64_t small(const kw_problem *problem) {
    int64_t bytes = 64;
    while (kw_image_split_rows(problem, bytes) < 2) {
        bytes += bytes / 4;
    }
    return bytes;
}

static void launch_small(const kw_config *config, const kw_problem *problem, const kw_target *target, kw_launch *launch) {
    kw_igemm_launch(config, problem, target, small(problem), launch);
}

static void check(const kw_backend *backend, kw_device *device, const kw_kernel *kernel, const kw_config *config, const char *text) {
    kw_problem problem = problem_of(text);
    kw_bench *bench;
    kw_record record;
    kw_error err = {0};
    int64_t out[3], rows = kw_image_split_rows(&problem, small(&problem));
    kw_problem_output(out, &problem);
    assert_true(rows >= 1 && rows < out[3 - problem.ndim] && kw_ceil_div(out[3 - problem.ndim], rows) >= 3);
    if (kw_bench_open(&bench, backend, device, &problem, 0, &err) || kw_bench_verify(bench, kernel, config, &record, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (record.outcome != KW_GOOD) {
        fail_msg("%s: %s: %s", text, kw_outcome_name(record.outcome), record.detail);
    }
    kw_bench_close(&bench);
}

static void many_pieces_are_the_convolution(void **state) {
    (void)state;
    static const struct {
        const char *config, *problems[3];
    } rows[] = {
        {"conv.igemm conv_fwd bf16 ndim=2 " AXES,
         {"conv_fwd bf16 n2 c5 k7 i40x17 f3 p1", "conv_fwd bf16 n1 g3 c12 k9 i61x11 f3x2 s2x2 p1x1 d2x1",
          "conv_fwd bf16 n3 c4 k70 i19x18 f3 p9x1 d2"}},
        {"conv.igemm conv_fwd bf16 ndim=3 " AXES,
         {"conv_fwd bf16 n2 c3 k6 i14x9x7 f3 p1 s1x2x1", "conv_fwd bf16 n1 g2 c4 k6 i17x7x6 f2x3x3 p0x1x2 d3x1x1"}},
        {"conv.igemm conv_fwd bf16 ndim=1 " AXES, {"conv_fwd bf16 nwgc n2 c6 k10 i900 f5 p2 s2 d2"}},
    };
    const kw_backend *backend;
    kw_device *device;
    kw_code code;
    kw_compiler compiler;
    kw_error err = {0};
    int index;
    kw_family cut = *kw_family_find((kw_word){"conv.igemm", 10});
    cut.launch = launch_small; /* the kernel's text has the sizes of pieces from the launch */
    if (kw_backend_find(&backend, &index, "emu:sm_90", &err) || backend->open(&device, index, 0, &err) ||
        kw_code_for(&code, KW_BACKEND_EMU, "sm_90", &err) || kw_compiler_find(&compiler, getenv("KW_CC"), code, &err)) {
        fail_msg("%s", err.text);
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kw_config config = config_of(rows[i].config);
        kw_jit jit = {.code = code, .compiler = &compiler, .log_folder = "/tmp"};
        kw_jit_result result;
        kw_blob blob = {0};
        kw_kernel *kernel = NULL;
        if (kw_jit_blob(&jit, &config, &blob, &result, &err) || backend->load(device, &config, &blob, &kernel, &err)) {
            fail_msg("%s", err.text);
        }
        config.family = &cut;
        for (int p = 0; p < 3 && rows[i].problems[p]; p++) {
            check(backend, device, kernel, &config, rows[i].problems[p]);
        }
        backend->unload(device, &kernel);
        kw_blob_drop(&blob);
    }
    backend->close(&device);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_is_within_reach_and_as_large_as_can_be),
        cmocka_unit_test(many_pieces_are_the_convolution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
