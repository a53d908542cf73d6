/* peer_dnnl.c: oneDNN behind four functions. Its two major versions differ in how descriptions are made and held; what differs stands in
 * the first section. */
#include "peer_dnnl.h"

#include "base/status.h"

#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>

struct peer_dnnl {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t description, hint;
    dnnl_primitive_t primitive;
    dnnl_memory_t memory[KW_TENSOR_COUNT], plain; /* plain: the weights in our order, where they are read or shall be written */
    dnnl_memory_t extra[KW_EXTRA_MAX];            /* of the epilogue's steps */
    dnnl_primitive_attr_t attributes;             /* the epilogue but for a bias that comes first */
    dnnl_exec_arg_t arguments[KW_TENSOR_COUNT + KW_EXTRA_MAX];
    int argument_count;
    bool gradient;
};

typedef struct geometry {
    dnnl_dims_t stride, dilation, front, back;
} geometry;

/* Behind the descriptions of x, w and y. */
enum { BIAS = KW_TENSOR_COUNT, HELD_COUNT };

/* --- what the versions differ in --- */

#if DNNL_VERSION_MAJOR >= 3
typedef dnnl_memory_desc_t held; /* a description that we made */
typedef const_dnnl_memory_desc_t description;
static description view(const held *h) {
    return *h;
}
static dnnl_status_t describe(held *h, int n, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_create_with_tag(h, n, dims, type, tag);
}
static void forget(held *h) {
    if (*h) {
        dnnl_memory_desc_destroy(*h);
    }
}
static dnnl_status_t describe_forward(dnnl_primitive_desc_t *made, peer_dnnl *p, const held t[], const geometry *g) {
    return dnnl_convolution_forward_primitive_desc_create(made, p->engine, dnnl_forward_training, dnnl_convolution_direct, t[KW_X], t[KW_W],
                                                          t[BIAS], t[KW_Y], g->stride, g->dilation, g->front, g->back, p->attributes);
}
static dnnl_status_t describe_data(peer_dnnl *p, const held t[], const geometry *g) {
    return dnnl_convolution_backward_data_primitive_desc_create(&p->description, p->engine, dnnl_convolution_direct, t[KW_X], t[KW_W],
                                                                t[KW_Y], g->stride, g->dilation, g->front, g->back, p->hint, NULL);
}
static dnnl_status_t describe_weight(peer_dnnl *p, const held t[], const geometry *g) {
    return dnnl_convolution_backward_weights_primitive_desc_create(&p->description, p->engine, dnnl_convolution_direct, t[KW_X], t[KW_W],
                                                                   NULL, t[KW_Y], g->stride, g->dilation, g->front, g->back, p->hint, NULL);
}
static dnnl_status_t describe_matmul(peer_dnnl *p, const held t[]) {
    return dnnl_matmul_primitive_desc_create(&p->description, p->engine, t[KW_X], t[KW_W], t[BIAS], t[KW_Y], p->attributes);
}
static dnnl_status_t append_function(dnnl_post_ops_t steps, dnnl_alg_kind_t function, double alpha, double beta) {
    return dnnl_post_ops_append_eltwise(steps, function, (float)alpha, (float)beta);
}
#else
typedef dnnl_memory_desc_t held;
typedef const dnnl_memory_desc_t *description;
static description view(const held *h) {
    return h;
}
static dnnl_status_t describe(held *h, int n, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
    return dnnl_memory_desc_init_by_tag(h, n, dims, type, tag);
}
static void forget(held *h) {
    (void)h;
}
static const held *given(const held *h) {
    return h->ndims ? h : NULL;
}
static dnnl_status_t describe_forward(dnnl_primitive_desc_t *made, peer_dnnl *p, const held t[], const geometry *g) {
    dnnl_convolution_desc_t conv;
    dnnl_status_t status =
        dnnl_dilated_convolution_forward_desc_init(&conv, dnnl_forward_training, dnnl_convolution_direct, &t[KW_X], &t[KW_W],
                                                   given(&t[BIAS]), &t[KW_Y], g->stride, g->dilation, g->front, g->back);
    return status ? status : dnnl_primitive_desc_create(made, &conv, p->attributes, p->engine, NULL);
}
static dnnl_status_t describe_data(peer_dnnl *p, const held t[], const geometry *g) {
    dnnl_convolution_desc_t conv;
    dnnl_status_t status = dnnl_dilated_convolution_backward_data_desc_init(&conv, dnnl_convolution_direct, &t[KW_X], &t[KW_W], &t[KW_Y],
                                                                            g->stride, g->dilation, g->front, g->back);
    return status ? status : dnnl_primitive_desc_create(&p->description, &conv, NULL, p->engine, p->hint);
}
static dnnl_status_t describe_weight(peer_dnnl *p, const held t[], const geometry *g) {
    dnnl_convolution_desc_t conv;
    dnnl_status_t status = dnnl_dilated_convolution_backward_weights_desc_init(&conv, dnnl_convolution_direct, &t[KW_X], &t[KW_W], NULL,
                                                                               &t[KW_Y], g->stride, g->dilation, g->front, g->back);
    return status ? status : dnnl_primitive_desc_create(&p->description, &conv, NULL, p->engine, p->hint);
}
static dnnl_status_t describe_matmul(peer_dnnl *p, const held t[]) {
    dnnl_matmul_desc_t matmul;
    dnnl_status_t status = dnnl_matmul_desc_init(&matmul, &t[KW_X], &t[KW_W], given(&t[BIAS]), &t[KW_Y]);
    return status ? status : dnnl_primitive_desc_create(&p->description, &matmul, p->attributes, p->engine, NULL);
}
static dnnl_status_t append_function(dnnl_post_ops_t steps, dnnl_alg_kind_t function, double alpha, double beta) {
    return dnnl_post_ops_append_eltwise(steps, 1, function, (float)alpha, (float)beta);
}
#endif

