/* jit.c: what a kernel costs before it runs: the compiler's processor time, an answer from the cache, and the library's share of a call.
 *
 *   bench_jit [--set SET] [--cc COMPILER] [--most N] [--arch NAME]
 *
 * Takes at most N (8) configs of each family, op and dtype, spread evenly over the set, compiles each once into a cache of its own, then
 * has it back from there. A hit is everything from the config's text to callable functions: source and key, reading and checking the
 * entry, mapping it. The share of a call is the time of one run of a kernel that does nothing, on one thread. With --arch the kernels are a
 * GPU's, which need not be here: they are compiled, and had back, but not mapped. Prints Markdown. */
#include "backend/backend.h"
#include "base/os/clock.h"
#include "config/catalog.h"
#include "config/arch/gpu_arch.h"

#include <kernelwright_tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES_MAX = 4096 };

typedef struct figures {
    double cpu[SAMPLES_MAX], wall[SAMPLES_MAX], source[SAMPLES_MAX], hit[SAMPLES_MAX], map[SAMPLES_MAX];
    size_t count, failed;
    double bytes;
} figures;

typedef struct bench_state {
    kw_jit jit;
    const kw_backend *backend;
    kw_device *device;       /* NULL with an architecture */
    const kw_gpu_arch *arch; /* NULL without --arch */
    const kw_target *target;
    kw_catalog catalog;
    figures family, all;
    size_t most;
} bench_state;

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double rank(double *values, size_t count, double part) {
    qsort(values, count, sizeof *values, compare);
    return count ? values[(size_t)(part * (double)(count - 1) + 0.5)] : 0;
}

static void print_row(const char *name, figures *f) {
    printf("| %s | %zu | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f | %.1f |\n", name, f->count, rank(f->cpu, f->count, 0.5) / 1e6,
           rank(f->cpu, f->count, 0.9) / 1e6, rank(f->cpu, f->count, 1) / 1e6, rank(f->wall, f->count, 0.5) / 1e6,
           rank(f->source, f->count, 0.5) / 1e3, rank(f->hit, f->count, 0.5) / 1e3, rank(f->map, f->count, 0.5) / 1e3,
           f->count ? f->bytes / 1024 / (double)f->count : 0);
    if (f->failed) {
        printf("| (%zu did not compile or load) |\n", f->failed);
    }
}

static bool add_config(void *user, const char *text) {
    bench_state *state = user;
    kw_config config;
    if (!kw_config_parse(&config, text, NULL) && config.family->emit && !kw_config_runs(&config, state->target, NULL)) {
        kw_catalog_add(&state->catalog, &config, NULL, NULL);
    }
    return true;
}

static void take(figures *f, const double sample[5], double bytes) {
    if (f->count < SAMPLES_MAX) {
        f->cpu[f->count] = sample[0];
        f->wall[f->count] = sample[1];
        f->source[f->count] = sample[2];
        f->hit[f->count] = sample[3];
        f->map[f->count++] = sample[4];
        f->bytes += bytes;
    }
}

static void measure(bench_state *state, const kw_config *config) {
    kw_blob blob = {0};
    kw_text source = {0};
    kw_kernel *kernel = NULL;
    kw_jit_result result = {0};
    kw_error err = {0};
    int64_t t0 = kw_clock_ns();
    bool good = !kw_jit_blob(&state->jit, config, &blob, &result, &err);
    int64_t t1 = kw_clock_ns();
    int64_t cpu = result.cpu_ns;
    kw_blob_drop(&blob);
    int64_t t2 = kw_clock_ns();
    good = good && !kw_source_make(&source, config, state->jit.code, &err);
    int64_t t3 = kw_clock_ns();
    good = good && !kw_jit_blob(&state->jit, config, &blob, &result, &err) && result.cached;
    int64_t t4 = kw_clock_ns();
    good = good && (!state->device || !state->backend->load(state->device, config, &blob, &kernel, &err));
    int64_t t5 = kw_clock_ns();
    if (good) {
        const double sample[5] = {(double)cpu, (double)(t1 - t0), (double)(t3 - t2), (double)(t5 - t3), (double)(t5 - t4)};
        take(&state->family, sample, (double)blob.size);
        take(&state->all, sample, (double)blob.size);
    } else {
        fprintf(stderr, "bench_jit: %s\n", err.text);
        state->family.failed++;
        state->all.failed++;
    }
    if (kernel) {
        state->backend->unload(state->device, &kernel);
    }
    kw_text_drop(&source);
    kw_blob_drop(&blob);
}

static bool alike(const kw_config *a, const kw_config *b) {
    return a->family == b->family && a->op == b->op && a->dtype == b->dtype;
}

static void measure_all(bench_state *state) {
    const kw_config *configs = state->catalog.configs;
    printf("| family | kernels | compile, CPU ms: median | 90 %% | most | wall | source, us | cache hit, us | of it mapping | KiB |\n");
    printf("|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t first = 0, end; first < state->catalog.count; first = end) {
        for (end = first; end < state->catalog.count && configs[end].family == configs[first].family;) {
            size_t group = end;
            while (end < state->catalog.count && alike(&configs[end], &configs[group])) {
                end++;
            }
            size_t step = (end - group + state->most - 1) / state->most;
            for (size_t i = group; i < end; i += step) {
                measure(state, &configs[i]);
            }
        }
        print_row(configs[first].family->name, &state->family);
        state->family = (figures){0};
    }
    print_row("all", &state->all);
}

static void nothing(const struct kw_kernel_args *args, long long begin, long long end, void *own) {
    (void)args;
    (void)begin;
    (void)end;
    (void)own;
}

