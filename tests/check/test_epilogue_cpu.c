/* test_epilogue_cpu.c: epilogues, other result types, uint8 as x's and parts of larger tensors in the kernels of CPUs: each kernel of set "tiny", for this machine's architecture
 * and for AVX2, with epilogues that are drawn (by a seed, so the same each time) on awkward sizes; and each activation by itself, over the
 * whole range of fp32, against double.
 *
 * KW_CHECK_CACHE is a folder in which compiled kernels are kept between runs; KW_CHECK_SEED draws others, KW_CHECK_DRAWS=N so many for each
 * kernel, KW_CHECK_SET and KW_CHECK_FILTER take other kernels. */
#include "backend/backend.h"
#include "base/hash.h"
#include "base/math.h"
#include "base/statistics/random.h"
#include "check/set_kernels.h"
#include "config/catalog.h"
#include "config/config.h"
#include "config/arch/isa.h"
#include "measure/bench.h"
#include "problem/epilogue/epilogue.h"
#include "problem/names/names.h"
#include "problem/tensors/pitch.h"
#include "problem/reference.h"
#include "support/kw_test.h"

#include <math.h>

enum { DEVICES = 2, LINES_OF_A_KERNEL = 3, FAILURES_SHOWN = 20 };
static const int device_threads[DEVICES] = {1, 3};

typedef struct checker {
    const kw_backend *backend;
    kw_device *device[DEVICES];
    kw_compiler compiler;
    kw_cache *cache;
    kw_jit jit;
    bool can_compile;
    uint64_t seed, random;
    size_t kernels, mixed, shifted, first, parts, pairs, mistrusted, in_place, failures;
} checker;

static int set_up(void **state) {
    checker *c = calloc(1, sizeof *c);
    int index;
    char note[256];
    kw_error err = {0};
    assert_non_null(c);
    *state = c;
    assert_ok(kw_backend_find(&c->backend, &index, "cpu", &err), &err);
    for (int d = 0; d < DEVICES; d++) {
        assert_ok(c->backend->open(&c->device[d], index, device_threads[d], &err), &err);
    }
    c->can_compile = kw_compiler_find(&c->compiler, getenv("KW_CC"), (kw_code){0}, &err) == KW_OK;
    if (!c->can_compile) {
        print_message("only compiled-in kernels are checked: %s\n", err.text);
    }
    if (getenv("KW_CHECK_CACHE")) {
        assert_ok(kw_cache_open(&c->cache, getenv("KW_CHECK_CACHE"), note, &err), &err);
    }
    c->jit = (kw_jit){.compiler = &c->compiler, .cache = c->cache, .log_folder = "/tmp"};
    c->seed = getenv("KW_CHECK_SEED") ? strtoull(getenv("KW_CHECK_SEED"), NULL, 10) : 1;
    return 0;
}

static int tear_down(void **state) {
    checker *c = *state;
    for (int d = 0; d < DEVICES; d++) {
        c->backend->close(&c->device[d]);
    }
    kw_cache_close(&c->cache);
    free(c);
    return 0;
}

/* A kernel, on each device. */
typedef struct subject {
    kw_config config;
    kw_kernel *kernel[DEVICES];
} subject;

static void open_subject(checker *c, subject *s) {
    kw_blob blob = {0};
    kw_jit_result result;
    kw_error err = {0};
    assert_ok(s->config.family->builtin ? KW_OK : kw_jit_blob(&c->jit, &s->config, &blob, &result, &err), &err);
    for (int d = 0; d < DEVICES; d++) {
        assert_ok(c->backend->load(c->device[d], &s->config, &blob, &s->kernel[d], &err), &err);
    }
    kw_blob_drop(&blob);
}

static void close_subject(checker *c, subject *s) {
    for (int d = 0; d < DEVICES; d++) {
        c->backend->unload(c->device[d], &s->kernel[d]);
    }
}

/* --- drawn epilogues --- */

static kw_dtype draw_type(checker *c, const kw_dtype *from, uint64_t count) {
    return from[kw_random_below(&c->random, count)];
}