/* --- tensors --- */

/* A problem's tensors for oneDNN: as they lie, and the weights besides in any order. */
typedef struct shapes {
    held of[HELD_COUNT], plain;
    geometry g;
} shapes;

static dnnl_data_type_t type_of(const kw_problem *problem, kw_tensor tensor) {
    static const dnnl_data_type_t types[KW_DTYPE_COUNT] = {[KW_FP32] = dnnl_f32, [KW_BF16] = dnnl_bf16, [KW_FP16] = dnnl_f16,
                                                           [KW_INT8] = dnnl_s8,  [KW_UINT8] = dnnl_u8,  [KW_INT32] = dnnl_s32};
    return types[kw_problem_dtype(problem, tensor)];
}

static dnnl_status_t shape_conv(shapes *s, const kw_problem *problem) {
    static const dnnl_format_tag_t tags[] = {dnnl_nwc, dnnl_nhwc, dnnl_ndhwc};
    static const dnnl_format_tag_t plain[2][3] = {{dnnl_owi, dnnl_ohwi, dnnl_odhwi}, {dnnl_gowi, dnnl_gohwi, dnnl_godhwi}};
    const kw_conv_dims *c = &problem->conv;
    int n = problem->ndim, at = 0;
    int64_t out[3];
    kw_problem_output(out, problem);
    dnnl_dims_t src = {c->n, c->c}, dst = {c->n, c->k}, weights = {0};
    if (c->g > 1) {
        weights[at++] = c->g;
    }
    weights[at++] = c->k / c->g;
    weights[at++] = c->c / c->g;
    for (int i = 0, axis = 3 - n; axis < 3; i++, axis++) {
        src[2 + i] = c->in[axis];
        dst[2 + i] = out[axis];
        weights[at++] = c->filter[axis];
        s->g.stride[i] = c->stride[axis];
        s->g.dilation[i] = c->dilation[axis] - 1;
        s->g.front[i] = c->pad[axis];
        s->g.back[i] = c->pad_back[axis];
    }
    dnnl_data_type_t type = type_of(problem, KW_W);
    dnnl_status_t status = describe(&s->of[KW_X], n + 2, src, type_of(problem, KW_X), tags[n - 1]);
    status = status ? status : describe(&s->of[KW_W], at, weights, type, dnnl_format_tag_any);
    status = status ? status : describe(&s->of[KW_Y], n + 2, dst, type_of(problem, KW_Y), tags[n - 1]);
    return status ? status : describe(&s->plain, at, weights, type, plain[c->g > 1][n - 1]);
}

