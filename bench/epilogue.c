/* epilogue.c: what an epilogue costs: a kernel with one beside the same kernel without.
 *
 *   bench_epilogue [--epilogue 'out=TYPE epilogue=STEPS'] [--kernels FILE] [--dtype T] [--try N] [--rounds N] [--cpu N] [--cache DIR] PROBLEM...
 *
 * For each problem, on one thread: the N (3) kernels of FILE that should be fastest by the estimate are built and timed, the fastest of them
 * is built with the epilogue too, and the two are run in turns, weights packed, each round's first in turn: a row has the least times of
 * both and their ratio. FILE has a config a line (kwright list). At the end the geometric mean. Kernels are verified before they are timed. */
#include "backend/backend.h"
#include "base/os/clock.h"
#include "config/catalog.h"
#include "config/config.h"
#include "measure/bench.h"
#include "predict/predict.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRIES_MAX = 16 };

typedef struct request {
    const char *epilogue, *kernels, *dtype, *cache;
    int tries, rounds, cpu;
} request;

typedef struct session {
    const request *request;
    const kw_backend *backend;
    kw_device *device;
    kw_compiler compiler;
    kw_jit jit;
    kw_catalog catalog;
    double log_sum;
    int count;
} session;

static int fail(const char *what, const kw_error *err) {
    fprintf(stderr, "bench_epilogue: %s: %s\n", what, err->text);
    return 1;
}

static kw_status read_kernels(session *s, const char *path, kw_error *err) {
    char line[KW_CONFIG_TEXT_MAX];
    FILE *file = fopen(path, "r");
    if (!file) {
        return kw_fail(err, KW_MISSING, "%s cannot be read", path);
    }
    while (fgets(line, sizeof line, file)) {
        kw_config config;
        line[strcspn(line, "\n")] = 0;
        if (!kw_config_parse(&config, line, NULL) && config.family->emit && !kw_config_runs(&config, s->backend->target(s->device), NULL)) {
            kw_catalog_add(&s->catalog, &config, NULL, NULL);
        }
    }
    fclose(file);
    return KW_OK;
}

/* A kernel on a bench of its own, ready to run with its weights packed. */
typedef struct runner {
    kw_config config;
    kw_kernel *kernel;
    kw_bench *bench;
    kw_prepared ready;
    double least;
} runner;

static kw_status open_runner(runner *r, session *s, const kw_problem *problem, kw_error *err) {
    kw_blob blob = {0};
    kw_jit_result result;
    kw_record record = {0};
    kw_status status = kw_jit_blob(&s->jit, &r->config, &blob, &result, err);
    status = status ? status : s->backend->load(s->device, &r->config, &blob, &r->kernel, err);
    status = status ? status : kw_bench_open(&r->bench, s->backend, s->device, problem, 0, err);
    status = status ? status : kw_bench_verify(r->bench, r->kernel, &r->config, &record, err);
    if (!status && record.outcome != KW_GOOD && record.outcome != KW_MISTRUSTED) {
        status = kw_fail(err, KW_FAILED, "%s: %s", kw_outcome_name(record.outcome), record.detail);
    }
    if (!status) {
        kw_prepared_open(&r->ready, r->bench, r->kernel, &r->config, false, &record);
        status = kw_prepared_run(&r->ready, KW_SET_REAL, KW_RUN_ALL, true, err);
    }
    kw_blob_drop(&blob);
    r->least = INFINITY;
    return status;
}

static void close_runner(runner *r, session *s) {
    if (r->bench) {
        kw_prepared_close(&r->ready);
        kw_bench_close(&r->bench);
    }
    if (r->kernel) {
        s->backend->unload(s->device, &r->kernel);
    }
}

static void time_once(runner *r) {
    kw_error err = {0};
    int64_t start = kw_clock_ns();
    kw_prepared_run(&r->ready, KW_SET_REAL, KW_RUN_REST, true, &err);
    double ns = (double)(kw_clock_ns() - start);
    r->least = ns < r->least ? ns : r->least;
}

/* The configs that should be fastest, best first. */
static int shortlist(const session *s, const kw_problem *problem, const kw_config *best[TRIES_MAX]) {
    double least[TRIES_MAX];
    int count = 0;
    const kw_target *target = s->backend->target(s->device);
    for (size_t i = 0; i < s->catalog.count; i++) {
        const kw_config *config = &s->catalog.configs[i];
        kw_launch launch = {0};
        kw_config special;
        if (kw_config_serves(&special, config, problem, target, NULL)) {
            continue;
        }
        config->family->launch(&special, problem, target, &launch);
        double ns = kw_predict_ns(&special, problem, target, &launch);
        int at = count < s->request->tries ? count++ : count;
        for (; at > 0 && least[at - 1] > ns; at--) {
            if (at < s->request->tries) {
                least[at] = least[at - 1];
                best[at] = best[at - 1];
            }
        }
        if (at < s->request->tries) {
            least[at] = ns;
            best[at] = config;
        }
    }
    return count;
}

