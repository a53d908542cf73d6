/* family_key.c: problems that are alike, by a key in text. */
#include "space/problems/family_key.h"

/* Number of the first limit that value does not exceed. */
static int class_of(int64_t value, const int64_t limits[3]) {
    int i = 0;
    while (i < 3 && value > limits[i]) {
        i++;
    }
    return i;
}

static int64_t largest(const int64_t values[3]) {
    int64_t most = values[0];
    for (int axis = 1; axis < 3; axis++) {
        most = values[axis] > most ? values[axis] : most;
    }
    return most;
}

void kw_family_key(kw_line *key, const kw_problem *problem) {
    static const int64_t filters[3] = {1, 3, INT64_MAX}, extents[3] = {4, 16, 64}, channels[3] = {16, 64, 256}, sizes[3] = {1, 32, 512};
    kw_line_addf(key, "%s", kw_op_name(problem->op));
    if (problem->op == KW_GEMM) {
        const kw_gemm_dims *gemm = &problem->gemm;
        kw_line_addf(key, " %d %d %d", class_of(gemm->m, sizes), class_of(gemm->n, sizes), class_of(gemm->k, sizes));
        return;
    }
    const kw_conv_dims *conv = &problem->conv;
    bool depthwise = conv->g > 1 && conv->g == conv->c;
    kw_line_addf(key, " %d f%d s%d d%d %s i%d c%d", (int)problem->ndim, class_of(largest(conv->filter), filters), largest(conv->stride) > 1,
                 largest(conv->dilation) > 1,
                 depthwise     ? "depthwise"
                 : conv->g > 1 ? "grouped"
                               : "dense",
                 class_of(conv->in[3 - problem->ndim], extents), class_of(conv->c < conv->k ? conv->c : conv->k, channels));
}