/* A matrix or a batch of them, row-major, column-major or in any order. */
static dnnl_status_t shape_matrix(held *to, const kw_gemm_dims *gemm, const int64_t size[2], dnnl_data_type_t type, char order) {
    dnnl_dims_t batched = {gemm->batch, size[0], size[1]}, single = {size[0], size[1]};
    if (gemm->batch > 1) {
        return describe(to, 3, batched, type, order == 'a' ? dnnl_format_tag_any : order == 'c' ? dnnl_acb : dnnl_abc);
    }
    return describe(to, 2, single, type, order == 'a' ? dnnl_format_tag_any : order == 'c' ? dnnl_ba : dnnl_ab);
}

static dnnl_status_t shape_gemm(shapes *s, const kw_problem *problem) {
    const kw_gemm_dims *g = &problem->gemm;
    dnnl_data_type_t type = type_of(problem, KW_W);
    char a = problem->layout == KW_CRR || problem->layout == KW_CCR ? 'c' : 'r';
    char b = problem->layout == KW_RCR || problem->layout == KW_CCR ? 'c' : 'r';
    dnnl_status_t status = shape_matrix(&s->of[KW_X], g, (int64_t[]){g->m, g->k}, type_of(problem, KW_X), a);
    status = status ? status : shape_matrix(&s->of[KW_W], g, (int64_t[]){g->k, g->n}, type, 'a');
    status = status ? status : shape_matrix(&s->of[KW_Y], g, (int64_t[]){g->m, g->n}, type_of(problem, KW_Y), 'r');
    return status ? status : shape_matrix(&s->plain, g, (int64_t[]){g->k, g->n}, type, b);
}

/* --- epilogues --- */

static dnnl_status_t add_argument(peer_dnnl *p, int step, int name, const held *desc, const void *tensor) {
    dnnl_status_t status = dnnl_memory_create(&p->extra[step], view(desc), p->engine, (void *)(uintptr_t)tensor);
    p->arguments[p->argument_count++] = (dnnl_exec_arg_t){name, p->extra[step]};
    return status;
}

/* A tensor of the result's shape that is added: a second source. */
static dnnl_status_t append_addition(peer_dnnl *p, dnnl_post_ops_t steps, const shapes *s, int number, const void *tensor) {
    int name = DNNL_ARG_ATTR_MULTIPLE_POST_OP(dnnl_post_ops_len(steps)) | DNNL_ARG_SRC_1;
    dnnl_status_t status = dnnl_post_ops_append_binary(steps, dnnl_binary_add, view(&s->of[KW_Y]));
    return status ? status : add_argument(p, number, name, &s->of[KW_Y], tensor);
}

static dnnl_status_t describe_bias(peer_dnnl *p, shapes *s, const kw_problem *problem, int number, const void *tensor) {
    dnnl_dims_t channels = {problem->conv.k}, columns = {1, problem->gemm.n}, batched = {1, 1, problem->gemm.n};
    bool gemm = problem->op == KW_GEMM, batch = gemm && problem->gemm.batch > 1;
    dnnl_status_t status = !gemm   ? describe(&s->of[BIAS], 1, channels, dnnl_f32, dnnl_a)
                           : batch ? describe(&s->of[BIAS], 3, batched, dnnl_f32, dnnl_abc)
                                   : describe(&s->of[BIAS], 2, columns, dnnl_f32, dnnl_ab);
    return status ? status : add_argument(p, number, DNNL_ARG_BIAS, &s->of[BIAS], tensor);
}

