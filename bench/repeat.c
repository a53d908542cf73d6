/* repeat.c: how well do times repeat?
 *
 *   bench_repeat [--mode hot|busy|cold|cold-busy] [--pairs N] [--batches N] [--cpu N] [--cache DIR] [--table]
 *
 * Takes N (50) pairs of a kernel of set "default" and a problem, fp32 and bf16, spread over a list of problems that all families have a
 * part in. Two processes, one after the other, each verify and time all of them on one core, with a control kernel and in random orders
 * that differ; the ratio of a pair's two times should be 1. In the modes with "busy" a busy loop runs on the same core all the while.
 * Kernels come from the cache DIR (build-kernels) or are compiled before anything is timed. Prints Markdown: a line for each mode (all,
 * unless one is asked for), with --table one for each pair as well.
 *
 * The parent starts itself twice with --one SEED (and --busy, --cold), which prints a line "INDEX TIME_NS SAMPLES DROPPED CONFIG on PROBLEM" for each pair. */
#include "backend/backend.h"
#include "config/catalog.h"
#include "measure/measure.h"

#include <kernelwright_tune.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAIRS_MAX = 400, LINE = 1024 };

static const char *const problems[] = {
    "conv_fwd %s nhwgc n1 c64 k64 i56x56 f3x3 p1x1",
    "conv_bwd_data %s nhwgc n1 c128 k128 i28x28 f3x3 p1x1",
    "conv_bwd_weight %s nhwgc n2 c64 k64 i28x28 f3x3 p1x1",
    "gemm %s rcr m256 n256 k256",
    "conv_fwd %s nhwgc n1 c256 k64 i56x56 f1x1",
    "conv_fwd %s nhwgc n1 c3 k64 i112x112 f7x7 s2x2 p3x3",
    "conv_fwd %s nhwgc n1 g96 c96 k96 i56x56 f3x3 p1x1",
    "conv_fwd %s nhwgc n1 g32 c128 k128 i28x28 f3x3 p1x1",
    "conv_bwd_weight %s nhwgc n1 g96 c96 k96 i28x28 f3x3 p1x1",
    "conv_bwd_weight %s nhwgc n1 g32 c128 k128 i28x28 f3x3 p1x1",
};
enum { PROBLEMS = sizeof problems / sizeof *problems };
static const char *const dtypes[] = {"fp32", "bf16"};
static const char control_problem[] = "gemm fp32 rcr m96 n96 k96";

typedef struct request {
    int pairs, batches, cpu;
    bool busy, cold, table;
    const char *mode; /* NULL: all */
    uint64_t one;     /* the seed of a child; 0: the parent */
    const char *cache, *program;
} request;

/* --- the child ------------------------------------------------------------------------------------------------------- */

typedef struct session {
    const request *request;
    const kw_backend *backend;
    kw_device *device;
    kw_compiler compiler;
    kw_jit jit;
    kw_catalog catalog;
    kw_control control;
    kw_kernel *control_kernel;
    int shown;
} session;

/* Kernels that are timed together: those of one problem. */
typedef struct group {
    kw_problem problem;
    const kw_config *configs[PAIRS_MAX];
    kw_kernel *kernels[PAIRS_MAX];
    size_t count;
} group;

static bool add_config(void *user, const char *text) {
    session *s = user;
    kw_config config;
    if (!kw_config_parse(&config, text, NULL) && !kw_config_runs(&config, s->backend->target(s->device), NULL)) {
        kw_catalog_add(&s->catalog, &config, NULL, NULL);
    }
    return true;
}

static kw_status load(session *s, const kw_config *config, kw_kernel **kernel, kw_error *err) {
    kw_blob blob = {0};
    kw_jit_result result;
    kw_status status = config->family->emit ? kw_jit_blob(&s->jit, config, &blob, &result, err) : KW_OK;
    status = status ? status : s->backend->load(s->device, config, &blob, kernel, err);
    kw_blob_drop(&blob);
    return status;
}

