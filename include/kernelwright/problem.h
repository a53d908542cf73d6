/* problem.h: what to compute: operation, type, layout, sizes, epilogue; its text, sizes and tensors.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_PROBLEM_H
#define KERNELWRIGHT_PROBLEM_H

#include "epilogue.h"
#include "status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Memory order, rightmost fastest. GEMM: the order of A, B and C, r = row-major, c = column-major, for A [m,k],
 * B [k,n], C [m,n]; a batch is outermost in each. Convolution, channels last: x N(D)(H)WGC, w GK(Z)(Y)XC, y N(D)(H)WGK with
 * C and K per group; channels first: x NGC(D)(H)W, w GKC(Z)(Y)X, y NGK(D)(H)W. */
typedef enum kw_layout { KW_RCR = 0, KW_RRR, KW_CRR, KW_CCR, KW_CHANNELS_LAST, KW_CHANNELS_FIRST, KW_LAYOUT_COUNT } kw_layout;

/* groups above 0: a grouped product, as of a mixture of experts: many products in one launch whose n and k are the same and whose rows are
 * known only when it runs. The rows of A lie behind each other, group by group, so do those of C; B has a matrix for each group. m is the
 * room: rows of all groups together, at most; batch is 1, A is row-major (KW_RCR, KW_RRR). kw_tensors.ends says which rows are whose. */
typedef struct kw_gemm_dims {
    int64_t batch, m, n, k;
    int64_t groups; /* 0: one product */
} kw_gemm_dims;

/* Spatial triples are ordered depth, height, width. A 2D problem has extent 1 in depth (stride 1, padding 0, dilation 1),
 * a 1D problem in depth and height, so code may always loop over all three. pad_back may be negative: it moves the far edge and
 * acts only through the output size. */
typedef struct kw_conv_dims {
    int64_t n, g, c, k;
    int64_t in[3], filter[3], stride[3], pad[3], pad_back[3], dilation[3];
} kw_conv_dims;

enum { KW_PROBLEM_BYTES = 640, KW_PITCHES = 4, KW_BROADCAST = -1 };

/* How coarsely elements of fp32 may be read before they are multiplied (oneDNN's fpmath mode, PyTorch's allow_tf32), or products of fp8
 * and bf8 summed (cuBLAS's fast accumulation, PyTorch's use_fast_accum). A permission: any
 * kernel that is at least as exact may serve, and where none is faster the same as for KW_FPMATH_STRICT does. */
typedef enum kw_fpmath {
    KW_FPMATH_STRICT = 0, /* as they are */
    KW_FPMATH_TF32,       /* of fp32: with 10 bits of fraction; sums stay fp32 */
    KW_FPMATH_FAST_ACCUM, /* of gemm in fp8 or bf8: sums may have some 13 bits of fraction for the whole depth */
    KW_FPMATH_COUNT
} kw_fpmath;

/* Memory order of a convolution's filter, rightmost fastest: K the output channels of all groups, C the input channels of a group, R S the
 * taps of all spatial axes, Z Y X. */
typedef enum kw_filter_order {
    KW_FILTER_OF_LAYOUT = 0, /* KRSC with channels last, KCRS with channels first */
    KW_FILTER_KRSC,
    KW_FILTER_KCRS, /* PyTorch's own weights; oneDNN's oihw, goihw */
    KW_FILTER_CRSK, /* oneDNN's ihwo, MIOpen's CHWN */
    KW_FILTER_RSCK, /* HWIO of TensorFlow and JAX; oneDNN's hwio, hwigo */
    KW_FILTER_ORDER_COUNT
} kw_filter_order;

typedef enum kw_tensor { KW_X = 0, KW_W, KW_Y, KW_TENSOR_COUNT } kw_tensor;

/* A value: copy it freely. Fill it by kw_problem_parse, or by hand, from zeros, and then kw_problem_check. Its size stays, whatever later
 * releases add: reserved must be zero. */
