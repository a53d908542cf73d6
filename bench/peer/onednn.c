/* onednn.c: our plans against oneDNN's primitives, layer by layer, forward, one thread.
 *
 *   bench_onednn [LIST] [--dtype fp32|bf16|int8]... [--only TEXT] [--mode predict|shortlist|exhaustive] [--kernels FILE]
 *                [--layout last|first]
 *
 * LIST is a problem list (a set's name or a file; demo). FILE is a catalog, in place of the default kernels. Both sides: source and
 * destination channels-last (a GEMM as its layout says), weights in an order of the library's own choice made beforehand, warm caches,
 * real data, one run. The two are called in turns by the timing loop of src/measure/timing/timing.c; the figure is the ratio of lower
 * quartiles, above 1 where we are faster. Prints Markdown. With --layout
 * first convolutions have their channels first on both sides, and our own channels-last plan runs in the same turns. */
#include "measure/data/fill.h"
#include "measure/timing/timing.h"

#include <dnnl.h>
#include <kernelwright_tune.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 7, DTYPES_MOST = 2 };
static const char *const class_names[CLASSES] = {"dense", "pointwise", "depthwise", "grouped", "first", "3D", "gemm"};

typedef struct session {
    kw_context *context;
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    kw_dtype dtypes[DTYPES_MOST];
    size_t dtype_count;
    const char *only, *kernels;
    kw_registry *registry; /* NULL: the default one */
    kw_mode mode;
    bool first;
    double last_sum[DTYPES_MOST][CLASSES]; /* logarithms of the speed over our own channels last */
    double log_sum[DTYPES_MOST][CLASSES];
    int count[DTYPES_MOST][CLASSES];
} session;

/* One layer on both sides. */
typedef struct layer {
    kw_problem problem;
    kw_plan *plan;
    kw_tensors tensors;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[3];
    dnnl_exec_arg_t arguments[3];
    dnnl_stream_t stream;
} layer;

static int problem_class(const kw_problem *problem) {
    const kw_conv_dims *conv = &problem->conv;
    if (problem->op == KW_GEMM) {
        return 6;
    }
    if (problem->ndim == 3) {
        return 5;
    }
    if (conv->g > 1) {
        return conv->g == conv->c && conv->g == conv->k ? 2 : 3;
    }
    if (conv->filter[1] == 1 && conv->filter[2] == 1) {
        return 1;
    }
    return conv->c <= 4 ? 4 : 0;
}

/* --- our side --- */

static void *aligned(size_t size) {
    void *memory = aligned_alloc(64, (size + 127) / 64 * 64);
    if (memory) {
        memset(memory, 0, (size + 127) / 64 * 64);
    }
    return memory;
}

static void *filled(const kw_problem *problem, kw_tensor tensor) {
    kw_fill fill = kw_fill_real(problem, 1);
    void *memory = aligned((size_t)kw_problem_elements(problem, tensor) * kw_dtype_size(kw_problem_dtype(problem, tensor)));
    if (memory) {
        kw_fill_tensor(&fill, problem, tensor, 0, kw_problem_elements(problem, tensor), memory);
    }
    return memory;
}

static kw_status open_ours(layer *l, session *s, kw_error *err) {
    kw_status status = kw_plan_create(&l->plan, s->context, &l->problem,
                                      &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = s->mode, .registry = s->registry}, err);
    l->tensors.size = sizeof l->tensors;
    l->tensors.x = filled(&l->problem, KW_X);
    l->tensors.w = filled(&l->problem, KW_W);
    l->tensors.y = aligned((size_t)kw_problem_elements(&l->problem, KW_Y) * 4);
    status = status ? status : kw_plan_pack_weights(l->plan, l->tensors.w, err);
    if (!status) {
        l->tensors.workspace = aligned((size_t)kw_plan_workspace(l->plan));
    }
    return status;
}

static kw_status call_ours(void *context, kw_error *err) {
    const layer *l = context;
    return kw_plan_run(l->plan, &l->tensors, NULL, err);
}

/* --- oneDNN's side --- */

static dnnl_data_type_t data_type(kw_dtype dtype) {
    static const dnnl_data_type_t types[KW_DTYPE_COUNT] = {
        [KW_FP32] = dnnl_f32, [KW_BF16] = dnnl_bf16, [KW_INT8] = dnnl_s8, [KW_INT32] = dnnl_s32};
    return types[dtype];
}

