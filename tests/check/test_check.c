/* test_check.c: every kernel of rule set "tests" for this machine, and the compiled-in ones, on every problem of problems.txt that it
 * serves, against the reference; problems take turns between one thread and three, so that every kernel meets both. A few problems are run
 * once more with infinities, NaNs, zeros of either sign and denormals among the values; some run four times, to the same bits.
 *
 * The environment can widen or narrow it: KW_CHECK_SET names another set, KW_CHECK_FILTER is a filter over the configs, KW_CHECK_CONFIGS
 * a catalog file that is taken instead of a set, KW_CHECK_CACHE a folder in which compiled kernels are kept between runs;
 * KW_CHECK_EVERY=N takes every Nth line of the problems only, each time another one for each operation (for slow builds). */

#include "backend/backend.h"
#include "base/container/arena.h"
#include "base/os/file.h"
#include "base/os/parallel.h"
#include "base/embedded.h"
#include "check/repeated_runs.h"
#include "check/special_values.h"
#include "config/catalog.h"
#include "measure/measure.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

#include <stdatomic.h>
#include <unistd.h>

enum { DEVICES = 2, FAILURES_SHOWN = 20 };
static const int device_threads[DEVICES] = {1, 3};

/* Counts that the summary states. */
typedef struct tally {
    size_t pairs, problems, unserved, generic_only, failures;
} tally;

typedef struct checker {
    const kw_backend *backend;
    kw_device *device[DEVICES];
    kw_arena arena;
    char *list; /* problems.txt */
    size_t list_size;
    kw_catalog catalog;
    kw_kernel **kernel[DEVICES]; /* of each config; NULL when it did not compile */
    bool can_compile;
    _Atomic size_t not_built;
    tally tally;
    special_tally special;
} checker;

static void add_generic(kw_catalog *catalog) {
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        for (int op = 0; (*family)->builtin && op < KW_OP_COUNT; op++) {
            for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
                kw_config config = {.family = *family, .op = (kw_op)op, .dtype = (kw_dtype)dtype};
                if (!kw_config_check(&config, NULL)) {
                    assert_int_equal(kw_catalog_add(catalog, &config, NULL, NULL), KW_OK);
                }
            }
        }
    }
}

static bool add_config(void *user, const kw_config *config) {
    return kw_catalog_add(user, config, NULL, NULL) == KW_OK;
}

/* Of every fourth kernel its text for channels-first tensors besides, where it has one. */
static void add_channels_first(kw_catalog *catalog) {
    for (size_t i = 0, count = catalog->count; i < count; i += 4) {
        kw_config config = catalog->configs[i];
        config.wants.first = true;
        if (!kw_config_check(&config, NULL)) {
            assert_true(add_config(catalog, &config));
        }
    }
}

static void fill_catalog(checker *c) {
    const char *set = getenv("KW_CHECK_SET"), *file = getenv("KW_CHECK_CONFIGS");
    kw_error err = {0};
    kw_status status;
    if (file) {
        char *text;
        size_t size;
        status = kw_file_read(&c->arena, file, 16 << 20, &text, &size, &err);
        status = status ? status : kw_catalog_read(&c->catalog, file, text, size, &err);
    } else {
        kw_space_options options = {.size = sizeof(kw_space_options),
                                    .set = set ? set : "tests",
                                    .arch = c->backend->target(c->device[0])->arch,
                                    .filter = getenv("KW_CHECK_FILTER")};
        status = kw_enumerate(&options, add_config, &c->catalog, &err);
    }
    if (status) {
        fail_msg("%s", err.text);
    }
    if (!file) {
        add_channels_first(&c->catalog);
    }
    add_generic(&c->catalog);
}

static kw_status load_config(checker *c, const kw_jit *jit, size_t i, kw_error *err) {
    const kw_config *config = &c->catalog.configs[i];
    kw_blob blob = {0};
    kw_jit_result result;
    kw_status status = config->family->builtin ? KW_OK : kw_jit_blob(jit, config, &blob, &result, err);
    for (int d = 0; d < DEVICES && !status; d++) {
        status = c->backend->load(c->device[d], config, &blob, &c->kernel[d][i], err);
    }
    kw_blob_drop(&blob);
    return status;
}

