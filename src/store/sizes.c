/* sizes.c: see sizes.h. */
#include "store/sizes.h"

const char *const kw_size_names[KW_SIZE_COUNT] = {
    "ndim",       "b",          "m",          "n",          "g",          "c",        "k",     "in_d",  "in_h",  "in_w",
    "filter_d",   "filter_h",   "filter_w",   "stride_d",   "stride_h",   "stride_w", "pad_d", "pad_h", "pad_w", "pad_back_d",
    "pad_back_h", "pad_back_w", "dilation_d", "dilation_h", "dilation_w", "out_d",    "out_h", "out_w", "flops", "bytes"};

void kw_sizes(int64_t values[KW_SIZE_COUNT], const kw_problem *problem) {
    enum { NDIM, B, M, N, G, C, K, IN };
    for (int i = 0; i < KW_SIZE_COUNT; i++) {
        values[i] = KW_SIZE_NONE;
    }
    values[NDIM] = problem->ndim;
    values[KW_SIZE_COUNT - 2] = kw_problem_flops(problem);
    values[KW_SIZE_COUNT - 1] = kw_problem_bytes(problem);
    if (problem->op == KW_GEMM) {
        values[B] = problem->gemm.batch;
        values[M] = problem->gemm.m;
        values[G] = problem->gemm.groups ? problem->gemm.groups : KW_SIZE_NONE;
        values[N] = problem->gemm.n;
        values[K] = problem->gemm.k;
        return;
    }
    const kw_conv_dims *conv = &problem->conv;
    int64_t out[3];
    kw_problem_output(out, problem);
    values[N] = conv->n;
    values[G] = conv->g;
    values[C] = conv->c;
    values[K] = conv->k;
    const int64_t *const triples[] = {conv->in, conv->filter, conv->stride, conv->pad, conv->pad_back, conv->dilation, out};
    for (int i = 0; i < 21; i++) {
        values[IN + i] = triples[i / 3][i % 3];
    }
}