static dnnl_status_t describe_conv(layer *l, const session *s) {
    static const dnnl_format_tag_t last[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc}, first[] = {dnnl_ncw, dnnl_nchw, dnnl_ncdhw};
    const dnnl_format_tag_t *tags = l->problem.layout == KW_CHANNELS_FIRST ? first : last;
    const kw_conv_dims *c = &l->problem.conv;
    int n = l->problem.ndim, grouped = c->g > 1;
    int64_t out[3];
    kw_problem_output(out, &l->problem);
    dnnl_dims_t src = {c->n, c->c}, dst = {c->n, c->k}, weights = {0}, stride, dilation, front, back;
    int at = 0;
    if (grouped) {
        weights[at++] = c->g;
    }
    weights[at++] = c->k / c->g;
    weights[at++] = c->c / c->g;
    for (int i = 0, axis = 3 - n; axis < 3; i++, axis++) {
        src[2 + i] = c->in[axis];
        dst[2 + i] = out[axis];
        weights[at++] = c->filter[axis];
        stride[i] = c->stride[axis];
        dilation[i] = c->dilation[axis] - 1;
        front[i] = c->pad[axis];
        back[i] = c->pad_back[axis];
    }
    dnnl_memory_desc_t x, w, y;
    dnnl_data_type_t type = data_type(l->problem.dtype), result = data_type(kw_problem_dtype(&l->problem, KW_Y));
    dnnl_convolution_desc_t conv;
    dnnl_status_t status = dnnl_memory_desc_init_by_tag(&x, n + 2, src, type, tags[n - 1]);
    status = status ? status : dnnl_memory_desc_init_by_tag(&w, at, weights, type, dnnl_format_tag_any);
    status = status ? status : dnnl_memory_desc_init_by_tag(&y, n + 2, dst, result, tags[n - 1]);
    status = status ? status
                    : dnnl_dilated_convolution_forward_desc_init(&conv, dnnl_forward_inference, dnnl_convolution_direct, &x, &w, NULL, &y,
                                                                 stride, dilation, front, back);
    return status ? status : dnnl_primitive_desc_create(&l->description, &conv, NULL, s->engine, NULL);
}

/* A matrix or a batch of them, row-major or column-major. */
static dnnl_status_t describe_matrix(dnnl_memory_desc_t *to, const kw_gemm_dims *gemm, const int64_t size[2], dnnl_data_type_t type,
                                     bool column) {
    dnnl_dims_t batched = {gemm->batch, size[0], size[1]}, single = {size[0], size[1]};
    if (gemm->batch > 1) {
        return dnnl_memory_desc_init_by_tag(to, 3, batched, type, column ? dnnl_acb : dnnl_abc);
    }
    return dnnl_memory_desc_init_by_tag(to, 2, single, type, column ? dnnl_ba : dnnl_ab);
}

static dnnl_status_t describe_gemm(layer *l, const session *s) {
    const kw_gemm_dims *g = &l->problem.gemm;
    dnnl_data_type_t type = data_type(l->problem.dtype);
    bool column = l->problem.layout == KW_CRR || l->problem.layout == KW_CCR;
    dnnl_memory_desc_t a, b, c;
    dnnl_dims_t weights = {g->batch, g->k, g->n};
    dnnl_matmul_desc_t matmul;
    dnnl_status_t status = describe_matrix(&a, g, (int64_t[]){g->m, g->k}, type, column);
    bool many = g->batch > 1;
    status = status ? status : dnnl_memory_desc_init_by_tag(&b, many ? 3 : 2, many ? weights : weights + 1, type, dnnl_format_tag_any);
    status = status ? status : describe_matrix(&c, g, (int64_t[]){g->m, g->n}, data_type(kw_problem_dtype(&l->problem, KW_Y)), false);
    status = status ? status : dnnl_matmul_desc_init(&matmul, &a, &b, NULL, &c);
    return status ? status : dnnl_primitive_desc_create(&l->description, &matmul, NULL, s->engine, NULL);
}

/* Source and destination are our own tensors; the weights have their own order, filled at random as they lie. */
static dnnl_status_t bind_peer(layer *l, const session *s) {
    static const dnnl_query_t queries[3] = {dnnl_query_src_md, dnnl_query_weights_md, dnnl_query_dst_md};
    static const int names[3] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST};
    void *memory[3] = {l->tensors.x, DNNL_MEMORY_ALLOCATE, l->tensors.y};
    dnnl_status_t status = dnnl_primitive_create(&l->primitive, l->description);
    for (int i = 0; i < 3 && !status; i++) {
        const dnnl_memory_desc_t *desc = dnnl_primitive_desc_query_md(l->description, queries[i], 0);
        status = dnnl_memory_create(&l->memory[i], desc, s->engine, memory[i]);
        if (!status && i == 1) {
            void *weights = NULL;
            kw_problem flat = {.op = KW_GEMM, .dtype = l->problem.dtype, .layout = KW_RRR};
            flat.gemm =
                (kw_gemm_dims){.batch = 1, .m = 1, .n = 1, .k = (int64_t)(dnnl_memory_desc_get_size(desc) / kw_dtype_size(flat.dtype))};
            kw_fill fill = kw_fill_real(&flat, 2);
            dnnl_memory_get_data_handle(l->memory[i], &weights);
            kw_fill_tensor(&fill, &flat, KW_W, 0, flat.gemm.k, weights);
        }
        l->arguments[i] = (dnnl_exec_arg_t){names[i], l->memory[i]};
    }
    l->stream = s->stream;
    return status;
}

