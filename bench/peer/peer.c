/* peer.c: the library beside its best peer on a CPU, problem by problem: bench/peer/cpu_vs_peer.py draws problems and makes tables of this.
 *
 *   bench_peer [--threads N] [--every] [--own]     problem texts on standard input, one a line
 *
 * Peers: oneDNN, and for fp32 products each library of KW_BLAS (sgemm_; names as the loader knows them, separated by colons). Ours: a plan
 * of the default mode that knows nothing of earlier runs; weights are packed beforehand on both sides (a BLAS has no way to). All are
 * called in turns by the timing loop of src/measure/timing/timing.c, warm caches, and their results compared.
 *
 * With --own the peer is our own plan of the same problem in fp32, and results are not compared.
 *
 * A line a problem, with tabs: problem, our ns, the best peer's ns, that peer and its kernel, our kernel, share of the roofline, the
 * largest difference of the results as a share of the largest, and with --every, which measures each kernel of ours that serves, the
 * time (all three in turns) and the name of the fastest, else 0 and nothing. A line that begins with # is a problem that has no such line, and why. */
#include "peer_dnnl.h"

#include "measure/data/fill.h"
#include "measure/timing/timing.h"
#include "problem/epilogue/epilogue.h"

#include <dlfcn.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLAS_MAX = 4, SUBJECTS_MAX = BLAS_MAX + 2, NAME_MAX_BYTES = 64 };

typedef void sgemm(const char *, const char *, const int *, const int *, const int *, const float *, const float *, const int *,
                   const float *, const int *, const float *, float *, const int *);

typedef struct session {
    kw_context *context;
    char blas_names[BLAS_MAX][NAME_MAX_BYTES];
    sgemm *blas[BLAS_MAX];
    int blas_count, threads;
    double peak[KW_DTYPE_COUNT], bandwidth; /* FLOP/s, bytes a second */
    int64_t cache;                          /* bytes of the last level */
    bool every, own;
} session;

typedef struct layer {
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
    void *extra[KW_EXTRA_MAX];
    void *result; /* the peers' */
    peer_dnnl *dnnl;
} layer;

typedef struct blas_call {
    const layer *l;
    sgemm *call;
} blas_call;

static void *room_for(const kw_problem *problem, kw_tensor tensor) {
    size_t size = (size_t)kw_problem_elements(problem, tensor) * kw_dtype_size(kw_problem_dtype(problem, tensor));
    void *memory = aligned_alloc(64, (size + 127) / 64 * 64);
    return memory ? memset(memory, 0, size) : NULL;
}

static void *filled(const kw_problem *problem, kw_tensor tensor) {
    kw_fill fill = kw_fill_real(problem, 1);
    void *memory = room_for(problem, tensor);
    if (memory && tensor != kw_problem_result(problem)) {
        kw_fill_tensor(&fill, problem, tensor, 0, kw_problem_elements(problem, tensor), memory);
    }
    return memory;
}

/* What the epilogue's steps read. */
static bool fill_extras(layer *l) {
    const kw_epilogue *epilogue = &l->problem.epilogue;
    kw_fill fill = kw_fill_real(&l->problem, 1);
    kw_extra extras[KW_EXTRA_MAX];
    kw_problem_extras(extras, &l->problem);
    for (int step = 0, i = 0; step < epilogue->count; step++) {
        if (kw_epilogue_step_has_tensor(&epilogue->step[step])) {
            size_t size = (size_t)extras[i].elements * kw_dtype_size(extras[i].dtype);
            if (!(l->extra[i] = aligned_alloc(64, (size + 127) / 64 * 64))) {
                return false;
            }
            kw_fill_extra(&fill, &l->problem, step, l->extra[i]);
            l->tensors.extra[i] = l->extra[i];
            i++;
        }
    }
    return true;
}

