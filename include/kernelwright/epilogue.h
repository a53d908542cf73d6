/* epilogue.h: what becomes of the sums before they are written.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_EPILOGUE_H
#define KERNELWRIGHT_EPILOGUE_H

#include "types.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In the order of the steps v becomes, element by element and in fp32:
 *     v + t, v t, with a tensor t: of the result's own shape and memory order (ADD, MULTIPLY), of one value for each channel of the result
 *     (BIAS, SCALE_CHANNEL), of one for each of its pixels or rows (SCALE_ROW), or of one value (SCALE). Of ADD a t is added; a is 1 where a
 *     text does not say it, and never 0. A channel is one of y's K (backward data: of x's C), a column of a product, of a grouped one a column
 *     of a group, group by group; backward weight has neither channels nor rows.
 *     relu: max(v, 0). clamp: min(max(v, a), b). leaky_relu: v > 0 ? v : a v. sigmoid: 1 / (1 + exp(-v)). tanh. silu: v sigmoid(v).
 *     gelu: v (1 + erf(v / sqrt 2)) / 2. gelu_tanh: v (1 + tanh(sqrt(2 / pi) (v + 0.044715 v^3))) / 2 (D. Hendrycks, K. Gimpel, Gaussian
 *     Error Linear Units). hardswish: v min(max(v + 3, 0), 6) / 6 (A. Howard et al., Searching for MobileNetV3).
 *     Zero points, one value each: ZERO_X, of x in a GEMM or forward convolution of int8, is subtracted from each element of x before it is
 *     multiplied, so that padding adds nothing to a sum; it stands first, is one of the values of x's type, and leaves v. ZERO_Y, of a
 *     result of int8 or uint8: v + t. (B. Jacob et al., Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only
 *     Inference: real value = scale (q - zero point).)
 *     ZERO_W and ZERO_W_CHANNEL, of w in the same problems, one value and one for each channel: subtracted from each element of w; one of the
 *     values of w's type; they stand first or behind ZERO_X, and leave v.
 *     BIAS_GRADIENT, of backward weight, leaves v. Its tensor, of fp32 or the problem's type of 16 bits, is written: for each of y's K the
 *     sum of y over images and pixels, which is the gradient of a bias. It stands first.
 *     BETA leaves v. It stands in front of an ADD whose a is 1, which then adds t times the one value of its tensor, read when a plan runs
 *     (beta of BLAS); nothing where that is 0, whatever t is.
 * Then v is rounded to the type of the result: floats to nearest even; integers to nearest even and to the ends of their range, NaN to 0. */
typedef enum kw_epilogue_op {
    KW_EPILOGUE_ADD = 0,
    KW_EPILOGUE_BIAS,
    KW_EPILOGUE_MULTIPLY,
    KW_EPILOGUE_SCALE,
    KW_EPILOGUE_SCALE_CHANNEL,
    KW_EPILOGUE_SCALE_ROW,
    KW_EPILOGUE_RELU,
    KW_EPILOGUE_CLAMP,
    KW_EPILOGUE_LEAKY_RELU,
    KW_EPILOGUE_SIGMOID,
    KW_EPILOGUE_TANH,
    KW_EPILOGUE_SILU,
    KW_EPILOGUE_GELU,
    KW_EPILOGUE_GELU_TANH,
    KW_EPILOGUE_HARDSWISH,
    KW_EPILOGUE_ZERO_X,
    KW_EPILOGUE_ZERO_Y,
    KW_EPILOGUE_BIAS_GRADIENT,
    KW_EPILOGUE_BETA,
    KW_EPILOGUE_ZERO_W,
    KW_EPILOGUE_ZERO_W_CHANNEL,
    KW_EPILOGUE_OP_COUNT
} kw_epilogue_op;

/* dtype: of the step's tensor, where it has one. a, b: where it has parameters. */
typedef struct kw_epilogue_step {
    kw_epilogue_op op;
    kw_dtype dtype;
    double a, b;
} kw_epilogue_step;

enum { KW_EPILOGUE_MAX = 8, KW_EXTRA_MAX = 6 };

/* A zeroed one writes the sums as they are, in the type kw_dtype_output(). */
typedef struct kw_epilogue {
    int32_t count;
    bool converts; /* the result has type output instead */
    kw_dtype output;
    kw_epilogue_step step[KW_EPILOGUE_MAX];
} kw_epilogue;

/* All names of steps, separated by blanks. */
KW_API const char *kw_epilogue_names(void);

#ifdef __cplusplus
}
#endif
#endif