static kw_status call_peer(void *context, kw_error *err) {
    const layer *l = context;
    dnnl_status_t status = dnnl_primitive_execute(l->primitive, l->stream, 3, l->arguments);
    status = status ? status : dnnl_stream_wait(l->stream);
    return status ? kw_fail(err, KW_ENVIRONMENT, "oneDNN refuses to run (status %d)", (int)status) : KW_OK;
}

static kw_status open_peer(layer *l, const session *s, kw_error *err) {
    dnnl_status_t status = l->problem.op == KW_GEMM ? describe_gemm(l, s) : describe_conv(l, s);
    status = status ? status : bind_peer(l, s);
    return status ? kw_fail(err, KW_ENVIRONMENT, "oneDNN has no kernel (status %d)", (int)status) : KW_OK;
}

static void close_layer(layer *l) {
    for (int i = 0; i < 3; i++) {
        dnnl_memory_destroy(l->memory[i]);
    }
    dnnl_primitive_destroy(l->primitive);
    dnnl_primitive_desc_destroy(l->description);
    kw_plan_destroy(&l->plan);
    free(l->tensors.x);
    free(l->tensors.w);
    free(l->tensors.y);
    free(l->tensors.workspace);
}

/* --- the comparison --- */

static void print_layer(session *s, const layer *l, const char *name, size_t dtype, const kw_timed times[3]) {
    int class = problem_class(&l->problem);
    const char *config = kw_plan_config(l->plan), *implementation = "";
    double flops = (double)kw_problem_flops(&l->problem), ratio = times[1].time_ns / times[0].time_ns;
    dnnl_primitive_desc_query(l->description, dnnl_query_impl_info_str, 0, &implementation);
    printf("| %s | %s | %s | %.1f | %.1f | %.1f | %s | %.2f |", name, kw_dtype_name(l->problem.dtype), config, times[0].time_ns / 1e3,
           flops / times[0].time_ns, flops / times[1].time_ns, implementation, ratio);
    if (s->first) {
        printf(" %.2f |", times[2].time_ns / times[0].time_ns);
        s->last_sum[dtype][class] += log(times[2].time_ns / times[0].time_ns);
    }
    printf("\n");
    s->log_sum[dtype][class] += log(ratio);
    s->count[dtype][class]++;
}

static void compare(session *s, const char *name, const kw_problem *problem, size_t dtype) {
    layer l = {.problem = *problem}, last = {.problem = *problem};
    kw_error err = {0};
    kw_timed times[3];
    l.problem.dtype = last.problem.dtype = s->dtypes[dtype];
    if (s->first) {
        l.problem.layout = KW_CHANNELS_FIRST;
    }
    kw_status status = open_ours(&l, s, &err);
    status = status ? status : open_peer(&l, s, &err);
    status = status || !s->first ? status : open_ours(&last, s, &err);
    kw_subject subjects[3] = {
        {.call = call_ours, .context = &l}, {.call = call_peer, .context = &l}, {.call = call_ours, .context = &last}};
    status = status ? status : kw_time_subjects(subjects, s->first ? 3 : 2, &(kw_timing_options){0}, 1, times, &err);
    if (status) {
        printf("| %s | %s | | | | | %s |\n", name, kw_dtype_name(l.problem.dtype), err.text);
    } else {
        print_layer(s, &l, name, dtype, times);
    }
    fflush(stdout);
    close_layer(&l);
    close_layer(&last);
}

static bool visit(void *user, const char *name, const kw_problem *problem) {
    session *s = user;
    bool forward = problem->op == KW_CONV_FWD || (problem->op == KW_GEMM && !s->first);
    if (forward && (!s->only || strstr(name, s->only))) {
        for (size_t dtype = 0; dtype < s->dtype_count; dtype++) {
            compare(s, name, problem, dtype);
        }
    }
    return true;
}