/* wanted of the configs that serve the problem, evenly spread over them. */
static kw_status choose(session *s, group *g, size_t wanted, kw_error *err) {
    const kw_target *target = s->backend->target(s->device);
    size_t fit = 0, seen = 0;
    for (size_t i = 0; i < s->catalog.count; i++) {
        fit += !kw_config_fits(&s->catalog.configs[i], &g->problem, target, NULL);
    }
    wanted = wanted < fit ? wanted : fit;
    for (size_t i = 0; i < s->catalog.count && g->count < wanted; i++) {
        const kw_config *config = &s->catalog.configs[i];
        if (kw_config_fits(config, &g->problem, target, NULL) || seen++ != g->count * fit / wanted) {
            continue;
        }
        g->configs[g->count] = config;
        kw_status status = load(s, config, &g->kernels[g->count++], err);
        if (status) {
            return status;
        }
    }
    return KW_OK;
}

static kw_status open_control(session *s, kw_error *err) {
    group g = {0};
    kw_status status = kw_problem_parse(&g.problem, control_problem, err);
    status = status ? status : choose(s, &g, 1, err);
    if (!status && !g.count) {
        return kw_fail(err, KW_NO_KERNEL, "no kernel for the control");
    }
    kw_record record;
    s->control = (kw_control){.kernel = g.kernels[0], .config = g.configs[0]};
    s->control_kernel = g.kernels[0];
    status = status ? status : kw_bench_open(&s->control.bench, s->backend, s->device, &g.problem, 0, err);
    status = status ? status : kw_bench_verify(s->control.bench, g.kernels[0], g.configs[0], &record, err);
    return status ? status : record.outcome == KW_GOOD ? KW_OK : kw_fail(err, KW_FAILED, "the control is wrong");
}

static kw_status time_group(session *s, const group *g, kw_error *err) {
    kw_bench *bench = NULL;
    kw_record records[PAIRS_MAX];
    char text[KW_PROBLEM_TEXT_MAX];
    kw_status status = kw_bench_open(&bench, s->backend, s->device, &g->problem, 0, err);
    for (size_t i = 0; i < g->count && !status; i++) {
        status = kw_bench_verify(bench, g->kernels[i], g->configs[i], &records[i], err);
    }
    kw_timing_options options = {.pack_weights = true,
                                 .cold = s->request->cold,
                                 .batches = s->request->batches,
                                 .order_seed = s->request->one,
                                 .control = &s->control};
    status = status ? status : kw_bench_time(bench, (const kw_kernel *const *)g->kernels, g->configs, g->count, &options, records, err);
    kw_problem_print(text, sizeof text, &g->problem);
    for (size_t i = 0; i < g->count && !status; i++) {
        printf("%d %.3f %d %d %s on %s\n", s->shown++, records[i].outcome == KW_GOOD ? records[i].time_ns : 0, records[i].samples,
               records[i].dropped, records[i].config, text);
    }
    kw_bench_close(&bench);
    return status;
}

static pid_t start_busy_loop(void) {
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (volatile unsigned i = 0;; i++) {
        }
    }
    return child;
}

/* All kernels are loaded before the first is timed. */
static kw_status measure(session *s, group groups[], kw_error *err) {
    size_t total = PROBLEMS * 2, pairs = (size_t)s->request->pairs;
    kw_status status = open_control(s, err);
    for (size_t i = 0; i < total && !status; i++) {
        char text[KW_PROBLEM_TEXT_MAX];
        snprintf(text, sizeof text, problems[i / 2], dtypes[i % 2]);
        status = kw_problem_parse(&groups[i].problem, text, err);
        status = status ? status : choose(s, &groups[i], pairs * (i + 1) / total - pairs * i / total, err);
    }
    pid_t busy = s->request->busy && !status ? start_busy_loop() : 0;
    for (size_t i = 0; i < total && !status; i++) {
        status = time_group(s, &groups[i], err);
    }
    if (busy > 0) {
        kill(busy, SIGKILL);
        waitpid(busy, NULL, 0);
    }
    if (!status) {
        printf("%d %.3f %d %d control, drift %.4f\n", s->shown, s->control.record.time_ns, s->control.record.samples,
               s->control.record.dropped, s->control.drift);
    }
    return status;
}