static void draw_step(checker *c, kw_epilogue_step *step) {
    static const kw_dtype types[] = {KW_FP32, KW_BF16, KW_FP16, KW_INT8, KW_UINT8, KW_INT32};
    *step = (kw_epilogue_step){.op = (kw_epilogue_op)kw_random_below(&c->random, KW_EPILOGUE_ZERO_X)};
    if (kw_epilogue_step_has_tensor(step)) {
        step->dtype = draw_type(c, types, sizeof types / sizeof *types);
    }
    if (step->op == KW_EPILOGUE_ADD) {
        step->a = kw_random_below(&c->random, 2) ? 1 : -0.5;
    } else if (step->op == KW_EPILOGUE_CLAMP) {
        step->a = -(double)kw_random_below(&c->random, 5);
        step->b = 1 + (double)kw_random_below(&c->random, 6);
    } else if (step->op == KW_EPILOGUE_LEAKY_RELU) {
        step->a = 0.125;
    }
}

/* A step that is at hand where it may be. */
static void draw_zero_point(checker *c, kw_epilogue *e, int32_t at, kw_epilogue_op op) {
    static const kw_dtype types[] = {KW_INT32, KW_INT8, KW_UINT8};
    memmove(&e->step[at + 1], &e->step[at], sizeof *e->step * (size_t)(e->count - at));
    e->step[at] = (kw_epilogue_step){.op = op, .dtype = draw_type(c, types, sizeof types / sizeof *types)};
    e->count++;
}

/* In front of what is added, here and there. */
static void draw_betas(checker *c, kw_epilogue *e) {
    static const kw_dtype types[] = {KW_FP32, KW_FP32, KW_BF16, KW_INT32};
    for (int32_t i = 0; i < e->count && e->count < KW_EPILOGUE_MAX; i++) {
        if (e->step[i].op == KW_EPILOGUE_ADD && kw_random_below(&c->random, 2)) {
            memmove(&e->step[i + 1], &e->step[i], sizeof *e->step * (size_t)(e->count - i));
            e->step[i] = (kw_epilogue_step){.op = KW_EPILOGUE_BETA, .dtype = draw_type(c, types, sizeof types / sizeof *types)};
            e->step[++i].a = 1;
            e->count++;
        }
    }
}

static void draw_bias_gradient(checker *c, kw_epilogue *e, kw_dtype dtype) {
    memmove(&e->step[1], &e->step[0], sizeof *e->step * (size_t)e->count);
    e->step[0] = (kw_epilogue_step){.op = KW_EPILOGUE_BIAS_GRADIENT, .dtype = kw_random_below(&c->random, 2) ? KW_FP32 : dtype};
    e->count++;
}

static kw_epilogue draw_epilogue(checker *c, kw_op op, kw_dtype dtype, bool may_be_bare) {
    static const kw_dtype outputs[] = {KW_FP32, KW_BF16, KW_FP16, KW_INT8, KW_UINT8, KW_FP8, KW_BF8};
    static const int32_t steps[] = {0, 2, 3, 4, 4}; /* many to a kernel: what costs is to compile it */
    kw_epilogue e;
    do {
        e = (kw_epilogue){.count = steps[kw_random_below(&c->random, sizeof steps / sizeof *steps)]};
        for (int32_t i = 0; i < e.count; i++) {
            draw_step(c, &e.step[i]);
        }
        draw_betas(c, &e);
        if (op == KW_CONV_BWD_WEIGHT && kw_random_below(&c->random, 2)) {
            draw_bias_gradient(c, &e, dtype);
        }
        kw_dtype output = draw_type(c, outputs, sizeof outputs / sizeof *outputs);
        e.converts = kw_random_below(&c->random, 2) && output != kw_dtype_output(dtype);
        e.output = e.converts ? output : KW_FP32;
        if (dtype == KW_INT8 && op <= KW_CONV_FWD && kw_random_below(&c->random, 2)) {
            draw_zero_point(c, &e, 0, KW_EPILOGUE_ZERO_X);
        }
        if (dtype == KW_INT8 && op <= KW_CONV_FWD && kw_random_below(&c->random, 2)) {
            draw_zero_point(c, &e, kw_epilogue_zero_x(&e) != NULL,
                            kw_random_below(&c->random, 2) ? KW_EPILOGUE_ZERO_W : KW_EPILOGUE_ZERO_W_CHANNEL);
        }
        if (e.converts && (output == KW_INT8 || output == KW_UINT8) && kw_random_below(&c->random, 2)) {
            draw_zero_point(c, &e, e.count, KW_EPILOGUE_ZERO_Y);
        }
    } while ((!may_be_bare && kw_epilogue_is_none(&e)) || kw_epilogue_check(&e, op, dtype, NULL));
    return e;
}

