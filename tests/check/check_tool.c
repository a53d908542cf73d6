/* check_tool.c: one kernel on one problem, without the library's registry, wisdom and cache: for people who write kernels.
 *
 *   check_tool 'CONFIG' 'PROBLEM' [--time] [--threads N] [--vs 'CONFIG2'] [--unpacked] [--seed N]
 *   check_tool --source 'CONFIG'
 *
 * It generates, compiles, loads and verifies the kernel, and with --time times it on real data (weights packed beforehand, unless
 * --unpacked). --vs times a second kernel interleaved with the first. Exit: 0 right, 1 wrong, 2 a bad request, 3 a broken environment. */
#include "backend/backend.h"
#include "measure/measure.h"
#include "predict/predict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct request {
    const char *configs[2], *problem;
    size_t count;
    bool source, time, unpacked;
    int threads;
    uint64_t seed;
} request;

/* A config on its way to a record. */
typedef struct subject {
    kw_config config;
    kw_kernel *kernel;
    kw_record record;
    kw_jit_result compiled;
    double estimate_ns;
} subject;

typedef struct session {
    const kw_backend *backend;
    kw_device *device;
    kw_compiler compiler;
    kw_bench *bench;
    subject subjects[2];
} session;

static int usage(void) {
    fprintf(stderr, "usage: check_tool 'CONFIG' 'PROBLEM' [--time] [--threads N] [--vs 'CONFIG2'] [--unpacked] [--seed N]\n"
                    "       check_tool --source 'CONFIG'\n");
    return 2;
}

static int fail(kw_status status, const kw_error *err) {
    fprintf(stderr, "check_tool: %s\n", err->text);
    return status == KW_ENVIRONMENT || status == KW_NO_MEMORY ? 3 : status == KW_FAILED ? 1 : 2;
}

static bool read_request(request *r, int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--time")) {
            r->time = true;
        } else if (!strcmp(argv[i], "--unpacked")) {
            r->unpacked = true;
        } else if (!strcmp(argv[i], "--source")) {
            r->source = true;
        } else if (!strcmp(argv[i], "--threads") && next) {
            r->threads = atoi(argv[++i]);
        } else if (!strcmp(argv[i], "--seed") && next) {
            r->seed = strtoull(argv[++i], NULL, 10);
        } else if (!strcmp(argv[i], "--vs") && next && r->count == 1) {
            r->configs[r->count++] = argv[++i];
            r->time = true;
        } else if (argv[i][0] == '-') {
            return false;
        } else if (!r->count) {
            r->configs[r->count++] = argv[i];
        } else if (!r->problem) {
            r->problem = argv[i];
        } else {
            return false;
        }
    }
    return r->count && (r->source ? !r->problem : r->problem != NULL);
}

static int print_source(const char *text) {
    kw_error err = {0};
    kw_config config;
    kw_text source = {0};
    kw_status status = kw_config_parse(&config, text, &err);
    status = status ? status : kw_source_make(&source, &config, (kw_code){0}, &err);
    if (!status) {
        fputs(kw_text_string(&source), stdout);
    }
    kw_text_drop(&source);
    return status ? fail(status, &err) : 0;
}

static kw_status load(session *s, subject *one, const kw_problem *problem, kw_error *err) {
    kw_jit jit = {.compiler = &s->compiler, .log_folder = "/tmp"};
    kw_blob blob = {0};
    const kw_target *target = s->backend->target(s->device);
    kw_status status = kw_config_fits(&one->config, problem, target, err);
    if (!status && !one->config.family->builtin) {
        if (!s->compiler.path[0]) {
            status = kw_compiler_find(&s->compiler, getenv("KW_CC"), (kw_code){0}, err);
        }
        status = status ? status : kw_jit_blob(&jit, &one->config, &blob, &one->compiled, err);
    }
    status = status ? status : s->backend->load(s->device, &one->config, &blob, &one->kernel, err);
    kw_blob_drop(&blob);
    if (!status) {
        kw_launch launch = {0};
        one->config.family->launch(&one->config, problem, target, &launch);
        one->estimate_ns = kw_predict_ns(&one->config, problem, target, &launch);
    }
    return status;
}

static kw_status time_all(session *s, const request *r, kw_error *err) {
    const kw_kernel *kernels[2] = {s->subjects[0].kernel, s->subjects[1].kernel};
    const kw_config *configs[2] = {&s->subjects[0].config, &s->subjects[1].config};
    kw_record records[2] = {s->subjects[0].record, s->subjects[1].record};
    kw_timing_options options = {.pack_weights = !r->unpacked};
    kw_status status = kw_bench_time(s->bench, kernels, configs, r->count, &options, records, err);
    for (size_t i = 0; i < r->count; i++) {
        s->subjects[i].record = records[i];
    }
    return status;
}

static int report(const session *s, const request *r, const kw_problem *problem) {
    int result = 0;
    for (size_t i = 0; i < r->count; i++) {
        const kw_record *record = &s->subjects[i].record;
        printf("%s: %s", record->config, kw_outcome_name(record->outcome));
        if (record->detail[0]) {
            printf(": %s", record->detail);
        }
        printf("\n  compile %.0f ms of CPU, workspace %lld bytes", (double)s->subjects[i].compiled.cpu_ns / 1e6,
               (long long)record->workspace);
        if (r->time && record->samples) {
            printf("; %.3f us +- %.3f (%d samples), %.1f GFLOP/s, estimate %.3f us", record->time_ns / 1e3, record->spread_ns / 1e3,
                   record->samples, (double)kw_problem_flops(problem) / record->time_ns, s->subjects[i].estimate_ns / 1e3);
        }
        printf("\n");
        result |= record->outcome != KW_GOOD;
    }
    if (r->count == 2 && s->subjects[0].record.samples && s->subjects[1].record.samples) {
        printf("the first takes %.3f of the second's time\n", s->subjects[0].record.time_ns / s->subjects[1].record.time_ns);
    }
    return result;
}

static kw_status run(session *s, const request *r, kw_problem *problem, kw_error *err) {
    int index = 0;
    kw_status status = kw_problem_parse(problem, r->problem, err);
    status = status ? status : kw_backend_find(&s->backend, &index, "cpu", err);
    status = status ? status : s->backend->open(&s->device, index, r->threads, err);
    for (size_t i = 0; i < r->count && !status; i++) {
        status = kw_config_parse(&s->subjects[i].config, r->configs[i], err);
        status = status ? status : load(s, &s->subjects[i], problem, err);
    }
    status = status ? status : kw_bench_open(&s->bench, s->backend, s->device, problem, r->seed, err);
    bool good = true;
    for (size_t i = 0; i < r->count && !status; i++) {
        status = kw_bench_verify(s->bench, s->subjects[i].kernel, &s->subjects[i].config, &s->subjects[i].record, err);
        good = good && s->subjects[i].record.outcome == KW_GOOD;
    }
    return status || !good || !r->time ? status : time_all(s, r, err);
}

int main(int argc, char **argv) {
    request r = {.threads = 1};
    if (!read_request(&r, argc, argv)) {
        return usage();
    }
    if (r.source) {
        return print_source(r.configs[0]);
    }
    session s = {0};
    kw_problem problem;
    kw_error err = {0};
    kw_status status = run(&s, &r, &problem, &err);
    int result = status ? fail(status, &err) : report(&s, &r, &problem);
    kw_bench_close(&s.bench);
    for (size_t i = 0; i < 2; i++) {
        if (s.subjects[i].kernel) {
            s.backend->unload(s.device, &s.subjects[i].kernel);
        }
    }
    if (s.device) {
        s.backend->close(&s.device);
    }
    return result;
}