static const kw_builtin *nothing_stages(const kw_config *config) {
    static const kw_builtin stages = {{nothing, nothing}};
    (void)config;
    return &stages;
}

/* The library's share of a call: a kernel of two stages that does nothing. */
static void measure_call(const bench_state *state) {
    static const kw_family family = {.name = "bench.nothing", .kind = KW_KIND_CPU, .builtin = nothing_stages};
    const kw_config config = {.family = &family};
    const kw_launch launch = {.stages = 2, .stage = {{.units = 1, .packs = true}, {.units = 1}}};
    kw_launch_memory memory = {0};
    kw_problem problem;
    kw_blob none = {0};
    kw_kernel *kernel = NULL;
    kw_bound *bound = NULL;
    double best = 1e9;
    if (kw_problem_parse(&problem, "gemm fp32 rcr m1 n1 k1", NULL) || state->backend->load(state->device, &config, &none, &kernel, NULL) ||
        state->backend->bind(state->device, kernel, &problem, &launch, &bound, NULL)) {
        fprintf(stderr, "bench_jit: no memory for the empty kernel\n");
        return;
    }
    for (int batch = 0; batch < 50; batch++) {
        int64_t start = kw_clock_ns();
        for (int i = 0; i < 10000; i++) {
            state->backend->run(bound, &memory, KW_RUN_REST, NULL, NULL);
        }
        double each = (double)(kw_clock_ns() - start) / 10000;
        best = each < best ? each : best;
    }
    printf("\nA call of a kernel that does nothing takes %.0f ns.\n", best);
    state->backend->unbind(&bound);
    state->backend->unload(state->device, &kernel);
}

static kw_status open_device(bench_state *state, kw_error *err) {
    int index;
    kw_status status = kw_backend_find(&state->backend, &index, "cpu", err);
    status = status ? status : state->backend->open(&state->device, 0, 1, err);
    state->target = status ? NULL : state->backend->target(state->device);
    return status;
}

static kw_status open_state(bench_state *state, kw_compiler *compiler, const char *cc, const char *folder, kw_error *err) {
    char note[256];
    kw_cache *cache = NULL;
    kw_code code = {0};
    kw_status status = state->arch ? kw_code_for(&code, state->arch->backend, state->arch->name, err) : open_device(state, err);
    state->target = state->arch ? &state->arch->typical : state->target;
    status = status ? status : kw_compiler_find(compiler, cc, code, err);
    status = status ? status : kw_cache_open(&cache, folder, note, err);
    if (!status && !cache) {
        status = KW_IO;
        fprintf(stderr, "bench_jit: %s\n", note);
    }
    state->jit = (kw_jit){.code = code, .compiler = compiler, .cache = cache};
    return status;
}

static void print_head(const bench_state *state, const kw_compiler *compiler, const char *set) {
    char brand[KW_BRAND_MAX];
    kw_cpu_brand(brand);
    printf("# What a kernel costs before it runs\n\n%s, %s %s, ", brand, compiler->kind, compiler->version);
    if (state->arch) {
        printf("kernels for %s, ", state->arch->name);
    }
    printf("set %s, at most %zu kernels of a family, op and dtype. ", set, state->most);
    if (!state->arch) {
        printf("The medians of all should be at most 100 ms of processor time a compile, 1000 us a hit and 200 ns a call.");
    }
    printf("\n\n");
}

int main(int count, char **words) {
    kw_space_options space = {.size = sizeof(kw_space_options), .set = "default"};
    kw_compiler compiler;
    kw_error err = {0};
    const char *cc = NULL;
    char folder[] = "/tmp/bench_jit.XXXXXX";
    bench_state *state = calloc(1, sizeof *state);
    if (!state || !mkdtemp(folder)) {
        fprintf(stderr, "bench_jit: no memory, or /tmp cannot be written\n");
        free(state);
        return 3;
    }
    state->most = 8;
    for (int i = 1; i + 1 < count; i += 2) {
        space.set = strcmp(words[i], "--set") ? space.set : words[i + 1];
        cc = strcmp(words[i], "--cc") ? cc : words[i + 1];
        state->most = strcmp(words[i], "--most") ? state->most : (size_t)strtoul(words[i + 1], NULL, 10);
        space.arch = strcmp(words[i], "--arch") ? space.arch : words[i + 1];
    }
    state->arch = space.arch ? kw_gpu_arch_find(space.arch) : NULL;
    kw_status status = state->most && !space.arch == !state->arch ? open_state(state, &compiler, cc, folder, &err) : KW_ILLEGAL;
    if (!status && !(status = kw_space_visit(&space, add_config, state, &err))) {
        print_head(state, &compiler, space.set);
        measure_all(state);
        if (state->device) {
            measure_call(state);
        }
    }
    if (status) {
        fprintf(stderr, "bench_jit: %s\n", *err.text ? err.text : "usage: bench_jit [--set SET] [--cc COMPILER] [--most N] [--arch NAME]");
    }
    if (state->jit.cache) {
        kw_cache_remove_all(state->jit.cache, NULL, NULL);
    }
    kw_cache_close(&state->jit.cache);
    kw_catalog_drop(&state->catalog);
    if (state->device) {
        state->backend->close(&state->device);
    }
    for (int i = 0; i < 256; i++) { /* the cache's emptied shards */
        char shard[sizeof folder + 4];
        snprintf(shard, sizeof shard, "%s/%02x", folder, (unsigned)i & 255);
        rmdir(shard);
    }
    rmdir(folder);
    free(state);
    return status ? 1 : 0;
}