/* Has one text, for channels-first tensors. */
static bool knows_first_alone(const kw_family *family) {
    return !strcmp(family->name, "conv.depthwise_planes") || !strcmp(family->name, "conv.depthwise_rows");
}

/* Its vectors hold results of one channel, or those of a run of pixels: steps have values of channels alone, and the result the type of what is
 * read (rules channel_steps, result_type). */
static bool knows_channels_alone(const kw_family *family) {
    return knows_first_alone(family) || !strcmp(family->name, "conv.depthwise_lines");
}

/* Leaves out what channels-first tensors cannot have (rules first_channels, channel_steps): tensors of the result's shape stay where the family may
 * have them, with elements as large as the result's; of 1x1 filters one, and no values of pixels (rule plane_steps). */
static void keep_channels(kw_epilogue *e, const kw_config *config) {
    kw_dtype output = e->converts ? e->output : kw_dtype_output(config->dtype);
    bool may_stay = config->op != KW_CONV_BWD_WEIGHT && !knows_channels_alone(config->family);
    bool planes = !strcmp(config->family->name, "conv.pointwise");
    int32_t kept = 0;
    for (int32_t i = 0; i < e->count; i++) {
        kw_extra_shape shape = kw_epilogue_info_of(e->step[i].op)->shape;
        bool stays = may_stay && shape == KW_EXTRA_ALL && kw_dtype_size(e->step[i].dtype) == kw_dtype_size(output);
        bool rows = shape == KW_EXTRA_ROW && (planes || knows_channels_alone(config->family));
        bool goes = (shape == KW_EXTRA_ALL && !stays) || rows || e->step[i].op == KW_EPILOGUE_BETA;
        may_stay &= !(stays && planes);
        if (stays && kw_epilogue_has_beta(e, i)) {
            e->step[kept++] = e->step[i - 1];
        }
        if (!goes) {
            e->step[kept++] = e->step[i];
        }
    }
    for (int32_t i = kept; i < e->count; i++) {
        e->step[i] = (kw_epilogue_step){0};
    }
    e->count = kept;
}

/* Leaves out another type of the result, and its zero point, the last step. */
static void keep_type(kw_epilogue *e) {
    e->converts = false;
    e->output = KW_FP32;
    if (e->count && e->step[e->count - 1].op == KW_EPILOGUE_ZERO_Y) {
        e->step[--e->count] = (kw_epilogue_step){0};
    }
}

/* --- on awkward sizes --- */

static const char *const gemm_lines[] = {
    "rcr m7 n13 k5 b3",
    "rrr m31 n33 k29",
    "crr m14 n32 k64",
    "ccr b2 m17 n48 k20",
    "rcr m1 n1 k1",
    "rrr m3 n257 k19",
    "rcr b2 m5 n18 k7 lda9 ldc23 strideb0",
    "rcr b2 m7 n19 k71", /* more than a vector of the depth */
    "rrr b3 m4 n33 k8 ldc99 stridec33",
};
static const char *const conv_lines[] = {
    "n2 c31 k37 i7x7 f3x3 p1",
    "n1 c3 k64 i11x11 f5x5 p2",
    "n2 c13 k29 i7x5 f1x1",
    "n1 c33 k48 i9x7 f1x1",
    "n2 g2 c20 k12 i13x9 f3x3 s2 p1",
    "n1 c16 k24 i9x7 f1x1 s2",
    "n2 g17 c17 k17 i7x6 f3x3 p1", /* a vector that overlaps its neighbour */
    "n1 g40 c40 k40 i9x5 f3x3 s2 p1",
    "n2 g6 c6 k6 i4x9 f5x5 p2", /* less than a vector */
    "n1 g8 c32 k32 i7x6 f3x3 p1",
    "n2 g5 c20 k20 i9x10 f3x3 s2 p1",
    "n2 g3 c12 k12 i6x5 f3x3 p1",
    "n2 g9 c18 k18 i6x9 f5x7 p2x3", /* windows of many taps */
    "n1 g9 c18 k18 i9x8 f5x7 s2 p2x3",
    "n1 g32 c32 k32 i15x16 f3x3 p2 d2",
    "n1 c5 k7 i13 f3 p1",
    "n3 g2 c64 k64 i7x6 f3x3 p1", /* channels first, by three threads: turns of some of the groups */
    "n3 g64 c64 k64 i7x6 f3x3 p1",
    "n2 g17 c17 k17 i7x7 f3x3 p1", /* depthwise, small and square */
    "n1 c4 k9 i3x5x4 f3x3x3 p1",
    "n1 c8 k8 i3x3 f3x3 p4",
};

