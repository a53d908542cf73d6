/* reference_epilogue.c: the second stage of the reference kernels, where a problem has an epilogue: sums of the first, fp32 or int32, become
 * the result, one element at a time and in fp32, by what include/kernelwright/epilogue.h says of each step. A unit is a run of the result. */
#include "reference.h"

#include "prelude/row_groups.h"

#include <math.h>

typedef struct place {
    kw_i64 channel, row, element;
} place;

static float load_extra(kw_dtype dtype, const char *tensor, kw_i64 at) {
    if (dtype == KW_INT32) {
        return (float)((const int *)(const void *)tensor)[at];
    }
    float value;
    kw_reference_kernel_run run = {dtype, tensor, at, 1, 1};
    kw_reference_kernel_load(&value, &run);
    return value;
}

float kw_reference_kernel_zero(const kw_kernel_args *args) {
    const kw_epilogue *epilogue = args->epilogue;
    bool given = epilogue && epilogue->count && epilogue->step[0].op == KW_EPILOGUE_ZERO_X;
    return given ? load_extra(epilogue->step[0].dtype, args->extra[0], 0) : 0;
}

void kw_reference_kernel_less_zero_w(kw_reference_kernel_block *block, const kw_kernel_args *args, kw_i64 first, kw_i64 cols,
                                     kw_i64 depth) {
    const kw_epilogue *epilogue = args->epilogue;
    int at = epilogue && epilogue->count && epilogue->step[0].op == KW_EPILOGUE_ZERO_X;
    const kw_epilogue_step *step = epilogue && epilogue->count > at ? &epilogue->step[at] : NULL;
    if (!step || (step->op != KW_EPILOGUE_ZERO_W && step->op != KW_EPILOGUE_ZERO_W_CHANNEL)) {
        return;
    }
    for (kw_i64 j = 0; j < cols; j++) {
        float zero = load_extra(step->dtype, args->extra[at], step->op == KW_EPILOGUE_ZERO_W ? 0 : first + j);
        for (kw_i64 q = 0; q < depth; q++) {
            block->b[q * KW_REFERENCE_COLS + j] -= zero;
        }
    }
}

static float step_of(const kw_epilogue_step *step, float v, float t) {
    float a = (float)step->a, b = (float)step->b;
    switch (step->op) {
    case KW_EPILOGUE_ADD:
        return v + a * t;
    case KW_EPILOGUE_BIAS:
    case KW_EPILOGUE_ZERO_Y:
        return v + t;
    case KW_EPILOGUE_MULTIPLY:
    case KW_EPILOGUE_SCALE:
    case KW_EPILOGUE_SCALE_CHANNEL:
    case KW_EPILOGUE_SCALE_ROW:
        return v * t;
    case KW_EPILOGUE_RELU:
        return v < 0 ? 0 : v;
    case KW_EPILOGUE_CLAMP:
        return v < a ? a : v > b ? b : v;
    case KW_EPILOGUE_LEAKY_RELU:
        return v > 0 ? v : a * v;
    case KW_EPILOGUE_SIGMOID:
        return 1 / (1 + expf(-v));
    case KW_EPILOGUE_TANH:
        return tanhf(v);
    case KW_EPILOGUE_SILU:
        return v < -88 ? 0 : v / (1 + expf(-v));
    case KW_EPILOGUE_GELU:
        return 0.5f * v * erfcf(v * -0.70710678f);
    case KW_EPILOGUE_GELU_TANH:
        return v / (1 + expf(-1.5957691f * (v + 0.044715f * v * v * v)));
    case KW_EPILOGUE_HARDSWISH:
        return v * fminf(fmaxf(v + 3, 0), 6) / 6;
    case KW_EPILOGUE_ZERO_X:
    case KW_EPILOGUE_ZERO_W:
    case KW_EPILOGUE_ZERO_W_CHANNEL:
    case KW_EPILOGUE_BIAS_GRADIENT:
    case KW_EPILOGUE_BETA:
    case KW_EPILOGUE_OP_COUNT:
        break;
    }
    return v;
}