static void close_session(session *s, group *groups) {
    for (size_t i = 0; i < PROBLEMS * 2 && groups; i++) {
        for (size_t j = 0; j < groups[i].count; j++) {
            s->backend->unload(s->device, &groups[i].kernels[j]);
        }
    }
    free(groups);
    kw_bench_close(&s->control.bench);
    if (s->control_kernel) {
        s->backend->unload(s->device, &s->control_kernel);
    }
    if (s->device) {
        s->backend->close(&s->device);
    }
    kw_cache_close(&s->jit.cache);
    kw_catalog_drop(&s->catalog);
}

static int run_one(const request *r) {
    session s = {.request = r};
    kw_error err = {0};
    char note[256];
    int index;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)r->cpu, &set);
    group *groups = calloc(PROBLEMS * 2, sizeof *groups);
    kw_status status = groups ? KW_OK : kw_fail_memory(&err, "the pairs");
    if (!status && sched_setaffinity(0, sizeof set, &set)) {
        status = kw_fail(&err, KW_ENVIRONMENT, "core %d cannot be had", r->cpu);
    }
    status = status ? status : kw_compiler_find(&s.compiler, NULL, (kw_code){0}, &err);
    status = status ? status : kw_cache_open(&s.jit.cache, r->cache, note, &err);
    s.jit.compiler = &s.compiler;
    status = status ? status : kw_backend_find(&s.backend, &index, "cpu", &err);
    status = status ? status : s.backend->open(&s.device, 0, 1, &err);
    status =
        status ? status : kw_space_visit(&(kw_space_options){.size = sizeof(kw_space_options), .set = "default"}, add_config, &s, &err);
    status = status ? status : measure(&s, groups, &err);
    if (status) {
        fprintf(stderr, "bench_repeat: %s\n", err.text);
    }
    close_session(&s, groups);
    return status ? 1 : 0;
}

/* --- the parent ------------------------------------------------------------------------------------------------------ */

typedef struct run {
    double time_ns[PAIRS_MAX + 1]; /* the control is the last */
    int samples[PAIRS_MAX + 1], dropped[PAIRS_MAX + 1];
    char what[PAIRS_MAX + 1][LINE];
    int count;
} run;

static bool run_child(run *result, const request *r, int seed) {
    char command[4096], line[LINE];
    snprintf(command, sizeof command, "'%s' --one %d --pairs %d --batches %d --cpu %d --cache '%s'%s%s", r->program, seed, r->pairs,
             r->batches, r->cpu, r->cache, r->busy ? " --busy" : "", r->cold ? " --cold" : "");
    FILE *pipe = popen(command, "r");
    if (!pipe) {
        return false;
    }
    while (fgets(line, sizeof line, pipe) && result->count <= PAIRS_MAX) {
        int index, at = 0, i = result->count;
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "%d %lf %d %d %n", &index, &result->time_ns[i], &result->samples[i], &result->dropped[i], &at) >= 4 && at) {
            snprintf(result->what[i], LINE, "%s", line + at);
            result->count++;
        }
    }
    return !pclose(pipe) && result->count > 1;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_table(const run *a, const run *b) {
    printf("\n| us | again | ratio | batches kept | dropped | kernel and problem |\n|---|---|---|---|---|---|\n");
    for (int i = 0; i < a->count; i++) {
        printf("| %.2f | %.2f | %.4f | %d, %d | %d, %d | %s |\n", a->time_ns[i] / 1e3, b->time_ns[i] / 1e3, b->time_ns[i] / a->time_ns[i],
               a->samples[i], b->samples[i], a->dropped[i], b->dropped[i], a->what[i]);
    }
}