static void open_blas(session *s) {
    const char *names = getenv("KW_BLAS");
    char list[256];
    snprintf(list, sizeof list, "%s", names ? names : "libopenblas.so.0:libblis.so.4");
    for (char *rest = list, *name; (name = strtok_r(rest, ":", &rest)) && s->blas_count < BLAS_MAX;) {
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        sgemm *call = NULL;
        if (library) {
            *(void **)&call = dlsym(library, "sgemm_");
        }
        if (!call) {
            fprintf(stderr, "bench_peer: %s has no sgemm_; it is left out\n", name);
            continue;
        }
        snprintf(s->blas_names[s->blas_count], NAME_MAX_BYTES, "%s", name);
        s->blas[s->blas_count++] = call;
    }
}

/* Row-major products by a column-major routine: C' = B' A'. */
static kw_status call_blas(void *context, kw_error *err) {
    const blas_call *b = context;
    const kw_gemm_dims *g = &b->l->problem.gemm;
    kw_layout layout = b->l->problem.layout;
    bool a_column = layout == KW_CRR || layout == KW_CCR, b_column = layout == KW_RCR || layout == KW_CCR;
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    float one = 1, zero = 0;
    (void)err;
    for (int64_t i = 0; i < g->batch; i++) {
        b->call(b_column ? "T" : "N", a_column ? "T" : "N", &n, &m, &k, &one, (const float *)b->l->tensors.w + i * g->k * g->n,
                b_column ? &k : &n, (const float *)b->l->tensors.x + i * g->m * g->k, a_column ? &m : &k, &zero,
                (float *)b->l->result + i * g->m * g->n, &n);
    }
    return KW_OK;
}

static kw_status call_ours(void *context, kw_error *err) {
    const layer *l = context;
    return kw_plan_run(l->plan, &l->tensors, NULL, err);
}

/* What a plan that was made needs besides the tensors. */
static kw_status open_workspace(layer *l, kw_error *err) {
    int64_t bytes = kw_plan_workspace(l->plan);
    l->tensors.workspace = aligned_alloc(64, (size_t)(bytes + 127) / 64 * 64);
    if (!l->tensors.workspace) {
        return kw_fail(err, KW_NO_MEMORY, "no memory for the workspace");
    }
    return l->problem.op == KW_CONV_BWD_WEIGHT ? KW_OK : kw_plan_pack_weights(l->plan, l->tensors.w, err);
}

static kw_status open_layer(layer *l, const session *s, kw_error *err) {
    l->tensors.size = sizeof l->tensors;
    void **of[KW_TENSOR_COUNT] = {&l->tensors.x, &l->tensors.w, &l->tensors.y};
    for (kw_tensor t = KW_X; t < KW_TENSOR_COUNT; t++) {
        *of[t] = filled(&l->problem, t);
    }
    l->result = room_for(&l->problem, kw_problem_result(&l->problem));
    if (!l->tensors.x || !l->tensors.w || !l->tensors.y || !l->result || !fill_extras(l)) {
        return kw_fail(err, KW_NO_MEMORY, "no memory for the tensors");
    }
    kw_status status = kw_plan_create(&l->plan, s->context, &l->problem, NULL, err);
    return status ? status : open_workspace(l, err);
}

static void close_layer(layer *l) {
    peer_dnnl_close(&l->dnnl);
    kw_plan_destroy(&l->plan);
    free(l->tensors.x);
    free(l->tensors.w);
    free(l->tensors.y);
    free(l->tensors.workspace);
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        free(l->extra[i]);
    }
    free(l->result);
}

static double value_at(const void *memory, kw_dtype dtype, int64_t i) {
    if (dtype == KW_INT32) {
        return ((const int32_t *)memory)[i];
    }
    union {
        uint32_t bits;
        float value;
    } wide = {.bits = dtype == KW_BF16 ? (uint32_t)((const uint16_t *)memory)[i] << 16 : ((const uint32_t *)memory)[i]};
    return (double)wide.value;
}