/* Which element of its tensor a step reads; -1: it has none. */
static kw_i64 extra_place(kw_epilogue_op op, const place *p) {
    switch (op) {
    case KW_EPILOGUE_ADD:
    case KW_EPILOGUE_MULTIPLY:
        return p->element;
    case KW_EPILOGUE_BIAS:
    case KW_EPILOGUE_SCALE_CHANNEL:
    case KW_EPILOGUE_ZERO_W_CHANNEL:
        return p->channel;
    case KW_EPILOGUE_SCALE_ROW:
        return p->row;
    case KW_EPILOGUE_SCALE:
    case KW_EPILOGUE_ZERO_X:
    case KW_EPILOGUE_ZERO_W:
    case KW_EPILOGUE_ZERO_Y:
    case KW_EPILOGUE_BETA:
        return 0;
    default:
        return -1;
    }
}

static float finish(const kw_kernel_args *args, float v, const place *p) {
    const kw_epilogue *epilogue = args->epilogue;
    float beta = 1;
    int next = 0;
    for (int i = 0; i < epilogue->count; i++) {
        const kw_epilogue_step *step = &epilogue->step[i];
        if (step->op == KW_EPILOGUE_BIAS_GRADIENT) { /* reference_conv.c sums it */
            next++;
            continue;
        }
        kw_i64 at = extra_place(step->op, p);
        float t = at < 0 ? 0 : load_extra(step->dtype, args->extra[next], at);
        next += at >= 0;
        bool multiplied = i > 0 && epilogue->step[i - 1].op == KW_EPILOGUE_BETA;
        v = step_of(step, v, !multiplied ? t : beta == 0 ? 0 : beta * t);
        beta = t;
    }
    return v;
}

/* Of x or y of a convolution, which may have gaps as well. */
static kw_i64 image_element(const kw_kernel_args *args, const place *at) {
    bool x = kw_reference_params_of(args)->result == KW_X;
    const kw_i64 *extent = x ? args->in : args->out, *step = x ? args->x_step : args->y_step;
    kw_i64 row = at->row, element = at->channel * step[4];
    for (int axis = 2; axis >= 0; axis--) {
        element += row % extent[axis] * step[1 + axis];
        row /= extent[axis];
    }
    return element + row * step[0];
}

void kw_reference_kernel_epilogue(const kw_kernel_args *args, kw_i64 begin, kw_i64 end, void *thread_memory) {
    const kw_reference_params *p = kw_reference_params_of(args);
    const kw_epilogue *epilogue = args->epilogue;
    bool whole = p->from == KW_INT8;
    (void)thread_memory;
    kw_dtype to = epilogue->converts ? epilogue->output : kw_dtype_output((kw_dtype)p->from);
    char *result = p->result == KW_X ? args->x : p->result == KW_W ? args->w : args->y;
    kw_group_place group = {0};
    kw_i64 last = end * KW_REFERENCE_CHUNK < p->elements ? end * KW_REFERENCE_CHUNK : p->elements;
    for (kw_i64 i = begin * KW_REFERENCE_CHUNK; i < last; i++) {
        place at = {i / p->pixels % p->channels, i / p->pixels / p->channels * p->pixels + i % p->pixels, i};
        if (p->layout < KW_CHANNELS_LAST) { /* a product, whose result may have gaps */
            kw_group_chunk own;
            if (args->ends) { /* chunks of one row; channels of each group are its own */
                if (!kw_group_find(&own, &group, args->ends, (int)args->groups, (int)args->gm, 1, (int)at.row)) {
                    return;
                }
                at.channel += own.group * p->channels;
            }
            at.element = at.row / args->gm * args->batch_step[2] + at.row % args->gm * args->line_step[2] + i % p->channels;
        } else if (p->result != KW_W) {
            at.element = image_element(args, &at);
        }
        float v = whole ? (float)((const int *)(const void *)args->shared)[i] : ((const float *)(const void *)args->shared)[i];
        kw_reference_kernel_round(to, result, at.element, finish(args, v, &at));
    }
}