/* Steps that oneDNN has too: an fp32 bias before all others, an addition of the result's type and the usual functions. */
static dnnl_status_t describe_epilogue(peer_dnnl *p, shapes *s, const kw_problem *problem, const void *const extra[KW_EXTRA_MAX]) {
    const kw_epilogue *epilogue = &problem->epilogue;
    dnnl_post_ops_t steps = NULL;
    dnnl_status_t status = dnnl_post_ops_create(&steps);
    int number = 0;
    bool forward = problem->op == KW_GEMM || problem->op == KW_CONV_FWD;
    status = status ? status : epilogue->count && (!forward || epilogue->converts) ? dnnl_unimplemented : dnnl_success;
    for (int i = 0; i < epilogue->count && !status; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        if (step->op == KW_EPILOGUE_BIAS && i == 0 && step->dtype == KW_FP32) {
            status = describe_bias(p, s, problem, number, extra[number]);
            number++;
        } else if (step->op == KW_EPILOGUE_ADD && step->dtype == problem->dtype && step->a == 1) {
            status = append_addition(p, steps, s, number, extra[number]);
            number++;
        } else if (step->op == KW_EPILOGUE_RELU) {
            status = append_function(steps, dnnl_eltwise_relu, 0, 0);
        } else if (step->op == KW_EPILOGUE_GELU) {
            status = append_function(steps, dnnl_eltwise_gelu_erf, 0, 0);
        } else if (step->op == KW_EPILOGUE_SILU) {
            status = append_function(steps, dnnl_eltwise_swish, 1, 0);
        } else {
            status = dnnl_unimplemented;
        }
    }
    if (!status && epilogue->count) {
        status = dnnl_primitive_attr_create(&p->attributes);
        status = status ? status : dnnl_primitive_attr_set_post_ops(p->attributes, steps);
    }
    dnnl_post_ops_destroy(steps);
    return status;
}

static dnnl_status_t describe_problem(peer_dnnl *p, kw_op op, const shapes *s) {
    if (op == KW_GEMM) {
        return describe_matmul(p, s->of);
    }
    if (op == KW_CONV_FWD) {
        return describe_forward(&p->description, p, s->of, &s->g);
    }
    dnnl_status_t status = describe_forward(&p->hint, p, s->of, &s->g);
    if (status) {
        return status;
    }
    return op == KW_CONV_BWD_DATA ? describe_data(p, s->of, &s->g) : describe_weight(p, s->of, &s->g);
}

static dnnl_status_t reorder(peer_dnnl *p, dnnl_memory_t from, description from_desc, dnnl_memory_t to, description to_desc) {
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t primitive = NULL;
    dnnl_exec_arg_t arguments[2] = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}};
    dnnl_status_t status = dnnl_reorder_primitive_desc_create(&desc, from_desc, p->engine, to_desc, p->engine, NULL);
    status = status ? status : dnnl_primitive_create(&primitive, desc);
    status = status ? status : dnnl_primitive_execute(primitive, p->stream, 2, arguments);
    status = status ? status : dnnl_stream_wait(p->stream);
    dnnl_primitive_destroy(primitive);
    dnnl_primitive_desc_destroy(desc);
    return status;
}

static description weights_of(const peer_dnnl *p) {
    return dnnl_primitive_desc_query_md(p->description, p->gradient ? dnnl_query_diff_weights_md : dnnl_query_weights_md, 0);
}

static dnnl_status_t bind(peer_dnnl *p, const kw_problem *problem, const shapes *s, const kw_tensors *tensors, void *result) {
    static const int names[KW_OP_COUNT][KW_TENSOR_COUNT] = {
        [KW_GEMM] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        [KW_CONV_FWD] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
        [KW_CONV_BWD_DATA] = {DNNL_ARG_DIFF_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_DST},
        [KW_CONV_BWD_WEIGHT] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_DST},
    };
    void *memory[KW_TENSOR_COUNT] = {tensors->x, tensors->w, tensors->y};
    memory[kw_problem_result(problem)] = result;
    dnnl_status_t status = dnnl_primitive_create(&p->primitive, p->description);
    for (int t = 0; t < KW_TENSOR_COUNT && !status; t++) {
        description at = t == KW_W ? weights_of(p) : view(&s->of[t]);
        status = dnnl_memory_create(&p->memory[t], at, p->engine, t == KW_W ? DNNL_MEMORY_ALLOCATE : memory[t]);
        p->arguments[p->argument_count++] = (dnnl_exec_arg_t){names[problem->op][t], p->memory[t]};
    }
    status = status ? status : dnnl_memory_create(&p->plain, view(&s->plain), p->engine, memory[KW_W]);
    if (!status && !p->gradient) {
        status = reorder(p, p->plain, view(&s->plain), p->memory[KW_W], weights_of(p));
    }
    return status;
}

