/* gpu_hunt.c: random kernels for GPUs on random problems, played by the emulator: `make hunt`.
 *
 *   gpu_hunt SECONDS SEED [ARCH ...]
 *
 * The lists of checked problems elsewhere are awkward in ways that somebody thought of; these are not. A kernel is a config of set full, every
 * other one with an axis changed to anything that the rules still allow, since a user may write such a config. Its problems are any that it says
 * it serves: strides to 4, dilation, padding that is huge, uneven or negative behind, filters beyond the image, single pixels, odd channels. Each
 * kernel is compiled and played in a process of its own with a time limit. What is not right is printed as the command that shows it again; the
 * same seed draws the same. Exit: 1 when anything was wrong; 2 a bad request; 3 no compiler. */
#include "base/statistics/random.h"
#include "base/math.h"
#include "base/statistics/random.h"
#include "config/catalog.h"
#include "measure/measure.h"

#include <kernelwright_tune.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ARCHES_MAX = 16, FAMILIES = 7, PROBLEMS_MAX = 4, TRIES = 300, AXIS_TRIES = 60, KERNEL_SECONDS = 60 };

static const char *const usual[] = {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1250", "sm_80", "sm_90"};

/* Of twenty-two kernels so many are of each family. */
static const struct {
    const char *name;
    int share;
} families[FAMILIES] = {{"conv.igemm", 10},           {"gemm.mma", 4},           {"conv.depthwise_block", 2}, {"conv.direct_block", 2},
                        {"conv.direct_1st_block", 2}, {"conv.reference_gpu", 1}, {"gemm.reference_gpu", 1}};

/* The kernels of one architecture, by families. */
typedef struct field {
    const char *arch;
    const kw_backend *backend;
    int index;
    kw_catalog of[FAMILIES];
    size_t kernels, pairs, unserved;
} field;

typedef struct hunt {
    uint64_t random;
    field fields[ARCHES_MAX];
    int count;
    size_t wrong;
} hunt;

/* --- random numbers --- */

static int64_t below(hunt *h, int64_t count) {
    return (int64_t)kw_random_below(&h->random, (uint64_t)count);
}

static int64_t between(hunt *h, int64_t low, int64_t high) {
    return low + below(h, high - low + 1);
}

static bool once_in(hunt *h, int64_t times) {
    return below(h, times) == 0;
}

#define ONE_OF(h, ...) ((const int64_t[]){__VA_ARGS__}[below(h, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))])

/* --- kernels --- */

static bool keep(void *user, const char *text) {
    field *f = user;
    kw_config config;
    bool kept = !kw_config_parse(&config, text, NULL);
    for (int i = 0; kept && i < FAMILIES; i++) {
        if (!strcmp(config.family->name, families[i].name)) {
            kept = !kw_catalog_add(&f->of[i], &config, NULL, NULL);
        }
    }
    return kept;
}

static int draw_family(hunt *h, const field *f) {
    for (;;) {
        int64_t ball = below(h, 20);
        int family = 0;
        while (ball >= families[family].share) {
            ball -= families[family++].share;
        }
        if (f->of[family].count) {
            return family;
        }
    }
}

static int32_t draw_value(hunt *h, const kw_catalog *catalog, int axis, int32_t old) {
    const kw_axis *of = &catalog->configs->family->axes[axis];
    switch (of->words ? 0 : below(h, 3)) {
    case 0:
        return (int32_t)(of->high - of->low < 16 ? between(h, of->low, of->high) : 1 << below(h, 9));
    case 1:
        return old * 2 <= of->high ? old * 2 : old;
    default:
        return catalog->configs[below(h, (int64_t)catalog->count)].axis[axis];
    }
}

/* A config of the set; or beside it, as far as the rules go. */
static kw_config draw_config(hunt *h, const field *f, const kw_target *target) {
    const kw_catalog *catalog = &f->of[draw_family(h, f)];
    kw_config config = catalog->configs[below(h, (int64_t)catalog->count)];
    for (int i = 0, changed = once_in(h, 2) || !config.family->axis_count ? 2 : 0; i < AXIS_TRIES && changed < 2; i++) {
        kw_config other = config;
        int axis = (int)below(h, config.family->axis_count);
        other.axis[axis] = draw_value(h, catalog, axis, config.axis[axis]);
        if (other.axis[axis] != config.axis[axis] && !kw_config_check(&other, NULL) && !kw_config_runs(&other, target, NULL)) {
            config = other;
            changed++;
        }
    }
    return config;
}

/* --- problems --- */

static int64_t draw_channels(hunt *h) {
    return ONE_OF(h, 1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 17, 24, 32, 33, 40, 64, 72);
}

static void draw_axis(hunt *h, kw_conv_dims *d, int axis) {
    d->in[axis] = once_in(h, 8) ? 1 : between(h, 1, once_in(h, 4) ? 40 : 14);
    d->filter[axis] = once_in(h, 3) ? 1 : once_in(h, 8) ? between(h, 6, 16) : between(h, 1, 5);
    d->stride[axis] = once_in(h, 2) ? 1 : between(h, 1, 4);
    d->dilation[axis] = once_in(h, 2) ? 1 : between(h, 1, 4);
    d->pad[axis] = once_in(h, 10) ? between(h, 5, 30) : between(h, 0, 3);
    d->pad_back[axis] = once_in(h, 3) ? d->pad[axis] + between(h, -3, 3) : d->pad[axis];
}

/* What families of a given filter say of it. Along the depth of conv.depthwise_block it has axes of its own, and no dilation. */
static void follow_filter(hunt *h, kw_problem *problem, const kw_config *config) {
    kw_conv_dims *d = &problem->conv;
    for (int axis = 3 - problem->ndim; axis < 3; axis++) {
        bool deep = axis == 0 && kw_config_axis(config, "filter_d", 0);
        d->filter[axis] = kw_config_axis(config, deep ? "filter_d" : "filter", 3);
        d->stride[axis] = kw_config_axis(config, deep ? "stride_d" : "stride", 1);
        d->pad[axis] = kw_config_axis(config, deep ? "pad_d" : "pad", (int32_t)d->pad[axis]);
        d->dilation[axis] = deep ? 1 : kw_config_axis(config, "dilation", 1);
        d->pad_back[axis] = once_in(h, 4) ? d->pad_back[axis] : d->pad[axis];
    }
    int64_t channels = kw_config_axis(config, "channels", 1);
    d->g *= once_in(h, 2) ? ONE_OF(h, 1, 2, 4, 8, 16, 31) : 1;
    d->c = d->k = d->g * channels;
    if (kw_word_is(kw_config_axis_word(config, "impl"), "dense")) {
        d->g = 1;
        d->c = once_in(h, 2) ? channels : draw_channels(h);
        d->k = draw_channels(h);
    }
}

/* Few channels and one group, in rows of whole vectors. */
static void follow_patch(hunt *h, kw_problem *problem, const kw_config *config) {
    kw_conv_dims *d = &problem->conv;
    int64_t vec_in = kw_config_axis(config, "vec_in", 1), vec = kw_config_axis(config, "vec", 1);
    d->g = 1;
    d->c = between(h, 1, once_in(h, 3) ? 20 : 4);
    d->k = vec * between(h, 1, 12);
    d->in[2] = kw_ceil_div(d->in[2], vec_in) * vec_in;
}

/* What the config's axes say of the problems that it serves; what they do not is drawn. */
static void follow_config(hunt *h, kw_problem *problem, const kw_config *config) {
    kw_conv_dims *d = &problem->conv;
    kw_word spec = kw_config_axis_word(config, "spec");
    bool row = kw_word_is(spec, "filter1x1_stride1_pad0");
    if (kw_config_axis(config, "patch", 0)) {
        follow_patch(h, problem, config);
        return;
    }
    if (strstr(config->family->name, "_block")) {
        follow_filter(h, problem, config);
        return;
    }
    for (int axis = 3 - problem->ndim; axis < 3; axis++) {
        if (row || kw_word_is(spec, "filter1x1_pad0")) {
            d->filter[axis] = 1;
            d->pad[axis] = d->pad_back[axis] = 0;
            d->stride[axis] = row ? 1 : d->stride[axis];
        } else if (kw_word_is(spec, "filter3x3")) {
            d->filter[axis] = 3;
            d->c = d->g;
        }
    }
}

static void draw_conv(hunt *h, kw_problem *problem, const kw_config *config) {
    kw_conv_dims *d = &problem->conv;
    bool plain = !config->family->axis_count, first = kw_word_is(kw_config_axis_word(config, "order"), "first");
    problem->ndim = plain ? (int32_t)between(h, 1, 3) : kw_config_axis(config, "ndim", 2);
    problem->layout = first || (plain && once_in(h, 2)) ? KW_CHANNELS_FIRST : KW_CHANNELS_LAST;
    *d = (kw_conv_dims){.in = {1, 1, 1}, .filter = {1, 1, 1}, .stride = {1, 1, 1}, .dilation = {1, 1, 1}};
    d->n = once_in(h, 2) ? 1 : between(h, 1, 5);
    int32_t merge = kw_config_axis(config, "merge", 1);
    bool together = merge > 1 && kw_config_axis(config, "persistent", 0); /* blocks that stay have 64 channels of merged groups */
    d->g = (once_in(h, 2) ? 1 : between(h, 1, 5)) * merge;
    d->c = d->g * (together ? 64 / merge : draw_channels(h));
    d->k = together ? d->c : d->g * draw_channels(h);
    for (int axis = 3 - problem->ndim; axis < 3; axis++) {
        draw_axis(h, d, axis);
    }
    follow_config(h, problem, config);
}

static int64_t draw_size(hunt *h, const kw_config *config, const char *pad, const char *tile) {
    int64_t size = between(h, 1, 70);
    if (!kw_config_axis(config, pad, 1)) {
        return kw_round_up(size, kw_config_axis(config, tile, 1));
    }
    return once_in(h, 2) ? kw_round_up(size, 16) : size;
}

static void draw_gemm(hunt *h, kw_problem *problem, const kw_config *config) {
    problem->layout = (kw_layout)kw_config_axis(config, "layout", (int32_t)below(h, 4));
    problem->gemm = (kw_gemm_dims){.batch = once_in(h, 2) ? 1 : between(h, 1, 4),
                                   .m = draw_size(h, config, "pad_m", "tile_m"),
                                   .n = draw_size(h, config, "pad_n", "tile_n"),
                                   .k = draw_size(h, config, "pad_k", "tile_k")};
}

/* Small enough to be played in a second or so. */
static bool is_small(const kw_config *config, const kw_problem *problem, const kw_target *target) {
    enum { FLOPS = 40000000, PRODUCTS = 50000000, THREADS = 100000 };
    kw_launch launch;
    int64_t threads = 0, instruction = kw_config_axis(config, "inst_m", 1) * kw_config_axis(config, "inst_n", 1);
    instruction = instruction > 1 ? instruction * kw_config_axis(config, "inst_k", 1) : target->lanes;
    config->family->launch(config, problem, target, &launch);
    if (kw_problem_flops(problem) > FLOPS || launch.multiply_adds * (double)instruction > PRODUCTS) { /* whole tiles are played */
        return false;
    }
    for (int i = 0; i < launch.stages; i++) {
        threads += launch.stage[i].units * launch.stage[i].threads;
    }
    return threads <= THREADS;
}

static int draw_problems(hunt *h, kw_problem problems[PROBLEMS_MAX], const kw_config *config, const kw_target *target) {
    int count = 0;
    for (int i = 0; i < TRIES && count < PROBLEMS_MAX; i++) {
        kw_problem *problem = &problems[count];
        memset(problem, 0, sizeof *problem);
        problem->op = config->op;
        problem->dtype = config->dtype;
        if (config->op == KW_GEMM) {
            draw_gemm(h, problem, config);
        } else {
            draw_conv(h, problem, config);
        }
        count += !kw_problem_check(problem, NULL) && !kw_config_fits(config, problem, target, NULL) && is_small(config, problem, target);
    }
    return count;
}

/* --- one kernel, in a process of its own --- */

typedef struct prey {
    const field *of;
    kw_config config;
    kw_problem problems[PROBLEMS_MAX];
    int count;
} prey;

static void print_command(const prey *p, int number, const char *what, const char *why) {
    char config[KW_CONFIG_TEXT_MAX], problem[KW_PROBLEM_TEXT_MAX];
    kw_config_print(config, sizeof config, &p->config);
    kw_problem_print(problem, sizeof problem, &p->problems[number]);
    printf("%s: %s\n  kwright check --device emu:%s --config '%s' '%s'\n", what, why, p->of->arch, config, problem);
    fflush(stdout);
}

static kw_status play(const prey *p, kw_device *device, const kw_kernel *kernel, int number, bool *good, kw_error *err) {
    kw_bench *bench = NULL;
    kw_record record;
    kw_status status = kw_bench_open(&bench, p->of->backend, device, &p->problems[number], 0, err);
    status = status ? status : kw_bench_verify(bench, kernel, &p->config, &record, err);
    if (!status && record.outcome != KW_GOOD && record.outcome != KW_MISTRUSTED) {
        print_command(p, number, kw_outcome_name(record.outcome), record.detail);
        *good = false;
    }
    kw_bench_close(&bench);
    return status;
}

static int play_all(const prey *p) {
    kw_error err = {0};
    kw_code code;
    kw_compiler compiler;
    kw_device *device = NULL;
    kw_kernel *kernel = NULL;
    kw_blob blob = {0};
    kw_jit_result built;
    bool good = true;
    kw_status status = p->of->backend->open(&device, p->of->index, 1, &err);
    status = status ? status : kw_code_for(&code, KW_BACKEND_EMU, p->of->arch, &err);
    status = status ? status : kw_compiler_find(&compiler, NULL, code, &err);
    status = status ? status : kw_jit_blob(&(kw_jit){.code = code, .compiler = &compiler}, &p->config, &blob, &built, &err);
    status = status ? status : p->of->backend->load(device, &p->config, &blob, &kernel, &err);
    for (int i = 0; i < p->count && !status; i++) {
        status = play(p, device, kernel, i, &good, &err);
    }
    if (status) {
        print_command(p, 0, kw_status_name(status), err.text);
    }
    if (kernel) {
        p->of->backend->unload(device, &kernel);
    }
    kw_blob_drop(&blob);
    if (device) {
        p->of->backend->close(&device);
    }
    return status == KW_ENVIRONMENT ? 3 : status || !good;
}

/* false: something was wrong. */
static bool hunt_down(const prey *p) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){KERNEL_SECONDS, KERNEL_SECONDS + 1}); /* of processor time, however busy the machine is */
        exit(play_all(p));
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return false;
    }
    if (WIFSIGNALED(status)) {
        char why[64];
        bool late = WTERMSIG(status) == SIGXCPU;
        snprintf(why, sizeof why, late ? "after %d s" : "signal %d", late ? (int)KERNEL_SECONDS : WTERMSIG(status));
        for (int i = 0; i < p->count; i++) {
            print_command(p, i, late ? "timed_out" : "crashed", why);
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void hunt_one(hunt *h, field *f) {
    prey p = {.of = f};
    const kw_target *target = &kw_gpu_arch_find(f->arch)->typical;
    p.config = draw_config(h, f, target);
    p.count = draw_problems(h, p.problems, &p.config, target);
    if (!p.count) {
        f->unserved++;
        return;
    }
    f->kernels++;
    f->pairs += (size_t)p.count;
    h->wrong += !hunt_down(&p);
}

/* --- all --- */

static kw_status open_field(field *f, const char *arch, kw_error *err) {
    char device[32];
    *f = (field){.arch = arch};
    snprintf(device, sizeof device, "emu:%s", arch);
    kw_status status = kw_backend_find(&f->backend, &f->index, device, err);
    return status ? status
                  : kw_space_visit(&(kw_space_options){.size = sizeof(kw_space_options), .set = "full", .arch = arch}, keep, f, err);
}

int main(int argc, char **argv) {
    hunt h = {.count = argc > 3 ? argc - 3 : (int)(sizeof usual / sizeof *usual)};
    if (argc < 3 || h.count > ARCHES_MAX) {
        fprintf(stderr, "usage: gpu_hunt SECONDS SEED [ARCH ...]\n");
        return 2;
    }
    time_t end = time(NULL) + atol(argv[1]);
    h.random = strtoull(argv[2], NULL, 10);
    kw_error err = {0};
    for (int i = 0; i < h.count; i++) {
        if (open_field(&h.fields[i], argc > 3 ? argv[i + 3] : usual[i], &err)) {
            fprintf(stderr, "gpu_hunt: %s\n", err.text);
            return 2;
        }
    }
    for (int i = 0; time(NULL) < end; i = (i + 1) % h.count) {
        hunt_one(&h, &h.fields[i]);
    }
    for (int i = 0; i < h.count; i++) {
        field *f = &h.fields[i];
        printf("%s: %zu kernels, %zu pairs; %zu kernels that no drawn problem suits\n", f->arch, f->kernels, f->pairs, f->unserved);
        for (int family = 0; family < FAMILIES; family++) {
            kw_catalog_drop(&f->of[family]);
        }
    }
    printf("%zu kernels were wrong\n", h.wrong);
    return h.wrong ? 1 : 0;
}