typedef struct builder {
    checker *checker;
    const kw_jit *jit;
} builder;

static void build_one(void *user, size_t i) {
    const builder *b = user;
    checker *c = b->checker;
    kw_error why = {0};
    if ((c->can_compile || c->catalog.configs[i].family->builtin) && load_config(c, b->jit, i, &why)) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, &c->catalog.configs[i]);
        fprintf(stderr, "%s: %s\n  kwright build --kernels '%s'\n", text, why.text, text);
        atomic_fetch_add(&c->not_built, 1);
    }
}

/* Compiles on all cores. A kernel that does not compile is a failure like one that is wrong. */
static void build_all(checker *c) {
    kw_compiler compiler;
    kw_cache *cache = NULL;
    char note[256];
    kw_error err = {0};
    const char *folder = getenv("KW_CHECK_CACHE");
    c->can_compile = kw_compiler_find(&compiler, getenv("KW_CC"), (kw_code){0}, &err) == KW_OK;
    if (!c->can_compile) {
        print_message("only compiled-in kernels are checked: %s\n", err.text);
    }
    if (folder) {
        assert_int_equal(kw_cache_open(&cache, folder, note, &err), KW_OK);
    }
    kw_jit jit = {.compiler = c->can_compile ? &compiler : NULL, .cache = cache, .log_folder = "/tmp"};
    kw_parallel_run(&(kw_parallel){.count = c->catalog.count, .work = build_one, .user = &(builder){c, &jit}});
    c->tally.failures += c->not_built;
    kw_cache_close(&cache);
}

static int set_up(void **state) {
    checker *c = calloc(1, sizeof *c);
    int index;
    kw_error err = {0};
    assert_non_null(c);
    *state = c;
    assert_int_equal(kw_backend_find(&c->backend, &index, "cpu", &err), KW_OK);
    for (int d = 0; d < DEVICES; d++) {
        assert_int_equal(c->backend->open(&c->device[d], index, device_threads[d], &err), KW_OK);
    }
    if (kw_file_read(&c->arena, KW_CHECK_PROBLEMS, 1 << 20, &c->list, &c->list_size, &err)) {
        fail_msg("%s", err.text);
    }
    fill_catalog(c);
    for (int d = 0; d < DEVICES; d++) {
        c->kernel[d] = calloc(c->catalog.count, sizeof *c->kernel[d]);
        assert_non_null(c->kernel[d]);
    }
    build_all(c);
    return 0;
}

static int tear_down(void **state) {
    checker *c = *state;
    print_message("%zu kernels; %zu pairs of kernel and problem checked, %zu wrong; %zu problems, %zu served by reference "
                  "kernels alone\n",
                  c->catalog.count, c->tally.pairs, c->tally.failures, c->tally.problems, c->tally.generic_only);
    for (int d = 0; d < DEVICES; d++) {
        for (size_t i = 0; c->kernel[d] && i < c->catalog.count; i++) {
            if (c->kernel[d][i]) {
                c->backend->unload(c->device[d], &c->kernel[d][i]);
            }
        }
        free(c->kernel[d]);
        if (c->device[d]) {
            c->backend->close(&c->device[d]);
        }
    }
    kw_catalog_drop(&c->catalog);
    kw_arena_drop(&c->arena);
    free(c);
    return 0;
}

static void complain(checker *c, const kw_record *record, const char *problem, int threads) {
    if (c->tally.failures++ < FAILURES_SHOWN) {
        fprintf(stderr, "%s on %s, %d threads: %s: %s\n  kwright check --threads %d '%s' '%s'\n", record->config, problem, threads,
                kw_outcome_name(record->outcome), record->detail, threads, record->config, problem);
    }
}