static kw_status choose(session *s, const kw_problem *problem, kw_config *chosen, kw_error *err) {
    const kw_config *best[TRIES_MAX];
    int count = shortlist(s, problem, best);
    double least = INFINITY;
    kw_status status = count ? KW_OK : kw_fail(err, KW_NO_KERNEL, "no kernel of the list serves it");
    for (int i = 0; i < count && !status; i++) {
        runner r = {.config = kw_config_special(best[i], problem)};
        status = open_runner(&r, s, problem, err);
        for (int round = 0; round < s->request->rounds / 2 + 1 && !status; round++) {
            time_once(&r);
        }
        if (!status && r.least < least) {
            least = r.least;
            *chosen = r.config;
        }
        close_runner(&r, s);
    }
    return status;
}

static kw_status measure(session *s, const char *text, kw_error *err) {
    char words[2 * KW_PROBLEM_TEXT_MAX];
    kw_problem bare, fused;
    runner r[2] = {{.kernel = NULL}, {.kernel = NULL}};
    kw_status status = kw_problem_parse(&bare, text, err);
    bare.dtype = status || !s->request->dtype ? bare.dtype : !strcmp(s->request->dtype, "bf16") ? KW_BF16 : KW_FP32;
    if (!status) {
        kw_problem_print(words, KW_PROBLEM_TEXT_MAX, &bare);
        strcat(strcat(words, " "), s->request->epilogue);
        status = kw_problem_parse(&fused, words, err);
    }
    status = status ? status : choose(s, &bare, &r[0].config, err);
    kw_config plain = kw_config_plain(&r[0].config);
    status = status ? status : kw_config_serves(&r[1].config, &plain, &fused, s->backend->target(s->device), err);
    status = status ? status : open_runner(&r[0], s, &bare, err);
    status = status ? status : open_runner(&r[1], s, &fused, err);
    if (!status) {
        for (int round = 0; round < s->request->rounds; round++) {
            time_once(&r[round % 2]);
            time_once(&r[1 - round % 2]);
        }
        double ratio = r[1].least / r[0].least;
        s->log_sum += log(ratio);
        s->count++;
        kw_config_print(words, sizeof words, &r[0].config);
        printf("%9.1f %9.1f us %6.3f  %s | %s\n", r[0].least / 1e3, r[1].least / 1e3, ratio, text, words);
        fflush(stdout);
    }
    close_runner(&r[0], s);
    close_runner(&r[1], s);
    return status;
}

static int run(const request *q, char **problems, int count) {
    session s = {.request = q};
    kw_cache *cache = NULL;
    char note[256];
    int index;
    kw_error err = {0};
    if (kw_backend_find(&s.backend, &index, "cpu", &err) || s.backend->open(&s.device, index, 1, &err) ||
        kw_compiler_find(&s.compiler, getenv("KW_CC"), (kw_code){0}, &err) || kw_cache_open(&cache, q->cache, note, &err) ||
        read_kernels(&s, q->kernels, &err)) {
        return fail("cannot begin", &err);
    }
    s.jit = (kw_jit){.compiler = &s.compiler, .cache = cache, .log_folder = "/tmp"};
    for (int i = 0; i < count; i++) {
        if (measure(&s, problems[i], &err)) {
            fail(problems[i], &err);
        }
    }
    printf("geometric mean of %d: %.4f, with %s\n", s.count, exp(s.log_sum / s.count), q->epilogue);
    kw_catalog_drop(&s.catalog);
    kw_cache_close(&cache);
    s.backend->close(&s.device);
    return s.count == count ? 0 : 1;
}

int main(int argc, char **argv) {
    request q = {.epilogue = "epilogue=bias,gelu", .kernels = "kernels.txt", .cache = "build-kernels", .tries = 3, .rounds = 25, .cpu = -1};
    int first = 1;
    for (; first + 1 < argc && !strncmp(argv[first], "--", 2); first += 2) {
        const char *name = argv[first] + 2, *value = argv[first + 1];
        const struct {
            const char *name, **text;
            int *number;
        } options[] = {{"epilogue", &q.epilogue, NULL}, {"kernels", &q.kernels, NULL}, {"dtype", &q.dtype, NULL}, {"cache", &q.cache, NULL},
                       {"try", NULL, &q.tries},         {"rounds", NULL, &q.rounds},   {"cpu", NULL, &q.cpu}};
        for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
            if (!strcmp(options[i].name, name) && options[i].text) {
                *options[i].text = value;
            } else if (!strcmp(options[i].name, name)) {
                *options[i].number = atoi(value);
            }
        }
    }
    if (q.tries < 1 || q.tries > TRIES_MAX || q.rounds < 1 || first >= argc) {
        fprintf(stderr,
                "usage: bench_epilogue [--epilogue WORDS] [--kernels FILE] [--dtype T] [--try N] [--rounds N] [--cpu N] [--cache DIR] "
                "PROBLEM...\n");
        return 2;
    }
    if (q.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET((size_t)q.cpu, &set);
        sched_setaffinity(0, sizeof set, &set);
    }
    return run(&q, argv + first, argc - first);
}