static void complain(checker *c, const subject *s, const char *problem, int d, const char *what, const char *why) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, &s->config);
    if (c->failures++ < FAILURES_SHOWN) {
        fprintf(stderr, "%s on %s, %d threads: %s: %s\n  kwright check --threads %d '%s' '%s'\n", text, problem, device_threads[d], what,
                why, device_threads[d], text, problem);
    }
}

static kw_status run_result(unsigned char *bytes, size_t size, kw_prepared *ready, const kw_launch_memory *memory, kw_error *err) {
    kw_status status = ready->bench->backend->run(ready->bound, memory, KW_RUN_ALL, NULL, err);
    return status ? status : kw_buffer_read(&ready->bench->result, 0, bytes, size, err);
}

/* A tensor that has the result's shape and type may be the result: then it comes to the same bytes. */
static void check_in_place(checker *c, const subject *s, kw_bench *bench, const char *text, int d) {
    kw_extra extras[KW_EXTRA_MAX];
    kw_tensor result = kw_problem_result(&bench->problem);
    kw_dtype dtype = kw_problem_dtype(&bench->problem, result);
    int64_t elements = kw_problem_elements(&bench->problem, result);
    int count = kw_problem_extras(extras, &bench->problem), which = 0;
    while (which < count && (extras[which].dtype != dtype || extras[which].elements != elements || !strchr("am", *extras[which].name))) {
        which++;
    }
    if (which == count || !kw_problem_is_dense(&bench->problem)) { /* what lies in gaps is the tensor's */
        return;
    }
    size_t size = kw_dtype_size(dtype) * (size_t)elements;
    unsigned char *apart = malloc(size), *within = malloc(size);
    kw_prepared ready = {0};
    kw_record record = {0};
    kw_error err = {0};
    assert_true(apart && within);
    kw_prepared_open(&ready, bench, s->kernel[d], &s->config, true, &record);
    kw_launch_memory memory = kw_prepared_memory(&ready, KW_SET_REAL, true);
    assert_ok(run_result(apart, size, &ready, &memory, &err), &err);
    assert_ok(kw_buffer_read(&bench->set[KW_SET_REAL].extra[which], 0, within, size, &err), &err);
    assert_ok(kw_buffer_write(&bench->result, within, &err), &err);
    memory.extra[which] = bench->result.start;
    assert_ok(run_result(within, size, &ready, &memory, &err), &err);
    c->in_place++;
    if (memcmp(apart, within, size)) {
        complain(c, s, text, d, "in place", "a tensor that is the result gives other bytes than one apart");
    }
    kw_prepared_close(&ready);
    free(apart);
    free(within);
}

static void check_pair(checker *c, const subject *s, const kw_problem *problem, const char *text, int d) {
    kw_bench *bench = NULL;
    kw_record record;
    kw_error err = {0};
    assert_ok(kw_bench_open(&bench, c->backend, c->device[d], problem, 0, &err), &err);
    assert_ok(kw_bench_verify(bench, s->kernel[d], &s->config, &record, &err), &err);
    c->pairs++;
    c->mistrusted += record.outcome == KW_MISTRUSTED;
    /* Few values may be other than 0 or 1 where a clamp follows an activation: that says nothing of the kernel. */
    if (record.outcome != KW_GOOD && record.outcome != KW_MISTRUSTED) {
        complain(c, s, text, d, kw_outcome_name(record.outcome), record.detail);
    }
    check_in_place(c, s, bench, text, d);
    kw_bench_close(&bench);
}