typedef struct kw_problem {
    kw_op op;
    kw_dtype dtype;
    kw_layout layout;
    int32_t ndim; /* spatial axes of a convolution, 1 to 3; 0 for GEMM */
    union {
        kw_gemm_dims gemm;
        kw_conv_dims conv;
    };
    kw_epilogue epilogue;
    /* Where a tensor is part of a larger one, by kw_tensor; 0: it lies densely. Of a product: elements from one line (row, or column in
     * column-major order) to the next, at least those of a line (a leading dimension), and from one matrix of the batch to the next, which for
     * x and w may be KW_BROADCAST: one matrix for all. Lines of a result, its batch included, may not overlap; what lies between is not
     * written. Extra tensors of the result's shape have its pitches. Of a convolution's x and y: elements from one position of an axis to the
     * next, with channels last of columns, rows, planes, images, with channels first of rows, planes, channels, images; an axis that says
     * nothing follows the one before densely. No two elements share a place; w is dense. */
    int64_t pitch[KW_TENSOR_COUNT][KW_PITCHES];
    /* x has type x_dtype instead: KW_UINT8, in a GEMM or forward convolution of KW_INT8. */
    bool mixed;
    kw_dtype x_dtype;
    kw_fpmath fpmath;             /* of a problem of KW_FP32, a GEMM of KW_FP8 or KW_BF8 */
    kw_filter_order filter_order; /* of a convolution's w; an epilogue's tensors of w's shape lie in the same order */
    unsigned char reserved[KW_PROBLEM_BYTES - 32 - sizeof(kw_conv_dims) - sizeof(kw_epilogue) - 8 * KW_TENSOR_COUNT * KW_PITCHES];
} kw_problem;

enum { KW_PROBLEM_TEXT_MAX = 1024 }; /* room for any canonical text, with its end */

/* Reads one line such as "conv_fwd bf16 nhwgc n32 c64 k64 i56x56 f3x3 p1x1" or "gemm fp32 rcr m128 n64 k256". The order of
 * words is free; docs/problems/problem-text.md has the grammar. What is not said is n1 g1 s1 d1 p0 (GEMM: b1). The problem is checked. */
KW_API kw_status kw_problem_parse(kw_problem *problem, const char *text, kw_error *err);
/* Reads a line of another tool as well: MIOpenDriver ("./bin/MIOpenDriver convbfp16 -n 32 -c 64 ..."), benchdnn
 * ("--dir=BWD_D --dt=bf16 g32mb1ic128ih56oc128kh3ph1", "--matmul 128x768:768x768"), hipblaslt-bench, PyTorch's TunableOp, or our own text.
 * A line that means several problems is refused. */
KW_API kw_status kw_problem_import(kw_problem *problem, const char *line, kw_error *err);
enum { KW_IMPORT_MAX = 3 };
/* The same for a line that may mean several: without -F, or with -F 0, MIOpenDriver runs all three directions. */
KW_API kw_status kw_problem_import_all(kw_problem problems[KW_IMPORT_MAX], int *count, const char *line, kw_error *err);
/* Writes the canonical text, which names every value and is the problem's key. At most capacity bytes with the end;
 * returns the length that the whole text has. */
KW_API size_t kw_problem_print(char *text, size_t capacity, const kw_problem *problem);
/* Refuses an impossible problem with the reason: an output below 1, C or K not divisible by G, sizes beyond 63 bits. */
KW_API kw_status kw_problem_check(const kw_problem *problem, kw_error *err);
/* Output extents of a convolution: o = (in + pad + pad_back - dilation (filter - 1) - 1) / stride + 1, rounded down. */
KW_API void kw_problem_output(int64_t out[3], const kw_problem *problem);
/* Exact floating-point operations: 2 for each product that is really formed; filter taps that fall into the padding do
 * not count. The same for all three directions of a convolution. */
KW_API int64_t kw_problem_flops(const kw_problem *problem);
/* Bytes that must move at least once: the three tensors and those of the epilogue. */
KW_API int64_t kw_problem_bytes(const kw_problem *problem);
/* Element count and type of one tensor. Gaps count (kw_problem.pitch): so many must its memory have room for. */
KW_API int64_t kw_problem_elements(const kw_problem *problem, kw_tensor tensor);
KW_API kw_dtype kw_problem_dtype(const kw_problem *problem, kw_tensor tensor);
enum { KW_AXES_MAX = 5 };
/* A tensor as frameworks name its axes: how long each is, and how many elements lie from one of its positions to the next. x and y of a
 * convolution: N, channels of all groups, the spatial ones (there are ndim); w: K of all groups, C of one group, the filter's. Of a product:
 * batch, then rows and columns of A, B, C; a batch stride of 0: one matrix for all. Returns how many axes there are. */
KW_API int kw_problem_axes(int64_t extent[KW_AXES_MAX], int64_t stride[KW_AXES_MAX], const kw_problem *problem, kw_tensor tensor);
/* The tensor that the operation writes. */
KW_API kw_tensor kw_problem_result(const kw_problem *problem);
/* A tensor that a step of the epilogue reads, or bias_gradient writes: besides x, w and y. */
typedef struct kw_extra {
    const char *name; /* of the step: "bias" */
    kw_dtype dtype;
    int64_t elements;
} kw_extra;
/* They stand in the order of their steps, in kw_tensors too. Returns their count. */
KW_API int kw_problem_extras(kw_extra extras[KW_EXTRA_MAX], const kw_problem *problem);

#ifdef __cplusplus
}
#endif
#endif
