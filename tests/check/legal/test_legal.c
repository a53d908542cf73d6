/* test_legal.c: every kernel of every architecture is asked for random legal problems; nothing is compiled or run. Asked are the rules, the
 * launch, its workspace and the estimate, with a CPU's threads and a GPU's typical facts. None may divide by zero, overflow, give a count
 * below zero or take seconds, and every problem must have an answer. With UBSan (preset debug) an overflow ends the test; the pair that was
 * asked is printed, whatever ended it.
 *
 *   KW_LEGAL_SEED=N    what is drawn (1); the same seed draws the same
 *   KW_LEGAL_PAIRS=N   pairs of problem and kernel an architecture (20000)
 *   KW_LEGAL_SETS      rule sets whose kernels are asked ("tiny default"); `make check-legal` takes all that can be enumerated
 *   KW_LEGAL_ARCHES    architectures (all) */
#include "base/math.h"
#include "base/statistics/random.h"
#include "check/legal/legal_problems.h"
#include "check/legal/legal_watch.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"
#include "config/arch/isa.h"
#include "config/launch/workspace.h"
#include "predict/predict.h"
#include "space/enumerate.h"
#include "support/kw_test.h"

#include <math.h>

enum { ASKED = 64 };

static int set_up(void **state) {
    (void)state;
    legal_watch_start();
    return 0;
}

/* --- kernels --- */

/* Kernels of an architecture, and where those of an operation and type stand. */
typedef struct field {
    kw_target target;
    kw_catalog catalog;
    size_t *of[KW_OP_COUNT][KW_DTYPE_COUNT], counts[KW_OP_COUNT][KW_DTYPE_COUNT];
    size_t problems, pairs, alone; /* alone: problems that reference kernels alone serve */
    size_t launched[LEGAL_SIZES_COUNT];
} field;

static bool keep(void *user, const kw_config *config) {
    return kw_catalog_add(user, config, NULL, NULL) == KW_OK;
}

static void fill(field *f, const char *sets) {
    kw_scan scan = kw_scan_string(sets);
    for (kw_word set; kw_scan_word(&scan, &set);) {
        char name[64];
        kw_error err = {0};
        snprintf(name, sizeof name, "%.*s", (int)set.size, set.at);
        kw_space_options options = {.size = sizeof(kw_space_options), .set = name, .arch = f->target.arch};
        assert_ok(kw_enumerate(&options, keep, &f->catalog, &err), &err);
    }
    for (size_t i = 0; i < f->catalog.count; i++) {
        const kw_config *config = &f->catalog.configs[i];
        size_t **list = &f->of[config->op][config->dtype], *count = &f->counts[config->op][config->dtype];
        if (!*list) {
            *list = calloc(f->catalog.count, sizeof **list);
            assert_non_null(*list);
        }
        (*list)[(*count)++] = i;
    }
}

static void empty(field *f) {
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            free(f->of[op][dtype]);
        }
    }
    kw_catalog_drop(&f->catalog);
}

/* --- one pair --- */

static void wrong(const char *what, double value) {
    legal_watch_tell();
    fail_msg("%s: %g", what, value);
}

static void is_count(const char *what, int64_t value) {
    if (value < 0) {
        wrong(what, (double)value);
    }
}

static void is_work(const char *what, double value) {
    if (!isfinite(value) || value < 0) {
        wrong(what, value);
    }
}