/* The largest difference of the two results as a share of the largest value. */
static double difference(const layer *l) {
    kw_tensor result = kw_problem_result(&l->problem);
    kw_dtype dtype = kw_problem_dtype(&l->problem, result);
    const void *all[KW_TENSOR_COUNT] = {l->tensors.x, l->tensors.w, l->tensors.y};
    double most = 0, largest = 1e-30;
    for (int64_t i = 0; i < kw_problem_elements(&l->problem, result); i++) {
        double ours = value_at(all[result], dtype, i), theirs = value_at(l->result, dtype, i);
        most = fmax(most, isfinite(ours) ? fabs(ours - theirs) : INFINITY);
        largest = fmax(largest, fabs(theirs));
    }
    return most / largest;
}

/* The time that arithmetic or, beyond the caches, memory takes at least. */
static double roofline_ns(session *s, const kw_problem *problem) {
    double *peak = &s->peak[problem->dtype], bytes = (double)kw_problem_bytes(problem);
    if (!*peak) {
        *peak = kw_context_peak(s->context, problem->dtype);
    }
    double arithmetic = 1e9 * (double)kw_problem_flops(problem) / *peak;
    return bytes > (double)s->cache ? fmax(arithmetic, 1e9 * bytes / s->bandwidth) : arithmetic;
}

/* Opens what runs the fastest of all kernels that serve, on the layer's own tensors. */
static kw_status open_every(layer *every, const session *s, const layer *l, kw_error *err) {
    *every = (layer){.problem = l->problem, .tensors = l->tensors};
    every->tensors.workspace = NULL;
    kw_plan_options options = {.size = sizeof options, .mode = KW_EXHAUSTIVE, .remeasure = true};
    kw_status status = kw_plan_create(&every->plan, s->context, &l->problem, &options, err);
    return status ? status : open_workspace(every, err);
}

static void close_every(layer *every) {
    kw_plan_destroy(&every->plan);
    free(every->tensors.workspace);
}

/* The same problem in fp32. */
static kw_status open_own(layer *own, const layer *l, const session *s, kw_error *err) {
    own->problem = l->problem;
    own->problem.dtype = KW_FP32;
    return open_layer(own, s, err);
}

/* Ours, the peer and the fastest of every kernel in turns: beside the peer's calls a kernel finds other data in the caches than beside
 * kernels of ours, so that only times of the same turns say whether another one would have been faster. */
static kw_status compare_every(const session *s, const layer *l, layer *every, const kw_subject *peer, kw_timed times[3], kw_error *err) {
    kw_status status = open_every(every, s, l, err);
    kw_subject subjects[3] = {{.call = call_ours, .context = (void *)l}, *peer, {.call = call_ours, .context = every}};
    status = status ? status : kw_time_subjects(subjects, 3, &(kw_timing_options){0}, s->threads, times, err);
    return status ? status : kw_plan_run(l->plan, &l->tensors, NULL, err); /* the result that is compared is ours */
}