kw_status peer_dnnl_open(peer_dnnl **peer, const kw_problem *problem, const kw_tensors *tensors, void *result, kw_error *err) {
    shapes s = {0};
    peer_dnnl *p = *peer = calloc(1, sizeof *p);
    if (!p) {
        return kw_fail(err, KW_NO_MEMORY, "no memory for a peer");
    }
    p->gradient = problem->op == KW_CONV_BWD_WEIGHT;
    dnnl_status_t status = dnnl_engine_create(&p->engine, dnnl_cpu, 0);
    status = status ? status : dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags);
    status = status ? status : problem->op == KW_GEMM ? shape_gemm(&s, problem) : shape_conv(&s, problem);
    status = status ? status : describe_epilogue(p, &s, problem, tensors->extra);
    status = status ? status : describe_problem(p, problem->op, &s);
    status = status ? status : bind(p, problem, &s, tensors, result);
    for (int t = 0; t < HELD_COUNT; t++) {
        forget(&s.of[t]);
    }
    forget(&s.plain);
    if (status) {
        peer_dnnl_close(peer);
        return kw_fail(err, KW_ENVIRONMENT, "oneDNN has no kernel (status %d)", (int)status);
    }
    return KW_OK;
}

void peer_dnnl_close(peer_dnnl **peer) {
    peer_dnnl *p = *peer;
    if (!p) {
        return;
    }
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        dnnl_memory_destroy(p->memory[t]);
    }
    for (int i = 0; i < KW_EXTRA_MAX; i++) {
        dnnl_memory_destroy(p->extra[i]);
    }
    dnnl_memory_destroy(p->plain);
    dnnl_primitive_attr_destroy(p->attributes);
    dnnl_primitive_destroy(p->primitive);
    dnnl_primitive_desc_destroy(p->description);
    dnnl_primitive_desc_destroy(p->hint);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
    free(p);
    *peer = NULL;
}

kw_status peer_dnnl_call(void *peer, kw_error *err) {
    const peer_dnnl *p = peer;
    dnnl_status_t status = dnnl_primitive_execute(p->primitive, p->stream, p->argument_count, p->arguments);
    status = status ? status : dnnl_stream_wait(p->stream);
    return status ? kw_fail(err, KW_ENVIRONMENT, "oneDNN refuses to run (status %d)", (int)status) : KW_OK;
}

kw_status peer_dnnl_finish(peer_dnnl *p, kw_error *err) {
    if (!p->gradient) {
        return KW_OK;
    }
    description plain;
    dnnl_status_t status = dnnl_memory_get_memory_desc(p->plain, &plain);
    status = status ? status : reorder(p, p->memory[KW_W], weights_of(p), p->plain, plain);
    return status ? kw_fail(err, KW_ENVIRONMENT, "oneDNN cannot reorder its weights (status %d)", (int)status) : KW_OK;
}

const char *peer_dnnl_kernel(const peer_dnnl *p) {
    const char *name = "";
    dnnl_primitive_desc_query(p->description, dnnl_query_impl_info_str, 0, &name);
    return name;
}

const char *peer_dnnl_version(void) {
    static char text[32];
    const dnnl_version_t *version = dnnl_version();
    snprintf(text, sizeof text, "oneDNN %d.%d.%d", version->major, version->minor, version->patch);
    return text;
}