static void check_launch_of(const kw_config *config, const kw_problem *problem, const kw_target *target) {
    kw_launch launch = {0};
    bool gpu = kw_target_is_gpu(target);
    kw_config_launch(config, problem, target, &launch);
    if (launch.stages < 1 || launch.stages > KW_STAGE_MAX) {
        wrong("stages", launch.stages);
    }
    int own = 0; /* stages of the kernel itself; the others turn tensors */
    for (int i = 0; i < launch.stages; i++) {
        const kw_stage *stage = &launch.stage[i];
        bool turns = launch.turning.stage[i].images > 0;
        /* Its first stage may have nothing to do: operands that are aligned already. */
        int64_t least = !turns && own == 0 && launch.stages > 1 ? 0 : 1;
        own += !turns;
        if (stage->units < least || (gpu && (stage->units > INT32_MAX || stage->threads < 1 || stage->threads > 1024))) {
            wrong(gpu ? "blocks of a stage" : "units of a stage", (double)stage->units);
        }
    }
    for (int i = 0; i < KW_PARAMS_WORDS; i++) {
        is_count("a word of params", launch.params.word[i]);
    }
    is_count("bytes of packed weights", launch.packed_bytes);
    is_count("bytes of shared workspace", launch.shared_bytes);
    is_count("bytes of a thread's workspace", launch.thread_bytes);
    is_count("bytes of workspace", kw_workspace_layout_of(&launch, target, false).bytes);
    is_work("multiply-adds", launch.multiply_adds);
    is_work("loads", launch.loads);
    is_work("copied bytes", launch.copied_bytes);
    for (int i = 0; i < KW_CACHE_REUSE_MAX; i++) {
        is_work("bytes read again", launch.rereads[i].bytes);
        is_count("working set", launch.rereads[i].between);
    }
    for (int i = 0; i < KW_MAPS && launch.map[i].rank; i++) {
        for (int axis = 0; axis < launch.map[i].rank; axis++) {
            is_work("extent of a map", (double)launch.map[i].extent[axis] - 1);
            is_work("stride of a map", axis ? (double)launch.map[i].stride[axis - 1] - 1 : 0);
        }
    }
    is_work("expected time", kw_predict_ns(config, problem, target, &launch));
}

/* The kernel has in its text what the problem wants, as a plan's has. */
static bool ask(field *f, const kw_config *listed, const kw_problem *problem, legal_sizes sizes) {
    kw_config config;
    legal_watch_config(listed);
    f->pairs++;
    bool fits = !kw_config_serves(&config, listed, problem, &f->target, NULL);
    if (fits) {
        f->launched[sizes]++;
        check_launch_of(&config, problem, &f->target);
    }
    legal_watch_config(NULL);
    return fits;
}

/* Asks a share of the kernels of the problem's operation and type, one of `step`, the reference kernels always. Returns whether a generated
 * kernel serves it. */
static bool ask_some(field *f, const kw_problem *problem, legal_sizes sizes, size_t step, size_t first) {
    bool generated = false, reference = false;
    for (size_t i = 0; i < f->counts[problem->op][problem->dtype]; i++) {
        const kw_config *config = &f->catalog.configs[f->of[problem->op][problem->dtype][i]];
        if (config->family->is_reference) {
            reference |= ask(f, config, problem, sizes);
        } else if (i % step == first) {
            generated |= ask(f, config, problem, sizes);
        }
    }
    if (!reference) {
        legal_watch_tell();
        fail_msg("no reference kernel serves it");
    }
    return generated;
}

/* One problem, drawn for one kernel, and a share of the kernels of its operation and type; the reference kernels always. */
static void ask_all(field *f, uint64_t *random, size_t turn) {
    const kw_config *muse = &f->catalog.configs[kw_random_below(random, f->catalog.count)];
    legal_sizes sizes = (legal_sizes)(turn % LEGAL_SIZES_COUNT);
    kw_problem problem = legal_problem_draw(random, muse, sizes);
    size_t step = f->counts[muse->op][muse->dtype] / ASKED + 1;
    if (f->target.backend == KW_BACKEND_CPU) {
        static const int64_t threads[] = {1, 2, 3, 64, 1024};
        f->target.units = threads[kw_random_below(random, sizeof threads / sizeof *threads)];
    }
    legal_watch_problem(f->target.arch, &problem);
    bool generated = ask(f, muse, &problem, sizes) && !muse->family->is_reference;
    generated |= ask_some(f, &problem, sizes, step, kw_random_below(random, step));
    f->problems++;
    f->alone += !generated;
}

/* Problems that once ended the process, and their kin: an axis of 1 or 2 that no tap of a stride reaches; counts of elements and bytes at powers
 * of two. All kernels are asked. */