static void print_last(const session *s, double sum, int count) {
    if (s->first) {
        printf(" %.2f |", exp(sum / count));
    }
    printf("\n");
}

static void print_means(const session *s) {
    printf("\n| class | dtype | layers | speed against oneDNN (geometric mean) |%s\n|---|---|---|---|%s\n",
           s->first ? " against our channels last |" : "", s->first ? "---|" : "");
    for (size_t dtype = 0; dtype < s->dtype_count; dtype++) {
        double sum = 0, last = 0;
        int count = 0;
        for (int class = 0; class < CLASSES; class ++) {
            int n = s->count[dtype][class];
            sum += s->log_sum[dtype][class];
            last += s->last_sum[dtype][class];
            count += n;
            if (n) {
                printf("| %s | %s | %d | %.2f |", class_names[class], kw_dtype_name(s->dtypes[dtype]), n,
                       exp(s->log_sum[dtype][class] / n));
                print_last(s, s->last_sum[dtype][class], n);
            }
        }
        if (count) {
            printf("| **all** | %s | %d | **%.2f** |", kw_dtype_name(s->dtypes[dtype]), count, exp(sum / count));
            print_last(s, last, count);
        }
    }
}

static bool read_options(session *s, int count, char **words) {
    static const char *const modes[] = {NULL, NULL, "predict", "shortlist", "exhaustive"};
    s->mode = KW_SHORTLIST;
    for (int i = 2; i + 1 < count; i += 2) {
        const char *value = words[i + 1];
        if (!strcmp(words[i], "--dtype") && s->dtype_count < DTYPES_MOST) {
            s->dtypes[s->dtype_count++] = !strcmp(value, "bf16") ? KW_BF16 : !strcmp(value, "int8") ? KW_INT8 : KW_FP32;
        } else if (!strcmp(words[i], "--only")) {
            s->only = value;
        } else if (!strcmp(words[i], "--kernels")) {
            s->kernels = value;
        } else if (!strcmp(words[i], "--layout")) {
            s->first = !strcmp(value, "first");
        } else if (!strcmp(words[i], "--mode")) {
            for (int mode = KW_PREDICT; mode <= KW_EXHAUSTIVE; mode++) {
                s->mode = !strcmp(value, modes[mode]) ? (kw_mode)mode : s->mode;
            }
        } else {
            return false;
        }
    }
    if (!s->dtype_count) {
        s->dtypes[0] = KW_FP32;
        s->dtypes[1] = KW_BF16;
        s->dtype_count = 2;
    }
    return count == 1 || count % 2 == 0;
}

int main(int count, char **words) {
    session s = {0};
    kw_error err = {0};
    if (!read_options(&s, count, words)) {
        fprintf(stderr, "usage: bench_onednn [LIST] [--dtype fp32|bf16|int8]... [--only TEXT] [--mode predict|shortlist|exhaustive] "
                        "[--kernels FILE] [--layout last|first]\n");
        return 2;
    }
    omp_set_num_threads(1);
    if (dnnl_engine_create(&s.engine, dnnl_cpu, 0) || dnnl_stream_create(&s.stream, s.engine, dnnl_stream_default_flags)) {
        fprintf(stderr, "bench_onednn: oneDNN has no CPU engine\n");
        return 3;
    }
    kw_status status = kw_context_open(&s.context, "cpu", &(kw_context_options){.size = sizeof(kw_context_options), .threads = 1}, &err);
    if (!status && s.kernels) {
        status = kw_registry_create(&s.registry, s.context, &err);
        status = status ? status : kw_registry_load(s.registry, s.kernels, &err);
    }
    if (!status) {
        const dnnl_version_t *version = dnnl_version();
        printf("# Against oneDNN\n\nForward, against oneDNN %d.%d.%d, one thread, on %s.\n\n", version->major, version->minor,
               version->patch, kw_context_target(s.context));
        printf(
            "| layer | dtype | kernel | us | GFLOP/s | oneDNN GFLOP/s | oneDNN kernel | ratio |%s\n|---|---|---|---|---|---|---|---|%s\n",
            s.first ? " to channels last |" : "", s.first ? "---|" : "");
        status = kw_problems_visit(count > 1 ? words[1] : "demo", KW_OP_COUNT, KW_DTYPE_COUNT, visit, &s, &err);
    }
    if (status) {
        fprintf(stderr, "bench_onednn: %s\n", err.text);
    } else {
        print_means(&s);
    }
    kw_registry_destroy(&s.registry);
    kw_context_close(&s.context);
    dnnl_stream_destroy(s.stream);
    dnnl_engine_destroy(s.engine);
    return status ? 1 : 0;
}