/* Two processes; a line of the summary. */
static bool compare_runs(const request *r, const char *mode, run runs[2]) {
    double off[PAIRS_MAX];
    size_t kept = 0;
    runs[0] = runs[1] = (run){.count = 0};
    if (!run_child(&runs[0], r, 1) || !run_child(&runs[1], r, 2) || runs[0].count != runs[1].count) {
        return false;
    }
    for (int i = 0; i + 1 < runs[0].count; i++) {
        if (runs[0].time_ns[i] > 0 && runs[1].time_ns[i] > 0) {
            off[kept++] = fabs(runs[1].time_ns[i] / runs[0].time_ns[i] - 1);
        }
    }
    if (!kept) {
        return false;
    }
    qsort(off, kept, sizeof *off, compare);
    printf("| %s | %zu | %.2f %% | %.2f %% | %.2f %% | %.2f %% |\n", mode, kept, 50 * (off[(kept - 1) / 2] + off[kept / 2]),
           100 * off[(kept - 1) * 9 / 10], 100 * off[kept - 1],
           100 * (runs[1].time_ns[runs[1].count - 1] / runs[0].time_ns[runs[0].count - 1] - 1));
    fflush(stdout);
    if (r->table) {
        print_table(&runs[0], &runs[1]);
    }
    return true;
}

static bool compare_all(request *r) {
    static const struct {
        const char *name;
        bool busy, cold;
    } modes[] = {{"hot", false, false}, {"busy", true, false}, {"cold", false, true}, {"cold-busy", true, true}};
    char brand[KW_BRAND_MAX];
    bool good = true;
    run *runs = calloc(2, sizeof *runs);
    kw_cpu_brand(brand);
    printf("# How well times repeat\n\n%s. The same pairs of a kernel and a problem, timed in two processes on one core; the share by "
           "which the "
           "two times of a pair are apart. docs/measuring/measuring.md has the method; the median should be below 2 %%.\n\n"
           "| mode | pairs | median | 90 %% below | largest | control |\n|---|---|---|---|---|---|\n",
           brand);
    for (size_t i = 0; i < sizeof modes / sizeof *modes && good; i++) {
        if (!r->mode || !strcmp(r->mode, modes[i].name)) {
            r->busy = modes[i].busy;
            r->cold = modes[i].cold;
            good = runs && compare_runs(r, modes[i].name, runs);
        }
    }
    free(runs);
    return good;
}

static bool read_request(request *r, int count, char **words) {
    for (int i = 1; i < count; i++) {
        const char *next = i + 1 < count ? words[i + 1] : NULL;
        int *number = !strcmp(words[i], "--pairs")     ? &r->pairs
                      : !strcmp(words[i], "--batches") ? &r->batches
                      : !strcmp(words[i], "--cpu")     ? &r->cpu
                                                       : NULL;
        if (number && next) {
            *number = atoi(words[++i]);
        } else if (!strcmp(words[i], "--one") && next) {
            r->one = strtoull(words[++i], NULL, 10);
        } else if (!strcmp(words[i], "--cache") && next) {
            r->cache = words[++i];
        } else if (!strcmp(words[i], "--mode") && next) {
            r->mode = words[++i];
        } else if (!strcmp(words[i], "--busy")) {
            r->busy = true;
        } else if (!strcmp(words[i], "--cold")) {
            r->cold = true;
        } else if (!strcmp(words[i], "--table")) {
            r->table = true;
        } else {
            return false;
        }
    }
    return r->pairs > 0 && r->pairs <= PAIRS_MAX && r->cpu >= 0 && r->cpu < CPU_SETSIZE;
}

int main(int count, char **words) {
    request r = {.pairs = 50, .cache = "build-kernels", .program = words[0]};
    if (!read_request(&r, count, words)) {
        fprintf(stderr,
                "usage: bench_repeat [--mode hot|busy|cold|cold-busy] [--pairs N] [--batches N] [--cpu N] [--cache DIR] [--table]\n");
        return 2;
    }
    return r.one ? run_one(&r) : compare_all(&r) ? 0 : 1;
}