/* Makes x and y parts of larger tensors: a slice of channels, of rows, of images, or of several of these. */
static void draw_pitches(checker *c, kw_problem *problem) {
    for (kw_tensor t = KW_X; t <= KW_Y; t += KW_Y - KW_X) {
        for (int axis = 0; axis < KW_PITCHES; axis++) {
            kw_image image = kw_problem_image(problem, t);
            problem->pitch[t][axis] = kw_random_below(&c->random, 2) ? image.step[axis] + 1 + (int64_t)kw_random_below(&c->random, 9) : 0;
        }
    }
}

/* Some such parts that the kernel serves, by the hundredth draw at the latest. */
static bool draw_parts(checker *c, const subject *s, kw_problem *problem, int d) {
    const kw_problem dense = *problem;
    for (int i = 0; i < 100; i++) {
        kw_pitches_normalize(problem);
        if (!kw_problem_is_dense(problem) && !kw_config_fits(&s->config, problem, c->backend->target(c->device[d]), NULL)) {
            return true;
        }
        *problem = dense;
        draw_pitches(c, problem);
    }
    *problem = dense;
    return false;
}

/* Some lines that the kernel serves, each time others. Returns how many. */
static int check_lines(checker *c, const subject *s) {
    bool gemm = s->config.op == KW_GEMM;
    const char *const *lines = gemm ? gemm_lines : conv_lines;
    size_t count = gemm ? sizeof gemm_lines / sizeof *gemm_lines : sizeof conv_lines / sizeof *conv_lines;
    size_t first = (size_t)kw_random_below(&c->random, count);
    int met = 0;
    for (size_t i = 0; i < count && met < LINES_OF_A_KERNEL; i++) {
        char text[2 * KW_PROBLEM_TEXT_MAX], words[KW_PROBLEM_TEXT_MAX] = "";
        kw_line line = {words, sizeof words, 0};
        kw_problem problem;
        kw_error err = {0};
        int d = (met + (int)first) % DEVICES;
        kw_epilogue_print(&line, &s->config.wants.epilogue);
        snprintf(text, sizeof text, "%s %s %s%s%s", kw_op_name(s->config.op), kw_dtype_name(s->config.dtype), lines[(first + i) % count],
                 s->config.wants.mixed ? " x=uint8" : "", words);
        assert_ok(kw_problem_parse(&problem, text, &err), &err);
        if (s->config.wants.first || knows_first_alone(s->config.family)) {
            problem.layout = KW_CHANNELS_FIRST;
            kw_problem_print(text, sizeof text, &problem);
        }
        if (s->config.wants.pitched) {
            c->parts += draw_parts(c, s, &problem, d);
            kw_problem_print(text, sizeof text, &problem);
        }
        if (!kw_config_fits(&s->config, &problem, c->backend->target(c->device[d]), NULL)) {
            check_pair(c, s, &problem, text, d);
            met++;
        }
    }
    return met;
}

static void draw_wants(checker *c, kw_config *config) {
    const kw_family *family = config->family;
    kw_wants *wants = &config->wants;
    wants->mixed = family->quantized && config->dtype == KW_INT8 && config->op <= KW_CONV_FWD && kw_random_below(&c->random, 2);
    wants->x_dtype = wants->mixed ? KW_UINT8 : KW_FP32;
    wants->epilogue = draw_epilogue(c, config->op, config->dtype, wants->mixed);
    wants->first = family->first_text && kw_random_below(&c->random, 2);
    if (wants->first || knows_channels_alone(family)) {
        keep_channels(&wants->epilogue, config);
    }
    if (knows_channels_alone(family)) { /* rule result_type */
        keep_type(&wants->epilogue);
    }
    wants->pitched = family->pitched_text && kw_random_below(&c->random, 2);
}

/* Draws until no rule refuses what the kernel is to do besides (zero_w of families that multiply w as it is). */
static void draw_config(checker *c, kw_config *drawn, const kw_config *config) {
    kw_error err = {0};
    kw_status status = KW_ILLEGAL;
    for (int i = 0; i < 100 && status; i++) {
        *drawn = *config;
        draw_wants(c, drawn);
        status = kw_config_check(drawn, &err);
    }
    assert_ok(status, &err);
}