/* All kernels that serve one problem, on one device. Returns how many there are, and of them those that are compiled in. */
static size_t check_problem(checker *c, const kw_problem *problem, int d, size_t *builtin) {
    kw_error err = {0};
    kw_bench *bench = NULL;
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, problem);
    size_t served = 0;
    for (size_t i = 0; i < c->catalog.count; i++) {
        const kw_config *config = &c->catalog.configs[i];
        if (!c->kernel[d][i] || kw_config_fits(config, problem, c->backend->target(c->device[d]), NULL)) {
            continue;
        }
        if (!bench && kw_bench_open(&bench, c->backend, c->device[d], problem, 0, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        kw_record record;
        if (kw_bench_verify(bench, c->kernel[d][i], config, &record, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        served++;
        *builtin += config->family->builtin != NULL;
        c->tally.pairs++;
        if (record.outcome != KW_GOOD) {
            complain(c, &record, text, device_threads[d]);
        }
    }
    kw_bench_close(&bench);
    return served;
}

static void check_line(checker *c, const char *words, kw_dtype dtype, kw_op op, int d) {
    char text[256];
    kw_problem problem;
    kw_error err = {0};
    snprintf(text, sizeof text, "%s %s %s", kw_op_name(op), kw_dtype_name(dtype), words);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    c->tally.problems++;
    size_t builtin = 0, served = check_problem(c, &problem, d, &builtin);
    if (!builtin) {
        fprintf(stderr, "%s: no reference kernel serves it\n", text);
        c->tally.unserved++;
    }
    c->tally.generic_only += served == builtin;
}

static int check_every(void) {
    const char *text = getenv("KW_CHECK_EVERY");
    return text && atoi(text) > 0 ? atoi(text) : 1;
}

/* Every line of the list for one op: gemm lines begin with the word and stand for all layouts. */
static void check_op(checker *c, kw_op op) {
    static const char *const layouts[] = {"rcr", "rrr", "crr", "ccr"};
    size_t failures = c->tally.failures, unserved = c->tally.unserved;
    kw_scan scan = {c->list, c->list + c->list_size};
    int turn = 0, every = check_every();
    for (kw_word line; kw_scan_line(&scan, &line); turn++) {
        const char *comment = memchr(line.at, '#', line.size);
        char words[200];
        snprintf(words, sizeof words, "%.*s", (int)(comment ? (size_t)(comment - line.at) : line.size), line.at);
        bool gemm = !strncmp(words, "gemm", 4);
        if (!words[strspn(words, " ")] || gemm != (op == KW_GEMM) || turn % every != (int)op % every) {
            continue;
        }
        for (int dtype = 0; dtype < KW_INT32; dtype++) {
            for (size_t layout = 0; layout < (gemm ? sizeof layouts / sizeof *layouts : 1); layout++) {
                char text[240];
                snprintf(text, sizeof text, "%s %s", gemm ? words + 4 : words, gemm ? layouts[layout] : "");
                check_line(c, text, (kw_dtype)dtype, op, (turn + (int)layout) % DEVICES);
            }
        }
    }
    assert_int_equal(c->tally.failures - failures, 0);
    assert_int_equal(c->tally.unserved - unserved, 0);
}

/* Every kernel that serves the problem. */
static void check_special(checker *c, const char *text, int d) {
    kw_problem problem;
    kw_bench *bench = NULL;
    special_values *values = NULL;
    kw_error err = {0};
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    for (size_t i = 0; i < c->catalog.count; i++) {
        const kw_config *config = &c->catalog.configs[i];
        if (!c->kernel[d][i] || kw_config_fits(config, &problem, c->backend->target(c->device[d]), NULL)) {
            continue;
        }
        if (!bench) {
            assert_ok(kw_bench_open(&bench, c->backend, c->device[d], &problem, 0, &err), &err);
            assert_ok(special_values_open(&values, bench, &err), &err);
        }
        c->tally.pairs++;
        if (special_values_check(values, c->kernel[d][i], config, &c->special, &err)) {
            char name[KW_CONFIG_TEXT_MAX];
            kw_config_print(name, sizeof name, config);
            fprintf(stderr, "%s on %s, %d threads: %s\n", name, text, device_threads[d], err.text);
            c->tally.failures++;
        }
    }
    special_values_close(&values);
    kw_bench_close(&bench);
}

static void infinities_nans_zeros_and_denormals_are_as_promised(void **state) {
    static const char *const lines[] = {
        "n2 g2 c10 k14 i7x6 f3x3 p1",     "n1 c3 k32 i9x9 f3x3 s2 p1",     "n1 c19 k16 i8x5 f1x1",          "n2 g17 c17 k17 i7x6 f3x3 p1",
        "n1 g16 c16 k16 i8x9 f3x3 s2 p1", "n1 g16 c64 k64 i6x5 f3x3 p1",   "n1 g4 c32 k32 i7x6 f3x3 s2 p1", "n1 g3 c3 k6 i9x9 f1x3 p2x1",
        "n1 c16 k16 i5x4 f3x3 p2 d2",     "n2 g16 c16 k16 i12x11 f7x7 p3", "n1 g3 c96 k96 i3x4 f3x2 p1x1",
    };
    static const char *const layouts[] = {"rcr", "rrr", "crr", "ccr"};
    checker *c = *state;
    size_t failures = c->tally.failures;
    for (int dtype = 0; dtype < KW_INT8; dtype++) {
        char text[256];
        for (size_t i = 0, every = (size_t)check_every(); i < sizeof lines / sizeof *lines; i++) {
            for (int op = KW_CONV_FWD; op < KW_OP_COUNT && (i + (size_t)dtype) % every == 0; op++) {
                snprintf(text, sizeof text, "%s %s %s", kw_op_name((kw_op)op), kw_dtype_name((kw_dtype)dtype), lines[i]);
                check_special(c, text, (int)(i + (size_t)op) % DEVICES);
            }
        }
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
            snprintf(text, sizeof text, "gemm %s %s b2 m7 n35 k19", kw_dtype_name((kw_dtype)dtype), layouts[i]);
            check_special(c, text, (int)i % DEVICES);
        }
    }
    const special_tally *met = &c->special;
    print_message(
        "special values: %zu results of finite terms right, %zu NaN by padding; of terms with infinities or NaN %zu as by IEEE 754, "
        "%zu NaN for an infinity; %zu with denormals, %zu of them without their share\n",
        met->finite, met->spread, met->kept, met->turned, met->denormal, met->flushed);
    assert_int_equal(c->tally.failures - failures, 0);
    assert_true(met->finite > met->kept && met->kept > 0 && met->denormal > 0);
}

/* A kernel that serves the problem, on one thread and then three times on three. Whether it does. */
static bool check_repeated(checker *c, kw_bench *const bench[DEVICES], size_t i, const char *text) {
    repeated_result first = {0};
    kw_error err = {0};
    const kw_config *config = &c->catalog.configs[i];
    kw_status status = KW_OK;
    for (int run = 0; run < 4 && !status; run++) {
        int d = run > 0;
        status = repeated_run(&first, bench[d], c->kernel[d][i], config, &err);
    }
    free(first.bytes);
    if (status) {
        char name[KW_CONFIG_TEXT_MAX];
        kw_config_print(name, sizeof name, config);
        fprintf(stderr, "%s on %s: %s\n", name, text, err.text);
    }
    return !status;
}

/* Real data, whose sums are not exact: the order of additions shows. */
static void runs_are_the_same_to_the_last_bit_on_any_number_of_threads(void **state) {
    static const char *const texts[] = {
        "gemm fp32 rcr m37 n50 k333",
        "gemm bf16 rrr b2 m19 n40 k70",
        "conv_fwd fp32 nhwgc n2 g2 c32 k48 i13x11 f3x3 p1",
        "conv_fwd bf16 nhwgc n1 c32 k32 i9x9 f3x3 p1",
        "conv_bwd_data fp32 nhwgc n2 c24 k40 i13x11 f3x3 s2 p1",
        "conv_bwd_weight fp32 nhwgc n3 c16 k32 i17x13 f3x3 p1",
        "conv_bwd_weight fp32 nhwgc n2 g5 c35 k45 i37x31 f3x3 p1",
        "conv_bwd_weight fp32 nhwgc n2 c3 k9 i41x37 f7x7 s2 p3",
        "conv_bwd_weight bf16 nhwgc n2 g16 c16 k16 i15x9 f3x3 p1",
        "conv_fwd fp32 nhwgc n2 g16 c16 k16 i12x11 f5x5 p2",
        "conv_bwd_data bf16 nwgc n3 g4 c288 k288 i112 f6 s5 p0:6", /* whose groups have one copy, by fewer on several threads */
        "conv_bwd_data fp32 nwgc n1 c24 k40 i301 f9 s2 p4",        /* one row of one image, whose columns several threads share out */
        "conv_fwd fp32 nwgc n1 c20 k24 i307 f15 p7",
        "conv_fwd bf16 nwgc n1 c40 k24 i307 f15 s2 p7",
        "conv_fwd fp32 nhwgc n1 c16 k8 i12x13 f7x7 p11x8",
        "conv_fwd fp32 nhwgc n1 c5 k16 i33x17 f7x3 p10x1:0x4",
        "conv_bwd_data fp32 ngchw n2 g2 c10 k16 i33x12 f3x13 p1x6:0x10 d2x1",
        "conv_fwd bf16 nhwgc n7 c250 k72 i4x5 f3x3 p1", /* small images, of which fewer have a unit together on several threads */
    };
    checker *c = *state;
    size_t pairs = 0, differing = 0;
    for (size_t n = 0; n < sizeof texts / sizeof *texts; n++) {
        kw_problem problem;
        kw_bench *bench[DEVICES] = {NULL};
        kw_error err = {0};
        assert_ok(kw_problem_parse(&problem, texts[n], &err), &err);
        for (int d = 0; d < DEVICES; d++) {
            assert_ok(kw_bench_open(&bench[d], c->backend, c->device[d], &problem, 0, &err), &err);
        }
        for (size_t i = 0; i < c->catalog.count; i++) {
            const kw_config *config = &c->catalog.configs[i];
            bool fits = c->kernel[0][i] && c->kernel[1][i];
            for (int d = 0; d < DEVICES && fits; d++) {
                fits = !kw_config_fits(config, &problem, c->backend->target(c->device[d]), NULL);
            }
            if (fits) {
                pairs++;
                differing += !check_repeated(c, bench, i, texts[n]);
            }
        }
        for (int d = 0; d < DEVICES; d++) {
            kw_bench_close(&bench[d]);
        }
    }
    print_message("%zu pairs of kernel and problem were run four times, %zu gave other bits\n", pairs, differing);
    assert_int_equal(differing, 0);
    assert_true(pairs > 8 || getenv("KW_CHECK_FILTER")); /* a filter may leave little */
}

extern const kw_embedded kw_kernel_files[];

/* What GPUs would add in an order of chance: the prelude can, and no kernel of any kind of device asks for it. */
static void no_kernel_adds_by_atomics(void **state) {
    static const char *const words[] = {"kw_add(", "atom", "ATOMIC", "red.global", "__sync_"};
    (void)state;
    size_t files = 0;
    for (const kw_embedded *file = kw_kernel_files; file->name; file++) {
        bool prelude = strstr(file->name, "prelude") != NULL;
        files += !prelude;
        for (size_t i = 0; i < sizeof words / sizeof *words && !prelude; i++) {
            if (memmem(file->text, kw_embedded_size(file), words[i], strlen(words[i]))) {
                fail_msg("%s has %s", file->name, words[i]);
            }
        }
    }
    assert_true(files > 10);
}

static void every_kernel_compiles_and_loads(void **state) {
    const checker *c = *state;
    assert_int_equal(c->tally.failures, 0);
    assert_true(c->catalog.count > 0);
}

static void gemm_kernels_are_right(void **state) {
    check_op(*state, KW_GEMM);
}

static void forward_kernels_are_right(void **state) {
    check_op(*state, KW_CONV_FWD);
}

static void backward_data_kernels_are_right(void **state) {
    check_op(*state, KW_CONV_BWD_DATA);
}

static void backward_weight_kernels_are_right(void **state) {
    check_op(*state, KW_CONV_BWD_WEIGHT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kernel_compiles_and_loads),
        cmocka_unit_test(gemm_kernels_are_right),
        cmocka_unit_test(forward_kernels_are_right),
        cmocka_unit_test(backward_data_kernels_are_right),
        cmocka_unit_test(backward_weight_kernels_are_right),
        cmocka_unit_test(infinities_nans_zeros_and_denormals_are_as_promised),
        cmocka_unit_test(runs_are_the_same_to_the_last_bit_on_any_number_of_threads),
        cmocka_unit_test(no_kernel_adds_by_atomics),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