static void ask_known(field *f) {
    static const char *const known[] = {
        "conv_bwd_data fp32 n1 c32 k32 i1 f1 s2 p3",
        "conv_bwd_data fp32 g8 c32 k32 i5x1 f3x1 s2x2 p1x1",
        "conv_bwd_data fp32 n2 g1 c1 k1 i2x2 f1x1 s1x6 p2x4:0x0",
        "conv_bwd_data bf16 g16 c16 k16 i1x1 f3x3 s3x3 p5x5",
        "conv_bwd_weight bf16 g16 c16 k16 i1x1 f1x1 s3x3 p5x5",
        "conv_fwd bf16 n1 c1 k1 i14 f5 p2147483647:17592186044416",
        "conv_bwd_data fp32 n1 c8 k8 i2000000000 f3 s1000000000 p1",
        "conv_bwd_data fp32 n1 c3 k8 i2000000000x1 f3x1 p1x0",
        "conv_fwd fp32 n1 c1 k1 i2147483647 f1",
        "conv_fwd fp32 n1 c1 k1 i2147483648 f1",
        "conv_fwd bf16 n1 c1 k1 i65536x65537 f3x3 p1x1",
        "conv_fwd bf16 n2 c1 k1 i65535x32769 f3x3 p1x1",
        "conv_bwd_weight fp32 n1 c1 k1 i1073741824 f1",
        "gemm fp32 m2147483647 n2 k1",
        "gemm bf16 m65536 n65537 k1",
        "gemm bf16 m1 n1 k4294967297",
        "gemm int8 b65536 m256 n256 k1",
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        kw_problem problem;
        kw_error err = {0};
        assert_ok(kw_problem_parse(&problem, known[i], &err), &err);
        legal_watch_problem(f->target.arch, &problem);
        ask_some(f, &problem, LEGAL_HUGE, 1, 0);
        f->problems++;
    }
}

static size_t ask_arch(const kw_target *target, const char *sets, uint64_t seed, size_t pairs) {
    field f = {.target = *target};
    uint64_t random = seed;
    fill(&f, sets);
    ask_known(&f);
    for (size_t turn = 0; f.pairs < pairs; turn++) {
        ask_all(&f, &random, turn);
    }
    size_t *launched = f.launched, all = launched[LEGAL_SMALL] + launched[LEGAL_USUAL] + launched[LEGAL_HUGE];
    print_message(
        "%s: %zu kernels; %zu problems, %zu of them left to reference kernels; %zu pairs, %zu launched: small %zu, usual %zu, huge "
        "%zu\n",
        target->arch, f.catalog.count, f.problems, f.alone, f.pairs, all, launched[LEGAL_SMALL], launched[LEGAL_USUAL],
        launched[LEGAL_HUGE]);
    assert_true(all >= f.problems);
    for (int i = 0; i < LEGAL_SIZES_COUNT; i++) { /* kernels beside the reference ones were launched, where there are any */
        assert_true(launched[i] > f.problems / LEGAL_SIZES_COUNT || f.alone == f.problems);
    }
    empty(&f);
    return f.pairs;
}

/* --- all architectures --- */

static bool is_wanted(const char *arch) {
    const char *arches = getenv("KW_LEGAL_ARCHES");
    kw_scan scan = kw_scan_string(arches ? arches : "");
    bool found = !arches || !*arches;
    for (kw_word word; kw_scan_word(&scan, &word);) {
        found |= kw_word_is(word, arch);
    }
    return found;
}

static void every_kernel_answers_or_refuses_every_legal_problem(void **state) {
    (void)state;
    const char *sets = getenv("KW_LEGAL_SETS");
    uint64_t seed = (uint64_t)legal_number("KW_LEGAL_SEED", 1);
    size_t pairs = (size_t)legal_number("KW_LEGAL_PAIRS", 20000), asked = 0;
    sets = sets && *sets ? sets : "tiny default";
    print_message("KW_LEGAL_SEED=%llu KW_LEGAL_PAIRS=%zu KW_LEGAL_SETS='%s'\n", (unsigned long long)seed, pairs, sets);
    for (const kw_cpu_arch *cpu = kw_cpu_archs; cpu->name; cpu++) {
        kw_target target = {.backend = KW_BACKEND_CPU,
                            .units = 1,
                            .lanes = cpu->lanes,
                            .registers = cpu->registers,
                            .l1 = 32768,
                            .l2 = 1048576,
                            .l3 = 33554432};
        snprintf(target.arch, sizeof target.arch, "%s", cpu->name);
        asked += is_wanted(cpu->name) ? ask_arch(&target, sets, seed, pairs) : 0;
    }
    for (const kw_gpu_arch *gpu = kw_gpu_archs; gpu->name; gpu++) {
        asked += is_wanted(gpu->name) ? ask_arch(&gpu->typical, sets, seed, pairs) : 0;
    }
    print_message("%zu pairs\n", asked);
    assert_true(asked > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kernel_answers_or_refuses_every_legal_problem)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}