/* What is drawn for a kernel depends on nothing but the seed and the kernel, so that a run with fewer draws meets the same kernels, compiled. */
static void check_config(checker *c, const kw_config *config, int draws) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    c->random = kw_hash64(text, strlen(text)) ^ c->seed;
    for (int i = 0; i < draws; i++) {
        subject s = {0};
        uint64_t next = kw_random(&c->random);
        draw_config(c, &s.config, config);
        c->mixed += s.config.wants.mixed;
        c->first += s.config.wants.first || knows_first_alone(config->family);
        c->shifted += kw_epilogue_zero_x(&s.config.wants.epilogue) != NULL;
        open_subject(c, &s);
        c->kernels++;
        if (!check_lines(c, &s)) {
            kw_config_print(text, sizeof text, &s.config);
            fail_msg("%s serves no line", text);
        }
        close_subject(c, &s);
        c->random = next;
    }
}

static void epilogues_are_right_in_every_family(void **state) {
    checker *c = *state;
    const kw_target *target = c->backend->target(c->device[0]);
    const char *const archs[] = {target->arch, "x86-64-v3"}, *text = getenv("KW_CHECK_DRAWS");
    int draws = text ? atoi(text) : 2;
    if (!c->can_compile) {
        skip();
    }
    if (getenv("KW_TILES") && !(kw_cpu_arch_find(target->arch)->has & KW_CPU_AMX)) {
        print_message("skipped: tile registers are not played on %s, which has no AVX-512\n", target->arch);
        skip();
    }
    size_t families[2] = {0};
    for (int a = 0; a < 2; a++) {
        kw_catalog catalog = {0};
        kw_error err = {0};
        assert_ok(set_kernels(&catalog, "tiny", archs[a], &err), &err);
        for (size_t i = 0; i < catalog.count; i++) {
            if (catalog.configs[i].family->fuses && !kw_config_runs(&catalog.configs[i], target, NULL)) {
                families[a] += !i || catalog.configs[i].family != catalog.configs[i - 1].family;
                check_config(c, &catalog.configs[i], draws);
            }
        }
        kw_catalog_drop(&catalog);
    }
    print_message("%zu kernels of %zu and %zu families, %zu of them with x=uint8, %zu with a zero point of x, %zu of channels-first "
                  "tensors; %zu pairs of kernel and "
                  "problem, %zu of them with parts of larger tensors, of %zu few values say anything, %zu besides with the result as a "
                  "step's tensor, %zu wrong\n",
                  c->kernels, families[0], families[1], c->mixed, c->shifted, c->first, c->pairs, c->parts, c->mistrusted, c->in_place,
                  c->failures);
    assert_int_equal(c->failures, 0);
    assert_true(c->kernels > 0);
    assert_true(getenv("KW_CHECK_FILTER") ||
                (families[1] >= 5 && c->in_place > 0 && c->mixed > 0 && c->shifted > 0 && c->first > 0 && c->parts > 0));
}

/* --- activations --- */

enum { VALUES = 1 << 20 };