static kw_status compare(session *s, layer *l, layer *own, layer *every, kw_error *err) {
    kw_subject subjects[SUBJECTS_MAX] = {{.call = call_ours, .context = l}};
    blas_call blas[BLAS_MAX];
    const char *names[SUBJECTS_MAX] = {"ours"};
    kw_timed times[SUBJECTS_MAX];
    size_t count = 1;
    kw_error none = {0};
    kw_status status = open_layer(l, s, err);
    if (status) {
        return status;
    }
    if (s->own) {
        status = open_own(own, l, s, err);
        if (status) {
            return status;
        }
        names[count] = "ours";
        subjects[count++] = (kw_subject){.call = call_ours, .context = own};
    } else if (!peer_dnnl_open(&l->dnnl, &l->problem, &l->tensors, l->result, &none)) {
        names[count] = "oneDNN";
        subjects[count++] = (kw_subject){.call = peer_dnnl_call, .context = l->dnnl};
    }
    for (int i = 0; i < s->blas_count && l->problem.op == KW_GEMM && l->problem.dtype == KW_FP32 && !l->problem.epilogue.count && !s->own;
         i++) {
        blas[i] = (blas_call){l, s->blas[i]};
        names[count] = s->blas_names[i];
        subjects[count++] = (kw_subject){.call = call_blas, .context = &blas[i]};
    }
    if (count == 1) {
        return kw_fail(err, KW_ENVIRONMENT, "no peer: %s", none.text);
    }
    status = kw_time_subjects(subjects, count, &(kw_timing_options){0}, s->threads, times, err);
    size_t best = 1;
    for (size_t i = 2; i < count && !status; i++) {
        best = times[i].time_ns < times[best].time_ns ? i : best;
    }
    status = status || !s->every ? status : compare_every(s, l, every, &subjects[best], times, err);
    status = status || !l->dnnl ? status : peer_dnnl_finish(l->dnnl, err);
    if (status) {
        return status;
    }
    const kw_timed *theirs = &times[s->every ? 1 : best];
    char text[KW_PROBLEM_TEXT_MAX];
    kw_problem_print(text, sizeof text, &l->problem);
    printf("%s\t%.0f\t%.0f\t%s %s\t%s\t%.3f\t%.2g\t%.0f\t%s\n", text, times[0].time_ns, theirs->time_ns, names[best],
           own->plan              ? kw_plan_config(own->plan)
           : l->dnnl && best == 1 ? peer_dnnl_kernel(l->dnnl)
                                  : "",
           kw_plan_config(l->plan), roofline_ns(s, &l->problem) / times[0].time_ns, own->plan ? 0 : difference(l),
           s->every ? times[2].time_ns : 0, s->every ? kw_plan_config(every->plan) : "");
    return KW_OK;
}

static int64_t last_cache(const char *target) {
    static const char *const facts[] = {" l3=", " l2="};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        const char *at = strstr(target, facts[i]);
        int64_t bytes = at ? strtoll(at + strlen(facts[i]), NULL, 10) : 0;
        if (bytes) {
            return bytes;
        }
    }
    return 0;
}

int main(int count, char **words) {
    session s = {.threads = 1};
    kw_error err = {0};
    for (int i = 1; i < count; i++) {
        s.every = s.every || !strcmp(words[i], "--every");
        s.own = s.own || !strcmp(words[i], "--own");
        if (!strcmp(words[i], "--threads") && i + 1 < count) {
            s.threads = atoi(words[++i]);
        }
    }
    omp_set_num_threads(s.threads);
    if (kw_context_open(&s.context, "cpu",
                        &(kw_context_options){.size = sizeof(kw_context_options), .threads = s.threads, .wisdom_file = ""}, &err)) {
        fprintf(stderr, "bench_peer: %s\n", err.text);
        return 1;
    }
    open_blas(&s);
    s.bandwidth = kw_context_bandwidth(s.context);
    s.cache = last_cache(kw_context_target(s.context));
    printf("# %s", peer_dnnl_version());
    for (int i = 0; i < s.blas_count; i++) {
        printf(", %s", s.blas_names[i]);
    }
    printf("; %s\n", kw_context_target(s.context));
    fflush(stdout);
    for (char line[KW_PROBLEM_TEXT_MAX]; fgets(line, sizeof line, stdin);) {
        layer l = {0}, own = {0}, every = {0};
        line[strcspn(line, "\n")] = 0;
        kw_status status = kw_problem_parse(&l.problem, line, &err);
        if ((status ? status : compare(&s, &l, &own, &every, &err))) {
            printf("# %s: %s\n", line, err.text);
        }
        fflush(stdout);
        close_layer(&l);
        close_every(&every);
        close_layer(&own);
    }
    kw_context_close(&s.context);
    return 0;
}