static float value_of_bits(uint32_t bits) {
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Every exponent and sign by random bits, where activations bend by even steps, and what is special. */
static void fill_values(float *values, uint64_t seed) {
    static const float special[] = {0.0f,          -0.0f,    INFINITY,   -INFINITY, NAN,    1e-45f,  -1e-45f, 1.17549435e-38f,
                                    3.4028235e38f, -3.4e38f, 88.0f,      -88.0f,    88.8f,  -88.8f,  -103.9f, -104.0f,
                                    5.0f,          -5.0f,    5.1666665f, -5.25f,    16.0f,  -16.0f,  -3.0f,   3.0f,
                                    -6.0f,         6.0f,     1e30f,      -1e30f,    1e-20f, -1e-20f, -1e13f,  1e13f};
    for (int i = 0; i < VALUES; i++) {
        values[i] = i % 2 ? value_of_bits((uint32_t)kw_random(&seed))
                          : (float)(i - VALUES / 2) * (24.0f / VALUES) + (float)kw_random_unit(&seed) * 1e-5f;
    }
    memcpy(values, special, sizeof special);
}

/* The first value whose result is further from what it should be than the step allows; worst: the largest share of what it allows. */
static int compare_values(const kw_problem *problem, const float *values, const float *got, double *worst) {
    const void *const none[KW_EXTRA_MAX] = {0};
    for (int i = 0; i < VALUES; i++) {
        kw_epilogue_value v = {.value = (double)values[i]};
        kw_epilogue_apply(&v, problem, none, i);
        double allowed = v.bound + ldexp(fabs(v.value), -24) + ldexp(1, -149), distance = fabs((double)got[i] - v.value);
        bool limit = isinf(values[i]) && isnan(v.value); /* a product of it and 0: NaN, or the limit */
        bool same = limit                   ? isnan(got[i]) || fabs((double)got[i]) < 1e-5
                    : isnan(v.value)        ? isnan(got[i])
                    : isinf((float)v.value) ? got[i] == (float)v.value
                                            : distance <= allowed;
        if (!same) {
            return i;
        }
        *worst = isfinite(distance) && distance > *worst * allowed ? distance / allowed : *worst;
    }
    return VALUES;
}

/* A product of one column and one row, whose one is 1, hands each value to the activation as it is. */
static void check_activation(checker *c, const char *isa, int tile, const char *step, float *values, float *got) {
    char config[KW_CONFIG_TEXT_MAX], text[KW_PROBLEM_TEXT_MAX];
    subject s;
    kw_problem problem;
    kw_bench *bench = NULL;
    kw_prepared ready = {0};
    kw_record record = {0};
    kw_error err = {0};
    const float one = 1;
    snprintf(config, sizeof config, "gemm.tiled gemm fp32 isa=%s math=fma tile_m=%d vecs=2 band=0 ahead=0 epilogue=%s", isa, tile, step);
    snprintf(text, sizeof text, "gemm fp32 rcr m1 n%d k1 epilogue=%s", VALUES, step);
    assert_ok(kw_config_parse(&s.config, config, &err), &err);
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    if (kw_config_fits(&s.config, &problem, c->backend->target(c->device[0]), &err)) {
        print_message("%s: %s\n", step, err.text);
        return;
    }
    open_subject(c, &s);
    assert_ok(kw_bench_open(&bench, c->backend, c->device[0], &problem, 0, &err), &err);
    kw_prepared_open(&ready, bench, s.kernel[0], &s.config, true, &record);
    assert_non_null(ready.bound);
    assert_ok(kw_buffer_write(&bench->set[KW_SET_REAL].tensor[KW_X], &one, &err), &err);
    assert_ok(kw_buffer_write(&bench->set[KW_SET_REAL].tensor[KW_W], values, &err), &err);
    assert_ok(kw_prepared_run(&ready, KW_SET_REAL, KW_RUN_ALL, true, &err), &err);
    assert_ok(kw_buffer_read(&bench->result, 0, got, sizeof *got * VALUES, &err), &err);
    double worst = 0;
    int at = compare_values(&problem, values, got, &worst);
    print_message("%s %s: at most %.2f of what is allowed\n", isa, step, worst);
    if (at < VALUES) {
        kw_epilogue_value v = {.value = (double)values[at]};
        kw_epilogue_apply(&v, &problem, (const void *const[KW_EXTRA_MAX]){0}, 0);
        print_error("%s: %s of %.9g is %.9g; it should be %.17g, or off by %g\n", isa, step, (double)values[at], (double)got[at], v.value,
                    v.bound);
        c->failures++;
    }
    kw_prepared_close(&ready);
    kw_bench_close(&bench);
    close_subject(c, &s);
}

static void activations_are_right_over_all_of_fp32(void **state) {
    static const char *const steps[] = {"relu", "clamp:-1.5:6", "leaky_relu", "leaky_relu:2", "sigmoid",  "tanh",
                                        "silu", "gelu",         "gelu_tanh",  "hardswish",    "relu,tanh"};
    checker *c = *state;
    if (!c->can_compile || getenv("KW_CHECK_FILTER")) {
        skip();
    }
    float *values = malloc(sizeof *values * VALUES), *got = malloc(sizeof *got * VALUES);
    assert_true(values && got);
    fill_values(values, 7);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        check_activation(c, "avx512", 14, steps[i], values, got);
        check_activation(c, "avx2", 6, steps[i], values, got);
    }
    free(values);
    free(got);
    assert_int_equal(c->failures, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_right_over_all_of_fp32),
        cmocka_unit_test(epilogues_are_right_in_every_family),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
